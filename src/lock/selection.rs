//! Selects the version to lock, as `init` does ([clients: version selection](crate::clients#version-selection)).

use crate::outcome::Problem;

use super::Wanted;
use super::method::{Found, Listing};

/// The locked version, unless `upgrade` is set; otherwise the newest one that the constraints admit.
///
/// # Errors
/// The constraints do not admit the locked version, the locked version is not available any more, or no version matches.
pub(super) fn choose<'l, 'a>(
    wanted: &Wanted,
    listing: &'l Listing<'a>,
    upgrade: bool,
) -> Result<&'l Found<'a>, Problem> {
    let available = || listing.versions().cloned().collect();
    if let Some((locked, _)) = wanted.locked.as_ref().filter(|_| !upgrade) {
        if !wanted.constraints.admits(locked) {
            return Err(Problem::OtherLocked {
                locked: locked.clone(),
                constraints: wanted.constraints.clone(),
            });
        }
        return listing.get(locked).ok_or_else(|| Problem::Withdrawn {
            available: available(),
            admitted: wanted.constraints.newest(listing.versions()).cloned(),
            stored: Vec::new(),
        });
    }
    let newest = wanted.constraints.newest(listing.versions());
    let newest = newest.and_then(|version| listing.get(version));
    newest.ok_or_else(|| Problem::NoVersion {
        constraints: wanted.constraints.clone(),
        available: available(),
    })
}
