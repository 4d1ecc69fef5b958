//! The platforms that a lock file has: the platforms of the packages that have its hashes.

use std::collections::{BTreeMap, BTreeSet};

use crate::error::Category;
use crate::hash::PackageHash;
use crate::outcome::{Failure, Problem};
use crate::platform::{Platform, Platforms};

use super::method::{Found, Listing};
use super::record::Recorded;
use super::{Journey, Needed, Options};

/// Platforms, and whether the lock file has an `h1` of each.
type Has = BTreeMap<Platform, bool>;

impl Journey<'_> {
    /// Records a version for the platforms that the lock file has.
    pub(super) async fn record_same(
        &self,
        entry: &Needed,
        listing: &Listing<'_>,
        found: &Found<'_>,
    ) -> Result<Recorded, Failure> {
        let locked = entry.before.as_ref().filter(|(_, all)| !all.is_empty());
        let Some((version, hashes)) = locked else {
            return self.record(entry, found).await;
        };
        let has = match listing.get(version) {
            Some(before) => self.platforms_of(entry, before, hashes).await?,
            None => Has::new(),
        };
        if has.is_empty() {
            let mut failure = found.failure(Problem::UnknownPlatforms);
            if let Some(subject) = &mut failure.subject {
                subject.version = Some(version.clone());
            }
            return Err(failure);
        }
        let wants_h1 = self.options.wants_h1();
        let h1 = has.iter().filter(|(_, has_h1)| wants_h1 && **has_h1);
        let h1 = Platforms::Among(h1.map(|(platform, _)| platform.clone()).collect());
        let platforms = Platforms::Among(has.keys().cloned().collect());
        let options = self.options_for(platforms, h1);
        self.with(&options).record(entry, found).await
    }

    /// The platforms whose packages of the locked version have these hashes. Packages are downloaded only for an `h1` whose platform no `zh`
    /// tells.
    async fn platforms_of(
        &self,
        entry: &Needed,
        before: &Found<'_>,
        hashes: &BTreeSet<PackageHash>,
    ) -> Result<Has, Failure> {
        let platforms = match before.method.is_origin() {
            true => {
                let listed = before.available.platforms.as_deref();
                self.options.platforms.any_of(listed)
            }
            false => Platforms::All,
        };
        let listed = Options {
            // Nothing is written by it.
            trust_store: true,
            ..self.options_for(platforms, Platforms::Only(Vec::new()))
        };
        let recorded = self.with(&listed).record(entry, before).await?;
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
                let one = Platforms::Only(vec![platform.clone()]);
                let options = self.options_for(one.clone(), one);
                match self.with(&options).record(entry, before).await {
                    // The checksum document lists it, and the store does not have it.
                    Err(failure) if failure.category() == Category::NotFound => {}
                    recorded => {
                        if recorded?.hashes.iter().any(|h1| left.remove(h1)) {
                            has.insert(platform, true);
                        }
                    }
                }
            }
        }
        Ok(has)
    }

    fn options_for(&self, platforms: Platforms, h1: Platforms) -> Options {
        Options {
            platforms,
            h1,
            ..self.options.clone()
        }
    }

    fn with<'a>(&'a self, options: &'a Options) -> Journey<'a> {
        Journey { options, ..*self }
    }
}
