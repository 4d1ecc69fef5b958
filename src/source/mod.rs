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

use std::future::Future;
use std::path::PathBuf;
use std::str::FromStr;

use crate::address::ProviderAddr;
use crate::blob::BlobSource;
use crate::http::Shown;
use crate::platform::Platform;
use crate::release::Release;
use crate::trust::Verified;
use crate::version::SpelledVersion;

mod auth;
mod discovery;
mod error;
mod fetch;
pub mod filesystem_mirror;
pub mod folder;
mod location;
pub mod network_mirror;
mod opened;
pub mod origin;
mod package;
mod remote;
mod renewal;
pub mod tree;
mod wire;

pub use auth::AuthTried;
pub use error::{Document, Error};
pub use fetch::{Access, Patience};
pub use opened::OpenAnswers;
pub use package::PackageMeta;
pub use remote::RemotePackage;

/// What gives the releases of many providers.
pub trait Source: Clone + Send + Sync + 'static {
    /// What is known of a package before its release is verified.
    type PackageMeta: Send;
    /// Where the bytes of a package lie.
    type Package: BlobSource;

    /// Whether its releases come with a checksum document.
    const BRINGS_PROOF: bool;

    /// Lists the versions of a provider.
    ///
    /// # Errors
    /// The source does not have the provider, or does not tell.
    fn available_versions(
        &self,
        provider: &ProviderAddr,
    ) -> impl Future<Output = Result<AvailableVersions, Error>> + Send;

    /// Tells for which platforms it has a version, where its list of versions does not.
    ///
    /// # Errors
    /// The source does not have the version, or does not tell.
    fn platforms(
        &self,
        provider: &ProviderAddr,
        version: &SpelledVersion,
    ) -> impl Future<Output = Result<Vec<Platform>, Error>> + Send;

    /// Gives one version with its proof, and its packages for the platforms that were asked for. `None` asks for all. A size that
    /// is 0 is not known yet.
    ///
    /// # Errors
    /// The source does not have the version, contradicts itself, or does not tell.
    fn release(
        &self,
        provider: &ProviderAddr,
        version: &SpelledVersion,
        platforms: Option<&[Platform]>,
    ) -> impl Future<Output = Result<ReleaseAnswer<Self::PackageMeta>, Error>> + Send;

    /// Follows what is known of the packages to where they lie, now that they are worth it: some have to be fetched to learn their
    /// sizes.
    ///
    /// # Errors
    /// A package is not there, or the source does not give it.
    fn packages(
        &self,
        release: Verified<Release<Self::PackageMeta>>,
    ) -> impl Future<Output = Result<Verified<Release<Self::Package>>, Error>> + Send;

    /// How a person calls the place where it finds a provider.
    fn name(&self, provider: &ProviderAddr) -> String;
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

/// What a source gives of a version.
#[derive(Clone, Debug)]
pub struct ReleaseAnswer<L> {
    /// Its proof, and the packages that there are; `None` if there are none.
    pub release: Option<Release<L>>,
    /// For which platforms there is no package, of those that were asked for, or that the source itself names.
    pub absent: Vec<Platform>,
}

impl<L> ReleaseAnswer<L> {
    /// What was found of what was looked for.
    fn of(mut sought: Vec<Platform>, release: Release<L>) -> Self {
        let packages = &release.packages;
        sought.retain(|platform| !packages.iter().any(|one| one.platform == *platform));
        Self {
            release: (!packages.is_empty()).then_some(release),
            absent: sought,
        }
    }
}
