//! Reads one version of a store, and verifies it.

use futures_util::{FutureExt as _, future};

use super::{Examined, StoredProvider, TrustOptions};
use crate::authentication::Note;
use crate::digest::Digest;
use crate::oci::Tag;
use crate::outcome::{Failure, Problem};
use crate::platform::Platforms;
use crate::prove::prove;
use crate::store::{self, Artifact, StoreBlob, StoredEvidence, StoredPackage, artifact};
use crate::trust::{self, Rule};
use crate::version::Version;

impl StoredProvider {
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
        let stored = async {
            let artifact = self.repo.artifact(&tag).await?;
            let artifact = artifact.ok_or_else(|| Problem::no_version(version))?;
            if self.is_listed
                && let Some(problem) = Problem::of_another(&artifact.index, &self.provider)
            {
                return Err(problem);
            }
            let packages = self.packages(&artifact, platforms).await?;
            Ok((artifact, packages))
        };
        let evidence = Tag::of_evidence(version)?;
        let evidence = self.repo.evidence(&evidence).map(Ok);
        let (stored, evidence) = future::try_join(stored, evidence).await?;
        self.verify_packages(version, stored, evidence, trust).await
    }

    /// Verifies packages with the evidence of their version.
    ///
    /// # Errors
    /// A pinned key is required and there is none, or the version has no valid tag. A failed verification is not an error here: it is
    /// [`Examined::proof`].
    pub async fn verify_packages(
        &self,
        version: &Version,
        (artifact, packages): (Artifact, Vec<StoredPackage>),
        evidence: Result<Option<StoredEvidence>, store::Error>,
        trust: &TrustOptions,
    ) -> Result<Examined<StoreBlob>, Problem> {
        let rule = trust.rule_for(&self.provider)?;
        let tag = Tag::of_version(version)?;
        let stored = evidence.as_ref().ok().and_then(Option::as_ref);
        let raw = stored.map(|stored| stored.raw.clone());
        let checksums = stored.and_then(|stored| stored.evidence.checksums.as_deref());
        let checksums = checksums.map(Digest::of);
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
                let proof = prove(release, &rule, trust.now).await;
                let proof = proof.map_err(|source| match source {
                    source if is_gone && source.is_unsigned() => Problem::NoEvidence,
                    source => Problem::Evidence { source },
                });
                (protocols, proof)
            }
            // A network failure proves nothing about the evidence.
            Err(error) if error.is_about_access() => (None, Err(Problem::Store(error))),
            Err(error) => (None, Err(Problem::Unreadable(error))),
        };
        // Two addresses may have one repository, and no signature covers the address. Keys are required of this provider, not of that other one.
        let other = Problem::of_another(&artifact.index, &self.provider);
        let other = other.filter(|_| rule.pinned());
        let denied = &trust.policy.denied;
        let denied = denied.check(&self.provider, version, trust.now);
        let refused = denied.err().map(Problem::from).or(other);
        let proof = refused.map_or(proof, Err);
        let attested = match &proof {
            Ok(_) => self.attested(version, &artifact, checksums, &rule).await,
            Err(_) => Ok(None),
        };
        let (attested, proof) = match attested {
            Ok(key) => (key, proof),
            Err(problem) => (None, Err(problem)),
        };
        Ok(Examined {
            version: version.clone(),
            tag,
            artifact,
            packages,
            evidence: raw,
            protocols,
            attested,
            proof,
        })
    }

    /// The id of the last key that has to attest a version, if all of them do.
    async fn attested(
        &self,
        version: &Version,
        artifact: &Artifact,
        checksums: Option<Digest>,
        rule: &Rule,
    ) -> Result<Option<String>, Problem> {
        if rule.attestations.is_empty() {
            return Ok(None);
        }
        let index = &artifact.raw.expected.digest;
        let attestations = self.repo.attestations(index).await?;
        let (name, mut last) = (format!("{}@{version}", self.provider), None);
        for required in &rule.attestations {
            let key = required.key().map(|key| key.id()).unwrap_or_default();
            let check = |one: &Vec<u8>| required.check(one, &name, index, checksums.as_ref());
            let checked: Vec<_> = attestations.iter().map(check).collect();
            if !checked.iter().any(Result::is_ok) {
                let fault = checked.into_iter().filter_map(Result::err).max();
                return Err(trust::Error::NotAttested { key, fault }.into());
            }
            last = Some(key);
        }
        Ok(last)
    }

    async fn packages(
        &self,
        artifact: &Artifact,
        platforms: &Platforms,
    ) -> Result<Vec<StoredPackage>, store::Error> {
        match platforms {
            Platforms::All => self.repo.packages(&artifact.index.platforms()?).await,
            Platforms::Only(wanted) => {
                let mut packages = Vec::new();
                for platform in wanted {
                    let entry = artifact.entry(platform)?;
                    packages.push(self.repo.package(platform, entry).await?);
                }
                Ok(packages)
            }
            Platforms::Among(wanted) => {
                let mut entries = artifact.index.platforms()?;
                entries.retain(|(platform, _)| wanted.contains(platform));
                let packages = self.repo.packages(&entries).await?;
                if let (true, Some(first)) = (packages.is_empty(), wanted.first()) {
                    artifact.entry(first)?;
                }
                Ok(packages)
            }
        }
    }
}
