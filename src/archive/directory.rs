//! The central directory: the zip's list of entries.

use std::io::{Read, Seek, SeekFrom};

use super::end::End;
use super::entry::{Compression, ENCRYPTED, PATCH, Record};
use super::extra::Extra;
use super::fields::Fields;
use super::{EntryType, Error, Limits, name};
use crate::error::Category;

const SIGNATURE: [u8; 4] = *b"PK\x01\x02";

/// The largest accepted central directory in bytes: 10,000 entries of 400 bytes.
const LARGEST: u64 = 4 << 20;

/// Reads the directory that the end record refers to.
pub(super) fn read<R: Read + Seek>(
    reader: &mut R,
    end: &End,
    limits: &Limits,
) -> Result<Vec<Record>, Error> {
    if end.entries > limits.entries {
        return Err(Error::of_zip("has too many entries"));
    }
    if end.size > LARGEST {
        return Err(Error::of_zip("has too large a central directory"));
    }
    reader.seek(SeekFrom::Start(end.offset))?;
    let mut bytes = Vec::new();
    reader.take(end.size).read_to_end(&mut bytes)?;
    let mut fields = Fields(&bytes);
    let unreadable =
        || Error::of_zip("has a central directory that cannot be read").but(Category::Malformed);
    let mut records = Vec::new();
    for _ in 0..end.entries {
        let raw = Raw::take(&mut fields).ok_or_else(unreadable)?;
        records.push(raw.record()?);
    }
    match fields.0.is_empty() {
        true => Ok(records),
        false => Err(unreadable()),
    }
}

/// The fields of one entry, before validation.
struct Raw<'a> {
    made_by: u16,
    flags: u16,
    method: u16,
    crc: u32,
    compressed: u32,
    size: u32,
    disk: u16,
    attributes: u32,
    header: u32,
    name: &'a [u8],
    extra: &'a [u8],
}

impl<'a> Raw<'a> {
    fn take(fields: &mut Fields<'a>) -> Option<Self> {
        if fields.array()? != SIGNATURE {
            return None;
        }
        let made_by = fields.u16()?;
        let _needed = fields.u16()?;
        let (flags, method) = (fields.u16()?, fields.u16()?);
        let _modified = fields.u32()?;
        let (crc, compressed, size) = (fields.u32()?, fields.u32()?, fields.u32()?);
        let (name, extra, comment) = (fields.u16()?, fields.u16()?, fields.u16()?);
        let disk = fields.u16()?;
        let _internal = fields.u16()?;
        let (attributes, header) = (fields.u32()?, fields.u32()?);
        let (name, extra) = (fields.bytes(name.into())?, fields.bytes(extra.into())?);
        fields.bytes(comment.into())?;
        Some(Self {
            made_by,
            flags,
            method,
            crc,
            compressed,
            size,
            disk,
            attributes,
            header,
            name,
            extra,
        })
    }

    fn record(&self) -> Result<Record, Error> {
        let name = name::check(self.name)?.to_owned();
        let is_odd = self.flags & (ENCRYPTED | PATCH) != 0 || self.disk != 0;
        let method = match self.method {
            0 if !is_odd => Compression::Stored,
            8 if !is_odd => Compression::Deflate,
            _ => {
                let says = "is encrypted, a patch, in another file, or compressed by another method than deflate";
                return Err(Error::of_entry(&name, says).but(Category::Unsupported));
            }
        };
        let (kind, mode) = self.kind(&name)?;
        let extra = Extra::of_entry(&name, self.extra)?;
        let narrow = [self.size, self.compressed, self.header];
        let [size, compressed, header] = extra.widen(&name, narrow)?;
        let is_full = kind == EntryType::Directory && size != 0;
        if is_full || method == Compression::Stored && compressed != size {
            let says = "has a size that contradicts its type or its compression";
            return Err(Error::of_entry(&name, says));
        }
        Ok(Record {
            name,
            kind,
            mode,
            method,
            flags: self.flags,
            crc: self.crc,
            compressed,
            size,
            header,
        })
    }

    /// The type of the entry, and its permission bits if the zip was made on Unix.
    fn kind(&self, name: &str) -> Result<(EntryType, Option<u32>), Error> {
        const REGULAR: u32 = 0o100000;
        const DIRECTORY: u32 = 0o040000;
        let system = self.made_by >> 8;
        let made_on_unix = system == 3 || system == 19;
        // Check the Unix mode for every system that the entry names, so that a link cannot pass by naming another system.
        let unix = self.attributes >> 16;
        let dos_directory = !made_on_unix && self.attributes & 0x10 != 0;
        // The name decides, as it does for clients.
        let kind = match (unix & 0o170000, name.ends_with('/')) {
            (0 | REGULAR | DIRECTORY, true) => EntryType::Directory,
            (0 | REGULAR, false) if !dos_directory => EntryType::File,
            _ => {
                let says = "is a link, a special file, or a directory without a slash";
                return Err(Error::of_entry(name, says));
            }
        };
        let mode = unix & 0o7777;
        Ok((kind, (made_on_unix && mode != 0).then_some(mode)))
    }
}
