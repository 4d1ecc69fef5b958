//! The end record of a zip, which contains the position of the central directory.
//!
//! Readers search for the end record backwards. They differ if there are several candidates, if bytes follow the record, or if 64-bit records
//! stand before it, which only zips of more than 4 GiB need. Each of these is refused, so that all readers agree:
//!
//! ```text
//! local headers and data │ central directory │ end record, comment │
//!                                                          end of file
//! ```

use std::io::{Read, Seek, SeekFrom};

use super::Error;
use super::fields::Fields;
use crate::error::Category;

const RECORD: [u8; 4] = *b"PK\x05\x06";
const RECORD_SIZE: usize = 22;
const LONGEST_COMMENT: usize = 0xffff;

/// The number of last bytes of a zip that can contain the end record.
pub(super) const LONGEST: usize = RECORD_SIZE + LONGEST_COMMENT;

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
    let mut fields = Fields(end.get(RECORD.len()..).unwrap_or_default());
    let mut number = || fields.u16().map(u64::from).ok_or(Error::NotZip);
    let (disk, directory_disk) = (number()?, number()?);
    let (here, entries) = (number()?, number()?);
    let mut number = || fields.u32().map(u64::from).ok_or(Error::NotZip);
    let (size, offset) = (number()?, number()?);
    if offset + size != start + before.len() as u64 {
        let says = "has its central directory elsewhere than its end record says";
        return Err(Error::of_zip(says));
    }
    if disk != 0 || directory_disk != 0 || here != entries {
        return Err(Error::of_zip("is one part of several").but(Category::Unsupported));
    }
    if entries == 0 {
        return Err(Error::of_zip("has no entries").but(Category::Malformed));
    }
    Ok(End {
        offset,
        size,
        entries,
    })
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
