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

/// The versions that at least one filter matches.
#[derive(Debug, Default)]
pub(super) struct SelectedVersions {
    /// The wanted platforms of each version.
    pub(super) versions: BTreeMap<Version, Platforms>,
    /// A failure for each filter that matches no version.
    pub(super) unmatched: Vec<Failure>,
    /// What the block list leaves out.
    pub(super) warnings: Vec<Warning>,
}

/// Applies filters to the versions in the store that is read. A version that several filters match gets the platforms of all of them. A filter
/// that matches only versions that are excluded or denied has not failed.
pub(super) fn select(
    filters: &[VersionFilter],
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
    let constraints = filters.iter().map(|filter| &filter.versions);
    let denied = &options.trust.policy.denied;
    let left_out = denied.leave_out(
        &from.provider,
        constraints,
        &mut wanted,
        |one| one,
        options.trust.now,
    );
    selected.warnings.extend(left_out);
    for filter in filters {
        let constraints = &filter.versions;
        let mut matching = filter.matching(&wanted).peekable();
        let is_unmatched = || filter.matching(&available.versions).next().is_none();
        if matching.peek().is_none() && is_unmatched() && !unmatched.contains(&constraints) {
            unmatched.push(constraints);
            let failure = from.no_match(available, constraints);
            selected.unmatched.push(failure);
        }
        for version in matching {
            let platforms = selected.versions.entry(version.clone());
            let platforms = platforms.or_insert_with(|| Platforms::Among(Vec::new()));
            platforms.add(&filter.platforms);
        }
    }
    selected
}
