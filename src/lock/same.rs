//! The platforms that a lock file has: those of the packages that have its hashes.

use std::collections::{BTreeMap, BTreeSet};

use crate::error::Category;
use crate::event::Subject;
use crate::hash::PackageHash;
use crate::outcome::{Failure, Problem};
use crate::platform::{Platform, Platforms};

use super::method::{Found, Listing};
use super::recorded::Recorded;
use super::{Journey, Options, Task, Wanted};

/// Platforms, and whether the lock file has an `h1` of each.
type Has = BTreeMap<Platform, bool>;

impl Journey<'_> {
    /// Records a version for the platforms that the lock file has.
    pub(super) async fn record_same(
        &self,
        task: &Task,
        wanted: &Wanted,
        listing: &Listing<'_>,
        found: &Found<'_>,
    ) -> Result<Recorded, Failure> {
        let locked = wanted.locked.as_ref().filter(|(_, all)| !all.is_empty());
        let Some((version, hashes)) = locked else {
            return self.record(task, wanted, found).await;
        };
        let has = match listing.get(version) {
            Some(before) => self.platforms_of(task, wanted, before, hashes).await?,
            None => Has::new(),
        };
        if has.is_empty() {
            let subject = Subject::version(&task.provider, version);
            return Err(Problem::UnknownPlatforms.of(subject, found.at(&task.provider)));
        }
        let wants_h1 = self.options.wants_h1();
        let h1 = has.iter().filter(|(_, has_h1)| wants_h1 && **has_h1);
        let options = Options {
            h1: Platforms::Among(h1.map(|(platform, _)| platform.clone()).collect()),
            platforms: Platforms::Among(has.keys().cloned().collect()),
            ..self.options.clone()
        };
        self.with(&options).record(task, wanted, found).await
    }

    /// The platforms whose packages of the locked version have these hashes. Packages are downloaded only for `h1` of which the `zh` do not tell
    /// the platforms.
    async fn platforms_of(
        &self,
        task: &Task,
        wanted: &Wanted,
        before: &Found<'_>,
        hashes: &BTreeSet<PackageHash>,
    ) -> Result<Has, Failure> {
        let listed = Options {
            platforms: match before {
                Found::Released(source, available) if source.has_checksum_documents() => {
                    let listed = available.platforms.as_deref();
                    self.options.platforms.any_of(listed)
                }
                _ => Platforms::All,
            },
            h1: Platforms::Only(Vec::new()),
            // Nothing is written by it.
            trust_store: true,
            ..self.options.clone()
        };
        let recorded = self.with(&listed).record(task, wanted, before).await?;
        let own = recorded.zips.map(|zips| zips.own).unwrap_or_default();
        let mut left: BTreeSet<_> = hashes.iter().filter(|hash| hash.is_h1()).collect();
        let told = own.iter().filter(|(hash, _)| hashes.contains(hash));
        let told = told.map(|(hash, platform)| (platform.clone(), left.remove(hash)));
        let mut has: Has = told.collect();
        let is_packed = !own.iter().any(|(hash, _)| hash.is_h1());
        let mut all: BTreeSet<Platform> = own.into_iter().map(|(_, platform)| platform).collect();
        if has.len() == all.len() && left.len() >= has.len() {
            has.values_mut().for_each(|has_h1| *has_h1 = true);
        } else if is_packed && (self.options.wants_h1() || left.len() > has.len()) {
            // This machine's is the likeliest.
            let first = all.take(&Platform::current());
            for platform in first.into_iter().chain(all) {
                if left.is_empty() {
                    break;
                }
                let found = self.h1_of(task, wanted, before, &platform).await?;
                if found.iter().any(|h1| left.remove(h1)) {
                    has.insert(platform, true);
                }
            }
        }
        Ok(has)
    }

    /// The `h1` of the package for a platform; none if the checksum document lists it and the store lacks it.
    async fn h1_of(
        &self,
        task: &Task,
        wanted: &Wanted,
        before: &Found<'_>,
        platform: &Platform,
    ) -> Result<BTreeSet<PackageHash>, Failure> {
        let one = Platforms::Only(vec![platform.clone()]);
        let options = Options {
            h1: one.clone(),
            platforms: one,
            ..self.options.clone()
        };
        match self.with(&options).record(task, wanted, before).await {
            Err(failure) if failure.category() == Category::NotFound => Ok(BTreeSet::new()),
            recorded => Ok(recorded?.hashes),
        }
    }

    fn with<'a>(&'a self, options: &'a Options) -> Journey<'a> {
        Journey { options, ..*self }
    }
}
