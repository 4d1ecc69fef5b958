//! Reports of a run, and failures with the side on which they happened.

use std::collections::BTreeMap;

use super::Journey;
use super::selection::Selected;
use super::target::MirrorTarget;
use crate::error::printable;
use crate::event::{Event, Subject, Warning};
use crate::outcome::{At, Failure, Problem};
use crate::platform::Platform;
use crate::publish::{self, PackageBlob as _};
use crate::release::Release;
use crate::source::{self, SourcePackage};
use crate::version::Version;

impl Journey<'_> {
    /// Reports for each destination which versions it will receive, unless it has them.
    pub(super) fn report_selected(&self, selected: &[Selected], targets: &[MirrorTarget<'_>]) {
        let versions = selected.iter().map(|one| {
            let packages = one.platforms.named().map(<[_]>::len);
            (one.available.version.version().clone(), packages)
        });
        let versions: Vec<_> = versions.collect();
        for target in targets {
            target.reporter.report(Event::VersionsSelected {
                subject: Subject::provider(&self.task.provider),
                versions: versions.clone(),
            });
        }
    }

    /// Warns about wanted platforms for which the source has no package, with what it says of each. `has` are those that it has; empty if they are
    /// unknown.
    pub(super) fn report_absent(
        &self,
        version: &Version,
        absent: &BTreeMap<Platform, String>,
        has: &[Platform],
    ) {
        for (platform, said) in absent {
            self.reporter.report(Event::Warning {
                subject: Subject::version(&self.task.provider, version),
                warning: Warning::NoPackage {
                    place: self.source.place(&self.task.provider),
                    platform: platform.clone(),
                    available: has.to_vec(),
                    answer: printable(said),
                },
            });
        }
    }

    /// The failure to publish a release, with the side on which it happened.
    pub(super) fn unpublished<L>(
        &self,
        error: publish::Error<source::Error>,
        release: &Release<L>,
        target: &MirrorTarget<'_>,
    ) -> Failure {
        let subject = Subject::version(&release.provider, &release.version);
        let undelivered = match error {
            publish::Error::Destination(problem) => return target.failure(problem, subject),
            publish::Error::Source(undelivered) => undelivered,
        };
        let subject = match &undelivered.package {
            Some(package) => subject.platform(&package.platform),
            None => subject,
        };
        let failure = self.at_source(SourcePackage::problem(undelivered), subject);
        failure.to(target.label.as_deref())
    }

    /// The failure that the source has no package for any of these platforms. It lists the available ones if they are known.
    pub(super) fn without_packages(
        &self,
        absent: BTreeMap<Platform, String>,
        published: Option<(Version, Vec<Platform>)>,
        subject: Subject,
    ) -> Failure {
        let problem = source::Error::NoPlatform {
            platforms: absent,
            available: Vec::from_iter(published),
        };
        self.at_source(problem, subject)
    }

    /// A failure on the source's side.
    pub(super) fn at_source(&self, problem: impl Into<Problem>, subject: Subject) -> Failure {
        problem
            .into()
            .of(subject, At::Source(self.source.place(&self.task.provider)))
    }

    /// The same failure for each destination.
    pub(super) fn of_each(&self, targets: &[MirrorTarget<'_>], failure: Failure) -> Vec<Failure> {
        let labels = targets.iter().map(|target| target.label.as_deref());
        labels.map(|label| failure.to(label)).collect()
    }
}
