//! Entries: what a zip holds.

use super::directory::Record;

/// What an entry becomes on disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EntryType {
    /// A regular file.
    File,
    /// A directory.
    Directory,
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
