//! Entries: what a zip holds.

pub(super) const ENCRYPTED: u16 = 1 | 1 << 6 | 1 << 13;
pub(super) const PATCH: u16 = 1 << 5;
/// Sizes and checksum follow the data, and may be absent from the local header.
pub(super) const DESCRIPTOR: u16 = 1 << 3;
/// The flags that change how an entry is read; the others are hints.
pub(super) const FLAGS_THAT_MATTER: u16 = ENCRYPTED | PATCH | DESCRIPTOR | 1 << 11;

/// What an entry becomes on disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EntryType {
    /// A regular file.
    File,
    /// A directory.
    Directory,
}

/// How content lies in the zip.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Method {
    Stored,
    Deflate,
}

impl Method {
    pub fn number(self) -> u16 {
        match self {
            Self::Stored => 0,
            Self::Deflate => 8,
        }
    }
}

/// One entry as the central directory has it.
#[derive(Clone, Debug)]
pub(super) struct Record {
    pub name: String,
    pub kind: EntryType,
    pub mode: Option<u32>,
    pub method: Method,
    pub flags: u16,
    pub crc: u32,
    pub compressed: u64,
    pub size: u64,
    /// Where the local header begins.
    pub header: u64,
}

/// One entry of an accepted zip.
#[derive(Clone, Debug)]
pub struct ZipEntry {
    pub(super) record: Record,
    /// Where its data begins.
    pub(super) data: u64,
}

impl ZipEntry {
    /// Its path with forward slashes: relative, without `.` and `..`. A directory's ends in a slash.
    pub fn name(&self) -> &str {
        &self.record.name
    }

    /// What it becomes on disk.
    pub fn kind(&self) -> EntryType {
        self.record.kind
    }

    /// The size of its content in bytes.
    pub fn size(&self) -> u64 {
        self.record.size
    }

    /// Its Unix permission bits as they stand in the zip, setuid and all; `None` where the zip was made without.
    pub fn mode(&self) -> Option<u32> {
        self.record.mode
    }
}
