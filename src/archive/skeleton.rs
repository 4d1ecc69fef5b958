//! What remains of a zip that came from front to back: every byte except the contents, or only its end.

use std::io::{self, Read, Seek, SeekFrom};

use super::Error;
use super::end::{self, LONGEST};

/// The most bytes that are kept. Zips with more names and comments than that are read from a file.
const MOST: usize = 1 << 20;

/// A zip of known length without its contents. Headers, descriptors, the central directory and the end can be read; to read a content is
/// an error. The last 64 KiB are whole, because a search for the end record reads them.
#[derive(Debug)]
pub struct Skeleton {
    length: u64,
    /// The position from which everything is kept.
    tail: u64,
    /// The number of bytes that have arrived.
    arrived: u64,
    /// The bytes that are kept, with their positions, in order and with gaps between them.
    kept: Vec<(u64, Vec<u8>)>,
    /// How many these are.
    size: usize,
    /// The position of the reader.
    at: u64,
}

impl Skeleton {
    /// Nothing of a zip of `length` bytes.
    pub fn new(length: u64) -> Self {
        Self {
            length,
            tail: length.saturating_sub(LONGEST as u64),
            arrived: 0,
            kept: Vec::new(),
            size: 0,
            at: 0,
        }
    }

    /// The number of bytes that have arrived.
    pub(super) fn arrived(&self) -> u64 {
        self.arrived
    }

    /// Takes the next bytes, which belong to no content. `None` if these are too many.
    pub(super) fn keep(&mut self, bytes: &[u8]) -> Option<()> {
        self.size += bytes.len();
        if self.size > MOST || bytes.len() as u64 > self.length.saturating_sub(self.arrived) {
            return None;
        }
        match self.kept.last_mut() {
            Some((start, kept)) if *start + kept.len() as u64 == self.arrived => {
                kept.extend_from_slice(bytes);
            }
            _ => self.kept.push((self.arrived, bytes.to_vec())),
        }
        self.arrived += bytes.len() as u64;
        Some(())
    }

    /// Takes the next bytes, which belong to a content. `None` if these are too many.
    pub(super) fn pass(&mut self, bytes: &[u8]) -> Option<()> {
        let before = self.tail.saturating_sub(self.arrived);
        let before = usize::try_from(before).unwrap_or(usize::MAX);
        let (content, tail) = bytes.split_at_checked(before).unwrap_or((bytes, &[]));
        self.arrived += content.len() as u64;
        match tail {
            [] => Some(()),
            tail => self.keep(tail),
        }
    }

    /// Takes the next bytes of a zip whose entries are not read. The caller checks their total length.
    pub fn pass_by(&mut self, bytes: &[u8]) {
        // Too many bytes would be lost, and the check would fail.
        let _kept = self.pass(bytes);
    }

    /// Checks the end of a zip that has passed by, which contains the position of the central directory. This detects a truncated zip, a web
    /// page instead of a zip, and bytes after the end.
    ///
    /// # Errors
    /// The end record is missing, or contradicts the length. The errors are the same as of [`Archive::open`](super::Archive::open).
    pub fn check_end(mut self) -> Result<(), Error> {
        let length = self.length;
        end::find(&mut self, length).map(drop)
    }
}

impl Read for Skeleton {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.at >= self.length {
            return Ok(0);
        }
        let after = self.kept.partition_point(|(start, _)| *start <= self.at);
        let part = after.checked_sub(1).and_then(|index| {
            let (start, kept) = self.kept.get(index)?;
            kept.get(usize::try_from(self.at - start).ok()?..)
        });
        let Some(mut part) = part.filter(|part| !part.is_empty()) else {
            return Err(io::ErrorKind::Unsupported.into());
        };
        let count = part.read(buffer)?;
        self.at += count as u64;
        Ok(count)
    }
}

impl Seek for Skeleton {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        let at = match to {
            SeekFrom::Start(at) => Some(at),
            SeekFrom::End(by) => self.length.checked_add_signed(by),
            SeekFrom::Current(by) => self.at.checked_add_signed(by),
        };
        self.at = at.ok_or(io::ErrorKind::InvalidInput)?;
        Ok(self.at)
    }
}

#[cfg(test)]
mod tests;
