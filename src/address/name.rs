//! Namespaces and types of provider addresses.
//!
//! Clients normalise them like one label of a host name, but keep them in Unicode ([clients: namespaces and
//! types](crate::clients#namespaces-and-types)).

use idna::uts46::{AsciiDenyList, Hyphens, Uts46};

use super::Hostname;

/// The longest name in bytes, which is the limit of file systems for one directory name.
const LONGEST: usize = 255;

/// Returns the normal form of a namespace. Terraform 1.16 has underscores in it. The origin of OpenTofu has none.
pub(super) fn normalize_namespace(name: &str, host: &Hostname) -> Option<String> {
    if name.trim_matches('_').is_empty() || *host == Hostname::default_origin() {
        return normalize(name);
    }
    let parts = name.split('_').map(|part| match part {
        "" => Some(String::new()),
        part => normalize(part),
    });
    let folded = parts.collect::<Option<Vec<_>>>()?.join("_");
    (folded.len() <= LONGEST).then_some(folded)
}

/// Returns the normal form of a name; `None` if the text is neither [a namespace nor a type](crate::clients#namespaces-and-types): it is empty,
/// too long, or has characters that the IDNA lookup profile forbids, a dot, an underscore, an outer dash or two adjacent ones.
pub(super) fn normalize(name: &str) -> Option<String> {
    if !is_sound(name) {
        return None;
    }
    let (folded, sound) =
        Uts46::new().to_unicode(name.as_bytes(), AsciiDenyList::STD3, Hyphens::Check);
    // The mapping converts full-width dots and dashes and may lengthen the name, so check again.
    (sound.is_ok() && is_sound(&folded)).then(|| folded.into_owned())
}

/// An underscore separates the fields of package file names. Two dashes also begin punycode.
fn is_sound(name: &str) -> bool {
    (1..=LONGEST).contains(&name.len())
        && !name.contains(['.', '_'])
        && !name.starts_with('-')
        && !name.ends_with('-')
        && !name.contains("--")
}

/// What a namespace or type has to be, for messages.
pub(super) const EXPECTED: &str = "letters, digits and single inner dashes, at most 255 bytes";

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn each_mistake_is_refused() {
        let long = "a".repeat(256);
        let grows = "㍿".repeat(80);
        for name in [
            "",
            "\u{ad}",
            &long,
            &grows,
            "a.b",
            "a。b",
            "a_b",
            "a-",
            "-a",
            "ü－",
            "a--b",
            "xn--bcher-kva",
            "abc－－d",
            "a b",
            "a@1",
            "*",
            "?",
            "a\u{0}",
            "a\u{202e}b",
        ] {
            assert_eq!(normalize(name), None, "{name:?}");
        }
    }

    proptest! {
        #[test]
        fn the_normal_form_is_its_own(name in "\\PC{0,12}|[a-zA-Z0-9ÜßЖ例－.-]{0,8}") {
            if let Some(normal) = normalize(&name) {
                prop_assert_eq!(normalize(&normal), Some(normal));
            }
        }
    }
}
