//! Verify: whether a store is whole, accepted by clients, authentic, and what its origin still says.
//!
//! For each provider:
//!
//! 1. The store lists its **tags**. Some are no version that clients can fetch, and some break clients (`tags`).
//! 2. Each version is **read**: its index, the manifest of each platform, and the size of each package, but no package. What is not there, and
//!    what clients refuse, is a finding (`faults`).
//! 3. What was read is **verified** with the evidence of the version, by the same checks as before an installation ([`crate::examine`]), and the
//!    signing key is looked at.
//! 4. With [`Options::deep`], each package is **read** from its first to its last byte, as an installation does.
//! 5. With [`Options::origin`], the version is **compared** with the release at its origin (`origin`).
//!
//! Nothing is written, and what is well has no finding. One version never stops another.

mod faults;
mod keys;
mod origin;
mod tags;

use std::collections::BTreeSet;
use std::convert::Infallible;
use std::pin::pin;
use std::sync::{Arc, Mutex};

use futures_util::{StreamExt as _, future, stream};

use crate::authentication::{Note, Status};
use crate::blob;
use crate::constraint::VersionConstraints;
use crate::error::{Category, printable};
use crate::event::{Event, Reporter, Subject};
use crate::examine::{Examined, StoredProvider, TrustOptions, Versions};
use crate::finding::{Code, Finding};
use crate::install::{Download, Inspected};
use crate::jobs::{Jobs, PROVIDERS, SideBySide, locked};
use crate::mirror::VersionFilter;
use crate::oci::{Descriptor, Part, Tag};
use crate::outcome::{Failure, Problem};
use crate::place::Place;
use crate::platform::Platform;
use crate::release::Release;
use crate::source::{AvailableVersions, Source};
use crate::store::{self, Artifact, CONCURRENT_READS, StoreBlob, StoredPackage};
use crate::trust::rule::Unsigned;
use crate::trust::{Rule, Verified};
use crate::version::Version;
pub(crate) use faults::code_of;
use faults::{code_of_problem, repaired};
pub use keys::expiry;

/// Options of a run.
#[derive(Clone)]
pub struct Options {
    /// What evidence has to prove.
    pub trust: TrustOptions,
    /// The client that has to accept the store; `None` for all of them.
    pub client: Option<ClientVersion>,
    /// The origins to compare with.
    pub origin: Option<Source>,
    /// Whether to read the packages.
    pub deep: bool,
    /// How many packages are read at once.
    pub jobs: Jobs,
}

/// A client, as far as clients differ in what they accept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClientVersion {
    /// OpenTofu before 1.13, which asks a registry for `/v2/`.
    Tofu112,
    /// OpenTofu from 1.13 on.
    Tofu113,
    /// Terraform, which reads no registry: tags and pages concern only tfoci.
    Terraform,
}

/// A provider to verify.
#[derive(Clone, Debug)]
pub struct Task {
    /// Its repository.
    pub from: StoredProvider,
    /// The versions to look at: each one that satisfies any of these constraints; without constraints, all.
    pub constraints: Vec<VersionConstraints>,
    /// What the store should have of its origin. All platforms mean the ones that other stored versions have.
    pub wanted: Vec<VersionFilter>,
    /// The options of `tfoci mirror` that name the store and the keys, for the commands that repair it; `None` if they are not known.
    pub mirror: Option<String>,
}

/// What was verified.
#[derive(Clone, Debug)]
pub struct Checked {
    /// A version, or a provider as a whole.
    pub subject: Subject,
    /// The platforms of the version.
    pub platforms: Vec<Platform>,
    /// What is wrong.
    pub findings: Vec<Finding>,
    /// The id of the mirror's key, if an attestation was required and verified.
    pub attested: Option<String>,
}

/// Receives what was found as soon as it is known.
pub type OnChecked<'a> = dyn Fn(Checked) + Send + Sync + 'a;

/// Verifies several providers concurrently.
pub async fn verify(
    tasks: Vec<Task>,
    options: &Options,
    reporter: &Arc<dyn Reporter>,
    on_checked: &OnChecked<'_>,
) {
    let (side_by_side, asked) = (SideBySide::default(), Mutex::default());
    let verifying = stream::iter(tasks).for_each_concurrent(PROVIDERS, async |task| {
        let mut trust = options.trust.clone();
        let unpinned = trust.rule_for(&task.from.provider).err();
        trust.require_pinned &= unpinned.is_none();
        let journey = Journey {
            task: &task,
            options,
            trust: &trust,
            reporter,
            side_by_side: &side_by_side,
            asked: &asked,
        };
        let mut checked = Checked {
            subject: Subject::provider(&task.from.provider),
            platforms: Vec::new(),
            findings: journey.run(on_checked).await,
            attested: None,
        };
        let unpinned = unpinned.map(|error| Finding::of(Code::NotPinned, &error));
        checked.findings.extend(unpinned);
        for finding in &mut checked.findings {
            let provider = &task.from.provider;
            finding.provider.get_or_insert_with(|| provider.clone());
            repaired(finding, task.mirror.as_deref(), &[]);
        }
        on_checked(checked);
    });
    verifying.await;
}

/// The verification of one provider.
struct Journey<'a> {
    task: &'a Task,
    options: &'a Options,
    /// The trust options, without a required pin if there is none.
    trust: &'a TrustOptions,
    reporter: &'a Arc<dyn Reporter>,
    side_by_side: &'a SideBySide,
    /// The registries that were asked for `/v2/`.
    asked: &'a Mutex<BTreeSet<String>>,
}

/// What a store gives of a version.
#[derive(Default)]
struct Read {
    findings: Vec<Finding>,
    /// The platforms that the index names.
    platforms: Vec<Platform>,
    /// The index, and the packages whose manifests can be used; `None` if the index cannot be.
    stored: Option<(Artifact, Vec<StoredPackage>)>,
}

type Verdict = Result<Examined<StoreBlob>, Problem>;

impl Journey<'_> {
    /// Verifies the provider. Returns the findings about it as a whole.
    async fn run(&self, on_checked: &OnChecked<'_>) -> Vec<Finding> {
        let from = &self.task.from;
        // 1. Tags.
        let asking = future::join3(from.versions(), self.at_origin(), self.api_root());
        let (listed, available, root) = asking.await;
        let mut findings = Vec::from_iter(root);
        let listed = match listed {
            Ok(listed) => listed,
            Err(failure) => {
                findings.push(unlisted(&failure));
                return findings;
            }
        };
        let available = available.unwrap_or_else(|finding| {
            findings.push(*finding);
            None
        });
        let newest = tags::newest(&listed);
        if self.options.client != Some(ClientVersion::Terraform) {
            findings.extend(self.tags(&listed, newest));
        }
        findings.extend(self.unmatched(&listed));
        let is_wanted = |one: &&Version| self.admits(one) && !tags::names_platform(one);
        let versions: Vec<&Version> = listed.versions.iter().filter(is_wanted).rev().collect();
        self.reporter.report(Event::VersionsSelected {
            subject: Subject::provider(&from.provider),
            versions: versions.iter().map(|one| ((*one).clone(), None)).collect(),
        });
        // 2. to 5. Versions.
        let work = versions.into_iter().map(|version| {
            let is_newest = newest == Some(version);
            self.version(version, is_newest, available.as_ref())
        });
        let mut work = pin!(self.side_by_side.run(false, work));
        let mut platforms = BTreeSet::new();
        while let Some(mut checked) = work.next().await {
            platforms.extend(checked.platforms.iter().cloned());
            // What is said of a key is the same for all versions, and other versions tell which platforms are wanted.
            let is_shared =
                |one: &mut Finding| one.version.is_none() || one.code == Code::PlatformNotMirrored;
            for finding in checked.findings.extract_if(.., is_shared) {
                if !findings.contains(&finding) {
                    findings.push(finding);
                }
            }
            on_checked(checked);
        }
        if let Some(available) = &available {
            findings.extend(self.not_mirrored(&listed.versions, available).await);
        }
        findings.retain(|one| self.is_wanted(one, &platforms));
        findings
    }

    /// Asks the registry for `/v2/`, once for each registry.
    async fn api_root(&self) -> Option<Finding> {
        let needs_it = matches!(self.options.client, None | Some(ClientVersion::Tofu112));
        let repo = &self.task.from.repo;
        let host = repo.registry_host().filter(|_| needs_it)?;
        if !locked(self.asked).insert(host.to_owned()) {
            return None;
        }
        let error = repo.check_root().await.err()?;
        Some(Finding::of(Code::NoApiRoot, &error).at(host))
    }

    fn admits(&self, version: &Version) -> bool {
        let mut constraints = self.task.constraints.iter();
        constraints.any(|one| one.selects(version))
    }

    /// The constraints that no version satisfies. A registry keeps the repository of a provider whose versions are all withdrawn.
    fn unmatched(&self, listed: &Versions) -> Vec<Finding> {
        let from = &self.task.from;
        let is_met = |constraints: &VersionConstraints| {
            let mut versions = listed.versions.iter();
            from.is_listed || versions.any(|one| constraints.selects(one))
        };
        let unmet = self.task.constraints.iter().filter(|one| !is_met(one));
        let findings = unmet.map(|one| Finding {
            version: one.as_exact().cloned(),
            ..Finding::of(Code::VersionMissing, &from.no_match(listed, one).problem)
        });
        findings.collect()
    }

    /// Verifies one version.
    async fn version(
        &self,
        version: &Version,
        is_newest: bool,
        available: Option<&AvailableVersions>,
    ) -> Checked {
        let from = &self.task.from;
        let mut checked = Checked {
            subject: Subject::version(&from.provider, version),
            platforms: Vec::new(),
            findings: Vec::new(),
            attested: None,
        };
        // Every version that is listed has both tags.
        let (Ok(tag), Ok(evidence)) = (Tag::of_version(version), Tag::of_evidence(version)) else {
            return checked;
        };
        let (read, examined) = self.look(version, &tag, &evidence).await;
        checked.platforms = read.platforms;
        let mut findings = read.findings;
        let mut of_keys = Vec::new();
        match examined {
            None if is_newest => {
                for one in &mut findings {
                    let message = format!("{}: clients select it as the newest", one.message);
                    *one = Finding::new(newest(one.code), message);
                }
            }
            None => {}
            Some(Err(problem)) => findings.push(Finding::of(Code::NotVerified, &problem)),
            Some(Ok(examined)) => {
                checked.attested.clone_from(&examined.attested);
                findings.extend(self.proven(&examined, &mut of_keys));
                if self.options.deep {
                    findings.extend(self.deep(&examined).await);
                }
                if let Some(available) = available {
                    let compared = self.compare(&examined, available, &mut of_keys);
                    findings.extend(compared.await);
                }
            }
        }
        for finding in &mut findings {
            finding.provider = Some(from.provider.clone());
            finding.version = Some(version.clone());
            finding
                .reference
                .get_or_insert_with(|| format!("{}:{tag}", from.repo));
            repaired(finding, self.task.mirror.as_deref(), &checked.platforms);
        }
        findings.extend(of_keys);
        checked.findings = findings;
        checked
    }

    /// Reads all of a version but its packages, and verifies it if its index can be used.
    async fn look(&self, version: &Version, tag: &Tag, evidence: &Tag) -> (Read, Option<Verdict>) {
        let from = &self.task.from;
        let index = async {
            self.read_index(tag).await.unwrap_or_else(|error| Read {
                findings: vec![Finding::of(code_of(&error, Part::Index), &error)],
                ..Read::default()
            })
        };
        let (mut read, evidence) = future::join(index, from.repo.evidence(evidence)).await;
        let Some(stored) = read.stored.take() else {
            return (read, None);
        };
        let verdict = from.verify_packages(version, stored, evidence, self.trust);
        let verdict = verdict.await;
        (read, Some(verdict))
    }

    async fn read_index(&self, tag: &Tag) -> Result<Read, store::Error> {
        let Some(artifact) = self.task.from.repo.artifact(tag).await? else {
            let message = "the tag is listed, and leads to nothing";
            return Ok(Read {
                findings: vec![Finding::new(Code::IndexMissing, message)],
                ..Read::default()
            });
        };
        let entries = artifact.index.platforms()?;
        let packages = entries
            .iter()
            .map(|(platform, entry)| self.package(platform, entry));
        let packages: Vec<_> = packages.collect();
        let mut packages = stream::iter(packages).buffered(CONCURRENT_READS);
        let mut findings: Vec<_> = artifact.index.ignored().map(faults::ignored).collect();
        let mut sound = Vec::new();
        while let Some((package, finding)) = packages.next().await {
            sound.extend(package);
            findings.extend(finding);
        }
        drop(packages);
        let platforms = entries.iter().map(|(platform, _)| platform.clone());
        Ok(Read {
            findings,
            platforms: platforms.collect(),
            stored: Some((artifact, sound)),
        })
    }

    /// Reads the manifest of a platform, and asks for the size of its package. A package without a manifest is not there.
    async fn package(
        &self,
        platform: &Platform,
        entry: &Descriptor,
    ) -> (Option<StoredPackage>, Option<Finding>) {
        let repo = &self.task.from.repo;
        let at = |found: Finding, digest: &str| Finding {
            platform: Some(platform.clone()),
            ..found.at(format!("{repo}@{}", printable(digest)))
        };
        let package = match repo.package(platform, entry).await {
            Ok(package) => package,
            Err(error) => {
                let found = Finding::of(code_of(&error, Part::Manifest), &error);
                return (None, Some(at(found, &entry.digest)));
            }
        };
        // With `deep`, its bytes tell. The target of a delta has what it leaves out.
        if self.options.deep || repo.omits(&package.layer.expected.digest) {
            return (Some(package), None);
        }
        let (what, expected) = (Part::Package, package.layer.expected);
        let (size, digest) = (expected.size, expected.digest);
        // A bundle was carried, so its bytes are read where it leaves and where it arrives.
        let found = match repo.bundle() {
            None => repo.blob_size(&expected).await,
            Some(_) => {
                let read = blob::verify(&repo.blob(expected)).await;
                let read = read.map_err(|error| store::Error::reading(what, digest, error));
                read.map(|_| Some(size))
            }
        };
        let found = match found {
            Ok(Some(received)) if received == size => return (Some(package), None),
            Ok(Some(received)) => {
                let message = format!(
                    "the package has another size: expected {size}, received {received} bytes"
                );
                Finding::new(Code::SizeDiffers, message)
            }
            Ok(None) => Finding::of(
                Code::PackageMissing,
                &store::Error::Missing { what, digest },
            ),
            Err(error) => Finding::of(code_of(&error, what), &error),
        };
        (Some(package), Some(at(found, &digest.to_string())))
    }

    /// What the evidence of a version proves.
    fn proven(&self, examined: &Examined<StoreBlob>, of_keys: &mut Vec<Finding>) -> Vec<Finding> {
        let provider = &self.task.from.provider;
        let warning = examined.warning(provider);
        let warning = warning.map(|one| Finding::new(Code::OtherProvider, one.to_string()));
        let mut findings = Vec::from_iter(warning);
        match &examined.proof {
            Err(problem) => findings.push(Finding::of(code_of_problem(problem), problem)),
            Ok(release) => {
                let rule = self.trust.policy.rule_for(provider);
                findings.extend(noted(release, rule.as_ref()));
                of_keys.extend(keys::findings(release, rule.as_ref(), self.trust.now));
            }
        }
        findings
    }

    /// Reads the packages of a version.
    async fn deep(&self, examined: &Examined<StoreBlob>) -> Vec<Finding> {
        let from = &self.task.from;
        let subject = Subject::version(&from.provider, &examined.version);
        let is_there = |one: &&StoredPackage| !from.repo.omits(&one.layer.expected.digest);
        let packages = examined.packages.iter().filter(is_there);
        let sizes = packages.clone().map(|package| package.layer.expected.size);
        self.reporter.report(Event::planned(subject.clone(), sizes));
        let downloads = packages.map(|package| {
            let blob = from.repo.blob(package.layer.expected);
            Download {
                subject: subject.platform(&package.platform),
                package: package.at(&from.provider, &examined.version, blob),
                reporter: Arc::clone(self.reporter),
            }
        });
        let read = self.options.jobs.run(downloads, async |download| {
            let mut found = match download.inspected().await {
                Ok(inspected) => in_package(&inspected),
                Err(problem) => vec![Finding::of(code_of_problem(&problem), &problem)],
            };
            for finding in &mut found {
                finding.platform = Some(download.package.platform.clone());
            }
            Ok::<_, Infallible>(found)
        });
        read.await.into_iter().flatten().flatten().collect()
    }
}

/// The finding about a provider whose tags cannot be listed.
fn unlisted(failure: &Failure) -> Finding {
    let code = match &*failure.problem {
        Problem::Store(store::Error::Protocol {
            breach: store::Breach::Link,
            ..
        }) => Code::ListLeavesRegistry,
        _ if failure.category() == Category::NotFound => Code::VersionMissing,
        _ => Code::Unreadable,
    };
    Finding::of(code, &failure.problem).at(failure.at.as_ref().map_or("", Place::name))
}

/// The code of a fault that makes the newest version one that clients choose and cannot install.
fn newest(code: Code) -> Code {
    match code {
        Code::NotAProvider | Code::IndexRefused => Code::NewestRefused,
        code => code,
    }
}

/// What a verified version is noted for.
fn noted(release: &Verified<Release<StoreBlob>>, rule: Option<&Rule>) -> Vec<Finding> {
    let authentication = release.authentication();
    let has = |note| authentication.notes.contains(&note);
    let is_allowed = rule.is_some_and(|rule| rule.for_unsigned() == Unsigned::Allow);
    let mut findings = Vec::new();
    if has(Note::NoEvidence) {
        let message = "tfoci wrote this version, and its evidence is missing";
        findings.push(Finding::new(Code::EvidenceMissing, message));
    } else if authentication.status < Status::Signed && !is_allowed {
        let message = format!("no signature covers the packages: {authentication}");
        findings.push(Finding::new(Code::NotSigned, message));
    }
    if has(Note::LenientJson) || has(Note::LargeManifest) {
        let irregular = Finding::new(Code::IrregularManifest, authentication.to_string());
        findings.push(irregular);
    }
    findings
}

/// What is found in a package that was read.
fn in_package(Inspected { hashes, executable }: &Inspected) -> Vec<Finding> {
    let error = executable.as_ref().err();
    let mut findings = Vec::from_iter(error.map(|error| Finding::of(Code::NoExecutable, error)));
    if hashes.directory != hashes.zip {
        let (zip, directory) = (&hashes.zip, &hashes.directory);
        let message = format!("the zip has {zip}, and its unpacked directory {directory}");
        findings.push(Finding::new(Code::TwoH1, message));
    }
    findings
}
