//! Files that other users may change, and files with the setuid, setgid or sticky bit.

use std::fs::{self, Metadata};
use std::io;
use std::path::{Path, PathBuf};

/// A symbolic link is where another directory's owner puts it.
const LINK: &str = "a symbolic link";

/// Why another user may change a file or directory; `None` if no other user may. Other systems than Unix have no permissions to look at.
pub fn exposure(metadata: &Metadata) -> Option<&'static str> {
    if metadata.is_symlink() {
        return Some(LINK);
    }
    #[cfg(unix)]
    {
        const ALL_USERS: u32 = 0o002;
        const SPECIAL: u32 = 0o7000;
        let mode = std::os::unix::fs::MetadataExt::mode(metadata);
        if mode & ALL_USERS != 0 {
            return Some("writable by all users");
        }
        if metadata.is_file() && mode & SPECIAL != 0 {
            return Some("setuid, setgid or sticky");
        }
    }
    None
}

/// The first exposed file or directory at or below a path, with the reason.
///
/// # Errors
/// The system reported an error.
pub fn exposed(path: &Path) -> io::Result<Option<(PathBuf, &'static str)>> {
    let mut pending = vec![path.to_owned()];
    while let Some(path) = pending.pop() {
        let metadata = fs::symlink_metadata(&path)?;
        if let Some(exposure) = exposure(&metadata) {
            return Ok(Some((path, exposure)));
        }
        if metadata.is_dir() {
            let mut entries = fs::read_dir(&path)?
                .map(|entry| entry.map(|entry| entry.path()))
                .collect::<io::Result<Vec<_>>>()?;
            // In reverse order, because the last one is visited first.
            entries.sort_by(|a, b| b.cmp(a));
            pending.append(&mut entries);
        }
    }
    Ok(None)
}

/// Whether this user owns a file and no other user may write to it. Only then may a hard link share it. Access control lists are not checked.
pub(super) fn is_exclusively_owned(metadata: &Metadata) -> bool {
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt as _;
        const OTHERS: u32 = 0o022;
        let is_own = metadata.uid() == rustix::process::geteuid().as_raw();
        if !is_own || metadata.mode() & OTHERS != 0 {
            return false;
        }
    }
    metadata.is_file()
}

/// The number of names that a file has.
#[cfg(unix)]
pub(super) fn names(metadata: &Metadata) -> u64 {
    std::os::unix::fs::MetadataExt::nlink(metadata)
}

/// This system does not tell the number, so each file counts as having one name.
#[cfg(not(unix))]
pub(super) fn names(_: &Metadata) -> u64 {
    1
}

#[cfg(unix)]
#[cfg(test)]
mod tests {
    use std::os::unix::fs::{PermissionsExt as _, symlink};

    use super::*;

    #[test]
    fn each_exposure_is_found() {
        let scene = tempfile::tempdir().unwrap();
        let path = |name: &str| scene.path().join(name);
        let set = |name: &str, mode| {
            fs::set_permissions(path(name), fs::Permissions::from_mode(mode)).unwrap()
        };
        fs::create_dir_all(path("a/b")).unwrap();
        fs::write(path("a/b/file"), b"").unwrap();
        set("a/b/file", 0o755);
        let found = || exposed(&path("a")).unwrap();
        assert_eq!(found(), None);
        for mode in [0o4755, 0o2755, 0o1755] {
            set("a/b/file", mode);
            assert_eq!(
                found(),
                Some((path("a/b/file"), "setuid, setgid or sticky"))
            );
        }
        set("a/b/file", 0o666);
        assert_eq!(found(), Some((path("a/b/file"), "writable by all users")));
        set("a/b", 0o1777);
        assert_eq!(found(), Some((path("a/b"), "writable by all users")));
        set("a/b", 0o2775);
        set("a/b/file", 0o664);
        assert_eq!(found(), None);
        symlink("b/file", path("a/link")).unwrap();
        assert_eq!(found(), Some((path("a/link"), LINK)));
    }
}
