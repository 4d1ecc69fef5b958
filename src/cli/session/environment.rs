//! Credential locations and client settings in the environment. No other code reads the environment for them.

use std::ffi::OsString;
use std::path::PathBuf;

use tfoci::config::cli;
use tfoci::credentials::tokens::PREFIX;
use tfoci::credentials::{Environment, Locations};
use tfoci::secret::Secret;
use tfoci::source::RequestLimits;

use crate::cli::arguments::CredentialFiles;
use crate::cli::printer::Printer;

/// The credential files that options and environment variables name.
pub(super) fn locations(options: &CredentialFiles) -> Locations {
    let path = |name| variable(name).map(PathBuf::from);
    Locations {
        authfile: options.authfile.clone(),
        cli_config: options.cli_config.clone(),
        client: None,
        is_of_client: false,
        environment: Environment {
            home: std::env::home_dir(),
            app_data: path("APPDATA"),
            xdg_runtime_dir: path("XDG_RUNTIME_DIR"),
            xdg_config_home: path("XDG_CONFIG_HOME"),
            docker_config: path("DOCKER_CONFIG"),
            registry_auth_file: path("REGISTRY_AUTH_FILE"),
            tf_cli_config_file: path("TF_CLI_CONFIG_FILE"),
            path: variable("PATH"),
            netrc: path("NETRC"),
            tokens: tokens(),
        },
    }
}

/// The user's file of settings; `None` if there is no home directory.
pub(in crate::cli) fn config_file() -> Option<PathBuf> {
    let home = || Some(std::env::home_dir()?.join(".config"));
    let named = match cfg!(windows) {
        true => variable("APPDATA"),
        false => variable("XDG_CONFIG_HOME"),
    };
    let directory = named.map(PathBuf::from).or_else(home);
    directory.map(|directory| directory.join("tfoci/config.toml"))
}

/// The retries that environment variables set for requests to provider registries. Clients treat anything but a positive number
/// as unset, and so does tfoci ([clients: retries](tfoci::clients#retries)).
pub(super) fn request_limits() -> RequestLimits {
    let number = |name| {
        let text = variable(name)?.into_string().ok()?;
        text.parse::<u32>().ok().filter(|number| *number > 0)
    };
    let ours = RequestLimits::default();
    RequestLimits {
        documents: number("TF_REGISTRY_DISCOVERY_RETRY").unwrap_or(ours.documents),
        packages: number("TF_PROVIDER_DOWNLOAD_RETRY").unwrap_or(ours.packages),
        ..ours
    }
}

/// Whether `TF_DATA_DIR` names that directory.
pub(in crate::cli) fn has_data_directory() -> bool {
    variable("TF_DATA_DIR").is_some()
}

/// The directory where clients keep modules and providers: `TF_DATA_DIR`, otherwise `.terraform`.
pub(in crate::cli) fn data_directory() -> PathBuf {
    let named = variable("TF_DATA_DIR").map(PathBuf::from);
    named.unwrap_or_else(|| PathBuf::from(".terraform"))
}

/// The plugin cache of the clients: `TF_PLUGIN_CACHE_DIR`, otherwise what the CLI configuration says.
pub(super) fn plugin_cache(configured: Option<&str>) -> Option<PathBuf> {
    let value = |name: &str| variable(name)?.into_string().ok();
    let named = variable("TF_PLUGIN_CACHE_DIR").map(PathBuf::from);
    named.or_else(|| configured.map(|text| cli::expanded(text, value).into()))
}

/// All variables `TF_TOKEN_…`, sorted by name.
fn tokens() -> Vec<(String, Secret)> {
    let token = |(name, value): (OsString, OsString)| {
        let name = name.to_str()?.strip_prefix(PREFIX)?.to_owned();
        Some((name, value.into_string().ok()?.into()))
    };
    let mut tokens: Vec<_> = std::env::vars_os().filter_map(token).collect();
    tokens.sort_by(|(a, _), (b, _)| a.cmp(b));
    tokens
}

/// Warns of sources of credentials that cannot be used.
pub(in crate::cli) fn warn_of_sources(warnings: Vec<String>, printer: &Printer) {
    for warning in warnings {
        printer.warn_once(warning);
    }
}

/// The value of a variable. An empty one counts as unset.
pub(super) fn variable(name: &str) -> Option<OsString> {
    std::env::var_os(name).filter(|value| !value.is_empty())
}
