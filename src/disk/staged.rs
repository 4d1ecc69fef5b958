//! Atomic writes: a file is written under a hidden name beside its final path, synced and renamed.

use std::fs::{File, Metadata};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use tempfile::{NamedTempFile, TempDir};

use super::entries::{directory_of, sync_directory};
use super::exposed::{is_exclusively_owned, names};
use super::files::{non_blocking, unlinked};
use super::{Directory, Error, UNFINISHED};

/// An unfinished file under a hidden name. It is removed on drop, unless [`Staged::publish`] renamed it.
pub struct Staged {
    file: NamedTempFile,
    target: PathBuf,
}

impl Staged {
    /// Creates the hidden file for `target`, whose directory must exist.
    ///
    /// # Errors
    /// The system reported an error.
    pub fn new(target: &Path) -> Result<Self, Error> {
        Self::hidden_in(directory_of(target), target)
    }

    /// Creates the hidden file for `target` in another directory of the same file system. The directory of `target` need not exist yet.
    ///
    /// # Errors
    /// The system reported an error.
    pub fn hidden_in(directory: &Path, target: &Path) -> Result<Self, Error> {
        let mut builder = tempfile::Builder::new();
        let made = builder
            .prefix(UNFINISHED)
            .make_in(directory, |path| owner_writable().open(path));
        let file = made.map_err(|source| Error::at("create a file in", directory, source))?;
        let target = target.to_owned();
        Ok(Self { file, target })
    }

    /// Creates the hidden file for `target` as a hard link to `file`. `None` if the file system does not support hard links, if `file`
    /// is a symbolic link, or if another user owns it or may write to it: that user could then change `target`.
    pub fn link(file: &Path, target: &Path) -> Option<Self> {
        let is_own = |found: io::Result<Metadata>| found.ok().filter(is_exclusively_owned);
        is_own(std::fs::symlink_metadata(file))?;
        let link = |hidden: &Path| {
            std::fs::hard_link(file, hidden)?;
            non_blocking(File::options().read(true)).open(hidden)
        };
        let mut builder = tempfile::Builder::new();
        let linked = builder
            .prefix(UNFINISHED)
            .make_in(directory_of(target), link);
        let (file, target) = (linked.ok()?, target.to_owned());
        // Another process may have replaced `file` after the check.
        is_own(file.as_file().metadata())?;
        Some(Self { file, target })
    }

    /// The hidden path.
    pub fn path(&self) -> &Path {
        self.file.path()
    }

    /// Appends bytes.
    ///
    /// # Errors
    /// The system reported an error, such as a full disk.
    pub fn write(&mut self, bytes: &[u8]) -> Result<(), Error> {
        let written = self.file.as_file_mut().write_all(bytes);
        written.map_err(|source| Error::at("write", &self.target, source))
    }

    /// Opens the hidden file again, to read its content.
    ///
    /// # Errors
    /// The system reported an error.
    pub fn reopen(&self) -> Result<File, Error> {
        let reopened = self.file.reopen();
        reopened.map_err(|source| Error::at("read", &self.target, source))
    }

    /// Syncs the file and renames it to its target. It does not sync the directory: callers do that once for many files.
    ///
    /// # Errors
    /// The system reported an error.
    pub fn publish(self) -> Result<(), Error> {
        let failed = |action, source| Error::at(action, &self.target, source);
        let synced = self.file.as_file().sync_data();
        synced.map_err(|source| failed("sync", source))?;
        let shown = self.file.persist(&self.target);
        shown.map_err(|error| failed("create", error.error))?;
        Ok(())
    }

    /// Renames the file into an open directory without syncing it, for files that can be created again at any time.
    ///
    /// # Errors
    /// The system reported an error.
    pub fn show_in(self, directory: &Directory, name: &str) -> Result<(), Error> {
        let hidden = self.file.into_temp_path();
        // If it has moved, there is nothing to remove at the hidden path.
        let shown = directory.take(&hidden, name);
        let shown = shown.and_then(|()| Ok(hidden.keep()?));
        shown.map_err(|source| Error::at("create", &self.target, source))?;
        Ok(())
    }

    /// Writes the whole file, and syncs its directory too.
    fn replace(mut self, bytes: &[u8]) -> Result<(), Error> {
        let directory = directory_of(&self.target).to_owned();
        self.write(bytes)?;
        self.publish()?;
        sync_directory(&directory)
    }
}

/// Options that create a file to which only its owner may write, regardless of the umask.
fn owner_writable() -> std::fs::OpenOptions {
    let mut options = File::options();
    options.write(true).read(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o644);
    options
}

/// Opens a file to write parts of it in place, or creates it.
///
/// # Errors
/// The system reported an error, or the file has another name or may be changed by another user: writing it could change a file elsewhere.
pub fn open_own(path: &Path) -> io::Result<File> {
    let mut options = owner_writable();
    match options.open(path) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
        created => return created,
    }
    let is_own = |found: Metadata| is_exclusively_owned(&found) && names(&found) == 1;
    let other = || io::Error::other("it is a link, or another user may change it");
    // Checked again after opening, because the file may have been replaced in between.
    let found = std::fs::symlink_metadata(path)?;
    is_own(found).then_some(()).ok_or_else(other)?;
    let file = unlinked(options.create_new(false)).open(path)?;
    is_own(file.metadata()?).then_some(file).ok_or_else(other)
}

/// Creates a hidden directory in `beside`. It is removed on drop, unless [`show_directory`] renamed it.
///
/// # Errors
/// The system reported an error.
pub fn hidden_directory(beside: &Path) -> Result<TempDir, Error> {
    let mut builder = tempfile::Builder::new();
    builder.prefix(UNFINISHED);
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o755));
    let made = builder.tempdir_in(beside);
    made.map_err(|source| Error::at("create a directory in", beside, source))
}

/// Renames a hidden directory into an open one. The name must not exist there, unless it is an empty directory.
///
/// # Errors
/// The system reported an error.
pub fn show_directory(hidden: TempDir, directory: &Directory, name: &str) -> Result<(), Error> {
    let taken = directory.take(hidden.path(), name);
    taken.map_err(|source| Error::at("create", &directory.path().join(name), source))?;
    // The directory has moved, so there is nothing to remove at the hidden path.
    let _gone = hidden.keep();
    Ok(())
}

/// Replaces or creates a small file atomically, and syncs it and its directory.
///
/// # Errors
/// The system reported an error. The file is unchanged.
pub fn replace(target: &Path, bytes: &[u8]) -> Result<(), Error> {
    Staged::new(target)?.replace(bytes)
}

/// Like [`replace`], for a file that only its owner may read at any time.
///
/// # Errors
/// The system reported an error. The file is unchanged.
pub fn replace_private(target: &Path, bytes: &[u8]) -> Result<(), Error> {
    let directory = directory_of(target);
    // The default mode of `tempfile` is 0600.
    let mut builder = tempfile::Builder::new();
    let made = builder.prefix(UNFINISHED).tempfile_in(directory);
    let file = made.map_err(|source| Error::at("create a file in", directory, source))?;
    let target = target.to_owned();
    Staged { file, target }.replace(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_do_not_show_the_hidden_name() {
        let directory = tempfile::tempdir().unwrap();
        let target = directory.path().join("none/file");
        let Err(Error::Io { path, source, .. }) = Staged::new(&target) else {
            panic!("created");
        };
        assert_eq!(path, target.parent().unwrap());
        assert!(!source.to_string().contains(UNFINISHED), "{source}");
    }

    #[test]
    fn errors_name_the_directory_in_which_nothing_can_be_created() {
        let scene = tempfile::tempdir().unwrap();
        let missing = scene.path().join("missing");
        let error = hidden_directory(&missing).unwrap_err();
        let expected = format!("cannot create a directory in {}", missing.display());
        assert_eq!(error.to_string(), expected);
    }

    #[test]
    fn a_file_appears_whole_or_not_at_all() {
        let directory = tempfile::tempdir().unwrap();
        let target = directory.path().join("file");
        let mut staged = Staged::new(&target).unwrap();
        staged.write(b"half").unwrap();
        assert!(!target.exists());
        drop(staged);
        assert!(super::super::names(directory.path()).unwrap().is_empty());
        replace(&target, b"one").unwrap();
        replace(&target, b"two").unwrap();
        assert_eq!(std::fs::read(&target).unwrap(), b"two");
    }

    #[test]
    fn a_link_shares_the_bytes_and_is_never_a_link_to_a_link() {
        let directory = tempfile::tempdir().unwrap();
        let [file, target] = ["file", "target"].map(|name| directory.path().join(name));
        std::fs::write(&file, b"bytes").unwrap();
        let staged = Staged::link(&file, &target).unwrap();
        assert!(!target.exists());
        staged.publish().unwrap();
        assert_eq!(std::fs::read(&target).unwrap(), b"bytes");
        assert!(Staged::link(&directory.path().join("none"), &target).is_none());
        #[cfg(unix)]
        {
            let symbolic = directory.path().join("symbolic");
            std::os::unix::fs::symlink(&file, &symbolic).unwrap();
            assert!(Staged::link(&symbolic, &target).is_none());
            for (mode, may) in [(0o644, true), (0o664, false), (0o646, false), (0o600, true)] {
                std::fs::set_permissions(&file, std::os::unix::fs::PermissionsExt::from_mode(mode))
                    .unwrap();
                assert_eq!(Staged::link(&file, &target).is_some(), may, "{mode:o}");
            }
        }
    }
}
