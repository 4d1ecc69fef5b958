//! The directory of a provider in a site: `HOST/NAMESPACE/TYPE` with the host in punycode, as clients request it.
//!
//! Other users may write to the site's directory. Below it tfoci follows no symbolic link, neither to read nor to write.

use std::io::Read as _;
use std::path::Path;

use crate::address::ProviderAddr;
use crate::disk::{self, Directory, Staged};

fn segments(provider: &ProviderAddr) -> Vec<String> {
    let address = provider.to_ascii();
    address.split('/').map(str::to_owned).collect()
}

/// Opens the directory; `None` if it does not exist.
///
/// # Errors
/// The system reported an error, or a part of the path is a symbolic link or not a directory.
pub(super) fn open(root: &Path, provider: &ProviderAddr) -> Result<Option<Directory>, disk::Error> {
    Directory::below(root, &segments(provider))
}

/// Whether the directory has a regular file of this name.
///
/// # Errors
/// The system reported an error, or the entry is a symbolic link.
pub(super) fn has_file(directory: &Directory, name: &str) -> Result<bool, disk::Error> {
    let found = directory.metadata(name)?;
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
    if directory.metadata(name)?.is_none() {
        return Ok(None);
    }
    let mut bytes = Vec::new();
    let mut file = directory.read(name)?.take(limit.saturating_add(1));
    file.read_to_end(&mut bytes)
        .map_err(|error| disk::Error::at_use(&directory.path().join(name), error))?;
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
