//! The central directory: the zip's list of entries.

use std::io::{Read, Seek, SeekFrom};

use super::end::End;
use super::entry::{Compression, ENCRYPTED, PATCH, Record};
use super::extra::Extra;
use super::fields::Fields;
use super::{EntryType, Error, Flaw, Limits, name};

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
        return Err(Flaw::of_zip("has too many entries")
            .expected(format_args!("at most {}", limits.entries))
            .received(end.entries)
            .into());
    }
    if end.size > LARGEST {
        return Err(Flaw::of_zip("has too large a central directory")
            .expected(format_args!("at most {LARGEST} bytes"))
            .received(end.size)
            .into());
    }
    reader.seek(SeekFrom::Start(end.offset))?;
    let mut bytes = Vec::new();
    reader.take(end.size).read_to_end(&mut bytes)?;
    let mut fields = Fields(&bytes);
    let unreadable = |received: u64| {
        Flaw::of_zip("has a central directory that cannot be read")
            .expected(format_args!("{} entries", end.entries))
            .received(received)
            .malformed()
    };
    let mut records = Vec::new();
    for received in 0..end.entries {
        let raw = Raw::take(&mut fields).ok_or_else(|| unreadable(received))?;
        records.push(raw.record()?);
    }
    match fields.0.len() {
        0 => Ok(records),
        extra => Err(
            Flaw::of_zip("has bytes after the last entry of its central directory")
                .received(extra)
                .malformed()
                .into(),
        ),
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
        let flaw = |says| Flaw::of_entry(&name, says);
        if self.flags & (ENCRYPTED | PATCH) != 0 || self.disk != 0 {
            return Err(flaw("is encrypted, a patch, or in another file")
                .unsupported()
                .into());
        }
        let (kind, mode) = self.kind(&name)?;
        let method = match self.method {
            0 => Compression::Stored,
            8 => Compression::Deflate,
            method => {
                return Err(flaw("has an unsupported compression method")
                    .expected("0 (stored) or 8 (deflate)")
                    .received(method)
                    .unsupported()
                    .into());
            }
        };
        let extra = Extra::of_entry(&name, self.extra)?;
        let narrow = [self.size, self.compressed, self.header];
        let [size, compressed, header] = extra.widen(&name, narrow)?;
        if kind == EntryType::Directory && size != 0 {
            return Err(flaw("is a directory with content").received(size).into());
        }
        if method == Compression::Stored && compressed != size {
            return Err(flaw("is stored with another size than its own")
                .expected(size)
                .received(compressed)
                .into());
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
        const SYMLINK: u32 = 0o120000;
        let flaw = |says| Flaw::of_entry(name, says);
        let both = || flaw("has the attributes of a directory, and the name of a file");
        let system = self.made_by >> 8;
        let made_on_unix = system == 3 || system == 19;
        // Check the Unix mode for every system that the entry names, so that a link cannot pass by naming another system.
        let unix = self.attributes >> 16;
        let dos_directory = !made_on_unix && self.attributes & 0x10 != 0;
        let slash = name.ends_with('/');
        let kind = match unix & 0o170000 {
            SYMLINK => return Err(flaw("is a symbolic link").into()),
            DIRECTORY if !slash => return Err(both().into()),
            0 | REGULAR if dos_directory && !slash => return Err(both().into()),
            // The name decides, as it does for clients.
            0 | REGULAR | DIRECTORY if slash => EntryType::Directory,
            0 | REGULAR => EntryType::File,
            file_type => {
                return Err(flaw("is a special file")
                    .received(format_args!("type {file_type:#o}"))
                    .into());
            }
        };
        let mode = unix & 0o7777;
        Ok((kind, (made_on_unix && mode != 0).then_some(mode)))
    }
}
