//! The tasks of `tfoci copy`, from arguments, mirror files and lock files.

use std::collections::BTreeMap;

use tfoci::address::ProviderAddr;
use tfoci::config::MirrorFile;
use tfoci::copy::Task;
use tfoci::event::Subject;
use tfoci::mirror::{Locks, VersionFilter};
use tfoci::outcome::{Failure, Problem};
use tfoci::store::{Endpoint, Registry, Store};

use super::Arguments;
use crate::cli::error::CommandError;
use crate::cli::session::{Session, Wanted, WantedVersions, requested};

/// The providers to copy.
#[derive(Default)]
pub(super) struct Plan {
    pub(super) copying: Vec<Copying>,
    /// Why not everything is copied, although no provider was named.
    pub(super) incomplete: Option<CommandError>,
}

/// A provider, and filters of its versions.
pub(super) struct Copying {
    pub(super) wanted: WantedVersions,
    filters: Vec<VersionFilter>,
}

impl Plan {
    /// Finds the providers of the arguments, the mirror file and the lock files in the store that is read. If there are none of these, it finds
    /// all providers of the store.
    pub(super) async fn of(
        arguments: &Arguments,
        file: Option<MirrorFile>,
        locks: &Locks,
        session: &Session,
        registry: &Registry,
    ) -> Result<Self, CommandError> {
        let is_selective = file.is_some() || !arguments.from_lock.is_empty();
        let mut filters: BTreeMap<ProviderAddr, Vec<VersionFilter>> = BTreeMap::new();
        let entries = file.into_iter().flat_map(|file| file.providers);
        for entry in entries.chain(requested::locked(locks)) {
            let filter = requested::filter(&entry);
            filters.entry(entry.provider).or_default().push(filter);
        }
        let named = arguments.providers.len();
        let mut texts = arguments.providers.clone();
        texts.extend(filters.keys().map(ToString::to_string));
        // An empty lock file does not select all providers.
        if texts.is_empty() && is_selective {
            return Ok(Self::default());
        }
        let wanted = session.wanted(&texts, arguments.from.as_deref(), registry);
        let Wanted {
            versions,
            everything,
        } = wanted.await?;
        let mut plan: Vec<Copying> = Vec::new();
        for (position, wanted) in versions.into_iter().enumerate() {
            let selection = &wanted.selection;
            let is_filtered = position >= named && is_selective;
            let filters = filters.get(&selection.provider).filter(|_| is_filtered);
            let filters = match filters {
                Some(filters) => filters.clone(),
                None => vec![VersionFilter::of(&selection.constraints)],
            };
            // A version that several of them select is copied once.
            match plan.iter_mut().find(|known| known.is_of(&wanted)) {
                Some(known) => known.filters.extend(filters),
                None => plan.push(Copying { wanted, filters }),
            }
        }
        Ok(Self {
            copying: plan,
            incomplete: everything.and_then(|everything| everything.failure()),
        })
    }

    pub(super) fn providers(&self) -> Vec<ProviderAddr> {
        let wanted = self.copying.iter().map(|copying| &copying.wanted.selection);
        wanted.map(|selection| selection.provider.clone()).collect()
    }

    /// The tasks, and the failures of providers that one of the stores cannot have.
    pub(super) fn tasks(
        self,
        to: &Endpoint,
        target: &Store,
        locks: &Locks,
    ) -> impl Iterator<Item = Result<Task, Failure>> {
        self.copying
            .into_iter()
            .map(move |Copying { wanted, filters }| {
                let WantedVersions { selection, from } = wanted;
                let provider = &selection.provider;
                let from = from?;
                let at_target =
                    |problem: Problem| problem.of(Subject::provider(provider), Some(to.whole()));
                let repository = to.repo_mut(target, provider);
                let repository = repository.map_err(|error| at_target(error.into()))?;
                if from.repo.to_string() == repository.to_string() {
                    return Err(at_target(Problem::SameRepository));
                }
                Ok(Task {
                    filters,
                    locked: locks.hashes_of(provider),
                    to: repository,
                    from,
                })
            })
    }
}

impl Copying {
    /// Whether both are the same repository, in which the user named no digest.
    fn is_of(&self, wanted: &WantedVersions) -> bool {
        let is_free = |wanted: &WantedVersions| {
            wanted
                .from
                .as_ref()
                .is_ok_and(|from| !from.repo.is_pinned())
        };
        let provider = &self.wanted.selection.provider;
        *provider == wanted.selection.provider && is_free(&self.wanted) && is_free(wanted)
    }
}
