//! The directories to lock, and the providers that each requires.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use tfoci::address::ProviderAddr;
use tfoci::configuration::{self, ReadAs, Requirements, StatedAt};
use tfoci::constraint::VersionConstraints;
use tfoci::disk;
use tfoci::error::{Category, printable, printable_path};
use tfoci::jobs::in_thread;
use tfoci::lock::target::{LockTarget, Update};
use tfoci::lockfile::{Client, FILE_NAME};
use tfoci::selection::Selection;

use super::request::LockRequest;
use crate::cli::error::CommandError;
use crate::cli::session::{Session, data_directory, requested, workspace};

/// A directory to lock.
pub(super) struct Root {
    /// The directory of the root module.
    pub(super) directory: PathBuf,
    pub(super) target: LockTarget,
    pub(super) required: BTreeMap<ProviderAddr, Required>,
}

impl Root {
    /// The client that wrote the lock file, if `--client` names the other one.
    pub(super) fn other_client(&self) -> Option<Client> {
        let client = self.target.client();
        self.target.written_by().filter(|other| *other != client)
    }
}

/// The constraints of a directory on the versions of a provider.
pub(super) struct Required {
    /// The acceptable versions.
    pub(super) admitted: VersionConstraints,
    /// The constraints that the lock file records: those of the configuration.
    pub(super) recorded: VersionConstraints,
    /// The lines of files, and the argument, that state these constraints.
    pub(super) stated: Vec<String>,
}

/// The directories of a run.
#[derive(Default)]
pub(super) struct Roots {
    pub(super) read: Vec<Root>,
    /// The lock files of those that cannot be read.
    pub(super) broken: Vec<(PathBuf, CommandError)>,
}

/// Reads all directories and their lock files. One that cannot be read does not stop the others.
pub(super) async fn read(request: &LockRequest, session: &Session) -> Result<Roots, CommandError> {
    let here = [PathBuf::from(".")];
    let directories = match request.directories.as_slice() {
        [] => here.as_slice(),
        directories => directories,
    };
    if directories.len() > 1 && request.lock_file.is_some() {
        return Err(CommandError::OneLockFile);
    }
    // With addresses, the other providers of the configuration stay locked.
    let how = match request.installs && request.providers.is_empty() {
        true => Update::Init,
        false => Update::Lock,
    };
    let mut roots = Roots::default();
    for directory in directories {
        requested::directory(directory, "--chdir")?;
        let beside = || match directory.as_os_str() == "." {
            true => PathBuf::from(FILE_NAME),
            false => directory.join(FILE_NAME),
        };
        let path = request.lock_file.clone().unwrap_or_else(beside);
        match read_one(directory, &path, how, request, session).await {
            Ok(root) => roots.read.push(root),
            // A wrong argument is wrong for all directories.
            Err(error) if directories.len() == 1 || error.category() == Category::Usage => {
                return Err(error);
            }
            Err(error) => roots.broken.push((path, error)),
        }
    }
    Ok(roots)
}

/// The directories at and below `above` that have a lock file. Hidden ones are left out, and no link is followed.
pub(super) fn locked_below(above: &Path) -> Result<Vec<PathBuf>, CommandError> {
    requested::directory(above, "--recursive")?;
    let unread = |error| CommandError::file(error, "--recursive");
    let (mut pending, mut locked) = (vec![above.to_owned()], Vec::new());
    while let Some(directory) = pending.pop() {
        let names = disk::names(&directory).map_err(unread)?;
        let visible = names.iter().filter(|name| !name.starts_with('.'));
        let below = visible.rev().map(|name| directory.join(name));
        let is_directory =
            |path: &PathBuf| path.symlink_metadata().is_ok_and(|found| found.is_dir());
        pending.extend(below.filter(is_directory));
        if names.iter().any(|name| name == FILE_NAME) {
            locked.push(directory);
        }
    }
    match locked.is_empty() {
        true => Err(CommandError::NothingLocked(above.to_owned())),
        false => Ok(locked),
    }
}

/// The client of the directories, whose CLI configuration says where to look for providers; `--from` says it for both clients.
pub(super) fn client(
    roots: &[Root],
    request: &LockRequest,
) -> Result<Option<Client>, CommandError> {
    let of = |client| roots.iter().find(|root| root.target.client() == client);
    match (of(Client::OpenTofu), of(Client::Terraform)) {
        (Some(tofu), Some(terraform)) if request.from.is_none() => Err(CommandError::TwoClients {
            tofu: tofu.directory.clone(),
            terraform: terraform.directory.clone(),
        }),
        _ => Ok(roots.first().map(|root| root.target.client())),
    }
}

async fn read_one(
    directory: &Path,
    lock_file: &Path,
    how: Update,
    request: &LockRequest,
    session: &Session,
) -> Result<Root, CommandError> {
    let implied = session.implied_client().filter(|_| !lock_file.exists());
    let target = LockTarget::read(lock_file, request.client.or(implied), how)?;
    Ok(Root {
        directory: directory.to_owned(),
        required: required(directory, &target, request, session).await?,
        target,
    })
}

/// The providers that a directory requires: those of its configuration, or those of the arguments.
async fn required(
    directory: &Path,
    target: &LockTarget,
    request: &LockRequest,
    session: &Session,
) -> Result<BTreeMap<ProviderAddr, Required>, CommandError> {
    let client = target.client();
    let default_host = session.default_host_of(client);
    let read_as = ReadAs {
        client: Some(client),
        default_host: client.default_host(),
        data: data_directory(),
        workspace: workspace(),
        is_strict: request.is_strict_check(),
    };
    let requirements = match requirements(directory, client, read_as).await {
        // Addresses need no configuration.
        Err(CommandError::Configuration(configuration::Error::Empty { .. }))
            if !request.providers.is_empty() =>
        {
            None
        }
        requirements => Some(requirements?),
    };
    let unread = requirements
        .as_ref()
        .and_then(|one| one.unread_state.as_ref());
    if let Some(state) = unread {
        let (path, program) = (printable_path(target.path()), client.program());
        session.printer.warning(&format!(
            "{path}: tfoci cannot read the {}. `{program} init -lockfile=readonly` refuses what it requires and the file does not have",
            printable(state)
        ));
    }
    let selections = request.providers.iter();
    let selections = selections.map(|text| Ok(Selection::parse(text, &default_host)?));
    let selections: Vec<Selection> = selections.collect::<Result<_, CommandError>>()?;
    if selections.is_empty() {
        return Ok(configured(requirements.unwrap_or_default()));
    }
    selected(selections, requirements, directory)
}

/// Reads a configuration. All of its modules must be on this disk.
async fn requirements(
    directory: &Path,
    client: Client,
    read_as: ReadAs,
) -> Result<Requirements, CommandError> {
    let root = directory.to_owned();
    // In a thread, so that an interruption does not wait for it.
    let requirements = in_thread(move || Requirements::read(&root, &read_as)).await?;
    if let Some((expression, position)) = requirements.computed {
        return Err(configuration::Error::Computed {
            expression,
            position,
        }
        .into());
    }
    match requirements.not_followed.first() {
        None => Ok(requirements),
        Some(source) => Err(CommandError::ModuleMissing {
            directory: directory.to_owned(),
            source_address: printable(source),
            client,
        }),
    }
}

/// All providers of a configuration.
fn configured(requirements: Requirements) -> BTreeMap<ProviderAddr, Required> {
    let Requirements {
        providers,
        mut stated,
        ..
    } = requirements;
    let required = providers.into_iter().map(|(provider, constraints)| {
        let required = Required {
            recorded: constraints.clone(),
            admitted: constraints,
            stated: texts(stated.remove(&provider)),
        };
        (provider, required)
    });
    required.collect()
}

/// The providers of the arguments. A configuration, if there is one, must require them too.
fn selected(
    selections: Vec<Selection>,
    requirements: Option<Requirements>,
    directory: &Path,
) -> Result<BTreeMap<ProviderAddr, Required>, CommandError> {
    let (all, mut stated) = match requirements {
        Some(requirements) => (Some(requirements.providers), requirements.stated),
        None => (None, BTreeMap::new()),
    };
    let mut required = BTreeMap::new();
    for selection in selections {
        let Selection {
            provider,
            constraints,
        } = selection;
        if required.contains_key(&provider) {
            return Err(CommandError::NamedTwice(Box::new(provider)));
        }
        let recorded = match all.as_ref().map(|all| all.get(&provider)) {
            Some(Some(configured)) => configured.clone(),
            Some(None) => {
                return Err(CommandError::NotRequired {
                    provider: Box::new(provider),
                    directory: directory.to_owned(),
                });
            }
            None => constraints.clone(),
        };
        let mut stated = texts(stated.remove(&provider));
        if !constraints.is_any() {
            stated.push(format!("the argument ({})", constraints.as_written()));
        }
        let one = Required {
            admitted: recorded.clone().and(constraints),
            recorded,
            stated,
        };
        required.insert(provider, one);
    }
    Ok(required)
}

fn texts(stated: Option<Vec<StatedAt>>) -> Vec<String> {
    let stated = stated.unwrap_or_default();
    stated.iter().map(ToString::to_string).collect()
}
