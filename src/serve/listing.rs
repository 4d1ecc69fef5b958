//! The versions of one provider: served, hidden, or offered by the origin.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::sync::Arc;
use std::sync::atomic::Ordering;

use bytes::Bytes;
use futures_util::{StreamExt as _, TryStreamExt as _, stream};
use tokio::sync::{Mutex, Semaphore};

use super::answer::Document;
use super::served::{ServedVersion, SignedFiles};
use super::settings::Context;
use crate::address::ProviderAddr;
use crate::examine::{StoredProvider, TrustOptions};
use crate::outcome::{Failure, Problem};
use crate::protocol::network_mirror::VersionIndex;
use crate::protocol::provider_registry::{ListedVersion, VersionList};
use crate::version::Version;

/// The number of versions that are read concurrently. Each takes several requests in a row. Eight hide the latency of the store, and a new
/// provider with hundreds of versions leaves connections for other requests.
const CONCURRENT_VERSIONS: usize = 8;
/// The most bytes of documents that a provider's versions may have together. Real providers with hundreds of versions have 3 MiB. One document
/// may have 4 MiB, so a hostile store could otherwise fill the memory.
const MOST_DOCUMENTS: usize = 16 << 20;

/// A provider in the store.
#[derive(Debug)]
pub struct ProviderListing {
    /// Whose versions these are.
    pub provider: ProviderAddr,
    /// Whether the store has the provider.
    pub(super) exists: bool,
    /// The verified versions, by precedence.
    pub versions: BTreeMap<Version, Arc<ServedVersion>>,
    /// The versions that did not verify, or could not be mirrored, with the reasons for the log, the page and the answer to a client.
    pub hidden: BTreeMap<Version, Arc<Problem>>,
    /// The versions that are mirrored from the origin when a client requests them: the newest of those that the origin offers.
    pub offered: BTreeSet<Version>,
    /// Whether the origin could not be asked this time, so that it may have versions that are missing here.
    pub is_origin_unreachable: bool,
    /// The size of all documents in bytes. Versions share equal ones.
    documents: usize,
    /// The policy that it was read with; `None` for a list that depends on none.
    pub(super) trust: Option<Arc<TrustOptions>>,
    /// The network mirror's `index.json`; `None` if clients can install no version.
    pub(super) index: Option<Document>,
    /// The provider registry's list of versions; `None` if there is no such provider.
    pub(super) registry_versions: Option<Document>,
    /// The page that was rendered last, and what it shows beside the list.
    pub(super) page: Mutex<(String, Document)>,
}

impl ProviderListing {
    /// The listing of a provider that the store does not have.
    pub(super) fn absent(provider: &ProviderAddr) -> Self {
        Self {
            provider: provider.clone(),
            exists: false,
            versions: BTreeMap::new(),
            hidden: BTreeMap::new(),
            offered: BTreeSet::new(),
            is_origin_unreachable: false,
            documents: 0,
            trust: None,
            index: None,
            registry_versions: None,
            page: Mutex::default(),
        }
    }

    /// Reads a provider. Versions of the old listing are reused unless a tag moved. Each version takes one of the
    /// `read_permits` while it is read. A version whose documents do not fit beside the others is hidden.
    ///
    /// # Errors
    /// The store cannot be read.
    pub(super) async fn read(
        stored: &StoredProvider,
        trust: &Arc<TrustOptions>,
        old: Option<&Self>,
        read_permits: &Semaphore,
    ) -> Result<Self, Failure> {
        let listed = match stored.versions().await {
            Ok(listed) => listed.versions,
            Err(failure) if matches!(*failure.problem, Problem::NoProvider) => Vec::new(),
            Err(failure) => return Err(failure),
        };
        let mut listing = Self::absent(&stored.provider);
        listing.exists = !listed.is_empty();
        listing.trust = Some(trust.clone());
        let mut known = KnownDocuments::default();
        let mut unread = Vec::new();
        for version in listed {
            let served = old.and_then(|old| old.versions.get(&version));
            match served.filter(|served| !served.has_moved.load(Ordering::Relaxed)) {
                Some(served) => {
                    known.share(served.documents.clone().as_mut());
                    listing.versions.insert(version, served.clone());
                }
                None => unread.push(version),
            }
        }
        let newest_first = unread.into_iter().rev().map(|version| async move {
            // Reads of a layout never yield, so without this thousands of versions would block the thread.
            tokio::task::yield_now().await;
            // The semaphore is never closed.
            let _permit = read_permits.acquire().await.ok();
            let read = ServedVersion::read(stored, &version, trust).await?;
            Ok::<_, Failure>((version, read))
        });
        let reads: Vec<_> = newest_first.collect();
        let mut reads = stream::iter(reads).buffer_unordered(CONCURRENT_VERSIONS);
        while let Some((version, read)) = reads.try_next().await? {
            let outcome = read.and_then(|mut served| {
                let fits = known.share(served.documents.as_mut());
                fits.then_some(served).ok_or_else(|| Arc::new(too_large()))
            });
            match outcome {
                Ok(served) => _ = listing.versions.insert(version, Arc::new(served)),
                Err(problem) => _ = listing.hidden.insert(version, problem),
            }
        }
        listing.documents = known.size;
        Ok(listing)
    }

    /// Adds the versions that the origin offers, and that are neither served nor hidden.
    pub(super) fn offer(&mut self, mut offered: BTreeSet<Version>) {
        let is_read = |version: &Version| {
            self.versions.contains_key(version) || self.hidden.contains_key(version)
        };
        offered.retain(|version| !is_read(version));
        self.offered = offered;
    }

    /// The versions that clients can install.
    pub fn installable(&self) -> impl Iterator<Item = &Version> {
        self.versions.keys().chain(&self.offered)
    }

    /// The versions that the provider registry lists.
    pub fn signed(&self) -> impl Iterator<Item = &Version> {
        let versions = self.versions.iter();
        let signed = versions.filter(|(_, served)| served.is_signed());
        signed.map(|(version, _)| version).chain(&self.offered)
    }

    /// Renders the lists of both protocols. That of the provider registry has only versions that its clients accept, with a signature over every
    /// package, and those that the origin offers.
    pub(super) fn render(&mut self) {
        let mut installable = self.installable().peekable();
        let is_any = installable.peek().is_some();
        self.index = is_any.then(|| Document::json(&VersionIndex::of(installable)));
        let listed = self.signed().map(|version| {
            let served = self.versions.get(version);
            let packages = served.into_iter().flat_map(|served| &served.packages);
            ListedVersion {
                version: version.to_string(),
                protocols: served.map_or_else(Vec::new, |served| served.protocols.clone()),
                platforms: packages.map(|package| package.platform.clone()).collect(),
            }
        });
        let list = VersionList {
            versions: listed.collect(),
            ..VersionList::default()
        };
        self.registry_versions = self.exists.then(|| Document::json(&list));
    }

    /// The approximate size in memory, in bytes.
    pub(super) fn weight(&self) -> usize {
        // An entry of a map with a version and a problem.
        const EACH: usize = 512;
        let versions = self.versions.values().map(|served| served.weight());
        let others = (self.hidden.len() + self.offered.len()) * EACH;
        EACH + self.provider.length() + versions.sum::<usize>() + others + self.documents
    }

    /// Reports each version that is hidden or unsigned, unless the old list had it in the same state; and that the
    /// store has no version any more. A registry that lost everything answers as one that never had it.
    pub(super) fn report(&self, old: Option<&Self>, shared: &Context) {
        let Context {
            metrics, observer, ..
        } = shared;
        let provider = &self.provider;
        let known = |version| old.and_then(|old| old.versions.get(version));
        for (version, served) in &self.versions {
            if !served.is_signed() && known(version).is_none_or(|known| known.is_signed()) {
                metrics.unsigned.inc();
                let how = &served.authentication;
                let text = format!("{provider} {version}: {how}; on the network mirror only");
                observer.warn("unsigned", "Unsigned", text);
            }
        }
        for (version, problem) in &self.hidden {
            if old.is_none_or(|old| !old.hidden.contains_key(version)) {
                metrics.hidden.inc();
                let text = format!("{provider} {version}");
                observer.fail("hidden", "Hidden", text, &**problem, None);
            }
        }
        let had_any = old.is_some_and(|old| !old.versions.is_empty());
        if had_any && self.versions.is_empty() && self.hidden.is_empty() {
            let text = format!("the store has no version of {provider} any more");
            observer.warn("emptied", "Warning", text);
        }
    }
}

fn too_large() -> Problem {
    Problem::LargeDocuments {
        limit: MOST_DOCUMENTS,
    }
}

/// The documents of a listing. Versions have equal certificates, and hostile versions may all have one large checksum document.
#[derive(Default)]
struct KnownDocuments {
    all: HashSet<Bytes>,
    /// The sum of their sizes in bytes.
    size: usize,
}

impl KnownDocuments {
    /// Replaces documents by known ones with the same bytes, and adds the others. Returns false if they do not fit within the limit.
    fn share(&mut self, documents: Option<&mut SignedFiles>) -> bool {
        let each = documents.into_iter().flat_map(|files| {
            [
                &mut files.checksums,
                &mut files.signature,
                &mut files.certificate,
            ]
        });
        for one in each {
            match self.all.get(one) {
                Some(known) => *one = known.clone(),
                None if self.size + one.len() > MOST_DOCUMENTS => return false,
                None => {
                    self.size += one.len();
                    self.all.insert(one.clone());
                }
            }
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn documents(checksums: Vec<u8>) -> SignedFiles {
        SignedFiles {
            checksums: checksums.into(),
            signature: Bytes::from_static(b"signature"),
            certificate: Bytes::from_static(b"certificate"),
        }
    }

    #[test]
    fn equal_documents_are_kept_once() {
        let mut known = KnownDocuments::default();
        let [mut first, mut second] = [(); 2].map(|()| documents(vec![7; MOST_DOCUMENTS / 2]));
        assert!(known.share(Some(&mut first)));
        let size = known.size;
        assert!(known.share(Some(&mut second)));
        assert_eq!(known.size, size);
        assert_eq!(first.checksums.as_ptr(), second.checksums.as_ptr());
        assert!(known.share(None));
    }

    #[test]
    fn documents_beyond_the_limit_are_not_kept() {
        let mut known = KnownDocuments::default();
        let half = |byte| documents(vec![byte; MOST_DOCUMENTS / 2]);
        assert!(known.share(Some(&mut half(1))));
        assert!(!known.share(Some(&mut half(2))));
        assert!(known.share(Some(&mut half(1))));
        // The documents of a listing that is read again count, too.
        let mut known = KnownDocuments::default();
        known.share(Some(&mut half(1)));
        assert!(!known.share(Some(&mut half(2))));
        assert!(known.share(Some(&mut documents(vec![3]))));
    }
}
