//! The directory of a provider in a site.
//!
//! Other users may write to the site's directory. Below it tfoci follows no symbolic link, neither to read nor to write.

use std::io::Read as _;
use std::path::{Path, PathBuf};

use crate::address::ProviderAddr;
use crate::disk::{self, Directory, Staged};

/// The directory of a provider: `HOST/NAMESPACE/TYPE` with the host in punycode, as clients request it.
#[derive(Clone, Debug)]
pub(super) struct ProviderFolder {
    root: PathBuf,
    /// The segments of the path below the root.
    segments: Vec<String>,
}

impl ProviderFolder {
    pub(super) fn of(root: &Path, provider: &ProviderAddr) -> Self {
        Self {
            root: root.to_owned(),
            segments: provider.to_ascii().split('/').map(str::to_owned).collect(),
        }
    }

    /// The site's directory.
    pub(super) fn root(&self) -> &Path {
        &self.root
    }

    /// Opens the directory; `None` if it does not exist.
    ///
    /// # Errors
    /// The system reported an error, or a part of the path is a symbolic link or not a directory.
    pub(super) fn open(&self) -> Result<Option<Directory>, disk::Error> {
        Directory::below(&self.root, &self.segments)
    }

    /// Removes the directory if it is empty, and then its empty parents in the site.
    ///
    /// # Errors
    /// The system reported an error, or a part of the path is a symbolic link.
    pub(super) fn remove_if_empty(&self) -> Result<(), disk::Error> {
        let mut segments = self.segments.clone();
        while let Some(name) = segments.pop() {
            let Some(at) = Directory::below(&self.root, &segments)? else {
                return Ok(());
            };
            let failed =
                |error| disk::Error::at(disk::Action::Remove, &at.path().join(&name), error);
            if !at.remove_if_empty(&name).map_err(failed)? {
                return Ok(());
            }
        }
        Ok(())
    }

    /// Opens the directory, and creates it and its parents if they are missing.
    ///
    /// # Errors
    /// As [`ProviderFolder::open`].
    pub(super) fn open_or_create(&self) -> Result<Directory, disk::Error> {
        Directory::create_below(&self.root, &self.segments)
    }
}

/// Whether the directory has a regular file of this name.
///
/// # Errors
/// The system reported an error, or the entry is a symbolic link.
pub(super) fn has_file(directory: &Directory, name: &str) -> Result<bool, disk::Error> {
    let found = directory.metadata(name);
    let found = found.map_err(|error| disk::Error::at_use(&directory.path().join(name), error))?;
    Ok(found.is_some_and(|found| found.is_file()))
}

/// The content of a small file; `None` if it is missing or larger than `limit` bytes.
///
/// # Errors
/// The system reported an error, or the entry is a symbolic link or not a regular file.
pub(super) fn read(
    directory: &Directory,
    name: &str,
    limit: u64,
) -> Result<Option<Vec<u8>>, disk::Error> {
    let path = directory.path().join(name);
    let failed = |error| disk::Error::at_use(&path, error);
    match directory.metadata(name).map_err(failed)? {
        None => return Ok(None),
        Some(found) if !found.is_file() => {
            return Err(disk::Error::special(&path, found.file_type()));
        }
        Some(_) => {}
    }
    let mut bytes = Vec::new();
    let file = directory.read(name).map_err(failed)?;
    file.take(limit.saturating_add(1))
        .read_to_end(&mut bytes)
        .map_err(failed)?;
    Ok(Some(bytes).filter(|bytes| bytes.len() as u64 <= limit))
}

/// Writes a file, unless it has this content already. A reader sees either the old content or the new one.
///
/// # Errors
/// The system reported an error, or the entry is a symbolic link or not a regular file.
pub(super) fn write(
    root: &Path,
    directory: &Directory,
    name: &str,
    bytes: &[u8],
) -> Result<(), disk::Error> {
    let old = read(directory, name, bytes.len() as u64)?;
    if old.is_some_and(|old| old == bytes) {
        return Ok(());
    }
    // The temporary file is in the site's directory itself, where the next run deletes the files of a killed run.
    let mut staged = Staged::hidden_in(root, &directory.path().join(name))?;
    staged.write(bytes)?;
    staged.show_in(directory, name)
}

/// Removes a file. It need not exist.
///
/// # Errors
/// The system reported an error.
pub(super) fn remove(directory: &Directory, name: &str) -> Result<(), disk::Error> {
    let removed = directory.remove(name);
    removed
        .map_err(|error| disk::Error::at(disk::Action::Remove, &directory.path().join(name), error))
}
