//! `tfoci cli-config --check`.

use std::ffi::OsStr;
use std::fs::DirEntry;
use std::path::Path;

use serde::Serialize;

use tfoci::address::{Hostname, ProviderPattern};
use tfoci::config::cli::{self, CliConfig, InstallationMethod, MethodKind, Trap};
use tfoci::credentials::{Credentials, Locations};
use tfoci::error::{Category, printable, printable_path};
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
    problems: Vec<Trap>,
    notes: Vec<Trap>,
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
    let (notes, problems): (Vec<_>, Vec<_>) = traps.into_iter().partition(|trap| trap.is_note);
    let ending = match problems.is_empty() {
        true => Ending::Done,
        false => Ending::Failed(Category::Malformed),
    };
    session.printer.document(&Document {
        schema: json::SCHEMA,
        client: client.program(),
        file,
        problems,
        notes,
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
    for trap in traps {
        let line = trap.line.map(|line| format!(", line {line}"));
        let line = line.unwrap_or_default();
        let severity = if trap.is_note { "note" } else { "problem" };
        let hint = trap.hint.as_ref().map(|hint| format!("; {hint}"));
        let hint = hint.unwrap_or_default();
        let message = &trap.message;
        printer.result(&format!("{file}{line}: {severity}: {message}{hint}"));
    }
    if traps.iter().all(|trap| trap.is_note) {
        printer.result(&format!(
            "no problems found in {file}; it was only read, and no server was asked"
        ));
    }
}

/// The first block that Terraform ignores.
fn read_by_terraform(config: &CliConfig) -> Option<Trap> {
    let mut methods = config.installation.iter().flatten();
    let found = methods.find(|method| matches!(method.kind, MethodKind::OciMirror { .. }));
    let message = "terraform reads this file too: it does not know `oci_mirror`, prints an error about the block, and goes on without it";
    found.map(|method| Trap::note("not_for_terraform", message).at(method.line))
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
        let path = printable(&path);
        traps.push(Trap::problem("missing_cache", format!(
            "there is no directory {path}: clients do not start without the plugin cache that `plugin_cache_dir` names"
        )));
    }
    for method in config.installation.iter().flatten() {
        let trap = match &method.kind {
            MethodKind::FilesystemMirror { path: Some(path) } if path.is_empty() => None,
            MethodKind::FilesystemMirror { path: Some(path) } => of_directory(method, path),
            MethodKind::OciMirror {
                repository_template,
            } if client == Client::OpenTofu => {
                no_credentials(method, repository_template, credentials)?
            }
            _ => None,
        };
        traps.extend(trap.map(|trap| trap.at(method.line)));
    }
    Ok(traps)
}

/// A filesystem mirror whose directory does not exist, or has nothing that `include` names, as if it were another directory.
fn of_directory(method: &InstallationMethod, path: &str) -> Option<Trap> {
    let (directory, shown) = (Path::new(path), printable(path));
    if !directory.is_dir() {
        let message = format!(
            "there is no directory {shown}: clients fail for every provider of this mirror"
        );
        return Some(Trap::problem("missing_directory", message));
    }
    let has = |pattern: &ProviderPattern| {
        let [host, rest @ ..] = pattern.segments();
        entries(directory).any(|entry| {
            let is_host = is_host(&entry.file_name(), host);
            is_host && has_below(&entry.path(), &rest)
        })
    };
    let missing = method.included().iter().filter(|pattern| !has(pattern));
    let missing: Vec<_> = missing.collect();
    let message = format!(
        "{shown} has no provider of {}: clients find none of them there, and expect {shown}/HOSTNAME/NAMESPACE/TYPE",
        cli::list(&missing)
    );
    (!missing.is_empty()).then(|| Trap::problem("nothing_included", message))
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

/// Without credentials, clients can pull from public repositories only.
fn no_credentials(
    method: &InstallationMethod,
    template: &str,
    credentials: &Credentials,
) -> Result<Option<Trap>, CommandError> {
    let Some(repository) = example(method, template) else {
        return Ok(None);
    };
    if credentials.clients_have(&repository)? {
        return Ok(None);
    }
    let message = format!(
        "clients find no credentials for repositories such as {repository}: they can pull only if it is public"
    );
    Ok(Some(match credentials.unread_by_clients(&repository)? {
        Some(file) => {
            let message = format!("{message}; they do not read {}", printable_path(&file));
            let hint = "name the file in `docker_style_config_files` of `oci_default_credentials`";
            Trap::note("no_credentials", message).advising(hint)
        }
        None => {
            let (registry, _) = repository.host_and_name();
            let hint = format!("`tfoci login {registry}` stores some");
            Trap::note("no_credentials", message).advising(hint)
        }
    }))
}

/// The repository of a provider that the method installs.
fn example(method: &InstallationMethod, template: &str) -> Option<Repository> {
    let template = RepositoryTemplate::parse(template).ok()?;
    let mut examples = method.included().iter();
    let named = examples.find_map(|pattern| template.example(pattern)?.ok());
    named.or_else(|| template.placeholder())
}
