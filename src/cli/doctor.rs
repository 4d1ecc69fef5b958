//! `tfoci doctor`: why this machine installs providers, or does not.
//!
//! [`tfoci::doctor`] walks the way of `init`; this file finds the project and what the client has on this machine.

use std::path::{Path, PathBuf};

use clap::Args;

use tfoci::address::ProviderAddr;
use tfoci::configuration::{self, Requirements};
use tfoci::credentials::Credentials;
use tfoci::disk;
use tfoci::doctor::{Doctor, Machine, Required, Step};
use tfoci::error::{counted, printable};
use tfoci::finding::{Code, Finding};
use tfoci::lockfile::{Client, FILE_NAME, LockFile};
use tfoci::selection::Selection;

use super::Ending;
use super::error::CommandError;
use super::findings::{FailOn, Findings, Scope, details, message};
use super::session::{Session, read, requested, variables};

const EXAMPLES: &str = "\
Examples:
  tfoci doctor
  tfoci doctor --chdir network --client terraform
  tfoci doctor hashicorp/random";

/// Find out why `init` fails on this machine
///
/// tfoci walks the way that `init` goes for each provider of the project, as if nothing was installed yet, and stops where the client would: CLI
/// configuration, installation method, host, credentials, version, package, signature, lock file, plugin cache. Without a project it checks what
/// the client reads on this machine.
///
/// It writes nothing, and shows no passwords: you can paste its report into an issue. `tfoci help findings` explains the codes.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Arguments {
    /// This provider only, instead of the providers of the project
    #[arg(value_name = "ADDR[@CONSTRAINTS]")]
    provider: Option<String>,
    /// The client [default: the one that wrote the lock file, otherwise tofu]
    #[arg(long, value_enum)]
    client: Option<Client>,
    /// The directory of the project
    #[arg(long, value_name = "DIR", default_value = ".")]
    chdir: PathBuf,
}

/// The steps of this machine, or of a provider.
type Group = (Option<ProviderAddr>, Vec<Step>);

pub(super) async fn run(arguments: Arguments, session: &Session) -> Result<Ending, CommandError> {
    let there = std::fs::metadata(&arguments.chdir);
    there.map_err(|error| disk::Error::at("read", &arguments.chdir, error))?;
    let lock_file = lock_file(&arguments.chdir)?;
    let client = arguments.client.or(lock_file.written_by);
    let client = client.or_else(|| session.implied_client());
    let client = client.unwrap_or(Client::OpenTofu);
    let required = required(&arguments, client, &lock_file, session)?;
    let doctor = Doctor::new(machine(client, session)?);
    let mut steps = doctor.machine();
    // The client goes no further either.
    let ways = match steps.iter().any(Step::has_failed) {
        true => Vec::new(),
        false => doctor.walk(&required).await,
    };
    if required.is_empty() {
        steps.extend(doctor.credentials());
    }
    steps.extend(doctor.clock());
    let providers = required.into_iter().map(|one| Some(one.provider));
    let groups = std::iter::once((None, steps)).chain(providers.zip(ways));
    Ok(print("doctor", groups.collect(), session))
}

/// Prints what is wrong with the CLI configuration of a client. No server is asked.
pub(super) fn check(client: Client, session: &Session) -> Result<Ending, CommandError> {
    let doctor = Doctor::new(machine(client, session)?);
    let mut steps = doctor.machine();
    steps.extend(doctor.credentials());
    Ok(print("cli-config", vec![(None, steps)], session))
}

fn machine(client: Client, session: &Session) -> Result<Machine, CommandError> {
    session.read_as(Some(client));
    let own = session.locations();
    let locations = own.of_client();
    let mut variables = variables();
    let is_named = own.cli_config.is_some();
    let config = match locations.cli_config_of(client) {
        // Clients only warn of such a variable.
        Err(error) if error.is_not_found() && !is_named => {
            let finding = Finding::of(Code::BlockIgnored, &error).at("TF_CLI_CONFIG_FILE");
            variables.push(Step::bad("configuration", finding));
            Ok(None)
        }
        config => config,
    };
    let credentials = Credentials::at(locations);
    Ok(Machine {
        client,
        config,
        plugin_cache: session.plugin_cache(client).ok().flatten(),
        every_credential: Credentials::at(own),
        access: session.access(session.http_of_clients()?, credentials),
        variables,
    })
}

/// The lock file of a project; an empty one if there is none.
fn lock_file(directory: &Path) -> Result<LockFile, CommandError> {
    let path = directory.join(FILE_NAME);
    if !path.exists() {
        return Ok(LockFile::default());
    }
    LockFile::parse(&read(&path, "--chdir")?)
        .map_err(|source| CommandError::not_a("a lock file", &path, source))
}

/// The providers of the argument or of the project; none if there is no project.
fn required(
    arguments: &Arguments,
    client: Client,
    lock_file: &LockFile,
    session: &Session,
) -> Result<Vec<Required>, CommandError> {
    let required = |(provider, constraints)| Required {
        locked: lock_file.entries.get(&provider).cloned(),
        provider,
        constraints,
    };
    if let Some(text) = &arguments.provider {
        let named = Selection::parse(text, &session.default_host_of(client))?;
        return Ok(vec![required((named.provider, named.constraints))]);
    }
    let read_as = requested::read_as(Some(client), client.default_host());
    let requirements = match Requirements::read(&arguments.chdir, &read_as) {
        Ok(requirements) => requirements,
        Err(configuration::Error::Empty { .. }) => return Ok(Vec::new()),
        Err(error) => return Err(error.into()),
    };
    for module in &requirements.not_followed {
        let (get, module) = (client.program(), printable(module));
        let line = format!("the module {module} is not on this disk: run `{get} get` first");
        session.printer.warning(&line);
    }
    Ok(requirements.providers.into_iter().map(required).collect())
}

fn print(command: &'static str, groups: Vec<Group>, session: &Session) -> Ending {
    const MACHINE: &str = "this machine";
    let (mut lines, mut found, mut versions) = (Vec::new(), Vec::new(), 0);
    let providers: Vec<_> = groups.iter().filter_map(|group| group.0.clone()).collect();
    for (provider, steps) in groups {
        lines.push(provider.map_or_else(|| MACHINE.to_owned(), |one| one.to_string()));
        for step in steps {
            let name = step.name;
            let mark = match step.has_failed() {
                true => '✗',
                false => '!',
            };
            match step.outcome {
                Ok(text) => {
                    versions += usize::from(name == "version");
                    lines.push(format!("  ✓ {name:13} {text}"));
                }
                Err(finding) => {
                    lines.push(format!("  {mark} {name:13} {}", message(&finding)));
                    lines.extend(details(&finding, true).map(|line| format!("{:18}{line}", "")));
                    found.push(finding);
                }
            }
        }
    }
    let findings = Findings {
        command,
        extent: match providers.len() {
            0 => MACHINE.to_owned(),
            count => counted(count, "provider"),
        },
        checked: Scope {
            versions,
            providers,
            attested: Vec::new(),
        },
        found,
        lines: Some(lines),
        fail_on: FailOn::default(),
    };
    findings.print(&session.printer)
}
