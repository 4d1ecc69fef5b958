//! The tasks of `tfoci mirror`, from arguments, mirror files, lock files and configurations.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use tfoci::address::{Hostname, ProviderAddr};
use tfoci::config::MirrorFile;
use tfoci::configuration::{ReadAs, Requirements};
use tfoci::error::{printable, printable_path};
use tfoci::http::Http;
use tfoci::mirror::{Locks, Task, VersionFilter};
use tfoci::outcome::Failure;
use tfoci::platform::Platforms;
use tfoci::trust::Policy;

use super::Arguments;
use crate::cli::error::CommandError;
use crate::cli::session::place::refuse_other;
use crate::cli::session::requested::{self, Item, entries, mirror_file, trust_file};
use crate::cli::session::{REFUSED, Session, TrustPath, check, data_directory, workspace};

/// The addresses among the arguments, and the mirror file. A file that is a pipe can be read only once.
pub(super) struct Requested {
    items: Vec<Item>,
    file: Option<MirrorFile>,
}

impl Requested {
    pub(super) fn read(arguments: &Arguments, session: &Session) -> Result<Self, CommandError> {
        let file = arguments.file.as_deref();
        let file = file.map(mirror_file);
        let items = arguments.providers.iter().map(|text| {
            let selection = session.selection(text)?;
            let is_any = selection.constraints.is_any();
            Ok(Item {
                provider: selection.provider,
                filter: VersionFilter {
                    versions: selection.constraints,
                    newest: is_any.then_some(1),
                    prereleases: false,
                    platforms: Platforms::All,
                },
                to: Vec::new(),
            })
        });
        Ok(Self {
            file: file.transpose()?,
            items: items.collect::<Result<_, CommandError>>()?,
        })
    }

    /// The trust file of the command line, or else that of the mirror file.
    pub(super) fn trust_file(&self, arguments: &Arguments) -> Option<TrustPath> {
        TrustPath::of(&arguments.trust, self.file.as_ref())
    }
}

/// The tasks for all requested providers.
pub(super) fn tasks(
    arguments: &Arguments,
    requested: Requested,
    session: &Session,
    locks: &Locks,
    http: &Http,
) -> Result<Vec<Task>, CommandError> {
    let Requested { mut items, file } = requested;
    let policy = policy(arguments, file.as_ref(), session)?;
    let listed = file.iter().flat_map(|file| &file.providers);
    let listed = listed.map(|entry| &entry.provider);
    let named = items.iter().map(|item| &item.provider).chain(listed);
    let named = named.map(|provider| provider.hostname().clone()).collect();
    items.extend(found(arguments, &named, session, locks, http)?);
    if let (Some(item), [], Some(path)) = (items.first(), &*arguments.to, &arguments.file) {
        let mut entries = file.iter().flat_map(|file| &file.providers);
        let file = printable_path(path);
        return Err(CommandError::usage(format!(
            "nothing says where to mirror {}\n  the `to` of {file} is for the providers of that file only",
            item.provider
        ))
        .advising(match entries.any(|entry| entry.provider == item.provider) {
            true => format!("leave out the address: {file} has it"),
            false => format!("name the store with `--to STORE`, or add the provider to {file}"),
        }));
    }
    let trust_file = TrustPath::of(&arguments.trust, file.as_ref());
    items.extend(file.into_iter().flat_map(entries));
    let excluded = session.patterns(&arguments.exclude)?;
    items.retain(|item| !excluded.iter().any(|one| one.matches(&item.provider)));
    if let (Some(trust), false) = (trust_file, arguments.pin_new) {
        let providers = items.iter().map(|item| &item.provider);
        let consequence = match arguments.require_pinned {
            true => REFUSED,
            false => "the keys that their origins serve are believed",
        };
        session.warn_of_unmatched_in(&trust.path, &policy, providers, consequence);
    }
    let tasks = assigned(
        by_destination(items, arguments)?,
        session,
        &policy,
        locks,
        http,
    )?;
    Ok(match arguments.shard {
        Some(shard) => shard.of(tasks),
        None => tasks,
    })
}

/// The providers of lock files and configurations. Strangers may have written these files, so tfoci distrusts the hosts in them, except those
/// that the user `named` in an argument or a mirror file.
fn found(
    arguments: &Arguments,
    named: &BTreeSet<Hostname>,
    session: &Session,
    locks: &Locks,
    http: &Http,
) -> Result<Vec<Item>, CommandError> {
    let locked = locks.filters().map(|(provider, filter)| Item {
        provider,
        filter,
        to: Vec::new(),
    });
    let mut found: Vec<Item> = locked.collect();
    for root in &arguments.from_config {
        requested::directory(root, "--from-config")?;
        found.extend(required(root, session)?);
    }
    let hosts = found.iter().map(|item| item.provider.hostname());
    session.distrust(http, hosts.filter(|host| !named.contains(host)))?;
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
        refuse_other(&endpoint)?;
        let addresses: Vec<_> = providers.keys().cloned().collect();
        check(&endpoint, &addresses)?;
        let store = endpoint.write(registry.clone()).map_err(Failure::from)?;
        for (provider, filters) in providers {
            let destination = endpoint.repo_mut(&store, &provider);
            let destination = destination.map_err(Failure::from)?;
            let is_same = |task: &&mut Task| task.provider == provider && task.filters == filters;
            match tasks.iter_mut().find(is_same) {
                Some(task) => task.destinations.push(destination),
                None => tasks.push(Task {
                    rule: policy.rule_for(&provider).unwrap_or_default(),
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

/// The trust policy: command-line options override the file.
fn policy(
    arguments: &Arguments,
    file: Option<&MirrorFile>,
    session: &Session,
) -> Result<Policy, CommandError> {
    let unsigned = session.patterns(&arguments.allow_unsigned)?;
    let policy = if arguments.pin_new {
        // With `--pin-new`, the file may not exist yet.
        let trust = TrustPath::of(&arguments.trust, file);
        let trust = trust.filter(|trust| trust.path.exists());
        session.policy(&arguments.trust, trust.as_ref())?
    } else {
        let trust = trust_file(&arguments.trust, file, arguments.file.as_deref())?;
        session.policy(&arguments.trust, trust.as_ref())?
    };
    Ok(policy.with_allow_unsigned(unsigned))
}

/// The providers that one configuration requires, each with the version that `init` would select.
fn required(root: &Path, session: &Session) -> Result<impl Iterator<Item = Item>, CommandError> {
    let read_as = ReadAs {
        client: None,
        default_host: session.default_host().clone(),
        data: data_directory(),
        workspace: workspace(),
    };
    let required = Requirements::read(root, &read_as).map_err(CommandError::Configuration)?;
    for module in &required.not_followed {
        let line = format!(
            "{}: the module {} is not on this disk",
            printable_path(root),
            printable(module)
        );
        session.printer.warning(&line);
    }
    Ok(required
        .providers
        .into_iter()
        .map(|(provider, versions)| Item {
            provider,
            filter: VersionFilter {
                versions,
                newest: Some(1),
                prereleases: false,
                platforms: Platforms::All,
            },
            to: Vec::new(),
        }))
}

type Providers = BTreeMap<ProviderAddr, Vec<VersionFilter>>;

/// Groups items by destination. `--to` overrides the stores of an item.
fn by_destination(
    items: Vec<Item>,
    arguments: &Arguments,
) -> Result<BTreeMap<String, Providers>, CommandError> {
    let mut all: BTreeMap<String, Providers> = BTreeMap::new();
    for Item {
        provider,
        mut filter,
        to,
    } in items
    {
        if let Some(newest) = arguments.newest {
            filter.newest = Some(newest.get());
        }
        filter.prereleases |= arguments.prereleases;
        if !arguments.platform.is_empty() {
            filter.platforms = Platforms::Among(arguments.platform.clone());
        }
        let to = if arguments.to.is_empty() {
            to
        } else {
            arguments.to.clone()
        };
        if to.is_empty() {
            let message = format!("nothing says where to mirror {provider}");
            return Err(CommandError::usage(message)
                .advising("name the store with `--to STORE`, or with `to` in the mirror file"));
        }
        for to in to {
            let filters = all
                .entry(to)
                .or_default()
                .entry(provider.clone())
                .or_default();
            filters.push(filter.clone());
        }
    }
    Ok(all)
}
