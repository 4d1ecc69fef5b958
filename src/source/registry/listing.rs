//! What lists say: which versions there are, and for which platforms.

use std::collections::BTreeMap;

use url::Url;

use super::super::Offer;
use super::super::error::{Document, Error};
use super::super::wire::ListedVersion;
use crate::address::ProviderAddr;
use crate::platform::Platform;
use crate::release;
use crate::trust::{Checksums, Subject};
use crate::version::SpelledVersion;

/// The versions of a list, ascending. A version that is listed twice has the platforms of both, under its first spelling.
pub(super) fn offers(listed: Vec<ListedVersion>, url: &Url) -> Result<Vec<Offer>, Error> {
    let mut offers: BTreeMap<_, Offer> = BTreeMap::new();
    for ListedVersion { version, platforms } in listed {
        let version: SpelledVersion = version.parse().map_err(|source| Error::Version {
            url: url.clone().into(),
            source,
        })?;
        let read = platforms.map(|all| {
            let read = all.iter().map(|one| Platform::new(&one.os, &one.arch));
            read.collect::<Result<Vec<_>, _>>()
        });
        let platforms = read.transpose().map_err(|source| Error::Platform {
            what: Document::Versions,
            url: url.clone().into(),
            source,
        })?;
        let offer = offers
            .entry(version.version().clone())
            .or_insert_with(|| Offer {
                version,
                platforms: None,
            });
        if let Some(more) = platforms {
            let all = offer.platforms.get_or_insert_default();
            all.extend(more);
            all.sort();
            all.dedup();
        }
    }
    Ok(offers.into_values().collect())
}

/// The platforms for which a checksum document has zips. It is not verified yet: what it lists in vain is not found.
pub(super) fn listed(
    provider: &ProviderAddr,
    version: &SpelledVersion,
    document: &release::Document,
) -> Vec<Platform> {
    let checksums = Checksums::parse(&document.bytes).ok();
    let subject = Subject {
        provider,
        version: version.version(),
    };
    let names = checksums.iter().flat_map(Checksums::lines);
    names
        .filter_map(|(name, _)| subject.platform_of(name))
        .collect()
}
