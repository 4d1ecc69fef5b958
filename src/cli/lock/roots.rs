//! The directories to lock, and the providers that each requires.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use tfoci::address::ProviderAddr;
use tfoci::configuration::{self, Requirements};
use tfoci::constraint::VersionConstraints;
use tfoci::error::{Category, printable, printable_path};
use tfoci::jobs::in_thread;
use tfoci::lock::Needed;
use tfoci::lock::target::{LockTarget, Update};
use tfoci::lockfile::{Client, FILE_NAME};
use tfoci::selection::Selection;

use super::LockRequest;
use crate::cli::error::CommandError;
use crate::cli::session::{Session, requested};

/// A directory to lock.
pub(super) struct Root {
    /// The directory of the root module.
    pub(super) directory: PathBuf,
    pub(super) target: LockTarget,
    /// What the lock file has to have.
    pub(super) needed: BTreeMap<ProviderAddr, Needed>,
}

impl Root {
    /// The error of a lock file that differs from what is required.
    pub(super) fn differs(&self, difference: &str, advice: impl Into<String>) -> CommandError {
        let path = printable_path(&self.target.path);
        let message =
            format!("{path} does not lock what the configuration requires\n  {difference}");
        CommandError::plain(Category::Differs, message).advising(advice)
    }
}

/// The directories of a run.
#[derive(Default)]
pub(super) struct Roots {
    pub(super) read: Vec<Root>,
    /// The lock files of those that cannot be locked.
    pub(super) broken: Vec<(PathBuf, CommandError)>,
}

impl Roots {
    /// The providers that all directories require.
    pub(super) fn providers(&self) -> impl Iterator<Item = &ProviderAddr> {
        self.read.iter().flat_map(|root| root.needed.keys())
    }

    /// Leaves out the directories with an error.
    pub(super) fn set_aside(&mut self, error: impl Fn(&Root) -> Option<CommandError>) {
        self.read.retain(|root| {
            let failed = error(root).map(|error| (root.target.path.clone(), error));
            let is_sound = failed.is_none();
            self.broken.extend(failed);
            is_sound
        });
    }

    /// The client of the directories, whose CLI configuration says where to look for providers; `--from` says it for both clients.
    pub(super) fn client(&self, request: &LockRequest) -> Result<Option<Client>, CommandError> {
        let mut roots = self.read.iter();
        let of = |client| move |root: &&Root| root.target.client() == client;
        let tofu = roots.clone().find(of(Client::OpenTofu));
        let terraform = roots.clone().find(of(Client::Terraform));
        if let (Some(tofu), Some(terraform), None) = (tofu, terraform, &request.from) {
            let [tofu, terraform] = [tofu, terraform].map(|root| printable_path(&root.directory));
            let message = format!(
                "the directories are of different clients\n  tofu: {tofu}\n  terraform: {terraform}"
            );
            return Err(CommandError::usage(message)
                .advising("run it once for each client, with its directories"));
        }
        Ok(roots.next().map(|root| root.target.client()))
    }
}

/// Reads all directories and their lock files. One that cannot be read does not stop the others.
pub(super) async fn read(request: &LockRequest, session: &Session) -> Result<Roots, CommandError> {
    let here = [PathBuf::from(".")];
    let directories = match request.directories.as_slice() {
        [] => here.as_slice(),
        directories => directories,
    };
    if directories.len() > 1 && request.lock_file.is_some() {
        return Err(CommandError::usage(
            "`--lock-file` names the lock file of one directory\n  received several `--chdir`",
        ));
    }
    // With addresses, the other providers of the configuration stay locked.
    let how = match request.installs && request.providers.is_empty() {
        true => Update::Init,
        false => Update::Lock,
    };
    let mut roots = Roots::default();
    for directory in directories {
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

async fn read_one(
    directory: &Path,
    lock_file: &Path,
    how: Update,
    request: &LockRequest,
    session: &Session,
) -> Result<Root, CommandError> {
    let implied = session.implied_client().filter(|_| !lock_file.exists());
    let target = LockTarget::read(lock_file, request.lock.client.or(implied), how)?;
    let configured = configured(directory, &target, request, session).await?;
    Ok(Root {
        directory: directory.to_owned(),
        needed: entries(configured, directory, &target, request, session)?,
        target,
    })
}

/// Reads a configuration, all of whose modules must be on this disk. `None` if there is none: addresses need no configuration.
async fn configured(
    directory: &Path,
    target: &LockTarget,
    request: &LockRequest,
    session: &Session,
) -> Result<Option<Requirements>, CommandError> {
    let client = target.client();
    let read_as = requested::read_as(Some(client), client.default_host());
    let root = directory.to_owned();
    // In a thread, so that an interruption does not wait for it.
    let read = in_thread(move || Requirements::read(&root, &read_as)).await;
    let requirements = match read {
        Err(configuration::Error::Empty { .. }) if !request.providers.is_empty() => {
            return Ok(None);
        }
        read => read?,
    };
    if let Some(source) = requirements.not_followed.first() {
        let (root, program) = (printable_path(directory), client.program());
        let message = format!(
            "{root} calls a module that is not on this disk\n  {}",
            printable(source)
        );
        return Err(
            CommandError::plain(Category::NotFound, message).advising(format!(
                "`{program} -chdir={root} get` downloads the modules"
            )),
        );
    }
    if let Some(state) = &requirements.unread_state {
        let (path, program) = (printable_path(&target.path), client.program());
        session.printer.warning(&format!(
            "{path}: tfoci does not read the {}. `{program} init -lockfile=readonly` refuses what it requires and the file does not have",
            printable(state)
        ));
    }
    Ok(Some(requirements))
}

/// What a directory requires: all of its configuration, or what the arguments name. A configuration, if there is one, must require that too.
fn entries(
    configured: Option<Requirements>,
    directory: &Path,
    target: &LockTarget,
    request: &LockRequest,
    session: &Session,
) -> Result<BTreeMap<ProviderAddr, Needed>, CommandError> {
    let default_host = session.default_host_of(target.client());
    let selections = request.providers.iter();
    let selections = selections.map(|text| Selection::parse(text, &default_host));
    let mut selections = selections.collect::<Result<Vec<Selection>, _>>()?;
    if let Some(configured) = configured.as_ref().filter(|_| selections.is_empty()) {
        let all = configured.providers.keys().cloned();
        selections.extend(all.map(|provider| Selection {
            provider,
            constraints: VersionConstraints::any(),
        }));
    }
    let mut entries = BTreeMap::new();
    for Selection {
        provider,
        constraints,
    } in selections
    {
        if entries.contains_key(&provider) {
            return Err(CommandError::usage(format!("{provider} is named twice"))
                .advising("name it once: `ADDR@'A, B'` joins constraints"));
        }
        let (mut of_file, mut stated) = (constraints.clone(), Vec::new());
        if let Some(configured) = &configured {
            let Some(required) = configured.providers.get(&provider) else {
                let message = format!("{} does not require {provider}", printable_path(directory));
                return Err(CommandError::plain(Category::NotFound, message).advising(
                    "add it to `required_providers`, or name another directory with `--chdir`",
                ));
            };
            of_file = required.clone();
            let lines = configured.stated.get(&provider).into_iter().flatten();
            stated.extend(lines.map(ToString::to_string));
        }
        if !constraints.is_any() {
            stated.push(format!("the argument ({constraints})"));
        }
        let entry = Needed {
            client: target.client(),
            admitted: of_file.clone().and(constraints),
            constraints: of_file,
            stated,
            before: target.locked(&provider),
        };
        entries.insert(provider, entry);
    }
    Ok(entries)
}
