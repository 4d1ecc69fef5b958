//! The end record of a zip, which contains the position of the central directory.
//!
//! Readers search for the end record backwards. They differ if there are several candidates, if bytes follow the record, or if the 64-bit
//! records contradict the ordinary one. Each of these is refused, so that all readers agree:
//!
//! ```text
//! local headers and data │ central directory │ [64-bit record, locator] │ end record, comment │
//!                                                                                    end of file
//! ```

use std::io::{Read, Seek, SeekFrom};

use super::Error;
use super::fields::Fields;
use crate::error::Category;

const RECORD: [u8; 4] = *b"PK\x05\x06";
const RECORD_SIZE: usize = 22;
const LOCATOR: [u8; 4] = *b"PK\x06\x07";
const RECORD_64: [u8; 4] = *b"PK\x06\x06";
const BOTH_64_SIZE: usize = 56 + 20;
const LONGEST_COMMENT: usize = 0xffff;

/// The number of last bytes of a zip that can contain the end records.
pub(super) const LONGEST: usize = BOTH_64_SIZE + RECORD_SIZE + LONGEST_COMMENT;

/// The description of the central directory in the end record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct End {
    /// The position of the directory. All entries precede it.
    pub offset: u64,
    /// Its length in bytes.
    pub size: u64,
    /// The number of entries.
    pub entries: u64,
}

/// Finds the central directory of a zip of `length` bytes.
pub(super) fn find<R: Read + Seek>(reader: &mut R, length: u64) -> Result<End, Error> {
    let start = length.saturating_sub(LONGEST as u64);
    reader.seek(SeekFrom::Start(start))?;
    let mut tail = Vec::new();
    reader.take(LONGEST as u64).read_to_end(&mut tail)?;
    let (before, end) = tail.split_at_checked(record(&tail)?).ok_or(Error::NotZip)?;
    let mut numbers = Numbers::read(end).ok_or(Error::NotZip)?;
    let mut directory_end = start + before.len() as u64;
    if let Some(wide) = numbers_64(before, directory_end)? {
        numbers = numbers.widened(wide)?;
        directory_end -= BOTH_64_SIZE as u64;
    }
    numbers.end(directory_end)
}

/// The position of the only end record in `tail`, the last bytes of the file. Its signature may occur in contents before it by chance.
fn record(tail: &[u8]) -> Result<usize, Error> {
    let signatures = tail.windows(RECORD.len()).enumerate();
    let signatures = signatures.filter(|(_, window)| *window == RECORD);
    let end = |at: usize| {
        let comment = tail.get(at + RECORD_SIZE - 2..)?;
        Some(at + RECORD_SIZE + usize::from(Fields(comment).u16()?))
    };
    let all: Vec<usize> = signatures.map(|(at, _)| at).collect();
    let last = *all.last().ok_or(Error::NotZip)?;
    let fitting = all.into_iter().filter(|at| end(*at) == Some(tail.len()));
    match *fitting.collect::<Vec<_>>() {
        [at] if at == last => Ok(at),
        [] if end(last).is_none_or(|end| end > tail.len()) => Err(Error::NotZip),
        _ => Err(Error::of_zip(
            "has a second end record, or bytes after its end",
        )),
    }
}

struct Numbers {
    disk: u32,
    directory_disk: u32,
    entries_here: u64,
    entries: u64,
    size: u64,
    offset: u64,
}

impl Numbers {
    fn read(record: &[u8]) -> Option<Self> {
        let mut fields = Fields(record);
        fields.array::<4>()?;
        Some(Self {
            disk: fields.u16()?.into(),
            directory_disk: fields.u16()?.into(),
            entries_here: fields.u16()?.into(),
            entries: fields.u16()?.into(),
            size: fields.u32()?.into(),
            offset: fields.u32()?.into(),
        })
    }

    /// The 64-bit record; `None` if it is none, or if it has data that only some readers know.
    fn read_64(record: &[u8]) -> Option<Self> {
        let mut fields = Fields(record);
        // The length does not count itself and the signature.
        if fields.array() != Some(RECORD_64) || fields.u64() != Some(44) {
            return None;
        }
        fields.array::<4>()?;
        Some(Self {
            disk: fields.u32()?,
            directory_disk: fields.u32()?,
            entries_here: fields.u64()?,
            entries: fields.u64()?,
            size: fields.u64()?,
            offset: fields.u64()?,
        })
    }

    /// The 64-bit numbers, if each ordinary number equals its 64-bit number or is the placeholder.
    fn widened(self, wide: Self) -> Result<Self, Error> {
        let (short, long) = (u64::from(u16::MAX), u64::from(u32::MAX));
        for (placeholder, expected, received) in [
            (short, self.disk.into(), wide.disk.into()),
            (
                short,
                self.directory_disk.into(),
                wide.directory_disk.into(),
            ),
            (short, self.entries_here, wide.entries_here),
            (short, self.entries, wide.entries),
            (long, self.size, wide.size),
            (long, self.offset, wide.offset),
        ] {
            if expected != placeholder && expected != received {
                return Err(contradiction());
            }
        }
        Ok(wide)
    }

    fn end(self, directory_end: u64) -> Result<End, Error> {
        if self.disk != 0 || self.directory_disk != 0 || self.entries_here != self.entries {
            return Err(Error::of_zip("is one part of several").but(Category::Unsupported));
        }
        if self.offset.saturating_add(self.size) != directory_end {
            let says = "has its central directory elsewhere than its end record says";
            return Err(Error::of_zip(says));
        }
        if self.entries == 0 {
            return Err(Error::of_zip("has no entries").but(Category::Malformed));
        }
        Ok(End {
            offset: self.offset,
            size: self.size,
            entries: self.entries,
        })
    }
}

/// The numbers of the 64-bit record, if a locator precedes the end record without a gap.
fn numbers_64(before: &[u8], end: u64) -> Result<Option<Numbers>, Error> {
    let Some((rest, locator)) = before.split_last_chunk::<20>() else {
        return Ok(None);
    };
    if !locator.starts_with(&LOCATOR) {
        return Ok(None);
    }
    let expected = end.saturating_sub(BOTH_64_SIZE as u64);
    let mut fields = Fields(locator.get(4..).unwrap_or_default());
    let place = (fields.u32(), fields.u64(), fields.u32());
    if place != (Some(0), Some(expected), Some(1)) {
        // Readers differ in whether they follow the locator.
        return Err(contradiction());
    }
    let record = rest.split_last_chunk::<56>();
    let numbers = record.and_then(|(_, record)| Numbers::read_64(record));
    numbers.map(Some).ok_or_else(contradiction)
}

fn contradiction() -> Error {
    Error::of_zip("has a 64-bit end record that contradicts its other records")
}
