//! Requests the release of a version, and verifies it.

use std::borrow::Cow;
use std::collections::BTreeMap;

use super::Journey;
use super::completed::Completed;
use super::selection::Selected;
use super::target::Missing;
use crate::authentication::Note;
use crate::event::Subject;
use crate::outcome::Failure;
use crate::platform::{Platform, Platforms};
use crate::prove::prove;
use crate::release::Release;
use crate::source::{PackageMetadata, ReleaseAnswer};
use crate::trust::rule::Unsigned;
use crate::trust::{self, Rule, Verified};

impl Journey<'_> {
    /// Requests the release of the platforms that any destination lacks.
    pub(super) async fn release(
        &self,
        Selected { available, .. }: &Selected,
        missing: &[Missing<'_>],
    ) -> Result<ReleaseAnswer, Failure> {
        let provider = &self.task.provider;
        let version = available.version.version();
        let subject = Subject::version(provider, version);
        if !self.source.has_checksum_documents() && missing.iter().any(|one| one.stored.is_none()) {
            // If the policy cannot accept an unsigned release, fail before any package is downloaded.
            let nothing = Release::unproven(provider, version, Vec::new());
            let verified = self.verify(nothing).await;
            verified.map_err(|error| self.at_source(error, subject.clone()))?;
        }
        let mut platforms = Platforms::Among(Vec::new());
        for one in missing {
            platforms.add(&one.platforms);
        }
        let answer = self
            .source
            .release(provider, &available.version, &platforms);
        answer.await.map_err(|error| self.at_source(error, subject))
    }

    /// Verifies a release, and reports it and the platforms for which the source has no package.
    pub(super) async fn verified(
        &self,
        release: Release<PackageMetadata>,
        absent: &BTreeMap<Platform, String>,
    ) -> Result<Verified<Release<PackageMetadata>>, Failure> {
        self.report_absent(&release.version, absent, &[]);
        let subject = Subject::version(&release.provider, &release.version);
        let verified = self.verify(release).await;
        let verified = verified.map_err(|error| self.at_source(error, subject))?;
        self.reporter.report(verified.event());
        Ok(verified)
    }

    /// The results for destinations whose missing platforms the source lacks. A destination counts as present if it already has every
    /// wanted package that the source has.
    pub(super) fn unreleased<'t>(
        &self,
        Selected { available, .. }: &Selected,
        missing: &[Missing<'t>],
        wanted: &Platforms,
        absent: &BTreeMap<Platform, String>,
    ) -> Vec<Completed<'t>> {
        let version = available.version.version();
        let completed = missing
            .iter()
            .map(|one| match one.present_for(version, wanted) {
                Some(published) => Completed::present(one.target, published),
                None => {
                    let subject = Subject::version(&self.task.provider, version);
                    let failure = self.without_packages(absent.clone(), None, subject);
                    Completed::failed(one.target, &failure)
                }
            });
        completed.collect()
    }

    async fn verify(
        &self,
        release: Release<PackageMetadata>,
    ) -> Result<Verified<Release<PackageMetadata>>, trust::Error> {
        let (rule, now) = (&self.task.rule, self.options.now);
        let locked = self.task.locked.get(&release.version);
        // The lock file replaces the signature that this source cannot have. With pinned keys, a signature by one of them is required.
        let lock_is_enough =
            locked.is_some() && !self.source.has_checksum_documents() && !rule.pinned();
        let rule = match lock_is_enough {
            true => Cow::Owned(Rule {
                unsigned: Unsigned::Allow,
                ..rule.clone()
            }),
            false => Cow::Borrowed(rule),
        };
        let mut verified = prove(release, &rule, now).await?;
        if let Some(hashes) = locked {
            verified = verified.locked(hashes)?;
        }
        let notes = &verified.authentication().notes;
        let pins_keys = self.options.pins_keys && !lock_is_enough;
        if pins_keys && notes.contains(&Note::UnverifiedTransport) {
            let key = verified.authentication().fingerprint.clone();
            return Err(trust::Error::UnverifiedTransport { key });
        }
        Ok(verified)
    }
}
