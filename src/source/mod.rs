//! Sources: what gives releases.
//!
//! | source | where |
//! | --- | --- |
//! | [`folder`] | the folder that a provider's release process leaves behind |
//! | [`origin`] | the origin: the provider registry that publishes it |
//! | [`network_mirror`] | a copy of packages behind a URL |
//! | [`filesystem_mirror`] | a copy of packages in a directory |
//!
//! What configurations want from them is read by [`tree`].
//!
//! All but the folder are a [`Source`]: they know many providers, list their versions, and give a version's proof, if they have one,
//! before any of its packages flows.

use std::path::PathBuf;
use std::str::FromStr;

use crate::address::ProviderAddr;
use crate::blob::BlobSource;
use crate::http::Shown;
use crate::platform::Platform;
use crate::release::{Expected, Release};
use crate::trust::Verified;
use crate::version::SpelledVersion;
use filesystem_mirror::FilesystemMirror;
use network_mirror::NetworkMirror;
use origin::Origin;

mod auth;
mod discovery;
mod download;
mod error;
mod fetch;
pub mod filesystem_mirror;
pub mod folder;
mod location;
mod meta;
pub mod network_mirror;
mod opened;
pub mod origin;
mod package;
mod remote;
mod renewal;
pub mod tree;

pub use auth::AuthTried;
pub use error::{Document, Error};
pub use fetch::{Access, Patience};
pub use opened::OpenAnswers;
pub use package::{PackageMeta, SourcePackage};
pub use remote::RemotePackage;

/// Where providers are mirrored from.
#[derive(Clone)]
pub enum Source {
    /// The provider registries of the providers' own hosts.
    Origin(Origin),
    /// A copy of packages behind a URL.
    NetworkMirror(NetworkMirror),
    /// A copy of packages in a directory.
    FilesystemMirror(FilesystemMirror),
}

impl Source {
    /// Whether its releases come with a checksum document.
    pub fn brings_proof(&self) -> bool {
        matches!(self, Self::Origin(_))
    }

    /// Lists the versions of a provider.
    ///
    /// # Errors
    /// The source does not have the provider, or cannot be read.
    pub async fn available_versions(
        &self,
        provider: &ProviderAddr,
    ) -> Result<AvailableVersions, Error> {
        match self {
            Self::Origin(origin) => origin.available_versions(provider).await,
            Self::NetworkMirror(mirror) => mirror.available_versions(provider).await,
            Self::FilesystemMirror(mirror) => mirror.available_versions(provider),
        }
    }

    /// Lists the platforms of a version, where the list of versions does not.
    ///
    /// # Errors
    /// The source does not have the version, or cannot be read.
    pub async fn platforms(
        &self,
        provider: &ProviderAddr,
        version: &SpelledVersion,
    ) -> Result<Vec<Platform>, Error> {
        match self {
            Self::Origin(origin) => origin.platforms(provider, version).await,
            Self::NetworkMirror(mirror) => mirror.platforms(provider, version).await,
            Self::FilesystemMirror(mirror) => mirror.platforms(provider, version),
        }
    }

    /// Reads one version: its proof, and what the source says about its packages for the requested platforms; `None` requests all. A
    /// package is requested only if its digest is unknown otherwise. A size that is 0 is not known yet.
    ///
    /// # Errors
    /// The source does not have the version, contradicts itself, or cannot be read.
    pub async fn release(
        &self,
        provider: &ProviderAddr,
        version: &SpelledVersion,
        platforms: Option<&[Platform]>,
    ) -> Result<ReleaseAnswer, Error> {
        match self {
            Self::Origin(origin) => origin.release(provider, version, platforms).await,
            Self::NetworkMirror(mirror) => mirror.release(provider, version, platforms).await,
            Self::FilesystemMirror(mirror) => mirror.release(provider, version, platforms).await,
        }
    }

    /// Completes what is known of the packages, now that they are verified and wanted. Packages of unknown size are requested: they are
    /// to be read soon.
    ///
    /// # Errors
    /// A package is not there, or the source does not give it.
    pub async fn packages(
        &self,
        release: Verified<Release<PackageMeta>>,
    ) -> Result<Verified<Release<SourcePackage>>, Error> {
        let metas = release.packages.iter();
        let metas = metas.map(|package| package.location.clone());
        let packages = package::complete(metas.collect()).await?;
        let found = packages.into_iter().map(|package| {
            let Expected { size, .. } = package.expected();
            (package, size)
        });
        Ok(release.located(found))
    }

    /// The place where it has a provider, for messages.
    pub fn name(&self, provider: &ProviderAddr) -> String {
        match self {
            Self::Origin(_) => provider.hostname().to_string(),
            Self::NetworkMirror(mirror) => mirror.name(),
            Self::FilesystemMirror(mirror) => mirror.name(),
        }
    }
}

/// A source other than the origin, as a person writes it (the last row of the design's address grammar).
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SourceAddr {
    /// `network-mirror:URL`.
    NetworkMirror(String),
    /// `filesystem-mirror:DIR`.
    FilesystemMirror(PathBuf),
}

impl FromStr for SourceAddr {
    type Err = SourceAddrError;

    fn from_str(text: &str) -> Result<Self, SourceAddrError> {
        match text.split_once(':') {
            Some(("network-mirror", url)) if !url.is_empty() => {
                Ok(Self::NetworkMirror(url.to_owned()))
            }
            Some(("filesystem-mirror", directory)) if !directory.is_empty() => {
                Ok(Self::FilesystemMirror(directory.into()))
            }
            _ => Err(SourceAddrError { text: text.into() }),
        }
    }
}

/// Text that names no source.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{text}` is not a source\n  expected network-mirror:URL or filesystem-mirror:DIR")]
pub struct SourceAddrError {
    /// What was given.
    pub text: Shown,
}

/// What a source has of a provider.
#[derive(Clone, Debug, Default)]
pub struct AvailableVersions {
    /// Its versions, ascending, each once.
    pub versions: Vec<AvailableVersion>,
    /// What the source wants its users to read, and what is odd about its list.
    pub warnings: Vec<String>,
}

/// A version that a source has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AvailableVersion {
    /// Which, with the spelling under which the source knows it.
    pub version: SpelledVersion,
    /// Its platforms, sorted, at least one; `None` if the source does not list them.
    pub platforms: Option<Vec<Platform>>,
}

/// What a source has of one version.
#[derive(Clone, Debug)]
pub struct ReleaseAnswer {
    /// Its proof and its packages; `None` if there are no packages.
    pub release: Option<Release<PackageMeta>>,
    /// Requested platforms without a package, and those that the source itself names in vain.
    pub absent: Vec<Platform>,
}

impl ReleaseAnswer {
    /// The packages that were found among the requested ones.
    fn of(mut requested: Vec<Platform>, release: Release<PackageMeta>) -> Self {
        let packages = &release.packages;
        requested.retain(|platform| !packages.iter().any(|one| one.platform == *platform));
        Self {
            release: (!packages.is_empty()).then_some(release),
            absent: requested,
        }
    }
}
