//! Provider zips: strangers' archives, read so that they have one meaning only.
//!
//! A zip describes each entry twice, in its central directory and in a local header before the data, and readers differ in which
//! one they believe. [`Archive::open`] walks both and accepts a zip only where they agree and where nothing in it is hostile: no name that
//! leaves the directory or collides with another, no link, no overlap, no more entries or bytes than the limits allow. It
//! inflates nothing. [`Archive::read`] then passes the contents, bounded by what the zip announced, and gives both package hashes.
//!
//! | part | what it knows |
//! | --- | --- |
//! | `end` | where the central directory lies, if there is one answer |
//! | `directory` | the entries, with method, sizes and mode |
//! | `extra` | 64-bit sizes, second names |
//! | `name` | which names may become files |
//! | `local` | that the local headers agree, and where data begins |
//! | [`Content`] | inflating with size and checksum |
//!
//! Clients are more lenient (contract 4.5): they write links as text and take the last of two entries with one name. What is refused
//! here was made by nobody's release tool.

mod content;
mod directory;
mod end;
mod error;
mod extra;
mod fields;
mod local;
mod name;

#[cfg(test)]
#[path = "../../tests/support/zipfile.rs"]
pub(crate) mod zipfile;

use std::io::{Read, Seek, SeekFrom};

pub use content::Content;
pub use error::{Error, Field};
pub use name::Fault;

use crate::hash::{Contents, PackageHash};
use directory::Record;

/// How much a zip may ask for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// The number of entries.
    pub entries: u64,
    /// The size of all contents together, in bytes.
    pub unpacked: u64,
    /// The size of all contents together, as a multiple of the zip's size. Deflate reaches 1032 on zeros alone.
    pub ratio: u64,
}

impl Default for Limits {
    /// The limits of ruling 36, far above any known provider: 10,000 entries, 8 GiB, 200 times the zip's size.
    fn default() -> Self {
        Self {
            entries: 10_000,
            unpacked: 8 << 30,
            ratio: 200,
        }
    }
}

/// What an entry becomes on disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A regular file.
    File,
    /// A directory.
    Directory,
}

/// One entry of an accepted zip.
#[derive(Clone, Debug)]
pub struct Entry {
    record: Record,
    data: u64,
}

impl Entry {
    /// Its path with forward slashes: relative, without `.` and `..`. A directory's ends in a slash.
    pub fn name(&self) -> &str {
        &self.record.name
    }

    /// What it becomes on disk.
    pub fn kind(&self) -> Kind {
        self.record.kind
    }

    /// The size of its content in bytes.
    pub fn size(&self) -> u64 {
        self.record.size
    }

    /// Its Unix permission bits as they stand in the zip, setuid and all; `None` where the zip was made without.
    pub fn mode(&self) -> Option<u32> {
        self.record.mode
    }
}

/// The hashes of a package's contents in the two forms that clients see (contract 4.1).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hashes {
    /// `h1` of the zip: every entry counts.
    pub zip: PackageHash,
    /// `h1` of the directory that it unpacks to: directory entries do not count.
    pub directory: PackageHash,
}

/// A zip that was found sound.
#[derive(Debug)]
pub struct Archive<R> {
    reader: R,
    entries: Vec<Entry>,
}

impl<R: Read + Seek> Archive<R> {
    /// Reads everything about the zip but its contents.
    ///
    /// # Errors
    /// The zip cannot be read, is none, or is refused: see [`Error`].
    pub fn open(mut reader: R, limits: &Limits) -> Result<Self, Error> {
        let length = reader.seek(SeekFrom::End(0))?;
        let end = end::find(&mut reader, length)?;
        let records = directory::read(&mut reader, &end, limits)?;
        name::distinct(records.iter().map(|r| (r.name.as_str(), r.kind)))?;
        within(limits, &records, length)?;
        let data = local::locate(&mut reader, &records, end.offset)?;
        let entries = records.into_iter().zip(data);
        Ok(Self {
            reader,
            entries: entries
                .map(|(record, data)| Entry { record, data })
                .collect(),
        })
    }

    /// The entries in the order of the central directory.
    pub fn entries(&self) -> &[Entry] {
        &self.entries
    }

    /// Whether directories have entries of their own. Then the two `h1` of the package differ, and clients stumble (contract 4.5, 11).
    pub fn has_directory_entries(&self) -> bool {
        self.entries.iter().any(|e| e.kind() == Kind::Directory)
    }

    /// The file that a client will run: at the top level, named `terraform-provider-TYPE` and nothing more, or more that begins with
    /// `_` or `.`. The first in lexical order wins (contract 4.5).
    ///
    /// # Errors
    /// [`Error::NoExecutable`].
    pub fn executable(&self, type_name: &str) -> Result<&Entry, Error> {
        let expected = format!("terraform-provider-{type_name}");
        let matches = |name: &str| {
            name.strip_prefix(&expected)
                .is_some_and(|rest| rest.is_empty() || rest.starts_with(['_', '.']))
                && !name.contains('/')
        };
        self.entries
            .iter()
            .filter(|entry| entry.kind() == Kind::File && matches(entry.name()))
            .min_by_key(|entry| entry.name())
            .ok_or(Error::NoExecutable { expected })
    }

    /// Passes the content of every entry to `visit`, in order; what a visit leaves unread is read and checked nevertheless.
    ///
    /// # Errors
    /// What `visit` returns, and everything that [`Content::chunk`] can find.
    pub fn read<E: From<Error>>(
        &mut self,
        mut visit: impl FnMut(&Entry, &mut Content<'_, R>) -> Result<(), E>,
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
            if entry.kind() == Kind::File {
                directory.add(entry.name().as_bytes(), sha256);
            }
        }
        Ok(Hashes {
            zip: zip.h1().map_err(Error::from)?,
            directory: directory.h1().map_err(Error::from)?,
        })
    }

    /// Both `h1` of the package, without unpacking it.
    ///
    /// # Errors
    /// Everything that [`Content::chunk`] can find.
    pub fn hashes(&mut self) -> Result<Hashes, Error> {
        self.read(|_, _| Ok(()))
    }
}

fn within(limits: &Limits, records: &[Record], length: u64) -> Result<(), Error> {
    let limit = limits.unpacked.min(length.saturating_mul(limits.ratio));
    let received = records
        .iter()
        .fold(0, |sum: u64, record| sum.saturating_add(record.size));
    if received > limit {
        return Err(Error::Unpacked { limit, received });
    }
    Ok(())
}
