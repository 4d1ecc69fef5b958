//! Reports of a copy, and failures.

use super::Journey;
use crate::error::{MANY, listed};
use crate::event::{Subject, Warning};
use crate::oci::Refusal;
use crate::outcome::{Failure, Side};
use crate::platform::Platform;
use crate::publish::Error;
use crate::release::Release;
use crate::store::{self, StoreBlob};
use crate::version::Version;

impl Journey<'_> {
    /// Builds a failure at the store where it happened.
    pub(super) fn failure(&self, version: &Version, error: Error) -> Failure {
        let (at, platform, problem) = match error {
            Error::Source { platform, problem } => {
                (Side::From(self.from.repo.place()), platform, problem)
            }
            Error::Destination(problem) => (Side::To(self.to.place()), None, problem),
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
            return Err(Error::in_source(store::Error::Refusal(
                Refusal::NoPlatform {
                    platform: first.clone(),
                    available,
                },
            )));
        }
        let absent = wanted.iter().filter(|one| !found.contains(one));
        let absent = absent.map(|platform| Warning::NoPackage {
            place: self.from.place.clone(),
            platform: platform.clone(),
        });
        let others = (!others.is_empty()).then(|| {
            let others = listed(others, MANY);
            let text = format!("the copy has {others} too, because its index stays as it is");
            Warning::Other(text)
        });
        for warning in absent.chain(others) {
            let subject = Subject::version(&release.provider, &release.version);
            self.reporter.warn(subject, warning);
        }
        Ok(())
    }
}
