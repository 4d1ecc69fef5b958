//! Names of entries that are safe as file names.
//!
//! A name is accepted if it means the same file to every client on every system. Other names are refused, not repaired: a repaired name
//! would give a directory whose `h1` differs from the client's.

use super::{Error, Fault};
use crate::error::is_deceptive;

/// The longest accepted name in bytes: the smallest limit for a path on the supported systems (macOS).
const LONGEST: usize = 1024;
/// The longest accepted path element in bytes, for the same reason.
const LONGEST_ELEMENT: usize = 255;
/// The most elements of an accepted name. Each is a directory, except for the name of a file. Real packages have one or two, and each level
/// costs a directory that unpacking opens or makes.
const DEEPEST: usize = 64;

/// The name as text, if it is safe. The name of a directory ends with a slash.
pub(super) fn check(bytes: &[u8]) -> Result<&str, Error> {
    let name = safe(bytes).map_err(|fault| Error::Name {
        name: String::from_utf8_lossy(bytes).into_owned(),
        fault,
    })?;
    let received = name.strip_suffix('/').unwrap_or(name).split('/').count();
    match received > DEEPEST {
        true => Err(Error::Depth {
            name: name.to_owned(),
            limit: DEEPEST,
            received,
        }),
        false => Ok(name),
    }
}

fn safe(bytes: &[u8]) -> Result<&str, Fault> {
    if bytes.is_empty() {
        return Err(Fault::Empty);
    }
    if bytes.len() > LONGEST {
        return Err(Fault::Long {
            limit: LONGEST,
            received: bytes.len(),
        });
    }
    let name = str::from_utf8(bytes).map_err(|_| Fault::Encoding)?;
    if name.chars().any(char::is_control) {
        return Err(Fault::Control);
    }
    if name.chars().any(is_deceptive) {
        return Err(Fault::Invisible);
    }
    if name.split(['/', '\\']).any(|element| element == "..") {
        return Err(Fault::Parent);
    }
    if name.contains('\\') {
        return Err(Fault::Backslash);
    }
    if name.contains(':') {
        return Err(Fault::Colon);
    }
    if name.starts_with('/') {
        return Err(Fault::Absolute);
    }
    if name.contains(['<', '>', '"', '|', '?', '*']) {
        return Err(Fault::Reserved);
    }
    let path = name.strip_suffix('/').unwrap_or(name);
    path.split('/').try_for_each(element)?;
    Ok(name)
}

fn element(element: &str) -> Result<(), Fault> {
    if element.is_empty() || element == "." {
        return Err(Fault::Element);
    }
    if element.len() > LONGEST_ELEMENT {
        return Err(Fault::Long {
            limit: LONGEST_ELEMENT,
            received: element.len(),
        });
    }
    if element.ends_with(['.', ' ']) {
        return Err(Fault::Ending);
    }
    if is_device(element) {
        return Err(Fault::Device);
    }
    Ok(())
}

fn is_device(element: &str) -> bool {
    let stem = element.split_once('.').map_or(element, |(stem, _)| stem);
    let stem = stem.trim_end_matches(' ').to_ascii_uppercase();
    let is_number = |c| matches!(c, '1'..='9' | '¹' | '²' | '³');
    let numbered = |name: &str| {
        let number = stem.strip_prefix(name).map(str::chars);
        number.is_some_and(|mut number| {
            number.next().is_some_and(is_number) && number.next().is_none()
        })
    };
    let named = ["CON", "PRN", "AUX", "NUL", "CONIN$", "CONOUT$"];
    named.contains(&stem.as_str()) || numbered("COM") || numbered("LPT")
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn each_fault_is_found() {
        for (name, fault) in [
            ("", Fault::Empty),
            ("a\nb", Fault::Control),
            ("a\0", Fault::Control),
            ("a\u{85}", Fault::Control),
            ("..", Fault::Parent),
            ("a/../b", Fault::Parent),
            ("a\\..\\b", Fault::Parent),
            ("a\\b", Fault::Backslash),
            ("C:/x", Fault::Colon),
            ("x:stream", Fault::Colon),
            ("/x", Fault::Absolute),
            ("/", Fault::Absolute),
            ("./x", Fault::Element),
            ("a//b", Fault::Element),
            ("a//", Fault::Element),
            ("a/.", Fault::Element),
            ("a./b", Fault::Ending),
            ("a ", Fault::Ending),
            ("docs/NUL", Fault::Device),
            ("aux.tar.gz", Fault::Device),
            ("com1 .x", Fault::Device),
            ("COM¹", Fault::Device),
            ("lpt³.txt", Fault::Device),
            ("CONIN$", Fault::Device),
            ("docs/conout$.x", Fault::Device),
            ("a<b", Fault::Reserved),
            ("a>", Fault::Reserved),
            ("\"", Fault::Reserved),
            ("a|b", Fault::Reserved),
            ("docs/?", Fault::Reserved),
            ("*", Fault::Reserved),
            ("a\u{202e}b", Fault::Invisible),
            ("a\u{200b}", Fault::Invisible),
            ("\u{feff}a", Fault::Invisible),
            ("a\u{ad}b", Fault::Invisible),
            (
                &"x/".repeat(513),
                Fault::Long {
                    limit: LONGEST,
                    received: 1026,
                },
            ),
            (
                &"x".repeat(256),
                Fault::Long {
                    limit: LONGEST_ELEMENT,
                    received: 256,
                },
            ),
        ] {
            assert_eq!(safe(name.as_bytes()), Err(fault), "{name:?}");
        }
        assert_eq!(safe(b"\xff"), Err(Fault::Encoding));
    }

    #[test]
    fn ordinary_names_pass() {
        for name in [
            "terraform-provider-demo_v1.0.0",
            "terraform-provider-demo.exe",
            "docs/",
            "docs/größe.md",
            ".hidden",
            "...x",
            "com0",
            "com10",
            "com\u{2074}",
            "conin",
            "docs/e\u{301}.md",
            "console",
            &"x/".repeat(512),
            &"x".repeat(255),
        ] {
            assert_eq!(safe(name.as_bytes()), Ok(name));
        }
    }

    #[test]
    fn a_name_has_at_most_64_levels() {
        for (name, is_accepted) in [
            (format!("{}x", "x/".repeat(63)), true),
            ("x/".repeat(64), true),
            (format!("{}x", "x/".repeat(64)), false),
            ("x/".repeat(65), false),
        ] {
            assert_eq!(check(name.as_bytes()).is_ok(), is_accepted, "{name}");
        }
    }

    proptest! {
        #[test]
        fn what_passes_stays_below_its_directory(bytes in prop::collection::vec(prop_oneof![Just(b'/'), Just(b'.'), Just(b'\\'), any::<u8>()], 0..12)) {
            if let Ok(name) = safe(&bytes) {
                let normal = |c| matches!(c, std::path::Component::Normal(_));
                prop_assert!(std::path::Path::new(name).components().all(normal));
            }
        }
    }
}
