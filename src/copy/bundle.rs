//! Copies into a bundle, in two passes.
//!
//! 1. Every version is read and verified as in each copy, and noted in a [`Draft`]. The bytes of its packages stay where they are. Which members
//!    a file has, and where, is then known.
//! 2. Each blob is **streamed** from its store to its offset in `FILE.part`, and hashed on its way. The file is synced and renamed. If the run is
//!    killed, the next one reads what is there and fetches only the rest.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::Arc;

use super::draft::{Draft, Drafted, Drafts};
use super::{Options, Task, run};
use crate::digest::Digest;
use crate::event::{Event, Reporter};
use crate::jobs::Jobs;
use crate::oci::{self, Part};
use crate::outcome::{Failure, OnResult, Problem, Published};
use crate::place::Place;
use crate::publish::ReportedBlob;
use crate::release::Expected;
use crate::store::bundle::contents::Parts;
use crate::store::bundle::contents::{Base, BundledVersion, Contents, FORMAT, ListedBlob};
use crate::store::bundle::{Lists, Member, Writing, part_path};
use crate::store::{BundleError, Error, PutError};

/// Where a bundle is written.
#[derive(Clone, Debug)]
pub struct Output {
    /// The store, for messages.
    pub place: Place,
    /// The file; `None` for the standard output.
    pub path: Option<PathBuf>,
    /// The bytes that each part must stay below; `None` for one file.
    pub split: Option<u64>,
    /// What the far side has: what `tfoci have` printed, or the list of an earlier bundle, and the digest of the list.
    pub base: Option<(Contents, Digest)>,
}

/// A file that was written, or would be.
#[derive(Clone, Debug, serde::Serialize)]
pub struct Bundled {
    /// The file; `None` for the standard output.
    pub path: Option<PathBuf>,
    /// Its digest, if it was written to a file.
    pub digest: Option<Digest>,
    /// Its size in bytes.
    pub size: u64,
    /// Its versions.
    pub versions: usize,
    /// The bytes of the packages that it leaves out for a far side that has them.
    pub omitted: u64,
}

/// The blobs of a file.
#[derive(Default)]
struct Blobs {
    manifests: BTreeSet<Expected>,
    documents: BTreeSet<Expected>,
    packages: BTreeSet<Expected>,
    omitted: BTreeSet<Expected>,
    /// The bytes of their members.
    length: u64,
}

/// Copies providers into a bundle.
pub(super) async fn copy_into_bundle(
    tasks: Vec<Task>,
    options: &Options,
    output: &Output,
    reporter: &Arc<dyn Reporter>,
    on_result: &OnResult<'_>,
) -> Result<Vec<Bundled>, Failure> {
    let failed = |error: Error| at_target(error, &output.place);
    // 1. Read and verify.
    let base = output.base.as_ref().map(|(contents, _)| contents);
    let draft = Draft::new(base, options.dry_run).map_err(failed)?;
    // A version is reported when its file is complete.
    let on_read =
        |read: Result<Published, Failure>| drop(read.map_err(|failed| on_result(Err(failed))));
    run(tasks, options, Some(&draft), reporter, &on_read).await;
    let drafts = Arc::new(draft.finish());
    let mut versions: Vec<&Drafted> = drafts.versions.iter().collect();
    versions.sort_by_key(|one| (&one.repository, &one.published.version));
    let mut files = output.plan(&versions).map_err(failed)?;
    // 2. Stream the bytes. All files are complete before the first one is shown.
    let mut complete = Vec::new();
    for (bundled, lists, members) in files.iter_mut().filter(|_| !options.dry_run) {
        let writing = Writing::begin(bundled.path.as_deref(), lists, bundled.size);
        let second = SecondPass {
            writing: Arc::new(writing.map_err(failed)?),
            drafts: Arc::clone(&drafts),
            place: output.place.clone(),
            reporter: Arc::clone(reporter),
        };
        let jobs = match second.writing.is_pipe() {
            true => Jobs::new(1),
            false => options.jobs.clone(),
        };
        let place = |member: &Member| second.clone().place(*member);
        jobs.run(members.iter(), place).await?;
        bundled.digest = second.writing.finish().await.map_err(failed)?;
        complete.extend(bundled.digest.map(|digest| (second.writing, digest)));
    }
    for (writing, digest) in complete {
        writing.show(&digest).map_err(failed)?;
    }
    for version in versions {
        let mut published = version.published.clone();
        if output.path.is_none() {
            // What goes to a pipe cannot be referred to.
            published.reference = String::new();
        }
        on_result(Ok(published));
    }
    Ok(files.into_iter().map(|(bundled, ..)| bundled).collect())
}

/// A file, its first members, and where the others are.
type Planned = (Bundled, Lists, Vec<Member>);

impl Output {
    /// Plans the files: which versions are in which one, and where their members are.
    fn plan(&self, versions: &[&Drafted]) -> Result<Vec<Planned>, Error> {
        let parts = match self.split {
            _ if versions.is_empty() => return Ok(Vec::new()),
            None => return Ok(vec![self.file(versions, None)?]),
            Some(limit) => Self::cut(versions, limit)?,
        };
        let numbered = || (1..).zip(&parts);
        let named = numbered().flat_map(|(number, part)| {
            let published = part.iter().map(|one| &one.published);
            published.map(move |one| (format!("{} {}", one.provider, one.version), number))
        });
        let named: BTreeMap<String, usize> = named.collect();
        let indexes: Vec<_> = versions.iter().map(|one| one.published.digest).collect();
        let set = serde_json::to_vec(&(&named, indexes)).map_err(oci::Error::from)?;
        let files = numbered().map(|(number, part)| {
            let of_set = Parts {
                set: Digest::of(&set).to_string(),
                number,
                of: parts.len(),
                versions: named.clone(),
            };
            self.file(part, Some(of_set))
        });
        files.collect()
    }

    /// Cuts the versions into parts, in their order.
    fn cut<'v>(versions: &'v [&'v Drafted], limit: u64) -> Result<Vec<&'v [&'v Drafted]>, Error> {
        // What the lists need at most: each names the versions of the whole set.
        let lists = |count: usize| 10_000 + 200 * (versions.len() + 20 * count) as u64;
        let (mut parts, mut begin, mut blobs) = (Vec::new(), 0, Blobs::default());
        for (at, version) in versions.iter().enumerate() {
            blobs.add(version);
            if at > begin && blobs.length + lists(at + 1 - begin) >= limit {
                parts.extend(versions.get(begin..at));
                (begin, blobs) = (at, Blobs::default());
                blobs.add(version);
            }
            let size = blobs.length + lists(1);
            if size >= limit && at == begin {
                let (provider, version) = (&version.published.provider, &version.published.version);
                let expected = format!("less than {limit} bytes for {provider} {version}");
                let received = format!("{size} bytes");
                return Err(BundleError::Unwritable { expected, received }.into());
            }
        }
        parts.extend(versions.get(begin..));
        Ok(parts)
    }

    /// A file of these versions.
    fn file(&self, versions: &[&Drafted], parts: Option<Parts>) -> Result<Planned, Error> {
        let mut blobs = Blobs::default();
        versions.iter().for_each(|version| blobs.add(version));
        // An attachment may have the same bytes as a package or a manifest.
        blobs.packages.retain(|one| !blobs.manifests.contains(one));
        let others = blobs.manifests.union(&blobs.packages);
        let others: BTreeSet<Expected> = others.copied().collect();
        blobs.documents.retain(|one| !others.contains(one));
        // A package that one provider's repository has may be missing in that of another.
        let omitted = blobs.omitted.difference(&blobs.packages);
        let omitted = omitted.filter(|one| !blobs.documents.contains(*one));
        let omitted: Vec<ListedBlob> = omitted.copied().map(ListedBlob::new).collect();
        let mut bundled = Bundled {
            path: match (&self.path, &parts) {
                (Some(path), Some(parts)) => Some(part_path(path, parts.number)),
                (path, _) => path.clone(),
            },
            digest: None,
            size: 0,
            versions: versions.len(),
            omitted: omitted.iter().map(|one| one.size).sum(),
        };
        let contents = Contents {
            format: FORMAT,
            versions: versions.iter().map(|one| listed(one)).collect(),
            members: Some([&blobs.manifests, &blobs.documents, &blobs.packages].map(BTreeSet::len)),
            base: self.base.as_ref().map(|(_, digest)| Base {
                digest: digest.to_string(),
                omitted,
            }),
            parts,
        };
        let entries = versions.iter().flat_map(|one| {
            let tags = one.tags.iter();
            tags.map(move |(tag, entry)| ((&one.repository, tag), entry.as_str()))
        });
        let entries: BTreeMap<_, _> = entries.collect();
        let lists = Lists::new(entries.into_values(), &contents)?.ok_or_else(|| {
            let expected = "fewer versions for its lists".to_owned();
            let received = format!("{} versions", versions.len());
            BundleError::Unwritable { expected, received }
        })?;
        let members = blobs.manifests.iter().chain(&blobs.documents);
        let (members, size) = lists.members(members.chain(&blobs.packages).copied());
        bundled.size = size;
        Ok((bundled, lists, members))
    }
}

fn listed(version: &Drafted) -> BundledVersion {
    let published = &version.published;
    let platforms = published.packages.iter();
    BundledVersion {
        address: version.repository.to_string(),
        version: published.version.to_string(),
        index: published.digest.to_string(),
        platforms: platforms.map(|one| one.platform.to_string()).collect(),
        evidence: version.evidence.map(|digest| digest.to_string()),
        packages: Vec::new(),
    }
}

impl Blobs {
    fn add(&mut self, version: &Drafted) {
        let mut add = |set: &mut BTreeSet<Expected>, blob: Expected| {
            if set.insert(blob) {
                self.length += Member::length(blob.size);
            }
        };
        for manifest in &version.manifests {
            add(&mut self.manifests, *manifest);
        }
        for document in &version.documents {
            add(&mut self.documents, *document);
        }
        for (package, is_had) in &version.packages {
            match is_had {
                true => drop(self.omitted.insert(*package)),
                false => add(&mut self.packages, *package),
            }
        }
    }
}

/// Writes the members of a file.
#[derive(Clone)]
struct SecondPass {
    writing: Arc<Writing>,
    drafts: Arc<Drafts>,
    place: Place,
    reporter: Arc<dyn Reporter>,
}

impl SecondPass {
    async fn place(self, member: Member) -> Result<(), Failure> {
        let expected = member.expected;
        let failed = |error| at_target(error, &self.place);
        let found = self.drafts.blob(expected);
        let (version, package, blob) = found.map_err(failed)?;
        let (subject, what, reporter): (_, _, Arc<dyn Reporter>) = match package {
            Some(_) => (
                version.subject(package),
                Part::Package,
                self.reporter.clone(),
            ),
            None => (version.subject(package), Part::Blob, Arc::new(())),
        };
        let watched = ReportedBlob::start(blob, &subject, &reporter);
        let placed = self.writing.place(member, &watched).await;
        let transfer = placed.map_err(|error| match error {
            PutError::Store(error) => failed(error),
            PutError::Source(error) => {
                let problem = Problem::Store(Error::reading(what, expected.digest, error));
                problem.of(subject.clone(), Some(version.from.place()))
            }
        })?;
        if let Some(authentication) = version.published.authentication.clone() {
            reporter.report(Event::Finished {
                subject,
                size: expected.size,
                transfer,
                authentication,
            });
        }
        Ok(())
    }
}

fn at_target(error: Error, place: &Place) -> Failure {
    Failure {
        at: Some(place.clone()),
        ..Failure::from(error)
    }
}
