//! Examines one version in a store: lists its packages and verifies its evidence.
//!
//! The content of the store becomes a release again, and [`crate::trust`] verifies it with the same checks as a release from an origin.
//! Stored evidence includes its own key. That key only proves that the parts belong together: anyone with write access to the
//! store can replace the zips, the evidence and the key at once. Only a pinned key proves who made the release.

mod released;

pub use released::Released;

use std::sync::Arc;
use std::time::SystemTime;

use futures_util::{StreamExt as _, stream};

use crate::address::ProviderAddr;
use crate::authentication::Note;
use crate::constraint::VersionConstraints;
use crate::digest::Digest;
use crate::error::printable;
use crate::event::{Event, Reporter, Subject, Warning};
use crate::oci::reference::{Ignored, version_of};
use crate::oci::{RawManifest, Tag};
use crate::outcome::{At, Failure, Problem};
use crate::place::Place;
use crate::platform::{Platform, Platforms};
use crate::publish::EvidencePolicy;
use crate::release::{Protocols, Release};
use crate::selection::Selection;
use crate::store::{self, Artifact, Repo, StoreBlob, StoredPackage, artifact};
use crate::trust::rule::Unsigned;
use crate::trust::{self, Policy, Rule, Verified};
use crate::version::Version;

/// The number of tags that are looked up at once to find an index, newest first. Lookups that still run when it is found are wasted.
const CONCURRENT_LOOKUPS: usize = 4;

/// The trust options for reading a store.
#[derive(Clone, Debug)]
pub struct TrustOptions {
    /// The trust file, and the additions of the command line.
    pub policy: Policy,
    /// Whether to refuse a release that is not signed by a pinned key.
    pub require_pinned: bool,
    /// The time for which expiry of keys is checked.
    pub now: SystemTime,
}

/// A provider, and the repository from which its versions are read.
#[derive(Clone, Debug)]
pub struct StoredProvider {
    /// The address that the user named, or that the name of a listed repository gives.
    pub provider: ProviderAddr,
    /// The provider's repository in the store.
    pub repo: Repo,
    /// The store, as the user wrote it; of a registry, the repository.
    pub place: Place,
    /// Whether the user did not name the provider: the store listed its repository. If the name of the repository has no host, the address is a
    /// guess, and the artifact decides.
    pub is_listed: bool,
}

/// The versions of a provider in a store.
#[derive(Clone, Debug, Default)]
pub struct Versions {
    /// The versions that clients see and can fetch, in ascending order.
    pub versions: Vec<Version>,
    /// The tags that clients ignore, safe to print, each with the reason.
    pub ignored: Vec<(String, Ignored)>,
}

/// One version in a store.
#[derive(Debug)]
pub struct Examined<B> {
    /// The version that the caller asked for.
    pub version: Version,
    /// The tag of the version.
    pub tag: Tag,
    /// The index that the tag refers to.
    pub artifact: Artifact,
    /// The packages for the requested platforms, sorted by platform.
    pub packages: Vec<StoredPackage>,
    /// The manifest of the evidence; `None` if there is no evidence or it cannot be read.
    pub evidence: Option<RawManifest>,
    /// The plugin protocol versions that the evidence lists.
    pub protocols: Option<Protocols>,
    /// The verified release, or the reason why verification failed.
    pub proof: Result<Verified<Release<B>>, Problem>,
}

impl<B> Examined<B> {
    /// A warning if the title of the artifact names another provider, as it does if two addresses lead to one repository.
    pub fn warning(&self, provider: &ProviderAddr) -> Option<Warning> {
        let other = self.artifact.index.other_provider(provider)?;
        Some(Warning::MadeFor(other))
    }

    /// The verified release. Reports how it was authenticated, and before that the [warning](Self::warning).
    ///
    /// # Errors
    /// The reason why verification failed.
    pub(crate) fn accepted(
        self,
        provider: &ProviderAddr,
        reporter: &Arc<dyn Reporter>,
    ) -> Result<Verified<Release<B>>, Problem> {
        if let Some(warning) = self.warning(provider) {
            let subject = Subject::version(provider, &self.version);
            reporter.report(Event::Warning { subject, warning });
        }
        let release = self.proof?;
        reporter.report(release.event());
        Ok(release)
    }
}

impl TrustOptions {
    /// Whether the user set a rule for this provider, or requires a pinned key. tfoci then checks evidence that it otherwise skips.
    pub fn has_own_rule(&self, provider: &ProviderAddr) -> bool {
        self.require_pinned || self.policy.rule_for(provider).is_some()
    }

    /// The rule for a provider: the user's, or [`Rule::reading`].
    ///
    /// # Errors
    /// The user requires a pinned key, and the rule has none.
    pub fn rule_for(&self, provider: &ProviderAddr) -> Result<Rule, Problem> {
        let rule = self.policy.rule_for(provider).unwrap_or_else(Rule::reading);
        if self.require_pinned && !rule.pinned() {
            Err(Problem::NoPin)
        } else {
            Ok(rule)
        }
    }

    /// The evidence that is required for a provider.
    ///
    /// # Errors
    /// As [`TrustOptions::rule_for`].
    pub fn evidence_policy(&self, provider: &ProviderAddr) -> Result<EvidencePolicy, Problem> {
        let said = self.policy.rule_for(provider);
        Ok(EvidencePolicy {
            rule: self.rule_for(provider)?,
            allows_less: said.is_some_and(|rule| rule.unsigned == Unsigned::Allow),
            always: self.has_own_rule(provider),
        })
    }
}

impl StoredProvider {
    /// Lists the versions in the repository.
    ///
    /// # Errors
    /// The store fails, or it does not have the provider.
    pub async fn versions(&self) -> Result<Versions, Failure> {
        let tags = self.repo.tags().await;
        let tags = tags.map_err(|error| self.failure(None, error.into()))?;
        let tags = tags.ok_or_else(|| self.failure(None, released::absent(&self.repo)))?;
        let mut all = Versions::default();
        for name in tags {
            match version_of(&name) {
                Ok(version) => all.versions.push(version),
                Err(reason) => all.ignored.push((printable(&name), reason)),
            }
        }
        all.versions.sort();
        Ok(all)
    }

    /// Selects the newest version that matches; also returns how many versions match.
    ///
    /// # Errors
    /// As [`StoredProvider::versions`], or no version matches.
    pub async fn choose(&self, selection: &Selection) -> Result<(Version, usize), Failure> {
        self.select(self.versions().await?, selection)
    }

    /// As [`StoredProvider::choose`], among versions that were read before.
    pub(crate) fn select(
        &self,
        Versions {
            versions: available,
            ignored,
        }: Versions,
        selection: &Selection,
    ) -> Result<(Version, usize), Failure> {
        let constraints: &VersionConstraints = &selection.constraints;
        let matching = available
            .iter()
            .filter(|version| constraints.admits(version))
            .count();
        match constraints.newest(available.iter()) {
            Some(version) => Ok((version.clone(), matching)),
            None => Err(self.failure(None, absent(constraints, available, ignored))),
        }
    }

    /// The version whose index has this digest.
    ///
    /// # Errors
    /// As [`StoredProvider::versions`], or no version has this index.
    pub async fn version_of_index(&self, digest: &Digest) -> Result<Version, Failure> {
        let versions = self.versions().await?.versions;
        let lookups = versions.iter().rev().map(|version| async move {
            let tag = Tag::of_version(version)?;
            let found = self.repo.digest(&tag).await?;
            Ok::<_, Problem>((found.as_ref() == Some(digest)).then_some(version))
        });
        let lookups: Vec<_> = lookups.collect();
        let mut lookups = stream::iter(lookups).buffered(CONCURRENT_LOOKUPS);
        while let Some(found) = lookups.next().await {
            if let Some(version) = found.map_err(|problem| self.failure(None, problem))? {
                return Ok(version.clone());
            }
        }
        Err(self.failure(None, Problem::NoIndex { digest: *digest }))
    }

    /// The warning about a provider that the store lists without a version: all were withdrawn, and registries keep the empty repository.
    pub(crate) fn withdrawn(&self, available: &Versions) -> Option<Event> {
        (self.is_listed && available.versions.is_empty()).then(|| Event::Warning {
            subject: Subject::provider(&self.provider),
            warning: Warning::NoVersions(self.place.clone()),
        })
    }

    /// The failure if none of these versions satisfies the constraints.
    pub(crate) fn no_match(
        &self,
        available: &Versions,
        constraints: &VersionConstraints,
    ) -> Failure {
        let Versions { versions, ignored } = available.clone();
        self.failure(None, absent(constraints, versions, ignored))
    }

    /// Reads one version and verifies it.
    ///
    /// # Errors
    /// The store fails, or clients would refuse the version. A failed verification is not an error here: it is [`Examined::proof`].
    pub async fn examine(
        &self,
        version: &Version,
        platforms: &Platforms,
        trust: &TrustOptions,
    ) -> Result<Examined<StoreBlob>, Failure> {
        let examined = self.read(version, platforms, trust).await;
        examined.map_err(|problem| self.failure(Some(version), problem))
    }

    /// As [`StoredProvider::examine`], for callers that add the location to the error themselves.
    pub(crate) async fn read(
        &self,
        version: &Version,
        platforms: &Platforms,
        trust: &TrustOptions,
    ) -> Result<Examined<StoreBlob>, Problem> {
        // Without the required pin all versions fail, so fail before reading anything.
        trust.rule_for(&self.provider)?;
        let tag = Tag::of_version(version)?;
        let artifact = self.repo.artifact(&tag).await?;
        let artifact = artifact.ok_or_else(|| Problem::NoVersion {
            constraints: VersionConstraints::exactly(version.clone()),
            available: Vec::new(),
        })?;
        if self.is_listed
            && let Some(problem) = Problem::of_another(&artifact.index, &self.provider)
        {
            return Err(problem);
        }
        let packages = self.packages(&artifact, platforms).await?;
        self.verify_packages(version, artifact, packages, trust)
            .await
    }

    /// Reads the evidence of a version and verifies the given packages with it.
    ///
    /// # Errors
    /// A pinned key is required and there is none, or the version has no valid tag. A failed verification is not an error here: it is
    /// [`Examined::proof`].
    pub async fn verify_packages(
        &self,
        version: &Version,
        artifact: Artifact,
        packages: Vec<StoredPackage>,
        trust: &TrustOptions,
    ) -> Result<Examined<StoreBlob>, Problem> {
        let policy = trust.evidence_policy(&self.provider)?;
        let tag = Tag::of_version(version)?;
        let evidence_tag = Tag::of_evidence(version)?;
        let evidence = self.repo.evidence(&evidence_tag).await;
        let raw = evidence.as_ref().ok().and_then(Option::as_ref);
        let raw = raw.map(|stored| stored.raw.clone());
        let (protocols, proof) = match evidence {
            Ok(stored) => {
                let protocols = stored.as_ref();
                let protocols = protocols.map(|stored| stored.evidence.protocols.clone());
                let located = packages.iter().map(|package| {
                    let blob = self.repo.blob(package.layer.expected);
                    package.at(&self.provider, version, blob)
                });
                let is_lacking = stored.is_none();
                let evidence = stored.map(|stored| stored.evidence);
                let mut release =
                    artifact::release(&self.provider, version, located.collect(), evidence);
                release.notes.extend::<Vec<Note>>(artifact.notes(&packages));
                let is_gone = is_lacking && artifact.index.is_ours();
                release.notes.extend(is_gone.then_some(Note::NoEvidence));
                let proof = policy.check(release, trust.now).await;
                let proof = proof.map_err(|problem| match problem {
                    Problem::Evidence {
                        source: trust::Error::NoDocument | trust::Error::NotSigned { .. },
                    } if is_gone => Problem::NoEvidence,
                    problem => problem,
                });
                (protocols, proof)
            }
            // A network failure proves nothing about the evidence.
            Err(error) if error.is_about_access() => (None, Err(Problem::Store(error))),
            Err(error) => (None, Err(Problem::Unreadable(error))),
        };
        Ok(Examined {
            version: version.clone(),
            tag,
            artifact,
            packages,
            evidence: raw,
            protocols,
            proof,
        })
    }

    async fn packages(
        &self,
        artifact: &Artifact,
        platforms: &Platforms,
    ) -> Result<Vec<StoredPackage>, store::Error> {
        match platforms {
            Platforms::All => self.repo.packages(&artifact.index, |_| true).await,
            Platforms::Only(wanted) => {
                let mut packages = Vec::new();
                for platform in wanted {
                    let entry = artifact.entry(platform)?;
                    packages.push(self.repo.package(platform, entry).await?);
                }
                Ok(packages)
            }
            Platforms::Among(wanted) => {
                let is_wanted = |platform: &Platform| wanted.contains(platform);
                let packages = self.repo.packages(&artifact.index, is_wanted).await?;
                if let (true, Some(first)) = (packages.is_empty(), wanted.first()) {
                    artifact.entry(first)?;
                }
                Ok(packages)
            }
        }
    }

    /// Builds the failure of a version, or of the provider, in this store.
    pub fn failure(&self, version: Option<&Version>, problem: Problem) -> Failure {
        let mut subject = Subject::provider(&self.provider);
        subject.version = version.cloned();
        problem.of(subject, At::read(self.place.clone()))
    }
}

/// The problem if no version matches. If the user asked for an exact version and a tag is a non-canonical spelling of it, the error names
/// that tag.
fn absent(
    constraints: &VersionConstraints,
    available: Vec<Version>,
    ignored: Vec<(String, Ignored)>,
) -> Problem {
    for (tag, reason) in ignored {
        if let Ignored::NotCanonical { version, canonical } = reason
            && constraints.as_exact() == Some(&version)
        {
            return Problem::NotCanonical {
                tag,
                canonical,
                version,
            };
        }
    }
    Problem::NoVersion {
        constraints: constraints.clone(),
        available,
    }
}
