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
//! by [`copy`](crate::copy) and never changed. It is read at offsets: its lists and the headers of its members when it is opened. A reader refuses
//! members and orders that a writer would not have written. OCI tools read it too.

pub mod contents;
mod file;
mod tar;

pub use contents::Contents;
pub use file::{Lists, Member, Writing, part_path, parts_beside};

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::iter::once;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use self::contents::Parts;
use super::{BundleError, Error};
use crate::blob::{self, BlobInfo, BlobSource, Body, Opened, ReadError};
use crate::digest::Digest;
use crate::disk::{self, Blocks, temp_file};
use crate::jobs::locked;
use crate::oci::referrers::subject_of;
use crate::oci::tags::MOST_TAGS;
use crate::oci::{Descriptor, Part as Document, REF_NAME, Repository, Tag, Tags, tags};
use crate::release::Expected;

/// The largest `index.json` and contents list in bytes: enough for the 10,000 versions that its tags allow.
pub const LARGEST_LIST: u64 = 8 << 20;
/// The most members. A stranger's file may have millions of empty ones.
const MOST_MEMBERS: usize = 500_000;

/// The manifests of the tags, by repository.
type TagLists = BTreeMap<Repository, BTreeMap<Tag, Descriptor>>;
/// The number of the file that has a blob, its offset and its size in bytes.
type Members = HashMap<Digest, (usize, u64, u64)>;

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
    members: Members,
    /// The blobs that were read.
    read: Mutex<HashSet<Digest>>,
}

/// One file.
#[derive(Debug)]
struct Part {
    path: PathBuf,
    file: std::fs::File,
    length: u64,
    /// Where the blobs begin.
    head: u64,
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
        let (mut set, mut numbers, mut count) = (None, BTreeSet::new(), 0);
        for path in parts.iter().map(PathBuf::as_path).chain(alone) {
            let (part, tags, contents) = Part::open(path)?;
            if alone.is_none() {
                part.check_set(contents.parts, &mut set, &mut numbers)?;
            }
            for (repository, tags) in tags {
                let all = inner.tags.entry(repository).or_default();
                for (tag, entry) in tags {
                    count += 1;
                    // Two versions may have one index, and so the same signatures.
                    let is_attached = subject_of(tag.as_str()).is_some();
                    let known = all.insert(tag, entry.clone());
                    let is_repeated = known.is_some_and(|known| !is_attached || known != entry);
                    if is_repeated || count > MOST_TAGS {
                        let expected = format!("at most {MOST_TAGS} tags, each in one part");
                        return Err(part.fault(tar::INDEX, &expected, "more tags"));
                    }
                }
            }
            let omitted = contents.base.into_iter().flat_map(|base| base.omitted);
            let omitted = omitted.filter_map(|blob| blob.digest.parse::<Digest>().ok());
            inner.omitted.extend(omitted);
            let classes = contents.members.unwrap_or_default();
            part.scan(inner.parts.len(), classes, &mut inner.members)?;
            inner.parts.push(part);
        }
        inner.missing = set.and_then(|set| missing(path, set, &numbers));
        // A package that is there is not left out, whatever the list says.
        let members = &inner.members;
        inner.omitted.retain(|digest| !members.contains_key(digest));
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
        Some(BundleError::MissingPart { path, versions }.into())
    }

    /// Reads the blobs that were not read yet.
    ///
    /// # Errors
    /// One of them has other bytes than its name says, or cannot be read.
    pub async fn read_rest(&self) -> Result<(), Error> {
        for (digest, (_, _, size)) in &self.0.members {
            let (digest, size) = (*digest, *size);
            if !locked(&self.0.read).contains(&digest) {
                let read = blob::verify(&self.blob(Expected { digest, size })).await;
                read.map_err(|error| Error::reading(Document::Blob, digest, error))?;
            }
        }
        Ok(())
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

    /// The manifest that a tag refers to.
    pub(super) fn entry(&self, repository: &Repository, tag: &Tag) -> Option<Descriptor> {
        self.0.tags.get(repository)?.get(tag).cloned()
    }

    pub(super) fn blob(&self, expected: Expected) -> BundleBlob {
        BundleBlob {
            bundle: self.clone(),
            expected,
        }
    }

    pub(super) fn blob_size(&self, expected: &Expected) -> Option<u64> {
        self.find(&expected.digest).map(|(_, _, size)| size)
    }

    fn find(&self, digest: &Digest) -> Option<(&Part, u64, u64)> {
        let (part, at, size) = self.0.members.get(digest)?;
        Some((self.0.parts.get(*part)?, *at, *size))
    }
}

impl BlobSource for BundleBlob {
    type Failure = Error;

    fn info(&self) -> BlobInfo<'_> {
        BlobInfo::of(self.expected)
    }

    async fn open(&self, from: u64) -> Opened<Error> {
        let digest = self.expected.digest;
        let Some((part, at, stored)) = self.bundle.find(&digest) else {
            return Err(match self.bundle.omits(&digest) {
                true => ReadError::Source(BundleError::LeftOut { digest }.into()),
                false => blob::Error::Missing.into(),
            });
        };
        locked(&self.bundle.0.read).insert(digest);
        let blocks = Blocks::open(&part.path, at + from)?;
        Ok(Body::of_file(blocks.up_to(stored.saturating_sub(from))))
    }
}

impl Part {
    /// Reads the first three members.
    fn open(path: &Path) -> Result<(Self, TagLists, Contents), Error> {
        let file = disk::open(path)?;
        let mut part = Self {
            path: path.to_owned(),
            length: file.metadata().map_or(0, |found| found.len()),
            file,
            head: 0,
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
        Ok((part, tags, contents))
    }

    /// Refuses a file that is no part, a part of another set than the first one, and a second part of the same number.
    fn check_set(
        &self,
        parts: Option<Parts>,
        set: &mut Option<Parts>,
        numbers: &mut BTreeSet<usize>,
    ) -> Result<(), Error> {
        let expected = match &*set {
            Some(first) => format!("another part of {} of the set {}", first.of, first.set),
            None => "a part of a set".to_owned(),
        };
        if let Some(parts) = parts.filter(|parts| (1..=parts.of).contains(&parts.number)) {
            let is_new = numbers.insert(parts.number);
            let first = set.get_or_insert_with(|| parts.clone());
            let number = first.number;
            if is_new && *first == (Parts { number, ..parts }) {
                return Ok(());
            }
        }
        Err(self.fault(tar::CONTENTS, &expected, "another bundle"))
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

    /// Reads all headers, and adds the blobs that earlier parts do not have. `classes` says how many manifests, documents and packages follow.
    fn scan(&self, part: usize, classes: [usize; 3], members: &mut Members) -> Result<(), Error> {
        let mut end = self.head;
        for count in classes {
            let mut before: Option<Digest> = None;
            for number in 0..count {
                let Some((name, at, size)) = self.member(end)? else {
                    let expected = format!("{count} members of a class");
                    let received = format!("{number}, and then the end");
                    return Err(self.fault(tar::CONTENTS, &expected, &received));
                };
                let is_new = |digest: &Digest| {
                    before.is_none_or(|before| before < *digest)
                        && members.get(digest).is_none_or(|(known, ..)| *known != part)
                        && members.len() < MOST_MEMBERS
                };
                let Some(digest) = tar::digest_of(&name).filter(is_new) else {
                    let expected = "blobs sorted by digest, each once";
                    return Err(self.fault(&name, expected, "another member"));
                };
                members.entry(digest).or_insert((part, at, size));
                (before, end) = (Some(digest), at + size);
            }
        }
        match self.member(end)? {
            None => Ok(()),
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
            let (member, expected) = (format!("at byte {begin}"), "a header as tfoci writes it");
            return Err(self.fault(&member, expected, "other bytes, or the end of the file"));
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
        let error = BundleError::Faulty {
            path: self.path.clone(),
            member: member.to_owned(),
            expected: expected.to_owned(),
            received: received.to_owned(),
        };
        error.into()
    }
}

/// The first part that is missing in a set, and the versions of all that are.
fn missing(path: &Path, set: Parts, numbers: &BTreeSet<usize>) -> Option<(PathBuf, Vec<String>)> {
    let number = (1..=set.of).find(|number| !numbers.contains(number))?;
    let mut lost = set.versions;
    lost.retain(|_, part| !numbers.contains(part));
    Some((part_path(path, number), lost.into_keys().collect()))
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

/// The tags in an `index.json`; `None` if a tag is of no provider, or occurs twice.
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
    /// Whether its versions are exactly these tags, apart from tags of attachments.
    fn is_of(&self, tags: &TagLists) -> bool {
        let tagged = tags.iter().flat_map(|(repository, tags)| {
            let tags = tags.iter();
            let tags = tags.filter(|(tag, _)| subject_of(tag.as_str()).is_none());
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
