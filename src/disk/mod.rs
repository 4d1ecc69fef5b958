//! This machine's files: bounded reading, writing that is whole or not there, locks.
//!
//! Everything that others may look at is written beside its place under a hidden name and renamed. Whoever is
//! killed leaves hidden files at worst; [`sweep`] removes them on the next run.

pub mod contents;
pub mod directory;
pub mod exposed;
pub mod lock;
mod patient;
pub mod spool;
pub mod staged;
pub mod unpack;

pub use contents::directory_h1;
pub use directory::Directory;
pub use lock::Lock;
pub use staged::{Staged, hidden_dir, show_dir};

use std::io::{self, Read as _, Seek as _, SeekFrom};
use std::path::{Path, PathBuf};

use bytes::Bytes;

use crate::error::{Category, printable_path};

/// What the names of unfinished files and directories begin with: hidden, so that no client takes them for anything.
pub const UNFINISHED: &str = ".tfoci-tmp-";

/// The size of the chunks in which packages flow: large enough for few system calls, small enough that eight
/// transfers fit in a few MiB.
pub const CHUNK: usize = 64 << 10;

/// Reads a whole file that the user named, and that must not be larger than `limit` bytes. A pipe will do, and is waited for, not for
/// ever.
///
/// # Errors
/// What the system says, or [`Error::TooLarge`].
pub fn read(path: &Path, limit: u64) -> Result<Vec<u8>, Error> {
    let failed = |source| Error::at("read", path, source);
    let file = without_waiting(std::fs::OpenOptions::new().read(true))
        .open(path)
        .map_err(failed)?;
    let metadata = file.metadata().map_err(failed)?;
    if metadata.is_file() {
        read_all(file, metadata.len(), path, limit)
    } else {
        read_all(patient::Patient::new(file, &metadata), 0, path, limit)
    }
}

/// Reads a whole file of a directory that strangers may have filled, and that must not be larger than `limit` bytes.
///
/// # Errors
/// As [`open`], or [`Error::TooLarge`].
pub fn read_regular(path: &Path, limit: u64) -> Result<Vec<u8>, Error> {
    let file = open(path)?;
    let size = file.metadata().map_or(0, |metadata| metadata.len());
    read_all(file, size, path, limit)
}

/// Pipes have no size.
fn read_all(file: impl io::Read, size: u64, path: &Path, limit: u64) -> Result<Vec<u8>, Error> {
    let mut bytes = Vec::new();
    file.take(limit + 1)
        .read_to_end(&mut bytes)
        .map_err(|source| Error::at("read", path, source))?;
    if bytes.len() as u64 > limit {
        return Err(Error::TooLarge {
            path: path.to_owned(),
            limit,
            size: Some(size).filter(|size| *size > limit),
        });
    }
    Ok(bytes)
}

/// Opens a regular file, or what a symbolic link to one leads to, for reading.
///
/// # Errors
/// What the system says, or [`Error::Special`].
pub fn open(path: &Path) -> Result<std::fs::File, Error> {
    let failed = |source| Error::at("read", path, source);
    let special = || Error::Special {
        path: path.to_owned(),
    };
    // Asked beforehand, since opening a device may do something, and again of what was opened, since it may be another by then.
    if !std::fs::metadata(path).map_err(failed)?.is_file() {
        return Err(special());
    }
    let file = without_waiting(std::fs::OpenOptions::new().read(true))
        .open(path)
        .map_err(failed)?;
    match file.metadata().map_err(failed)?.is_file() {
        true => Ok(file),
        false => Err(special()),
    }
}

/// Opening a pipe would wait for somebody at its other end.
#[cfg(unix)]
fn without_waiting(options: &mut std::fs::OpenOptions) -> &mut std::fs::OpenOptions {
    use rustix::fs::OFlags;
    use std::os::unix::fs::OpenOptionsExt as _;
    let flags = OFlags::NONBLOCK | OFlags::NOCTTY;
    options.custom_flags(flags.bits().cast_signed())
}

#[cfg(not(unix))]
fn without_waiting(options: &mut std::fs::OpenOptions) -> &mut std::fs::OpenOptions {
    options
}

/// Turns "not there" into `None`.
///
/// # Errors
/// Every other error, unchanged.
pub fn if_exists<T>(result: Result<T, Error>) -> Result<Option<T>, Error> {
    match result {
        Ok(value) => Ok(Some(value)),
        Err(error) if error.is_not_found() => Ok(None),
        Err(error) => Err(error),
    }
}

/// Creates a directory and those above it.
///
/// # Errors
/// What the system says.
pub fn create_dir(path: &Path) -> Result<(), Error> {
    std::fs::create_dir_all(path).map_err(|source| Error::at("create", path, source))
}

/// As [`create_dir`], and makes sure that those which are new survive a loss of power.
///
/// # Errors
/// What the system says.
pub fn create_durable_dir(path: &Path) -> Result<(), Error> {
    let new: Vec<&Path> = path.ancestors().take_while(|at| is_absent(at)).collect();
    create_dir(path)?;
    new.into_iter()
        .try_for_each(|directory| sync_dir(staged::directory_of(directory)))
}

/// A path without a name is the working directory.
fn is_absent(path: &Path) -> bool {
    !path.as_os_str().is_empty() && !path.exists()
}

/// Creates a directory that only its owner may look into, and those above it. One that is there stays as it is.
///
/// # Errors
/// What the system says.
pub fn create_private_dir(path: &Path) -> Result<(), Error> {
    let mut builder = std::fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder
        .create(path)
        .map_err(|source| Error::at("create", path, source))
}

/// The names of a directory's entries, sorted; names that are not UTF-8 are left out, since nothing of ours or of any
/// client's has one.
///
/// # Errors
/// What the system says.
pub fn names(path: &Path) -> Result<Vec<String>, Error> {
    let error = |source| Error::at("list", path, source);
    let mut names = Vec::new();
    for entry in std::fs::read_dir(path).map_err(error)? {
        names.extend(entry.map_err(error)?.file_name().into_string());
    }
    names.sort_unstable();
    Ok(names)
}

/// Makes sure that a directory's entries survive a loss of power.
///
/// # Errors
/// What the system says.
pub fn sync_dir(path: &Path) -> Result<(), Error> {
    // Windows neither needs this nor lets a directory be opened for it.
    if cfg!(unix) {
        let sync = std::fs::File::open(path).and_then(|directory| directory.sync_all());
        sync.map_err(|source| Error::at("sync", path, source))?;
    }
    Ok(())
}

/// Removes what an interrupted run left unfinished in a directory. Only for one who holds the lock over it.
///
/// # Errors
/// What the system says.
pub fn sweep(directory: &Path) -> Result<(), Error> {
    for name in if_exists(names(directory))?.unwrap_or_default() {
        if name.starts_with(UNFINISHED) {
            remove(&directory.join(name))?;
        }
    }
    Ok(())
}

/// Removes a file, or a directory with all that is in it.
///
/// # Errors
/// What the system says; that it is gone already is none.
pub fn remove(path: &Path) -> Result<(), Error> {
    let removed = match std::fs::symlink_metadata(path) {
        Ok(metadata) if metadata.is_dir() => std::fs::remove_dir_all(path),
        Ok(_) => std::fs::remove_file(path),
        Err(error) => Err(error),
    };
    if_exists(removed.map_err(|source| Error::at("remove", path, source))).map(|_| ())
}

/// A file that is read block by block.
pub struct Blocks {
    file: std::fs::File,
    path: PathBuf,
}

impl Blocks {
    /// Opens a file at an offset.
    ///
    /// # Errors
    /// As [`open`].
    pub fn open(path: &Path, from: u64) -> Result<Self, Error> {
        let mut blocks = Self::of(open(path)?, path);
        if from > 0 {
            let sought = blocks.file.seek(SeekFrom::Start(from));
            sought.map_err(|source| Error::at("read", path, source))?;
        }
        Ok(blocks)
    }

    /// Of a file that is open already; the path is for messages.
    pub fn of(file: std::fs::File, path: &Path) -> Self {
        Self {
            file,
            path: path.to_owned(),
        }
    }

    /// The next bytes; `None` at the end.
    ///
    /// # Errors
    /// What the system says.
    pub fn next_block(&mut self) -> Result<Option<Bytes>, Error> {
        let mut block = Vec::with_capacity(CHUNK);
        let read = (&self.file)
            .take(CHUNK as u64)
            .read_to_end(&mut block)
            .map_err(|source| Error::at("read", &self.path, source))?;
        Ok((read > 0).then(|| block.into()))
    }
}

/// Something that this machine could not do, or would not.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The system refused.
    #[error("cannot {action} {}", printable_path(.path))]
    Io {
        /// What was tried.
        action: &'static str,
        /// The file or directory.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// There is no temporary file, or it cannot take more.
    #[error("cannot {action} a temporary file in {}", printable_path(.directory))]
    Spool {
        /// What was tried.
        action: &'static str,
        /// The system's directory for temporary files.
        directory: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// A directory, device, pipe or socket, of which some never end.
    #[error("{} is not a regular file", printable_path(.path))]
    Special {
        /// Which one.
        path: PathBuf,
    },
    /// A file is larger than anything of its kind.
    #[error("cannot read {}\n  expected at most {limit} bytes\n  received {}", printable_path(.path), or_more(*.size))]
    TooLarge {
        /// The file.
        path: PathBuf,
        /// The limit in bytes.
        limit: u64,
        /// Its size in bytes, where it has one.
        size: Option<u64>,
    },
}

fn or_more(size: Option<u64>) -> String {
    size.map_or_else(|| "more".to_owned(), |size| format!("{size} bytes"))
}

impl Error {
    /// An error of the system about a path.
    pub fn at(action: &'static str, path: &Path, source: io::Error) -> Self {
        Self::Io {
            action,
            path: path.to_owned(),
            source,
        }
    }

    /// Whether the file or directory is simply not there.
    pub fn is_not_found(&self) -> bool {
        matches!(self, Self::Io { source, .. } if source.kind() == io::ErrorKind::NotFound)
    }

    /// What kind of problem it is.
    pub fn category(&self) -> Category {
        match self {
            Self::Io { .. } if self.is_not_found() => Category::NotFound,
            Self::Io { .. } | Self::Spool { .. } => Category::Local,
            Self::Special { .. } | Self::TooLarge { .. } => Category::Malformed,
        }
    }
}

#[cfg(test)]
mod tests {
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
    fn what_has_no_end_is_longer_than_the_limit() {
        let error = read(Path::new("/dev/zero"), 4).unwrap_err();
        assert_eq!(
            error.to_string(),
            "cannot read /dev/zero\n  expected at most 4 bytes\n  received more"
        );
    }

    #[test]
    fn durable_directories_may_be_there_already() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("a/b/c");
        for _ in 0..2 {
            create_durable_dir(&path).unwrap();
            assert!(path.is_dir());
        }
        create_durable_dir(Path::new("src")).unwrap();
        std::fs::write(directory.path().join("file"), b"").unwrap();
        assert!(create_durable_dir(&directory.path().join("file/a")).is_err());
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

    #[test]
    fn sweeping_removes_only_what_is_unfinished() {
        let directory = tempfile::tempdir().unwrap();
        std::fs::write(directory.path().join(format!("{UNFINISHED}x")), b"").unwrap();
        std::fs::create_dir(directory.path().join(format!("{UNFINISHED}dir"))).unwrap();
        std::fs::write(directory.path().join("kept"), b"").unwrap();
        sweep(directory.path()).unwrap();
        assert_eq!(names(directory.path()).unwrap(), ["kept"]);
    }
}
