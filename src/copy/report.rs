//! Reports of a copy, and failures that name both stores.

use super::Journey;
use super::error::Error;
use crate::event::{Event, Subject};
use crate::oci::Refusal;
use crate::outcome::{At, Failure, Published};
use crate::platform::Platform;
use crate::release::Release;
use crate::store::{self, StoreBlob};
use crate::trust::Verified;
use crate::version::Version;

impl Journey<'_> {
    pub(super) fn announce(&self, release: &Verified<Release<StoreBlob>>) {
        self.reporter.report(Event::Verified {
            subject: Subject::version(&release.provider, &release.version),
            authentication: release.authentication().clone(),
        });
    }

    /// Reports what a real run would do with each package.
    pub(super) fn announce_plan(&self, published: &Published) {
        let version = Subject::version(&published.provider, &published.version);
        for package in &published.packages {
            if let (Some(size), Some(authentication)) = (package.size, &published.authentication) {
                self.reporter.report(Event::Finished {
                    subject: version.platform(&package.platform),
                    size,
                    transfer: package.status,
                    authentication: authentication.clone(),
                });
            }
        }
    }

    /// Builds a failure that names both stores, first the one where it happened.
    pub(super) fn failure(&self, version: &Version, error: Error) -> Failure {
        let (from, to) = (self.from.repo.place(), self.to.place());
        let (at, platform, problem) = match error {
            Error::From { platform, problem } => {
                let (store, to) = (from, Some(Box::new(to)));
                (At::From { store, to }, platform, problem)
            }
            Error::To(problem) => {
                let (store, from) = (to, Some(Box::new(from)));
                (At::To { store, from }, None, problem)
            }
        };
        let subject = Subject {
            platform,
            ..Subject::version(&self.from.provider, version)
        };
        problem.of(subject, at)
    }

    /// Warns about wanted platforms that a release lacks, and about others that a copy of its index has too.
    pub(super) fn check_platforms(
        &self,
        release: &Release<StoreBlob>,
        wanted: &[Platform],
    ) -> Result<(), Error> {
        let packages = release.packages.iter();
        let available: Vec<Platform> = packages.map(|one| one.platform.clone()).collect();
        let (others, found): (Vec<&Platform>, Vec<_>) = available
            .iter()
            .partition(|platform| !wanted.contains(platform));
        if let (true, Some(first)) = (found.is_empty(), wanted.first()) {
            return Err(Error::in_read_store(store::Error::Refusal(
                Refusal::NoPlatform {
                    platform: first.clone(),
                    available,
                },
            )));
        }
        let absent = wanted.iter().filter(|one| !found.contains(one));
        let mut warnings: Vec<String> = absent
            .map(|platform| format!("there is no package for {platform}"))
            .collect();
        if !others.is_empty() {
            let others: Vec<String> = others.into_iter().map(Platform::to_string).collect();
            let others = others.join(", ");
            warnings.push(format!(
                "the copy has {others} too, because its index stays as it is"
            ));
        }
        for message in warnings {
            let subject = Subject::version(&release.provider, &release.version);
            self.reporter.report(Event::Warning { subject, message });
        }
        Ok(())
    }
}
