//! Selects the version to lock, as `init` does ([clients: version selection](crate::clients#version-selection)).

use crate::outcome::Problem;
use crate::version::Version;

use super::Wanted;
use super::method::Listing;

/// The locked version, unless `upgrade` is set; otherwise the newest one that the constraints admit.
///
/// # Errors
/// The constraints do not admit the locked version, the locked version is not available any more, or no version matches.
pub(super) fn choose(
    wanted: &Wanted,
    listing: &Listing<'_>,
    upgrade: bool,
) -> Result<Version, Problem> {
    let available = || listing.versions().cloned().collect();
    if let Some(locked) = wanted
        .locked
        .as_ref()
        .filter(|_| !upgrade)
        .map(|(version, _)| version)
    {
        if !wanted.constraints.admits(locked) {
            return Err(Problem::OtherLocked {
                locked: locked.clone(),
                constraints: wanted.constraints.clone(),
            });
        }
        if listing.get(locked).is_none() {
            return Err(Problem::Withdrawn {
                available: available(),
                stored: Vec::new(),
            });
        }
        return Ok(locked.clone());
    }
    let newest = wanted.constraints.newest(listing.versions());
    newest.cloned().ok_or_else(|| Problem::NoVersion {
        constraints: (!wanted.constraints.is_any()).then(|| wanted.constraints.to_string()),
        available: available(),
    })
}
