//! Temporary files, for what has to be whole before it can go on.
//!
//! They have no name: whatever becomes of the process, nothing stays of them.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write as _};
use std::sync::Arc;

use bytes::Bytes;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::{CHUNK, Error};

/// How many there may be at once.
///
/// # Why nobody waits for ever
/// A [`Share`] is taken by those who have none, for all that they will need, and at once: so nobody who holds a part waits for
/// another. Who has one waits only for the network and for the store, which never wait for temporary files.
#[derive(Clone, Debug)]
pub struct Room {
    places: Arc<Semaphore>,
    files: usize,
}

/// So many files; none any more when it is dropped.
#[derive(Debug)]
pub struct Share {
    files: usize,
    _permit: Option<OwnedSemaphorePermit>,
}

impl Room {
    /// Room for so many files, at least one.
    pub fn new(files: usize) -> Self {
        let files = files.clamp(1, Semaphore::MAX_PERMITS);
        Self {
            places: Arc::new(Semaphore::new(files)),
            files,
        }
    }

    /// Waits for room for so many files; where there will never be so much, for all that there is.
    pub async fn share(&self, files: usize) -> Share {
        let files = files.min(self.files);
        let places = u32::try_from(files).unwrap_or(u32::MAX);
        let permit = Arc::clone(&self.places).acquire_many_owned(places);
        Share {
            files,
            // Nobody closes it.
            _permit: permit.await.ok(),
        }
    }
}

impl Share {
    /// For how many files.
    pub fn files(&self) -> usize {
        self.files
    }
}

/// A file in the system's directory for temporary files, for this process only.
#[derive(Debug)]
pub struct Spool(File);

impl Spool {
    /// Creates one.
    ///
    /// # Errors
    /// What the system says.
    pub fn new() -> Result<Self, Error> {
        tempfile::tempfile()
            .map(Self)
            .map_err(|source| failed("create", source))
    }

    /// Appends bytes.
    ///
    /// # Errors
    /// What the system says; a full disk is found here.
    pub fn write(&mut self, bytes: &[u8]) -> Result<(), Error> {
        let written = self.0.write_all(bytes);
        written.map_err(|source| failed("write", source))
    }

    /// Empties it.
    ///
    /// # Errors
    /// What the system says.
    pub fn clear(&mut self) -> Result<(), Error> {
        let cleared = self.0.set_len(0).and_then(|()| self.0.rewind());
        cleared.map_err(|source| failed("write", source))
    }

    /// What was written, for reading.
    pub fn into_spooled(self) -> Spooled {
        Spooled(Arc::new(self.0))
    }
}

/// A temporary file that is whole. It is gone when nobody holds it any more.
#[derive(Clone, Debug)]
pub struct Spooled(Arc<File>);

impl Spooled {
    /// Reads it from an offset on. Each reader has a position of its own.
    pub fn reader(&self, from: u64) -> Reader {
        Reader {
            file: Arc::clone(&self.0),
            at: from,
        }
    }
}

/// What reads a temporary file.
#[derive(Debug)]
pub struct Reader {
    file: Arc<File>,
    at: u64,
}

impl Reader {
    /// The next bytes; `None` at the end.
    ///
    /// # Errors
    /// What the system says.
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

fn failed(action: &'static str, source: io::Error) -> Error {
    Error::Spool {
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
        let mut spool = Spool::new().unwrap();
        spool.write(b"wrong").unwrap();
        spool.clear().unwrap();
        spool.write(b"abc").unwrap();
        spool.write(b"def").unwrap();
        let spooled = spool.into_spooled();
        let (mut all, mut rest) = (spooled.reader(0), spooled.reader(4));
        assert_eq!(all.next_block().unwrap().unwrap(), "abcdef");
        assert_eq!(rest.next_block().unwrap().unwrap(), "ef");
        assert_eq!(all.next_block().unwrap(), None);
        assert_eq!(rest.seek(SeekFrom::End(-5)).unwrap(), 1);
        assert_eq!(rest.seek(SeekFrom::Current(2)).unwrap(), 3);
        assert!(rest.seek(SeekFrom::Current(-4)).is_err());
        assert_eq!(rest.next_block().unwrap().unwrap(), "def");
        assert_eq!(spooled.reader(7).next_block().unwrap(), None);
    }

    #[test]
    fn who_wants_more_room_than_there_is_gets_all_of_it() {
        let room = Room::new(3);
        let take = |files| room.share(files).now_or_never();
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
