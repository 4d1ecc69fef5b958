//! Unpacking a provider zip into a directory.
//!
//! [`Archive::open`] has already refused every name and kind of entry that could leave the directory or meet another; here each file is
//! created anew, so that nothing is followed or overwritten even if something else writes to the directory meanwhile.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Seek, Write};
use std::path::{Path, PathBuf};

use crate::archive::{self, Archive, Content, Entry, Hashes, Kind};
use crate::error::Category;

/// What a file gets when the zip has no Unix modes.
const PLAIN: u32 = 0o644;
/// What a directory gets, and the executable of a zip without Unix modes.
const EXECUTABLE: u32 = 0o755;
/// Cleared: setuid, setgid, sticky, and writing by others.
const ALLOWED: u32 = 0o755;
/// Set: a package that its owner can neither read nor remove helps nobody.
const OWNER: u32 = 0o600;

/// Unpacks a package and gives both `h1`, hashed while the files are written.
///
/// `into` is an empty directory that nobody looks at yet: on an error, files are left in it that did not verify. `type_name` tells which
/// file is the executable (contract 4.5).
///
/// # Errors
/// The package holds no executable or its contents are not what it announces; the directory is not empty, or cannot be
/// written to.
pub fn unpack<R: Read + Seek>(
    archive: &mut Archive<R>,
    type_name: &str,
    into: &Path,
) -> Result<Hashes, Error> {
    let executable = archive.executable(type_name)?.name().to_owned();
    let mut existing = fs::read_dir(into).map_err(|e| Error::local("read", into, e))?;
    if existing.next().is_some() {
        return Err(Error::NotEmpty {
            path: into.to_owned(),
        });
    }
    archive.read(|entry, content| match entry.kind() {
        Kind::Directory => directories(into, entry.name()).map(drop),
        Kind::File => {
            let mode = mode(entry, entry.name() == executable);
            write(into, entry.name(), mode, content)
        }
    })
}

fn mode(entry: &Entry, is_executable: bool) -> u32 {
    match entry.mode() {
        Some(mode) => mode & ALLOWED | OWNER,
        None if is_executable => EXECUTABLE,
        None => PLAIN,
    }
}

fn write<R: Read>(
    into: &Path,
    name: &str,
    mode: u32,
    content: &mut Content<'_, R>,
) -> Result<(), Error> {
    let (parent, file_name) = name.rsplit_once('/').unwrap_or(("", name));
    let path = directories(into, parent)?.join(file_name);
    let failed = |error| Error::local("write", &path, error);
    let mut file = OpenOptions::new()
        .write(true)
        .create_new(true)
        .open(&path)
        .map_err(failed)?;
    while let Some(chunk) = content.chunk()? {
        file.write_all(chunk).map_err(failed)?;
    }
    set_mode(&file, mode).map_err(failed)
}

/// Creates the directories of a path with forward slashes, and gives the last one.
fn directories(into: &Path, path: &str) -> Result<PathBuf, Error> {
    let mut directory = into.to_owned();
    for element in path.split('/').filter(|element| !element.is_empty()) {
        directory.push(element);
        create_directory(&directory).map_err(|e| Error::local("create", &directory, e))?;
    }
    Ok(directory)
}

fn create_directory(path: &Path) -> io::Result<()> {
    match fs::create_dir(path) {
        Ok(()) => set_directory_mode(path),
        // One that an earlier entry made; a link is none.
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
            if fs::symlink_metadata(path)?.is_dir() {
                Ok(())
            } else {
                Err(error)
            }
        }
        Err(error) => Err(error),
    }
}

// Modes are set, not asked for: the umask of whoever runs this is no part of the package.
#[cfg(unix)]
fn set_mode(file: &File, mode: u32) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt;
    file.set_permissions(fs::Permissions::from_mode(mode))
}

#[cfg(unix)]
fn set_directory_mode(path: &Path) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt;
    fs::set_permissions(path, fs::Permissions::from_mode(EXECUTABLE))
}

#[cfg(not(unix))]
fn set_mode(_: &File, _: u32) -> io::Result<()> {
    Ok(())
}

#[cfg(not(unix))]
fn set_directory_mode(_: &Path) -> io::Result<()> {
    Ok(())
}

/// A package that could not be unpacked.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The package itself.
    #[error(transparent)]
    Archive(#[from] archive::Error),
    /// Something is in the directory already.
    #[error("the directory `{}` is not empty", path.display())]
    NotEmpty {
        /// The directory.
        path: PathBuf,
    },
    /// The file system.
    #[error("cannot {action} `{}`", crate::error::printable(&path.to_string_lossy()))]
    Local {
        /// What was tried: a verb.
        action: &'static str,
        /// The file or directory.
        path: PathBuf,
        /// Why it failed.
        source: io::Error,
    },
}

impl Error {
    /// What kind of thing went wrong.
    pub fn category(&self) -> Category {
        match self {
            Self::Archive(error) => error.category(),
            Self::NotEmpty { .. } => Category::Conflict,
            Self::Local { .. } => Category::Local,
        }
    }

    fn local(action: &'static str, path: &Path, source: io::Error) -> Self {
        Self::Local {
            action,
            path: path.to_owned(),
            source,
        }
    }
}
