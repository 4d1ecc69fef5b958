//! Locks providers, and installs them into a working directory.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use tfoci::address::{Hostname, ProviderAddr};
use tfoci::configuration;
use tfoci::constraint::VersionConstraints;
use tfoci::error::{Category, printable_path};
use tfoci::hash::PackageHash;
use tfoci::install::{self, DirectoryKind, Form, Installer};
use tfoci::lock::{Needed, Results, Task, lock};
use tfoci::lockfile::LockedProvider;
use tfoci::source::filesystem_mirror;

use super::LockRequest;
use super::methods::Methods;
use super::report::Outcome;
use super::roots::{self, Root, Roots};
use crate::cli::Ending;
use crate::cli::error::{CommandError, required_by};
use crate::cli::report::{Destination, Extent, INSTALL, LOCK};
use crate::cli::session::{Session, data_directory, has_data_directory};

/// The directory in which clients look for providers without any configuration.
const PLUGINS: &str = "terraform.d/plugins";

/// The advice about a lock file without `h1`.
const WITH_H1: &str = "`tfoci lock --h1` with the same options writes it; commit the file";

/// Locks providers, and installs them if the request says so.
pub(in crate::cli) async fn update(
    request: LockRequest,
    session: &Session,
) -> Result<Ending, CommandError> {
    let mut roots = roots::read(&request, session).await?;
    let client = roots.client(&request)?;
    session.read_as(client);
    let file = session.trust_path(&request.lock.trust.trust, None);
    let policy = &request.options.trust.policy;
    session.warn_of_unmatched(file.as_ref(), policy, roots.providers());
    compare(&mut roots, &request, session)?;
    // The hosts that only configurations name: a stranger may have written these. The user names the hosts in addresses.
    let strangers = roots.providers().filter(|_| request.providers.is_empty());
    let strangers: BTreeSet<&Hostname> = strangers.map(ProviderAddr::hostname).collect();
    let methods = Methods::new(request.from.as_deref(), client, &strangers, session)?;
    if request.directories.len() > 1 {
        roots.set_aside(|root| root.needed.keys().find_map(|one| methods.of(one).err()));
    }
    let Roots {
        read: roots,
        broken,
    } = roots;
    let tasks = tasks(&roots, &methods)?;
    let installation = installation(&request, &roots, session);
    let verb = match request.installs {
        true => INSTALL,
        false => LOCK,
    };
    let extent = Extent {
        dry_run: request.dry_run || request.is_check(),
        only_changed: false,
    };
    let reporter = session
        .report
        .begin(verb, extent, Destination::LockFiles(Vec::new()));
    let installer = installation
        .as_ref()
        .map(|installation| Installer::new(installation, &reporter));
    let results = lock(&tasks, &request.options, installer.as_ref(), &reporter).await;
    let mut files = Vec::new();
    for (file, root) in roots.iter().enumerate() {
        let change = match locked(file, root, &results) {
            None => None,
            Some(locked) if request.writes() => Some(root.target.write(&locked, &*reporter).await),
            Some(locked) => Some(root.target.change(&locked)),
        };
        let change = change.map(|change| change.map_err(CommandError::from));
        files.push((root.target.path.clone(), change));
    }
    let broken = broken.into_iter();
    files.extend(broken.map(|(path, error)| (path, Some(Err(error)))));
    let outcome = Outcome {
        request: &request,
        session,
        roots: &roots,
        results,
        files,
    };
    Ok(outcome.print())
}

/// Compares the lock files with what is required, before anything is looked up.
fn compare(
    roots: &mut Roots,
    request: &LockRequest,
    session: &Session,
) -> Result<(), CommandError> {
    if request.is_locked_install() {
        let mut roots = roots.read.iter();
        roots.try_for_each(|root| refuse_difference(root, request))?;
    }
    if request.is_check() {
        roots.set_aside(|root| refuse_difference(root, request).err());
    }
    for root in &mut roots.read {
        if request.installs {
            refuse_links(root)?;
        } else if request.providers.is_empty() {
            warn_of_unrequired(root, request, session);
        }
    }
    Ok(())
}

/// Refuses a lock file that differs from what is required, and says what to do about it. No host is asked about a provider without an entry: a
/// stranger may have named it.
fn refuse_difference(root: &Root, request: &LockRequest) -> Result<(), CommandError> {
    let target = &root.target;
    if request.installs && target.file.is_none() && !root.needed.is_empty() {
        return Err(root.differs("there is no such file", WITH_H1));
    }
    let lacks = |provider: &ProviderAddr| target.entry(provider).is_none();
    let mut entries = root.needed.iter();
    if let Some((provider, entry)) = entries.find(|(provider, _)| lacks(provider)) {
        let advice = "`tfoci lock` brings it up to date; commit the file";
        let stated = required_by(&entry.stated);
        return Err(root.differs(&format!("{provider} is not in it{stated}"), advice));
    }
    if request.installs {
        return refuse_to_install(root, request);
    }
    // Clients would find packages in the directory in which they are started, whatever `-chdir` says. With addresses, the lock file may have
    // other providers too.
    let places = [PathBuf::from(PLUGINS), root.directory.join(PLUGINS)];
    for directory in places.iter().filter(|_| request.providers.is_empty()) {
        let offered =
            filesystem_mirror::providers(directory).map_err(configuration::Error::from)?;
        if let Some(provider) = offered.into_iter().find(lacks) {
            let directory = printable_path(directory);
            let difference = format!("{provider} is not in it, and {directory} has packages of it");
            let advice = format!("if nothing requires it, remove it from {directory}");
            return Err(root.differs(&difference, advice));
        }
    }
    Ok(())
}

/// Refuses entries of a lock file that has all that is to be installed.
fn refuse_to_install(root: &Root, request: &LockRequest) -> Result<(), CommandError> {
    // With addresses, the lock file may have other providers too.
    let other = unrequired(root).next();
    if let Some(other) = other.filter(|_| request.providers.is_empty()) {
        let program = root.target.client().program();
        let advice = format!("`{program} init` removes it; or delete its block");
        return Err(root.differs(&format!("{other} is in it, and is not required"), advice));
    }
    // Only the packages tell to which platform an `h1` belongs. A later step reports a version that does not satisfy the constraints.
    let lacks_h1 = |(_, entry): &(&ProviderAddr, &Needed)| {
        entry.before.as_ref().is_some_and(|(version, hashes)| {
            !hashes.iter().any(PackageHash::is_h1) && entry.admitted.admits(version)
        })
    };
    let Some((provider, _)) = root.needed.iter().find(lacks_h1) else {
        return Ok(());
    };
    let difference =
        format!("the entry of {provider} has no `h1`, by which clients check what is installed");
    Err(root.differs(&difference, WITH_H1))
}

/// The providers in a lock file that are not required.
fn unrequired(root: &Root) -> impl Iterator<Item = &ProviderAddr> {
    let locked = root.target.file.iter().flat_map(|file| file.entries.keys());
    locked.filter(|one| !root.needed.contains_key(one))
}

/// Warns of entries that the configuration does not require. The client's `providers lock` keeps them, and its `init` removes them. A strict check
/// requires their locked versions, so that it verifies them too: the client installs them if a test file or the state needs them.
fn warn_of_unrequired(root: &mut Root, request: &LockRequest, session: &Session) {
    let (path, client) = (printable_path(&root.target.path), root.target.client());
    let others: Vec<ProviderAddr> = unrequired(root).cloned().collect();
    for provider in others {
        let program = client.program();
        session.printer.warning(&format!(
            "{path} locks {provider}, which the configuration does not require: `{program} init` removes it, and `tfoci lock` does not"
        ));
        let locked = root.target.entry(&provider);
        if let Some(one) = locked.filter(|_| request.is_strict_check()) {
            let entry = Needed {
                client,
                admitted: VersionConstraints::exactly(one.version.clone()),
                constraints: one.constraints.clone(),
                stated: Vec::new(),
                before: root.target.locked(&provider),
            };
            root.needed.insert(provider, entry);
        }
    }
}

/// Refuses a link in place of the data directory: a checkout with such a link could make tfoci write anywhere. A directory that `TF_DATA_DIR`
/// names may be a link, because the user chose it.
fn refuse_links(root: &Root) -> Result<(), CommandError> {
    let data = root.directory.join(data_directory());
    let mut paths = [data.clone(), data.join("providers")].into_iter();
    match paths.find(|path| path.is_symlink() && !has_data_directory()) {
        Some(link) => {
            let link = printable_path(&link);
            let message = format!("{link} is a link, which could lead anywhere");
            Err(CommandError::plain(Category::Local, message)
                .advising("name the directory that it leads to with TF_DATA_DIR"))
        }
        None => Ok(()),
    }
}

/// The installation into the data directory of the working directory; `None` if nothing is installed.
fn installation(
    request: &LockRequest,
    roots: &[Root],
    session: &Session,
) -> Option<install::Request> {
    let root = roots.first().filter(|_| request.installs)?;
    let into = data_directory().join("providers");
    Some(install::Request {
        into: match root.directory.as_os_str() == "." {
            true => into,
            false => root.directory.join(into),
        },
        kind: DirectoryKind::Providers,
        platforms: request.options.platforms.clone(),
        form: Form::Unpacked,
        trust: request.options.trust.clone(),
        dry_run: request.dry_run,
        jobs: session.jobs(),
    })
}

/// One task for each provider, with the entries of the roots in their order.
fn tasks<'a>(roots: &'a [Root], methods: &Methods<'_>) -> Result<Vec<Task<'a>>, CommandError> {
    let mut needed: BTreeMap<&ProviderAddr, Vec<(usize, &Needed)>> = BTreeMap::new();
    for (file, root) in roots.iter().enumerate() {
        for (provider, entry) in &root.needed {
            needed.entry(provider).or_default().push((file, entry));
        }
    }
    let addresses: Vec<ProviderAddr> = needed.keys().map(|provider| (*provider).clone()).collect();
    methods.check(&addresses)?;
    let tasks = needed.into_iter().map(|(provider, entries)| {
        let methods_of = methods.of(provider)?;
        methods.report(provider, &methods_of);
        Ok(Task {
            methods: methods_of,
            provider,
            entries,
        })
    });
    tasks.collect()
}

/// What to write into a lock file; `None` if one of its providers failed.
fn locked(
    file: usize,
    root: &Root,
    results: &Results,
) -> Option<BTreeMap<ProviderAddr, LockedProvider>> {
    if results
        .failed
        .iter()
        .any(|(_, files)| files.contains(&file))
    {
        return None;
    }
    let of_file = results
        .locked
        .iter()
        .filter(|one| one.files.contains(&file));
    let locked = of_file.filter_map(|one| {
        let entry = LockedProvider {
            version: one.version.clone(),
            constraints: root.needed.get(&one.provider)?.constraints.clone(),
            hashes: one.hashes.clone(),
        };
        Some((one.provider.clone(), entry))
    });
    Some(locked.collect())
}
