//! Compares a release with what a lock file has of its version.

use std::collections::BTreeSet;

use super::record::Recorded;
use super::{Entry, Found, Locked};
use crate::hash::PackageHash;

impl Recorded {
    /// The result for a lock file. `believes_origin` says whether its client records what the origin reports.
    pub(super) fn locked(&self, entry: &Entry, found: &Found<'_>, believes_origin: bool) -> Locked {
        let of_version = entry.locked_hashes(found.version());
        // What the lock file has of this version, and the release does not.
        let mut unknown: Vec<PackageHash> = of_version.into_iter().flatten().cloned().collect();
        unknown.retain(|hash| !self.hashes.contains(hash));
        let mut hashes = self.hashes.clone();
        if believes_origin {
            unknown.retain(|hash| !self.reported_h1.contains(hash));
            hashes.extend(self.reported_h1.iter().cloned());
            hashes.extend(self.reported_lines.iter().cloned());
        }
        let are_all_unpacked = self.not_unpacked.as_ref().is_some_and(Vec::is_empty);
        let is_strange = |hash: &&PackageHash| match hash {
            PackageHash::Zh(_) => true,
            PackageHash::H1(_) => are_all_unpacked,
            // A value that no package can have. Hashes of other schemes are not known.
            PackageHash::Other { scheme, .. } => matches!(scheme.as_str(), "zh" | "h1"),
        };
        let strangers = unknown.iter().filter(is_strange);
        let knows_all = self.only.is_none() && !self.hashes.is_empty();
        let h1 = unknown.iter().filter(|hash| hash.is_h1());
        let h1: Vec<PackageHash> = h1.cloned().collect();
        let has_all = believes_origin && !self.reported_lines.is_empty();
        let mut locked = Locked {
            provider: found.provider().clone(),
            version: found.version().clone(),
            place: found.method.place(found.provider()),
            authentication: self.authentication.clone(),
            packages: self.installed.clone(),
            hashes,
            strangers: strangers.filter(|_| knows_all).cloned().collect(),
            uncompared: Vec::new(),
            missing: Vec::new(),
            unchecked: 0,
            kept: unknown.len(),
            only: self.only.clone().filter(|_| !has_all),
            files: BTreeSet::new(),
        };
        match &self.not_unpacked {
            None => locked.unchecked = h1.len(),
            Some(missing) if !missing.is_empty() && !h1.is_empty() => {
                (locked.uncompared, locked.missing) = (h1, missing.clone());
            }
            Some(_) => {}
        }
        locked
    }
}
