//! Selects the versions and platforms of a provider to mirror.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use crate::constraint::VersionConstraints;
use crate::platform::{Platform, Platforms};
use crate::source::AvailableVersion;
use crate::version::Version;

/// A filter for versions of one provider.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VersionFilter {
    /// The acceptable versions.
    pub versions: VersionConstraints,
    /// At most this many, the newest; `None` for all.
    pub newest: Option<usize>,
    /// Whether pre-releases match without being named in a constraint.
    pub prereleases: bool,
    /// The requested platforms, of those that the source has.
    pub platforms: Platforms,
    /// The least age of a version.
    pub min_age: Duration,
    /// Whether the user names one version, which is then mirrored however young it is.
    pub is_named: bool,
}

/// A version that at least one filter matches.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Selected {
    pub(super) available: AvailableVersion,
    /// The platforms to mirror, sorted. `All` is resolved when the release is requested.
    pub(super) platforms: Platforms,
    /// Requested platforms that the source does not list.
    pub(super) absent: BTreeSet<Platform>,
    /// The least age that its filters want. Those that name it want none.
    pub(super) min_age: Duration,
}

impl Selected {
    pub(crate) fn version(&self) -> &Version {
        self.available.version.version()
    }

    /// Whether the source lists none of the requested platforms.
    pub(super) fn is_empty(&self) -> bool {
        self.platforms.named().is_some_and(<[_]>::is_empty)
    }
}

impl VersionFilter {
    /// Every version that satisfies these constraints, of any age and for all platforms; without constraints every version, pre-releases included.
    pub fn of(constraints: &VersionConstraints) -> Self {
        Self {
            versions: constraints.clone(),
            newest: None,
            prereleases: constraints.is_any(),
            platforms: Platforms::All,
            min_age: Duration::ZERO,
            is_named: false,
        }
    }

    fn admits(&self, version: &Version) -> bool {
        let spans = || version.is_prerelease() && self.versions.spans(version);
        self.versions.admits(version) || self.prereleases && (self.versions.is_any() || spans())
    }

    /// The versions that match, of any age, the newest first. `versions` is ascending.
    pub fn matching<'a>(&self, versions: &'a [Version]) -> impl Iterator<Item = &'a Version> {
        let admitted = versions.iter().rev().filter(|version| self.admits(version));
        admitted.take(self.newest.unwrap_or(usize::MAX))
    }

    /// The versions that match, of any number and age, the newest first.
    fn among<'a>(
        &self,
        available: &'a [AvailableVersion],
    ) -> impl Iterator<Item = &'a AvailableVersion> {
        let all = available.iter().rev();
        all.filter(|one| self.admits(one.version.version()))
    }

    /// The requested platforms that the version has, and the ones that it does not have.
    fn platforms_of(&self, available: &AvailableVersion) -> (Platforms, Vec<Platform>) {
        match (self.platforms.named(), &available.platforms) {
            (Some(wanted), Some(there)) => {
                let is_there = |platform: &Platform| there.contains(platform);
                let (found, absent) = wanted.iter().cloned().partition(is_there);
                (Platforms::Among(found), absent)
            }
            (None, Some(there)) => (Platforms::Among(there.clone()), Vec::new()),
            (_, None) => (self.platforms.clone(), Vec::new()),
        }
    }
}

/// The result of applying all filters.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct SelectedVersions {
    /// The matching versions, the newest first.
    pub(crate) selected: Vec<Selected>,
    /// The filters that no version matches.
    pub(super) unmatched: Vec<VersionFilter>,
}

/// Applies filters to the available versions, which are ascending. A version that several filters match gets the platforms of all of them.
/// `is_old` says whether a version is old enough for a filter.
pub(super) fn select(
    filters: &[VersionFilter],
    available: &[AvailableVersion],
    mut is_old: impl FnMut(&VersionFilter, &Version) -> bool,
) -> SelectedVersions {
    let mut selection: BTreeMap<&Version, Selected> = BTreeMap::new();
    let mut unmatched = Vec::new();
    for filter in filters {
        let mut among = filter.among(available).peekable();
        if among.peek().is_none() {
            unmatched.push(filter.clone());
        }
        let old = among.filter(|one| filter.is_named || is_old(filter, one.version.version()));
        for available in old.take(filter.newest.unwrap_or(usize::MAX)) {
            let (platforms, absent) = filter.platforms_of(available);
            let selected = selection
                .entry(available.version.version())
                .or_insert_with(|| Selected {
                    available: available.clone(),
                    platforms: Platforms::Among(Vec::new()),
                    absent: BTreeSet::new(),
                    min_age: Duration::ZERO,
                });
            if !filter.is_named {
                selected.min_age = filter.min_age.max(selected.min_age);
            }
            selected.platforms.add(&platforms);
            selected.absent.extend(absent);
        }
    }
    SelectedVersions {
        selected: selection.into_values().rev().collect(),
        unmatched,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn available(texts: &[(&str, Option<&str>)]) -> Vec<AvailableVersion> {
        let available = |(version, platforms): &(&str, Option<&str>)| AvailableVersion {
            version: version.parse().unwrap(),
            platforms: platforms.map(read),
        };
        texts.iter().map(available).collect()
    }

    fn read(platforms: &str) -> Vec<Platform> {
        let words = platforms.split_whitespace();
        words.map(|text| text.parse().unwrap()).collect()
    }

    fn filter(constraints: &str, newest: Option<usize>, platforms: Option<&str>) -> VersionFilter {
        VersionFilter {
            versions: constraints.parse().unwrap(),
            newest,
            prereleases: false,
            platforms: platforms.map_or(Platforms::All, |all| Platforms::Among(read(all))),
            min_age: Duration::ZERO,
            is_named: false,
        }
    }

    fn shown(selection: SelectedVersions) -> Vec<String> {
        let show = |selected: &Selected| {
            let platforms = selected.platforms.named().map(|all| {
                let texts: Vec<String> = all.iter().map(Platform::to_string).collect();
                texts.join(" ")
            });
            let version = selected.available.version.version();
            format!("{version} {}", platforms.as_deref().unwrap_or("?"))
        };
        selection.selected.iter().map(show).collect()
    }

    fn of(filters: &[VersionFilter], available: &[AvailableVersion]) -> SelectedVersions {
        select(filters, available, |_, _| true)
    }

    #[test]
    fn the_newest_of_a_range_for_the_platforms_that_are_there() {
        let available = available(&[
            ("1.0.0", Some("linux_amd64")),
            ("1.1.0", Some("linux_amd64 linux_arm64")),
            ("1.2.0-rc1", None),
            ("2.0.0", None),
        ]);
        assert_eq!(
            shown(of(
                &[filter("~> 1.0", None, Some("linux_arm64"))],
                &available
            )),
            ["1.1.0 linux_arm64", "1.0.0 "]
        );
        assert_eq!(
            shown(of(&[filter(">= 0", Some(1), None)], &available)),
            ["2.0.0 ?"]
        );
        let mut early = filter("~> 1.0", Some(2), None);
        early.prereleases = true;
        assert_eq!(
            shown(of(&[early], &available)),
            ["1.2.0-rc1 ?", "1.1.0 linux_amd64 linux_arm64"]
        );
    }

    #[test]
    fn filters_for_one_version_are_merged() {
        let available = available(&[("1.0.0", None), ("2.0.0", None)]);
        let filters = [
            filter("1.0.0", None, Some("linux_arm64")),
            filter(">= 1", None, Some("linux_amd64")),
            filter("2.0.0", None, None),
        ];
        assert_eq!(
            shown(of(&filters, &available)),
            ["2.0.0 ?", "1.0.0 linux_amd64 linux_arm64"]
        );
    }

    #[test]
    fn missing_platforms_are_reported() {
        let available = available(&[("1.0.0", Some("linux_amd64"))]);
        let one = |platforms| {
            let selection = of(&[filter(">= 1", None, Some(platforms))], &available);
            selection.selected.into_iter().next_back().unwrap()
        };
        let some = one("linux_amd64 linux_arm64");
        let is_empty = some.is_empty();
        let absent = Vec::from_iter(some.absent);
        assert_eq!((is_empty, absent), (false, read("linux_arm64")));
        assert!(one("linux_arm64").is_empty());
    }

    #[test]
    fn a_filter_without_a_match_is_unmatched() {
        let available = available(&[("1.0.0", None)]);
        let filters = [
            filter("3.0.0", None, Some("linux_arm64")),
            filter(">= 1", None, None),
        ];
        let selection = of(&filters, &available);
        assert_eq!(selection.unmatched, filters[..1]);
        assert_eq!(shown(selection), ["1.0.0 ?"]);
    }
}
