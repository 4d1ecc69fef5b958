//! Namespaces and types of provider addresses.
//!
//! Clients normalise them like one label of a host name, but keep them in Unicode ([clients: namespaces and
//! types](crate::clients#namespaces-and-types)).

use idna::uts46::{AsciiDenyList, Hyphens, Uts46};

use super::Hostname;

/// The longest name in bytes, which is the limit of file systems for one directory name.
const LONGEST: usize = 255;

/// Returns the normal form of a namespace. Terraform 1.16 has underscores in it. The origin of OpenTofu has none.
pub(super) fn normalize_namespace(name: &str, host: &Hostname) -> Result<String, NameErrorKind> {
    if name.trim_matches('_').is_empty() || *host == Hostname::default_origin() {
        return normalize(name);
    }
    let parts = name.split('_').map(|part| match part {
        "" => Ok(String::new()),
        part => normalize(part),
    });
    let folded = parts.collect::<Result<Vec<_>, _>>()?.join("_");
    match folded.len() {
        0..=LONGEST => Ok(folded),
        _ => Err(NameErrorKind::TooLong),
    }
}

/// Returns the normal form of a name.
pub(super) fn normalize(name: &str) -> Result<String, NameErrorKind> {
    check(name)?;
    let (folded, sound) =
        Uts46::new().to_unicode(name.as_bytes(), AsciiDenyList::STD3, Hyphens::Check);
    if sound.is_err() {
        return Err(NameErrorKind::Form);
    }
    // The mapping converts full-width dots and dashes and may lengthen the name, so check again.
    check(&folded)?;
    Ok(folded.into_owned())
}

fn check(name: &str) -> Result<(), NameErrorKind> {
    let is_odd = name.is_empty()
        || name.contains(['.', '_'])
        || name.starts_with('-')
        || name.ends_with('-')
        || name.contains("--");
    match name.len() {
        0..=LONGEST if is_odd => Err(NameErrorKind::Form),
        0..=LONGEST => Ok(()),
        _ => Err(NameErrorKind::TooLong),
    }
}

/// Why a text is neither [a namespace nor a type](crate::clients#namespaces-and-types).
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum NameErrorKind {
    /// Longer than 255 bytes.
    #[error("it is too long\n  expected at most {LONGEST} bytes")]
    TooLong,
    /// Empty, or with characters that the IDNA lookup profile forbids, a dot, an underscore, an outer dash or two adjacent ones. An underscore
    /// separates the fields of package file names. Two dashes also begin punycode.
    #[error("its form is not allowed\n  expected letters, digits and single inner dashes")]
    Form,
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn each_mistake_is_named() {
        let long = "a".repeat(256);
        let grows = "㍿".repeat(80);
        for (name, kind) in [
            ("", NameErrorKind::Form),
            ("\u{ad}", NameErrorKind::Form),
            (&long, NameErrorKind::TooLong),
            (&grows, NameErrorKind::TooLong),
            ("a.b", NameErrorKind::Form),
            ("a。b", NameErrorKind::Form),
            ("a_b", NameErrorKind::Form),
            ("a-", NameErrorKind::Form),
            ("-a", NameErrorKind::Form),
            ("ü－", NameErrorKind::Form),
            ("a--b", NameErrorKind::Form),
            ("xn--bcher-kva", NameErrorKind::Form),
            ("abc－－d", NameErrorKind::Form),
            ("a b", NameErrorKind::Form),
            ("a@1", NameErrorKind::Form),
            ("*", NameErrorKind::Form),
            ("?", NameErrorKind::Form),
            ("a\u{0}", NameErrorKind::Form),
            ("a\u{202e}b", NameErrorKind::Form),
        ] {
            assert_eq!(normalize(name), Err(kind), "{name:?}");
        }
    }

    proptest! {
        #[test]
        fn the_normal_form_is_its_own(name in "\\PC{0,12}|[a-zA-Z0-9ÜßЖ例－.-]{0,8}") {
            if let Ok(normal) = normalize(&name) {
                prop_assert_eq!(normalize(&normal), Ok(normal));
            }
        }
    }
}
