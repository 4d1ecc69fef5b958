//! The results of journeys: outcomes and failures.
//!
//! An outcome is plain data. The command line prints it as text or as JSON, whose schema these types define.

mod failure;

use serde::Serialize;

use crate::address::ProviderAddr;
use crate::authentication::Authentication;
use crate::digest::Digest;
use crate::event::Transfer;
use crate::hash::PackageHash;
use crate::oci::Index;
use crate::platform::Platform;
use crate::store::StoredPackage;
use crate::version::Version;
pub use failure::{At, Failure, Problem};

/// The result of publishing one provider version.
#[derive(Clone, Debug, Serialize)]
pub struct Published {
    /// The provider.
    pub provider: ProviderAddr,
    /// The version.
    pub version: Version,
    /// Where it is, with its digest.
    pub reference: String,
    /// The digest of its index.
    pub digest: Digest,
    /// The result for the version as a whole.
    pub status: Change,
    /// How the release was authenticated; `None` if the version was present and not read again.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub authentication: Option<Authentication>,
    /// Its packages, by platform.
    pub packages: Vec<PublishedPackage>,
    /// Blobs that were copied along and that no signature covers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub beside: Option<Beside>,
    /// The bytes of packages that were written, and of the blobs copied with them.
    #[serde(skip)]
    pub bytes: u64,
}

/// Blobs that other tools put beside the packages of a version, such as attestations. `copy` copies them along; no signature covers
/// them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Beside {
    /// How many.
    pub blobs: usize,
    /// How many bytes all of them have.
    pub size: u64,
    /// How many of these bytes were moved, or would be by a run that writes.
    #[serde(skip)]
    pub moved: u64,
}

impl Beside {
    /// Adds one blob, and what became of it.
    pub(crate) fn add(&mut self, size: u64, transfer: Transfer) {
        self.blobs += 1;
        self.size += size;
        if matches!(transfer, Transfer::Copied | Transfer::Planned) {
            self.moved += size;
        }
    }

    /// This, unless there is nothing.
    pub(crate) fn if_any(self) -> Option<Self> {
        (self.blobs > 0).then_some(self)
    }
}

/// What became of one package that was published.
#[derive(Clone, Debug, Serialize)]
pub struct PublishedPackage {
    /// The platform.
    pub platform: Platform,
    /// What became of it.
    pub status: Transfer,
    /// Its size in bytes, if that is known without asking for more.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub size: Option<u64>,
    /// Its hash, if its platform manifest was read or written: an index alone proves no hash.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub zh: Option<PackageHash>,
}

impl PublishedPackage {
    /// The packages that an index lists. Sizes and hashes are known of those whose manifests were read.
    pub(crate) fn of_index(index: &Index, read: &[StoredPackage]) -> Vec<Self> {
        let entries = index.platforms().unwrap_or_default();
        let packages = entries.into_iter().map(|(platform, _)| {
            let read = read.iter().find(|read| read.platform == platform);
            let expected = read.map(|read| read.layer.expected);
            Self {
                platform,
                status: Transfer::Present,
                size: expected.map(|expected| expected.size),
                zh: expected.and_then(|expected| PackageHash::of_zip(&expected.digest)),
            }
        });
        packages.collect()
    }
}

/// What became of a version in a store.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Change {
    /// It was not there.
    Copied,
    /// It was there; something was added or replaced.
    Updated,
    /// It was there, and nothing was needed.
    Present,
    /// It would be copied or updated, were this not a dry run.
    Planned,
}

/// Receives the result of each version as soon as it is known: a journey may have too many to keep them all.
pub type OnResult<'a> = dyn Fn(Result<Published, Failure>) + Send + Sync + 'a;
