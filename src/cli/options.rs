//! Options that several commands take.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

use clap::{Args, ValueEnum};

use tfoci::address::{Hostname, ProviderAddr, ProviderPattern};
use tfoci::constraint::VersionConstraints;
use tfoci::credentials::{Credentials, Locations};
use tfoci::disk;
use tfoci::disk::temp_file::TempFileBudget;
use tfoci::error::printable_path;
use tfoci::examine::{Belief, Shelf};
use tfoci::http::Http;
use tfoci::outcome::{Failure, Problem};
use tfoci::release::Document;
use tfoci::selection::Selection;
use tfoci::source;
use tfoci::store::{Endpoint, Registry, Store};
use tfoci::trust::{self, Policy, TrustFile, limits};

use super::access::{self, Access};
use super::diagnose::CommandError;
use super::network::Network;
use super::printer::{Printer, Tone, Verbosity};
use super::trace::Trace;

/// How many packages are transferred at once, unless somebody says so: more are no faster (measured).
const JOBS: usize = 4;

/// The most bytes of a file that options name: a trust file, a lock file or keys, of which files of keys may be the largest.
const LARGEST_FILE: u64 = limits::KEYS;

/// What every command takes.
#[derive(Args)]
pub(super) struct Globals {
    /// How to print the result
    #[arg(
        long,
        value_enum,
        default_value_t,
        global = true,
        help_heading = "Global options"
    )]
    pub(super) format: Format,
    /// Print nothing but the result and errors
    #[arg(short, long, global = true, help_heading = "Global options")]
    quiet: bool,
    /// Print more: lines in place of bars, and decisions; twice: every request
    #[arg(short, long, action = clap::ArgAction::Count, global = true, conflicts_with = "quiet", help_heading = "Global options")]
    verbose: u8,
    /// When to use colour [NO_COLOR and CLICOLOR_FORCE are honoured]
    #[arg(
        long,
        value_enum,
        default_value_t,
        global = true,
        help_heading = "Global options"
    )]
    color: Color,
    /// Draw no bars
    #[arg(long, global = true, help_heading = "Global options")]
    no_progress: bool,
    /// How many packages to transfer at once [default: 4, or 8 for mirror]
    #[arg(short, long, value_name = "N", value_parser = clap::value_parser!(u8).range(1..=64), global = true, help_heading = "Global options")]
    pub(super) jobs: Option<u8>,
    /// The host of addresses that have two parts
    #[arg(long, value_name = "HOST", env = "TFOCI_DEFAULT_HOST", default_value = tfoci::address::DEFAULT_HOST, global = true, help_heading = "Global options")]
    default_host: Hostname,
    /// The store address names one repository, whatever the provider
    #[arg(long, global = true, help_heading = "Global options")]
    exact_repository: bool,
    #[command(flatten)]
    network: Network,
    #[command(flatten)]
    access: Access,
}

/// How a result is printed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(super) enum Format {
    /// For people and shells
    #[default]
    Text,
    /// One document
    Json,
}

/// When colour is used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(super) enum Color {
    /// On a terminal
    #[default]
    Auto,
    /// Always
    Always,
    /// Never
    Never,
}

/// Whom to believe.
#[derive(Args)]
pub(super) struct Trust {
    /// Trust file: which keys may sign for which providers
    #[arg(long, value_name = "FILE", help_heading = "Trust")]
    trust: Option<PathBuf>,
    /// Public keys that may sign; may be repeated
    #[arg(long, value_name = "FILE", help_heading = "Trust")]
    key: Vec<PathBuf>,
}

/// From where to read, and whom to believe.
#[derive(Args)]
pub(super) struct Reading {
    /// The store: oci-layout:DIR, or a registry's repository template
    #[arg(long, value_name = "STORE")]
    from: String,
    #[command(flatten)]
    pub(super) trust: Trust,
    /// Refuse whatever is not signed by a pinned key
    #[arg(long, help_heading = "Trust")]
    pub(super) require_pinned: bool,
}

impl Globals {
    /// The printer that these options ask for.
    pub(super) fn printer(&self) -> Printer {
        let verbosity = match (self.quiet, self.verbose) {
            (true, _) => Verbosity::Quiet,
            (false, 0) => Verbosity::Normal,
            (false, 1) => Verbosity::Verbose,
            (false, _) => Verbosity::Everything,
        };
        Printer::new(verbosity, self.format, self.color, !self.no_progress)
    }

    /// How many packages at once.
    pub(super) fn jobs(&self) -> usize {
        self.jobs.map_or(JOBS, usize::from)
    }

    /// Registries, through one client.
    pub(super) fn registry(&self, credentials: Credentials, http: &Http) -> Registry {
        Registry::new(http.clone(), credentials)
    }

    /// How hosts are reached. Nothing is opened before the first request.
    pub(super) fn http(&self, printer: &Printer) -> Result<Http, CommandError> {
        let settings = self.network.settings(self.jobs())?;
        Ok(Http::reporting(settings, Arc::new(Trace(printer.clone()))))
    }

    /// Where credentials may be.
    pub(super) fn locations(&self) -> Locations {
        self.access.locations()
    }

    /// Every credential that can be found, when somebody asks for one.
    pub(super) fn credentials(&self) -> Credentials {
        Credentials::at(self.locations())
    }

    /// The host of addresses that have two parts.
    pub(super) fn default_host(&self) -> &Hostname {
        &self.default_host
    }

    /// How the hosts are reached that providers come from.
    pub(super) fn origin_access(
        &self,
        http: Http,
        printer: &Printer,
    ) -> Result<source::Access, CommandError> {
        let credentials = self.credentials();
        access::tell(credentials.origin_sources()?, printer);
        Ok(source::Access {
            http,
            credentials,
            patience: access::patience(),
            temp_files: TempFileBudget::new(self.jobs()),
            open_answers: source::OpenAnswers::new(self.jobs()),
        })
    }

    /// A provider address.
    pub(super) fn provider(&self, text: &str) -> Result<ProviderAddr, CommandError> {
        Ok(ProviderAddr::parse(text, &self.default_host)?)
    }

    /// A provider with constraints.
    pub(super) fn selection(&self, text: &str) -> Result<Selection, CommandError> {
        Ok(Selection::parse(text, &self.default_host)?)
    }

    /// A pattern of providers.
    pub(super) fn pattern(&self, text: &str) -> Result<ProviderPattern, CommandError> {
        Ok(ProviderPattern::parse(text, &self.default_host)?)
    }

    /// A store address.
    pub(super) fn endpoint(&self, text: &str) -> Result<Endpoint, CommandError> {
        Ok(Endpoint::parse(text, self.exact_repository)
            .map_err(Problem::from)
            .map_err(Failure::from)?)
    }
}

impl Trust {
    /// Reads the trust file and all keys.
    pub(super) fn policy(&self) -> Result<Policy, CommandError> {
        self.policy_or(None)
    }

    /// The trust file, if one was named.
    pub(super) fn file(&self) -> Option<&Path> {
        self.trust.as_deref()
    }

    /// Reads the trust file, or this one if none was named, and all keys.
    pub(super) fn policy_or(&self, other: Option<&Path>) -> Result<Policy, CommandError> {
        self.policy_of(self.file().or(other))
    }

    /// As [`Trust::policy_or`], for a file that may not exist yet.
    pub(super) fn policy_if_there(&self, other: Option<&Path>) -> Result<Policy, CommandError> {
        self.policy_of(self.file().or(other).filter(|path| path.exists()))
    }

    fn policy_of(&self, file: Option<&Path>) -> Result<Policy, CommandError> {
        let mut policy = Policy::default();
        if let Some(path) = file {
            let file = TrustFile::parse(&trust_text(path)?);
            let file = file.map_err(|source| CommandError::trust_file(path, source))?;
            let beside = path.parent().unwrap_or(Path::new(""));
            policy = file.resolve(|key| read(&beside.join(key)))?;
        }
        let document = |path: &PathBuf| {
            Ok(Document {
                name: path.display().to_string(),
                bytes: read(path)?,
            })
        };
        let keys = self
            .key
            .iter()
            .map(document)
            .collect::<Result<Vec<_>, CommandError>>()?;
        Ok(policy.with_keys(keys))
    }
}

impl Reading {
    /// Opens the store for these providers.
    pub(super) fn open(
        &self,
        globals: &Globals,
        printer: &Printer,
        providers: &[ProviderAddr],
    ) -> Result<(Endpoint, Store), CommandError> {
        let registry = globals.registry(globals.credentials(), &globals.http(printer)?);
        self.open_by(registry, globals, providers)
    }

    /// As [`Reading::open`], with registries reached in this way.
    pub(super) fn open_by(
        &self,
        registry: Registry,
        globals: &Globals,
        providers: &[ProviderAddr],
    ) -> Result<(Endpoint, Store), CommandError> {
        let endpoint = globals.endpoint(&self.from)?;
        check(&endpoint, providers)?;
        let store = endpoint
            .read(registry)
            .map_err(Problem::from)
            .map_err(Failure::from)?;
        Ok((endpoint, store))
    }

    /// Whom to believe.
    pub(super) fn belief(&self) -> Result<Belief, CommandError> {
        let policy = self.trust.policy()?;
        Ok(Belief {
            policy,
            require_pinned: self.require_pinned,
            now: SystemTime::now(),
        })
    }

    /// Warns of a trust file that says nothing about some of these providers: a `match` may have a mistake.
    pub(super) fn warn_of_silence<'a>(
        &self,
        belief: &Belief,
        providers: impl IntoIterator<Item = &'a ProviderAddr>,
        printer: &Printer,
    ) {
        const SHOWN: usize = 4;
        let is_unnamed = |provider: &&ProviderAddr| belief.policy.rule_for(provider).is_none();
        let unnamed: BTreeSet<&ProviderAddr> = providers.into_iter().filter(is_unnamed).collect();
        if let Some(file) = self.trust.file()
            && !self.require_pinned
            && !unnamed.is_empty()
        {
            let shown = unnamed.iter().take(SHOWN).map(ToString::to_string);
            let shown = shown.collect::<Vec<_>>().join(", ");
            let more = match unnamed.len().saturating_sub(SHOWN) {
                0 => String::new(),
                more => format!(" and {more} more"),
            };
            let line = format!(
                "no entry of {} matches {shown}{more}: packages are shown as what they are, and none is refused for lack of a signature",
                printable_path(file)
            );
            printer.line(Tone::Warning, "Warning", &line);
        }
    }

    /// Whether the user said anything about trust.
    pub(super) fn is_particular(&self) -> bool {
        self.require_pinned || self.trust.trust.is_some() || !self.trust.key.is_empty()
    }
}

/// Checks that a store address tells these providers apart.
pub(super) fn check(endpoint: &Endpoint, providers: &[ProviderAddr]) -> Result<(), CommandError> {
    Ok(endpoint
        .check(providers)
        .map_err(Problem::from)
        .map_err(Failure::from)?)
}

/// Every provider of a store, where it can tell.
pub(super) async fn everything(
    endpoint: &Endpoint,
    store: &Store,
) -> Result<Vec<Selection>, CommandError> {
    let providers = endpoint
        .providers(store)
        .await
        .map_err(Problem::from)
        .map_err(Failure::from)?;
    let any = |provider| Selection {
        provider,
        constraints: VersionConstraints::any(),
    };
    Ok(providers
        .ok_or(CommandError::NoSelection)?
        .into_iter()
        .map(any)
        .collect())
}

/// Where a provider stands in a store.
pub(super) fn shelf(
    endpoint: &Endpoint,
    store: &Store,
    provider: &ProviderAddr,
) -> Result<Shelf<Store>, CommandError> {
    let repository = endpoint
        .repository(provider)
        .map_err(Problem::from)
        .map_err(Failure::from)?;
    Ok(Shelf {
        store: store.clone(),
        provider: provider.clone(),
        repository,
        place: endpoint.to_string(),
    })
}

/// Reads the text of a trust file.
pub(super) fn trust_text(path: &Path) -> Result<String, CommandError> {
    let text = String::from_utf8(read(path)?);
    text.map_err(|_| CommandError::trust_file(path, trust::Error::Encoding))
}

/// Reads a file that the user named.
pub(super) fn read(path: &Path) -> Result<Vec<u8>, CommandError> {
    Ok(disk::read(path, LARGEST_FILE)
        .map_err(Problem::from)
        .map_err(Failure::from)?)
}
