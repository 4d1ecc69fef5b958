//! What is told on the way, and whose fault a failure is.

use super::Journey;
use crate::event::{Event, Subject};
use crate::outcome::{Failure, Problem, Published};
use crate::platform::Platform;
use crate::publish::Destination;
use crate::release::Release;
use crate::source::{self, SourcePackage};
use crate::store::{self, WriteStore};
use crate::version::Version;

impl<D: WriteStore> Journey<'_, D> {
    /// Tells for which wanted platforms the source has nothing.
    pub(super) fn tell_what_is_absent(&self, version: &Version, absent: &[Platform]) {
        for platform in absent {
            self.reporter.report(Event::Warning {
                subject: Subject::version(&self.task.provider, version),
                message: format!("there is no package for {platform}"),
            });
        }
    }

    /// Tells what a run would do with each package.
    pub(super) fn tell_plan(&self, published: &Published) {
        for package in &published.packages {
            let version = Subject::version(&published.provider, &published.version);
            let subject = version.platform(&package.platform);
            self.reporter
                .report(match (package.size, &published.authentication) {
                    (Some(size), Some(authentication)) => Event::Finished {
                        subject,
                        size,
                        transfer: package.status,
                        authentication: authentication.clone(),
                    },
                    _ => Event::Settled { subject },
                });
        }
    }

    /// A failure on the side that it happened on.
    pub(super) fn unpublished(
        &self,
        problem: Problem,
        release: &Release<SourcePackage>,
    ) -> Failure {
        let mut subject = Subject::version(&release.provider, &release.version);
        let problem = of_package(problem, release);
        if let Problem::Archive { file, .. } = &problem {
            let mut packages = release.packages.iter();
            if let Some(package) = packages.find(|package| package.file_name == *file) {
                subject = subject.platform(&package.platform);
            }
        }
        match problem {
            problem @ (Problem::Package { .. } | Problem::Archive { .. }) => {
                self.at_source(problem, subject)
            }
            problem => self.stored(problem, subject),
        }
    }

    /// That the source has nothing for any of these platforms, and what it has, as far as it says so.
    pub(super) fn without_packages<'p>(
        &self,
        platforms: impl IntoIterator<Item = &'p Platform>,
        published: Option<(Version, Vec<Platform>)>,
        subject: Subject,
    ) -> Failure {
        let platforms = platforms.into_iter().map(Platform::to_string);
        let problem = source::Error::NoPlatform {
            place: self.source.name(&self.task.provider),
            platforms: platforms.collect(),
            available: Vec::from_iter(published),
        };
        self.at_source(problem, subject)
    }

    /// A failure on the source's side.
    pub(super) fn at_source(&self, problem: impl Into<Problem>, subject: Subject) -> Failure {
        problem
            .into()
            .of(subject, &self.source.name(&self.task.provider))
    }

    /// A failure on the store's side.
    pub(super) fn stored(&self, problem: Problem, subject: Subject) -> Failure {
        let Destination { store, repository } = &self.task.destination;
        problem.of(subject, &store.name(repository))
    }
}

/// Bytes of a package that are not those that were promised are its source's fault: the store only notices.
fn of_package(problem: Problem, release: &Release<SourcePackage>) -> Problem {
    match problem {
        Problem::Store(store::Error::Blob {
            what,
            digest,
            source,
        }) => {
            let mut packages = release.packages.iter();
            let package = packages.find(|package| package.expected.digest == digest);
            match package.filter(|_| source.fault().is_some()) {
                Some(package) => Problem::Package {
                    platform: package.platform.clone(),
                    category: source.category(),
                    source: Box::new(source),
                },
                None => Problem::Store(store::Error::Blob {
                    what,
                    digest,
                    source,
                }),
            }
        }
        problem => problem,
    }
}
