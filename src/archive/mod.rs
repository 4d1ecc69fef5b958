//! Provider zips: untrusted archives, accepted only if every reader sees the same files in them.
//!
//! A zip describes each entry twice, in its central directory and in a local header before the data, and readers differ in which one they
//! use. [`Archive::open`] reads both. It accepts a zip only if they agree and nothing in it is hostile: no name that leaves the directory
//! or collides with another, no link, no overlap, no more entries or bytes than the limits. It decompresses nothing. [`Archive::read`] then
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
//! | [`Content`] | decompression, with size and CRC-32 |
//! | [`Frame`] | the end of a zip that is streamed |
//! | [`Stream`] | the contents of a zip while it arrives, and afterwards the same checks |
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
mod frame;
mod limits;
mod local;
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

use std::io::{Read, Seek, SeekFrom};

pub use content::Content;
pub use entry::{EntryType, ZipEntry};
pub use error::{Error, Flaw};
pub use frame::Frame;
pub use limits::Limits;
pub use skeleton::Skeleton;
pub use stream::{Arrived, Stop, Stream};

use crate::hash::{Contents, PackageHash};

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
            .any(|e| e.kind() == EntryType::Directory)
    }

    /// The file that clients execute: a top-level file named `terraform-provider-TYPE`, optionally followed by `_` or `.` and more. If
    /// there are several, the first in lexical order ([clients: extraction](crate::clients#extraction)).
    ///
    /// # Errors
    /// [`Error::NoExecutable`].
    pub fn executable(&self, type_name: &str) -> Result<&ZipEntry, Error> {
        let expected = format!("terraform-provider-{type_name}");
        let matches = |name: &str| {
            name.strip_prefix(&expected)
                .is_some_and(|rest| rest.is_empty() || rest.starts_with(['_', '.']))
                && !name.contains('/')
        };
        self.entries
            .iter()
            .filter(|entry| entry.kind() == EntryType::File && matches(entry.name()))
            .min_by_key(|entry| entry.name())
            .ok_or_else(|| {
                let files = self.entries.iter();
                let files = files.filter(|entry| entry.kind() == EntryType::File);
                let files = files.map(|entry| entry.name().to_owned()).collect();
                Error::NoExecutable { expected, files }
            })
    }

    /// Passes the content of every entry to `visit`, in order. If `visit` does not read all of it, the rest is read and verified
    /// afterwards.
    ///
    /// # Errors
    /// An error of `visit` or of [`Content::chunk`].
    pub fn read<E: From<Error>>(
        &mut self,
        mut visit: impl FnMut(&ZipEntry, &mut Content<'_, R>) -> Result<(), E>,
    ) -> Result<Hashes, E> {
        let (mut zip, mut directory) = (Contents::new(), Contents::new());
        for entry in &self.entries {
            self.reader
                .seek(SeekFrom::Start(entry.data))
                .map_err(Error::from)?;
            let mut content = Content::new(&mut self.reader, &entry.record);
            visit(entry, &mut content)?;
            let sha256 = content.sha256()?;
            zip.add(entry.name().as_bytes(), sha256);
            if entry.kind() == EntryType::File {
                directory.add(entry.name().as_bytes(), sha256);
            }
        }
        Ok(Hashes {
            zip: zip.h1().map_err(Error::from)?,
            directory: directory.h1().map_err(Error::from)?,
        })
    }

    /// Both `h1` of the package, computed without unpacking it.
    ///
    /// # Errors
    /// The errors of [`Content::chunk`].
    pub fn hashes(&mut self) -> Result<Hashes, Error> {
        self.read(|_, _| Ok(()))
    }
}

#[cfg(test)]
pub(crate) mod pieces;
#[cfg(test)]
mod stream_tests;
#[cfg(test)]
mod tests;
