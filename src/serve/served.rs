//! One version of a provider that was verified.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant, SystemTime};

use bytes::Bytes;
use tokio::sync::Mutex;
use tokio::time::timeout;

use super::answer::Document;
use super::path::segment;
use crate::address::ProviderAddr;
use crate::authentication::{Authentication, Status};
use crate::digest::Digest;
use crate::error::Category;
use crate::examine::{Examined, StoredProvider, TrustOptions};
use crate::fingerprint::Fingerprint;
use crate::oci::Tag;
use crate::outcome::{Failure, Problem};
use crate::platform::{Platform, Platforms};
use crate::protocol::network_mirror::{Archive, Archives};
use crate::protocol::provider_registry::{DownloadMetadata, GpgPublicKey, ListedPackage};
use crate::release::{Package, Release, canonical_file_name};
use crate::store::StoreBlob;
use crate::trust::Verified;
use crate::version::Version;

/// How long a request waits for the comparison of a version's tags, and for that of another request before it. Both together stay below the
/// 10 seconds of clients.
const LONGEST_COMPARISON: Duration = Duration::from_secs(4);

/// A verified version.
#[derive(Debug)]
pub struct ServedVersion {
    /// The digests of the index and of the evidence manifest, which a moved tag no longer refers to.
    tags: TagDigests,
    /// The time and the result of the last comparison of the tags. Locked during a comparison.
    tag_check: Mutex<(Instant, bool)>,
    /// Whether that comparison found a moved tag, so that the version has to be read again.
    pub(super) has_moved: AtomicBool,
    /// The result of the verification.
    pub authentication: Authentication,
    /// The packages, sorted by platform.
    pub packages: Vec<Package<StoreBlob>>,
    /// The plugin protocol versions, such as `6.0`.
    pub protocols: Vec<String>,
    /// Whether the artifact states the protocols. Otherwise `5.0` is assumed.
    pub are_protocols_known: bool,
    /// The documents of the provider registry protocol; `None` for a version without a signature, which clients of this protocol would refuse.
    pub(super) documents: Option<SignedFiles>,
    /// The network mirror's `VERSION.json` for clients without a token.
    pub(super) archives: Document,
}

/// The documents by which the author signed a version.
#[derive(Clone, Debug)]
pub(super) struct SignedFiles {
    /// The checksum document, byte for byte.
    pub(super) checksums: Bytes,
    /// Its detached signature.
    pub(super) signature: Bytes,
    /// The certificate of the signature, armoured.
    pub(super) certificate: Bytes,
}

/// The digests of the tag that is the version, and of its evidence manifest, if there is one.
type TagDigests = (Digest, Option<Digest>);

impl ServedVersion {
    /// Reads a version with its evidence, and verifies it.
    ///
    /// # Errors
    /// The store cannot be read. The problem of a version that does not verify is no error of the list.
    pub(super) async fn read(
        stored: &StoredProvider,
        version: &Version,
        trust: &TrustOptions,
    ) -> Result<Result<Self, Arc<Problem>>, Failure> {
        // Keys expire while the server runs, which is noticed when a version is read again.
        let trust = TrustOptions {
            now: SystemTime::now(),
            ..trust.clone()
        };
        let examined = stored.examine(version, &Platforms::All, &trust).await;
        let read = examined.and_then(|examined| {
            let served = Self::of(stored, examined);
            served.map_err(|problem| stored.failure(Some(version), problem))
        });
        match read {
            Ok(served) => Ok(Ok(served)),
            Err(failure) => match failure.category() {
                Category::Unreachable | Category::Local => Err(failure),
                _ => Ok(Err(failure.problem)),
            },
        }
    }

    fn of(stored: &StoredProvider, examined: Examined<StoreBlob>) -> Result<Self, Problem> {
        // Only a version whose proof holds is served.
        let release = examined.proof?;
        let packages = release.packages.clone();
        // Clients could not install a version without packages.
        if packages.is_empty() {
            return Err(Problem::NoPackages);
        }
        let artifact = examined.artifact;
        let documents = SignedFiles::of(&release);
        let evidence = examined.evidence.map(|raw| raw.expected.digest);
        Ok(Self {
            tags: (artifact.raw.expected.digest, evidence),
            tag_check: Mutex::new((Instant::now(), true)),
            has_moved: AtomicBool::new(false),
            authentication: release.authentication().clone(),
            archives: archives(
                &stored.provider,
                &release.version,
                &packages,
                documents.is_some(),
                segment,
            ),
            documents,
            packages,
            are_protocols_known: examined.protocols.is_some(),
            protocols: examined.protocols.unwrap_or_default().texts(),
        })
    }

    /// Whether clients of the provider registry protocol accept the version. The network mirror serves it in any case.
    pub fn is_signed(&self) -> bool {
        self.documents.is_some()
    }

    /// `None` if the version has no package for this platform.
    pub(super) fn package(&self, platform: &Platform) -> Option<&Package<StoreBlob>> {
        let mut packages = self.packages.iter();
        packages.find(|package| package.platform == *platform)
    }

    /// The provider registry's metadata of a package. `link` turns the name of a file into its URL.
    pub(super) fn download(
        &self,
        signed: &SignedFiles,
        package: &Package<StoreBlob>,
        [checksums, signature]: &[String; 2],
        link: impl Fn(&str) -> String,
    ) -> Document {
        let listed = |package: &Package<StoreBlob>| {
            let listed = ListedPackage {
                hashes: hashes(package),
                package_size: package.expected.size,
            };
            (package.platform.to_string(), listed)
        };
        let certificate = String::from_utf8_lossy(&signed.certificate).into_owned();
        let key = self.authentication.fingerprint.as_ref();
        let key_id = key.map(Fingerprint::key_id).unwrap_or_default().to_owned();
        Document::json(&DownloadMetadata {
            protocols: self.protocols.clone(),
            os: package.platform.os().to_owned(),
            arch: package.platform.arch().to_owned(),
            filename: package.file_name.clone(),
            download_url: link(&package.file_name),
            shasum: package.expected.digest.hex(),
            shasums_url: link(checksums),
            shasums_signature_url: link(signature),
            keys: vec![GpgPublicKey::new(key_id, certificate)],
            packages: self.packages.iter().map(listed).collect(),
        })
    }

    /// Whether the tags still refer to the verified digests; `None` if the store does not answer. They are not compared again within this time.
    /// If one has moved or was deleted, the version is read again with the next list. `open` opens the store, which costs more than an answer from
    /// memory.
    pub(super) async fn is_current(
        &self,
        version: &Version,
        within: Duration,
        open: impl FnOnce() -> Option<StoredProvider>,
    ) -> Option<bool> {
        let checked = timeout(LONGEST_COMPARISON, self.tag_check.lock()).await;
        let mut checked = checked.ok()?;
        let (at, is_current) = *checked;
        if at.elapsed() < within {
            return Some(is_current);
        }
        let compared = async {
            let repo = open()?.repo;
            let index = repo.digest(&Tag::of_version(version).ok()?).await.ok()?;
            let evidence = repo.digest(&Tag::of_evidence(version).ok()?).await.ok()?;
            Some((index, evidence) == (Some(self.tags.0), self.tags.1))
        };
        let is_current = timeout(LONGEST_COMPARISON, compared).await.ok().flatten()?;
        *checked = (Instant::now(), is_current);
        self.has_moved.store(!is_current, Ordering::Relaxed);
        Some(is_current)
    }

    /// The approximate size in memory, in bytes, without the documents, which versions share.
    pub(super) fn weight(&self) -> usize {
        // The fields and their allocations with the documents and the part of a page that are written of them, rounded up.
        const EACH: usize = 1_000;
        EACH + self.packages.len() * EACH
    }
}

/// The network mirror's `VERSION.json`. `link` turns the name of a file into its URL.
pub(super) fn archives(
    provider: &ProviderAddr,
    version: &Version,
    packages: &[Package<StoreBlob>],
    signed: bool,
    link: impl Fn(&str) -> String,
) -> Document {
    let archive = |package: &Package<StoreBlob>| {
        let archive = Archive {
            url: link(&canonical_file_name(provider, version, &package.platform)),
            hashes: hashes(package),
        };
        (package.platform.to_string(), Some(archive))
    };
    let archives = packages.iter().map(archive).collect();
    Document::json(&Archives { archives, signed })
}

/// The hashes that both protocols list of a package, made of its digest.
fn hashes(package: &Package<StoreBlob>) -> Vec<String> {
    vec![package.zh().to_string()]
}

/// The file names of the checksum document and of its signature in the provider registry.
pub(super) fn signed_names(provider: &ProviderAddr, version: &Version) -> [String; 2] {
    let type_name = provider.type_name();
    let checksums = format!("terraform-provider-{type_name}_{version}_SHA256SUMS");
    let signature = format!("{checksums}.sig");
    [checksums, signature]
}

impl SignedFiles {
    /// The documents of a version; `None` if it has no verified signature.
    fn of(release: &Verified<Release<StoreBlob>>) -> Option<Self> {
        if release.authentication().status != Status::Signed {
            return None;
        }
        Some(Self {
            checksums: release.checksums.as_ref()?.bytes.clone().into(),
            signature: release.signature()?.bytes.clone().into(),
            certificate: release.certificate()?.to_vec().into(),
        })
    }
}
