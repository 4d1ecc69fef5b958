//! Paths below the directory that packages are installed into. No symbolic link below it is followed.

use std::fs::Metadata;
use std::path::{Path, PathBuf};

use crate::disk::{self, Directory};

/// A file or directory in a mirror: its parent directories and its name.
#[derive(Clone, Debug)]
pub(super) struct EntryPath {
    into: PathBuf,
    /// The names of the parent directories, from the mirror down.
    parents: Vec<String>,
    pub(super) name: String,
    pub(super) path: PathBuf,
}

impl EntryPath {
    pub(super) fn new(into: &Path, parents: Vec<String>, name: String) -> Self {
        let mut path = into.to_owned();
        path.extend(&parents);
        path.push(&name);
        Self {
            into: into.to_owned(),
            parents,
            name,
            path,
        }
    }

    /// Opens the directory of the entry and reads its metadata; `None` if it does not exist.
    pub(super) fn find(&self) -> Result<Option<(Directory, Metadata)>, disk::Error> {
        let Some(at) = self.open_parent()? else {
            return Ok(None);
        };
        let found = at
            .metadata(&self.name)
            .map_err(|error| disk::Error::at_use(&self.path, error))?;
        Ok(found.map(|found| (at, found)))
    }

    /// Opens the parent directory; `None` if it does not exist.
    pub(super) fn open_parent(&self) -> Result<Option<Directory>, disk::Error> {
        Directory::below(&self.into, &self.parents)
    }

    /// Opens the parent directory, and creates missing directories.
    pub(super) fn open_or_create_parent(&self) -> Result<Directory, disk::Error> {
        Directory::create_below(&self.into, &self.parents)
    }
}
