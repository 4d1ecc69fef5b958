//! Hints about files that people write, and that other programs change.

use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use tfoci::blob;
use tfoci::disk;
use tfoci::disk::unpack;
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

/// A hint for a path with `~`, which a shell replaces only at the beginning of a word, or with a quoted pattern.
pub(super) fn unexpanded(error: &CommandError) -> Option<String> {
    let path = missing(error)?;
    let text = match path.iter().any(|part| part == "~") {
        true => "tfoci does not expand `~`: write the whole path",
        false if path.to_string_lossy().contains('*') => {
            "tfoci does not expand patterns such as `*`: name each path"
        }
        false => return None,
    };
    Some(text.to_owned())
}

/// The path of a file or directory that does not exist.
pub(super) fn missing(error: &CommandError) -> Option<&Path> {
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
    let place = existing(path)?;
    match source.kind() {
        ErrorKind::PermissionDenied => Some(format!(
            "run tfoci as a user who may use {place}, or change its permissions"
        )),
        ErrorKind::ReadOnlyFilesystem => Some(format!(
            "the file system of {place} is mounted read-only: mount it for writing, or name another place"
        )),
        _ => None,
    }
}

/// A path, or the directory in which it would be created if it does not exist.
fn existing(path: &Path) -> Option<String> {
    let exists = |path: &&Path| path.as_os_str().is_empty() || path.symlink_metadata().is_ok();
    Some(match path.ancestors().find(exists)? {
        path if path.as_os_str().is_empty() => "this directory".to_owned(),
        path => printable_path(path),
    })
}

/// A hint for a file system without room.
pub(super) fn no_room(error: &CommandError) -> Option<String> {
    // The file may have a temporary name, or be one of many.
    let directory = |path: &Path| existing(path.parent().unwrap_or(path));
    let (place, source, more) = match (unpacked(error), disk(error)) {
        (
            None,
            Some(disk::Error::Io {
                action: disk::Action::WriteResult,
                source,
                ..
            }),
        ) => ("the file that stdout goes to".to_owned(), source, ""),
        (Some((path, source)), _) | (None, Some(disk::Error::Io { path, source, .. })) => {
            (directory(path)?, source, "")
        }
        (
            None,
            Some(disk::Error::TempFile {
                directory, source, ..
            }),
        ) => (
            printable_path(directory),
            source,
            "; TMPDIR names another directory",
        ),
        _ => return None,
    };
    let is_full = matches!(
        source.kind(),
        ErrorKind::StorageFull | ErrorKind::QuotaExceeded
    );
    is_full.then(|| format!("free space on the file system of {place}, and run it again{more}"))
}

/// The file of a package that could not be unpacked, and what the system reported.
fn unpacked(error: &CommandError) -> Option<(&PathBuf, &io::Error)> {
    match &*error.failure()?.problem {
        Problem::Unpack(unpack::Error::Local { path, source, .. }) => Some((path, source)),
        _ => None,
    }
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
pub(super) fn lock(path: &Path, error: &lockfile::Error) -> Option<String> {
    match &error.kind {
        LockFileErrorKind::Hcl(SyntaxError::Text(text::Error::Utf16)) => Some(ENCODING.to_owned()),
        LockFileErrorKind::Conflict => Some(format!(
            "resolve it; or run `git checkout --ours {}`, and then `tfoci lock`",
            printable_path(path)
        )),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use tfoci::outcome::Failure;

    use super::*;

    /// A test cannot mount a file system everywhere.
    #[test]
    fn a_read_only_file_system_has_a_hint() {
        let disk = tempfile::tempdir().expect("a directory");
        let error = Problem::from(disk::Error::Io {
            action: disk::Action::CreateFile,
            path: disk.path().join("file"),
            source: ErrorKind::ReadOnlyFilesystem.into(),
        });
        let place = printable_path(disk.path());
        assert_eq!(
            permission(&Failure::from(error).into()),
            Some(format!(
                "the file system of {place} is mounted read-only: mount it for writing, or name another place"
            ))
        );
    }

    /// A test cannot fill a disk everywhere.
    #[test]
    fn a_full_disk_has_a_hint() {
        let hint = |problem: Problem| no_room(&Failure::from(problem).into()).unwrap_or_default();
        let disk = tempfile::tempdir().expect("a directory");
        let path = disk.path().join(".tfoci-tmp-x/x");
        let existing = printable_path(disk.path());
        let source = || ErrorKind::StorageFull.into();
        let (action, directory) = (disk::Action::Write, PathBuf::from("/tmp"));
        assert_eq!(
            hint(Problem::from(disk::Error::Io {
                action,
                path: path.clone(),
                source: source()
            })),
            format!("free space on the file system of {existing}, and run it again")
        );
        // A package that `install` unpacks.
        assert_eq!(
            hint(Problem::Unpack(unpack::Error::Local {
                action,
                path,
                source: source()
            })),
            format!("free space on the file system of {existing}, and run it again")
        );
        assert_eq!(
            hint(Problem::from(disk::Error::TempFile {
                action,
                directory,
                source: source()
            })),
            "free space on the file system of /tmp, and run it again; TMPDIR names another directory"
        );
    }
}
