//! Installation methods: where clients install providers from, and the versions that they find there.

use std::collections::BTreeSet;

use crate::address::ProviderAddr;
use crate::error::Category;
use crate::event::Subject;
use crate::examine::StoredProvider;
use crate::outcome::{At, Failure, Problem};
use crate::place::Place;
use crate::source::{AvailableVersion, BadEntries, Source};
use crate::version::Version;

use super::Task;

/// A place that a provider can be installed from.
#[derive(Clone)]
pub enum Method {
    /// A store, as of `oci_mirror`.
    Store(StoredProvider),
    /// An origin or a mirror, as of `direct`, `network_mirror` and `filesystem_mirror`.
    Source(Source),
}

impl Method {
    /// The store or source.
    pub fn place(&self, provider: &ProviderAddr) -> Place {
        match self {
            Self::Store(stored) => stored.place.clone(),
            Self::Source(source) => source.place(provider),
        }
    }

    /// The side of a failure.
    pub(super) fn at(&self, provider: &ProviderAddr) -> At {
        match self {
            Self::Store(stored) => At::read(stored.place.clone()),
            Self::Source(source) => At::Source(source.place(provider)),
        }
    }

    async fn versions(&self, provider: &ProviderAddr) -> Result<Vec<Found<'_>>, Failure> {
        match self {
            Self::Store(stored) => {
                let versions = stored.versions().await?.versions.into_iter();
                Ok(versions
                    .map(|version| Found::Stored(stored, version))
                    .collect())
            }
            Self::Source(source) => {
                let versions = match source {
                    Source::FilesystemMirror(mirror) => mirror.installable_versions(provider),
                    other => {
                        let available = other
                            .available_versions(provider, BadEntries::Refused)
                            .await;
                        available.map(|available| available.versions)
                    }
                };
                let versions = versions.map_err(|error| {
                    Problem::from(error).of(Subject::provider(provider), self.at(provider))
                })?;
                Ok(versions
                    .into_iter()
                    .map(|version| Found::Released(source, version))
                    .collect())
            }
        }
    }
}

/// A version, with the first method that has it.
pub(super) enum Found<'a> {
    /// The store reads the version again when it is locked.
    Stored(&'a StoredProvider, Version),
    /// In the list of a source.
    Released(&'a Source, AvailableVersion),
}

impl Found<'_> {
    pub(super) fn version(&self) -> &Version {
        match self {
            Self::Stored(_, version) => version,
            Self::Released(_, available) => available.version.version(),
        }
    }

    /// The side of a failure.
    pub(super) fn at(&self, provider: &ProviderAddr) -> At {
        match self {
            Self::Stored(stored, _) => At::read(stored.place.clone()),
            Self::Released(source, _) => At::Source(source.place(provider)),
        }
    }

    /// Whether the lock file decides what of it is recorded, as of unpacked packages.
    pub(super) fn is_by_lock_file(&self) -> bool {
        matches!(self, Self::Released(Source::FilesystemMirror(_), _))
    }

    /// The store or source.
    pub(super) fn place(&self, provider: &ProviderAddr) -> Place {
        match self {
            Self::Stored(stored, _) => stored.place.clone(),
            Self::Released(source, _) => source.place(provider),
        }
    }
}

/// The versions of a provider in all its methods.
pub(super) struct Listing<'a> {
    /// In ascending order.
    found: Vec<Found<'a>>,
    /// The side of failures that concern no single version: the first method that knows the provider.
    at: At,
}

impl<'a> Listing<'a> {
    /// Lists the versions of all methods. A method that does not know the provider is skipped, as clients do
    /// ([clients: installation methods](crate::clients#installation-methods)).
    ///
    /// # Errors
    /// A method fails otherwise, or none knows the provider.
    pub(super) async fn of(task: &'a Task) -> Result<Self, Failure> {
        let mut found: Vec<Found<'a>> = Vec::new();
        let mut seen = BTreeSet::new();
        let (mut unknown, mut at) = (None, None);
        for method in &task.methods {
            let versions = match method.versions(&task.provider).await {
                Ok(versions) => versions,
                Err(failure) if failure.category() == Category::NotFound => {
                    unknown.get_or_insert(failure);
                    continue;
                }
                Err(failure) => return Err(failure),
            };
            at.get_or_insert_with(|| method.at(&task.provider));
            for one in versions {
                if seen.insert(one.version().clone()) {
                    found.push(one);
                }
            }
        }
        match (at, unknown) {
            (None, Some(failure)) => Err(failure),
            (at, _) => {
                found.sort_by(|a, b| a.version().cmp(b.version()));
                let at = at.unwrap_or(At::Here);
                Ok(Self { found, at })
            }
        }
    }

    /// The versions, ascending.
    pub(super) fn versions(&self) -> impl Iterator<Item = &Version> {
        self.found.iter().map(Found::version)
    }

    /// The entry of a version.
    pub(super) fn get(&self, version: &Version) -> Option<&Found<'a>> {
        self.found.iter().find(|found| found.version() == version)
    }

    pub(super) fn failure(&self, provider: &ProviderAddr, problem: Problem) -> Failure {
        problem.of(Subject::provider(provider), self.at.clone())
    }
}
