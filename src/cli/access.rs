//! Where credentials may be: the options, and the only code that reads the environment for them.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use clap::Args;

use tfoci::credentials::tokens::PREFIX;
use tfoci::credentials::{Environment, Locations, SourceReport};
use tfoci::secret::Secret;
use tfoci::source::Patience;

use super::printer::Printer;

/// Where to look for credentials. The short help, which has to fit a screen, leaves these to the long one.
#[derive(Args)]
pub(super) struct Access {
    /// The only file of registry credentials to use [otherwise those of docker and podman]
    #[arg(
        long,
        value_name = "FILE",
        global = true,
        hide_short_help = true,
        help_heading = "Network options"
    )]
    authfile: Option<PathBuf>,
    /// The CLI configuration of tofu or terraform [otherwise where they look for it]
    #[arg(
        long,
        value_name = "FILE",
        global = true,
        hide_short_help = true,
        help_heading = "Network options"
    )]
    cli_config: Option<PathBuf>,
}

impl Access {
    /// What the user said, and the environment.
    pub(super) fn locations(&self) -> Locations {
        let path = |name| variable(name).map(PathBuf::from);
        Locations {
            authfile: self.authfile.clone(),
            cli_config: self.cli_config.clone(),
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
}

/// How patient clients are told to be with provider registries. What is no number above zero counts as unset, as for them
/// ([clients: retries](tfoci::clients#retries)).
pub(super) fn patience() -> Patience {
    let number = |name| {
        let text = variable(name)?.into_string().ok()?;
        text.parse::<u32>().ok().filter(|number| *number > 0)
    };
    let timeout = number("TF_REGISTRY_CLIENT_TIMEOUT");
    let ours = Patience::default();
    Patience {
        documents: number("TF_REGISTRY_DISCOVERY_RETRY").unwrap_or(ours.documents),
        packages: number("TF_PROVIDER_DOWNLOAD_RETRY").unwrap_or(ours.packages),
        timeout: timeout.map(|seconds| Duration::from_secs(seconds.into())),
    }
}

/// Every `TF_TOKEN_…`, in the order of their names.
fn tokens() -> Vec<(String, Secret)> {
    let token = |(name, value): (OsString, OsString)| {
        let name = name.to_str()?.strip_prefix(PREFIX)?.to_owned();
        Some((name, value.into_string().ok()?.into()))
    };
    let mut tokens: Vec<_> = std::env::vars_os().filter_map(token).collect();
    tokens.sort_by(|(a, _), (b, _)| a.cmp(b));
    tokens
}

/// Tells who wants to know which sources of credentials there were, and which were used.
pub(super) fn tell(sources: &[SourceReport], printer: &Printer) {
    for source in sources {
        printer.detail("Considered", &source.to_string());
    }
}

fn variable(name: &str) -> Option<OsString> {
    std::env::var_os(name).filter(|value| !value.is_empty())
}
