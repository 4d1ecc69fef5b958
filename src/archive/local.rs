//! Local headers: the second description of each entry, before its data.
//!
//! Readers that stream use these headers, and readers that seek use the central directory. If the two differ, readers see different
//! packages, so they must agree. Writers that stream omit sizes and CRC-32 and write them after the data, in a data descriptor (Go's
//! writer always does). It must agree as well.

use std::io::{Read, Seek, SeekFrom};

use super::entry::{DESCRIPTOR, FLAGS_THAT_MATTER, Record};
use super::error::{Error, Flaw};
use super::extra::{Extra, second_name};
use super::fields::Fields;

pub(super) const SIGNATURE: [u8; 4] = *b"PK\x03\x04";
pub(super) const FIXED_SIZE: u64 = 30;
const DESCRIPTOR_SIGNATURE: [u8; 4] = *b"PK\x07\x08";
pub(super) const LONGEST_DESCRIPTOR: u64 = 24;
/// The number of bytes of a gap that are searched at once. It bounds memory; a gap of honest writers has a few bytes.
const SCANNED: usize = 64 << 10;

/// The numbers after the data of an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct DescriptorNumbers {
    pub crc: u32,
    pub compressed: u64,
    pub size: u64,
}

/// Checks every local header, and returns the positions of the entries' data in the order of the records.
///
/// `end` is the position of the central directory, which no entry may exceed.
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
    let next = extents.iter().skip(1).map(|(extent, _)| extent.start);
    for ((extent, record), next) in extents.iter().zip(next.chain([end])) {
        if extent.end > next {
            return Err(Flaw::of_entry(&record.name, "overlaps what follows it").into());
        }
    }
    let mut from = 0;
    for (extent, _) in &extents {
        no_header_within(reader, from, extent.start)?;
        from = extent.end;
    }
    no_header_within(reader, from, end)?;
    Ok(data)
}

/// Refuses gaps between or around entries that contain the header of an unlisted entry, because a reader that streams would find it.
/// Writers leave gaps without headers for alignment, or for a program before the zip.
fn no_header_within<R: Read + Seek>(reader: &mut R, start: u64, end: u64) -> Result<(), Error> {
    // A header may span two reads.
    let overlap = SIGNATURE.len() as u64 - 1;
    if end.saturating_sub(start) <= overlap {
        return Ok(());
    }
    let mut bytes = vec![0; SCANNED];
    let mut at = start;
    while at + overlap < end {
        let count = usize::try_from(end - at).map_or(SCANNED, |left| left.min(SCANNED));
        let piece = bytes.get_mut(..count).unwrap_or_default();
        reader.seek(SeekFrom::Start(at))?;
        reader.read_exact(piece)?;
        let found = piece
            .windows(SIGNATURE.len())
            .position(|window| window == SIGNATURE);
        if let Some(found) = found {
            let says = "hides an entry that its central directory does not list";
            return Err(Flaw::of_zip(says)
                .received(format_args!("a local header at byte {}", at + found as u64))
                .into());
        }
        at += count as u64 - overlap;
    }
    Ok(())
}

/// The bytes of an entry: header, data and data descriptor.
struct Extent {
    start: u64,
    data: u64,
    end: u64,
}

impl Extent {
    fn find<R: Read + Seek>(reader: &mut R, record: &Record, end: u64) -> Result<Self, Error> {
        let missing = || {
            Flaw::of_entry(&record.name, "has no local header where the directory says")
                .expected(format_args!("one at byte {}", record.header))
        };
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
            extent.end += descriptor(&bytes, expected).ok_or_else(|| {
                let says = "has a data descriptor that contradicts the central directory";
                Flaw::of_entry(&record.name, says).expected(format_args!(
                    "{:08x} as CRC-32, and the sizes {} and {}",
                    record.crc, record.compressed, record.size
                ))
            })?;
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
            return Err(second_name(&record.name, name));
        }
        let extra = Extra::of_entry(&record.name, extra)?;
        let [size, compressed] = extra.widen(&record.name, [self.size, self.compressed])?;
        let flags = |flags: u16| u64::from(flags & FLAGS_THAT_MATTER);
        let open = record.flags & DESCRIPTOR != 0;
        let crc = u64::from(self.crc);
        for (field, may_be_open, expected, received) in [
            ("flags", false, flags(record.flags), flags(self.flags)),
            (
                "compression method",
                false,
                record.method as u64,
                self.method.into(),
            ),
            ("CRC-32", true, record.crc.into(), crc),
            ("compressed size", true, record.compressed, compressed),
            ("size", true, record.size, size),
        ] {
            let left_open = may_be_open && open && received == 0;
            if received != expected && !left_open {
                let says = "has a local header that contradicts the central directory";
                return Err(Flaw::of_entry(&record.name, says)
                    .expected(format_args!("{expected} as {field}"))
                    .received(received)
                    .into());
            }
        }
        Ok(())
    }
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
