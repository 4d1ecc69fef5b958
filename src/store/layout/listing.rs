//! The layouts in a directory of layouts.

use std::path::{Path, PathBuf};

use super::super::{Error, LayoutFault};
use super::{LOCK, Layout};
use crate::disk;
use crate::oci::Repository;

/// The most entries that the three levels of a directory of layouts may have together. A mirror of all public providers has a tenth. A
/// stranger's links to directories above them would make endlessly many.
const MOST_ENTRIES: usize = 100_000;

impl Layout {
    /// Whether its directory has no entry at all.
    pub(in crate::store) fn is_empty(&self) -> Result<bool, disk::Error> {
        let entries = std::fs::read_dir(self.root());
        let mut entries = entries.map_err(|source| disk::Error::at("read", self.root(), source))?;
        Ok(entries.next().is_none())
    }

    /// The directory of the repository, if it is a layout without its `index.json`.
    pub(in crate::store) fn incomplete(&self, repository: &Repository) -> Option<PathBuf> {
        let path = self.root().join(repository.as_str());
        is_unfinished(&path).then_some(path)
    }

    /// Whether the first write of a layout goes on, or was interrupted. Another one may begin again.
    pub(in crate::store) fn is_begun(&self, repository: &Repository) -> bool {
        let lock = self.root().join(repository.as_str()).join(LOCK);
        lock.exists() && matches!(self.index(repository), Ok(None))
    }

    /// Finds the layouts of providers.
    pub(in crate::store) fn layouts(&self) -> Result<Layouts, Error> {
        let root = self.root();
        let mut left = MOST_ENTRIES;
        let mut found = Layouts::default();
        let mut subdirectories = |path: &Path| {
            let within = disk::subdirectories_within(path, &mut left)?;
            let (path, fault) = (root.to_owned(), LayoutFault::TooLarge);
            within.ok_or(Error::Layout { path, fault })
        };
        for host in subdirectories(root)? {
            for namespace in subdirectories(&root.join(&host))? {
                for type_name in subdirectories(&root.join(&host).join(&namespace))? {
                    let relative = format!("{host}/{namespace}/{type_name}");
                    let Some(repository) = Repository::of_directory(&relative) else {
                        continue;
                    };
                    // A directory that cannot be read is an error: without its provider, `site --delete` would delete what it published.
                    let path = root.join(&relative);
                    match disk::exists(&path.join("index.json"))? {
                        true => found.repositories.push(repository),
                        false if is_unfinished(&path) => found.unfinished.push(path),
                        false => {}
                    }
                }
            }
        }
        Ok(found)
    }
}

/// Whether a directory is a layout without its `index.json`. A filesystem mirror has other directories of the same names.
fn is_unfinished(directory: &Path) -> bool {
    let has = |name: &str| directory.join(name).exists();
    let is_layout = ["blobs", "oci-layout", LOCK].into_iter().any(has);
    is_layout && !has("index.json")
}

/// The layouts in a directory of layouts.
#[derive(Debug, Default)]
pub(in crate::store) struct Layouts {
    /// The repositories of providers.
    pub(in crate::store) repositories: Vec<Repository>,
    /// The directories of layouts without an `index.json`. Their providers are not known to be gone: a layout may have been copied in part.
    pub(in crate::store) unfinished: Vec<PathBuf>,
}
