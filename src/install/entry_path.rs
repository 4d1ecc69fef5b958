//! Paths below the directory that packages are installed into. No symbolic link below it is followed.

use std::fs::Metadata;
use std::io;
use std::path::{Path, PathBuf};

use crate::disk::{self, Directory};

/// A file or directory in a mirror: its parent directories and its name.
#[derive(Clone, Debug)]
pub(super) struct EntryPath {
    way: Vec<String>,
    pub(super) name: String,
    pub(super) path: PathBuf,
}

impl EntryPath {
    pub(super) fn new(into: &Path, way: Vec<String>, name: String) -> Self {
        let mut path = into.to_owned();
        path.extend(&way);
        path.push(&name);
        Self { way, name, path }
    }

    /// Opens the directory of the entry and reads its metadata; `None` if it does not exist.
    pub(super) fn find(&self, into: &Path) -> Result<Option<(Directory, Metadata)>, disk::Error> {
        let Some(at) = self.open_parent(into)? else {
            return Ok(None);
        };
        let found = at
            .metadata(&self.name)
            .map_err(|error| unusable(&self.path, error))?;
        Ok(found.map(|found| (at, found)))
    }

    /// Opens the parent directory; `None` if it does not exist.
    pub(super) fn open_parent(&self, into: &Path) -> Result<Option<Directory>, disk::Error> {
        let Some(mut at) = disk::if_exists(Directory::open(into).map_err(|e| unusable(into, e)))?
        else {
            return Ok(None);
        };
        for name in &self.way {
            let entered = at.enter_if_there(name);
            match entered.map_err(|error| unusable(&at.path().join(name), error))? {
                Some(next) => at = next,
                None => return Ok(None),
            }
        }
        Ok(Some(at))
    }

    /// Opens the parent directory, and creates missing directories.
    pub(super) fn open_or_create_parent(&self, into: &Path) -> Result<Directory, disk::Error> {
        let mut at = Directory::open(into).map_err(|error| unusable(into, error))?;
        for name in &self.way {
            let entered = at.enter_or_create(name);
            let path = || at.path().join(name);
            (at, _) =
                entered.map_err(|error| disk::Error::at(disk::Action::Create, &path(), error))?;
        }
        Ok(at)
    }
}

pub(super) fn unusable(path: &Path, error: io::Error) -> disk::Error {
    disk::Error::at(disk::Action::Use, path, error)
}
