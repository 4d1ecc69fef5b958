//! Cooldown: a version that is younger than the user wants is held back.
//!
//! The date of a version is the later of two: the creation time in its signature, and the `Last-Modified` of its checksum document. A thief of
//! the key can write any time into a signature, and a thief of the host can send any header: if both backdate together, nothing tells. A
//! version without any date is held back for good.

use std::collections::BTreeMap;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use futures_util::{StreamExt as _, stream};

use super::selection::{Selected, SelectedVersions, select};
use super::{Journey, VersionFilter};
use crate::address::ProviderAddr;
use crate::event::{Subject, Warning};
use crate::outcome::Problem;
use crate::platform::Platforms;
use crate::prove::prove;
use crate::release::Release;
use crate::source::{self, AvailableVersion, Source};
use crate::trust::{Rule, Verified};
use crate::version::Version;

/// The number of versions of a provider whose dates are requested at once.
const CONCURRENT: usize = 4;

/// The dates of versions. A version may have none.
pub(crate) type Dates = BTreeMap<Version, Option<SystemTime>>;

/// When each version is old enough that is held back; `None` if it has no date.
pub(crate) type Held = BTreeMap<Version, Option<SystemTime>>;

/// Selects the versions of a provider that are old enough.
pub(crate) struct Dating<'a> {
    provider: &'a ProviderAddr,
    source: &'a Source,
    rule: &'a Rule,
    now: SystemTime,
    /// The known dates. Those that are requested are added.
    pub(crate) dates: Dates,
    /// The versions whose dates could not be requested, and why. They count as old: who wants them gets the same failure.
    pub(crate) failed: Vec<(Version, Problem)>,
}

impl<'a> Dating<'a> {
    pub(crate) fn new(
        provider: &'a ProviderAddr,
        source: &'a Source,
        rule: &'a Rule,
        now: SystemTime,
    ) -> Self {
        Self {
            provider,
            source,
            rule,
            now,
            dates: Dates::new(),
            failed: Vec::new(),
        }
    }

    /// Applies filters to the available versions, which are ascending. It requests the dates of those that may be too young and are not
    /// there yet, and selects again, until all of them are old enough. Also returns the versions that are held back.
    pub(crate) async fn select(
        &mut self,
        filters: &[VersionFilter],
        available: &[AvailableVersion],
        is_there: impl Fn(&Version) -> bool,
    ) -> (SelectedVersions, Held) {
        loop {
            let mut held = Held::new();
            let selection = select(filters, available, |filter, version| {
                let date = self.dates.get(version);
                let until = date.map(|date| until(*date, filter.min_age, self.now));
                if let Some(Err(until)) = until {
                    held.insert(version.clone(), until);
                }
                !matches!(until, Some(Err(_)))
            });
            let is_unknown = |one: &&Selected| {
                let is_held = !one.min_age.is_zero() && !one.is_named;
                is_held && !is_there(one.version()) && !self.dates.contains_key(one.version())
            };
            let unknown = selection.selected.iter().filter(is_unknown);
            let asked: Vec<_> = unknown.map(|one| self.request(one)).collect();
            let dated: Vec<_> = stream::iter(asked).buffered(CONCURRENT).collect().await;
            if dated.is_empty() {
                for one in &selection.selected {
                    held.remove(one.version());
                }
                return (selection, held);
            }
            for (version, date) in dated {
                let date = date.unwrap_or_else(|problem| {
                    self.failed.push((version.clone(), problem));
                    Some(UNIX_EPOCH)
                });
                self.dates.insert(version, date);
            }
        }
    }

    /// Requests the date of a version: the metadata of one package, the checksum document and the signature.
    async fn request(&self, one: &Selected) -> (Version, Result<Option<SystemTime>, Problem>) {
        let available = &one.available;
        let platforms = available.platforms.as_deref().or(one.platforms.named());
        let first = platforms.and_then(<[_]>::first).cloned();
        let first = first.map_or(Platforms::All, |first| Platforms::Among(vec![first]));
        let dated = async {
            let version = &available.version;
            let is_pinned = self.rule.pinned();
            let answer = self
                .source
                .release(self.provider, version, &first, is_pinned);
            let answer = answer.await?;
            let release = answer.release.ok_or(source::Error::NoPlatform {
                platforms: answer.absent,
                available: Vec::new(),
            })?;
            Ok(date_of(&prove(release, self.rule, self.now).await?))
        };
        (one.version().clone(), dated.await)
    }
}

/// The date of a verified release.
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
    /// have a version that this release adds platforms to. A version that the user names is only warned of.
    ///
    /// # Errors
    /// [`Problem::Held`]
    pub(super) fn check_age<L>(
        &self,
        selected: &Selected,
        release: &Verified<Release<L>>,
    ) -> Result<(), Problem> {
        match until(date_of(release), selected.min_age, self.options.now) {
            Ok(()) => Ok(()),
            Err(until) if selected.is_named => {
                let subject = Subject::version(&release.provider, &release.version);
                self.warn(subject, Warning::Young(until));
                Ok(())
            }
            Err(until) => Err(Problem::Held { until }),
        }
    }
}
