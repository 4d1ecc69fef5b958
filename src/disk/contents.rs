//! The `h1` of a directory, as clients compute it for unpacked packages.

use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use sha2::{Digest as _, Sha256};

use crate::archive::Limits;
use crate::error::{Category, printable};
use crate::hash::{self, Contents, PackageHash};

/// Larger buffers gain nothing.
const BUFFER: usize = 64 << 10;

/// The `h1` of the files below a directory (contract 4.1).
///
/// A symbolic link at the top is followed. Every file below counts; links to files count with the content of their target, by their own name.
/// Modes, times and empty directories do not count.
///
/// # Errors
/// A link to a directory, as with clients; a device, pipe or socket; a name with a line break; more directory entries or more
/// bytes than `limits`; anything that cannot be read.
pub fn directory_h1(directory: &Path, limits: &Limits) -> Result<PackageHash, Error> {
    let mut walk = Walk {
        entries: limits.entries,
        bytes: limits.unpacked,
        limits,
        pending: vec![(directory.to_owned(), Vec::new())],
        buffer: vec![0; BUFFER],
        contents: Contents::new(),
    };
    while let Some((path, prefix)) = walk.pending.pop() {
        walk.directory(&path, &prefix)?;
    }
    Ok(walk.contents.h1()?)
}

struct Walk<'a> {
    /// How many more may come.
    entries: u64,
    /// How many more may be read.
    bytes: u64,
    limits: &'a Limits,
    /// Directories with the prefix of their files' names.
    pending: Vec<(PathBuf, Vec<u8>)>,
    buffer: Vec<u8>,
    contents: Contents,
}

impl Walk<'_> {
    fn directory(&mut self, directory: &Path, prefix: &[u8]) -> Result<(), Error> {
        let failed = |source| Error::local(directory, source);
        for entry in fs::read_dir(directory).map_err(failed)? {
            let entry = entry.map_err(failed)?;
            let path = entry.path();
            self.entries = self.entries.checked_sub(1).ok_or_else(|| Error::Entries {
                path: path.clone(),
                limit: self.limits.entries,
            })?;
            let mut name = prefix.to_vec();
            name.extend(entry.file_name().as_encoded_bytes());
            let itself = entry.file_type().map_err(failed)?;
            let target = fs::metadata(&path).map_err(|e| Error::local(&path, e))?;
            if itself.is_dir() {
                name.push(b'/');
                self.pending.push((path, name));
            } else if target.is_file() {
                let sha256 = self.file(&path)?;
                self.contents.add(&name, sha256);
            } else if target.is_dir() {
                return Err(Error::LinkToDirectory { path });
            } else {
                // Opening a pipe would wait for its writer.
                return Err(Error::Special { path });
            }
        }
        Ok(())
    }

    fn file(&mut self, path: &Path) -> Result<[u8; 32], Error> {
        let mut file = File::open(path).map_err(|e| Error::local(path, e))?;
        let mut hasher = Sha256::new();
        loop {
            let count = match file.read(&mut self.buffer) {
                Ok(0) => return Ok(hasher.finalize().into()),
                Ok(count) => count,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(Error::local(path, error)),
            };
            self.bytes = self
                .bytes
                .checked_sub(count as u64)
                .ok_or_else(|| Error::Bytes {
                    path: path.to_owned(),
                    limit: self.limits.unpacked,
                })?;
            hasher.update(self.buffer.get(..count).unwrap_or_default());
        }
    }
}

/// A directory that has no `h1`.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A file or directory cannot be read.
    #[error("cannot read `{}`", shown(path))]
    Local {
        /// Which one.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// A symbolic link to a directory, which clients cannot hash either.
    #[error("`{}` is a symbolic link to a directory", shown(path))]
    LinkToDirectory {
        /// The link.
        path: PathBuf,
    },
    /// A device, pipe or socket.
    #[error("`{}` is a special file", shown(path))]
    Special {
        /// Which one.
        path: PathBuf,
    },
    /// Too many entries for a package.
    #[error(
        "the directory of `{}` has too many entries\n  expected at most {limit}",
        shown(path)
    )]
    Entries {
        /// The first entry beyond the limit.
        path: PathBuf,
        /// The limit.
        limit: u64,
    },
    /// Too many bytes for a package.
    #[error(
        "the directory of `{}` is too large\n  expected at most {limit} bytes",
        shown(path)
    )]
    Bytes {
        /// The file that passed the limit.
        path: PathBuf,
        /// The limit.
        limit: u64,
    },
    /// A name with a line break.
    #[error(transparent)]
    Name(#[from] hash::NameError),
}

impl Error {
    /// What kind of thing went wrong.
    pub fn category(&self) -> Category {
        match self {
            Self::Local { .. } => Category::Local,
            _ => Category::Untrusted,
        }
    }

    fn local(path: &Path, source: io::Error) -> Self {
        Self::Local {
            path: path.to_owned(),
            source,
        }
    }
}

fn shown(path: &Path) -> String {
    printable(&path.to_string_lossy())
}
