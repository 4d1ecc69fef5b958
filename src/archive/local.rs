//! Local headers: the second description of each entry, before its data.
//!
//! Readers that stream use these headers, and readers that seek use the central directory. If the two differ, readers see different
//! packages, so they must agree. Writers that stream omit sizes and CRC-32 and write them after the data, in a data descriptor (Go's
//! writer always does). It must agree as well.

use std::io::{Read, Seek, SeekFrom};

use super::entry::{DESCRIPTOR, FLAGS_THAT_MATTER, Record};
use super::error::Error;
use super::extra::Extra;
use super::fields::Fields;

pub(super) const SIGNATURE: [u8; 4] = *b"PK\x03\x04";
pub(super) const FIXED_SIZE: u64 = 30;
const DESCRIPTOR_SIGNATURE: [u8; 4] = *b"PK\x07\x08";
pub(super) const LONGEST_DESCRIPTOR: u64 = 24;

/// The numbers after the data of an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct DescriptorNumbers {
    pub crc: u32,
    pub compressed: u64,
    pub size: u64,
}

/// Checks every local header, and returns the positions of the entries' data in the order of the records.
///
/// `end` is the position of the central directory. The entries fill the file up to it: a reader that streams would find an unlisted entry in a gap.
pub(super) fn locate<R: Read + Seek>(
    reader: &mut R,
    records: &[Record],
    end: u64,
) -> Result<Vec<u64>, Error> {
    let mut data = Vec::new();
    let mut extents = Vec::new();
    for record in records {
        let extent = Extent::find(reader, record, end)?;
        data.push(extent.data);
        extents.push((extent, record));
    }
    extents.sort_by_key(|(extent, _)| extent.start);
    let mut at = 0;
    for (extent, record) in &extents {
        if extent.start != at {
            let says = "does not begin where the zip begins, or the entry before it ends";
            return Err(Error::of_entry(&record.name, says));
        }
        at = extent.end;
    }
    match at == end {
        true => Ok(data),
        false => Err(Error::of_zip(
            "has a last entry that does not end before its directory",
        )),
    }
}

/// The bytes of an entry: header, data and data descriptor.
struct Extent {
    start: u64,
    data: u64,
    end: u64,
}

impl Extent {
    fn find<R: Read + Seek>(reader: &mut R, record: &Record, end: u64) -> Result<Self, Error> {
        let missing = || unlike(record);
        let fixed = read_at(reader, record.header, FIXED_SIZE, end)?;
        let header = Header::read(&fixed).ok_or_else(missing)?;
        let start = record.header + FIXED_SIZE;
        let variable = read_at(reader, start, header.variable(), end)?;
        let data = start + header.variable();
        let mut fields = Fields(&variable);
        let name = fields.bytes(header.name.into()).ok_or_else(missing)?;
        let extra = fields.bytes(header.extra.into()).ok_or_else(missing)?;
        header.agree(record, name, extra)?;

        let data_end = data.saturating_add(record.compressed);
        let mut extent = Self {
            start: record.header,
            data,
            end: data_end,
        };
        if record.flags & DESCRIPTOR != 0 && data_end <= end {
            let bytes = read_at(reader, data_end, LONGEST_DESCRIPTOR, end)?;
            let expected = DescriptorNumbers {
                crc: record.crc,
                compressed: record.compressed,
                size: record.size,
            };
            extent.end += descriptor(&bytes, expected).ok_or_else(missing)?;
        }
        Ok(extent)
    }
}

/// Reads at most `count` bytes from `start`, up to `end`.
fn read_at<R: Read + Seek>(
    reader: &mut R,
    start: u64,
    count: u64,
    end: u64,
) -> Result<Vec<u8>, Error> {
    reader.seek(SeekFrom::Start(start.min(end)))?;
    let mut bytes = Vec::new();
    reader
        .take(count.min(end.saturating_sub(start)))
        .read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// The fixed part of a local header.
pub(super) struct Header {
    pub flags: u16,
    pub method: u16,
    crc: u32,
    pub compressed: u32,
    pub size: u32,
    /// The length of the name.
    pub name: u16,
    /// The length of the extra fields.
    pub extra: u16,
}

impl Header {
    /// Reads a header; `None` if there is none.
    pub fn read(bytes: &[u8]) -> Option<Self> {
        let mut fields = Fields(bytes);
        if fields.array()? != SIGNATURE {
            return None;
        }
        let _needed = fields.u16()?;
        let (flags, method) = (fields.u16()?, fields.u16()?);
        let _modified = fields.u32()?;
        Some(Self {
            flags,
            method,
            crc: fields.u32()?,
            compressed: fields.u32()?,
            size: fields.u32()?,
            name: fields.u16()?,
            extra: fields.u16()?,
        })
    }

    /// The length of the name and the extra fields.
    pub fn variable(&self) -> u64 {
        u64::from(self.name) + u64::from(self.extra)
    }

    fn agree(&self, record: &Record, name: &[u8], extra: &[u8]) -> Result<(), Error> {
        if name != record.name.as_bytes() {
            return Err(unlike(record));
        }
        let extra = Extra::of_entry(&record.name, extra)?;
        let [size, compressed] = extra.widen(&record.name, [self.size, self.compressed])?;
        let is_open = record.flags & DESCRIPTOR != 0;
        let agrees =
            |expected: u64, received: u64| received == expected || (is_open && received == 0);
        let agree = (record.flags ^ self.flags) & FLAGS_THAT_MATTER == 0
            && record.method as u16 == self.method
            && agrees(record.crc.into(), self.crc.into())
            && agrees(record.compressed, compressed)
            && agrees(record.size, size);
        match agree {
            true => Ok(()),
            false => Err(unlike(record)),
        }
    }
}

fn unlike(record: &Record) -> Error {
    let says = "has a local header or data descriptor that contradicts the central directory";
    Error::of_entry(&record.name, says)
}

/// The length of the data descriptor at the front of `bytes`, with or without signature, with 32-bit or 64-bit sizes; `None` unless it has
/// this CRC-32, compressed size and size.
pub(super) fn descriptor(bytes: &[u8], expected: DescriptorNumbers) -> Option<u64> {
    let unsigned = |fields: Fields<'_>| {
        if short_numbers(fields) == Some(expected) {
            Some(12)
        } else {
            (long_numbers(fields) == Some(expected)).then_some(20)
        }
    };
    let mut fields = Fields(bytes);
    let signed = fields.array() == Some(DESCRIPTOR_SIGNATURE);
    signed
        .then(|| unsigned(fields))
        .flatten()
        .map(|length| length + 4)
        .or_else(|| unsigned(Fields(bytes)))
}

fn short_numbers(mut fields: Fields<'_>) -> Option<DescriptorNumbers> {
    Some(DescriptorNumbers {
        crc: fields.u32()?,
        compressed: fields.u32()?.into(),
        size: fields.u32()?.into(),
    })
}

fn long_numbers(mut fields: Fields<'_>) -> Option<DescriptorNumbers> {
    Some(DescriptorNumbers {
        crc: fields.u32()?,
        compressed: fields.u64()?,
        size: fields.u64()?,
    })
}
