//! The central directory: the zip's list of entries.

use std::io::{Read, Seek, SeekFrom};

use super::end::End;
use super::entry::{Compression, ENCRYPTED, PATCH, Record};
use super::extra::Extra;
use super::fields::Fields;
use super::{EntryType, Error, KindContradiction, Limits, name};

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
        return Err(Error::Entries {
            limit: limits.entries,
            received: end.entries,
        });
    }
    if end.size > LARGEST {
        return Err(Error::DirectorySize {
            limit: LARGEST,
            received: end.size,
        });
    }
    reader.seek(SeekFrom::Start(end.offset))?;
    let mut bytes = Vec::new();
    reader.take(end.size).read_to_end(&mut bytes)?;
    let mut fields = Fields(&bytes);
    let expected = end.entries;
    let mut records = Vec::new();
    for received in 0..expected {
        let raw = Raw::take(&mut fields).ok_or(Error::Directory { expected, received })?;
        records.push(raw.record()?);
    }
    match fields.0.len() {
        0 => Ok(records),
        extra => Err(Error::DirectoryRest { extra }),
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
        if self.flags & ENCRYPTED != 0 {
            return Err(Error::Encrypted { name });
        }
        if self.flags & PATCH != 0 {
            return Err(Error::Patch { name });
        }
        if self.disk != 0 {
            return Err(Error::MultiPart);
        }
        let (kind, mode) = self.kind(&name)?;
        let method = match self.method {
            0 => Compression::Stored,
            8 => Compression::Deflate,
            method => return Err(Error::Method { name, method }),
        };
        let extra = Extra::of_entry(&name, self.extra)?;
        let narrow = [self.size, self.compressed, self.header];
        let [size, compressed, header] = extra.widen(&name, narrow)?;
        if kind == EntryType::Directory && size != 0 {
            let received = KindContradiction::Content(size);
            return Err(Error::Kind { name, received });
        }
        if method == Compression::Stored && compressed != size {
            return Err(Error::StoredSize {
                name,
                expected: size,
                received: compressed,
            });
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
        let owned = || name.to_owned();
        let both = || Error::Kind {
            name: owned(),
            received: KindContradiction::FileName,
        };
        let system = self.made_by >> 8;
        let made_on_unix = system == 3 || system == 19;
        // Check the Unix mode for every system that the entry names, so that a link cannot pass by naming another system.
        let unix = self.attributes >> 16;
        let dos_directory = !made_on_unix && self.attributes & 0x10 != 0;
        let slash = name.ends_with('/');
        let kind = match unix & 0o170000 {
            SYMLINK => return Err(Error::Symlink { name: owned() }),
            DIRECTORY if !slash => return Err(both()),
            0 | REGULAR if dos_directory && !slash => return Err(both()),
            // The name decides, as it does for clients.
            0 | REGULAR | DIRECTORY if slash => EntryType::Directory,
            0 | REGULAR => EntryType::File,
            file_type => {
                return Err(Error::Special {
                    name: owned(),
                    file_type,
                });
            }
        };
        let mode = unix & 0o7777;
        Ok((kind, (made_on_unix && mode != 0).then_some(mode)))
    }
}
