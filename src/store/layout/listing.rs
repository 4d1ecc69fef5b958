//! The layouts in a directory of layouts.

use std::path::{Path, PathBuf};

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

    /// Finds the layouts of providers.
    pub(in crate::store) fn layouts(&self) -> Result<Layouts, Error> {
        layouts(self.root())
    }
}

/// The layouts in a directory of layouts.
#[derive(Debug, Default)]
pub(in crate::store) struct Layouts {
    /// The repositories of providers.
    pub(in crate::store) repositories: Vec<Repository>,
    /// The directories of providers without an `index.json`, and links that lead nowhere. Their providers are not known to be gone: a layout may
    /// have been copied in part, or its disk may not be mounted.
    pub(in crate::store) unfinished: Vec<PathBuf>,
}

fn layouts(root: &Path) -> Result<Layouts, Error> {
    let mut left = MOST_ENTRIES;
    let mut found = Layouts::default();
    let mut subdirectories = |path: &Path, found: &mut Layouts| {
        let within = disk::subdirectories_within(path, &mut left)?;
        let within = within.ok_or_else(|| Error::TooManyEntries {
            path: root.to_owned(),
            limit: MOST_ENTRIES,
        })?;
        found.unfinished.extend(within.broken_links);
        Ok::<_, Error>(within.names)
    };
    for host in subdirectories(root, &mut found)? {
        for namespace in subdirectories(&root.join(&host), &mut found)? {
            for type_name in subdirectories(&root.join(&host).join(&namespace), &mut found)? {
                let relative = format!("{host}/{namespace}/{type_name}");
                let Some(repository) = Repository::of_directory(&relative) else {
                    continue;
                };
                // A directory that cannot be read is an error: without its provider, `site --delete` would delete what it published.
                match disk::exists(&root.join(&relative).join("index.json"))? {
                    true => found.repositories.push(repository),
                    false => found.unfinished.push(root.join(&relative)),
                }
            }
        }
    }
    Ok(found)
}
