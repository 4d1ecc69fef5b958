//! Versions in stores.

use std::collections::BTreeSet;

use crate::authentication::Status;
use crate::event::Subject;
use crate::examine::StoredProvider;
use crate::hash::PackageHash;
use crate::outcome::{At, Failure, Problem};
use crate::platform::Platforms;
use crate::version::Version;

use super::recorded::{Proven, Recorded, Reported};
use super::release_zips::ReleaseZips;
use super::{Journey, Task};

impl Journey<'_> {
    /// Reads and verifies a version in a store, and collects its hashes.
    pub(super) async fn record_stored(
        &self,
        task: &Task,
        stored: &StoredProvider,
        version: &Version,
        locked: &BTreeSet<PackageHash>,
    ) -> Result<Recorded, Failure> {
        let options = self.options;
        let at = || At::read(stored.place.clone());
        let subject = Subject::version(&stored.provider, version);
        let fail = |problem: Problem| problem.of(subject.clone(), at());
        let rule = options.trust.rule_for(&stored.provider).map_err(fail)?;
        // A signature by a pinned key covers every package, so that their manifests need not be read.
        let platforms = match (rule.pinned(), options.trust_store) {
            (true, _) if options.wants_h1() => options.h1.clone(),
            (true, _) if !options.are_named => Platforms::Only(Vec::new()),
            (false, true) => Platforms::All,
            _ => options.platforms.clone(),
        };
        let examined = stored.examine(version, &platforms, &options.trust).await?;
        let release = examined.accepted(&stored.provider, self.reporter);
        let release = release.map_err(fail)?;
        let authentication = release.authentication().clone();
        let proven = Proven::of(&release, options.trust_store).map_err(fail)?;
        let zips = ReleaseZips::of(&release, proven.claim());
        zips.check_any(&task.wanted, version).map_err(fail)?;
        let (mut hashes, needs_packages) = proven.hashes();
        if needs_packages && authentication.status == Status::Unverified {
            return Err(fail(Problem::NoEvidence));
        }
        let only = needs_packages.then(|| self.hashed(&release)).flatten();
        let unpacked = self.unpacked(&release);
        let installed = match options.wants_h1() || needs_packages {
            true => {
                let release = self.wanted_of(release, needs_packages);
                self.read(release, &subject, at(), locked, &mut hashes)
                    .await?
            }
            false => Vec::new(),
        };
        Ok(Recorded {
            authentication,
            hashes,
            reported: Reported::default(),
            installed,
            unpacked,
            only,
            zips: Some(zips),
        })
    }
}
