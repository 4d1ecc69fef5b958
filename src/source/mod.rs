//! Sources: what gives releases.
//!
//! | source | where |
//! | --- | --- |
//! | [`folder`] | the folder that a provider's release process leaves behind |
//! | [`registry`] | the origin: the provider registry that publishes it |
//!
//! All but the folder are a [`Source`]: they know many providers, list their versions, and give a version's proof before any of its
//! packages flows.

use std::future::Future;

use crate::address::ProviderAddr;
use crate::blob::BlobSource;
use crate::platform::Platform;
use crate::release::Release;
use crate::version::SpelledVersion;

mod discovery;
mod error;
mod fetch;
pub mod folder;
pub mod registry;
mod wire;
mod zip;

pub use error::{Document, Error};
pub use zip::Zip;

/// What gives the releases of many providers.
pub trait Source: Clone + Send + Sync + 'static {
    /// Where the bytes of a package lie.
    type Package: BlobSource;

    /// Lists the versions of a provider.
    ///
    /// # Errors
    /// The source does not have the provider, or does not tell.
    fn offers(&self, provider: &ProviderAddr)
    -> impl Future<Output = Result<Offers, Error>> + Send;

    /// Gives one version with its proof, and its packages for the platforms that were asked for; those that it does not have
    /// are left out. `None` asks for all.
    ///
    /// # Errors
    /// The source does not have the version, contradicts itself, or does not tell.
    fn release(
        &self,
        provider: &ProviderAddr,
        version: &SpelledVersion,
        platforms: Option<&[Platform]>,
    ) -> impl Future<Output = Result<Release<Self::Package>, Error>> + Send;

    /// How a person calls the place where it finds a provider.
    fn name(&self, provider: &ProviderAddr) -> String;
}

/// What a source has of a provider.
#[derive(Clone, Debug, Default)]
pub struct Offers {
    /// Its versions, ascending, each once.
    pub offers: Vec<Offer>,
    /// What the source wants its users to read.
    pub warnings: Vec<String>,
}

/// A version that a source has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Offer {
    /// Which, with the spelling under which the source knows it.
    pub version: SpelledVersion,
    /// Its platforms, sorted; `None` if the source does not list them.
    pub platforms: Option<Vec<Platform>>,
}
