//! Hints about files that people write, and that other programs change.

use std::io::ErrorKind;
use std::path::Path;

use tfoci::disk;
use tfoci::lockfile::{self, LockFileErrorKind};
use tfoci::outcome::Problem;
use tfoci::store;
use tfoci::syntax::outline::SyntaxError;
use tfoci::text;

use crate::cli::error::CommandError;

/// A file that is not UTF-8.
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
