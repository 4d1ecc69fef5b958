//! Examines one version in a store: lists its packages and verifies its evidence.
//!
//! The content of the store becomes a release again, and [`crate::trust`] verifies it with the same checks as a release from an origin.
//! Stored evidence includes its own key. That key only proves that the parts belong together: anyone with write access to the
//! store can replace the zips, the evidence and the key at once. Only a pinned key proves who made the release.

mod reading;

use std::sync::Arc;
use std::time::SystemTime;

use crate::address::ProviderAddr;
use crate::attestation::RequiredAttestation;
use crate::constraint::VersionConstraints;
use crate::error::printable;
use crate::event::{Reporter, Subject, Warning};
use crate::oci::reference::{Ignored, version_of};
use crate::oci::{RawManifest, Tag};
use crate::outcome::{Failure, Problem};
use crate::place::Place;
use crate::publish::EvidencePolicy;
use crate::release::{Protocols, Release};
use crate::selection::Selection;
use crate::store::endpoint::MappingError;
use crate::store::{Artifact, Endpoint, Repo, Store, StoredPackage};
use crate::trust::rule::Unsigned;
use crate::trust::{Policy, Rule, Verified};
use crate::version::Version;

/// The trust options for reading a store.
#[derive(Clone, Debug)]
pub struct TrustOptions {
    /// The trust file, and the additions of the command line.
    pub policy: Policy,
    /// Whether to refuse a release that is not signed by a pinned key.
    pub require_pinned: bool,
    /// The attestation that every version in a store needs, besides the one that the trust file requires.
    pub attestation: Option<RequiredAttestation>,
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
    /// Whether the store listed the provider, and no user named it. If the name of its repository has no host, the host of the address is a guess, and
    /// only the artifact says which provider it is.
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
    /// The id of the mirror's key, if an attestation was required and verified.
    pub attested: Option<String>,
    /// The verified release, or the reason why verification failed.
    pub proof: Result<Verified<Release<B>>, Problem>,
}

impl<B> Examined<B> {
    /// A warning if the title of the artifact names another provider, as it does if two addresses lead to one repository. Where keys are required,
    /// it is a failed verification instead.
    pub fn warning(&self, provider: &ProviderAddr) -> Option<Warning> {
        let other = self.artifact.index.other_provider(provider)?;
        let is_refused = matches!(self.proof, Err(Problem::OtherProvider { .. }));
        (!is_refused).then(|| {
            Warning::Other(format!(
                "this artifact was made for {other}; the address of the store may give both providers one repository"
            ))
        })
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
            reporter.warn(Subject::version(provider, &self.version), warning);
        }
        let release = self.proof?;
        reporter.report(release.event());
        Ok(release)
    }
}

impl TrustOptions {
    /// Whether the user set a rule for this provider, or requires a pinned key. tfoci then checks evidence that it otherwise skips.
    pub fn has_own_rule(&self, provider: &ProviderAddr) -> bool {
        self.require_pinned
            || self.attestation.is_some()
            || self.policy.rule_for(provider).is_some()
    }

    /// The rule for a provider: the user's, or [`Rule::reading`].
    ///
    /// # Errors
    /// The user requires a pinned key, and the rule has none.
    pub fn rule_for(&self, provider: &ProviderAddr) -> Result<Rule, Problem> {
        let mut rule = self.rule_or(provider, Rule::reading)?;
        rule.attestations.extend(self.attestation.clone());
        Ok(rule)
    }

    /// The rule for a provider at a source: the user's, or the default one, which requires a signature.
    ///
    /// # Errors
    /// As [`TrustOptions::rule_for`].
    pub fn rule_at_source(&self, provider: &ProviderAddr) -> Result<Rule, Problem> {
        self.rule_or(provider, Rule::default)
    }

    fn rule_or(
        &self,
        provider: &ProviderAddr,
        otherwise: impl FnOnce() -> Rule,
    ) -> Result<Rule, Problem> {
        let given = self.policy.rule_for(provider);
        if self.require_pinned && !given.as_ref().is_some_and(Rule::pinned) {
            return Err(Problem::NoPin);
        }
        Ok(given.unwrap_or_else(otherwise))
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

impl Versions {
    /// The versions of these tags.
    pub(crate) fn of(tags: Vec<String>) -> Self {
        let mut all = Self::default();
        for name in tags {
            match version_of(&name) {
                Ok(version) => all.versions.push(version),
                Err(reason) => all.ignored.push((printable(&name), reason)),
            }
        }
        all.versions.sort();
        all
    }
}

impl StoredProvider {
    /// A provider that the user named, in this repository.
    pub fn new(provider: ProviderAddr, repo: Repo, place: Place) -> Self {
        Self {
            provider,
            repo,
            place,
            is_listed: false,
        }
    }

    /// A provider that the user named, in the repository that the address of a store gives it.
    ///
    /// # Errors
    /// The store has no place for it.
    pub fn of(
        endpoint: &Endpoint,
        store: Store,
        provider: &ProviderAddr,
    ) -> Result<Self, MappingError> {
        let repository = endpoint.repository(provider)?;
        let place = endpoint.place(&repository);
        Ok(Self::new(
            provider.clone(),
            Repo::new(store, repository),
            place,
        ))
    }

    /// Where the versions come from, for attestations: the host of the registry. Paths of this machine tell others nothing.
    pub fn origin(&self) -> String {
        self.repo.registry_host().unwrap_or("oci-layout").to_owned()
    }

    /// Lists the versions in the repository.
    ///
    /// # Errors
    /// The store fails, or it does not have the provider.
    pub async fn versions(&self) -> Result<Versions, Failure> {
        let tags = self.repo.tags().await;
        let tags = tags.map_err(|error| self.failure(None, error.into()))?;
        let absent = || {
            let incomplete = self.repo.incomplete();
            incomplete.map_or(Problem::NoProvider, Problem::from)
        };
        let tags = tags.ok_or_else(|| self.failure(None, absent()))?;
        Ok(Versions::of(tags))
    }

    /// Selects the newest version that matches.
    ///
    /// # Errors
    /// No version matches.
    pub fn select(&self, available: &Versions, selection: &Selection) -> Result<Version, Failure> {
        let constraints = &selection.constraints;
        let newest = constraints.newest(available.versions.iter());
        let newest = newest.cloned();
        newest.ok_or_else(|| self.no_match(available, constraints))
    }

    /// The warning about a provider that the store lists without a version: all were withdrawn, and registries keep the empty repository.
    pub(crate) fn withdrawn(&self, available: &Versions) -> Option<Warning> {
        let has_none = self.is_listed && available.versions.is_empty();
        has_none.then(|| {
            let place = &self.place;
            Warning::Other(format!("{place} has no version of this provider any more"))
        })
    }

    /// The versions that are not denied; `None` if all were withdrawn. Reports either ([`Denials::leave_out`](crate::trust::Denials)).
    ///
    /// # Errors
    /// As [`StoredProvider::versions`].
    pub(crate) async fn allowed(
        &self,
        constraints: &VersionConstraints,
        trust: &TrustOptions,
        reporter: &Arc<dyn Reporter>,
    ) -> Result<Option<Versions>, Failure> {
        let mut available = self.versions().await?;
        if let Some(warning) = self.withdrawn(&available) {
            reporter.warn(Subject::provider(&self.provider), warning);
            return Ok(None);
        }
        let (denied, versions) = (&trust.policy.denied, &mut available.versions);
        let constraints = std::iter::once(constraints);
        let left_out =
            denied.leave_out(&self.provider, constraints, versions, |one| one, trust.now);
        for warning in left_out {
            reporter.warn(Subject::provider(&self.provider), warning);
        }
        Ok(Some(available))
    }

    /// The failure if none of these versions satisfies the constraints.
    pub(crate) fn no_match(
        &self,
        available: &Versions,
        constraints: &VersionConstraints,
    ) -> Failure {
        let problem = Problem::NoVersion {
            constraints: constraints.clone(),
            available: available.versions.clone(),
        };
        self.failure(None, problem)
    }

    /// Builds the failure of a version, or of the provider, in this store.
    pub fn failure(&self, version: Option<&Version>, problem: Problem) -> Failure {
        let mut subject = Subject::provider(&self.provider);
        subject.version = version.cloned();
        problem.of(subject, Some(self.place.clone()))
    }
}
