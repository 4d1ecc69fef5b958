//! Reports of a copy, and failures.

use super::Journey;
use crate::event::{Subject, Warning};
use crate::oci::Refusal;
use crate::outcome::Failure;
use crate::platform::Platform;
use crate::publish::Error;
use crate::release::Release;
use crate::store::{self, StoreBlob};
use crate::version::Version;

impl Journey<'_> {
    /// Builds a failure at the store where it happened.
    pub(super) fn failure(&self, version: &Version, error: Error) -> Failure {
        let subject = Subject::version(&self.from.provider, version);
        error.of(subject, self.from.repo.place(), &self.to)
    }

    /// Warns about wanted platforms that a release does not have.
    pub(super) fn check_platforms(
        &self,
        release: &Release<StoreBlob>,
        wanted: &[Platform],
    ) -> Result<(), Error> {
        let (found, absent): (Vec<&Platform>, Vec<&Platform>) =
            wanted.iter().partition(|platform| release.has(platform));
        if let (true, Some(first)) = (found.is_empty(), wanted.first()) {
            let available = release.packages.iter().map(|one| one.platform.clone());
            let refusal = Refusal::NoPlatform {
                platform: first.clone(),
                available: available.collect(),
            };
            return Err(Error::in_source(store::Error::from(refusal)));
        }
        for platform in absent {
            let subject = Subject::version(&release.provider, &release.version);
            let (place, platform) = (self.from.place.clone(), platform.clone());
            let warning = Warning::NoPackage { place, platform };
            self.reporter.warn(subject, warning);
        }
        Ok(())
    }
}
