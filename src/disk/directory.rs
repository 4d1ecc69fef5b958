//! Open directories, which do not follow symbolic links below them.
//!
//! In a shared directory another user can replace a subdirectory by a link just before a file is written there. Therefore each directory is
//! opened relative to its open parent, and files are created relative to open directories. On systems without such calls, each component of
//! the path is checked before use.

use std::fs::{File, Metadata};
use std::io;
use std::path::{Path, PathBuf};

#[cfg(unix)]
use rustix::fs::{AtFlags, CWD, Mode, OFlags};

use super::error::link;
use super::{Error, if_exists};

/// A directory. On Unix, it stays the same one even if its path is replaced.
#[derive(Debug)]
pub struct Directory {
    path: PathBuf,
    #[cfg(unix)]
    handle: File,
}

impl Directory {
    /// Opens a directory that the user named, which may be a symbolic link.
    ///
    /// # Errors
    /// The system reported an error.
    pub fn open(path: &Path) -> io::Result<Self> {
        #[cfg(unix)]
        let handle = opened(rustix::fs::openat(CWD, path, DIRECTORY, Mode::empty()))?;
        #[cfg(not(unix))]
        std::fs::read_dir(path)?;
        Ok(Self {
            path: path.to_owned(),
            #[cfg(unix)]
            handle,
        })
    }

    /// Opens a directory that tfoci created. It must not be a symbolic link.
    ///
    /// # Errors
    /// The system reported an error, or the path is a symbolic link.
    pub fn open_itself(path: &Path) -> io::Result<Self> {
        let directory = Self::open(super::entries::directory_of(path))?;
        let name = path.file_name().and_then(|name| name.to_str());
        let mut itself = directory.enter(name.ok_or(io::ErrorKind::InvalidInput)?)?;
        itself.path = path.to_owned();
        Ok(itself)
    }

    /// Opens the directory that these names lead to, from one that the user named; `None` if it does not exist.
    ///
    /// # Errors
    /// The system reported an error, or a name is that of a symbolic link or of something other than a directory.
    pub fn below(root: &Path, names: &[String]) -> Result<Option<Self>, Error> {
        let opened = Self::open(root).map_err(|error| Error::at_use(root, error));
        let Some(mut at) = if_exists(opened)? else {
            return Ok(None);
        };
        for name in names {
            let path = at.path().join(name);
            let entered = at.enter(name);
            match if_exists(entered.map_err(|error| Error::at_use(&path, error)))? {
                Some(next) => at = next,
                None => return Ok(None),
            }
        }
        Ok(Some(at))
    }

    /// As [`Directory::below`], but creates missing directories below the root.
    ///
    /// # Errors
    /// As [`Directory::below`].
    pub fn create_below(root: &Path, names: &[String]) -> Result<Self, Error> {
        let opened = Self::open(root);
        let mut at = opened.map_err(|error| Error::at_use(root, error))?;
        for name in names {
            let entered = at.enter_or_create(name);
            let path = || at.path().join(name);
            (at, _) = entered.map_err(|error| Error::at("create", &path(), error))?;
        }
        Ok(at)
    }

    /// The path by which the directory was opened.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Opens a subdirectory.
    ///
    /// # Errors
    /// The system reported an error, or the entry is a symbolic link or not a directory.
    pub fn enter(&self, name: &str) -> io::Result<Self> {
        let path = self.path.join(name);
        let refused = |error| match self.is_link(name) {
            true => link(),
            false => error,
        };
        #[cfg(unix)]
        let handle = {
            let flags = DIRECTORY.union(ITSELF);
            let open = rustix::fs::openat(&self.handle, name, flags, Mode::empty());
            opened(open).map_err(refused)?
        };
        #[cfg(not(unix))]
        match self.is_link(name) {
            true => return Err(link()),
            false => drop(std::fs::read_dir(&path).map_err(refused)?),
        }
        Ok(Self {
            path,
            #[cfg(unix)]
            handle,
        })
    }

    /// Like [`Directory::enter`], but creates a missing directory. The second value tells whether it did.
    ///
    /// # Errors
    /// As [`Directory::enter`].
    pub fn enter_or_create(&self, name: &str) -> io::Result<(Self, bool)> {
        #[cfg(unix)]
        let made = rustix::fs::mkdirat(&self.handle, name, Mode::from_raw_mode(0o777))
            .map_err(io::Error::from);
        #[cfg(not(unix))]
        let made = std::fs::create_dir(self.path.join(name));
        let is_new = match made {
            Ok(()) => true,
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => false,
            Err(error) => return Err(error),
        };
        Ok((self.enter(name)?, is_new))
    }

    /// The metadata of an entry; `None` if there is no such entry.
    ///
    /// # Errors
    /// The system reported an error, or the entry is a symbolic link.
    pub fn metadata(&self, name: &str) -> Result<Option<Metadata>, Error> {
        if self.is_link(name) {
            return Err(self.failed(name, link()));
        }
        // Opened relative to this directory, because its path may refer to another directory by now.
        #[cfg(unix)]
        let found = self.open_entry(name).and_then(|file| file.metadata());
        #[cfg(not(unix))]
        let found = std::fs::symlink_metadata(self.path.join(name));
        match found {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            found => found.map(Some).map_err(|error| self.failed(name, error)),
        }
    }

    /// Opens a regular file in this directory for reading.
    ///
    /// # Errors
    /// The system reported an error, or the entry is a symbolic link or not a regular file.
    pub fn read(&self, name: &str) -> Result<File, Error> {
        let failed = |error| self.failed(name, error);
        if self.is_link(name) {
            return Err(failed(link()));
        }
        let file = self.open_entry(name).map_err(failed)?;
        let found = file.metadata().map_err(failed)?;
        match found.is_file() {
            true => Ok(file),
            false => Err(Error::special(&self.path.join(name))),
        }
    }

    /// An error of the system about an entry.
    fn failed(&self, name: &str, error: io::Error) -> Error {
        Error::at_use(&self.path.join(name), error)
    }

    /// Opens an entry for reading, without following a link or waiting for the writer of a pipe.
    fn open_entry(&self, name: &str) -> io::Result<File> {
        #[cfg(unix)]
        return opened(rustix::fs::openat(&self.handle, name, ENTRY, Mode::empty()));
        #[cfg(not(unix))]
        File::open(self.path.join(name))
    }

    /// Creates a file with mode 0600 in this directory. Fails if the name exists.
    ///
    /// # Errors
    /// The system reported an error.
    pub fn create(&self, name: &str) -> io::Result<File> {
        #[cfg(unix)]
        return opened(rustix::fs::openat(&self.handle, name, NEW, OWNER));
        #[cfg(not(unix))]
        File::create_new(self.path.join(name))
    }

    /// Moves a file or directory into this directory, on the same file system. Replaces an existing file or empty directory.
    ///
    /// # Errors
    /// The system reported an error.
    pub fn take(&self, from: &Path, name: &str) -> io::Result<()> {
        #[cfg(unix)]
        return rustix::fs::renameat(CWD, from, &self.handle, name).map_err(io::Error::from);
        #[cfg(not(unix))]
        std::fs::rename(from, self.path.join(name))
    }

    /// The sorted names of the entries. Names that are not UTF-8 are omitted, because neither tfoci nor clients create them.
    ///
    /// # Errors
    /// The system reported an error.
    pub fn names(&self) -> Result<Vec<String>, Error> {
        let names = || -> io::Result<Vec<String>> {
            let mut names = Vec::new();
            #[cfg(unix)]
            for entry in rustix::fs::Dir::read_from(&self.handle)? {
                let name = entry?.file_name().to_owned().into_string();
                names.extend(name.ok().filter(|name| name != "." && name != ".."));
            }
            #[cfg(not(unix))]
            for entry in std::fs::read_dir(&self.path)? {
                names.extend(entry?.file_name().into_string());
            }
            names.sort_unstable();
            Ok(names)
        };
        names().map_err(|error| Error::at_use(&self.path, error))
    }

    /// Removes a file, or a symbolic link itself. It need not exist.
    ///
    /// # Errors
    /// The system reported an error, or the entry is a directory.
    pub fn remove(&self, name: &str) -> Result<(), Error> {
        #[cfg(unix)]
        let removed = rustix::fs::unlinkat(&self.handle, name, AtFlags::empty());
        #[cfg(not(unix))]
        let removed = std::fs::remove_file(self.path.join(name));
        match removed.map_err(io::Error::from) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                Err(Error::at("remove", &self.path.join(name), error))
            }
            _ => Ok(()),
        }
    }

    /// Sets the permission bits, regardless of the umask. Other systems than Unix have none.
    ///
    /// # Errors
    /// The system reported an error.
    #[cfg_attr(not(unix), allow(unused_variables))]
    pub fn set_mode(&self, mode: u32) -> io::Result<()> {
        #[cfg(unix)]
        self.handle
            .set_permissions(std::os::unix::fs::PermissionsExt::from_mode(mode))?;
        Ok(())
    }

    /// Whether an entry is a symbolic link.
    pub fn is_link(&self, name: &str) -> bool {
        #[cfg(unix)]
        let found = rustix::fs::statat(&self.handle, name, AtFlags::SYMLINK_NOFOLLOW)
            .map(|found| rustix::fs::FileType::from_raw_mode(found.st_mode));
        #[cfg(not(unix))]
        let found = std::fs::symlink_metadata(self.path.join(name)).map(|found| found.file_type());
        found.is_ok_and(|found| found.is_symlink())
    }
}

#[cfg(unix)]
const DIRECTORY: OFlags = OFlags::DIRECTORY.union(OFlags::CLOEXEC);
#[cfg(unix)]
const ITSELF: OFlags = OFlags::NOFOLLOW.union(OFlags::CLOEXEC);
#[cfg(unix)]
const ENTRY: OFlags = ITSELF.union(OFlags::NONBLOCK).union(OFlags::NOCTTY);
#[cfg(unix)]
const NEW: OFlags = ITSELF
    .union(OFlags::WRONLY)
    .union(OFlags::CREATE)
    .union(OFlags::EXCL);
#[cfg(unix)]
const OWNER: Mode = Mode::RUSR.union(Mode::WUSR);

#[cfg(unix)]
fn opened(result: rustix::io::Result<std::os::fd::OwnedFd>) -> io::Result<File> {
    result.map(File::from).map_err(io::Error::from)
}

#[cfg(unix)]
#[cfg(test)]
mod tests {
    use std::io::{Read as _, Write as _};
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn links_are_followed_at_the_top_and_nowhere_else() {
        let scene = tempfile::tempdir().unwrap();
        let path = |name: &str| scene.path().join(name);
        std::fs::create_dir_all(path("real/inner")).unwrap();
        std::fs::write(path("real/file"), b"x").unwrap();
        symlink("real", path("top")).unwrap();
        symlink("inner", path("real/link")).unwrap();
        symlink("file", path("real/file-link")).unwrap();
        symlink("/nowhere", path("real/dangling")).unwrap();
        let top = Directory::open(&path("top")).unwrap();
        assert!(top.enter("inner").is_ok());
        for name in ["link", "file-link", "dangling"] {
            let said = link().to_string();
            assert_eq!(top.enter(name).unwrap_err().to_string(), said);
            assert_eq!(top.enter_or_create(name).unwrap_err().to_string(), said);
            assert!(top.metadata(name).is_err());
            assert!(top.read(name).is_err());
            assert!(top.create(name).is_err());
        }
        let error = top.read("inner").unwrap_err();
        assert!(matches!(error, Error::Special { .. }));
        let mut text = String::new();
        top.read("file").unwrap().read_to_string(&mut text).unwrap();
        assert_eq!(text, "x");
        assert_eq!(
            top.names().unwrap(),
            ["dangling", "file", "file-link", "inner", "link"]
        );
        top.remove("link").unwrap();
        top.remove("none").unwrap();
        assert!(top.remove("inner").is_err());
        assert!(path("real/inner").is_dir());
        assert!(top.metadata("none").unwrap().is_none());
        assert!(top.metadata("inner").unwrap().unwrap().is_dir());
        assert!(top.read("inner").is_err());
    }

    #[test]
    fn an_open_directory_stays_the_same_when_its_name_becomes_a_link() {
        let scene = tempfile::tempdir().unwrap();
        let path = |name: &str| scene.path().join(name);
        std::fs::create_dir(path("elsewhere")).unwrap();
        let top = Directory::open(scene.path()).unwrap();
        let (made, is_new) = top.enter_or_create("made").unwrap();
        assert!(is_new && !top.enter_or_create("made").unwrap().1);
        std::fs::rename(path("made"), path("moved")).unwrap();
        symlink("elsewhere", path("made")).unwrap();
        made.create("file").unwrap().write_all(b"x").unwrap();
        std::fs::write(path("other"), b"y").unwrap();
        made.take(&path("other"), "taken").unwrap();
        assert_eq!(std::fs::read_dir(path("elsewhere")).unwrap().count(), 0);
        assert_eq!(std::fs::read_dir(path("moved")).unwrap().count(), 2);
    }

    #[test]
    fn pipes_are_not_waited_for() {
        let scene = tempfile::tempdir().unwrap();
        let made = std::process::Command::new("mkfifo")
            .arg(scene.path().join("pipe"))
            .status();
        assert!(made.unwrap().success());
        let top = Directory::open(scene.path()).unwrap();
        assert!(!top.metadata("pipe").unwrap().unwrap().is_file());
        assert!(top.read("pipe").is_err());
    }
}
