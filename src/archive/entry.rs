//! Entries of a zip.

pub(super) const ENCRYPTED: u16 = 1 | 1 << 6 | 1 << 13;
pub(super) const PATCH: u16 = 1 << 5;
/// Sizes and CRC-32 follow the data, and may be absent from the local header.
pub(super) const DESCRIPTOR: u16 = 1 << 3;
/// The flags that change how an entry is read. The others are hints.
pub(super) const FLAGS_THAT_MATTER: u16 = ENCRYPTED | PATCH | DESCRIPTOR | 1 << 11;

/// What an entry becomes when it is unpacked. Anything else, such as a link or a device, is an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EntryType {
    /// A regular file.
    File,
    /// A directory, whose name ends with a slash.
    Directory,
}

/// How the content of an entry is stored, by its number in headers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Compression {
    Stored = 0,
    Deflate = 8,
}

/// One entry of the central directory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Record {
    pub name: String,
    pub kind: EntryType,
    pub mode: Option<u32>,
    pub method: Compression,
    pub flags: u16,
    pub crc: u32,
    pub compressed: u64,
    pub size: u64,
    /// The position of its local header.
    pub header: u64,
}

/// One entry of an accepted zip.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ZipEntry {
    pub(super) record: Record,
    /// The position of its data.
    pub(super) data: u64,
}

impl ZipEntry {
    /// Its relative path with forward slashes, without `.` and `..`. The path of a directory ends with a slash.
    pub fn name(&self) -> &str {
        &self.record.name
    }

    /// Whether the entry is a file or a directory.
    pub fn kind(&self) -> EntryType {
        self.record.kind
    }

    /// Its Unix permission bits as in the zip, including setuid; `None` if the zip was not made on Unix.
    pub fn mode(&self) -> Option<u32> {
        self.record.mode
    }
}
