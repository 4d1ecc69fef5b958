//! Locks providers, and installs them into a working directory.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::Arc;

use tfoci::address::{Hostname, ProviderAddr};
use tfoci::configuration;
use tfoci::constraint::VersionConstraints;
use tfoci::error::printable_path;
use tfoci::event::Reporter;
use tfoci::hash::PackageHash;
use tfoci::install::{self, DirectoryKind, Form, Installer};
use tfoci::lock::{Task, Wanted, lock};
use tfoci::lockfile::{Client, LockedProvider};
use tfoci::source::filesystem_mirror::nearby;

use super::methods::Methods;
use super::outcome::LockOutcome;
use super::request::{LockRequest, Writing};
use super::roots::{self, Required, Root, Roots};
use crate::cli::Ending;
use crate::cli::error::{CommandError, LockDifference};
use crate::cli::printer::Tone;
use crate::cli::progress::{PresentVersions, Progress};
use crate::cli::session::{Session, data_directory, has_data_directory};

/// The directory in which clients look for providers without any configuration.
const PLUGINS: &str = "terraform.d/plugins";

/// Locks providers, and installs them if the request says so.
pub(in crate::cli) async fn update(
    request: LockRequest,
    session: &Session,
) -> Result<Ending, CommandError> {
    let Roots {
        read: mut roots,
        mut broken,
    } = roots::read(&request, session).await?;
    let client = roots::client(&roots, &request)?;
    let providers = roots.iter().flat_map(|root| root.required.keys());
    if let Some(file) = &request.trust.trust.trust {
        let consequence = request.consequence();
        session.warn_of_unmatched_in(file, &request.options.trust.policy, providers, consequence);
    }
    examine(&mut roots, &mut broken, &request, session)?;
    let strangers = strangers(&roots, &request);
    let methods = Methods::new(request.from.as_deref(), client, &strangers, session)?;
    if request.directories.len() > 1 {
        let no_method = |root: &Root| {
            let mut providers = root.required.keys();
            providers.find_map(|provider| methods.of(provider).err())
        };
        set_aside(&mut roots, &mut broken, no_method);
    }
    let tasks = tasks(&roots, &methods)?;
    let progress = Progress::begin(&session.printer, tasks.len(), PresentVersions::Printed);
    let reporter: Arc<dyn Reporter> = Arc::clone(&progress) as _;
    let installation = installation(&request, &roots, session)?;
    let installer = installation
        .as_ref()
        .map(|installation| Installer::new(installation, &reporter));
    let found = lock(&tasks, &request.options, installer.as_ref(), &reporter).await;
    progress.clear();
    let mut outcome = LockOutcome::new(found, &roots);
    for (file, root) in roots.iter().enumerate() {
        let locked = entries(file, root, &outcome);
        let changed = match (locked, request.writing) {
            (None, _) => None,
            (Some(entries), Writing::Real) => Some(root.target.write(&entries, &*reporter).await),
            (Some(entries), _) => Some(root.target.change(&entries)),
        };
        outcome.add_file(root.target.path(), changed);
    }
    for (path, error) in broken {
        outcome.add_broken(path, error);
    }
    Ok(outcome.print(&request, session))
}

/// Compares the lock files with what is required, before anything is looked up.
fn examine(
    roots: &mut Vec<Root>,
    broken: &mut Vec<(PathBuf, CommandError)>,
    request: &LockRequest,
    session: &Session,
) -> Result<(), CommandError> {
    if request.is_locked_install() {
        let is_locked = |root| is_locked(root, request);
        roots.iter().try_for_each(is_locked)?;
    }
    if request.is_check() {
        let lacks = |root: &Root| lacking(root, request).err();
        set_aside(roots, broken, lacks);
    }
    let is_terraform = |root: &Root| root.target.client() == Client::Terraform;
    let is_mixed = roots.iter().any(is_terraform);
    for root in roots.iter() {
        tell_client(root, is_mixed, request, session);
    }
    if !request.installs && request.providers.is_empty() {
        roots
            .iter()
            .for_each(|root| warn_of_unrequired(root, session));
        if request.is_strict_check() {
            roots.iter_mut().for_each(require_locked);
        }
    }
    if request.installs {
        roots.iter().try_for_each(refuse_links)?;
    }
    Ok(())
}

/// Checks that the lock file has every provider that is required, or that a client would find in `terraform.d/plugins`. No host is asked about
/// a provider without an entry: a stranger may have named it.
fn lacking(root: &Root, request: &LockRequest) -> Result<(), CommandError> {
    let lacks = |provider: &ProviderAddr| root.target.constraints(provider).is_none();
    let differs = |difference| CommandError::LockDiffers {
        path: root.target.path().to_owned(),
        difference,
    };
    let mut required = root.required.iter();
    if let Some((provider, one)) = required.find(|(provider, _)| lacks(provider)) {
        return Err(differs(missing(root, provider, one, request)));
    }
    // Clients look in the directory in which they are started, whatever `-chdir` says.
    let mut places = vec![PathBuf::from(PLUGINS), root.directory.join(PLUGINS)];
    places.retain(|_| request.providers.is_empty());
    for directory in places {
        let offered = nearby::providers(&directory).map_err(configuration::Error::from)?;
        if let Some(provider) = offered.into_iter().find(lacks) {
            return Err(differs(LockDifference::Offered {
                provider,
                directory,
            }));
        }
    }
    Ok(())
}

fn missing(
    root: &Root,
    provider: &ProviderAddr,
    required: &Required,
    request: &LockRequest,
) -> LockDifference {
    let client = request.client;
    LockDifference::Missing {
        provider: provider.clone(),
        stated: required.stated.clone(),
        client: client.filter(|client| root.target.written_by() != Some(*client)),
    }
}

/// Checks that a lock file has the providers that are required, and no others, before anything is installed.
fn is_locked(root: &Root, request: &LockRequest) -> Result<(), CommandError> {
    let differs = |difference| CommandError::LockDiffers {
        path: root.target.path().to_owned(),
        difference,
    };
    if !root.target.exists() && !root.required.is_empty() {
        return Err(differs(LockDifference::NoFile));
    }
    let mut required = root.required.iter();
    if let Some((provider, one)) = required.find(|(one, _)| root.target.locked(one).is_none()) {
        return Err(differs(missing(root, provider, one, request)));
    }
    // With addresses, the lock file may have other providers too.
    let is_all = request.providers.is_empty();
    if let Some(other) = unrequired(root).next().filter(|_| is_all) {
        return Err(differs(LockDifference::Unrequired {
            provider: other.clone(),
            client: root.target.client(),
        }));
    }
    // Only the packages tell to which platform an `h1` belongs. A later step reports a version that does not satisfy the constraints.
    let mut required = root.required.iter();
    let lacks_h1 = |(provider, required): &(&ProviderAddr, &Required)| {
        let Some((version, hashes)) = root.target.locked(provider) else {
            return false;
        };
        let has_h1 = hashes.iter().any(|hash| matches!(hash, PackageHash::H1(_)));
        !has_h1 && required.admitted.admits(&version)
    };
    match required.find(lacks_h1) {
        Some((provider, _)) => {
            let provider = provider.clone();
            Err(differs(LockDifference::NoH1 { provider }))
        }
        None => Ok(()),
    }
}

/// Says for which client a lock file is, if the user may not expect it. `is_mixed` means that the run is for Terraform too.
fn tell_client(root: &Root, is_mixed: bool, request: &LockRequest, session: &Session) {
    let (target, printer) = (&root.target, &session.printer);
    let path = printable_path(target.path());
    let client = target.client().program();
    if let Some(other) = root.other_client().map(Client::program)
        // The hint of a check says it.
        && request.writing != Writing::Locked
    {
        printer.warning(&format!(
            "{path} was written by {other}, and `--client {client}` treats it as one of {client}: use `--client {other}` for it, in a run of its own"
        ));
    }
    let is_new = !target.exists() && !root.required.is_empty();
    if !is_new || request.client.is_some() || !is_mixed {
        return;
    }
    let text = match target.client() {
        Client::Terraform => {
            let host = session.default_host();
            format!(
                "{path} is for terraform, since the default host is {host}; `--client tofu` makes it one of tofu"
            )
        }
        Client::OpenTofu => format!(
            "{path} is for tofu, since it is new; `--client terraform`, in a run of its own, makes it one of terraform"
        ),
    };
    printer.line(Tone::Plain, "Note", &text);
}

/// The providers in a lock file that are not required.
fn unrequired(root: &Root) -> impl Iterator<Item = &ProviderAddr> {
    let locked = root.target.providers();
    locked.filter(|one| !root.required.contains_key(one))
}

/// Warns of entries that the configuration does not require. The client's `providers lock` keeps them, and its `init` removes them.
fn warn_of_unrequired(root: &Root, session: &Session) {
    for provider in unrequired(root) {
        let path = printable_path(root.target.path());
        let client = root.target.client().program();
        session.printer.warning(&format!(
            "{path} locks {provider}, which the configuration does not require: `{client} init` removes it, and `tfoci lock` does not"
        ));
    }
}

/// Requires the locked versions of providers that the configuration does not require, so that a strict check verifies them too. The client
/// installs them if a test file or the state needs them.
fn require_locked(root: &mut Root) {
    let others: Vec<ProviderAddr> = unrequired(root).cloned().collect();
    for provider in others {
        let locked = root.target.locked(&provider);
        let recorded = root.target.constraints(&provider);
        if let (Some((version, _)), Some(recorded)) = (locked, recorded.cloned()) {
            let required = Required {
                admitted: VersionConstraints::exactly(version),
                recorded,
                stated: Vec::new(),
            };
            root.required.insert(provider, required);
        }
    }
}

/// Refuses a link in place of the data directory: a checkout with such a link could make tfoci write anywhere. A directory that `TF_DATA_DIR`
/// names may be a link, because the user chose it.
fn refuse_links(root: &Root) -> Result<(), CommandError> {
    let data = root.directory.join(data_directory());
    let paths = [data.clone(), data.join("providers")];
    let is_link = |path: &&PathBuf| path.is_symlink();
    match paths.iter().find(is_link).filter(|_| !has_data_directory()) {
        Some(link) => Err(CommandError::DataLink { link: link.clone() }),
        None => Ok(()),
    }
}

/// The hosts that only configurations name. A stranger may have written these.
fn strangers<'a>(roots: &'a [Root], request: &LockRequest) -> BTreeSet<&'a Hostname> {
    let providers = roots.iter().flat_map(|root| root.required.keys());
    // The user names the hosts of addresses.
    let providers = providers.filter(|_| request.providers.is_empty());
    providers.map(ProviderAddr::hostname).collect()
}

/// The installation into the data directory of the working directory; `None` if nothing is installed.
fn installation(
    request: &LockRequest,
    roots: &[Root],
    session: &Session,
) -> Result<Option<install::Request>, CommandError> {
    let Some(root) = roots.first().filter(|_| request.installs) else {
        return Ok(None);
    };
    Ok(Some(install::Request {
        into: match root.directory.as_os_str() == "." {
            true => data_directory().join("providers"),
            false => root.directory.join(data_directory()).join("providers"),
        },
        kind: DirectoryKind::Providers(root.target.client()),
        cache: plugin_cache(root, session)?,
        platforms: request.options.platforms.clone(),
        form: Form::Unpacked,
        trust: request.options.trust.clone(),
        dry_run: request.dry_run,
        jobs: session.jobs(),
    }))
}

/// The plugin cache. Like clients, tfoci does not create it, and works without it.
fn plugin_cache(root: &Root, session: &Session) -> Result<Option<PathBuf>, CommandError> {
    let Some(named) = session.plugin_cache(root.target.client())? else {
        return Ok(None);
    };
    let path = root.directory.join(named);
    if !path.is_dir() {
        let path = printable_path(&path);
        let line = format!(
            "the plugin cache {path} is not a directory, so packages are installed without it; create it first, because clients do not create it either"
        );
        session.printer.warning(&line);
        return Ok(None);
    }
    Ok(Some(path))
}

/// Moves the directories with an error to `broken`.
fn set_aside(
    roots: &mut Vec<Root>,
    broken: &mut Vec<(PathBuf, CommandError)>,
    error: impl Fn(&Root) -> Option<CommandError>,
) {
    roots.retain(|root| {
        let failed = error(root);
        let path = root.target.path().to_owned();
        let is_sound = failed.is_none();
        broken.extend(failed.map(|error| (path, error)));
        is_sound
    });
}

/// One task for each provider, with the requirements of the roots in their order.
fn tasks(roots: &[Root], methods: &Methods<'_>) -> Result<Vec<Task>, CommandError> {
    let mut wanted: BTreeMap<&ProviderAddr, Vec<Wanted>> = BTreeMap::new();
    for (file, root) in roots.iter().enumerate() {
        for (provider, required) in &root.required {
            wanted.entry(provider).or_default().push(Wanted {
                file,
                constraints: required.admitted.clone(),
                locked: root.target.locked(provider),
                client: root.target.client(),
            });
        }
    }
    let addresses: Vec<ProviderAddr> = wanted.keys().map(|provider| (*provider).clone()).collect();
    methods.check(&addresses)?;
    let tasks = wanted.into_iter().map(|(provider, wanted)| {
        let methods_of = methods.of(provider)?;
        methods.report(provider, &methods_of);
        Ok(Task {
            methods: methods_of,
            provider: provider.clone(),
            wanted,
        })
    });
    tasks.collect()
}

/// The entries of a lock file; `None` if one of its providers failed.
fn entries(
    file: usize,
    root: &Root,
    outcome: &LockOutcome,
) -> Option<BTreeMap<ProviderAddr, LockedProvider>> {
    let entries = root.required.iter().map(|(provider, required)| {
        let found = outcome.found_of(provider).find(|one| one.file == file)?;
        let locked = found.locked.as_ref().ok()?;
        let entry = LockedProvider {
            version: locked.version.clone(),
            constraints: required.recorded.clone(),
            hashes: locked.hashes.clone(),
        };
        Some((provider.clone(), entry))
    });
    entries.collect()
}
