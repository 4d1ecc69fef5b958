//! The end record of a zip, which contains the position of the central directory.
//!
//! Readers search for the end record backwards. They differ if there are several candidates, if bytes follow the record, or if the 64-bit
//! records contradict the ordinary one. Each of these is refused, so that all readers agree:
//!
//! ```text
//! local headers and data │ central directory │ [64-bit record, locator] │ end record, comment │
//!                                                                                    end of file
//! ```

use std::fmt;
use std::io::{self, Read, Seek, SeekFrom};

use super::fields::Fields;
use super::{Error, Flaw};

const RECORD: [u8; 4] = *b"PK\x05\x06";
const RECORD_SIZE: usize = 22;
const LOCATOR: [u8; 4] = *b"PK\x06\x07";
const RECORD_64: [u8; 4] = *b"PK\x06\x06";
const BOTH_64_SIZE: usize = 56 + 20;
const LONGEST_COMMENT: usize = 0xffff;

/// The number of last bytes of a zip that can contain the end records.
pub(super) const LONGEST: usize = BOTH_64_SIZE + RECORD_SIZE + LONGEST_COMMENT;
/// The number of first bytes that tell the type of a file without an end record.
pub(super) const FRONT: usize = 16;

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
    let mut read = |from, count| {
        reader.seek(SeekFrom::Start(from))?;
        let mut bytes = Vec::new();
        reader.by_ref().take(count).read_to_end(&mut bytes)?;
        Ok::<_, io::Error>(bytes)
    };
    let front = read(0, FRONT as u64)?;
    let start = length.saturating_sub(LONGEST as u64);
    let tail = read(start, LONGEST as u64)?;
    let found = record(&tail, start)?.and_then(|at| tail.split_at_checked(at));
    let Some((before, end)) = found else {
        return Err(no_end_record(&front, length));
    };
    let mut numbers = Numbers::read(end).ok_or_else(|| no_end_record(&front, length))?;
    let mut directory_end = start + before.len() as u64;
    if let Some(wide) = numbers_64(before, directory_end)? {
        numbers = numbers.widened(wide)?;
        directory_end -= BOTH_64_SIZE as u64;
    }
    numbers.end(directory_end)
}

/// The position of the only end record in `tail`, which begins at `start` in the file.
fn record(tail: &[u8], start: u64) -> Result<Option<usize>, Error> {
    let signatures = tail
        .windows(RECORD.len())
        .enumerate()
        .filter(|(_, window)| *window == RECORD)
        .map(|(at, _)| at);
    let several = || Flaw::of_zip("has more than one end record");
    let mut found = None;
    let mut last = None;
    for at in signatures {
        let comment = tail.get(at + RECORD_SIZE - 2..);
        let comment = comment.and_then(|length| Fields(length).u16());
        let end = comment.map(|length| at + RECORD_SIZE + usize::from(length));
        if end == Some(tail.len()) && found.replace(at).is_some() {
            return Err(several().into());
        }
        last = Some((at, end));
    }
    match (found, last) {
        (_, None) => Ok(None),
        (Some(found), Some((last, _))) if found == last => Ok(Some(found)),
        (Some(_), _) => Err(several().into()),
        (None, Some((_, Some(end)))) if end < tail.len() => {
            Err(Flaw::of_zip("has bytes after its end")
                .received(tail.len() - end)
                .into())
        }
        (None, Some(_)) => Err(Error::Truncated {
            received: start + tail.len() as u64,
        }),
    }
}

/// The error for a file without an end record: it is not a zip, or it is truncated.
fn no_end_record(front: &[u8], length: u64) -> Error {
    if front.starts_with(&super::local::SIGNATURE) {
        Error::Truncated { received: length }
    } else {
        Error::NotZip {
            front: front.to_vec(),
        }
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
                return Err(end_64(expected, received));
            }
        }
        Ok(wide)
    }

    fn end(self, directory_end: u64) -> Result<End, Error> {
        if self.disk != 0 || self.directory_disk != 0 || self.entries_here != self.entries {
            return Err(Flaw::of_zip("is one part of several").unsupported().into());
        }
        let received = self.offset.saturating_add(self.size);
        if received != directory_end {
            let says = "has its central directory elsewhere than its end record says";
            return Err(Flaw::of_zip(says)
                .expected(format_args!("its end at byte {directory_end}"))
                .received(received)
                .into());
        }
        if self.entries == 0 {
            return Err(Flaw::of_zip("has no entries").malformed().into());
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
        let received = place.1.unwrap_or_default();
        return Err(end_64(
            format_args!("it at byte {expected}, in one file"),
            received,
        ));
    }
    let record = rest.split_last_chunk::<56>();
    let numbers = record.and_then(|(_, record)| Numbers::read_64(record));
    let expected = format_args!("a record of 56 bytes before its locator");
    numbers.map(Some).ok_or_else(|| end_64(expected, "another"))
}

/// The error of a 64-bit end record that contradicts the other records.
fn end_64(expected: impl fmt::Display, received: impl fmt::Display) -> Error {
    Flaw::of_zip("has a 64-bit end record that contradicts its other records")
        .expected(expected)
        .received(received)
        .into()
}
