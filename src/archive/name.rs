//! Names of entries that are safe as file names.
//!
//! A name is accepted if it means the same file to every client on every system. Other names are refused, not repaired: a repaired name
//! would give a directory whose `h1` differs from the client's.

use super::{Error, Flaw};
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
    let shown = String::from_utf8_lossy(bytes);
    let long = |name: &str, limit, received| {
        Flaw::of_entry(name, "has too long a name")
            .expected(format_args!("at most {limit}"))
            .received(received)
    };
    if bytes.len() > LONGEST {
        return Err(long(&shown, format!("{LONGEST} bytes"), bytes.len()).into());
    }
    let name = safe(bytes).map_err(|says| Flaw::of_entry(&shown, says))?;
    let elements = name.strip_suffix('/').unwrap_or(name).split('/');
    let longest = elements.clone().map(str::len).max().unwrap_or_default();
    if longest > LONGEST_ELEMENT {
        let limit = format!("{LONGEST_ELEMENT} bytes between two slashes");
        return Err(long(name, limit, longest).into());
    }
    match elements.count() {
        levels if levels > DEEPEST => Err(long(name, format!("{DEEPEST} levels"), levels).into()),
        _ => Ok(name),
    }
}

/// The name as text, or the rest of a sentence about it.
fn safe(bytes: &[u8]) -> Result<&str, &'static str> {
    let name = str::from_utf8(bytes).map_err(|_| "has a name that is not UTF-8")?;
    let elements = || name.strip_suffix('/').unwrap_or(name).split('/');
    let refused = if name.is_empty() {
        "has no name"
    } else if name.chars().any(char::is_control) {
        // A line break, for example, could forge a line of `h1`.
        "has a control character in its name"
    } else if name.chars().any(is_deceptive) {
        // Two different names would look the same.
        "has an invisible character in its name"
    } else if name.split(['/', '\\']).any(|element| element == "..") {
        "has an element `..` in its name"
    } else if name.starts_with('/') {
        "has an absolute name"
    } else if name.contains(['\\', ':', '<', '>', '"', '|', '?', '*']) {
        // On Windows, the first two mean a directory and a drive.
        "has one of `\\:<>\"|?*` in its name, which Windows reserves"
    } else if elements().any(|element| element.is_empty() || element == ".") {
        // A file would have two names.
        "has an empty element or an element `.` in its name"
    } else if elements().any(|element| element.ends_with(['.', ' '])) {
        // Windows removes it.
        "has an element that ends in a dot or a space"
    } else if elements().any(is_device) {
        "has a name that Windows reserves for a device"
    } else {
        return Ok(name);
    };
    Err(refused)
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
    fn names_that_are_not_the_same_file_everywhere_are_refused() {
        for name in [
            "",
            "a\nb",
            "a\0",
            "a\u{85}",
            "..",
            "a/../b",
            "a\\..\\b",
            "a\\b",
            "C:/x",
            "x:stream",
            "/x",
            "/",
            "./x",
            "a//b",
            "a//",
            "a/.",
            "a./b",
            "a ",
            "docs/NUL",
            "aux.tar.gz",
            "com1 .x",
            "COM¹",
            "lpt³.txt",
            "CONIN$",
            "docs/conout$.x",
            "a<b",
            "a>",
            "\"",
            "a|b",
            "docs/?",
            "*",
            "a\u{202e}b",
            "a\u{200b}",
            "\u{feff}a",
            "a\u{ad}b",
            &"x/".repeat(513),
            &"x".repeat(256),
        ] {
            assert!(check(name.as_bytes()).is_err(), "{name:?}");
        }
        assert!(check(b"\xff").is_err());
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
