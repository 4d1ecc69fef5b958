//! Temporary files, for packages that must be complete before use.
//!
//! The files have no name, so nothing remains even if the process is killed.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write as _};
use std::sync::Arc;

use super::Error;

/// A file in the system's directory for temporary files. The system deletes it when it is dropped with all of its clones and readers.
#[derive(Clone, Debug)]
pub struct TempFile(Arc<File>);

impl TempFile {
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

    /// Reads the bytes that are written so far, from an offset. Each reader has its own position.
    pub fn reader(&self, at: u64) -> Reader {
        let file = Arc::clone(&self.0);
        Reader { file, at }
    }
}

/// Reads a temporary file.
#[derive(Debug)]
pub struct Reader {
    file: Arc<File>,
    at: u64,
}

impl Reader {
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
    use super::*;

    #[test]
    fn readers_do_not_disturb_each_other() {
        let mut file = TempFile::new().unwrap();
        file.write(b"abc").unwrap();
        file.write(b"def").unwrap();
        let (mut all, mut rest) = (file.reader(0), file.reader(4));
        let mut buffer = [0; 8];
        assert_eq!(all.read(&mut buffer).unwrap(), 6);
        assert_eq!(buffer[..6], *b"abcdef");
        assert_eq!(all.read(&mut buffer).unwrap(), 0);
        assert_eq!(rest.seek(SeekFrom::End(-5)).unwrap(), 1);
        assert_eq!(rest.seek(SeekFrom::Current(2)).unwrap(), 3);
        assert!(rest.seek(SeekFrom::Current(-4)).is_err());
        assert_eq!(rest.up_to(9).unwrap(), b"def");
        assert_eq!(file.reader(7).read(&mut buffer).unwrap(), 0);
    }
}
