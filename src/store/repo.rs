//! One repository of a store: reads tags, manifests and evidence, and refuses what clients refuse.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use futures_util::{StreamExt as _, TryStreamExt as _, future, stream};

use super::artifact::{Artifact, StoredEvidence, StoredPackage};
use super::{At, Bundle, Error, Store, StoreBlob, document};
use crate::blob::proven;
use crate::credentials::Credentials;
use crate::digest::Digest;
use crate::oci::referrers::subject_of;
use crate::oci::{
    self, Descriptor, Evidence, Index, Part, REF_NAME, RawManifest, Refusal, Repository, Tag,
    manifest,
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
        match &self.store {
            Store::Layout(layout) => layout.incomplete(&self.name),
            Store::Registry(_) | Store::Bundle(_) => None,
        }
        .map(|path| Error::Incomplete { path })
    }

    /// Whether a first version is being written to it, or its writer was interrupted.
    pub fn is_begun(&self) -> bool {
        match &self.store {
            Store::Layout(layout) => layout.is_begun(&self.name),
            Store::Registry(_) | Store::Bundle(_) => false,
        }
    }

    /// The repository, in which this tag has to refer to this digest.
    #[must_use]
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
            Store::Registry(registry) => registry.tags(&self.name).await,
            Store::Bundle(bundle) => Ok(bundle.tags(&self.name)),
        }
    }

    /// A manifest or index; `None` if it does not exist.
    ///
    /// # Errors
    /// The store fails, the manifest is damaged, or a pinned tag refers to another one.
    pub async fn manifest(&self, at: At<'_>) -> Result<Option<RawManifest>, Error> {
        let raw = match &self.store {
            Store::Registry(registry) => registry.manifest(&self.name, at).await?,
            Store::Layout(_) | Store::Bundle(_) => {
                let entry = match at {
                    At::Tag(tag) => self.entry(tag)?,
                    At::Entry(_) => None,
                };
                document::manifest(at, entry, |expected| self.blob(expected)).await?
            }
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
            return registry.digest(&self.name, tag).await;
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
        let listed = registry.referrers(&self.name, subject).await?;
        let read = |text: String| Descriptor::of(serde_json::from_str(&text)?);
        let listed = listed.map(|all| all.into_iter().map(read).collect());
        let unread = |source| Refusal::unread(Part::Tag, source);
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
        let entries = match &self.store {
            Store::Layout(layout) => layout.descriptors(&self.name)?,
            Store::Registry(_) | Store::Bundle(_) => Vec::new(),
        };
        let mut seen = BTreeSet::new();
        for entry in entries {
            let is_tagged = entry.annotations.contains_key(REF_NAME);
            if is_tagged || !entry.may_refer_to_others() || !seen.insert(entry.digest.clone()) {
                continue;
            }
            // What cannot be read is not attached to anything.
            let raw = self.manifest(At::Entry(&entry)).await.ok().flatten();
            let subject = raw.and_then(|raw| oci::subject(&raw.bytes).ok().flatten());
            if let Some(subject) = subject {
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
            Store::Registry(registry) => registry.stored_size(&self.name, expected).await,
            Store::Bundle(bundle) => bundle.blob_size(expected).await,
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
        match &self.store {
            Store::Layout(_) | Store::Bundle(_) => None,
            Store::Registry(_) => Some(self.name.host_and_name().0),
        }
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
            Store::Registry(registry) => registry.check_root(&self.name).await,
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
        let what = Part::Manifest;
        let digest = entry.expected_of(what)?.digest;
        let raw = self.manifest(At::Entry(entry)).await?;
        let layer = manifest::read(&raw.ok_or(Error::Missing { what, digest })?, platform)?;
        Ok(StoredPackage {
            platform: platform.clone(),
            entry: entry.clone(),
            layer,
        })
    }

    /// The packages of these entries of an index. The manifest of each is read, because the index entry proves nothing about the zip.
    ///
    /// # Errors
    /// As [`Repo::package`], for the first platform that has one.
    pub async fn packages(
        &self,
        entries: &[(Platform, &Descriptor)],
    ) -> Result<Vec<StoredPackage>, Error> {
        let reads = entries
            .iter()
            .map(|(platform, entry)| self.package(platform, entry));
        let reads: Vec<_> = reads.collect();
        let reads = stream::iter(reads).buffered(CONCURRENT_READS);
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
            self.document(read.checksums),
            self.document(read.signature),
            self.document(read.keys),
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

    pub(super) async fn document(
        &self,
        expected: Option<Expected>,
    ) -> Result<Option<Vec<u8>>, Error> {
        const WHAT: Part = Part::Evidence;
        let Some(expected) = expected else {
            return Ok(None);
        };
        if expected.size > LARGEST_DOCUMENT {
            return Err(Error::TooLarge {
                what: WHAT,
                limit: LARGEST_DOCUMENT,
                size: expected.size,
            });
        }
        let unusable = |source| Error::reading(WHAT, expected.digest, source);
        let body = proven(&self.blob(expected)).await.map_err(unusable)?;
        let bytes = body.collect(expected.size).await;
        bytes.map(Some).map_err(unusable)
    }
}

/// The full name, with the store's prefix.
impl fmt::Display for Repo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.place())
    }
}
