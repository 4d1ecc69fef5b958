//! Examining: what a store holds of one version, and whether it is authentic.
//!
//! The way out of a store begins like the way in: what lies there becomes a release again, and
//! [`crate::trust`] verifies it. Evidence brings its own key; that key proves that the parts belong together, and
//! no more, since whoever can write to the store can replace all of them. Only a pinned key tells more.

use std::time::SystemTime;

use crate::address::ProviderAddr;
use crate::authentication::Note;
use crate::constraint::VersionConstraints;
use crate::error::printable;
use crate::event::Subject;
use crate::oci::reference::{Ignored, version_of};
use crate::oci::{RawManifest, Tag};
use crate::outcome::{At, Failure, Problem};
use crate::platform::Platform;
use crate::publish::EvidencePolicy;
use crate::release::{Protocols, Release};
use crate::selection::Selection;
use crate::store::{self, Artifact, ReadStore, Repo, StoredPackage, artifact};
use crate::trust::rule::Unsigned;
use crate::trust::{self, Policy, Rule, Verified};
use crate::version::Version;

/// Which keys and packages are trusted when a store is read.
#[derive(Clone, Debug)]
pub struct TrustOptions {
    /// The trust file and what the command line adds.
    pub policy: Policy,
    /// Whether less than a pinned key is refused.
    pub require_pinned: bool,
    /// The time by which keys are judged.
    pub now: SystemTime,
}

/// A provider in a store.
#[derive(Clone, Debug)]
pub struct StoredProvider<S> {
    /// Its address.
    pub provider: ProviderAddr,
    /// Its repository.
    pub repo: Repo<S>,
    /// The store as the user wrote it.
    pub place: String,
}

/// The versions of a provider in a store.
#[derive(Clone, Debug, Default)]
pub struct Versions {
    /// Those that clients see and can fetch, ascending.
    pub versions: Vec<Version>,
    /// The other names that are tagged, as they are safe to show, and why they are none.
    pub ignored: Vec<(String, Ignored)>,
}

/// What a store holds of one version.
#[derive(Debug)]
pub struct Examined<B> {
    /// The version.
    pub version: Version,
    /// Its tag.
    pub tag: Tag,
    /// Its index.
    pub artifact: Artifact,
    /// Its packages, or those that were asked for, sorted by platform.
    pub packages: Vec<StoredPackage>,
    /// The manifest of its evidence, where there is some that can be read.
    pub evidence: Option<RawManifest>,
    /// The plugin protocol versions that the evidence names.
    pub protocols: Option<Protocols>,
    /// The proof, or why there is none.
    pub proof: Result<Verified<Release<B>>, Problem>,
}

/// For which platforms.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Platforms {
    /// Every platform that the version has.
    All,
    /// These, all of which must be there.
    Only(Vec<Platform>),
}

impl TrustOptions {
    /// Whether anything was said about a provider, so that what does not live up to it is refused.
    pub fn is_particular(&self, provider: &ProviderAddr) -> bool {
        self.require_pinned || self.policy.rule_for(provider).is_some()
    }

    /// The rule for a provider.
    ///
    /// # Errors
    /// A pinned key is required, and there is none.
    pub fn rule_for(&self, provider: &ProviderAddr) -> Result<Rule, Problem> {
        let rule = self.policy.rule_for(provider).unwrap_or_else(Rule::reading);
        if self.require_pinned && !rule.pinned() {
            Err(Problem::NoPin)
        } else {
            Ok(rule)
        }
    }

    /// What the evidence of a provider must show, in every store.
    ///
    /// # Errors
    /// As [`TrustOptions::rule_for`].
    pub fn evidence_policy(&self, provider: &ProviderAddr) -> Result<EvidencePolicy, Problem> {
        let said = self.policy.rule_for(provider);
        Ok(EvidencePolicy {
            rule: self.rule_for(provider)?,
            require_pinned: self.require_pinned,
            allows_less: said.is_some_and(|rule| rule.unsigned == Unsigned::Allow),
            always: self.is_particular(provider),
        })
    }
}

impl<S: ReadStore> StoredProvider<S> {
    /// Lists the versions.
    ///
    /// # Errors
    /// The store's, or the provider is not in it.
    pub async fn versions(&self) -> Result<Versions, Failure> {
        let tags = self.repo.tags().await;
        let tags = tags.map_err(|error| self.failure(None, error.into()))?;
        let tags = tags.ok_or_else(|| self.failure(None, Problem::NoProvider))?;
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

    /// Chooses the newest version that is admitted; also says how many are.
    ///
    /// # Errors
    /// As [`StoredProvider::versions`], or no version matches.
    pub async fn choose(&self, selection: &Selection) -> Result<(Version, usize), Failure> {
        let Versions {
            versions: available,
            ignored,
        } = self.versions().await?;
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

    /// Every version that is admitted, ascending. Without constraints these are all of them, pre-releases too.
    ///
    /// # Errors
    /// No version is.
    pub fn admitted(
        &self,
        offered: &Versions,
        constraints: &VersionConstraints,
    ) -> Result<Vec<Version>, Failure> {
        let versions = offered.versions.iter();
        let admitted: Vec<Version> = versions
            .filter(|version| constraints.is_any() || constraints.admits(version))
            .cloned()
            .collect();
        if admitted.is_empty() {
            let Versions { versions, ignored } = offered.clone();
            return Err(self.failure(None, absent(constraints, versions, ignored)));
        }
        Ok(admitted)
    }

    /// Reads one version and judges its proof.
    ///
    /// # Errors
    /// The store's, or what clients refuse. A proof that does not hold is part of the result.
    pub async fn examine(
        &self,
        version: &Version,
        platforms: &Platforms,
        trust: &TrustOptions,
    ) -> Result<Examined<S::Blob>, Failure> {
        self.read(version, platforms, trust)
            .await
            .map_err(|problem| self.failure(Some(version), problem))
    }

    /// As [`StoredProvider::examine`], for whoever says where it was.
    pub(crate) async fn read(
        &self,
        version: &Version,
        platforms: &Platforms,
        trust: &TrustOptions,
    ) -> Result<Examined<S::Blob>, Problem> {
        // What nobody could pass is said before anything is read.
        trust.rule_for(&self.provider)?;
        let tag = Tag::of_version(version)?;
        let artifact = self.repo.artifact(&tag).await?;
        let artifact = artifact.ok_or_else(|| Problem::NoVersion {
            constraints: Some(version.to_string()),
            available: Vec::new(),
        })?;
        let packages = self.packages(&artifact, platforms).await?;
        self.judge(version, artifact, packages, trust).await
    }

    /// Reads the evidence of a version, and judges what it proves about these packages.
    ///
    /// # Errors
    /// The version has no tag, or a pinned key is required, and there is none. A proof that does not hold is part of the result.
    pub async fn judge(
        &self,
        version: &Version,
        artifact: Artifact,
        packages: Vec<StoredPackage>,
        trust: &TrustOptions,
    ) -> Result<Examined<S::Blob>, Problem> {
        let policy = trust.evidence_policy(&self.provider)?;
        let tag = Tag::of_version(version)?;
        let evidence_tag = Tag::of_evidence(version)?;
        let evidence = self.repo.evidence(&evidence_tag).await;
        let raw = evidence.as_ref().ok().and_then(Option::as_ref);
        let raw = raw.map(|stored| stored.raw.clone());
        let (protocols, proof) = match evidence {
            Ok(stored) => {
                let protocols = stored
                    .as_ref()
                    .map(|stored| stored.evidence.protocols.clone());
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
            // What cannot be had just now says nothing about the artifact.
            Err(error) if error.is_on_the_way() => (None, Err(Problem::Store(error))),
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
        }
    }

    /// A failure of this provider's repository.
    pub fn failure(&self, version: Option<&Version>, problem: Problem) -> Failure {
        let subject = Subject {
            version: version.cloned(),
            ..Subject::provider(&self.provider)
        };
        problem.of(subject, At::From(self.place.clone()))
    }
}

/// Why no version is chosen: a tag that only looks like the one that was asked for explains more than a list.
fn absent(
    constraints: &VersionConstraints,
    available: Vec<Version>,
    ignored: Vec<(String, Ignored)>,
) -> Problem {
    for (tag, reason) in ignored {
        if let Ignored::NotCanonical { version } = reason
            && constraints.as_exact() == Some(&version)
        {
            return Problem::NotCanonical { tag, version };
        }
    }
    Problem::NoVersion {
        constraints: (!constraints.is_any()).then(|| constraints.to_string()),
        available,
    }
}
