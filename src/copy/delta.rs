//! The guard of deltas: before anything is copied out of a delta, the target is asked for every package that the delta leaves out.

use std::collections::BTreeSet;

use futures_util::{StreamExt as _, stream};

use super::{Options, Task, have, selection};
use crate::constraint::VersionConstraints;
use crate::outcome::{Failure, Problem};

/// The number of packages that a target is asked for at once: as many small requests as one host receives.
const LOOKUPS: usize = 16;

/// Checks that the targets have what deltas leave out.
///
/// # Errors
/// A target cannot be asked, or misses something. Nothing may then be copied.
pub(super) async fn check(tasks: &[Task], options: &Options) -> Result<(), Failure> {
    let (mut missing, mut at) = (BTreeSet::new(), None);
    for Task {
        from, filters, to, ..
    } in tasks
    {
        let Some(delta) = from.repo.bundle().filter(|one| one.is_delta()) else {
            continue;
        };
        let selected = selection::select(filters, options, from, &from.versions().await?);
        let selected: Vec<String> = selected.versions.keys().map(ToString::to_string).collect();
        // The copy itself reports what cannot be read.
        let (listed, _) = have(from, &VersionConstraints::any()).await?;
        let listed = listed.iter().filter(|one| selected.contains(&one.version));
        let packages = listed.flat_map(|one| one.packages.iter().map(move |blob| (one, blob)));
        let omitted = packages.filter_map(|(version, blob)| Some((version, blob.expected()?)));
        let omitted = omitted.filter(|(_, package)| delta.omits(&package.digest));
        let lookups =
            omitted.map(async |(version, package)| (version, to.has_blob(&package).await));
        let lookups: Vec<_> = lookups.collect();
        let mut lookups = stream::iter(lookups).buffer_unordered(LOOKUPS);
        at = Some(to.place());
        while let Some((version, found)) = lookups.next().await {
            let at = at.clone();
            let is_there = found.map_err(|error| Failure {
                at,
                ..Failure::from(error)
            })?;
            if !is_there {
                missing.insert(format!("{}@{}", from.provider, version.version));
            }
        }
    }
    let versions: Vec<String> = missing.into_iter().collect();
    match versions.is_empty() {
        true => Ok(()),
        false => Err(Failure {
            at,
            ..Failure::from(Problem::NotInTarget { versions })
        }),
    }
}
