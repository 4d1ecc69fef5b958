//! Copies into a bundle, in two passes.
//!
//! 1. Every version is read and verified as in each copy, and noted in a [`Draft`]. The bytes of its packages stay where they are. Which members
//!    a file has, and where, is then known.
//! 2. Each blob is **streamed** from its store to its offset in `FILE.part`, and hashed on its way. The file is synced and renamed. If the run is
//!    killed, the next one reads what is there and fetches only the rest.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::PathBuf;
use std::sync::Arc;

use super::draft::{Draft, Drafted, State};
use super::{Options, Task, run};
use crate::authentication::Authentication;
use crate::digest::Digest;
use crate::event::{Event, Reporter, Subject};
use crate::jobs::Jobs;
use crate::oci::{self, Part};
use crate::outcome::{At, Failure, OnResult, Problem};
use crate::place::Place;
use crate::publish::ReportedBlob;
use crate::store::bundle::contents::Parts;
use crate::store::bundle::contents::{Base, Contents, FORMAT, ListedBlob, ListedVersion};
use crate::store::bundle::{Key, Lists, Member, Writing, part_path, refused};
use crate::store::{Error, PutError};

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
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path: Option<PathBuf>,
    /// Its digest, if it was written to a file.
    #[serde(skip_serializing_if = "Option::is_none")]
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
    manifests: BTreeSet<Key>,
    documents: BTreeSet<Key>,
    packages: BTreeSet<Key>,
    omitted: BTreeSet<Key>,
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
    let draft = Arc::new(Draft::new(base, options.dry_run).map_err(failed)?);
    run(tasks, options, Some(&draft), reporter, on_result).await;
    let mut versions = std::mem::take(&mut draft.state().versions);
    versions.sort_by_cached_key(|one| (one.repository.clone(), one.published.version.clone()));
    let mut files = output.plan(&draft.state(), &versions).map_err(failed)?;
    // 2. Stream the bytes. All files are complete before the first one is shown.
    let packages = packages(&versions);
    let mut complete = Vec::new();
    for (bundled, lists, members) in files.iter_mut().filter(|_| !options.dry_run) {
        let writing = Writing::begin(bundled.path.as_deref(), lists, bundled.size);
        let second = SecondPass {
            writing: Arc::new(writing.map_err(failed)?),
            draft: Arc::clone(&draft),
            place: output.place.clone(),
            reporter: Arc::clone(reporter),
        };
        let jobs = match second.writing.is_pipe() {
            true => Jobs::new(1),
            false => options.jobs.clone(),
        };
        let members = members.iter().map(|member| {
            let package = packages.get(&member.key).and_then(|(version, package)| {
                let version = versions.get(*version)?;
                let authentication = version.published.authentication.clone()?;
                Some((
                    version.subject(*package)?,
                    authentication,
                    version.from.clone(),
                ))
            });
            (*member, package)
        });
        let place = |(member, package)| second.clone().place(member, package);
        jobs.run(members, place).await?;
        bundled.digest = second.writing.finish().await.map_err(failed)?;
        complete.extend(bundled.digest.map(|digest| (second.writing, digest)));
    }
    for (writing, digest) in complete {
        writing.show(&digest).map_err(failed)?;
    }
    for mut version in versions {
        if output.path.is_none() {
            // What goes to a pipe cannot be referred to.
            version.published.reference = String::new();
        }
        on_result(Ok(version.published));
    }
    Ok(files.into_iter().map(|(bundled, ..)| bundled).collect())
}

/// Where each package is among the versions.
fn packages(versions: &[Drafted]) -> HashMap<Key, (usize, usize)> {
    let all = versions.iter().enumerate();
    let packages = all.flat_map(|(version, drafted)| {
        let packages = drafted.packages.iter().enumerate();
        packages.map(move |(package, (key, _))| (*key, (version, package)))
    });
    packages.collect()
}

/// A file, its first members, and where the others are.
type Planned = (Bundled, Lists, Vec<Member>);

impl Output {
    /// Plans the files: which versions are in which one, and where their members are.
    fn plan(&self, state: &State, versions: &[Drafted]) -> Result<Vec<Planned>, Error> {
        let parts = match self.split {
            _ if versions.is_empty() => return Ok(Vec::new()),
            None => return Ok(vec![self.file(state, versions, None)?]),
            Some(limit) => self.cut(state, versions, limit)?,
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
            self.file(state, part, Some(of_set))
        });
        files.collect()
    }

    /// Cuts the versions into parts, in their order.
    fn cut<'v>(
        &self,
        state: &State,
        versions: &'v [Drafted],
        limit: u64,
    ) -> Result<Vec<&'v [Drafted]>, Error> {
        // What the lists need at most: each names the versions of the whole set.
        let lists = |count: usize| 10_000 + 200 * (versions.len() + 20 * count) as u64;
        let (mut parts, mut begin, mut blobs) = (Vec::new(), 0, Blobs::default());
        for (at, version) in versions.iter().enumerate() {
            blobs.add(version);
            if blobs.length(state) + lists(at + 1 - begin) >= limit && at > begin {
                parts.extend(versions.get(begin..at));
                (begin, blobs) = (at, Blobs::default());
                blobs.add(version);
            }
            let size = blobs.length(state) + lists(1);
            if size >= limit && at == begin {
                let (provider, version) = (&version.published.provider, &version.published.version);
                let expected = format!("less than {limit} bytes for {provider} {version}");
                return Err(self.impossible(&expected, &format!("{size} bytes")));
            }
        }
        parts.extend(versions.get(begin..));
        Ok(parts)
    }

    /// A file of these versions.
    fn file(
        &self,
        state: &State,
        versions: &[Drafted],
        parts: Option<Parts>,
    ) -> Result<Planned, Error> {
        let mut blobs = Blobs::default();
        versions.iter().for_each(|version| blobs.add(version));
        // A package that one provider's repository has may be missing in that of another.
        let omitted = blobs.omitted.difference(&blobs.packages);
        let omitted = omitted.map(|key| ListedBlob::new(state.expected(key)));
        let omitted: Vec<ListedBlob> = omitted.collect();
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
            versions: versions.iter().map(listed).collect(),
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
            let received = format!("{} versions", versions.len());
            self.impossible("fewer versions for its lists", &received)
        })?;
        let keys = blobs.keys().map(|key| (*key, state.size(key)));
        let (members, size) = lists.members(keys);
        bundled.size = size;
        Ok((bundled, lists, members))
    }

    fn impossible(&self, expected: &str, received: &str) -> Error {
        refused("write", self.path.as_deref(), "", expected, received)
    }
}

fn listed(version: &Drafted) -> ListedVersion {
    let published = &version.published;
    let platforms = published.packages.iter();
    ListedVersion {
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
        self.manifests.extend(&version.manifests);
        self.documents.extend(&version.documents);
        for (package, is_had) in &version.packages {
            match is_had {
                true => self.omitted.insert(*package),
                false => self.packages.insert(*package),
            };
        }
    }

    fn keys(&self) -> impl Iterator<Item = &Key> {
        let documents = self.manifests.iter().chain(&self.documents);
        documents.chain(&self.packages)
    }

    /// The bytes of their members.
    fn length(&self, state: &State) -> u64 {
        self.keys().map(|key| Member::length(state.size(key))).sum()
    }
}

/// Writes the members of a file.
#[derive(Clone)]
struct SecondPass {
    writing: Arc<Writing>,
    draft: Arc<Draft>,
    place: Place,
    reporter: Arc<dyn Reporter>,
}

impl SecondPass {
    async fn place(
        self,
        member: Member,
        package: Option<(Subject, Authentication, Place)>,
    ) -> Result<(), Failure> {
        let expected = member.expected();
        let failed = |error| at_target(error, &self.place);
        let unread = |what, error| Error::reading(what, expected.digest, error);
        let blob = self.draft.blob(&member).map_err(failed)?;
        let Some((subject, authentication, store)) = package else {
            let placed = self.writing.place(member, &blob).await;
            return placed.map(drop).map_err(|error| match error {
                PutError::Store(error) => failed(error),
                PutError::Source(error) => failed(unread(Part::Blob, error)),
            });
        };
        let watched = ReportedBlob::start(blob, &subject, &self.reporter);
        let placed = self.writing.place(member, &watched).await;
        let transfer = placed.map_err(|error| match error {
            PutError::Store(error) => failed(error),
            PutError::Source(error) => {
                let to = Some(Box::new(self.place.clone()));
                let problem = Problem::Unread(unread(Part::Package, error));
                problem.of(subject.clone(), At::From { store, to })
            }
        })?;
        self.reporter.report(Event::Finished {
            subject,
            size: expected.size,
            transfer,
            authentication,
        });
        Ok(())
    }
}

fn at_target(error: Error, place: &Place) -> Failure {
    Failure {
        at: At::written(place.clone()),
        ..Failure::from(error)
    }
}
