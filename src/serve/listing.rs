//! What the server knows of one provider: the versions that it serves, and the versions that it hides.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant, SystemTime};

use bytes::Bytes;
use futures_util::{StreamExt as _, TryStreamExt as _, stream};

use super::tag_check::{TagCheck, TagDigests, TagState, tag_digests};
use crate::address::ProviderAddr;
use crate::authentication::{Authentication, Status};
use crate::blob::{BlobLocation, BlobSource as _};
use crate::error::Category;
use crate::examine::{Examined, Platforms, StoredProvider, TrustOptions};
use crate::hash::PackageHash;
use crate::outcome::{Failure, Problem};
use crate::platform::Platform;
use crate::release::{Expected, canonical_file_name};
use crate::store::StoreBlob;
use crate::version::Version;

/// The number of versions that are read at once.
const CONCURRENT_VERSIONS: usize = 8;
/// How long a request waits for the comparison of a version's tags.
const LONGEST_COMPARISON: Duration = Duration::from_secs(4);
/// For how long tags are not compared again after that failed.
const PAUSE: Duration = Duration::from_secs(5);

/// A provider in the store.
#[derive(Debug)]
pub struct Listing {
    /// The address of the provider.
    pub provider: ProviderAddr,
    /// Whether the store has the provider.
    pub exists: bool,
    /// The versions that passed, by precedence.
    pub versions: BTreeMap<Version, Arc<Served>>,
    /// The versions that did not pass, with the reasons.
    pub hidden: BTreeMap<Version, Hidden>,
    /// The versions that are mirrored from the origin when a client asks for them.
    pub offered: BTreeSet<Version>,
}

/// A version that the policy hides, or that clients could not install.
#[derive(Clone, Debug)]
pub struct Hidden {
    /// Why it is hidden.
    pub problem: Arc<Problem>,
}

/// A version that passed.
#[derive(Debug)]
pub struct Served {
    /// The digests of the index and of the evidence manifest, by which a moved tag is noticed.
    pub identity: TagDigests,
    /// When the tags were last compared with the identity. Locked while they are compared.
    checked: tokio::sync::Mutex<TagCheck>,
    /// Whether a tag moved, so that the version has to be read again.
    has_moved: AtomicBool,
    /// The provider that the artifact names, if it is another one.
    pub made_for: Option<ProviderAddr>,
    /// How it was authenticated.
    pub authentication: Authentication,
    /// The packages, sorted by platform.
    pub packages: Vec<ServedPackage>,
    /// The plugin protocol versions, such as `6.0`.
    pub protocols: Vec<String>,
    /// Whether the store says so. Otherwise `5.0` is assumed.
    pub are_protocols_known: bool,
    /// The documents of the registry protocol; `None` for a version without a signature, which its clients would refuse.
    pub documents: Option<Documents>,
}

/// A package of a served version.
#[derive(Clone, Debug)]
pub struct ServedPackage {
    /// The platform that it is built for.
    pub platform: Platform,
    /// The file name in the author's checksum document.
    pub file_name: String,
    /// The canonical file name, which the network mirror uses.
    pub canonical_name: String,
    /// The digest and size of the zip.
    pub expected: Expected,
    /// The `zh:` hash.
    pub zh: PackageHash,
    /// The bytes in the store.
    pub(super) blob: StoreBlob,
}

/// The author's documents.
#[derive(Clone, Debug)]
pub struct Documents {
    /// The checksum document.
    pub checksums: Bytes,
    /// Its detached signature.
    pub signature: Bytes,
    /// The certificate of the signature, armoured.
    pub certificate: String,
    /// The fingerprint of the primary key.
    pub fingerprint: String,
}

impl Listing {
    /// A provider that the store does not have.
    pub(super) fn absent(provider: &ProviderAddr) -> Self {
        Self {
            provider: provider.clone(),
            exists: false,
            versions: BTreeMap::new(),
            hidden: BTreeMap::new(),
            offered: BTreeSet::new(),
        }
    }

    /// Reads the provider. Versions of the old listing are not read again.
    ///
    /// # Errors
    /// The store cannot be asked.
    pub(super) async fn read(
        stored: &StoredProvider,
        trust: &TrustOptions,
        old: Option<&Self>,
    ) -> Result<Self, Failure> {
        let listed = match stored.versions().await {
            Ok(listed) => listed.versions,
            Err(failure) if matches!(*failure.problem, Problem::NoProvider) => Vec::new(),
            Err(failure) => return Err(failure),
        };
        let mut listing = Self {
            exists: !listed.is_empty(),
            ..Self::absent(&stored.provider)
        };
        let mut new = Vec::new();
        for version in listed {
            let known = old.and_then(|old| old.versions.get(&version));
            match known.filter(|served| !served.has_moved.load(Ordering::Relaxed)) {
                Some(served) => {
                    listing.versions.insert(version, served.clone());
                }
                None => new.push(version),
            }
        }
        let reads = new.into_iter().map(|version| async move {
            // A layout never makes anybody wait, so thousands of versions would keep this thread from everything else.
            tokio::task::yield_now().await;
            let read = Served::read(stored, &version, trust).await?;
            Ok::<_, Failure>((version, read))
        });
        let reads: Vec<_> = reads.collect();
        let mut reads = stream::iter(reads).buffer_unordered(CONCURRENT_VERSIONS);
        while let Some((version, read)) = reads.try_next().await? {
            listing.add(version, read);
        }
        Ok(listing)
    }

    /// Adds the versions that an origin offers, and those that it offered and that the policy refused.
    pub(super) fn offer(
        &mut self,
        offered: Option<BTreeSet<Version>>,
        refused: BTreeMap<Version, Arc<Problem>>,
    ) {
        for (version, problem) in refused {
            self.hidden.entry(version).or_insert(Hidden { problem });
        }
        self.exists |= offered.is_some();
        let is_new = |version: &Version| {
            !self.versions.contains_key(version) && !self.hidden.contains_key(version)
        };
        self.offered = offered
            .unwrap_or_default()
            .into_iter()
            .filter(is_new)
            .collect();
    }

    /// The versions that clients can install.
    pub fn installable(&self) -> impl Iterator<Item = &Version> {
        self.versions.keys().chain(&self.offered)
    }

    /// The versions that the provider registry lists.
    pub fn signed(&self) -> impl Iterator<Item = &Version> {
        let signed = self
            .versions
            .iter()
            .filter(|(_, served)| served.is_signed());
        signed.map(|(version, _)| version).chain(&self.offered)
    }

    fn add(&mut self, version: Version, read: Result<Served, Hidden>) {
        match read {
            Ok(served) => {
                self.versions.insert(version, Arc::new(served));
            }
            Err(hidden) => {
                self.hidden.insert(version, hidden);
            }
        }
    }

    /// The bytes that the listing takes in memory, roughly.
    pub(super) fn weight(&self) -> usize {
        const EACH: usize = 512;
        let versions = self.versions.values().map(|served| served.weight());
        let others = (self.hidden.len() + self.offered.len()) * EACH;
        EACH + self.provider.length() + versions.sum::<usize>() + others
    }
}

impl Served {
    /// Reads a version with its evidence, and verifies it.
    ///
    /// # Errors
    /// The store cannot be asked. A version that does not pass is not an error.
    pub(super) async fn read(
        stored: &StoredProvider,
        version: &Version,
        trust: &TrustOptions,
    ) -> Result<Result<Self, Hidden>, Failure> {
        // Keys expire while the server runs.
        let trust = TrustOptions {
            now: SystemTime::now(),
            ..trust.clone()
        };
        let examined = match stored.examine(version, &Platforms::All, &trust).await {
            Ok(examined) => examined,
            Err(failure) => return hidden(failure),
        };
        match Self::of(stored, examined) {
            Ok(served) => Ok(Ok(served)),
            Err(problem) => hidden(stored.failure(Some(version), problem)),
        }
    }

    fn of(stored: &StoredProvider, examined: Examined<StoreBlob>) -> Result<Self, Problem> {
        let release = examined.proof?;
        let index = &examined.artifact.index;
        let identity = TagDigests {
            index: examined.artifact.raw.expected.digest,
            evidence: examined.evidence.map(|raw| raw.expected.digest),
        };
        let authentication = release.authentication().clone();
        let documents = match (
            &release.checksums,
            release.signature(),
            release.certificate(),
        ) {
            (Some(checksums), Some(signature), Some(certificate))
                if authentication.status == Status::Signed =>
            {
                Some(Documents {
                    checksums: checksums.bytes.clone().into(),
                    signature: signature.bytes.clone().into(),
                    certificate: String::from_utf8_lossy(certificate).into_owned(),
                    fingerprint: authentication.fingerprint.clone().unwrap_or_default(),
                })
            }
            _ => None,
        };
        let mut packages = Vec::new();
        for package in &release.packages {
            let blob = package.location.clone();
            if let Some(BlobLocation::InFile(path)) = blob.info().location {
                let found = std::fs::symlink_metadata(path).ok();
                if found.as_ref().is_some_and(std::fs::Metadata::is_symlink) {
                    let path = path.to_owned();
                    let link = crate::disk::Error::Link { path };
                    // Clients are told the digest, and only the log the path.
                    let error = crate::store::Error::reading(
                        crate::oci::Part::Blob,
                        package.expected.digest,
                        link.into(),
                    );
                    return Err(error.into());
                }
                let length = found.map(|file| file.len());
                if length != Some(package.expected.size) {
                    return Err(missing(&blob));
                }
            }
            let canonical =
                canonical_file_name(&stored.provider, &release.version, &package.platform);
            packages.push(ServedPackage {
                platform: package.platform.clone(),
                file_name: package.file_name.clone(),
                canonical_name: canonical,
                expected: package.expected,
                // Readers refuse other digests.
                zh: package.zh().ok_or_else(|| missing(&blob))?,
                blob,
            });
        }
        // Clients could install nothing of it.
        if packages.is_empty() {
            return Err(Problem::NoPackages);
        }
        Ok(Self {
            identity,
            checked: tokio::sync::Mutex::new(TagCheck {
                at: Instant::now(),
                valid: Duration::MAX,
                state: TagState::Unchanged,
            }),
            has_moved: AtomicBool::new(false),
            made_for: index.other_provider(&stored.provider),
            authentication,
            packages,
            are_protocols_known: examined.protocols.is_some(),
            protocols: examined.protocols.unwrap_or_default().texts(),
            documents,
        })
    }

    /// Whether clients of the registry protocol accept it. The network mirror serves it in any case.
    pub fn is_signed(&self) -> bool {
        self.documents.is_some()
    }

    /// The package for a platform.
    pub fn package(&self, platform: &Platform) -> Option<&ServedPackage> {
        let mut packages = self.packages.iter();
        packages.find(|package| package.platform == *platform)
    }

    /// Compares the tags with what passed, unless that was done within this time. A version that moved is read again with the next list.
    pub(super) async fn check_tags(
        &self,
        stored: &StoredProvider,
        version: &Version,
        within: Duration,
    ) -> TagState {
        let waiting = tokio::time::timeout(LONGEST_COMPARISON, self.checked.lock());
        let Ok(mut checked) = waiting.await else {
            return TagState::Unknown;
        };
        if checked.at.elapsed() < checked.valid.min(within) {
            return checked.state;
        }
        let identity = tokio::time::timeout(LONGEST_COMPARISON, tag_digests(stored, version)).await;
        let (state, valid) = match identity {
            Ok(Ok(identity)) if identity == self.identity.in_tags() => {
                (TagState::Unchanged, within)
            }
            Ok(Ok(_)) => (TagState::Moved, within),
            // Others do not wait as long as this one did.
            Ok(Err(_)) | Err(_) => (TagState::Unknown, PAUSE),
        };
        *checked = TagCheck {
            at: Instant::now(),
            valid,
            state,
        };
        let has_moved = state == TagState::Moved;
        self.has_moved.store(has_moved, Ordering::Relaxed);
        state
    }

    fn weight(&self) -> usize {
        const EACH: usize = 400;
        let documents = self.documents.as_ref().map_or(0, |documents| {
            documents.checksums.len() + documents.signature.len() + documents.certificate.len()
        });
        EACH + self.packages.len() * EACH + documents
    }
}

/// A package that the store does not have.
fn missing(blob: &StoreBlob) -> Problem {
    Problem::Store(crate::store::Error::Missing {
        what: crate::oci::Part::Blob,
        digest: blob.expected().digest,
    })
}

/// Hides a version for this reason, unless the store cannot be asked.
fn hidden<T>(failure: Failure) -> Result<Result<T, Hidden>, Failure> {
    match failure.category() {
        Category::Unreachable | Category::Local => Err(failure),
        _ => Ok(Err(Hidden {
            problem: failure.problem,
        })),
    }
}
