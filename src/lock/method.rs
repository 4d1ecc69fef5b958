//! Installation methods: where clients install providers from, and the versions that they find there.

use std::collections::BTreeMap;

use crate::address::ProviderAddr;
use crate::error::Category;
use crate::event::Subject;
use crate::examine::StoredProvider;
use crate::outcome::{Failure, Problem};
use crate::place::Place;
use crate::source::{AvailableVersion, Source};
use crate::version::Version;

use super::Task;

/// A place that a provider can be installed from.
#[derive(Clone)]
pub enum Method {
    /// A store, as of `oci_mirror`.
    Store(Box<StoredProvider>),
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

    /// Whether its releases have checksum documents whose signatures alone decide.
    pub(super) fn is_origin(&self) -> bool {
        matches!(self, Self::Source(source) if source.has_checksum_documents())
    }

    /// Whether it has packages without signatures.
    pub(super) fn is_mirror(&self) -> bool {
        matches!(self, Self::Source(source) if !source.has_checksum_documents())
    }

    async fn versions(&self, provider: &ProviderAddr) -> Result<Vec<AvailableVersion>, Failure> {
        let versions = match self {
            Self::Store(stored) => {
                let versions = stored.versions().await?.versions.into_iter();
                let versions = versions.map(|version| AvailableVersion {
                    version: version.into(),
                    platforms: None,
                });
                return Ok(versions.collect());
            }
            Self::Source(Source::FilesystemMirror(mirror)) => mirror.installable_versions(provider),
            Self::Source(source) => {
                let found = source.available_versions(provider);
                found.await.map(|found| found.versions)
            }
        };
        versions.map_err(|error| {
            Problem::from(error).of(Subject::provider(provider), Some(self.place(provider)))
        })
    }
}

/// A version of a provider, with the first method that has it.
pub(super) struct Found<'a> {
    pub(super) provider: &'a ProviderAddr,
    pub(super) method: &'a Method,
    pub(super) available: AvailableVersion,
}

impl Found<'_> {
    pub(super) fn version(&self) -> &Version {
        self.available.version.version()
    }

    pub(super) fn failure(&self, problem: Problem) -> Failure {
        let subject = Subject::version(self.provider, self.version());
        problem.of(subject, Some(self.method.place(self.provider)))
    }

    /// Whether the lock file decides what of it is recorded, as of unpacked packages.
    pub(super) fn is_by_lock_file(&self) -> bool {
        matches!(self.method, Method::Source(Source::FilesystemMirror(_)))
    }
}

/// The versions of a provider in all its methods.
pub(super) struct Listing<'a> {
    pub(super) provider: &'a ProviderAddr,
    /// The versions, ascending.
    pub(super) found: Vec<Found<'a>>,
    /// The place of failures that concern no single version: the first method that knows the provider.
    pub(super) at: Option<Place>,
}

impl<'a> Listing<'a> {
    /// Lists the versions of all methods. A method that does not know the provider is skipped, as clients do
    /// ([clients: installation methods](crate::clients#installation-methods)).
    ///
    /// # Errors
    /// A method fails otherwise, or none knows the provider.
    pub(super) async fn of(task: &'a Task<'a>) -> Result<Self, Failure> {
        let provider = task.provider;
        let (mut found, mut unknown, mut at) = (BTreeMap::new(), None, None);
        for method in &task.methods {
            let versions = match method.versions(provider).await {
                Ok(versions) => versions,
                Err(failure) if failure.category() == Category::NotFound => {
                    unknown.get_or_insert(failure);
                    continue;
                }
                Err(failure) => return Err(failure),
            };
            at.get_or_insert_with(|| method.place(provider));
            for available in versions {
                let version = available.version.version().clone();
                found.entry(version).or_insert(Found {
                    provider,
                    method,
                    available,
                });
            }
        }
        match (at, unknown) {
            (None, Some(failure)) => Err(failure),
            (at, _) => Ok(Self {
                provider,
                found: found.into_values().collect(),
                at,
            }),
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
}
