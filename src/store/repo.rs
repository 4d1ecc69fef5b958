//! One repository of a store: reads tags, manifests and evidence, and refuses what clients refuse.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::Arc;

use futures_util::{StreamExt as _, TryStreamExt as _, future, stream};

use super::artifact::{Artifact, StoredEvidence, StoredPackage};
use super::registry::Session;
use super::{At, Bundle, Error, LayoutFault, Registry, Store, StoreBlob};
use crate::attestation::{LARGEST, MOST, PREDICATE_TYPE, SIGSTORE_BUNDLE};
use crate::credentials::Credentials;
use crate::digest::Digest;
use crate::oci::referrers::subject_of;
use crate::oci::{
    ATTESTATION, CREATED, Descriptor, Evidence, Index, PREDICATE, Part, REF_NAME, RawManifest,
    Refusal, Repository, Tag,
};
use crate::place::Place;
use crate::platform::Platform;
use crate::release::Expected;
use crate::trust::limits;

/// The most bytes of a layer of evidence. Every layer gets the limit for keys, which is the largest.
const LARGEST_DOCUMENT: u64 = limits::KEYS;
/// The number of manifests of an index that are read at once: half of the small requests that one host may receive, so that another version
/// makes progress too.
pub const CONCURRENT_READS: usize = 8;

/// What leads to an attachment.
#[derive(Clone, Debug)]
pub enum Attachment {
    /// A tag that names the manifest.
    Tag(Tag),
    /// A manifest without a tag.
    Untagged(Descriptor),
}

/// A repository that can be read.
#[derive(Clone, Debug)]
pub struct Repo {
    pub(super) store: Store,
    /// The repository's name in that store.
    pub(super) name: Repository,
    /// The digest that a tag has to refer to, because the user named both.
    pinned: Option<(Tag, Digest)>,
}

impl Repo {
    /// A readable repository of a store.
    pub fn new(store: Store, name: Repository) -> Self {
        Self {
            store,
            name,
            pinned: None,
        }
    }

    pub(super) async fn session(&self, registry: &Registry) -> Result<Arc<Session>, Error> {
        registry.session(&self.name).await
    }

    /// The repository's name in its store.
    pub fn repository(&self) -> &Repository {
        &self.name
    }

    /// The repository, as messages name it: in full, with the store's prefix.
    pub fn place(&self) -> Place {
        match &self.store {
            Store::Layout(layout) => Place::Layout(layout.name(&self.name).into()),
            Store::Registry(_) => Place::Registry(self.name.to_string().into()),
            Store::Bundle(bundle) => Place::Layout(bundle.name(&self.name).into()),
        }
    }

    /// Why it is not known whether the repository has versions, if its layout is incomplete.
    pub fn incomplete(&self) -> Option<Error> {
        let Store::Layout(layout) = &self.store else {
            return None;
        };
        let path = layout.incomplete(&self.name)?;
        let fault = LayoutFault::Incomplete;
        Some(Error::Layout { path, fault })
    }

    /// Whether a first version is being written to it, or its writer was interrupted.
    pub fn is_begun(&self) -> bool {
        matches!(&self.store, Store::Layout(layout) if layout.is_begun(&self.name))
    }

    /// The repository, in which this tag has to refer to this digest.
    pub fn pinned(self, tag: Tag, digest: Digest) -> Self {
        Self {
            pinned: Some((tag, digest)),
            ..self
        }
    }

    /// Whether a tag has to refer to a given digest.
    pub fn is_pinned(&self) -> bool {
        self.pinned.is_some()
    }

    /// The names of the tags as the store lists them, sorted; `None` if the repository does not exist. Other tools may have written names
    /// that are not valid tags.
    ///
    /// # Errors
    /// The store fails.
    pub async fn tags(&self) -> Result<Option<Vec<String>>, Error> {
        match &self.store {
            Store::Layout(layout) => layout.tags(&self.name),
            Store::Registry(registry) => self.session(registry).await?.tags().await,
            Store::Bundle(bundle) => Ok(bundle.tags(&self.name)),
        }
    }

    /// A manifest or index; `None` if it does not exist.
    ///
    /// # Errors
    /// The store fails, the manifest is damaged, or a pinned tag refers to another one.
    pub async fn manifest(&self, at: At<'_>) -> Result<Option<RawManifest>, Error> {
        let raw = match &self.store {
            Store::Registry(registry) => self.session(registry).await?.manifest(at).await?,
            Store::Layout(_) | Store::Bundle(_) => self.document(at).await?,
        };
        if let (At::Tag(tag), Some((pinned, expected)), Some(raw)) = (at, &self.pinned, &raw)
            && pinned == tag
            && *expected != raw.expected.digest
        {
            return Err(Error::Moved {
                tag: tag.clone(),
                expected: *expected,
                received: raw.expected.digest,
            });
        }
        Ok(raw)
    }

    /// The digest that a tag refers to, even if the manifest is damaged; `None` if there is no such tag.
    ///
    /// # Errors
    /// The store fails.
    pub async fn digest(&self, tag: &Tag) -> Result<Option<Digest>, Error> {
        if let Store::Registry(registry) = &self.store {
            return self.session(registry).await?.digest(tag).await;
        }
        let entry = self.entry(tag)?;
        let expected = entry.map(|entry| entry.expected_of(At::Tag(tag).part()));
        Ok(expected.transpose()?.map(|expected| expected.digest))
    }

    /// The descriptors of what is attached to a manifest; `None` if the store does not list it. The tag of a list may then lead to it.
    ///
    /// # Errors
    /// The registry fails, or its list is no list of referrers.
    pub async fn referrers(&self, subject: &Digest) -> Result<Option<Vec<Descriptor>>, Error> {
        let Store::Registry(registry) = &self.store else {
            return Ok(None);
        };
        let session = self.session(registry).await?;
        let listed = session.referrers(subject).await?;
        let read = |text: String| Descriptor::of(serde_json::from_str(&text)?);
        let listed = listed.map(|all| all.into_iter().map(read).collect());
        let unread = |source| Refusal::unread(Part::Index, source);
        Ok(listed.transpose().map_err(unread)?)
    }

    /// What leads to attachments, by the digest of their subject: the given tags that name a subject, and in a layout the manifests without a tag, as
    /// `oras attach` writes them.
    ///
    /// # Errors
    /// The layout cannot be read.
    pub async fn attachments(
        &self,
        names: impl Iterator<Item = &String>,
    ) -> Result<BTreeMap<Digest, Vec<Attachment>>, Error> {
        let mut all: BTreeMap<_, Vec<_>> = BTreeMap::new();
        for name in names {
            if let (Some(subject), Ok(tag)) = (subject_of(name), Tag::parse(name)) {
                all.entry(subject).or_default().push(Attachment::Tag(tag));
            }
        }
        let Store::Layout(layout) = &self.store else {
            return Ok(all);
        };
        let mut seen = BTreeSet::new();
        for entry in layout.descriptors(&self.name)? {
            let is_tagged = entry.annotations.contains_key(REF_NAME);
            if is_tagged || !entry.may_refer_to_others() || !seen.insert(entry.digest.clone()) {
                continue;
            }
            // What cannot be read is not attached to anything.
            let raw = self.manifest(At::Entry(&entry)).await.ok().flatten();
            if let Some(subject) = raw.and_then(|raw| raw.subject().ok().flatten()) {
                let all = all.entry(subject).or_default();
                all.push(Attachment::Untagged(entry));
            }
        }
        Ok(all)
    }

    /// The manifest that a tag refers to in a store of files.
    fn entry(&self, tag: &Tag) -> Result<Option<Descriptor>, Error> {
        match &self.store {
            Store::Layout(layout) => layout.entry(&self.name, tag),
            Store::Bundle(bundle) => Ok(bundle.entry(&self.name, tag)),
            Store::Registry(_) => Ok(None),
        }
    }

    /// A blob. Whether it exists is only known when it is opened.
    pub fn blob(&self, expected: Expected) -> StoreBlob {
        match &self.store {
            Store::Layout(layout) => layout.blob(&self.name, expected),
            Store::Registry(registry) => StoreBlob::Registry(registry.blob(&self.name, expected)),
            Store::Bundle(bundle) => StoreBlob::Bundle(bundle.blob(expected)),
        }
    }

    /// The size of a blob in bytes, which is the expected one if the store does not say it; `None` if it does not exist. Its bytes are not read.
    ///
    /// # Errors
    /// The store fails.
    pub async fn blob_size(&self, expected: &Expected) -> Result<Option<u64>, Error> {
        match &self.store {
            Store::Layout(layout) => Ok(layout.blob_size(&self.name, expected)),
            Store::Registry(registry) => self.session(registry).await?.stored_size(expected).await,
            Store::Bundle(bundle) => Ok(bundle.blob_size(expected)),
        }
    }

    /// The bundle that it is in.
    pub fn bundle(&self) -> Option<&Bundle> {
        self.store.bundle()
    }

    /// Whether it is in a delta that leaves out this package, for a target that has it.
    pub fn omits(&self, package: &Digest) -> bool {
        self.bundle().is_some_and(|bundle| bundle.omits(package))
    }

    /// The host of the registry, with its port; `None` for a layout.
    pub fn registry_host(&self) -> Option<&str> {
        let is_registry = matches!(self.store, Store::Registry(_));
        is_registry.then_some(self.name.host_and_name().0)
    }

    /// The credential for the repository, as messages name it; `None` if there is none.
    pub async fn credential(&self, credentials: &Credentials) -> Option<String> {
        let (host, name) = self.name.host_and_name();
        let found = credentials.for_repository(host, name).await.ok()??;
        Some(found.found_in.to_string())
    }

    /// Asks the registry for `/v2/`, as clients before OpenTofu 1.13 do ([clients: requests](crate::clients#oci-requests)). A layout needs none.
    ///
    /// # Errors
    /// The registry does not answer with success.
    pub async fn check_root(&self) -> Result<(), Error> {
        match &self.store {
            Store::Layout(_) | Store::Bundle(_) => Ok(()),
            Store::Registry(registry) => self.session(registry).await?.check_root().await,
        }
    }

    /// `REPOSITORY:TAG@DIGEST` with the store's prefix.
    pub fn reference(&self, tag: &Tag, digest: &Digest) -> String {
        format!("{self}:{tag}@{digest}")
    }

    /// The index that a version's tag refers to; `None` if there is no such tag.
    ///
    /// # Errors
    /// The store fails, or clients would refuse the index.
    pub async fn artifact(&self, tag: &Tag) -> Result<Option<Artifact>, Error> {
        let Some(raw) = self.manifest(At::Tag(tag)).await? else {
            return Ok(None);
        };
        Ok(Some(Artifact {
            index: Index::read(&raw)?,
            raw,
        }))
    }

    /// The package that an index entry refers to, from its platform manifest.
    ///
    /// # Errors
    /// The store fails, or clients would refuse the platform.
    pub async fn package(
        &self,
        platform: &Platform,
        entry: &Descriptor,
    ) -> Result<StoredPackage, Error> {
        let raw = self.manifest(At::Entry(entry)).await?;
        StoredPackage::read(platform, entry, raw.as_ref())
    }

    /// The packages of these entries of an index. The manifest of each is read, because the index entry proves nothing about the zip.
    ///
    /// # Errors
    /// As [`Repo::package`], for the first platform that has one.
    pub async fn packages(
        &self,
        entries: &[(Platform, &Descriptor)],
    ) -> Result<Vec<StoredPackage>, Error> {
        let reads = entries.iter();
        let reads = reads.map(|(platform, entry)| self.package(platform, entry));
        let reads = stream::iter(reads.collect::<Vec<_>>()).buffered(CONCURRENT_READS);
        reads.try_collect().await
    }

    /// The evidence of a version with its documents; `None` if there is none.
    ///
    /// # Errors
    /// The store fails, or the evidence is unusable.
    pub async fn evidence(&self, tag: &Tag) -> Result<Option<StoredEvidence>, Error> {
        let Some(raw) = self.manifest(At::Tag(tag)).await? else {
            return Ok(None);
        };
        let read = Evidence::read(&raw)?;
        let (checksums, signature, keys) = future::join3(
            self.proof(read.checksums),
            self.proof(read.signature),
            self.proof(read.keys),
        )
        .await;
        let evidence = Evidence {
            checksums: checksums?,
            signature: signature?,
            keys: keys?,
            protocols: read.protocols,
        };
        Ok(Some(StoredEvidence { raw, evidence }))
    }

    /// A document of the evidence.
    async fn proof(&self, expected: Option<Expected>) -> Result<Option<Vec<u8>>, Error> {
        match expected.map(|expected| self.blob(expected)) {
            Some(blob) => Ok(Some(blob.read(Part::Evidence, LARGEST_DOCUMENT).await?)),
            None => Ok(None),
        }
    }

    /// A manifest in files.
    async fn document(&self, at: At<'_>) -> Result<Option<RawManifest>, Error> {
        let what = at.part();
        let entry = match at {
            At::Tag(tag) => self.entry(tag)?,
            At::Entry(entry) => Some(entry.clone()),
        };
        let Some(entry) = entry else {
            return Ok(None);
        };
        let expected = entry.expected_of(what)?;
        let digest = expected.digest;
        match (self.blob(expected).document(&entry, what).await?, at) {
            (None, At::Tag(_)) => Err(Error::Missing { what, digest }),
            (document, _) => Ok(document),
        }
    }

    /// The descriptors of what is attached to a manifest, as the registry lists them. A registry without such lists has them in the list below its tag.
    ///
    /// # Errors
    /// The store fails, or the list is none.
    pub async fn attached(&self, subject: &Digest) -> Result<Vec<Descriptor>, Error> {
        if let Some(listed) = self.referrers(subject).await? {
            return Ok(listed);
        }
        let list = self.manifest(At::Tag(&Tag::of_referrers(subject))).await?;
        let listed = list.map(|list| list.parts()).transpose()?;
        Ok(listed.unwrap_or_default())
    }

    /// The Sigstore bundles that may attest the verification of an index. What is damaged or too large attests nothing.
    ///
    /// # Errors
    /// The store fails.
    pub async fn attestations(&self, index: &Digest) -> Result<Vec<Vec<u8>>, Error> {
        let mut entries = match self.attached(index).await {
            // A list that cannot be read has nothing that counts.
            Err(error) if error.is_damage() => Vec::new(),
            attached => attached?,
        };
        entries.retain(|entry| {
            let predicate = entry.annotations.get(PREDICATE);
            entry.artifact_type.as_deref() == Some(SIGSTORE_BUNDLE)
                && predicate.is_none_or(|one| one == PREDICATE_TYPE)
        });
        // Other tools attach bundles, too, with SBOMs for example. A mirror attests anew when its rule or key changes.
        entries.sort_by_cached_key(|entry| {
            let created = entry.annotations.get(CREATED).cloned();
            Reverse((entry.annotations.contains_key(ATTESTATION), created))
        });
        let mut found = Vec::new();
        for entry in entries.iter().take(MOST) {
            match self.sigstore_bundle(entry).await {
                Ok(attestation) => found.extend(attestation),
                Err(error) if error.is_damage() => {}
                Err(error) => return Err(error),
            }
        }
        Ok(found)
    }

    async fn sigstore_bundle(&self, entry: &Descriptor) -> Result<Option<Vec<u8>>, Error> {
        if entry.expected_of(Part::Manifest)?.size > LARGEST {
            return Ok(None);
        }
        let Some(raw) = self.manifest(At::Entry(entry)).await? else {
            return Ok(None);
        };
        let parts = raw.parts()?;
        let layer = parts.iter().find(|part| part.media_type == SIGSTORE_BUNDLE);
        let layer = layer.map(|layer| layer.expected_of(Part::Blob));
        let layer = layer.transpose()?.filter(|layer| layer.size <= LARGEST);
        self.proof(layer).await
    }
}

/// The full name, with the store's prefix.
impl fmt::Display for Repo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.place())
    }
}
