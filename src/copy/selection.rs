//! Selects the versions of a provider to copy.

use std::collections::BTreeMap;

use super::Options;
use crate::constraint::VersionConstraints;
use crate::event::Warning;
use crate::examine::{StoredProvider, Versions};
use crate::mirror::VersionFilter;
use crate::outcome::Failure;
use crate::platform::Platforms;
use crate::version::Version;

/// Selects versions of a provider in the store that is read.
#[derive(Clone, Debug)]
pub enum Selector {
    /// Every version that satisfies these constraints; without constraints every version, pre-releases included.
    Constraints(VersionConstraints),
    /// The versions and platforms that [`crate::mirror`](mod@crate::mirror) would select.
    Filter(VersionFilter),
}

/// The versions that at least one selector matches.
#[derive(Debug, Default)]
pub(super) struct SelectedVersions {
    /// The wanted platforms of each version.
    pub(super) versions: BTreeMap<Version, Platforms>,
    /// A failure for each selector that matches no version.
    pub(super) unmatched: Vec<Failure>,
    /// What the block list leaves out.
    pub(super) warnings: Vec<Warning>,
}

impl Selector {
    fn constraints(&self) -> &VersionConstraints {
        match self {
            Self::Constraints(constraints) => constraints,
            Self::Filter(filter) => &filter.versions,
        }
    }

    fn platforms(&self) -> &Platforms {
        match self {
            Self::Constraints(_) => &Platforms::All,
            Self::Filter(filter) => &filter.platforms,
        }
    }

    /// The versions that match, of ascending ones.
    fn matching<'a>(&self, versions: &'a [Version]) -> Vec<&'a Version> {
        match self {
            Self::Constraints(constraints) => versions
                .iter()
                .filter(|version| constraints.is_any() || constraints.admits(version))
                .collect(),
            Self::Filter(filter) => filter.matching(versions).collect(),
        }
    }
}

/// Applies selectors to the versions in the store that is read. A version that several selectors match gets the platforms of all of them. A
/// selector that matches only versions that are excluded or denied has not failed.
pub(super) fn select(
    selectors: &[Selector],
    options: &Options,
    from: &StoredProvider,
    available: &Versions,
) -> SelectedVersions {
    let mut selected = SelectedVersions::default();
    let mut unmatched: Vec<&VersionConstraints> = Vec::new();
    let is_excluded =
        |version: &&Version| (options.exclude.iter()).any(|one| one.has(&from.provider, version));
    let versions = available.versions.iter();
    let mut wanted: Vec<Version> = versions.filter(|one| !is_excluded(one)).cloned().collect();
    let constraints = selectors.iter().map(Selector::constraints);
    let denied = &options.trust.policy.denied;
    let left_out = denied.leave_out(
        &from.provider,
        constraints,
        &mut wanted,
        |one| one,
        options.trust.now,
    );
    selected.warnings.extend(left_out);
    for selector in selectors {
        let constraints = selector.constraints();
        let matching = selector.matching(&wanted);
        let is_unmatched = || selector.matching(&available.versions).is_empty();
        if matching.is_empty() && is_unmatched() && !unmatched.contains(&constraints) {
            unmatched.push(constraints);
            let failure = from.no_match(available, constraints);
            selected.unmatched.push(failure);
        }
        for version in matching {
            let platforms = selected.versions.entry(version.clone());
            let platforms = platforms.or_insert_with(|| Platforms::Among(Vec::new()));
            platforms.add(selector.platforms());
        }
    }
    selected
}
