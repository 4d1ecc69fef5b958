//! Locked versions that the source does not list any more. If the store has all of such a version, it is present.

use std::collections::BTreeSet;

use super::selection::NoMatch;
use super::target::{MirrorTarget, Stored};
use super::{Journey, Outcome};
use crate::digest::Digest;
use crate::event::{Event, Subject, Warning};
use crate::hash::PackageHash;
use crate::oci::Tag;
use crate::outcome::Problem;
use crate::platform::Platforms;
use crate::prove::prove;
use crate::store::{StoredPackage, artifact};
use crate::trust;
use crate::version::Version;

impl Journey<'_> {
    /// The result of a filter without a matching version: present, if the filter is for a locked version that the destination has.
    pub(super) async fn without_match(
        &self,
        no_match: &NoMatch,
        skipped: &BTreeSet<Version>,
        target: &MirrorTarget<'_>,
    ) -> Outcome {
        let exact = no_match.versions.as_exact();
        let locked = exact.filter(|one| self.task.locked.contains_key(one));
        // The source has not withdrawn a version that it only lists wrongly.
        let Some(version) = locked.filter(|one| !skipped.contains(one)) else {
            let problem = Problem::NoVersion {
                constraints: no_match.versions.clone(),
                available: no_match.available.clone(),
            };
            let failure = self.at_source(problem, Subject::provider(&self.task.provider));
            return Err(target.failed(&failure));
        };
        let provider = &self.task.provider;
        let subject = Subject::version(provider, version);
        let in_store = |problem: Problem| target.failure(problem, subject.clone());
        let stored = target.read_stored(version).await.map_err(in_store)?;
        if let Some(stored) = &stored {
            let has_all = target.has_all(version, stored, &no_match.platforms).await;
            if let Some(read) = has_all.map_err(in_store)? {
                let place = self.source.place(provider);
                target.reporter.report(Event::Warning {
                    subject,
                    warning: Warning::Withdrawn(place),
                });
                return Ok(target.present(version, stored, &read));
            }
        }
        let stored = stored.into_iter().flat_map(|stored| stored.platforms);
        let problem = Problem::Withdrawn {
            available: no_match.available.clone(),
            admitted: None,
            stored: stored.collect(),
        };
        Err(target.failed(&self.at_source(problem, subject)))
    }
}

impl MirrorTarget<'_> {
    /// The packages of a locked version, if the store has the wanted platforms. If all platforms are wanted, the source's list of them is
    /// gone, so the store must have every locked zip.
    async fn has_all(
        &self,
        version: &Version,
        stored: &Stored,
        platforms: &Platforms,
    ) -> Result<Option<Vec<StoredPackage>>, Problem> {
        let there = Vec::from_iter(stored.platforms.iter().cloned());
        let wanted = platforms.named().unwrap_or(&there);
        let read = self.check_lock(version, stored, wanted).await?;
        if *platforms != Platforms::All {
            let has_all = wanted.iter().all(|one| stored.platforms.contains(one));
            return Ok(has_all.then_some(read));
        }
        let locked = self.task.locked.get(version).into_iter().flatten();
        let mut lacking: BTreeSet<Digest> = locked.filter_map(PackageHash::zip_digest).collect();
        lacking.retain(|digest| !read.iter().any(|one| one.layer.expected.digest == *digest));
        if !lacking.is_empty() && stored.has_evidence {
            // Clients lock the hash of every line of the checksum document, including files that are not packages.
            let others = self.files_beside(version, &read).await?;
            lacking.retain(|digest| !others.contains(digest));
        }
        Ok(lacking.is_empty().then_some(read))
    }

    /// The files in the stored checksum document that are not packages. Evidence that does not prove the stored packages is refused,
    /// because it could list any missing package as such a file.
    async fn files_beside(
        &self,
        version: &Version,
        packages: &[StoredPackage],
    ) -> Result<Vec<Digest>, Problem> {
        let provider = &self.task.provider;
        let tag = Tag::of_evidence(version)?;
        let found = self.destination.evidence(&tag).await?;
        let packages = packages
            .iter()
            .map(|package| package.at(provider, version, ()));
        let evidence = found.map(|found| found.evidence);
        let release = artifact::release(provider, version, packages.collect(), evidence);
        let proof = prove(release, &self.task.rule, self.options.now).await;
        let proof = proof.map_err(|source| Problem::Evidence { source })?;
        let Some(checksums) = proof.checksums() else {
            return Ok(Vec::new());
        };
        let subject = trust::ReleaseId {
            provider: &self.task.provider,
            version,
        };
        let lines = checksums.lines();
        let others = lines.filter(|(name, _)| subject.platform_of(name).is_none());
        Ok(others.map(|(_, digest)| digest).collect())
    }
}
