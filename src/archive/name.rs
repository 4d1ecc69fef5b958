//! Names of entries: which ones may become files.
//!
//! A name is accepted when it means the same file to every client on every system. Everything else is refused rather than
//! repaired: a repaired name would give a directory whose `h1` no client computes.

use std::fmt;

use icu_normalizer::DecomposingNormalizerBorrowed;

use super::{EntryType, Error};
use crate::error::is_deceptive;

/// Longer names are refused: the smallest limit for a path that a supported system has (macOS).
const LONGEST: usize = 1024;
/// The same for one element.
const LONGEST_ELEMENT: usize = 255;

/// What is wrong with the name of an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// No name.
    Empty,
    /// More than 1024 bytes, or 255 in one element.
    Long,
    /// Not UTF-8.
    Encoding,
    /// A control character, such as a line break, which could forge a line of `h1`.
    Control,
    /// A character that is not seen, or that turns the direction of text: two names would look the same.
    Invisible,
    /// One of `<>"|?*`, which no file of Windows has in its name.
    Reserved,
    /// An element `..`, in either slash direction.
    Parent,
    /// A leading slash.
    Absolute,
    /// A backslash: a separator on Windows, a letter elsewhere.
    Backslash,
    /// A colon: a drive or a hidden stream on Windows.
    Colon,
    /// An element that is empty or `.`: another spelling of another name.
    Element,
    /// An element that Windows reserves for a device, such as `nul.txt`.
    Device,
    /// An element that ends in a dot or a space, which Windows drops.
    Ending,
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Empty => "has no name",
            Self::Long => "has a name that is longer than file systems allow",
            Self::Encoding => "has a name that is not UTF-8",
            Self::Control => "has a control character in its name",
            Self::Invisible => "has an invisible character in its name",
            Self::Reserved => "has one of `<>\"|?*` in its name, which Windows reserves",
            Self::Parent => "has an element `..`",
            Self::Absolute => "has an absolute name",
            Self::Backslash => "has a backslash in its name",
            Self::Colon => "has a colon in its name",
            Self::Element => "has an empty element or an element `.`",
            Self::Device => "has a name that Windows reserves for a device",
            Self::Ending => "has an element that ends in a dot or a space",
        })
    }
}

/// The name as text, if it may become a file; a directory keeps its slash at the end.
pub(super) fn check(bytes: &[u8]) -> Result<&str, Error> {
    sound(bytes).map_err(|fault| Error::Name {
        name: String::from_utf8_lossy(bytes).into_owned(),
        fault,
    })
}

fn sound(bytes: &[u8]) -> Result<&str, Fault> {
    if bytes.is_empty() {
        return Err(Fault::Empty);
    }
    if bytes.len() > LONGEST {
        return Err(Fault::Long);
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
        return Err(Fault::Long);
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

/// Refuses names that would become one file, on any file system, or a file and a directory.
pub(super) fn distinct<'a>(names: impl Iterator<Item = (&'a str, EntryType)>) -> Result<(), Error> {
    let mut names: Vec<Folded<'a>> = names.map(Folded::new).collect();
    // Sort by element, so that everything below a directory follows it directly and comparing neighbours is enough.
    names.sort_by(|a, b| a.folded.split('/').cmp(b.folded.split('/')));
    for (one, other) in names.iter().zip(names.iter().skip(1)) {
        one.distinct_from(other)?;
    }
    Ok(())
}

/// The form in which file systems compare names if they ignore case or Unicode normalization.
fn folded(path: &str) -> String {
    DecomposingNormalizerBorrowed::new_nfd()
        .normalize(&without_case(path))
        .into_owned()
}

fn without_case(path: &str) -> String {
    // Some letters have one capital together, such as `s` and the long `ſ`; `ẞ` and `SS` are both capitals of `ß`.
    path.chars()
        .flat_map(char::to_lowercase)
        .flat_map(char::to_uppercase)
        .flat_map(char::to_lowercase)
        .collect()
}

struct Folded<'a> {
    path: &'a str,
    folded: String,
    kind: EntryType,
}

impl<'a> Folded<'a> {
    fn new((name, kind): (&'a str, EntryType)) -> Self {
        let path = name.strip_suffix('/').unwrap_or(name);
        Self {
            path,
            folded: folded(path),
            kind,
        }
    }

    /// `other` comes later in the order.
    fn distinct_from(&self, other: &Self) -> Result<(), Error> {
        let name = self.path.to_owned();
        let spelled_otherwise = self
            .path
            .split('/')
            .zip(other.path.split('/'))
            .zip(self.folded.split('/').zip(other.folded.split('/')))
            .take_while(|(_, (a, b))| a == b)
            .find(|((a, b), _)| a != b);
        if let Some(((a, b), _)) = spelled_otherwise {
            let other = other.path.to_owned();
            return Err(if without_case(a) == without_case(b) {
                Error::Case { name, other }
            } else {
                Error::Encoding { name, other }
            });
        }
        match other.path.strip_prefix(self.path) {
            Some("") => Err(Error::Duplicate { name }),
            Some(rest) if rest.starts_with('/') && self.kind == EntryType::File => {
                Err(Error::FileAndDirectory {
                    name,
                    other: other.path.to_owned(),
                })
            }
            _ => Ok(()),
        }
    }
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
            (&"x/".repeat(513), Fault::Long),
            (&"x".repeat(256), Fault::Long),
        ] {
            assert_eq!(sound(name.as_bytes()), Err(fault), "{name:?}");
        }
        assert_eq!(sound(b"\xff"), Err(Fault::Encoding));
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
            assert_eq!(sound(name.as_bytes()), Ok(name));
        }
    }

    fn pair(one: &str, other: &str) -> Result<(), Error> {
        let kind = |name: &str| {
            if name.ends_with('/') {
                EntryType::Directory
            } else {
                EntryType::File
            }
        };
        let names = ["zz", one, "m", other, "a b"];
        distinct(names.into_iter().map(|name| (name, kind(name))))
    }

    #[test]
    fn colliding_names_are_found() {
        assert!(matches!(pair("x", "x"), Err(Error::Duplicate { .. })));
        assert!(matches!(pair("x/", "x/"), Err(Error::Duplicate { .. })));
        assert!(matches!(pair("x/", "x"), Err(Error::Duplicate { .. })));
        assert!(matches!(pair("x/y", "X"), Err(Error::Case { .. })));
        assert!(matches!(pair("x/y", "X/z"), Err(Error::Case { .. })));
        assert!(matches!(
            pair("LICENSE", "license"),
            Err(Error::Case { .. })
        ));
        assert!(matches!(pair("ÄB", "äB"), Err(Error::Case { .. })));
        assert!(matches!(pair("\u{17f}", "S"), Err(Error::Case { .. })));
        assert!(matches!(
            pair("\u{1e9e}", "\u{df}"),
            Err(Error::Case { .. })
        ));
        assert!(matches!(pair("\u{1e9e}", "ss"), Err(Error::Case { .. })));
        for (one, other) in [
            ("\u{e9}", "e\u{301}"),
            ("\u{e9}/a", "E\u{301}/b"),
            ("\u{212b}", "A\u{30a}"),
            ("x\u{323}\u{307}", "x\u{307}\u{323}"),
        ] {
            assert!(
                matches!(
                    pair(one, other),
                    Err(Error::Encoding { .. } | Error::Case { .. })
                ),
                "{one} {other}"
            );
        }
        for (one, other) in [("x", "x/y"), ("x/y/z", "x")] {
            assert!(matches!(
                pair(one, other),
                Err(Error::FileAndDirectory { .. })
            ));
        }
        for (one, other) in [("x/", "x/y"), ("x", "x.y"), ("x/y", "x-y"), ("x/a", "y/A")] {
            assert!(pair(one, other).is_ok(), "{one} {other}");
        }
    }

    #[test]
    fn a_collision_is_found_behind_names_that_sort_between() {
        let names = ["a", "a.b", "a!b", "a/b"].map(|name| (name, EntryType::File));
        assert!(matches!(
            distinct(names.into_iter()),
            Err(Error::FileAndDirectory { .. })
        ));
    }

    proptest! {
        #[test]
        fn what_passes_stays_below_its_directory(bytes in prop::collection::vec(prop_oneof![Just(b'/'), Just(b'.'), Just(b'\\'), any::<u8>()], 0..12)) {
            if let Ok(name) = sound(&bytes) {
                let normal = |c| matches!(c, std::path::Component::Normal(_));
                prop_assert!(std::path::Path::new(name).components().all(normal));
            }
        }

        #[test]
        fn collisions_are_what_a_slow_search_finds(names in prop::collection::vec("[aAb](/[aAb])?(/[aAb])?", 0..5)) {
            let collide = names.iter().enumerate().any(|(i, one)| names.iter().enumerate().any(|(j, other)| {
                let (a, b): (Vec<_>, Vec<_>) = (one.split('/').collect(), other.split('/').collect());
                let respelled = a.iter().zip(&b).take_while(|(x, y)| x.eq_ignore_ascii_case(y)).any(|(x, y)| x != y);
                i != j && (respelled || b.starts_with(&a))
            }));
            prop_assert_eq!(distinct(names.iter().map(|name| (name.as_str(), EntryType::File))).is_err(), collide);
        }
    }
}
