//! Mirrors one version: compares the destinations, verifies the release, copies missing packages.

use std::sync::Arc;

use futures_util::future;

use super::journey::Journey;
use super::selection::Selected;
use super::target::{Comparison, MirrorTarget, Missing};
use crate::authentication::Note;
use crate::blob::Shared;
use crate::event::{Event, Subject};
use crate::outcome::{Failure, OnResult, Published};
use crate::platform::Platform;
use crate::prove::prove;
use crate::release::Release;
use crate::source::{self, PackageMetadata};
use crate::trust::rule::Unsigned;
use crate::trust::{self, Rule, Verified};

/// The plan for a version.
pub(super) struct Planned<'t> {
    /// Destinations that are complete, and those that failed.
    completed: Vec<Completed<'t>>,
    /// The verified release, and the parts that other destinations lack.
    copy: Option<PlannedCopy<'t>>,
}

/// A version that needs no copying in one destination.
pub(super) struct Completed<'t> {
    pub(super) target: &'t MirrorTarget<'t>,
    pub(super) result: Result<Box<Published>, Failure>,
}

struct PlannedCopy<'t> {
    release: Verified<Release<PackageMetadata>>,
    missing: Vec<Missing<'t>>,
}

impl<'t> Planned<'t> {
    pub(super) fn completed(completed: Vec<Completed<'t>>) -> Self {
        Self {
            completed,
            copy: None,
        }
    }
}

impl<'t> Completed<'t> {
    pub(super) fn present(target: &'t MirrorTarget<'t>, published: Published) -> Self {
        Self {
            target,
            result: Ok(Box::new(published)),
        }
    }

    pub(super) fn failed(target: &'t MirrorTarget<'t>, failure: Failure) -> Self {
        Self {
            target,
            result: Err(failure),
        }
    }
}

impl Journey<'_> {
    /// Determines the parts of a version that destinations lack, and verifies its release.
    pub(super) async fn plan<'t>(
        &self,
        selected: &Selected,
        targets: &'t [MirrorTarget<'t>],
    ) -> Planned<'t> {
        let Selected {
            available,
            platforms,
            ..
        } = selected;
        let provider = &self.task.provider;
        let version = available.version.version();
        let subject = Subject::version(provider, version);
        let mut completed = Vec::new();
        let mut looked = Vec::new();
        let looking = targets.iter().map(|target| target.read_stored(version));
        for (target, found) in targets.iter().zip(future::join_all(looking).await) {
            match found {
                Ok(stored) => looked.push((target, stored)),
                Err(problem) => {
                    let failure = target.failure(problem, subject.clone());
                    completed.push(Completed::failed(target, failure));
                }
            }
        }
        let is_stored = looked.iter().any(|(_, stored)| stored.is_some());
        let wanted = match platforms {
            None if is_stored => match self.source.platforms(provider, &available.version).await {
                Ok(platforms) => Some(platforms),
                Err(error) => {
                    let failure = self.at_source(error, subject);
                    let failed = looked
                        .iter()
                        .map(|(target, _)| self.failed(target, &failure));
                    completed.extend(failed);
                    return Planned::completed(completed);
                }
            },
            platforms => platforms.clone(),
        };
        let mut missing = Vec::new();
        let can_prove = self.source.has_checksum_documents();
        for (target, stored) in looked {
            let compared = target.compare(version, stored, wanted.as_deref(), can_prove);
            match compared.await {
                Ok(Comparison::Present(published)) => {
                    completed.push(Completed::present(target, *published));
                }
                Ok(Comparison::Missing(one)) => missing.push(*one),
                Err(problem) => {
                    let failure = target.failure(problem, subject.clone());
                    completed.push(Completed::failed(target, failure));
                }
            }
        }
        if missing.is_empty() {
            return Planned::completed(completed);
        }
        let copying = match self.release(selected, &missing).await {
            Ok((release, absent)) => {
                let is_released = |one: &Missing<'_>| {
                    let mut packages = release.iter().flat_map(|release| &release.packages);
                    packages.any(|package| one.wants(&package.platform))
                };
                let (some, none): (Vec<_>, Vec<_>) = missing.into_iter().partition(is_released);
                let mut is_reported = release.is_some();
                for one in none {
                    // The store may already have every wanted package that the source has.
                    let Some(published) = one.present_for(version, wanted.as_deref()) else {
                        let failure = self.without_packages(&absent, None, subject.clone());
                        completed.push(self.failed(one.target, &failure));
                        continue;
                    };
                    if !is_reported {
                        self.report_absent(version, &absent);
                        is_reported = true;
                    }
                    completed.push(Completed::present(one.target, published));
                }
                release.map(|release| PlannedCopy {
                    release,
                    missing: some,
                })
            }
            Err(failure) => {
                completed.extend(missing.iter().map(|one| self.failed(one.target, &failure)));
                None
            }
        };
        Planned {
            completed,
            copy: copying,
        }
    }

    /// Requests and verifies the release of the platforms that any destination lacks; `None` if the source has none of them. Also returns
    /// the platforms for which it has no package.
    async fn release(
        &self,
        Selected { available, .. }: &Selected,
        missing: &[Missing<'_>],
    ) -> Result<(Option<Verified<Release<PackageMetadata>>>, Vec<Platform>), Failure> {
        let provider = &self.task.provider;
        let version = available.version.version();
        let subject = Subject::version(provider, version);
        if !self.source.has_checksum_documents() && missing.iter().any(|one| one.stored.is_none()) {
            // If the policy cannot accept an unsigned release, fail before any package is downloaded.
            let nothing = Release::unproven(provider, version, Vec::new());
            let verified = self.verify(nothing).await;
            verified.map_err(|error| self.at_source(error, subject.clone()))?;
        }
        let platforms = union(missing);
        let answer = self
            .source
            .release(provider, &available.version, platforms.as_deref());
        let source::ReleaseAnswer { release, absent } = answer
            .await
            .map_err(|error| self.at_source(error, subject.clone()))?;
        let Some(release) = release else {
            return Ok((None, absent));
        };
        self.report_absent(version, &absent);
        let verified = self.verify(release).await;
        let verified = verified.map_err(|error| self.at_source(error, subject.clone()))?;
        self.reporter.report(Event::Verified {
            subject,
            authentication: verified.authentication().clone(),
        });
        Ok((Some(verified), absent))
    }

    async fn verify(
        &self,
        release: Release<PackageMetadata>,
    ) -> Result<Verified<Release<PackageMetadata>>, trust::Error> {
        let (rule, now) = (&self.task.rule, self.options.publish.now);
        let Some(hashes) = self.task.locked.get(&release.version) else {
            return self.can_be_pinned(prove(release, rule, now).await?);
        };
        // With pinned keys, a signature by one of them is required, and a lock file cannot replace it.
        if self.source.has_checksum_documents() || rule.pinned() {
            let verified = prove(release, rule, now).await?.locked(hashes)?;
            return self.can_be_pinned(verified);
        }
        // The lock file replaces the signature that this source cannot have.
        let rule = Rule {
            unsigned: Unsigned::Allow,
            ..rule.clone()
        };
        prove(release, &rule, now).await?.locked(hashes)
    }

    /// If keys will be pinned, refuses a release whose keys came over an unverified connection.
    fn can_be_pinned(
        &self,
        release: Verified<Release<PackageMetadata>>,
    ) -> Result<Verified<Release<PackageMetadata>>, trust::Error> {
        let notes = &release.authentication().notes;
        if self.options.pins_keys && notes.contains(&Note::UnverifiedTransport) {
            return Err(trust::Error::UnverifiedTransport);
        }
        Ok(release)
    }

    /// Copies the missing packages into all destinations concurrently.
    pub(super) async fn execute(&self, planned: Planned<'_>, on_result: &OnResult<'_>) {
        for Completed { target, result } in planned.completed {
            if let Ok(published) = &result {
                target.report_plan(published);
            }
            on_result(result.map(|published| *published));
        }
        let Some(PlannedCopy { release, missing }) = planned.copy else {
            return;
        };
        let subject = Subject::version(&release.provider, &release.version);
        // Acquire the permit for temporary files before any response is opened, so that no open response waits for it.
        let is_shared = missing.len() > 1;
        let permit = match is_shared {
            true => Some(Arc::new(
                self.shared_files.acquire(release.packages.len()).await,
            )),
            false => None,
        };
        // Request sizes only now, because the responses stay open until the packages are copied.
        let release = match self.source.packages(release).await {
            Ok(release) => release,
            Err(error) => {
                let failure = self.at_source(error, subject);
                let failed = missing.iter().map(|one| self.failed(one.target, &failure));
                return failed.for_each(|completed| on_result(completed.result.map(|one| *one)));
            }
        };
        let packages = release.packages.iter().map(|package| {
            let readers = missing.iter().filter(|one| one.wants(&package.platform));
            let location = package.location.clone();
            let blob = match &permit {
                Some(permit) if readers.count() > 1 => {
                    Shared::among_several(location, Arc::clone(permit))
                }
                _ => Shared::alone(location),
            };
            (blob, package.expected.size)
        });
        let packages: Vec<_> = packages.collect();
        let release = release.located(packages);
        let copying = missing.iter().map(async |one| {
            let published = one.publish(release.clone()).await;
            if let Ok(published) = &published {
                one.target.report_plan(published);
            }
            on_result(published.map_err(|error| self.unpublished(error, &release, one.target)));
        });
        future::join_all(copying).await;
    }

    /// A failure on the source's side, for one of the destinations.
    fn failed<'t>(&self, target: &'t MirrorTarget<'t>, failure: &Failure) -> Completed<'t> {
        Completed::failed(target, failure.to(target.label.as_deref()))
    }
}

/// The platforms that any destination lacks; `None` if a destination lacks all platforms of the source.
fn union(missing: &[Missing<'_>]) -> Option<Vec<Platform>> {
    let mut all = Vec::new();
    for one in missing {
        for platform in one.platforms.as_ref()? {
            if !all.contains(platform) {
                all.push(platform.clone());
            }
        }
    }
    Some(all)
}
