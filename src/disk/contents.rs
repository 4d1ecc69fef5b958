//! The `h1` of a directory, as clients compute it for unpacked packages, and copies of such directories.

use std::fs::{self, File};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use super::Blocks;
use super::unpack::copy_mode;
use crate::archive::Limits;
use crate::digest::Hasher;
use crate::error::{Category, printable_path};
use crate::hash::{self, Contents, PackageHash};

/// The `h1` of the files below a directory ([clients: package hashes](crate::clients#package-hashes)).
///
/// A symbolic link to the directory itself is followed. Clients also follow links to files below it. tfoci refuses every one: it could lead
/// out of the directory. Modes, times and empty directories have no influence.
///
/// # Errors
/// The directory contains a link, device, pipe or socket; a name with a line break; or more entries or bytes than `limits`. Or a file or
/// directory cannot be read.
pub fn directory_h1(directory: &Path, limits: &Limits) -> Result<PackageHash, Error> {
    walk(directory, None, limits)
}

/// Copies the files below a directory into an empty one, and returns the `h1` of the copy.
///
/// # Errors
/// As [`directory_h1`], or the copy cannot be written.
pub fn copy_directory(
    directory: &Path,
    into: &Path,
    limits: &Limits,
) -> Result<PackageHash, Error> {
    walk(directory, Some(into), limits)
}

fn walk(directory: &Path, into: Option<&Path>, limits: &Limits) -> Result<PackageHash, Error> {
    let mut walk = Walk {
        directory,
        into,
        entries: limits.entries,
        bytes: limits.unpacked,
        limits,
        pending: vec![(directory.to_owned(), Vec::new())],
        contents: Contents::new(),
    };
    while let Some((path, prefix)) = walk.pending.pop() {
        walk.directory(&path, &prefix)?;
    }
    Ok(walk.contents.h1()?)
}

struct Walk<'a> {
    /// The directory whose files are read.
    directory: &'a Path,
    /// The directory that receives copies of them, if there is one.
    into: Option<&'a Path>,
    /// The remaining number of entries.
    entries: u64,
    /// The remaining number of bytes.
    bytes: u64,
    limits: &'a Limits,
    /// Directories that are not read yet, each with the prefix for the names of its files.
    pending: Vec<(PathBuf, Vec<u8>)>,
    contents: Contents,
}

impl Walk<'_> {
    fn directory(&mut self, directory: &Path, prefix: &[u8]) -> Result<(), Error> {
        let failed = |source| Error::local(directory, source);
        for entry in fs::read_dir(directory).map_err(failed)? {
            let entry = entry.map_err(failed)?;
            let path = entry.path();
            let many = || Error::large(&path, self.limits.entries, "entries");
            self.entries = self.entries.checked_sub(1).ok_or_else(many)?;
            let mut name = prefix.to_vec();
            name.extend(entry.file_name().as_encoded_bytes());
            if entry.file_type().map_err(failed)?.is_dir() {
                if let Some(copied) = self.copied(&path) {
                    super::create_directory(&copied)?;
                }
                name.push(b'/');
                self.pending.push((path, name));
            } else {
                let sha256 = self.file(&path)?;
                self.contents.add(&name, sha256);
            }
        }
        Ok(())
    }

    /// The path of the copy of a file or directory.
    fn copied(&self, path: &Path) -> Option<PathBuf> {
        let within = path.strip_prefix(self.directory).ok()?;
        Some(self.into?.join(within))
    }

    fn file(&mut self, path: &Path) -> Result<[u8; 32], Error> {
        let copied = self.copied(path);
        let file = super::open_unlinked(path)?;
        let mut copy = match &copied {
            Some(copied) => Some(create(copied, &file)?),
            None => None,
        };
        let (mut blocks, mut hasher) = (Blocks::of(file, path, 0)?, Hasher::new());
        while let Some(block) = blocks.next_block()? {
            let large = || Error::large(path, self.limits.unpacked, "bytes");
            let left = self.bytes.checked_sub(block.len() as u64);
            self.bytes = left.ok_or_else(large)?;
            hasher.update(&block);
            if let (Some(copy), Some(copied)) = (&mut copy, &copied) {
                let written = copy.write_all(&block);
                written.map_err(|source| super::Error::at("write", copied, source))?;
            }
        }
        Ok(hasher.finish().sha256())
    }
}

/// Creates the copy of a file.
fn create(copied: &Path, original: &File) -> Result<File, Error> {
    let created = File::create_new(copied).and_then(|file| {
        copy_mode(original, &file)?;
        Ok(file)
    });
    Ok(created.map_err(|source| super::Error::at("create", copied, source))?)
}

/// An error that prevents the computation of a directory's `h1`.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs, reason = "the message of a variant names its fields")]
#[non_exhaustive]
pub enum Error {
    /// A file or directory cannot be read.
    #[error(transparent)]
    Disk(#[from] super::Error),
    /// More entries or bytes than the limit.
    #[error(
        "the directory of `{}` is too large\n  expected at most {limit} {what}\n  received more",
        printable_path(path)
    )]
    Large {
        /// The first entry or file beyond the limit.
        path: PathBuf,
        limit: u64,
        what: &'static str,
    },
    /// A name with a line break.
    #[error(transparent)]
    Name(#[from] hash::NameError),
}

impl Error {
    /// The category that decides the exit code.
    pub fn category(&self) -> Category {
        match self {
            Self::Disk(error) if !matches!(error, super::Error::Special { .. }) => error.category(),
            // A device, pipe or socket has no place in a package.
            _ => Category::Untrusted,
        }
    }

    fn large(path: &Path, limit: u64, what: &'static str) -> Self {
        let path = path.to_owned();
        Self::Large { path, limit, what }
    }

    fn local(path: &Path, source: io::Error) -> Self {
        super::Error::at("read", path, source).into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::disk;

    fn directory(files: &[(&str, &str)]) -> tempfile::TempDir {
        let directory = tempfile::tempdir().unwrap();
        for (name, content) in files {
            let path = directory.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, content).unwrap();
        }
        directory
    }

    fn demo() -> tempfile::TempDir {
        directory(&[
            ("terraform-provider-demo_v1.0.0", "hello\n"),
            ("LICENSE", "demo license\n"),
            ("docs/x.md", "x\n"),
        ])
    }

    fn h1(path: &Path) -> Result<String, Error> {
        directory_h1(path, &Limits::default()).map(|hash| hash.to_string())
    }

    const DEMO: &str = "h1:fiPMXADwgsEsEA6knh+GTDhklBhZ4OjtQ6uyqCOCshU=";

    #[test]
    fn h1_of_the_vectors_of_clients() {
        assert_eq!(h1(demo().path()).unwrap(), DEMO);
        assert_eq!(
            h1(directory(&[]).path()).unwrap(),
            "h1:47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU="
        );
    }

    #[cfg(unix)]
    #[test]
    fn only_a_link_to_the_directory_itself_is_followed() {
        use std::os::unix::fs::symlink;
        let demo = demo();
        let outer = directory(&[("x", "x\n")]);
        symlink(demo.path(), outer.path().join("base")).unwrap();
        let base = outer.path().join("base");
        assert_eq!(h1(&base).unwrap(), DEMO);

        fs::remove_file(base.join("docs/x.md")).unwrap();
        for target in ["x", "base"] {
            symlink(outer.path().join(target), base.join("docs/x.md")).unwrap();
            let error = h1(&base).unwrap_err();
            assert!(matches!(error, Error::Disk(disk::Error::Link { .. })));
            fs::remove_file(base.join("docs/x.md")).unwrap();
        }
    }

    #[cfg(unix)]
    #[test]
    fn sockets_and_line_breaks_have_no_h1() {
        let demo = demo();
        let _socket = std::os::unix::net::UnixListener::bind(demo.path().join("s")).unwrap();
        let error = h1(demo.path()).unwrap_err();
        assert_eq!(error.category(), Category::Untrusted);
        assert!(matches!(error, Error::Disk(disk::Error::Special { .. })));
        let broken = directory(&[("a\nb", "")]);
        assert!(matches!(h1(broken.path()), Err(Error::Name(_))));
    }

    #[test]
    fn the_limits_hold() {
        let demo = demo();
        let limits = Limits {
            entries: 4,
            unpacked: 21,
            ratio: 1,
        };
        let h1 = |limits| directory_h1(demo.path(), &limits);
        assert!(h1(limits).is_ok());
        let entries = h1(Limits {
            entries: 3,
            ..limits
        });
        assert!(matches!(entries, Err(Error::Large { limit: 3, .. })));
        let bytes = h1(Limits {
            unpacked: 20,
            ..limits
        });
        assert!(matches!(bytes, Err(Error::Large { limit: 20, .. })));
    }
}
