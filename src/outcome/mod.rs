//! The results of journeys: outcomes and failures.
//!
//! An outcome is plain data. The command line prints it as text or as JSON, whose schema these types define.

mod failure;
mod form;
mod hint;
mod kind;
mod problem;

use serde::Serialize;

use crate::address::ProviderAddr;
use crate::authentication::Authentication;
use crate::digest::Digest;
use crate::event::Transfer;
use crate::hash::PackageHash;
use crate::oci::Index;
use crate::platform::Platform;
use crate::release::Release;
use crate::store::{Artifact, StoredPackage};
use crate::trust::{KeyDescription, Verified};
use crate::version::Version;
pub use failure::Failure;
pub use form::Form;
pub use kind::Kind;
pub use problem::{Problem, held};

/// A published provider version.
#[derive(Clone, Debug, Serialize)]
pub struct Published {
    /// The provider's address.
    pub provider: ProviderAddr,
    /// The version, which is also the name of the tag.
    pub version: Version,
    /// The reference of the artifact, including its digest.
    pub reference: String,
    /// The digest of the index.
    pub digest: Digest,
    /// The result for the version as a whole.
    pub status: Change,
    /// How the release was authenticated; `None` if the version was present and not read again.
    pub authentication: Option<Authentication>,
    /// The key of the signature, if there is one.
    #[serde(skip)]
    pub signer: Option<KeyDescription>,
    /// The packages, sorted by platform.
    pub packages: Vec<PublishedPackage>,
    /// What a replacement changed in the stored version, or would in a dry run.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub changes: Vec<PlatformChange>,
    /// Other blobs, which no signature covers.
    pub beside: Option<AttachedBlobs>,
    /// The bytes of copied packages and of blobs that were copied with them.
    #[serde(skip)]
    pub bytes: u64,
    /// The destination repository, if there are several.
    #[serde(skip)]
    pub destination: Option<String>,
}

impl Published {
    /// A release that was copied, and what became of each of its packages.
    pub(crate) fn of<B>(
        release: &Verified<Release<B>>,
        (reference, digest): (String, Digest),
        transfers: impl Iterator<Item = Transfer>,
    ) -> Self {
        let packages = release.packages.iter().zip(transfers);
        let packages = packages.map(|(package, status)| PublishedPackage {
            platform: package.platform.clone(),
            status,
            size: Some(package.expected.size),
            zh: Some(package.zh()),
        });
        Self {
            provider: release.provider.clone(),
            version: release.version.clone(),
            reference,
            digest,
            status: Change::Copied,
            authentication: Some(release.authentication().clone()),
            signer: release.signer().cloned(),
            packages: packages.collect(),
            changes: Vec::new(),
            bytes: 0,
            beside: None,
            destination: None,
        }
    }

    /// A version that the destination has as it is. It has hashes and sizes of the packages whose platform manifests were `read`.
    pub(crate) fn present(
        (provider, version): (&ProviderAddr, &Version),
        reference: String,
        artifact: &Artifact,
        read: &[StoredPackage],
    ) -> Self {
        Self {
            provider: provider.clone(),
            version: version.clone(),
            reference,
            digest: artifact.raw.expected.digest,
            status: Change::Present,
            authentication: None,
            signer: None,
            packages: PublishedPackage::of_index(&artifact.index, read),
            changes: Vec::new(),
            beside: None,
            bytes: 0,
            destination: None,
        }
    }
}

/// Blobs that other tools attach to a version, such as attestations. `copy` copies them, and no signature covers them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct AttachedBlobs {
    /// How many they are.
    pub blobs: usize,
    /// The total size in bytes.
    pub size: u64,
    /// The number of bytes that were copied, or would be without `--dry-run`.
    #[serde(skip)]
    pub moved: u64,
}

impl AttachedBlobs {
    pub(crate) fn add(&mut self, size: u64, transfer: Transfer) {
        self.blobs += 1;
        self.size = self.size.saturating_add(size);
        if matches!(transfer, Transfer::Copied | Transfer::Planned) {
            self.moved = self.moved.saturating_add(size);
        }
    }

    /// `None` if there are no blobs.
    pub(crate) fn if_any(self) -> Option<Self> {
        (self.blobs > 0).then_some(self)
    }
}

/// A package of a version that was written, was complete already, or would be written.
#[derive(Clone, Debug, Serialize)]
pub struct PublishedPackage {
    /// The operating system and architecture that it was built for.
    pub platform: Platform,
    /// Whether the package was copied, mounted, was present, or is planned.
    pub status: Transfer,
    /// The size in bytes, if known without another request.
    pub size: Option<u64>,
    /// The hash, if the platform manifest was read or written. An index alone proves no hash.
    pub zh: Option<PackageHash>,
}

impl PublishedPackage {
    /// The packages of an index. Only packages whose manifests were read have sizes and hashes.
    pub(crate) fn of_index(index: &Index, read: &[StoredPackage]) -> Vec<Self> {
        let entries = index.platforms().unwrap_or_default();
        let packages = entries.into_iter().map(|(platform, _)| {
            let read = read.iter().find(|read| read.platform == platform);
            let expected = read.map(|read| read.layer.expected);
            Self {
                platform,
                status: Transfer::Present,
                size: expected.map(|expected| expected.size),
                zh: expected.map(|expected| PackageHash::of_zip(&expected.digest)),
            }
        });
        packages.collect()
    }
}

/// The effect on a version in a store.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Change {
    /// The version was new.
    Copied,
    /// The version existed, and something was added or replaced.
    Updated,
    /// The version existed and needed no changes.
    Present,
    /// Without `--dry-run`, the version would be copied or updated.
    Planned,
}

impl Change {
    /// The effect that a dry run reports instead.
    pub(crate) fn planned(self) -> Self {
        match self {
            Self::Present => Self::Present,
            _ => Self::Planned,
        }
    }
}

/// What a replacement changes for one platform of a stored version.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct PlatformChange {
    /// The platform whose package is another one then, or is none.
    pub platform: Platform,
    /// The hash of the stored zip; `None` if the platform is added.
    pub from: Option<PackageHash>,
    /// The hash of the zip that is there then; `None` if the platform is removed.
    pub to: Option<PackageHash>,
}

/// Receives the result of each version immediately, because a journey may have too many results to collect.
pub type OnResult<'a> = dyn Fn(Result<Published, Failure>) + Send + Sync + 'a;
