//! Hints about files that people write, and that other programs change.

use std::io::ErrorKind;
use std::path::Path;

use tfoci::blob;
use tfoci::disk;
use tfoci::error::printable_path;
use tfoci::lock::target;
use tfoci::lockfile::{self, LockFileErrorKind};
use tfoci::outcome::Problem;
use tfoci::source::folder;
use tfoci::store;
use tfoci::syntax::outline::SyntaxError;
use tfoci::text;

use crate::cli::error::CommandError;

pub(super) const ENCODING: &str =
    "save it as UTF-8; in PowerShell, `Set-Content -Encoding utf8` does";

/// A hint for a path with `~`, which a shell replaces only at the beginning of a word.
pub(super) fn home(error: &CommandError) -> Option<String> {
    let path = missing(error)?;
    let has_tilde = path.iter().any(|part| part == "~");
    has_tilde.then(|| "tfoci does not expand `~`: write the whole path".to_owned())
}

/// The path of a file or directory that does not exist.
fn missing(error: &CommandError) -> Option<&Path> {
    if let CommandError::NoSuchTrustFile { path, .. } = error {
        return Some(path);
    }
    match &*error.failure()?.problem {
        Problem::Disk(disk::Error::Io { path, source, .. })
            if source.kind() == ErrorKind::NotFound =>
        {
            Some(path)
        }
        Problem::Store(store::Error::NoParent { path } | store::Error::NoStore { path, .. }) => {
            Some(path)
        }
        _ => None,
    }
}

/// A hint for a file or directory that the system keeps from this user.
pub(super) fn permission(error: &CommandError) -> Option<String> {
    let (disk::Error::Io { path, source, .. } | disk::Error::List { path, source }) = disk(error)?
    else {
        return None;
    };
    // A file that does not exist yet is created in its directory.
    let exists = |path: &&Path| path.as_os_str().is_empty() || path.symlink_metadata().is_ok();
    let place = match path.ancestors().find(exists)? {
        path if path.as_os_str().is_empty() => "this directory".to_owned(),
        path => printable_path(path),
    };
    (source.kind() == ErrorKind::PermissionDenied)
        .then(|| format!("run tfoci as a user who may use {place}, or change its permissions"))
}

/// A hint for a file system without room.
pub(super) fn no_room(error: &CommandError) -> Option<String> {
    let (place, source, more) = match disk(error)? {
        disk::Error::Io { path, source, .. } => (path, source, ""),
        disk::Error::TempFile {
            directory, source, ..
        } => (directory, source, "; TMPDIR names another directory"),
        _ => return None,
    };
    let is_full = matches!(
        source.kind(),
        ErrorKind::StorageFull | ErrorKind::QuotaExceeded
    );
    is_full.then(|| {
        let place = printable_path(place);
        format!("free space on the file system of {place}, and run it again{more}")
    })
}

/// The error about a local file or directory, if it is one.
fn disk(error: &CommandError) -> Option<&disk::Error> {
    if let CommandError::LockTarget(target::Error::Disk(error)) = error {
        return Some(error);
    }
    match &*error.failure()?.problem {
        Problem::Disk(error)
        | Problem::Blob(blob::Error::Disk(error))
        | Problem::Folder(folder::Error::Disk(error)) => Some(error),
        Problem::Store(error) | Problem::Unread(error) => match error {
            store::Error::Disk(error)
            | store::Error::Blob {
                source: blob::Error::Disk(error),
                ..
            } => Some(error),
            _ => None,
        },
        _ => None,
    }
}

/// A hint for a lock file that was damaged on its way.
pub(super) fn lock(error: &lockfile::Error) -> Option<String> {
    match &error.kind {
        LockFileErrorKind::Hcl(SyntaxError::Text(text::Error::Utf16)) => Some(ENCODING.to_owned()),
        LockFileErrorKind::Conflict => Some(
            "resolve it; or run `git checkout --ours .terraform.lock.hcl`, and then `tfoci lock`"
                .to_owned(),
        ),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::*;

    /// A test cannot fill a disk everywhere.
    #[test]
    fn a_full_disk_has_a_hint() {
        let hint = |error: disk::Error| {
            no_room(&CommandError::Journey(Problem::from(error).into())).unwrap_or_default()
        };
        let path = PathBuf::from("/media/disk/x");
        let source = || ErrorKind::StorageFull.into();
        let (action, directory) = (disk::Action::Write, PathBuf::from("/tmp"));
        assert_eq!(
            hint(disk::Error::Io {
                action,
                path,
                source: source()
            }),
            "free space on the file system of /media/disk/x, and run it again"
        );
        assert_eq!(
            hint(disk::Error::TempFile {
                action,
                directory,
                source: source()
            }),
            "free space on the file system of /tmp, and run it again; TMPDIR names another directory"
        );
    }
}
