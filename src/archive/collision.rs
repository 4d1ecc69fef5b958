//! Names of entries that would collide on a disk.

use icu_normalizer::DecomposingNormalizerBorrowed;

use super::{EntryType, Error};

/// Refuses names that would become the same file on some file system, or a file and a directory.
pub(super) fn distinct<'a>(names: impl Iterator<Item = (&'a str, EntryType)>) -> Result<(), Error> {
    let mut names: Vec<Folded<'a>> = names.map(Folded::new).collect();
    // Sort by element: then everything below a directory follows it directly, and comparing neighbours suffices.
    names.sort_by(|a, b| a.folded.split('/').cmp(b.folded.split('/')));
    for (one, other) in names.iter().zip(names.iter().skip(1)) {
        one.distinct_from(other)?;
    }
    Ok(())
}

fn without_case(path: &str) -> String {
    // Lower case alone does not suffice: some letters share one capital, such as `s` and the long `ſ`; `ẞ` and `SS` are both capitals
    // of `ß`.
    path.chars()
        .flat_map(char::to_lowercase)
        .flat_map(char::to_uppercase)
        .flat_map(char::to_lowercase)
        .collect()
}

struct Folded<'a> {
    path: &'a str,
    /// The form in which file systems compare names if they ignore case or Unicode normalisation.
    folded: String,
    kind: EntryType,
}

impl<'a> Folded<'a> {
    fn new((name, kind): (&'a str, EntryType)) -> Self {
        let path = name.strip_suffix('/').unwrap_or(name);
        let folded = without_case(path);
        let folded = DecomposingNormalizerBorrowed::new_nfd().normalize(&folded);
        Self {
            path,
            folded: folded.into_owned(),
            kind,
        }
    }

    /// Compares with the next path in the order.
    fn distinct_from(&self, other: &Self) -> Result<(), Error> {
        let spelled_otherwise = self
            .path
            .split('/')
            .zip(other.path.split('/'))
            .zip(self.folded.split('/').zip(other.folded.split('/')))
            .take_while(|(_, (a, b))| a == b)
            .find(|((a, b), _)| a != b);
        let below = other.path.strip_prefix(self.path);
        let is_shared = below == Some("")
            || below.is_some_and(|rest| rest.starts_with('/')) && self.kind == EntryType::File;
        if spelled_otherwise.is_none() && !is_shared {
            return Ok(());
        }
        let says = "is the same file as another, or a directory of it, on some system";
        Err(Error::of_entry(self.path, says))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

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
        for (one, other) in [
            ("x", "x"),
            ("x/", "x/"),
            ("x/", "x"),
            ("x/y", "X"),
            ("x/y", "X/z"),
            ("LICENSE", "license"),
            ("ÄB", "äB"),
            ("\u{17f}", "S"),
            ("\u{1e9e}", "\u{df}"),
            ("\u{1e9e}", "ss"),
            ("\u{e9}", "e\u{301}"),
            ("\u{e9}/a", "E\u{301}/b"),
            ("\u{212b}", "A\u{30a}"),
            ("x\u{323}\u{307}", "x\u{307}\u{323}"),
            ("x", "x/y"),
            ("x/y/z", "x"),
        ] {
            assert!(pair(one, other).is_err(), "{one} {other}");
        }
        for (one, other) in [("x/", "x/y"), ("x", "x.y"), ("x/y", "x-y"), ("x/a", "y/A")] {
            assert!(pair(one, other).is_ok(), "{one} {other}");
        }
    }

    #[test]
    fn a_collision_is_found_behind_names_that_sort_between() {
        let names = ["a", "a.b", "a!b", "a/b"].map(|name| (name, EntryType::File));
        assert!(distinct(names.into_iter()).is_err());
    }

    proptest! {
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
