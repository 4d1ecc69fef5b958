//! Directories that a killed client has left half unpacked. Clients refuse them for ever
//! ([clients: plugin folders](crate::clients#plugin-folders)).

use std::collections::BTreeSet;
use std::fs;
use std::io::{self, Read as _, Seek};
use std::path::Path;

use crate::archive::{self, Archive, Content, EntryType};
use crate::disk;

/// Whether a directory has nothing but the beginnings of files of this zip.
pub(super) fn is_unfinished<R: io::Read + Seek>(
    archive: &mut Archive<R>,
    directory: &Path,
) -> bool {
    let mut left = BTreeSet::new();
    if !add_files(directory, "", &mut left) {
        return false;
    }
    let mut is_beginning = true;
    let read = archive.read(|entry, content| {
        if entry.kind() == EntryType::File && left.remove(entry.name()) {
            is_beginning &= begins(&directory.join(entry.name()), content)?;
        }
        Ok::<_, archive::Error>(())
    });
    read.is_ok() && is_beginning && left.is_empty()
}

/// Adds the names of all files below a directory; `false` if it has anything else than files and directories, or more than any package.
fn add_files(directory: &Path, prefix: &str, names: &mut BTreeSet<String>) -> bool {
    // As many as a zip may have.
    const MOST: usize = 10_000;
    // Deeper than any package; it bounds the recursion.
    const DEEPEST: usize = 64;
    let Ok(entries) = disk::names(directory) else {
        return false;
    };
    entries.iter().all(|name| {
        let (path, name) = (directory.join(name), format!("{prefix}{name}"));
        match fs::symlink_metadata(&path) {
            Ok(found) if found.is_dir() => {
                name.matches('/').count() < DEEPEST && add_files(&path, &format!("{name}/"), names)
            }
            Ok(found) if found.is_file() => names.insert(name) && names.len() <= MOST,
            _ => false,
        }
    })
}

/// Whether the content begins with the bytes of a file.
fn begins<R: io::Read>(path: &Path, content: &mut Content<'_, R>) -> Result<bool, archive::Error> {
    let Ok(mut file) = disk::open(path) else {
        return Ok(false);
    };
    let mut read = Vec::new();
    while let Some(chunk) = content.chunk()? {
        read.clear();
        let limit = chunk.len() as u64;
        if file.by_ref().take(limit).read_to_end(&mut read).is_err() || !chunk.starts_with(&read) {
            return Ok(false);
        }
        if read.len() < chunk.len() {
            return Ok(true);
        }
    }
    read.clear();
    let more = file.take(1).read_to_end(&mut read);
    Ok(more.is_ok() && read.is_empty())
}
