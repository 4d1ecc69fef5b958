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
        return Err(NameErrorKind::Characters);
    }
    // The mapping converts full-width dots and dashes and may lengthen the name, so check again.
    check(&folded)?;
    Ok(folded.into_owned())
}

fn check(name: &str) -> Result<(), NameErrorKind> {
    if name.is_empty() {
        Err(NameErrorKind::Empty)
    } else if name.len() > LONGEST {
        Err(NameErrorKind::TooLong)
    } else if name.contains('.') {
        Err(NameErrorKind::Dot)
    } else if name.contains('_') {
        Err(NameErrorKind::Underscore)
    } else if name.starts_with('-') || name.ends_with('-') {
        Err(NameErrorKind::OuterDash)
    } else if name.contains("--") {
        Err(NameErrorKind::DoubleDash)
    } else {
        Ok(())
    }
}

/// Why a text is neither [a namespace nor a type](crate::clients#namespaces-and-types).
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum NameErrorKind {
    /// Empty, or without visible characters.
    #[error("it is empty")]
    Empty,
    /// Longer than 255 bytes.
    #[error("it is too long\n  expected at most {LONGEST} bytes")]
    TooLong,
    /// A dot. Only host names contain dots.
    #[error("it has a dot\n  expected letters, digits and inner dashes")]
    Dot,
    /// An underscore in a type, where it separates the fields of package file names, or in a namespace of OpenTofu.
    #[error("it has an underscore\n  expected letters, digits and inner dashes")]
    Underscore,
    /// A dash at either end.
    #[error("it begins or ends with a dash\n  expected letters, digits and inner dashes")]
    OuterDash,
    /// Two adjacent dashes. This also excludes punycode.
    #[error("it has two dashes in a row\n  expected single ones")]
    DoubleDash,
    /// The IDNA lookup profile forbids the name.
    #[error("it has characters that are not allowed\n  expected letters, digits and inner dashes")]
    Characters,
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
            ("", NameErrorKind::Empty),
            ("\u{ad}", NameErrorKind::Empty),
            (&long, NameErrorKind::TooLong),
            (&grows, NameErrorKind::TooLong),
            ("a.b", NameErrorKind::Dot),
            ("a。b", NameErrorKind::Dot),
            ("a_b", NameErrorKind::Underscore),
            ("a-", NameErrorKind::OuterDash),
            ("-a", NameErrorKind::OuterDash),
            ("ü－", NameErrorKind::Characters),
            ("a--b", NameErrorKind::DoubleDash),
            ("xn--bcher-kva", NameErrorKind::DoubleDash),
            ("abc－－d", NameErrorKind::DoubleDash),
            ("a b", NameErrorKind::Characters),
            ("a@1", NameErrorKind::Characters),
            ("*", NameErrorKind::Characters),
            ("?", NameErrorKind::Characters),
            ("a\u{0}", NameErrorKind::Characters),
            ("a\u{202e}b", NameErrorKind::Characters),
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
