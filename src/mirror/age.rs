//! Cooldown: a version that is younger than the user wants is held back.
//!
//! The date of a version is the later of two: the creation time in its signature, and the `Last-Modified` of its checksum document. A thief of
//! the key can write any time into a signature, and a thief of the host can send any header: if both backdate together, nothing tells. A
//! version without any date is held back for good.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use futures_util::{StreamExt as _, stream};

use super::selection::{Selected, SelectedVersions, select};
use super::{Journey, VersionFilter};
use crate::address::ProviderAddr;
use crate::jobs::locked;
use crate::outcome::Problem;
use crate::platform::{Platform, Platforms};
use crate::prove::prove;
use crate::release::Release;
use crate::source::origin::LIKELY;
use crate::source::{self, AvailableVersion, Source};
use crate::trust::{Rule, Verified};
use crate::version::Version;

/// The number of versions of a provider whose dates are requested at once. Each takes three requests, and other providers ask the same host.
const CONCURRENT: usize = 4;
/// The number of versions whose dates are requested before the next selection. With fewer, a provider of many young versions is selected anew very
/// often; with more, dates are requested that nothing needs.
const BATCH: usize = 64;
/// The most versions of a provider whose dates are requested: more than any real one has. The others are held back.
const MOST: usize = 1_000;

/// The dates of versions. A version may have none.
pub(crate) type Dates = BTreeMap<Version, Option<SystemTime>>;

/// When each version is old enough that is held back; `None` if it has no date.
pub(crate) type HeldBack = BTreeMap<Version, Option<SystemTime>>;

/// Selects the versions of a provider that are old enough.
pub(crate) struct Dating<'a> {
    pub(crate) provider: &'a ProviderAddr,
    pub(crate) source: &'a Source,
    pub(crate) rule: &'a Rule,
    pub(crate) now: SystemTime,
    /// The known dates. Those that are requested are added as they arrive.
    pub(crate) dates: Arc<Mutex<Dates>>,
}

impl Dating<'_> {
    /// Applies filters to the available versions, which are ascending. It requests the dates of those that may be too young and are not
    /// there yet, and selects again, until all of them are old enough. Also returns the versions that are held back, and those whose dates cannot be
    /// requested. These count as old: who wants them gets the same failure.
    pub(crate) async fn select(
        &self,
        filters: &[VersionFilter],
        available: &[AvailableVersion],
        is_there: impl Fn(&Version) -> bool,
    ) -> (SelectedVersions, HeldBack, Vec<(Version, Problem)>) {
        let (mut failed, mut left) = (Vec::new(), MOST);
        loop {
            let mut held = HeldBack::new();
            let mut dates = locked(&self.dates).clone();
            for (version, _) in &failed {
                dates.insert(Version::clone(version), Some(UNIX_EPOCH));
            }
            let selection = select(filters, available, |filter, version| {
                let date = match dates.get(version) {
                    Some(date) => *date,
                    None if left > 0 || is_there(version) => return true,
                    None => None,
                };
                let until = until(date, filter.min_age, self.now).err();
                if let Some(until) = until {
                    held.insert(version.clone(), until);
                }
                until.is_none()
            });
            let is_unknown = |one: &&Selected| {
                let is_held = !one.min_age.is_zero() && !one.is_empty();
                is_held && !is_there(one.version()) && !dates.contains_key(one.version())
            };
            let unknown = selection.selected.iter().filter(is_unknown);
            let asked: Vec<_> = unknown
                .take(BATCH.min(left))
                .map(|one| self.date(one))
                .collect();
            if asked.is_empty() {
                drop(asked);
                for one in &selection.selected {
                    held.remove(one.version());
                }
                return (selection, held, failed);
            }
            left -= asked.len();
            let mut asked = stream::iter(asked).buffered(CONCURRENT);
            while let Some((version, date)) = asked.next().await {
                match date {
                    Ok(date) => drop(locked(&self.dates).insert(version, date)),
                    Err(problem) => failed.push((version, problem)),
                }
            }
        }
    }

    /// Requests the date of a version: the metadata of one package, the checksum document and the signature.
    async fn date(&self, one: &Selected) -> (Version, Result<Option<SystemTime>, Problem>) {
        let likely = || LIKELY.iter().filter_map(|text| text.parse().ok()).collect();
        let platforms = one
            .platforms
            .named()
            .map_or_else(likely, <[Platform]>::to_vec);
        let dated = async {
            let (version, is_pinned) = (&one.available.version, self.rule.pinned());
            let mut absent = BTreeSet::new();
            for platform in platforms {
                let platform = Platforms::Among(vec![platform]);
                let answer = self
                    .source
                    .release(self.provider, version, &platform, is_pinned);
                let answer = answer.await?;
                if let Some(release) = answer.release {
                    return Ok(date_of(&prove(release, self.rule, self.now).await?));
                }
                absent.extend(answer.absent);
            }
            Err(source::Error::NoPlatform { platforms: absent }.into())
        };
        (one.version().clone(), dated.await)
    }
}

fn date_of<L>(release: &Verified<Release<L>>) -> Option<SystemTime> {
    let served = release.checksums.as_ref().and_then(|one| one.modified);
    served.max(release.authentication().signed_at)
}

/// `Err` until a version with this date is old enough.
fn until(
    date: Option<SystemTime>,
    min_age: Duration,
    now: SystemTime,
) -> Result<(), Option<SystemTime>> {
    let until = date.and_then(|date| date.checked_add(min_age));
    match min_age.is_zero() || until.is_some_and(|until| until <= now) {
        true => Ok(()),
        false => Err(until),
    }
}

impl Journey<'_> {
    /// Checks the age of a verified release, also where it was checked before: a source may answer with another release now, and the store may
    /// have a version that this release adds platforms to.
    ///
    /// # Errors
    /// [`Problem::Held`]
    pub(super) fn check_age<L>(
        &self,
        selected: &Selected,
        release: &Verified<Release<L>>,
    ) -> Result<(), Problem> {
        until(date_of(release), selected.min_age, self.options.now)
            .map_err(|until| Problem::Held { until })
    }
}
