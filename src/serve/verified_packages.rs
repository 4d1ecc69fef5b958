//! Remembers which packages were verified, and detects files that changed since.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use super::served::ServedPackage;
use crate::blob::{BlobLocation, BlobSource as _, ReadError, verify};
use crate::digest::Digest;
use crate::disk::{self, FileState};
use crate::store;

/// The most packages that are remembered, with a few hundred bytes each. If there are more, all are forgotten and verified again.
const MOST_REMEMBERED: usize = 10_000;

/// The packages of which all bytes were verified, by digest and file. Those of an OCI registry have no file.
#[derive(Default)]
pub(super) struct VerifiedPackages(Mutex<HashMap<PackageKey, Option<FileState>>>);

type PackageKey = (Digest, Option<PathBuf>);

impl VerifiedPackages {
    /// Whether a package was verified while its file was in this state.
    pub(super) fn has(&self, package: &ServedPackage, state: Option<&FileState>) -> bool {
        let verified = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let known = verified.get(&key(package));
        known.is_some_and(|known| known.as_ref() == state)
    }

    pub(super) fn add(&self, package: &ServedPackage, state: Option<FileState>) {
        let mut verified = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if verified.len() >= MOST_REMEMBERED {
            verified.clear();
        }
        verified.insert(key(package), state);
    }
}

fn key(package: &ServedPackage) -> PackageKey {
    let path = file(package).map(Path::to_owned);
    (package.expected.digest, path)
}

/// The file of a package; `None` in an OCI registry.
pub(super) fn file(package: &ServedPackage) -> Option<&Path> {
    match package.blob.info().location? {
        BlobLocation::InFile(path) => Some(path),
        BlobLocation::InRegistry(_) => None,
    }
}

/// Fails if a file that was sent without hashing has changed since. Another program may have written to it meanwhile.
pub(super) async fn check_unchanged(
    package: &ServedPackage,
    before: Option<&FileState>,
) -> Result<(), ReadError<store::Error>> {
    let (Some(path), Some(before)) = (file(package), before) else {
        return Ok(());
    };
    let now = FileState::at(path);
    if now.as_ref() == Some(before) {
        return Ok(());
    }
    if !now.is_some_and(|now| now.may_have_content_of(before)) {
        let path = path.to_owned();
        return Err(disk::Error::Changed { path }.into());
    }
    // Perhaps only a hard link was added, so the content decides.
    verify(&package.blob).await
}
