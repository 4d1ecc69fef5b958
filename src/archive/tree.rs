//! The files and directories that a zip makes when it is unpacked.
//!
//! A name implies the directories above it, so a few entries can make very many of them.

use std::collections::HashMap;

use super::Error;

/// Counts the files and directories that names of entries make.
#[derive(Debug, Default)]
pub(super) struct Tree {
    files: u64,
    /// The number of each directory, by that of the directory above it and its name in there. The top has number 0.
    directories: HashMap<(usize, String), usize>,
}

impl Tree {
    /// Adds the name of an entry, unless there are then more than `limit` files and directories. The name of a directory ends with a slash.
    pub(super) fn add(&mut self, name: &str, limit: u64) -> Result<(), Error> {
        if !name.ends_with('/') {
            self.files += 1;
        }
        let above = name.rsplit_once('/').map(|(above, _)| above);
        let mut at = 0;
        for element in above.into_iter().flat_map(|above| above.split('/')) {
            let next = self.directories.len() + 1;
            let found = self.directories.entry((at, element.to_owned()));
            at = *found.or_insert(next);
        }
        match self.files + self.directories.len() as u64 > limit {
            true => Err(Error::of_zip("makes too many files and directories")),
            false => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// How many files and directories the names make.
    fn count(names: &[&str]) -> u64 {
        let accepts = |limit: u64| {
            let mut tree = Tree::default();
            names.iter().all(|name| tree.add(name, limit).is_ok())
        };
        (0..).find(|limit| accepts(*limit)).unwrap()
    }

    #[test]
    fn directories_count_once_however_they_are_named() {
        for (names, expected) in [
            (&["a"][..], 1),
            (&["a/"], 1),
            (&["a/b/c"], 3),
            (&["a/", "a/b", "a/c", "a/d/"], 4),
            (&["a/b/x", "b/a/x"], 6),
            (&["a/b/x", "a/c/b/x"], 6),
        ] {
            assert_eq!(count(names), expected, "{names:?}");
        }
    }
}
