//! `tfoci cli-config --check`.

use std::ffi::OsStr;
use std::fs::DirEntry;
use std::path::Path;

use serde::Serialize;

use tfoci::address::{Hostname, ProviderPattern};
use tfoci::config::cli::{self, CliConfig, InstallationMethod, MethodKind, Trap, TrapKind};
use tfoci::credentials::{Credentials, Locations};
use tfoci::error::{Category, Hint, printable_path};
use tfoci::lockfile::Client;
use tfoci::oci::Repository;
use tfoci::template::RepositoryTemplate;

use crate::cli::Ending;
use crate::cli::error::CommandError;
use crate::cli::json;
use crate::cli::session::Session;

/// The document of a configuration that was checked.
#[derive(Serialize)]
struct Document {
    schema: u32,
    client: &'static str,
    /// `None` if there is no configuration.
    file: Option<String>,
    problems: Vec<Finding>,
    notes: Vec<Finding>,
}

#[derive(Serialize)]
struct Finding {
    #[serde(skip_serializing_if = "Option::is_none")]
    line: Option<usize>,
    kind: &'static str,
    message: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    hint: Option<String>,
}

impl From<&Trap> for Finding {
    fn from(trap: &Trap) -> Self {
        Self {
            line: trap.line,
            kind: trap.kind.as_str(),
            message: trap.kind.to_string(),
            hint: trap.kind.hint(),
        }
    }
}

/// Prints the traps in the configuration that a client uses. Fails if one of them is not a note.
pub(super) fn run(client: Client, session: &Session) -> Result<Ending, CommandError> {
    session.check_named()?;
    // Clients do not know `--authfile`.
    let locations = Locations {
        authfile: None,
        ..session.locations()
    };
    let variable = locations.environment.tf_cli_config_file.as_ref();
    let is_from_variable = variable.is_some() && locations.cli_config.is_none();
    let found = locations.cli_config_of(client);
    let found = found.map_err(|error| match is_from_variable {
        true => CommandError::Named {
            error,
            named_by: "TF_CLI_CONFIG_FILE",
        },
        false => error.into(),
    })?;
    let traps = match &found {
        Some((path, config)) => {
            let mut traps = traps(config, client, &Credentials::at(locations))?;
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            if client == Client::OpenTofu && name.contains("terraform") {
                traps.extend(read_by_terraform(config));
            }
            traps.sort_by_key(|trap| trap.line);
            traps
        }
        None => Vec::new(),
    };
    let file = found.map(|(path, _)| printable_path(&path));
    print(file.as_deref(), &traps, session);
    let (notes, problems): (Vec<_>, Vec<_>) = traps.iter().partition(|trap| trap.kind.is_note());
    let ending = match problems.is_empty() {
        true => Ending::Done,
        false => Ending::Failed(Category::Malformed),
    };
    session.printer.document(&Document {
        schema: json::SCHEMA,
        client: client.program(),
        file,
        problems: problems.into_iter().map(Finding::from).collect(),
        notes: notes.into_iter().map(Finding::from).collect(),
    });
    Ok(ending)
}

fn print(file: Option<&str>, traps: &[Trap], session: &Session) {
    let printer = &session.printer;
    let Some(file) = file else {
        printer
            .result("there is no CLI configuration: clients install from the providers' origins");
        return;
    };
    for Trap { line, kind } in traps {
        let line = line.map(|line| format!(", line {line}"));
        let line = line.unwrap_or_default();
        let severity = if kind.is_note() { "note" } else { "problem" };
        let hint = kind.hint().map(|hint| format!("; {hint}"));
        let hint = hint.unwrap_or_default();
        printer.result(&format!("{file}{line}: {severity}: {kind}{hint}"));
    }
    if traps.iter().all(|trap| trap.kind.is_note()) {
        printer.result(&format!(
            "no problems found in {file}; it was only read, and no server was asked"
        ));
    }
}

/// The first block that Terraform ignores.
fn read_by_terraform(config: &CliConfig) -> Option<Trap> {
    let mut methods = config.installation.iter().flatten();
    let found = methods.find(|method| matches!(method.kind, MethodKind::OciMirror { .. }));
    found.map(|method| method.trap(TrapKind::ReadByTerraform))
}

/// The traps that the text of the configuration shows, and those that directories and files of credentials show.
fn traps(
    config: &CliConfig,
    client: Client,
    credentials: &Credentials,
) -> Result<Vec<Trap>, CommandError> {
    let mut traps = cli::traps(config, client);
    let cache = config
        .plugin_cache
        .expanded(|name| std::env::var(name).ok());
    if let Some(path) = cache.filter(|path| !Path::new(path).is_dir()) {
        let kind = TrapKind::NoCache { path };
        traps.push(Trap { line: None, kind });
    }
    for method in config.installation.iter().flatten() {
        let kind = match &method.kind {
            MethodKind::FilesystemMirror { path: Some(path) } if !Path::new(path).is_dir() => {
                let path = path.clone();
                (!path.is_empty()).then_some(TrapKind::NoDirectory { path })
            }
            MethodKind::FilesystemMirror { path: Some(path) } => nothing_included(method, path),
            MethodKind::OciMirror {
                repository_template,
            } if client == Client::OpenTofu => {
                no_credentials(method, repository_template, credentials)?
            }
            _ => None,
        };
        traps.extend(kind.map(|kind| method.trap(kind)));
    }
    Ok(traps)
}

/// The patterns that a filesystem mirror includes although its directory has no provider for them.
fn nothing_included(method: &InstallationMethod, path: &str) -> Option<TrapKind> {
    let has = |pattern: &ProviderPattern| {
        let [host, rest @ ..] = pattern.segments();
        entries(Path::new(path)).any(|entry| {
            let is_host = is_host(&entry.file_name(), host);
            is_host && has_below(&entry.path(), &rest)
        })
    };
    let lacking = method.included().iter().filter(|pattern| !has(pattern));
    let providers: Vec<_> = lacking.cloned().collect();
    let path = path.to_owned();
    (!providers.is_empty()).then_some(TrapKind::NothingIncluded { path, providers })
}

/// Whether clients read the name of a directory as this host, which has several spellings. `None` stands for any host.
fn is_host(name: &OsStr, host: Option<&str>) -> bool {
    let named = name.to_str().and_then(|name| name.parse::<Hostname>().ok());
    named.is_some_and(|named| host.is_none_or(|host| named.as_ascii() == host))
}

/// Whether a directory has directories for these segments. `None` stands for any name.
fn has_below(directory: &Path, segments: &[Option<&str>]) -> bool {
    match segments.split_first() {
        None => directory.is_dir(),
        Some((None, rest)) => entries(directory).any(|entry| has_below(&entry.path(), rest)),
        Some((Some(name), rest)) => has_below(&directory.join(name), rest),
    }
}

/// What is in a directory; nothing if it cannot be read.
fn entries(directory: &Path) -> impl Iterator<Item = DirEntry> {
    let entries = std::fs::read_dir(directory).into_iter().flatten();
    entries.flatten()
}

fn no_credentials(
    method: &InstallationMethod,
    template: &str,
    credentials: &Credentials,
) -> Result<Option<TrapKind>, CommandError> {
    let Some(repository) = example(method, template) else {
        return Ok(None);
    };
    if credentials.clients_have(&repository)? {
        return Ok(None);
    }
    let unread = credentials.unread_by_clients(&repository)?;
    Ok(Some(TrapKind::NoCredentials { repository, unread }))
}

/// The repository of a provider that the method installs.
fn example(method: &InstallationMethod, template: &str) -> Option<Repository> {
    let template = RepositoryTemplate::parse(template).ok()?;
    let mut examples = method.included().iter();
    let named = examples.find_map(|pattern| template.example(pattern)?.ok());
    named.or_else(|| template.placeholder())
}
