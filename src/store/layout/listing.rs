//! The layouts in a directory of layouts.

use std::path::{Path, PathBuf};

use super::super::Error;
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

    /// The directory, or the link above it, that hides whether the repository has versions; `None` if it is just absent.
    pub(in crate::store) fn incomplete(&self, repository: &Repository) -> Option<PathBuf> {
        let path = self.root().join(repository.as_str());
        if path.is_dir() {
            return Some(path).filter(|path| is_unfinished(path));
        }
        let mut below = path.ancestors().take_while(|one| *one != self.root());
        let lost = below.find(|one| one.is_symlink() && !one.exists() || is_empty(one));
        lost.map(Path::to_owned)
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
        let mut subdirectories = |path: &Path, found: &mut Layouts| {
            let within = disk::subdirectories_within(path, &mut left)?;
            let (path, limit) = (root.to_owned(), MOST_ENTRIES);
            let within = within.ok_or(Error::TooManyEntries { path, limit })?;
            found.unfinished.extend(within.broken_links);
            Ok::<_, Error>(within.names)
        };
        for host in subdirectories(root, &mut found)? {
            let namespaces = subdirectories(&root.join(&host), &mut found)?;
            let is_host = host.contains(['.', '_']);
            // Where the disk of a host or a namespace is not mounted, there may be an empty directory.
            if is_host && namespaces.is_empty() {
                found.unfinished.push(root.join(&host));
            }
            for namespace in namespaces {
                let directory = root.join(&host).join(&namespace);
                let types = subdirectories(&directory, &mut found)?;
                if is_host && is_empty(&directory) {
                    found.unfinished.push(directory);
                }
                for type_name in types {
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

/// Whether a directory is a layout without its `index.json`, or empty. A filesystem mirror has other directories of the same names.
fn is_unfinished(directory: &Path) -> bool {
    let has = |name: &str| directory.join(name).exists();
    let is_layout = ["blobs", "oci-layout", LOCK].into_iter().any(has);
    !has("index.json") && (is_layout || is_empty(directory))
}

/// Whether it is a directory without entries, as one is where a disk is not mounted.
fn is_empty(directory: &Path) -> bool {
    std::fs::read_dir(directory).is_ok_and(|mut entries| entries.next().is_none())
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
