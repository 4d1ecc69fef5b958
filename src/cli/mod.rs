//! The command line: parses arguments, and prints text or JSON. The library does not depend on it.
//!
//! Each command has its own file. [`arguments`] has the arguments that several commands share, and [`session`] creates clients, credentials,
//! stores and policies from them. [`progress`] and [`trace`] print events, [`report`] prints the results of journeys, and [`json`] defines the
//! JSON documents. [`error`] has the errors of commands, each with what helps. Only [`printer`] writes to stdout and stderr. [`neutral`] and
//! [`redaction`] remove runner commands and passwords from its output. [`render`] fills in templates.

mod arguments;
mod cli_config;
mod completions;
mod config;
mod copy;
mod doctor;
mod error;
mod findings;
mod have;
mod help;
mod host;
mod inspect;
mod install;
mod json;
mod list;
mod lock;
mod login;
mod logout;
mod man;
mod mirror;
mod neutral;
mod page;
mod printer;
mod progress;
mod prune;
mod public_url;
mod push;
mod question;
mod redaction;
mod render;
mod report;
mod resolve;
mod schema;
mod serve;
mod session;
mod signals;
mod site;
mod trace;
mod trust;
mod variables;
mod verify;
mod versions;

use std::ffi::OsString;
use std::num::NonZeroUsize;
use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;

use clap::{Args as _, CommandFactory as _, FromArgMatches as _, Parser, Subcommand};

use tfoci::error::Category;

use arguments::{Format, Globals};
use error::CommandError;
use printer::Printer;
use report::Report;
use session::{Session, Settings};
use signals::until_interrupted;

/// The last line of a command's help.
const GLOBALS: &str =
    "Options that every command takes: tfoci help options. Exit codes: tfoci help exit-codes";

/// The version, the commit and the target.
const VERSION: &str = env!("TFOCI_VERSION");

/// The widest line of help, in columns. Longer lines are hard to read, however wide the terminal is.
const HELP_WIDTH: usize = 100;

const EXIT_CODES: &str = "\
Exit codes:
  0    done
  1    could not be done
  2    usage
  3    refused: something did not verify
  4    differs from a lock file, an origin or a store
  130  interrupted";

/// How long the program waits at its exit for work that cannot be cancelled, such as decompression. Users who pressed Ctrl-C expect an end
/// within seconds.
const SHUTDOWN_TIMEOUT: Duration = Duration::from_secs(5);

/// The most worker threads. More threads do not speed up I/O, and each takes memory.
const MOST_THREADS: usize = 2;

/// `mirror` transfers more packages concurrently than other commands, because it transfers many small ones and mostly waits (measured).
const MIRROR_JOBS: u8 = 8;

/// Copy OpenTofu and Terraform providers into OCI registries, check their signatures, and install them.
#[derive(Parser)]
#[command(name = "tfoci", version = VERSION, disable_help_subcommand = true, after_help = format!("{}\n\n{EXIT_CODES}", help::LIST), max_term_width = HELP_WIDTH)]
struct Tfoci {
    #[command(subcommand)]
    command: Command,
    #[command(flatten)]
    globals: Globals,
}

#[derive(Subcommand)]
enum Command {
    Push(push::Arguments),
    Mirror(mirror::Arguments),
    #[command(visible_alias = "cp")]
    Copy(copy::Arguments),
    List(list::Arguments),
    Versions(versions::Arguments),
    Inspect(inspect::Arguments),
    Have(have::Arguments),
    Prune(prune::Arguments),
    Verify(verify::Arguments),
    Resolve(resolve::Arguments),
    Doctor(doctor::Arguments),
    Trust(trust::Arguments),
    Install(install::Arguments),
    Lock(lock::Arguments),
    Serve(serve::Arguments),
    Site(site::Arguments),
    CliConfig(cli_config::Arguments),
    Login(login::Arguments),
    Logout(logout::Arguments),
    Config(config::Arguments),
    Help(help::Arguments),
    #[command(alias = "completion")]
    Completions(completions::Arguments),
    Man(man::Arguments),
    Schema(schema::Arguments),
    /// The same as `--version`
    #[command(hide = true)]
    Version,
}

impl Command {
    fn has(&self, format: Format) -> bool {
        match format {
            Format::Text | Format::Json => true,
            Format::Junit => matches!(self, Self::Verify(_) | Self::Doctor(_)),
            Format::Csv => matches!(self, Self::List(list) if list.is_inventory()),
        }
    }

    /// The number of worker threads. `mirror` and `copy` only pass on the bytes that they download, so one thread suffices: a copy is
    /// no slower and uses 4 MiB less memory (measured).
    fn threads(&self) -> usize {
        let cores = std::thread::available_parallelism().map_or(1, NonZeroUsize::get);
        match self {
            Self::Mirror(_) | Self::Copy(_) => 1,
            _ => cores.min(MOST_THREADS),
        }
    }
}

/// The outcome of a command that printed its own errors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Ending {
    Done,
    /// Something failed. Of several failures, this is the most severe category.
    Failed(Category),
}

impl Ending {
    /// The ending of a command with these failures.
    fn of<'a>(failures: impl Iterator<Item = &'a CommandError>) -> Self {
        Self::Done.and(failures.map(CommandError::category))
    }

    /// The ending of a command that has these failures too.
    fn and(self, failures: impl Iterator<Item = Category>) -> Self {
        let so_far = match self {
            Self::Done => None,
            Self::Failed(category) => Some(category),
        };
        let gravity = |category: &Category| match category {
            Category::Interrupted => 4,
            Category::Untrusted => 3,
            Category::Usage => 2,
            Category::Differs => 0,
            _ => 1,
        };
        let all = so_far.into_iter().chain(failures);
        all.max_by_key(gravity).map_or(Self::Done, Self::Failed)
    }
}

/// Prevents core dumps, which would contain credentials, if the system supports it.
pub(crate) fn without_core_dumps() {
    #[cfg(unix)]
    {
        use rustix::process::{Resource, Rlimit, setrlimit};
        let none = Rlimit {
            current: Some(0),
            maximum: Some(0),
        };
        let _as_before = setrlimit(Resource::Core, none);
    }
    // Linux ignores the limit if `core_pattern` names a program.
    #[cfg(target_os = "linux")]
    {
        use rustix::process::{DumpableBehavior, set_dumpable_behavior};
        let _as_before = set_dumpable_behavior(DumpableBehavior::NotDumpable);
    }
}

/// Lets this process open as many files as the system allows: a server has one for each connection and for each package that it sends.
fn with_all_files() {
    #[cfg(unix)]
    {
        use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
        let maximum = getrlimit(Resource::Nofile).maximum;
        let current = maximum;
        let _as_before = setrlimit(Resource::Nofile, Rlimit { current, maximum });
    }
}

/// Runs the program that the first argument names.
pub(crate) fn main(arguments: impl IntoIterator<Item = OsString>) -> ExitCode {
    let arguments: Vec<OsString> = arguments.into_iter().collect();
    let (command, globals) = match parse(&arguments) {
        Ok(parsed) => parsed,
        Err(error) => return printer::usage(error, &arguments),
    };
    let printer = Printer::new(&globals, &arguments);
    let printer = match (&command, globals.format) {
        (Command::Serve(_), Format::Json) => printer.into_log(),
        _ => printer,
    };
    let is_refused = !command.has(globals.format);
    let settings = match Settings::read() {
        Ok(settings) => settings,
        Err(error) => {
            return ExitCode::from(exit_code(Report::new(printer).command_failed(&error)));
        }
    };
    let session = Session::new(globals, settings, printer);
    if is_refused {
        let error = CommandError::usage("this command has no such `--format`");
        return ExitCode::from(exit_code(session.report.command_failed(&error)));
    }
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(command.threads())
        .enable_all()
        .build();
    let ended = match runtime {
        Ok(runtime) => {
            let ended = match command {
                // A server ends by a signal, and its work is then done.
                Command::Serve(_) => {
                    with_all_files();
                    Some(runtime.block_on(run(command, &session)))
                }
                command => runtime.block_on(until_interrupted(run(command, &session))),
            };
            // Cancelled tasks remove their unfinished files.
            runtime.shutdown_timeout(SHUTDOWN_TIMEOUT);
            ended
        }
        Err(error) => Some(Err(CommandError::plain(
            Category::Local,
            format!("the system starts no threads for tfoci\n  {error}"),
        ))),
    };
    let report = &session.report;
    let failed = match ended {
        None => {
            report.interrupted();
            Some(Category::Interrupted)
        }
        Some(Ok(Ending::Done)) => None,
        Some(Ok(Ending::Failed(category))) => Some(category),
        Some(Err(error)) => Some(report.command_failed(&error)),
    };
    // If the result could not be written to stdout, the command has failed.
    let failed = failed.or_else(|| {
        let error = session.printer.check_written().err()?;
        Some(report.command_failed(&error))
    });
    ExitCode::from(failed.map_or(0, exit_code))
}

/// The command line of `tfoci`. The help of a command leaves out the options that every command takes.
fn tfoci() -> clap::Command {
    let hidden = Tfoci::command().mut_args(|argument| match argument.is_global_set() {
        true => argument.hide(true),
        false => argument,
    });
    hidden.mut_subcommands(with_ends)
}

/// A command whose help ends with its examples and a reference to the other options.
fn with_ends(command: clap::Command) -> clap::Command {
    // The short help has to fit a screen, so only the long one has examples.
    let examples = command.get_after_help().map(ToString::to_string);
    let lines = examples.into_iter().chain([GLOBALS.to_owned()]);
    let long = lines.collect::<Vec<_>>().join("\n\n");
    let command = command.after_help(GLOBALS).after_long_help(long);
    command.mut_subcommands(with_ends)
}

fn parse(arguments: &[OsString]) -> Result<(Command, Globals), clap::Error> {
    let name = arguments
        .first()
        .and_then(|name| Path::new(name).file_stem()?.to_str());
    if name == Some("oci-push") {
        let command = clap::Command::new("oci-push").version(VERSION);
        let command = Globals::augment_args(push::Arguments::augment_args(command));
        let matches = variables::matches(command.max_term_width(HELP_WIDTH), arguments)?;
        let push = Command::Push(push::Arguments::from_arg_matches(&matches)?);
        return Ok((push, Globals::from_arg_matches(&matches)?));
    }
    let matches = variables::matches(tfoci(), arguments)?;
    let Tfoci {
        command,
        mut globals,
    } = Tfoci::from_arg_matches(&matches)?;
    match &command {
        Command::Mirror(_) => globals.jobs.get_or_insert(MIRROR_JOBS),
        Command::Serve(arguments) => {
            arguments.name_plain_hosts(&mut globals);
            globals.jobs.get_or_insert(serve::JOBS)
        }
        _ => globals.jobs.get_or_insert(session::JOBS),
    };
    Ok((command, globals))
}

async fn run(command: Command, session: &Session) -> Result<Ending, CommandError> {
    match command {
        Command::Push(arguments) => push::run(arguments, session).await,
        Command::Mirror(arguments) => mirror::run(arguments, session).await,
        Command::Copy(arguments) => copy::run(arguments, session).await,
        Command::List(arguments) => list::run(arguments, session).await,
        Command::Versions(arguments) => versions::run(arguments, session).await,
        Command::Inspect(arguments) => inspect::run(arguments, session).await,
        Command::Have(arguments) => have::run(arguments, session).await,
        Command::Prune(arguments) => prune::run(arguments, session).await,
        Command::Verify(arguments) => verify::run(arguments, session).await,
        Command::Resolve(arguments) => resolve::run(arguments, session),
        Command::Doctor(arguments) => doctor::run(arguments, session).await,
        Command::Trust(arguments) => trust::run(&arguments, session).await,
        Command::Install(arguments) => install::run(arguments, session).await,
        Command::Lock(arguments) => lock::run(arguments, session).await,
        Command::Serve(arguments) => serve::run(arguments, session).await,
        Command::Site(arguments) => site::run(arguments, session).await,
        Command::CliConfig(arguments) => cli_config::run(&arguments, session),
        Command::Login(arguments) => login::run(arguments, session).await,
        Command::Logout(arguments) => logout::run(arguments, session).await,
        Command::Config(_) => config::run(session),
        Command::Help(arguments) => help::run(&arguments, session),
        Command::Completions(arguments) => Ok(completions::run(&arguments, session)),
        Command::Man(arguments) => man::run(&arguments, session),
        Command::Schema(arguments) => Ok(schema::run(&arguments, session)),
        Command::Version => {
            session.printer.result(&format!("tfoci {VERSION}"));
            Ok(Ending::Done)
        }
    }
}

fn exit_code(category: Category) -> u8 {
    match category {
        Category::Usage => 2,
        Category::Untrusted => 3,
        Category::Interrupted => 130,
        Category::Differs => 4,
        _ => 1,
    }
}
