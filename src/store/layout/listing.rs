//! The repositories in a directory of layouts.

use std::path::Path;

use super::super::Error;
use super::Layout;
use crate::disk;
use crate::oci::Repository;

/// The most entries that the three levels of a directory of layouts may have together. A mirror of all public providers has a tenth. A
/// stranger's links to directories above them would make endlessly many.
const MOST_ENTRIES: usize = 100_000;

impl Layout {
    /// Whether its directory has no entry at all.
    pub(in crate::store) fn is_empty(&self) -> Result<bool, disk::Error> {
        let entries = std::fs::read_dir(self.root());
        let mut entries =
            entries.map_err(|source| disk::Error::at(disk::Action::Read, self.root(), source))?;
        Ok(entries.next().is_none())
    }
}

/// The repositories of providers.
pub(super) fn repositories(root: &Path) -> Result<Vec<Repository>, Error> {
    let mut left = MOST_ENTRIES;
    let mut subdirectories = |path: &Path| {
        let within = disk::subdirectories_within(path, &mut left)?;
        within.ok_or_else(|| Error::TooManyEntries {
            path: root.to_owned(),
            limit: MOST_ENTRIES,
        })
    };
    let mut found = Vec::new();
    for host in subdirectories(root)? {
        for namespace in subdirectories(&root.join(&host))? {
            for type_name in subdirectories(&root.join(&host).join(&namespace))? {
                let relative = format!("{host}/{namespace}/{type_name}");
                // A directory that cannot be read is an error: without its provider, `site --delete` would delete what it published.
                let visible = disk::exists(&root.join(&relative).join("index.json"))?;
                found.extend(Repository::of_directory(&relative).filter(|_| visible));
            }
        }
    }
    Ok(found)
}
