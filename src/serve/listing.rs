//! The versions of one provider: served, hidden, or offered by the origin.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use bytes::Bytes;
use futures_util::{StreamExt as _, TryStreamExt as _, stream};
use tokio::sync::Semaphore;

use super::answer::Document;
use super::metrics::Metrics;
use super::notice::{Notice, Observer};
use super::served::{Documents, HiddenVersion, ServedVersion};
use crate::address::{Hostname, ProviderAddr};
use crate::examine::{StoredProvider, TrustOptions};
use crate::outcome::{Failure, Problem};
use crate::version::Version;

/// The number of versions that are read concurrently. Each takes several requests in a row. Eight hide the latency of the store, and a new
/// provider with hundreds of versions leaves connections for other requests.
const CONCURRENT_VERSIONS: usize = 8;
/// The most bytes of documents that a provider's versions may have together. Real providers with hundreds of versions have 3 MiB. One document
/// may have 4 MiB, so a hostile store could otherwise fill the memory.
const MOST_DOCUMENTS: usize = 16 << 20;
/// The most versions of a provider that are listed because the origin offers them: twice as many as the providers with the most versions have. An
/// origin that offers tens of thousands would otherwise take the memory for all lists. `tfoci help deployment` states this number.
pub(super) const MOST_OFFERED: usize = 1_000;

/// A provider in the store.
#[derive(Debug)]
pub struct ProviderListing {
    /// Whose versions these are.
    pub provider: ProviderAddr,
    /// Whether the store has the provider.
    pub exists: bool,
    /// The verified versions, by precedence.
    pub versions: BTreeMap<Version, Arc<ServedVersion>>,
    /// The versions that did not verify, with the reasons.
    pub hidden: BTreeMap<Version, HiddenVersion>,
    /// The versions that are mirrored from the origin when a client requests them: the newest of those that the origin offers.
    pub offered: BTreeSet<Version>,
    /// When the origin said so; `None` if it was not asked.
    pub(super) offered_at: Option<Instant>,
    /// Whether the origin could not be asked this time, so that it may have versions that are missing here.
    pub is_origin_unreachable: bool,
    /// The size of all documents in bytes. Versions share equal ones.
    documents: usize,
    /// The policy that it was read with; `None` for a list that depends on none.
    pub(super) trust: Option<Arc<TrustOptions>>,
    /// The network mirror's `index.json`, once it was requested.
    pub(super) index: OnceLock<Document>,
    /// The provider registry's list of versions, once it was requested.
    pub(super) registry_versions: OnceLock<Document>,
    /// The page that was rendered last.
    pub(super) page: tokio::sync::Mutex<Option<(PageKey, Document)>>,
}

/// What the page about a provider shows beside its list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct PageKey {
    pub(super) url: String,
    pub(super) provider_host: Option<Hostname>,
    pub(super) failed: BTreeSet<Version>,
    pub(super) is_stale: bool,
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
            offered_at: None,
            is_origin_unreachable: false,
            documents: 0,
            trust: None,
            index: OnceLock::new(),
            registry_versions: OnceLock::new(),
            page: tokio::sync::Mutex::default(),
        }
    }

    /// Reads a provider. Versions of the old listing are reused unless a tag moved. Each version takes one of the permits of `reads` while it is
    /// read. Versions whose documents are too large together are hidden, the oldest first.
    ///
    /// # Errors
    /// The store cannot be read.
    pub(super) async fn read(
        stored: &StoredProvider,
        trust: &TrustOptions,
        old: Option<&Self>,
        reads: &Semaphore,
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
            match known.filter(|served| !served.has_moved()) {
                Some(served) => {
                    listing.versions.insert(version, served.clone());
                }
                None => new.push(version),
            }
        }
        let mut known = KnownDocuments::default();
        for served in listing.versions.values() {
            known.share(served.documents.clone().as_mut());
        }
        let mut looks = stored.looks();
        loop {
            let newest_first = new.into_iter().rev().map(|version| async move {
                // Reads of a layout never yield, so without this thousands of versions would block the thread.
                tokio::task::yield_now().await;
                // The semaphore is never closed.
                let _permit = reads.acquire().await.ok();
                let read = ServedVersion::read(stored, &version, trust).await?;
                Ok::<_, Failure>((version, read))
            });
            let read: Vec<_> = newest_first.collect();
            let mut read = stream::iter(read).buffer_unordered(CONCURRENT_VERSIONS);
            while let Some((version, mut read)) = read.try_next().await? {
                if let Ok(served) = &mut read
                    && !known.share(served.documents.as_mut())
                {
                    read = Err(HiddenVersion {
                        problem: Arc::new(too_large()),
                    });
                }
                listing.add(version, read);
            }
            new = listing.half_replaced(old);
            // All of them wait together, and without a permit. Nobody replaces more at once.
            let may_be_replaced = (1..=CONCURRENT_VERSIONS).contains(&new.len());
            if !may_be_replaced || !looks.wait_quietly().await {
                break;
            }
        }
        listing.documents = known.size;
        Ok(listing)
    }

    /// The versions that another writer may be writing or replacing just now. Those that the old listing hides are damaged, and not waited for again.
    fn half_replaced(&self, old: Option<&Self>) -> Vec<Version> {
        let is_half = |(version, hidden): &(&Version, &HiddenVersion)| {
            let was_hidden = old.is_some_and(|old| old.hidden.contains_key(version));
            // A registry may list a tag a moment before it has the manifest.
            let is_early = matches!(*hidden.problem, Problem::NoVersion { .. });
            (is_early || hidden.problem.may_be_replacement()) && !was_hidden
        };
        let half = self.hidden.iter().filter(is_half);
        half.map(|(version, _)| version.clone()).collect()
    }

    /// Whether the origin offered versions within this time.
    pub(super) fn has_offer_within(&self, longest: Duration) -> bool {
        let is_recent = self.offered_at.is_some_and(|at| at.elapsed() < longest);
        is_recent && !self.offered.is_empty()
    }

    /// As [`ProviderListing::offer`], without asking the origin: it offers what it offered before.
    pub(super) fn offer_as_before(
        &mut self,
        old: Option<&Self>,
        hidden: BTreeMap<Version, Arc<Problem>>,
    ) {
        self.offer(old.map(|old| old.offered.clone()), hidden);
        self.offered_at = old.and_then(|old| old.offered_at);
        self.is_origin_unreachable = old.is_some_and(|old| old.is_origin_unreachable);
    }

    /// Adds the versions that the origin offers, and hides those that the policy refused.
    pub(super) fn offer(
        &mut self,
        offered: Option<BTreeSet<Version>>,
        refused: BTreeMap<Version, Arc<Problem>>,
    ) {
        for (version, problem) in refused {
            self.hidden
                .entry(version)
                .or_insert(HiddenVersion { problem });
        }
        self.exists |= offered.is_some();
        let is_new = |version: &Version| {
            !self.versions.contains_key(version) && !self.hidden.contains_key(version)
        };
        self.offered = offered
            .unwrap_or_default()
            .into_iter()
            .rev()
            .filter(is_new)
            .take(MOST_OFFERED)
            .collect();
        self.offered_at = Some(Instant::now());
    }

    /// Whether it has a version, even if that is hidden.
    pub(super) fn has(&self, version: &Version) -> bool {
        self.has_read(version) || self.offered.contains(version)
    }

    /// Whether the store has a version, even if that is hidden.
    pub(super) fn has_read(&self, version: &Version) -> bool {
        self.versions.contains_key(version) || self.hidden.contains_key(version)
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

    fn add(&mut self, version: Version, read: Result<ServedVersion, HiddenVersion>) {
        match read {
            Ok(served) => {
                self.hidden.remove(&version);
                self.versions.insert(version, Arc::new(served));
            }
            Err(hidden) => {
                self.hidden.insert(version, hidden);
            }
        }
    }

    /// The approximate size in memory, in bytes.
    pub(super) fn weight(&self) -> usize {
        // An entry of a map with a version and a problem.
        const EACH: usize = 512;
        let versions = self.versions.values().map(|served| served.weight());
        let others = (self.hidden.len() + self.offered.len()) * EACH;
        EACH + self.provider.length() + versions.sum::<usize>() + others + self.documents
    }
}

/// Reports each version that is hidden, unsigned, or made for another provider, unless the old list had it in the same state; and that the store
/// has no version any more. A registry that lost everything answers as one that never had it.
pub(super) fn report_changes(
    new: &ProviderListing,
    old: Option<&ProviderListing>,
    metrics: &Metrics,
    observer: &dyn Observer,
) {
    let provider = &new.provider;
    for (version, served) in &new.versions {
        let known = old.and_then(|old| old.versions.get(version));
        if !served.is_signed() && known.is_none_or(|known| known.is_signed()) {
            metrics.unsigned.inc();
            let how = &served.authentication;
            let text = format!("{provider} {version}: {how}; on the network mirror only");
            observer.notice(Notice::warning("unsigned", "Unsigned", text));
        }
    }
    for (version, hidden) in &new.hidden {
        let was_hidden = old.is_some_and(|old| old.hidden.contains_key(version));
        if !was_hidden {
            metrics.hidden.inc();
            let text = format!("{provider} {version}");
            let notice = Notice::warning("hidden", "Hidden", text);
            observer.notice(notice.because(&*hidden.problem));
        }
    }
    let had_any = |old: &ProviderListing| !old.versions.is_empty();
    if old.is_some_and(had_any) && new.versions.is_empty() && new.hidden.is_empty() {
        let text = format!("the store has no version of {provider} any more");
        observer.notice(Notice::warning("emptied", "Warning", text));
    }
    report_others(new, old, observer);
}

/// Reports versions that were made for another provider. A repository template that leaves out a part of the address gives two providers the
/// same repository, and every version of one is then listed for the other. Only the newest is named, since there may be hundreds.
fn report_others(new: &ProviderListing, old: Option<&ProviderListing>, observer: &dyn Observer) {
    let is_new = |version| old.is_none_or(|old| !old.versions.contains_key(version));
    let mut others = new.versions.iter().filter_map(|(version, served)| {
        let other = served.made_for.as_ref().filter(|_| is_new(version))?;
        Some((version, other))
    });
    if let Some((version, other)) = others.next_back() {
        let older = match others.count() {
            0 => String::new(),
            1 => " and an older version".to_owned(),
            others => format!(" and {others} older versions"),
        };
        let provider = &new.provider;
        let text = format!("{provider} {version}{older}: made for {other}");
        observer.notice(Notice::warning("other-provider", "Warning", text));
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
    fn share(&mut self, documents: Option<&mut Documents>) -> bool {
        for one in documents.into_iter().flat_map(Documents::all_mut) {
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

    fn documents(checksums: Vec<u8>) -> Documents {
        Documents {
            checksums: checksums.into(),
            signature: Bytes::from_static(b"signature"),
            certificate: Bytes::from_static(b"certificate"),
            fingerprint: "0".repeat(40).parse().unwrap(),
        }
    }

    #[test]
    fn the_newest_offered_versions_are_listed() {
        let provider = "a.example/acme/demo".parse().unwrap();
        let mut listing = ProviderListing::absent(&provider);
        let version = |minor| Version::new(1, minor, 0);
        let refused = BTreeMap::from([(version(19_999), Arc::new(too_large()))]);
        listing.offer(Some((0..20_000).map(version).collect()), refused);
        assert_eq!(listing.offered.len(), MOST_OFFERED);
        assert_eq!(listing.offered.first(), Some(&version(18_999)));
        assert_eq!(listing.offered.last(), Some(&version(19_998)));
        assert!(listing.weight() < 1 << 20, "{}", listing.weight());
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
        assert_eq!(
            too_large().to_string(),
            "the documents of this provider's versions are too large together\n  expected at most 16777216 bytes, counted from the newest version"
        );
        assert!(known.share(Some(&mut half(1))));
        // Those of a listing that is read again count, too.
        let mut known = KnownDocuments::default();
        known.share(Some(&mut half(1)));
        assert!(!known.share(Some(&mut half(2))));
        assert!(known.share(Some(&mut documents(vec![3]))));
    }
}
