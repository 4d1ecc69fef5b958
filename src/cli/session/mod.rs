//! The session of a command: creates clients, credentials, stores and policies from arguments.
//!
//! Arguments are plain data ([`super::arguments`]), and the library knows no arguments. Only this module turns one into the other, so all
//! commands understand an option in the same way.

mod attest;
mod environment;
mod everything;
mod network;
pub(super) mod place;
pub(super) mod requested;
mod settings;
mod trust;
mod wanted;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use tfoci::address::{Hostname, ProviderAddr, ProviderPattern};
use tfoci::config::cli::CliConfig;
use tfoci::constraint::VersionConstraints;
use tfoci::credentials::{Credentials, Locations};
use tfoci::disk;
use tfoci::error::{FEW, flat, listed, printable, printable_path};
use tfoci::examine::StoredProvider;
use tfoci::http::{self, Http};
use tfoci::jobs::Jobs;
use tfoci::lockfile::Client;
use tfoci::selection::{self, Exclusion, Selection};
use tfoci::shown::Shown;
use tfoci::source;
use tfoci::store::{self, Endpoint, Registry, Store};
use tfoci::text;
use tfoci::trust::{Policy, limits};
use tfoci::version::Version;

use super::arguments::Globals;
use super::error::CommandError;
use super::printer::Printer;
use super::report::Report;
use super::trace::Trace;
pub(super) use environment::{config_file, data_directory, has_data_directory, warn_of_sources};
pub(super) use everything::Everything;
pub(super) use network::variables;
pub(super) use settings::Settings;
pub(super) use trust::{TrustPath, policy, read_key, read_mirror_key};
pub(super) use wanted::{Wanted, WantedVersions};

/// The default number of concurrent package transfers. Higher numbers were not faster (measured).
pub(super) const JOBS: u8 = 4;

/// The size limit in bytes of trust files, lock files and keys. Key files are the largest of them.
const LARGEST_FILE: u64 = limits::KEYS;

/// The services that a command uses.
pub(super) struct Session {
    default_host: Hostname,
    client: OnceLock<Option<Client>>,
    http: OnceLock<Http>,
    globals: Globals,
    pub(super) settings: Settings,
    pub(super) printer: Printer,
    pub(super) report: Report,
}

impl Session {
    pub(super) fn new(mut globals: Globals, settings: Settings, printer: Printer) -> Self {
        let named = settings.get("default_host");
        let named = named.and_then(|host| host.value.parse().ok());
        globals.default_host = globals.default_host.or(named);
        if let Some(file) = settings
            .get("ca_file")
            .filter(|_| globals.network.ca_file.is_empty())
        {
            globals.network.ca_file.push(file.value.clone().into());
        }
        let named = globals.default_host.clone();
        Self {
            default_host: named.unwrap_or_else(Hostname::default_origin),
            client: OnceLock::new(),
            http: OnceLock::new(),
            globals,
            settings,
            report: Report::new(printer.clone()),
            printer,
        }
    }

    /// The number of concurrent package transfers.
    pub(super) fn jobs(&self) -> Jobs {
        Jobs::new(self.globals.jobs.unwrap_or(JOBS).into())
    }

    /// The HTTP client, the same in each call: it knows which hosts only a stranger has named. It connects only when it sends the first request.
    pub(super) fn http(&self) -> Result<Http, CommandError> {
        if let Some(http) = self.http.get() {
            return Ok(http.clone());
        }
        let http = self.http_with(|settings| settings)?;
        Ok(self.http.get_or_init(|| http).clone())
    }

    fn http_with(
        &self,
        change: impl FnOnce(http::Settings) -> http::Settings,
    ) -> Result<Http, CommandError> {
        let settings = network::settings(&self.globals.network, self.jobs().count())?;
        let trace = Trace(self.printer.clone());
        Ok(Http::reporting(change(settings), Arc::new(trace)))
    }

    /// An HTTP client for hosts that only the clients of a server name. It shares no state with [`Session::http`], so such a name cannot
    /// change where requests to the store go. `--plain-http` names hosts of stores, so this client uses HTTPS only.
    pub(super) fn http_for_strangers(&self) -> Result<Http, CommandError> {
        self.http_with(|settings| http::Settings {
            plain: BTreeSet::new(),
            every_host_is_a_stranger: true,
            ..settings
        })
    }

    /// An HTTP client without the options that clients do not have.
    pub(super) fn http_of_clients(&self) -> Result<Http, CommandError> {
        self.http_with(|settings| http::Settings {
            plain: BTreeSet::new(),
            insecure: BTreeSet::new(),
            authorities: Vec::new(),
            identities: BTreeMap::new(),
            ..settings
        })
    }

    /// A registry client. It authenticates once per registry, and can mount blobs.
    pub(super) fn registry(&self, http: &Http) -> Registry {
        Registry::new(http.clone(), self.credentials())
    }

    /// Reads from now on what this client reads, where the two clients have different files.
    pub(super) fn read_as(&self, client: Option<Client>) {
        self.client.get_or_init(|| client);
    }

    pub(super) fn locations(&self) -> Locations {
        Locations {
            client: self.client.get().copied().flatten(),
            ..environment::locations(&self.globals.access)
        }
    }

    /// The plugin cache of a client, relative to the directory of the root module.
    pub(super) fn plugin_cache(&self, client: Client) -> Result<Option<PathBuf>, CommandError> {
        let named = self
            .cli_config(client)?
            .and_then(|(_, config)| config.plugin_cache_dir);
        Ok(environment::plugin_cache(named.as_deref()))
    }

    /// The CLI configuration of a client, with its path. If a variable names a file that does not exist, there is no configuration: clients
    /// only warn of such a variable.
    pub(super) fn cli_config(
        &self,
        client: Client,
    ) -> Result<Option<(PathBuf, CliConfig)>, CommandError> {
        let is_named = self.globals.access.cli_config.is_some();
        match self.locations().cli_config_of(client) {
            Err(error) if error.is_not_found() && !is_named => Ok(None),
            config => Ok(config?),
        }
    }

    /// Checks the files of credentials that options name.
    pub(super) fn check_named(&self) -> Result<(), CommandError> {
        let checked = self.locations().check_named();
        checked.map_err(|(named_by, error)| {
            CommandError::from(error).with(&format!("\n  named by {named_by}"))
        })
    }

    /// All credentials. Their files are read when the first credential is needed.
    pub(super) fn credentials(&self) -> Credentials {
        Credentials::at(self.locations())
    }

    /// Access to origins and mirrors.
    pub(super) fn origin_access(&self, http: Http) -> Result<source::Access, CommandError> {
        self.check_named()?;
        let credentials = self.credentials();
        warn_of_sources(credentials.origin_warnings()?, &self.printer);
        Ok(self.access(http, credentials))
    }

    /// Access to origins and mirrors with these credentials.
    pub(super) fn access(&self, http: Http, credentials: Credentials) -> source::Access {
        source::Access {
            http,
            credentials,
            request_limits: environment::request_limits(),
        }
    }

    /// The host of addresses of the form NAMESPACE/TYPE.
    pub(super) fn default_host(&self) -> &Hostname {
        &self.default_host
    }

    /// The host of such addresses for a client, unless `--default-host` names one.
    pub(super) fn default_host_of(&self, client: Client) -> Hostname {
        let named = self.globals.default_host.clone();
        named.unwrap_or_else(|| client.default_host())
    }

    /// The client of the default host. A user who names that of Terraform, as `TFOCI_DEFAULT_HOST` in CI, uses Terraform.
    pub(super) fn implied_client(&self) -> Option<Client> {
        let terraform = Client::Terraform;
        (self.default_host == terraform.default_host()).then_some(terraform)
    }

    /// Whether a store's address is the name of one repository.
    pub(super) fn is_exact(&self) -> bool {
        self.globals.exact_repository
    }

    /// Parses the argument of a command that takes an address without a version.
    pub(super) fn provider(
        &self,
        text: &str,
        command: &'static str,
    ) -> Result<ProviderAddr, CommandError> {
        let Selection {
            provider,
            constraints,
        } = self.selection(text)?;
        if constraints.is_any() {
            return Ok(provider);
        }
        let text = printable(text);
        Err(CommandError::usage(format!(
            "`{command}` takes an address without a version\n  expected {provider}\n  received {text}"
        )))
    }

    /// Parses a provider address with constraints.
    pub(super) fn selection(&self, text: &str) -> Result<Selection, CommandError> {
        Ok(Selection::parse(text, self.default_host())?)
    }

    pub(super) fn patterns(&self, texts: &[String]) -> Result<Vec<ProviderPattern>, CommandError> {
        texts.iter().map(|text| self.pattern(text)).collect()
    }

    pub(super) fn pattern(&self, text: &str) -> Result<ProviderPattern, CommandError> {
        Ok(ProviderPattern::parse(text, self.default_host())?)
    }

    /// Parses `PATTERN[@CONSTRAINTS]`.
    pub(super) fn exclusion(&self, text: &str) -> Result<Exclusion, CommandError> {
        let (pattern, versions) = match text.split_once('@') {
            Some((_, versions)) if versions.trim().is_empty() => {
                let text = text.to_owned();
                return Err(selection::Error::NoConstraints { text }.into());
            }
            Some((pattern, versions)) => {
                let exact = versions.split(',').map(str::trim);
                let exact: BTreeSet<Version> = exact.filter_map(|one| one.parse().ok()).collect();
                if exact.len() > 1 {
                    return Err(CommandError::usage(format!(
                        "`--exclude {}` matches no version: one version has to satisfy all of its constraints",
                        printable(text)
                    ))
                    .advising("give `--exclude` once for each version"));
                }
                let versions = versions.parse().map_err(selection::Error::from)?;
                (pattern, versions)
            }
            None => (text, VersionConstraints::any()),
        };
        Ok(Exclusion {
            providers: self.pattern(pattern)?,
            versions,
        })
    }

    /// Parses a store address.
    pub(super) fn endpoint(&self, text: &str) -> Result<Endpoint, CommandError> {
        if place::is_source(text) {
            let text = Shown::from(text);
            return Err(CommandError::usage(format!(
                "`{text}` is not a store\n  expected oci-layout:DIR, bundle:FILE, or a registry's repository template"
            ))
            .advising("`tfoci mirror ADDR --to STORE` copies from it into a store"));
        }
        let endpoint = Endpoint::parse(text, self.globals.exact_repository)?;
        // Layouts need no credentials.
        if endpoint.template().is_some() {
            self.check_named()?;
        }
        Ok(endpoint)
    }

    /// Opens a store for reading, after [`Session::warn_of_shared`].
    pub(super) fn open_store(
        &self,
        endpoint: &Endpoint,
        registry: Registry,
    ) -> Result<Store, store::Error> {
        self.warn_of_shared(endpoint);
        let store = endpoint.read(registry)?;
        if let Some(error) = store.incomplete() {
            self.printer.warn_once(flat(&error));
        }
        Ok(store)
    }

    /// Warns of a template to which tfoci writes nothing, since two providers can have the same repository.
    pub(super) fn warn_of_shared(&self, endpoint: &Endpoint) {
        if let Err(error) = endpoint.check_distinct() {
            self.printer
                .warn_once(error.to_string().replace("\n  ", ": "));
        }
    }

    /// Opens a store to read one provider from it.
    pub(super) fn open_provider(
        &self,
        text: &str,
        provider: &ProviderAddr,
    ) -> Result<StoredProvider, CommandError> {
        let registry = self.registry(&self.http()?);
        let endpoint = self.endpoint(text)?;
        endpoint.check(std::slice::from_ref(provider))?;
        let store = self.open_store(&endpoint, registry)?;
        Ok(StoredProvider::of(&endpoint, store, provider)?)
    }

    /// Warns if no entry of the trust file matches some of these providers: a `match` may contain a typing mistake.
    pub(super) fn warn_of_unmatched<'a>(
        &self,
        file: Option<&TrustPath>,
        policy: &Policy,
        providers: impl IntoIterator<Item = &'a ProviderAddr>,
    ) {
        if let Some(line) = file.and_then(|file| unmatched_line(&file.path, policy, providers)) {
            self.printer.warning(&line);
        }
    }
}

/// A line about the providers that no entry of the trust file matches; `None` if there are none.
pub(super) fn unmatched_line<'a>(
    file: &Path,
    policy: &Policy,
    providers: impl IntoIterator<Item = &'a ProviderAddr>,
) -> Option<String> {
    let is_unmatched = |provider: &&ProviderAddr| policy.rule_for(provider).is_none();
    let unmatched: BTreeSet<&ProviderAddr> = providers.into_iter().filter(is_unmatched).collect();
    let (file, some) = (printable_path(file), listed(&unmatched, FEW));
    let line = format!("no entry of {file} matches {some}: no key is pinned");
    (!unmatched.is_empty()).then_some(line)
}

/// Reads a file. `named_by` says what names it: an option, or a line of another file.
pub(super) fn read(path: &Path, named_by: &str) -> Result<Vec<u8>, CommandError> {
    // Whoever gives a key in place of its file must not find it in a log.
    if path.to_string_lossy().contains("-----BEGIN") {
        let message = format!("`{named_by}` has a key in place of the path of its file");
        return Err(CommandError::usage(message));
    }
    disk::read(path, LARGEST_FILE).map_err(|error| CommandError::file(error, named_by))
}

/// The text of a file. `named_by` says what names it, as for [`read`].
pub(super) fn decode<'a>(
    path: &Path,
    bytes: &'a [u8],
    named_by: &str,
) -> Result<&'a str, CommandError> {
    text::decode(bytes).map_err(|mistake| {
        let path = printable_path(path);
        CommandError::usage(format!("{path} is {mistake}\n  named by {named_by}"))
            .advising(text::SAVE_AS_UTF8)
    })
}
