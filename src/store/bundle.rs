//! Bundles: one tar that is an OCI image layout, for stores that no network connects.
//!
//! ```text
//! index.json            the tags: HOST/NAMESPACE/TYPE/TAG of each version and of its evidence
//! tfoci-bundle.json     the contents list
//! oci-layout
//! blobs/sha256/<hex>    manifests, then documents of the evidence, then zips; each class sorted by digest
//! ```
//!
//! The same versions give the same file on every machine: members have no time and no owner, and each blob is stored once. A bundle is written
//! by [`copy`](crate::copy) and never changed. It is read at offsets: its lists when it is opened, and the headers of its members once, when the
//! first blob is read. A reader refuses members and orders that a writer would not have written. OCI tools read it too.

pub mod contents;
mod file;
mod tar;

pub use contents::Contents;
pub use file::{Lists, Member, Writing, key_of, part_path, parts_beside, refused};

use std::collections::{BTreeMap, HashMap, HashSet};
use std::iter::once;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use self::contents::Parts;
use super::document::document;
use super::{At, Error};
use crate::blob::{self, BlobInfo, BlobSource, Body, Opened, ReadError};
use crate::digest::Digest;
use crate::disk::{self, Blocks, temp_file};
use crate::oci::{Descriptor, REF_NAME, RawManifest, Repository, Tag, Tags, tags};
use crate::release::Expected;

/// The largest `index.json` and contents list in bytes: enough for the 10,000 versions that its tags allow.
pub const LARGEST_LIST: u64 = 8 << 20;
/// The most members. A stranger's file may have millions of empty ones.
const MOST_MEMBERS: usize = 500_000;

/// The SHA-256 of a blob. A bundle has no others.
pub type Key = [u8; 32];
/// The manifests of the tags, by repository.
type TagLists = BTreeMap<Repository, BTreeMap<Tag, Descriptor>>;
/// The offset and the size in bytes of each blob.
type Members = HashMap<Key, (u64, u64)>;

/// A bundle that is read, or the parts of a set together.
#[derive(Clone, Debug)]
pub struct Bundle(Arc<Inner>);

#[derive(Debug, Default)]
struct Inner {
    name: String,
    parts: Vec<Part>,
    tags: TagLists,
    /// The packages that a delta leaves out.
    omitted: HashSet<Digest>,
    /// The first part that is missing, and the versions of all that are.
    missing: Option<(PathBuf, Vec<String>)>,
}

/// One file.
#[derive(Debug)]
struct Part {
    path: PathBuf,
    file: std::fs::File,
    length: u64,
    contents: Contents,
    /// Where the blobs begin.
    head: u64,
    members: OnceLock<Members>,
}

/// A blob in a bundle.
#[derive(Clone, Debug)]
pub struct BundleBlob {
    bundle: Bundle,
    expected: Expected,
}

impl Bundle {
    /// Opens a bundle, or the parts `FILE.001` and so on if there is no `FILE`. `name` is the address as the user wrote it.
    ///
    /// # Errors
    /// There is no such file, it is not a bundle, or the parts are of different sets.
    pub fn open(path: &Path, name: &str) -> Result<Self, Error> {
        let mut inner = Inner {
            name: name.to_owned(),
            ..Inner::default()
        };
        let parts = match path.exists() {
            true => Vec::new(),
            false => parts_beside(path),
        };
        // Who names one part means that one.
        let alone = parts.is_empty().then_some(path);
        for path in parts.iter().map(PathBuf::as_path).chain(alone) {
            let (part, tags) = Part::open(path)?;
            part.check_set(&inner.parts)?;
            for (repository, tags) in tags {
                inner.tags.entry(repository).or_default().extend(tags);
            }
            let omitted = part.contents.base.iter().flat_map(|base| &base.omitted);
            let omitted = omitted.filter_map(|blob| blob.digest.parse::<Digest>().ok());
            inner.omitted.extend(omitted);
            inner.parts.push(part);
        }
        if alone.is_none() {
            inner.missing = missing(path, &inner.parts);
        }
        Ok(Self(Arc::new(inner)))
    }

    /// A bundle that is not written yet, so that nothing is in it.
    pub fn unwritten(name: &str) -> Self {
        let name = name.to_owned();
        Self(Arc::new(Inner {
            name,
            ..Inner::default()
        }))
    }

    /// Whether it leaves out packages that its target must have.
    pub fn is_delta(&self) -> bool {
        !self.0.omitted.is_empty()
    }

    /// Whether it leaves out this package, for a target that has it.
    pub fn omits(&self, digest: &Digest) -> bool {
        self.0.omitted.contains(digest)
    }

    /// Why not all of a set is there, if parts are missing.
    pub fn incomplete(&self) -> Option<Error> {
        let (path, versions) = self.0.missing.clone()?;
        Some(Error::MissingPart { path, versions })
    }

    pub(super) fn repositories(&self) -> Vec<Repository> {
        self.0.tags.keys().cloned().collect()
    }

    pub(super) fn name(&self, repository: &Repository) -> String {
        format!("{}/{repository}", self.0.name)
    }

    pub(super) fn tags(&self, repository: &Repository) -> Option<Vec<String>> {
        let tags = self.0.tags.get(repository)?;
        Some(tags.keys().map(Tag::to_string).collect())
    }

    pub(super) async fn manifest(
        &self,
        repository: &Repository,
        at: At<'_>,
    ) -> Result<Option<RawManifest>, Error> {
        let what = at.part();
        let entry = match at {
            At::Entry(entry) => Some(entry),
            At::Tag(tag) => self.entry(repository, tag),
        };
        let Some(entry) = entry else {
            return Ok(None);
        };
        let expected = entry.expected_of(what)?;
        let document = document(&self.blob(expected), entry, what).await?;
        match (document, at, expected.digest) {
            (None, At::Tag(_), digest) => Err(Error::Missing { what, digest }),
            (document, ..) => Ok(document),
        }
    }

    pub(super) fn digest(
        &self,
        repository: &Repository,
        tag: &Tag,
    ) -> Result<Option<Digest>, Error> {
        let entry = self.entry(repository, tag);
        let expected = entry.map(|entry| entry.expected_of(At::Tag(tag).part()));
        Ok(expected.transpose()?.map(|expected| expected.digest))
    }

    fn entry(&self, repository: &Repository, tag: &Tag) -> Option<&Descriptor> {
        self.0.tags.get(repository)?.get(tag)
    }

    pub(super) fn blob(&self, expected: Expected) -> BundleBlob {
        BundleBlob {
            bundle: self.clone(),
            expected,
        }
    }

    pub(super) fn blob_size(&self, expected: &Expected) -> Result<Option<u64>, Error> {
        Ok(self.find(&expected.digest)?.map(|(_, _, size)| size))
    }

    /// The part that has a blob, its offset and its size in bytes.
    fn find(&self, digest: &Digest) -> Result<Option<(&Part, u64, u64)>, Error> {
        let key = digest.sha256();
        for part in &self.0.parts {
            let members = part.members()?;
            if let Some((at, size)) = key.and_then(|key| members.get(&key)) {
                return Ok(Some((part, *at, *size)));
            }
        }
        Ok(None)
    }
}

impl BlobSource for BundleBlob {
    type Failure = Error;

    fn info(&self) -> BlobInfo<'_> {
        BlobInfo::of(self.expected)
    }

    async fn open(&self, from: u64) -> Opened<Error> {
        let Expected { digest, size } = self.expected;
        let found = self.bundle.find(&digest).map_err(ReadError::Source)?;
        let Some((part, at, stored)) = found else {
            return Err(match self.bundle.omits(&digest) {
                true => ReadError::Source(Error::LeftOut { digest }),
                false => blob::Error::Missing.into(),
            });
        };
        if stored < size {
            let received = stored;
            return Err(blob::Error::Shorter {
                expected: size,
                received,
            }
            .into());
        }
        let blocks = Blocks::open(&part.path, at + from)?;
        Ok(Body::of_file(blocks.up_to(stored.saturating_sub(from))))
    }
}

impl Part {
    /// Reads the first three members.
    fn open(path: &Path) -> Result<(Self, TagLists), Error> {
        let file = disk::open(path)?;
        let mut part = Self {
            path: path.to_owned(),
            length: file.metadata().map_or(0, |found| found.len()),
            file,
            contents: Contents::default(),
            head: 0,
            members: OnceLock::new(),
        };
        let index = part.list(tar::INDEX)?;
        let list = part.list(tar::CONTENTS)?;
        let marker = part.list(tar::MARKER)?;
        let other = |name| part.fault(name, "what `tfoci copy` writes", "another document");
        let tags = read_index(index).ok_or_else(|| other(tar::INDEX))?;
        let contents = Contents::read(&list).ok();
        let contents = contents.filter(|contents| contents.is_of(&tags));
        let contents = contents.ok_or_else(|| other(tar::CONTENTS))?;
        if marker != tags::LAYOUT {
            return Err(other(tar::MARKER));
        }
        part.contents = Contents {
            versions: Vec::new(),
            ..contents
        };
        Ok((part, tags))
    }

    /// Refuses a part of another set, and a second one of the same number.
    fn check_set(&self, others: &[Self]) -> Result<(), Error> {
        let of = |part: &Self| {
            let parts: Option<&Parts> = part.contents.parts.as_ref();
            parts.map(|parts| (parts.set.clone(), parts.number))
        };
        let (set, number) = of(self).unwrap_or_default();
        let Some(other) = others
            .iter()
            .filter_map(of)
            .find(|one| one.0 != set || one.1 == number)
        else {
            return Ok(());
        };
        let expected = format!("another part of the set {}", other.0);
        let received = format!("part {number} of {set}");
        Err(self.fault(tar::CONTENTS, &expected, &received))
    }

    /// The content of the next member of the head, which must have this name.
    fn list(&mut self, name: &'static str) -> Result<Vec<u8>, Error> {
        let received = match self.member(self.head)? {
            Some((found, at, size)) if found == name && size <= LARGEST_LIST => {
                self.head = at + size;
                return self.read(at, size);
            }
            Some((found, _, size)) => format!("the member {found} of {size} bytes"),
            None => "the end".to_owned(),
        };
        let expected = format!("{name} of at most {LARGEST_LIST} bytes");
        Err(self.fault(name, &expected, &received))
    }

    fn members(&self) -> Result<&Members, Error> {
        if let Some(members) = self.members.get() {
            return Ok(members);
        }
        let members = self.scan()?;
        Ok(self.members.get_or_init(|| members))
    }

    /// Reads all headers.
    fn scan(&self) -> Result<Members, Error> {
        let (mut members, mut end) = (Members::new(), self.head);
        for count in self.contents.members.into_iter().flatten() {
            let mut before: Option<Key> = None;
            for number in 0..count {
                let Some((name, at, size)) = self.member(end)? else {
                    let received = format!("{number}, and then the end");
                    return Err(self.fault(
                        tar::CONTENTS,
                        &format!("{count} members of a class"),
                        &received,
                    ));
                };
                let key = tar::key_of(&name).filter(|key| {
                    before.is_none_or(|before| before < *key) && !members.contains_key(key)
                });
                let Some(key) = key.filter(|_| members.len() < MOST_MEMBERS) else {
                    return Err(self.fault(
                        &name,
                        "blobs sorted by digest, each once",
                        "another member",
                    ));
                };
                members.insert(key, (at, size));
                (before, end) = (Some(key), at + size);
            }
        }
        match self.member(end)? {
            None => Ok(members),
            Some((name, ..)) => Err(self.fault(&name, "the end of the bundle", "another member")),
        }
    }

    /// The name, offset and size of the member that follows the bytes before `end`; `None` at the end of the file.
    fn member(&self, end: u64) -> Result<Option<(String, u64, u64)>, Error> {
        let begin = end.next_multiple_of(tar::BLOCK);
        let blocks = self.read(end, begin - end + tar::END)?;
        let filler = usize::try_from(begin - end).unwrap_or_default();
        let (filler, rest) = blocks.split_at(filler.min(blocks.len()));
        let is_zero = |bytes: &[u8]| bytes.iter().all(|byte| *byte == 0);
        if begin + tar::END == self.length && is_zero(&blocks) {
            return Ok(None);
        }
        let header = rest.get(..tar::BLOCK as usize).filter(|_| is_zero(filler));
        let Some((name, size)) = header.and_then(tar::read) else {
            let expected = format!("a member at byte {begin}, as tfoci writes it");
            return Err(self.fault("", &expected, "other bytes, or the end of the file"));
        };
        let at = begin + tar::BLOCK;
        if at + size.next_multiple_of(tar::BLOCK) + tar::END > self.length {
            let expected = format!("{size} bytes from byte {at} on");
            return Err(self.fault(&name, &expected, &format!("a file of {}", self.length)));
        }
        Ok(Some((name, at, size)))
    }

    /// Reads bytes, as far as the file has them.
    fn read(&self, at: u64, size: u64) -> Result<Vec<u8>, Error> {
        let size = size.min(self.length.saturating_sub(at));
        let mut bytes = vec![0; usize::try_from(size).unwrap_or_default()];
        let read = temp_file::read_exact_at(&self.file, &mut bytes, at);
        read.map_err(|source| disk::Error::at("read", &self.path, source))?;
        Ok(bytes)
    }

    fn fault(&self, member: &str, expected: &str, received: &str) -> Error {
        refused("use", Some(&self.path), member, expected, received)
    }
}

/// The first part that is missing in a set, and the versions of all that are.
fn missing(path: &Path, parts: &[Part]) -> Option<(PathBuf, Vec<String>)> {
    let of_set = parts.first()?.contents.parts.as_ref()?;
    let numbers = parts.iter().filter_map(|part| part.contents.parts.as_ref());
    let numbers: HashSet<usize> = numbers.map(|part| part.number).collect();
    let number = (1..=of_set.of).find(|number| !numbers.contains(number))?;
    let lost = of_set
        .versions
        .iter()
        .filter(|(_, part)| !numbers.contains(part));
    let lost = lost.map(|(version, _)| version.clone());
    Some((part_path(path, number), lost.collect()))
}

/// A tag in an `index.json`.
///
/// # Errors
/// None for descriptors that tfoci parsed or built.
pub fn index_entry(
    repository: &Repository,
    tag: &Tag,
    mut descriptor: Descriptor,
) -> Result<String, serde_json::Error> {
    let name = format!("{repository}/{tag}");
    descriptor.annotations.insert(REF_NAME.to_owned(), name);
    serde_json::to_string(&descriptor)
}

/// The tags in an `index.json`; `None` if it has others than those of providers, or one of them twice.
fn read_index(bytes: Vec<u8>) -> Option<TagLists> {
    let mut tags = TagLists::new();
    for (name, mut descriptor) in Tags::read(bytes).ok()?.named() {
        descriptor.annotations.remove(REF_NAME);
        let (repository, tag) = name.rsplit_once('/')?;
        let repository = Repository::of_directory(repository)?;
        let tags = tags.entry(repository).or_default();
        let before = tags.insert(Tag::parse(tag).ok()?, descriptor);
        before.is_none().then_some(())?;
    }
    Some(tags)
}

impl Contents {
    /// Whether its versions are those of these tags, which have no others.
    fn is_of(&self, tags: &TagLists) -> bool {
        let tagged = tags.iter().flat_map(|(repository, tags)| {
            let tags = tags.iter();
            tags.map(move |(tag, one)| (format!("{repository}/{tag}"), one.digest.clone()))
        });
        let listed = self.versions.iter().flat_map(|one| {
            let (address, tag) = (&one.address, one.version.replace('+', "_"));
            let evidence = one.evidence.clone();
            let evidence = evidence.map(|digest| (format!("{address}/evidence-{tag}"), digest));
            let index = (format!("{address}/{tag}"), one.index.clone());
            once(index).chain(evidence)
        });
        let (tagged, listed): (HashSet<_>, HashSet<_>) = (tagged.collect(), listed.collect());
        tagged == listed
    }
}
