//! Directories that a killed client has left half unpacked. Clients refuse them for ever
//! ([clients: plugin folders](crate::clients#plugin-folders)).

use std::collections::BTreeSet;
use std::io::{self, Read as _, Seek};
use std::path::{Path, PathBuf};

use crate::archive::{self, Archive, Content, EntryType};
use crate::disk;

/// Whether a directory has nothing but the beginnings of files of this zip.
pub(super) fn is_unfinished<R: io::Read + Seek>(
    archive: &mut Archive<R>,
    directory: &Path,
) -> bool {
    let Some(mut left) = files(directory) else {
        return false;
    };
    let mut is_beginning = true;
    let read = archive.read(|entry, content| {
        if entry.kind() == EntryType::File && left.remove(Path::new(entry.name())) {
            is_beginning &= begins(&directory.join(entry.name()), content)?;
        }
        Ok::<_, archive::Error>(())
    });
    read.is_ok() && is_beginning && left.is_empty()
}

/// The files below a directory; `None` if it has anything else than files and directories, or more files than a zip may have.
fn files(directory: &Path) -> Option<BTreeSet<PathBuf>> {
    const MOST: usize = 10_000;
    let (mut pending, mut files) = (vec![PathBuf::new()], BTreeSet::new());
    while let Some(within) = pending.pop() {
        for name in disk::names(&directory.join(&within)).ok()? {
            let path = within.join(name);
            let found = directory.join(&path).symlink_metadata().ok()?;
            if found.is_dir() && pending.len() < MOST {
                pending.push(path);
            } else if found.is_file() && files.len() < MOST {
                files.insert(path);
            } else {
                return None;
            }
        }
    }
    Some(files)
}

/// Whether the content begins with the bytes of a file.
fn begins<R: io::Read>(path: &Path, content: &mut Content<'_, R>) -> Result<bool, archive::Error> {
    let Ok(mut file) = disk::open(path) else {
        return Ok(false);
    };
    let mut read = Vec::new();
    while let Some(chunk) = content.chunk()? {
        read.clear();
        let there = file
            .by_ref()
            .take(chunk.len() as u64)
            .read_to_end(&mut read);
        if there.is_err() || !chunk.starts_with(&read) {
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
