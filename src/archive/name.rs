//! Names of entries that are safe as file names.
//!
//! A name is accepted if it means the same file to every client on every system. Other names are refused, not repaired: a repaired name
//! would give a directory whose `h1` differs from the client's.

use super::Error;
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
    let name = str::from_utf8(bytes).ok().filter(|name| is_safe(name));
    name.ok_or_else(|| {
        let says = "has a name that is not safe on every system";
        Error::of_entry(&String::from_utf8_lossy(bytes), says)
    })
}

fn is_safe(name: &str) -> bool {
    // A line break, for example, could forge a line of `h1`; with an invisible character, two different names would look the same; and on
    // Windows, a backslash means a directory, and a colon a drive.
    let is_odd = |c: char| is_deceptive(c) || "\\:<>\"|?*".contains(c);
    let is_element = |element: &str| {
        // With an empty element or `.`, a file would have two names. `..` leads upwards. Windows removes a dot or space at the end.
        let is_plain = !element.is_empty() && !element.ends_with(['.', ' ']);
        is_plain && element.len() <= LONGEST_ELEMENT && !is_device(element)
    };
    let mut elements = name.strip_suffix('/').unwrap_or(name).split('/');
    let is_short = name.len() <= LONGEST && elements.clone().count() <= DEEPEST;
    is_short && !name.contains(is_odd) && elements.all(is_element)
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
            &"x".repeat(255),
        ] {
            assert!(is_safe(name), "{name}");
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
            if let Ok(name) = check(&bytes) {
                let normal = |c| matches!(c, std::path::Component::Normal(_));
                prop_assert!(std::path::Path::new(name).components().all(normal));
            }
        }
    }
}
