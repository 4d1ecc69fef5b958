//! Provider zips: untrusted archives, accepted only if every reader sees the same files in them.
//!
//! A zip describes each entry twice, in its central directory and in a local header before the data, and readers differ in which one they
//! use. [`Archive::open`] reads both. It accepts a zip only if they agree and nothing in it is hostile: no name that leaves the directory
//! or collides with another, no link, no overlap, no more entries or bytes than the limits. It decompresses nothing. [`Archive::members`] then
//! passes on the contents, limited by the announced sizes, and [`Archive::hashes`] computes both package hashes.
//!
//! | part | what it checks or does |
//! | --- | --- |
//! | `end` | the position of the central directory |
//! | `directory` | the entries, with method, sizes and mode |
//! | `extra` | 64-bit sizes, and second names |
//! | `name` | that names are safe as file names |
//! | `collision` | that no two names are the same file on some file system |
//! | `tree` | that the names make no more files and directories than the limit |
//! | `local` | that local headers agree, and the positions of the data |
//! | `content` | decompression |
//! | [`Members`] | the entries with their contents, with size and CRC-32 |
//! | [`Skeleton`] | the end of a zip that passes by |
//! | [`Stream`] | the members of a zip while it arrives, and afterwards the same checks |
//!
//! Clients are more lenient ([clients: extraction](crate::clients#extraction)): they write links as text and use the last of two entries
//! with one name. tfoci refuses such zips, because clients on different systems would unpack them differently.

mod collision;
mod content;
mod directory;
mod end;
mod entry;
mod error;
mod extra;
mod fields;
mod limits;
mod local;
mod members;
mod name;
mod skeleton;
mod stream;
mod tree;

#[cfg(test)]
#[path = "../../tests/support/zipfile.rs"]
pub(crate) mod zipfile;

#[cfg(test)]
#[path = "../../tests/support/hostile.rs"]
pub(crate) mod hostile;

#[cfg(test)]
#[path = "../../tests/support/pieces.rs"]
pub(crate) mod pieces;

use std::io::{Read, Seek, SeekFrom};

pub use entry::{EntryType, ZipEntry};
pub use error::Error;
pub use limits::Limits;
pub use members::{Members, Opened};
pub use skeleton::Skeleton;
pub use stream::Stream;

use crate::hash::PackageHash;

/// Both forms of the hash of a package's contents ([clients: package hashes](crate::clients#package-hashes)).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hashes {
    /// `h1` of the zip, which includes directory entries.
    pub zip: PackageHash,
    /// `h1` of the unpacked directory, which omits directory entries.
    pub directory: PackageHash,
}

/// A zip whose structure is valid.
#[derive(Debug)]
pub struct Archive<R> {
    reader: R,
    entries: Vec<ZipEntry>,
}

impl<R: Read + Seek> Archive<R> {
    /// Reads and checks everything except the contents.
    ///
    /// # Errors
    /// The zip cannot be read or is refused: see [`Error`].
    pub fn open(mut reader: R, limits: &Limits) -> Result<Self, Error> {
        let length = reader.seek(SeekFrom::End(0))?;
        let end = end::find(&mut reader, length)?;
        let records = directory::read(&mut reader, &end, limits)?;
        collision::distinct(records.iter().map(|r| (r.name.as_str(), r.kind)))?;
        limits.allow(&records, length)?;
        let data = local::locate(&mut reader, &records, end.offset)?;
        let entries = records.into_iter().zip(data);
        Ok(Self {
            reader,
            entries: entries
                .map(|(record, data)| ZipEntry { record, data })
                .collect(),
        })
    }

    /// The entries, in the order of the central directory.
    pub fn entries(&self) -> &[ZipEntry] {
        &self.entries
    }

    /// Whether directories have their own entries. Then the two `h1` of the package differ, which clients do not expect ([clients:
    /// package hashes](crate::clients#package-hashes)).
    pub fn has_directory_entries(&self) -> bool {
        self.entries
            .iter()
            .any(|entry| entry.kind() == EntryType::Directory)
    }

    /// [`executable`] of its entries.
    ///
    /// # Errors
    /// [`Error::NoExecutable`].
    pub fn executable(&self, type_name: &str) -> Result<&ZipEntry, Error> {
        executable(&self.entries, type_name)
    }

    /// The entries with their contents.
    pub fn members(&mut self) -> Opened<'_, R> {
        Opened::new(&mut self.reader, &self.entries)
    }

    /// Both `h1` of the package, computed without unpacking it.
    ///
    /// # Errors
    /// The errors of [`Members::chunk`].
    pub fn hashes(&mut self) -> Result<Hashes, Error> {
        let (_, hashes) = self.members().finish()?;
        Ok(hashes)
    }
}

/// The file that clients execute: a top-level file named `terraform-provider-TYPE`, optionally followed by `_` or `.` and more. If
/// there are several, the first in lexical order ([clients: extraction](crate::clients#extraction)).
///
/// # Errors
/// [`Error::NoExecutable`].
pub fn executable<'e>(entries: &'e [ZipEntry], type_name: &str) -> Result<&'e ZipEntry, Error> {
    let expected = format!("terraform-provider-{type_name}");
    let matches = |name: &str| {
        name.strip_prefix(&expected)
            .is_some_and(|rest| rest.is_empty() || rest.starts_with(['_', '.']))
            && !name.contains('/')
    };
    let files = entries
        .iter()
        .filter(|entry| entry.kind() == EntryType::File);
    let executables = files.filter(|entry| matches(entry.name()));
    let first = executables.min_by_key(|entry| entry.name());
    first.ok_or(Error::NoExecutable { expected })
}

#[cfg(test)]
mod tests;
