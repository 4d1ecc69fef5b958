//! Temporary files, for packages that must be complete before use.
//!
//! The files have no name, so nothing remains even if the process is killed.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write as _};
use std::sync::Arc;

use bytes::Bytes;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::{CHUNK, Error};

/// Limits the number of temporary files.
///
/// # Why there is no deadlock
/// A task acquires one [`Permit`] for all its files, and holds no other permit while it waits. A task that holds a permit waits only for
/// the network and the store, and neither waits for temporary files.
#[derive(Clone, Debug)]
pub struct TempFileBudget {
    semaphore: Arc<Semaphore>,
    files: usize,
}

/// Permission for a number of temporary files. Dropping it returns them to the budget.
#[derive(Debug)]
pub struct Permit {
    files: usize,
    _permit: Option<OwnedSemaphorePermit>,
}

impl TempFileBudget {
    /// A budget of this many files; 0 counts as 1.
    pub fn new(files: usize) -> Self {
        let files = files.clamp(1, Semaphore::MAX_PERMITS);
        let semaphore = Arc::new(Semaphore::new(files));
        Self { semaphore, files }
    }

    /// Waits for permission for this many files, or for the whole budget if it is smaller.
    pub async fn acquire(&self, files: usize) -> Permit {
        let files = files.min(self.files);
        let permits = u32::try_from(files).unwrap_or(u32::MAX);
        let permit = Arc::clone(&self.semaphore).acquire_many_owned(permits);
        Permit {
            files,
            // The semaphore is never closed, so this is always `Some`.
            _permit: permit.await.ok(),
        }
    }
}

impl Permit {
    /// The number of files that this permit allows.
    pub fn files(&self) -> usize {
        self.files
    }
}

/// An unfinished temporary file, in the system's directory for temporary files.
#[derive(Debug)]
pub struct TempFileWriter(Arc<File>);

impl TempFileWriter {
    /// Creates an empty file.
    ///
    /// # Errors
    /// The system reported an error.
    pub fn new() -> Result<Self, Error> {
        let file = tempfile::tempfile();
        let file = file.map_err(|source| failed("create", source))?;
        Ok(Self(Arc::new(file)))
    }

    /// Appends bytes.
    ///
    /// # Errors
    /// The system reported an error, such as a full disk.
    pub fn write(&mut self, bytes: &[u8]) -> Result<(), Error> {
        let written = (&*self.0).write_all(bytes);
        written.map_err(|source| failed("write", source))
    }

    /// Reads the bytes that are written so far, from an offset.
    pub fn reader(&self, from: u64) -> Reader {
        Reader::of(&self.0, from)
    }

    /// Truncates the file.
    ///
    /// # Errors
    /// The system reported an error.
    pub fn clear(&mut self) -> Result<(), Error> {
        let cleared = self.0.set_len(0).and_then(|()| (&*self.0).rewind());
        cleared.map_err(|source| failed("write", source))
    }

    /// Completes the file.
    pub fn finish(self) -> TempFile {
        TempFile(self.0)
    }
}

/// A complete temporary file. The system deletes it when the last clone is dropped.
#[derive(Clone, Debug)]
pub struct TempFile(Arc<File>);

impl TempFile {
    /// Reads the file from an offset. Each reader has its own position.
    pub fn reader(&self, from: u64) -> Reader {
        Reader::of(&self.0, from)
    }
}

/// Reads a temporary file.
#[derive(Debug)]
pub struct Reader {
    file: Arc<File>,
    at: u64,
}

impl Reader {
    fn of(file: &Arc<File>, at: u64) -> Self {
        let file = Arc::clone(file);
        Self { file, at }
    }

    /// The next bytes, at most so many.
    ///
    /// # Errors
    /// The system reported an error.
    pub fn up_to(self, size: u64) -> Result<Vec<u8>, Error> {
        let mut bytes = Vec::with_capacity(usize::try_from(size).unwrap_or_default());
        let read = self.take(size).read_to_end(&mut bytes);
        read.map_err(|source| failed("read", source))?;
        Ok(bytes)
    }

    /// The next block; `None` at the end.
    ///
    /// # Errors
    /// The system reported an error.
    pub fn next_block(&mut self) -> Result<Option<Bytes>, Error> {
        let mut block = Vec::with_capacity(CHUNK);
        let read = self.take(CHUNK as u64).read_to_end(&mut block);
        let read = read.map_err(|source| failed("read", source))?;
        Ok((read > 0).then(|| block.into()))
    }
}

impl Read for Reader {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = read_at(&self.file, buffer, self.at)?;
        self.at += read as u64;
        Ok(read)
    }
}

impl Seek for Reader {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        let (base, offset) = match to {
            SeekFrom::Start(at) => (at, 0),
            SeekFrom::End(offset) => (self.file.metadata()?.len(), offset),
            SeekFrom::Current(offset) => (self.at, offset),
        };
        let at = base.checked_add_signed(offset);
        self.at = at.ok_or(io::ErrorKind::InvalidInput)?;
        Ok(self.at)
    }
}

#[cfg(unix)]
fn read_at(file: &File, buffer: &mut [u8], at: u64) -> io::Result<usize> {
    std::os::unix::fs::FileExt::read_at(file, buffer, at)
}

#[cfg(windows)]
fn read_at(file: &File, buffer: &mut [u8], at: u64) -> io::Result<usize> {
    std::os::windows::fs::FileExt::seek_read(file, buffer, at)
}

/// Fills a buffer from an offset on.
///
/// # Errors
/// The system reported an error, or the file ends before.
pub(crate) fn read_exact_at(file: &File, mut buffer: &mut [u8], mut at: u64) -> io::Result<()> {
    while !buffer.is_empty() {
        let read = read_at(file, buffer, at)?;
        if read == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        buffer = buffer.get_mut(read..).unwrap_or_default();
        at += read as u64;
    }
    Ok(())
}

#[cfg(unix)]
pub(crate) fn write_at(file: &File, bytes: &[u8], at: u64) -> io::Result<()> {
    std::os::unix::fs::FileExt::write_all_at(file, bytes, at)
}

#[cfg(windows)]
pub(crate) fn write_at(file: &File, bytes: &[u8], at: u64) -> io::Result<()> {
    let mut written = 0;
    while let Some(rest) = bytes.get(written..).filter(|rest| !rest.is_empty()) {
        written += std::os::windows::fs::FileExt::seek_write(file, rest, at + written as u64)?;
    }
    Ok(())
}

fn failed(action: &'static str, source: io::Error) -> Error {
    Error::TempFile {
        action,
        directory: std::env::temp_dir(),
        source,
    }
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt as _;

    use super::*;

    #[test]
    fn readers_do_not_disturb_each_other() {
        let mut writer = TempFileWriter::new().unwrap();
        writer.write(b"wrong").unwrap();
        writer.clear().unwrap();
        writer.write(b"abc").unwrap();
        writer.write(b"def").unwrap();
        let file = writer.finish();
        let (mut all, mut rest) = (file.reader(0), file.reader(4));
        assert_eq!(all.next_block().unwrap().unwrap(), "abcdef");
        assert_eq!(rest.next_block().unwrap().unwrap(), "ef");
        assert_eq!(all.next_block().unwrap(), None);
        assert_eq!(rest.seek(SeekFrom::End(-5)).unwrap(), 1);
        assert_eq!(rest.seek(SeekFrom::Current(2)).unwrap(), 3);
        assert!(rest.seek(SeekFrom::Current(-4)).is_err());
        assert_eq!(rest.next_block().unwrap().unwrap(), "def");
        assert_eq!(file.reader(7).next_block().unwrap(), None);
    }

    #[test]
    fn a_request_above_the_budget_gets_the_whole_budget() {
        let budget = TempFileBudget::new(3);
        let take = |files| budget.acquire(files).now_or_never();
        let two = take(2).unwrap();
        assert_eq!(two.files(), 2);
        let one = take(1).unwrap();
        assert!(take(1).is_none());
        drop(two);
        assert!(take(7).is_none());
        drop(one);
        let all = take(7).unwrap();
        assert_eq!(all.files(), 3);
        assert!(take(1).is_none());
    }
}
