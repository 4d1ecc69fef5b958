//! The entries of a zip, one after another, with their contents.

use std::io::{BufReader, Read, Seek, SeekFrom};
use std::slice;

use sha2::Digest as _;

use super::content::{BUFFER, Content};
use super::error::Error;
use super::{EntryType, Hashes, ZipEntry};
use crate::hash::Contents;

/// A zip whose entries are read one after another: [`Opened`] in a file, or [`Stream`](super::Stream) while it arrives.
pub trait Members {
    /// The name and type of the next entry, or `None` after the last one. What is left of the entry before is read first. The name is
    /// safe as a file name.
    ///
    /// # Errors
    /// The zip cannot be read or is refused, or the entry before is corrupt.
    fn next_entry(&mut self) -> Result<Option<(&str, EntryType)>, Error>;

    /// The next bytes of the entry's content, at most 64 KiB, or `None` at its end. After an error, no earlier byte may be used.
    ///
    /// # Errors
    /// The zip cannot be read, or the content is corrupt or larger than announced. At most one chunk more than the announced size is decompressed.
    fn chunk(&mut self) -> Result<Option<&[u8]>, Error>;

    /// Reads what is left. Returns all entries, in the order of the central directory, and the hashes of the package.
    ///
    /// # Errors
    /// The zip cannot be read, or is refused.
    fn finish(self) -> Result<(Vec<ZipEntry>, Hashes), Error>;
}

/// The members of an [`Archive`](super::Archive).
pub struct Opened<'a, R> {
    pub(super) reader: BufReader<&'a mut R>,
    pub(super) entries: &'a [ZipEntry],
    pub(super) next: slice::Iter<'a, ZipEntry>,
    pub(super) current: Option<(&'a ZipEntry, Content)>,
    pub(super) output: Vec<u8>,
    pub(super) hashing: Hashing,
}

impl<'a, R: Read + Seek> Opened<'a, R> {
    pub(super) fn new(reader: &'a mut R, entries: &'a [ZipEntry]) -> Self {
        Self {
            reader: BufReader::with_capacity(BUFFER, reader),
            entries,
            next: entries.iter(),
            current: None,
            output: vec![0; BUFFER],
            hashing: Hashing::default(),
        }
    }
}

impl<R: Read + Seek> Members for Opened<'_, R> {
    fn next_entry(&mut self) -> Result<Option<(&str, EntryType)>, Error> {
        while self.chunk()?.is_some() {}
        if let Some((entry, content)) = self.current.take() {
            let record = &entry.record;
            if content.size < record.size || content.crc.sum() != record.crc {
                return Err(unlike(entry));
            }
            self.hashing.add(entry, content);
        }
        let Some(entry) = self.next.next() else {
            return Ok(None);
        };
        self.reader.seek(SeekFrom::Start(entry.data))?;
        let content = Content::new(entry.record.method, Some(entry.record.compressed));
        self.current = Some((entry, content));
        Ok(Some((entry.name(), entry.kind())))
    }

    fn chunk(&mut self) -> Result<Option<&[u8]>, Error> {
        let Some((entry, content)) = &mut self.current else {
            return Ok(None);
        };
        let count = content.chunk(entry.name(), &mut self.reader, &mut self.output)?;
        if content.size > entry.record.size {
            return Err(unlike(entry));
        }
        Ok(self.output.get(..count).filter(|chunk| !chunk.is_empty()))
    }

    fn finish(mut self) -> Result<(Vec<ZipEntry>, Hashes), Error> {
        while self.next_entry()?.is_some() {}
        Ok((self.entries.to_vec(), self.hashing.finish()?))
    }
}

fn unlike(entry: &ZipEntry) -> Error {
    let says = "unpacks to something else than its size and CRC-32 announce";
    Error::of_entry(entry.name(), says)
}

/// Both hashes of a package, while its contents are read.
#[derive(Default)]
pub(super) struct Hashing {
    zip: Contents,
    directory: Contents,
}

impl Hashing {
    /// Adds an entry whose content was read.
    pub(super) fn add(&mut self, entry: &ZipEntry, content: Content) {
        let sha256 = content.sha256.finalize().into();
        self.zip.add(entry.name().as_bytes(), sha256);
        if entry.kind() == EntryType::File {
            self.directory.add(entry.name().as_bytes(), sha256);
        }
    }

    pub(super) fn finish(self) -> Result<Hashes, Error> {
        Ok(Hashes {
            zip: self.zip.h1()?,
            directory: self.directory.h1()?,
        })
    }
}
