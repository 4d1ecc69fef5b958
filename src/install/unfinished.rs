//! Directories that a killed client has left half unpacked. Clients refuse them for ever
//! ([clients: plugin folders](crate::clients#plugin-folders)).

use std::fs;
use std::io::{self, Read as _};
use std::path::Path;

use crate::disk;

/// Whether a directory has nothing but the beginnings of files of the whole package, which is unpacked in another directory.
pub(super) fn is_unfinished(directory: &Path, whole: &Path) -> io::Result<bool> {
    for entry in fs::read_dir(directory)? {
        let entry = entry?;
        let (path, whole) = (entry.path(), whole.join(entry.file_name()));
        let found = entry.file_type()?;
        let is_part = match found.is_dir() {
            true => is_unfinished(&path, &whole)?,
            false => found.is_file() && whole.is_file() && begins(&path, &whole)?,
        };
        if !is_part {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Whether a file is the beginning of another one.
fn begins(path: &Path, whole: &Path) -> io::Result<bool> {
    let (mut file, mut whole) = (
        disk::open(path).map_err(io::Error::other)?,
        fs::File::open(whole)?,
    );
    let (mut there, mut expected) = (Vec::new(), Vec::new());
    loop {
        there.clear();
        expected.clear();
        let count = file.by_ref().take(1 << 16).read_to_end(&mut there)?;
        whole
            .by_ref()
            .take(count as u64)
            .read_to_end(&mut expected)?;
        if count == 0 || there != expected {
            return Ok(count == 0);
        }
    }
}
