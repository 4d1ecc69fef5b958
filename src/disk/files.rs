//! Opens and reads files, with a limit on their size.

use std::fs::OpenOptions;
use std::io::{self, Read as _, Seek as _, SeekFrom};
use std::path::{Path, PathBuf};

use bytes::Bytes;

use super::{Error, pipe};
use crate::digest::{Digest, Hasher};

/// The size in bytes of the blocks in which packages are transferred, two records of TLS: large enough for few system calls, small enough that 64 transfers
/// with several blocks each fit in a few MiB.
pub const CHUNK: usize = 32 << 10;

/// Reads a file of at most `limit` bytes that the user named. It may be a pipe, which is read with a time limit.
///
/// # Errors
/// The system reported an error, or [`Error::TooLarge`].
pub fn read(path: &Path, limit: u64) -> Result<Vec<u8>, Error> {
    let failed = |source| Error::at("read", path, source);
    let file = non_blocking(OpenOptions::new().read(true)).open(path);
    let file = file.map_err(failed)?;
    let metadata = file.metadata().map_err(failed)?;
    match metadata.is_file() {
        true => read_all(file, metadata.len(), path, limit),
        false => read_all(pipe::PipeReader::new(file, &metadata), 0, path, limit),
    }
}

/// Reads a regular file of at most `limit` bytes, in a directory to which other users may write.
///
/// # Errors
/// The errors of [`open`], or [`Error::TooLarge`].
pub fn read_regular(path: &Path, limit: u64) -> Result<Vec<u8>, Error> {
    read_file(open(path)?, path, limit)
}

/// As [`read_regular`], without following a symbolic link.
///
/// # Errors
/// The errors of [`open_unlinked`], or [`Error::TooLarge`].
pub fn read_unlinked(path: &Path, limit: u64) -> Result<Vec<u8>, Error> {
    read_file(open_unlinked(path)?, path, limit)
}

fn read_file(file: std::fs::File, path: &Path, limit: u64) -> Result<Vec<u8>, Error> {
    let size = file.metadata().map_or(0, |metadata| metadata.len());
    read_all(file, size, path, limit)
}

/// Reads to the end or to the limit. `size` is for the message, and 0 for pipes.
fn read_all(file: impl io::Read, size: u64, path: &Path, limit: u64) -> Result<Vec<u8>, Error> {
    // One byte more than the file has: reallocation would leave copies of a password in memory.
    let expected = usize::try_from(size.min(limit)).unwrap_or_default();
    let mut bytes = Vec::with_capacity(expected + 1);
    let read = file.take(limit + 1).read_to_end(&mut bytes);
    read.map_err(|source| Error::at("read", path, source))?;
    if bytes.len() as u64 > limit {
        return Err(Error::TooLarge {
            path: path.to_owned(),
            limit,
            size: Some(size).filter(|size| *size > limit),
        });
    }
    Ok(bytes)
}

/// Opens a regular file for reading, and no symbolic link: a user who can make links in a directory could otherwise have any file read.
///
/// # Errors
/// The errors of [`open`], or [`Error::Link`].
pub fn open_unlinked(path: &Path) -> Result<std::fs::File, Error> {
    let is_link = || std::fs::symlink_metadata(path).is_ok_and(|found| found.is_symlink());
    let link = || Error::Link {
        path: path.to_owned(),
    };
    if is_link() {
        return Err(link());
    }
    // The file may have been replaced in between, which the system notices when it opens it.
    open_with(path, unlinked(OpenOptions::new().read(true)))
        .map_err(|error| if is_link() { link() } else { error })
}

/// Opens a regular file, or a symbolic link to one, for reading.
///
/// # Errors
/// The system reported an error, or [`Error::Special`].
pub fn open(path: &Path) -> Result<std::fs::File, Error> {
    open_with(path, non_blocking(OpenOptions::new().read(true)))
}

fn open_with(path: &Path, options: &OpenOptions) -> Result<std::fs::File, Error> {
    let failed = |source| Error::at("read", path, source);
    let checked = |found: std::fs::Metadata| match found.is_file() {
        true => Ok(()),
        false => Err(Error::special(path)),
    };
    // Checked before opening, because opening a device can have effects, and again afterwards, because the file may have been replaced
    // in between.
    checked(std::fs::metadata(path).map_err(failed)?)?;
    let file = options.open(path).map_err(failed)?;
    checked(file.metadata().map_err(failed)?)?;
    Ok(file)
}

/// Makes opening a pipe return at once. Otherwise it would wait until another process opens its other end.
pub(super) fn non_blocking(options: &mut OpenOptions) -> &mut OpenOptions {
    with_flags(options, true)
}

/// As [`non_blocking`], and without following a link.
pub(super) fn unlinked(options: &mut OpenOptions) -> &mut OpenOptions {
    with_flags(options, false)
}

#[cfg(unix)]
fn with_flags(options: &mut OpenOptions, follows_links: bool) -> &mut OpenOptions {
    use rustix::fs::OFlags;
    use std::os::unix::fs::OpenOptionsExt as _;
    let mut flags = OFlags::NONBLOCK | OFlags::NOCTTY;
    flags.set(OFlags::NOFOLLOW, !follows_links);
    options.custom_flags(flags.bits().cast_signed())
}

#[cfg(not(unix))]
fn with_flags(options: &mut OpenOptions, _: bool) -> &mut OpenOptions {
    options
}

/// Reads a file in blocks of [`CHUNK`] bytes.
pub struct Blocks {
    file: std::fs::File,
    path: PathBuf,
    /// The number of bytes that may still be read.
    left: u64,
}

impl Blocks {
    /// Opens a file at an offset in bytes.
    ///
    /// # Errors
    /// The errors of [`open`].
    pub fn open(path: &Path, from: u64) -> Result<Self, Error> {
        Self::of(open(path)?, path, from)
    }

    /// As [`Blocks::open`], without following a symbolic link.
    ///
    /// # Errors
    /// The errors of [`open_unlinked`].
    pub fn open_unlinked(path: &Path, from: u64) -> Result<Self, Error> {
        Self::of(open_unlinked(path)?, path, from)
    }

    /// Reads an open file from an offset on. `path` is for messages.
    ///
    /// # Errors
    /// The system reported an error.
    pub fn of(mut file: std::fs::File, path: &Path, from: u64) -> Result<Self, Error> {
        if from > 0 {
            let sought = file.seek(SeekFrom::Start(from));
            sought.map_err(|source| Error::at("read", path, source))?;
        }
        Ok(Self {
            file,
            path: path.to_owned(),
            left: u64::MAX,
        })
    }

    /// The same, which ends after so many bytes.
    pub fn up_to(self, left: u64) -> Self {
        Self { left, ..self }
    }

    /// The next block; `None` at the end.
    ///
    /// # Errors
    /// The system reported an error.
    pub fn next_block(&mut self) -> Result<Option<Bytes>, Error> {
        let mut block = Vec::with_capacity(CHUNK);
        let read = (&self.file)
            .take(self.left.min(CHUNK as u64))
            .read_to_end(&mut block)
            .map_err(|source| Error::at("read", &self.path, source))?;
        self.left -= read as u64;
        Ok((read > 0).then(|| block.into()))
    }

    /// The digest of the rest of the file.
    ///
    /// # Errors
    /// The system reported an error.
    pub fn digest(mut self) -> Result<Digest, Error> {
        let mut hasher = Hasher::new();
        while let Some(block) = self.next_block()? {
            hasher.update(&block);
        }
        Ok(hasher.finish())
    }

    /// As [`Blocks::digest`], in an asynchronous task: others run meanwhile, and the task can be cancelled.
    ///
    /// # Errors
    /// The system reported an error.
    pub async fn digest_in_task(mut self) -> Result<Digest, Error> {
        let mut hasher = Hasher::new();
        while let Some(block) = self.next_block()? {
            hasher.update(&block);
            tokio::task::consume_budget().await;
        }
        Ok(hasher.finish())
    }
}

#[cfg(test)]
mod tests {
    use super::super::if_exists;
    use super::*;

    #[test]
    fn reading_is_bounded() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("file");
        std::fs::write(&path, b"12345").unwrap();
        assert_eq!(read(&path, 5).unwrap(), b"12345");
        assert!(matches!(
            read(&path, 4),
            Err(Error::TooLarge {
                limit: 4,
                size: Some(5),
                ..
            })
        ));
        assert!(
            if_exists(read(&directory.path().join("none"), 4))
                .unwrap()
                .is_none()
        );
    }

    #[cfg(unix)]
    #[test]
    fn an_endless_file_exceeds_the_limit() {
        let error = read(Path::new("/dev/zero"), 4).unwrap_err();
        assert_eq!(
            error.to_string(),
            "cannot read /dev/zero\n  expected at most 4 bytes\n  received more"
        );
    }

    #[cfg(unix)]
    #[test]
    fn only_regular_files_and_links_to_them_are_opened() {
        let directory = tempfile::tempdir().unwrap();
        let path = |name: &str| directory.path().join(name);
        std::fs::write(path("file"), b"x").unwrap();
        std::os::unix::fs::symlink(path("file"), path("link")).unwrap();
        std::os::unix::fs::symlink("/dev/zero", path("endless")).unwrap();
        let _socket = std::os::unix::net::UnixListener::bind(path("socket")).unwrap();
        assert_eq!(read_regular(&path("link"), 1).unwrap(), b"x");
        assert_eq!(read_unlinked(&path("file"), 1).unwrap(), b"x");
        let refused = read_unlinked(&path("link"), 1);
        assert!(matches!(refused, Err(Error::Link { .. })));
        open_unlinked(&path("file")).unwrap();
        for name in ["link", "endless"] {
            let refused = open_unlinked(&path(name));
            assert!(matches!(refused, Err(Error::Link { .. })), "{name}");
        }
        for name in ["endless", "socket", "."] {
            assert!(matches!(
                read_regular(&path(name), 1),
                Err(Error::Special { .. })
            ));
            assert!(matches!(
                Blocks::open(&path(name), 0),
                Err(Error::Special { .. })
            ));
        }
    }

    #[test]
    fn blocks_give_the_file_from_any_offset() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("file");
        let content: Vec<u8> = (0..CHUNK + 10)
            .map(|n| u8::try_from(n % 251).unwrap())
            .collect();
        std::fs::write(&path, &content).unwrap();
        for from in [0, 1, CHUNK, CHUNK + 10, CHUNK + 11] {
            let mut blocks = Blocks::open(&path, from as u64).unwrap();
            let mut all = Vec::new();
            while let Some(block) = blocks.next_block().unwrap() {
                all.extend_from_slice(&block);
            }
            assert_eq!(all, content.get(from..).unwrap_or_default());
        }
    }
}
