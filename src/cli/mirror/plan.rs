//! The tasks of `tfoci mirror`, from arguments, mirror files, lock files and configurations.

use std::collections::{BTreeMap, BTreeSet};

use tfoci::address::ProviderAddr;
use tfoci::config::{MirrorEntry, MirrorFile};
use tfoci::http::Http;
use tfoci::mirror::{Locks, Task, VersionFilter};
use tfoci::platform::Platforms;
use tfoci::trust::Policy;

use super::Arguments;
use crate::cli::error::CommandError;
use crate::cli::session::{Session, requested};

/// The tasks for all requested providers.
pub(super) fn tasks(
    arguments: &Arguments,
    file: Option<MirrorFile>,
    policy: &Policy,
    session: &Session,
    locks: &Locks,
    http: &Http,
) -> Result<Vec<Task>, CommandError> {
    let named = arguments.providers.iter();
    let named = named.map(|text| requested::named(text, session));
    let mut entries = named.collect::<Result<Vec<_>, _>>()?;
    entries.extend(file.into_iter().flat_map(|file| file.providers));
    entries.extend(found(arguments, &entries, session, locks, http)?);
    let excluded = session.patterns(&arguments.exclude)?;
    let has_none = entries.iter().any(|entry| entry.to.is_empty());
    if has_none
        && arguments.to.is_empty()
        && let Some(store) = session.set_store()?
    {
        let without = entries.iter_mut().filter(|entry| entry.to.is_empty());
        without.for_each(|entry| entry.to = vec![store.clone()]);
    }
    entries.retain(|entry| !excluded.iter().any(|one| one.matches(&entry.provider)));
    let by_destination = by_destination(entries, arguments)?;
    let tasks = assigned(by_destination, session, policy, locks, http)?;
    Ok(match arguments.shard {
        Some(shard) => shard.of(tasks),
        None => tasks,
    })
}

/// The providers of lock files and configurations. Strangers may have written these files, so tfoci distrusts the hosts in them, except those
/// that the user `named` in an argument or a mirror file.
fn found(
    arguments: &Arguments,
    named: &[MirrorEntry],
    session: &Session,
    locks: &Locks,
    http: &Http,
) -> Result<Vec<MirrorEntry>, CommandError> {
    let mut found: Vec<MirrorEntry> = requested::locked(locks).collect();
    for root in &arguments.from_config {
        found.extend(requested::required(root, session)?);
    }
    let host = |entry: &'_ MirrorEntry| entry.provider.hostname().clone();
    let known: BTreeSet<_> = named.iter().map(host).collect();
    let hosts = found.iter().map(|entry| entry.provider.hostname());
    session.distrust(http, hosts.filter(|host| !known.contains(host)))?;
    Ok(found)
}

/// The tasks for the providers of each store. A provider that several stores receive is one task, so that it is read once.
fn assigned(
    by_destination: BTreeMap<String, Providers>,
    session: &Session,
    policy: &Policy,
    locks: &Locks,
    http: &Http,
) -> Result<Vec<Task>, CommandError> {
    // All registries share one client, which authenticates once per registry and can mount blobs.
    let registry = session.registry(http);
    let mut tasks: Vec<Task> = Vec::new();
    for (to, providers) in by_destination {
        let endpoint = session.endpoint(&to)?;
        let addresses: Vec<_> = providers.keys().cloned().collect();
        endpoint.check(&addresses)?;
        let store = endpoint.write(registry.clone())?;
        for (provider, filters) in providers {
            let destination = endpoint.repo_mut(&store, &provider)?;
            let is_same = |task: &&mut Task| task.provider == provider && task.filters == filters;
            match tasks.iter_mut().find(is_same) {
                Some(task) => task.destinations.push(destination),
                None => tasks.push(Task {
                    rule: policy.rule_for(&provider).unwrap_or_default(),
                    denied: policy.denied.clone(),
                    locked: locks.hashes_of(&provider),
                    destinations: vec![destination],
                    provider,
                    filters,
                }),
            }
        }
    }
    Ok(tasks)
}

type Providers = BTreeMap<ProviderAddr, Vec<VersionFilter>>;

/// Groups entries by destination. `--to` overrides the stores of an entry.
fn by_destination(
    entries: Vec<MirrorEntry>,
    arguments: &Arguments,
) -> Result<BTreeMap<String, Providers>, CommandError> {
    let mut all: BTreeMap<String, Providers> = BTreeMap::new();
    for entry in entries {
        let mut filter = requested::filter(&entry);
        if let Some(newest) = arguments.newest {
            filter.newest = Some(newest.get());
        }
        filter.prereleases |= arguments.prereleases;
        filter.min_age = arguments.min_age.unwrap_or(filter.min_age);
        if !arguments.platform.is_empty() {
            filter.platforms = Platforms::Among(arguments.platform.clone());
        }
        let stores = match arguments.to.as_slice() {
            [] => entry.to.as_slice(),
            given => given,
        };
        let provider = entry.provider;
        if stores.is_empty() {
            let message = format!("nothing says where to mirror {provider}");
            return Err(CommandError::usage(message).advising(
                "name the store with `--to STORE`, or add the provider to the mirror file, with `to`",
            ));
        }
        for to in stores {
            let providers = all.entry(to.clone()).or_default();
            let filters = providers.entry(provider.clone()).or_default();
            filters.push(filter.clone());
        }
    }
    Ok(all)
}
