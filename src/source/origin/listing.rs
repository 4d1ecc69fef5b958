//! Lists of versions and their platforms.

use std::collections::BTreeMap;

use super::super::{AvailableVersion, AvailableVersions};
use crate::address::ProviderAddr;
use crate::error::{counted, printable};
use crate::event::Warning;
use crate::platform::Platform;
use crate::protocol::provider_registry::{ListedVersion, VersionList};
use crate::release;
use crate::trust::{Checksums, ReleaseId};
use crate::version::SpelledVersion;

/// Returns the versions of a list, ascending. Duplicate entries of a version are merged: it has the platforms of all, and the first
/// spelling.
///
/// Clients never read platforms in a list. Invalid platforms are therefore left out. A version without any valid platform counts as one without a
/// list of platforms.
pub(super) fn available_versions(list: VersionList) -> AvailableVersions {
    let mut versions: BTreeMap<_, AvailableVersion> = BTreeMap::new();
    for ListedVersion {
        version, platforms, ..
    } in list.versions
    {
        // All others were skipped.
        let Ok(version) = version.parse::<SpelledVersion>() else {
            continue;
        };
        let available = versions
            .entry(version.version().clone())
            .or_insert_with(|| AvailableVersion {
                version,
                platforms: None,
            });
        if !platforms.is_empty() {
            let all = available.platforms.get_or_insert_default();
            all.extend(platforms);
            all.sort();
            all.dedup();
        }
    }
    let messages = list.warnings.iter();
    let messages = messages.map(|message| Warning::Other(printable(message)));
    let skipped = list.skipped.first();
    let skipped = skipped.map(|first| {
        let count = counted(list.skipped.len(), "bad version");
        let text = format!("tfoci skips {count} in the origin's list; the first is {first}");
        Warning::Other(text)
    });
    AvailableVersions {
        versions: versions.into_values().collect(),
        warnings: messages.chain(skipped).collect(),
    }
}

/// The platforms of the zips that a checksum document lists. The document is not verified yet: if it lists a platform that the origin does
/// not have, the request for that package finds nothing.
pub(super) fn listed(
    provider: &ProviderAddr,
    version: &SpelledVersion,
    document: &release::Document,
) -> Vec<Platform> {
    let checksums = Checksums::parse(&document.bytes).ok();
    let subject = ReleaseId {
        provider,
        version: version.version(),
    };
    let names = checksums.iter().flat_map(Checksums::lines);
    names
        .filter_map(|(name, _)| subject.platform_of(name))
        .collect()
}
