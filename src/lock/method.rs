//! Installation methods: where clients install providers from, and the versions that they find there.

use crate::address::ProviderAddr;
use crate::error::Category;
use crate::event::Subject;
use crate::examine::StoredProvider;
use crate::outcome::{At, Failure, Problem};
use crate::source::{AvailableVersion, Source};
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
    /// The name in messages.
    pub fn name(&self, provider: &ProviderAddr) -> String {
        match self {
            Self::Store(stored) => stored.place.clone(),
            Self::Source(source) => source.name(provider),
        }
    }

    /// The side of a failure.
    pub(super) fn at(&self, provider: &ProviderAddr) -> At {
        match self {
            Self::Store(stored) => At::From(stored.place.clone()),
            Self::Source(source) => At::Source(source.name(provider)),
        }
    }

    async fn versions(&self, provider: &ProviderAddr) -> Result<Vec<Available>, Failure> {
        match self {
            Self::Store(stored) => {
                let versions = stored.versions().await?.versions.into_iter();
                Ok(versions
                    .map(|version| (version, Spelled::AsPrinted))
                    .collect())
            }
            Self::Source(source) => {
                let available = source.available_versions(provider).await;
                let available = available.map_err(|error| {
                    Problem::from(error).of(Subject::provider(provider), self.at(provider))
                })?;
                let versions = available.versions.into_iter();
                Ok(versions
                    .map(|one| (one.version.version().clone(), Spelled::At(one)))
                    .collect())
            }
        }
    }
}

type Available = (Version, Spelled);

/// How a method spells a version.
#[derive(Clone, Debug)]
pub(super) enum Spelled {
    /// In canonical form, as the tags of a store.
    AsPrinted,
    /// As the list of a source.
    At(AvailableVersion),
}

/// The versions of a provider in all its methods.
pub(super) struct Listing<'a> {
    /// The versions in ascending order, each with the first method that has it.
    found: Vec<Found<'a>>,
    /// The side of failures that concern no single version.
    at: At,
}

/// A version in a method.
#[derive(Clone)]
pub(super) struct Found<'a> {
    pub(super) version: Version,
    pub(super) spelled: Spelled,
    pub(super) method: &'a Method,
}

impl<'a> Listing<'a> {
    /// Lists the versions of all methods. A method that does not know the provider is skipped, as clients do
    /// ([clients: installation methods](crate::clients#installation-methods)).
    ///
    /// # Errors
    /// A method fails otherwise, or none knows the provider.
    pub(super) async fn of(task: &'a Task) -> Result<Self, Failure> {
        let mut found: Vec<Found<'a>> = Vec::new();
        let mut unknown = None;
        let mut at = At::Here;
        for method in &task.methods {
            let versions = match method.versions(&task.provider).await {
                Ok(versions) => versions,
                Err(failure) if failure.category() == Category::NotFound => {
                    unknown.get_or_insert(failure);
                    continue;
                }
                Err(failure) => return Err(failure),
            };
            if at == At::Here {
                at = method.at(&task.provider);
            }
            for (version, spelled) in versions {
                if !found.iter().any(|one| one.version == version) {
                    found.push(Found {
                        version,
                        spelled,
                        method,
                    });
                }
            }
        }
        match (at, unknown) {
            (At::Here, Some(failure)) => Err(failure),
            (at, _) => {
                found.sort_by(|a, b| a.version.cmp(&b.version));
                Ok(Self { found, at })
            }
        }
    }

    /// The versions, ascending.
    pub(super) fn versions(&self) -> impl Iterator<Item = &Version> {
        self.found.iter().map(|found| &found.version)
    }

    /// The entry of a version.
    pub(super) fn get(&self, version: &Version) -> Option<&Found<'a>> {
        self.found.iter().find(|found| found.version == *version)
    }

    /// The failure of a selection.
    pub(super) fn failure(&self, provider: &ProviderAddr, problem: Problem) -> Failure {
        problem.of(Subject::provider(provider), self.at.clone())
    }
}
