//! Links in a working directory to packages in the clients' plugin cache ([clients: plugin folders](crate::clients#plugin-folders)).

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use super::entry_path::EntryPath;
use super::{Limits, PackageHash, Problem, disk};
use crate::disk::exposed::exposed;
use crate::outcome::Occupant;

/// The link to a package in the plugin cache.
#[derive(Clone, Debug)]
pub(super) struct Link {
    /// The directory of the providers of the working directory.
    into: PathBuf,
    at: EntryPath,
    /// The package in the cache, by an absolute path.
    target: PathBuf,
}

impl Link {
    pub(super) fn new(into: &Path, at: EntryPath, target: &Path) -> Self {
        Self {
            into: into.to_owned(),
            at,
            target: target.to_owned(),
        }
    }

    pub(super) fn path(&self) -> &Path {
        &self.at.path
    }

    /// Whether the working directory links to the package.
    pub(super) fn is_made(&self) -> Result<bool, Problem> {
        let Some(parent) = self.at.open_parent(&self.into)? else {
            return Ok(false);
        };
        let found = parent.link_target(&self.at.name);
        Ok(found.is_ok_and(|target| target == self.target))
    }

    /// The `h1` of a directory in the place of the link, if it is a locked one. Clients use such a directory as it is.
    pub(super) fn locked_directory(
        &self,
        locked: &BTreeSet<PackageHash>,
    ) -> Result<Option<PackageHash>, Problem> {
        let Some(parent) = self.at.open_parent(&self.into)? else {
            return Ok(None);
        };
        match parent.link_target(&self.at.name) {
            Ok(_) => Ok(None),
            Err(_) => Ok(self.directory()?.filter(|h1| locked.contains(h1))),
        }
    }

    /// The `h1` of a directory in the place of the link; `None` without one, or if other users may change it.
    fn directory(&self) -> Result<Option<PackageHash>, Problem> {
        let path = self.path();
        let Ok(h1) = disk::directory_h1(path, &Limits::default()) else {
            return Ok(None);
        };
        let exposed =
            exposed(path).map_err(|error| disk::Error::at(disk::Action::Use, path, error))?;
        Ok(exposed.is_none().then_some(h1))
    }

    /// Creates the link, in place of a link to elsewhere. `h1` is that of the package; a directory that has it stays. Returns whether
    /// anything changed.
    pub(super) fn make(&self, h1: &PackageHash) -> Result<bool, Problem> {
        let parent = self.at.open_or_create_parent(&self.into)?;
        match parent.link_target(&self.at.name) {
            Ok(target) if target == self.target => return Ok(false),
            Ok(_) => {}
            Err(_) => {
                let found = parent.metadata(&self.at.name);
                let found = found
                    .map_err(|error| disk::Error::at(disk::Action::Use, self.path(), error))?;
                let is_directory = found.as_ref().is_some_and(std::fs::Metadata::is_dir);
                if is_directory && disk::names(self.path())?.is_empty() {
                    let removed = std::fs::remove_dir(self.path());
                    removed.map_err(|error| {
                        disk::Error::at(disk::Action::Remove, self.path(), error)
                    })?;
                } else if is_directory && self.directory()?.as_ref() == Some(h1) {
                    return Ok(false);
                } else if found.is_some() {
                    return Err(Problem::Occupied {
                        path: self.path().to_owned(),
                        expected: Box::new(Occupant::Directory(h1.clone())),
                        received: Box::new(Occupant::Other),
                    });
                }
            }
        }
        disk::show_link(&self.target, &self.into, &parent, &self.at.name)?;
        Ok(true)
    }
}
