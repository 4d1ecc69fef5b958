//! Where credentials may be: the options, and the only code that reads the environment for them.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::Args;

use tfoci::credentials::{Credentials, Environment, Places};

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
    pub(super) fn places(&self) -> Places {
        let path = |name| variable(name).map(PathBuf::from);
        Places {
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
            },
        }
    }
}

/// Tells who wants to know which sources of credentials there were, and which were used.
pub(super) fn tell(credentials: &Credentials, printer: &Printer) {
    for source in credentials.considered() {
        printer.detail("Considered", &source.to_string());
    }
}

fn variable(name: &str) -> Option<OsString> {
    std::env::var_os(name).filter(|value| !value.is_empty())
}
