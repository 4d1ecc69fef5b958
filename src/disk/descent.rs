//! Directories below one that the user named. No symbolic link on the way down is followed.

use std::path::Path;

use super::{Directory, Error, if_exists};

impl Directory {
    /// Opens the directory that these names lead to, from one that the user named; `None` if it does not exist.
    ///
    /// # Errors
    /// The system reported an error, or a name is that of a symbolic link or of something other than a directory.
    pub fn below(root: &Path, names: &[String]) -> Result<Option<Self>, Error> {
        let opened = Self::open(root).map_err(|error| Error::at_use(root, error));
        let Some(mut at) = if_exists(opened)? else {
            return Ok(None);
        };
        for name in names {
            let path = at.path().join(name);
            let entered = at.enter(name);
            match if_exists(entered.map_err(|error| Error::at_use(&path, error)))? {
                Some(next) => at = next,
                None => return Ok(None),
            }
        }
        Ok(Some(at))
    }

    /// As [`Directory::below`], but creates missing directories below the root.
    ///
    /// # Errors
    /// As [`Directory::below`].
    pub fn create_below(root: &Path, names: &[String]) -> Result<Self, Error> {
        let opened = Self::open(root);
        let mut at = opened.map_err(|error| Error::at_use(root, error))?;
        for name in names {
            let entered = at.enter_or_create(name);
            let path = || at.path().join(name);
            (at, _) = entered.map_err(|error| Error::at("create", &path(), error))?;
        }
        Ok(at)
    }
}
