//! The JSON document of `lock` and of `install` into a working directory.

use std::borrow::Cow;

use serde::Serialize;

use tfoci::address::ProviderAddr;
use tfoci::authentication::Authentication;
use tfoci::event::Subject;
use tfoci::hash::PackageHash;
use tfoci::install::InstalledPackage;
use tfoci::lock;
use tfoci::version::Version;

use super::file::FileStatus;
use crate::cli::error::CommandError;
use crate::cli::json::Error;

/// The result of `lock`.
#[derive(Serialize)]
pub(super) struct Locking<'a> {
    pub(super) schema: u32,
    pub(super) providers: Vec<Locked<'a>>,
    pub(super) files: Vec<LockedFile<'a>>,
}

/// A provider version that lock files record, or the reason why they do not.
#[derive(Serialize)]
pub(super) struct Locked<'a> {
    provider: &'a ProviderAddr,
    #[serde(skip_serializing_if = "Option::is_none")]
    version: Option<&'a Version>,
    #[serde(skip_serializing_if = "Option::is_none")]
    from: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    authentication: Option<&'a Authentication>,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    packages: &'a [InstalledPackage],
    hashes: Vec<&'a PackageHash>,
    /// The hashes in the file that no package of the release has.
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    strangers: &'a [PackageHash],
    /// The `h1` in the file that may be of a package that the store or source lacks.
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    uncompared: &'a [PackageHash],
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<Error>,
}

impl<'a> Locked<'a> {
    pub(super) fn of(subject: &'a Subject, locked: &'a lock::Locked) -> Self {
        Self {
            provider: &subject.provider,
            version: subject.version.as_ref(),
            from: Some(locked.place.name()),
            authentication: Some(&locked.authentication),
            packages: &locked.installed,
            hashes: locked.hashes.iter().collect(),
            strangers: &locked.strangers,
            uncompared: locked.uncompared.as_ref().map_or(&[], |one| &one.hashes),
            error: None,
        }
    }

    pub(super) fn failed(subject: &'a Subject, error: &CommandError) -> Self {
        Self {
            provider: &subject.provider,
            version: subject.version.as_ref(),
            from: None,
            authentication: None,
            packages: &[],
            hashes: Vec::new(),
            strangers: &[],
            uncompared: &[],
            error: Some(error.into()),
        }
    }
}

/// What became of a lock file.
#[derive(Serialize)]
pub(super) struct LockedFile<'a> {
    pub(super) path: Cow<'a, str>,
    pub(super) status: FileStatus,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) error: Option<Error>,
}
