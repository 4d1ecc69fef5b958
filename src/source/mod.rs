//! Sources: where releases come from.
//!
//! | source | where |
//! | --- | --- |
//! | [`folder`] | the folder that a provider's release process creates |
//! | [`origin`] | the origin: the provider registry that publishes it |
//! | [`network_mirror`] | a copy of packages behind a URL |
//! | [`filesystem_mirror`] | a copy of packages in a directory |
//!
//! All but the folder are variants of [`Source`]: they have many providers, list the versions of each, and return the checksum document and
//! signature of a version, if they have them, before any package is downloaded.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::str::FromStr;

use crate::address::ProviderAddr;
use crate::event::Warning;
use crate::hash::PackageHash;
use crate::http::Shown;
use crate::place::Place;
use crate::platform::{Platform, Platforms};
use crate::release::Release;
use crate::version::SpelledVersion;
use filesystem_mirror::FilesystemMirror;
use network_mirror::NetworkMirror;
use origin::Origin;

mod auth;
mod error;
mod fetch;
pub mod filesystem_mirror;
pub mod folder;
mod hint;
mod location;
pub mod network_mirror;
pub mod origin;
mod package;
mod source_package;

pub use auth::AuthTried;
pub use error::{Document, Error};
pub use fetch::{Access, RequestLimits};
pub use package::complete;
pub use source_package::SourcePackage;

/// A place that providers are mirrored from.
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
    /// Whether its releases have a checksum document.
    pub fn has_checksum_documents(&self) -> bool {
        matches!(self, Self::Origin(_))
    }

    /// Lists the versions of a provider. Bad entries are skipped: one release must not stop the mirroring of all others.
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

    /// Lists the platforms of a version whose entry in the list of versions has none.
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
            // Its lists have the platforms of every version.
            Self::FilesystemMirror(_) => Ok(Vec::new()),
        }
    }

    /// Requests one version: its checksum document and signature, and the metadata of its packages for the requested
    /// platforms. A package is downloaded only if its digest is not known otherwise. A size of 0 means that the size is not
    /// known yet.
    ///
    /// `is_pinned` says whether a key is pinned for the provider. A network mirror is then asked for the author's documents, if it has them.
    /// Without a pinned key they prove nothing: whoever runs the mirror chooses the key. Packages of a mirror without documents are not downloaded
    /// then.
    ///
    /// # Errors
    /// The source does not have the version, contradicts itself, or cannot be read.
    pub async fn release(
        &self,
        provider: &ProviderAddr,
        version: &SpelledVersion,
        platforms: &Platforms,
        is_pinned: bool,
    ) -> Result<ReleaseAnswer, Error> {
        match self {
            Self::Origin(origin) => origin.release(provider, version, platforms).await,
            Self::NetworkMirror(mirror) => {
                mirror
                    .release(provider, version, platforms, is_pinned)
                    .await
            }
            Self::FilesystemMirror(mirror) => mirror.release(provider, version, platforms).await,
        }
    }

    /// As [`Source::release`], for a version that needs a package for each of the platforms, if they are [`Platforms::Only`]. Also returns the `h1` of
    /// packages of any platform, as the source reports them.
    ///
    /// # Errors
    /// As [`Source::release`], or the source has no package for one of the platforms.
    pub async fn whole_release(
        &self,
        provider: &ProviderAddr,
        available: &AvailableVersion,
        platforms: &Platforms,
        is_pinned: bool,
    ) -> Result<(Release<SourcePackage>, BTreeSet<PackageHash>), Error> {
        let answer = self.release(provider, &available.version, platforms, is_pinned);
        let ReleaseAnswer {
            release,
            absent,
            reported,
        } = answer.await?;
        match release {
            Some(release) if absent.is_empty() || !matches!(platforms, Platforms::Only(_)) => {
                Ok((release, reported))
            }
            _ => Err(Error::NoPlatform { platforms: absent }),
        }
    }

    /// The source of a provider, as messages name it.
    pub fn place(&self, provider: &ProviderAddr) -> Place {
        match self {
            Self::Origin(_) => Place::Origin(provider.hostname().to_string().into()),
            Self::NetworkMirror(mirror) => Place::Mirror(mirror.name().into()),
            Self::FilesystemMirror(mirror) => Place::Mirror(mirror.name().into()),
        }
    }
}

/// A source other than the origin, as the user writes it.
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

/// Text that is not a source.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{text}` is not a source\n  expected network-mirror:URL or filesystem-mirror:DIR")]
pub struct SourceAddrError {
    /// The text that was parsed, with secrets removed.
    pub text: Shown,
}

/// The versions of a provider in a source.
#[derive(Clone, Debug, Default)]
pub struct AvailableVersions {
    /// The versions, ascending, without duplicates.
    pub versions: Vec<AvailableVersion>,
    /// Warnings that the source sends to its users, and irregularities of its list.
    pub warnings: Vec<Warning>,
}

/// A version that a source lists. Its release has not been read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AvailableVersion {
    /// The version, with the source's spelling of it.
    pub version: SpelledVersion,
    /// The platforms, sorted, at least one; `None` if the source does not list them.
    pub platforms: Option<Vec<Platform>>,
}

/// What a source knows of one version for the requested platforms.
#[derive(Clone, Debug)]
pub struct ReleaseAnswer {
    /// The documents and packages; `None` if there are no packages.
    pub release: Option<Release<SourcePackage>>,
    /// Platforms without a package that were requested or that the source lists.
    pub absent: BTreeSet<Platform>,
    /// The `h1` of packages of any platform, as the source reports them. No signature covers them.
    pub reported: BTreeSet<PackageHash>,
}

impl ReleaseAnswer {
    /// Builds the answer. Requested platforms without a package in the release are absent.
    fn of(requested: Option<&[Platform]>, release: Release<SourcePackage>) -> Self {
        let requested = requested.unwrap_or_default().iter();
        let absent = requested.filter(|platform| !release.has(platform));
        Self {
            absent: absent.cloned().collect(),
            release: (!release.packages.is_empty()).then_some(release),
            reported: BTreeSet::new(),
        }
    }
}
