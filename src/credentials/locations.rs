//! The locations of credentials, from options and the environment.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use zeroize::Zeroizing;

use super::docker;
use super::docker_file::DockerFile;
use super::entry::Entry;
use super::{Error, Readers, SourceReport};
use crate::config::cli::{self, CliConfig};
use crate::disk;
use crate::lockfile::Client;
use crate::platform::Platform;
use crate::secret::Secret;

/// The largest accepted credential file in bytes. Real ones have a few thousand.
pub(super) const LARGEST: u64 = 1 << 20;

/// The options and environment variables that determine the locations of credentials.
#[derive(Clone, Debug, Default)]
pub struct Locations {
    /// `--authfile`, which replaces all files of docker and podman.
    pub authfile: Option<PathBuf>,
    /// `--cli-config`, which replaces the clients' own files.
    pub cli_config: Option<PathBuf>,
    /// The environment variables. The library does not read the environment itself.
    pub environment: Environment,
    /// The client, if it is known: Terraform reads no CLI configuration of OpenTofu.
    pub client: Option<Client>,
    /// Whether only that counts which clients read, as they read it: one invalid file of docker or podman discards all of them.
    pub is_of_client: bool,
}

/// Environment variables of the same names. An empty variable counts as unset.
#[allow(missing_docs, reason = "each field has the name of its variable")]
#[derive(Clone, Debug, Default)]
pub struct Environment {
    /// `HOME`, or `USERPROFILE` on Windows.
    pub home: Option<PathBuf>,
    /// `APPDATA`, on Windows.
    pub app_data: Option<PathBuf>,
    pub xdg_runtime_dir: Option<PathBuf>,
    pub xdg_config_home: Option<PathBuf>,
    /// The directory of docker's `config.json`.
    pub docker_config: Option<PathBuf>,
    pub registry_auth_file: Option<PathBuf>,
    pub tf_cli_config_file: Option<PathBuf>,
    /// `PATH`, which is searched for credential helpers.
    pub path: Option<OsString>,
    pub netrc: Option<PathBuf>,
    /// All variables `TF_TOKEN_…`: the rest of the name, and the token.
    pub tokens: Vec<(String, Secret)>,
}

/// The first CLI configuration that exists.
#[derive(Debug, Default)]
pub(super) struct CliConfigFile {
    /// Why it cannot be used, if it cannot.
    pub(super) unread: Option<SourceReport>,
    pub(super) found: Option<(PathBuf, CliConfig)>,
}

impl Locations {
    /// What a client reads.
    pub fn of_client(&self) -> Self {
        Self {
            authfile: None,
            is_of_client: true,
            ..self.clone()
        }
    }

    /// Reads the first CLI configuration that exists.
    ///
    /// # Errors
    /// The file of `--cli-config` does not exist or is invalid.
    pub(super) fn read_cli_config(&self) -> Result<CliConfigFile, Error> {
        let mut first = CliConfigFile::default();
        for path in self.cli_configs(self.client) {
            match read_for_credentials(&path) {
                Ok(config) => first.found = Some((path, config)),
                Err(error) if self.cli_config.is_some() => return Err(error),
                Err(error) if error.is_not_found() => continue,
                Err(error) => first.unread = SourceReport::unread(path, error, Readers::Clients),
            }
            break;
        }
        Ok(first)
    }

    /// Checks the files that options name, before anything is asked.
    ///
    /// # Errors
    /// The option whose file cannot be read or is invalid, and why.
    pub fn check_named(&self) -> Result<(), (&'static str, Error)> {
        if let Some(path) = &self.authfile {
            read_docker_config(path).map_err(|error| ("--authfile", error))?;
        }
        if let Some(path) = &self.cli_config {
            read_for_credentials(path).map_err(|error| ("--cli-config", error))?;
        }
        Ok(())
    }

    /// The CLI configuration that a client uses, and its path; `None` if there is none.
    ///
    /// # Errors
    /// The file is invalid, or an option or variable names a file that does not exist.
    pub fn cli_config_of(&self, client: Client) -> Result<Option<(PathBuf, CliConfig)>, Error> {
        let is_named = self.cli_config.is_some() || self.environment.tf_cli_config_file.is_some();
        for path in self.cli_configs(Some(client)) {
            match read_cli_config(&path, client) {
                Ok(config) => return Ok(Some((path, config))),
                Err(error) if error.is_not_found() && !is_named => {}
                Err(error) => return Err(error),
            }
        }
        Ok(None)
    }

    /// The possible paths of the CLI configuration, in the clients' order. Each client prefers its own file to that of the other
    /// client.
    fn cli_configs(&self, client: Option<Client>) -> Vec<PathBuf> {
        let environment = &self.environment;
        let named = self.cli_config.as_ref();
        if let Some(path) = named.or(environment.tf_cli_config_file.as_ref()) {
            return vec![path.clone()];
        }
        let home = |name| below(environment.home.as_ref(), name);
        let roaming = |name| below(environment.app_data.as_ref(), name);
        let places = match cfg!(windows) {
            true => vec![roaming("tofu.rc"), roaming("terraform.rc")],
            false => vec![
                home(".tofurc"),
                home(".terraformrc"),
                self.config_home("opentofu/tofurc"),
            ],
        };
        let mut places: Vec<PathBuf> = places.into_iter().flatten().collect();
        if client == Some(Client::Terraform) {
            // Only OpenTofu reads `.tofurc`, `tofurc` and `tofu.rc`.
            let name = |path: &PathBuf| path.file_name().unwrap_or_default().to_owned();
            places.retain(|path| !name(path).to_string_lossy().contains("tofu"));
        }
        places
    }

    /// The data directories of clients. OpenTofu uses the second if the first does not exist.
    fn client_directories(&self) -> Vec<PathBuf> {
        let environment = &self.environment;
        if cfg!(windows) {
            return below(environment.app_data.as_ref(), "terraform.d")
                .into_iter()
                .collect();
        }
        let home = below(environment.home.as_ref(), ".terraform.d");
        let places = [home, self.config_home("opentofu")];
        places.into_iter().flatten().collect()
    }

    /// The files in which clients' `login` stores tokens. Like clients, tfoci uses none if an option or variable names a CLI
    /// configuration.
    pub(super) fn token_files(&self) -> Vec<PathBuf> {
        let is_named = self.cli_config.is_some() || self.environment.tf_cli_config_file.is_some();
        if is_named {
            return Vec::new();
        }
        let directories = self.client_directories().into_iter();
        directories
            .map(|directory| directory.join("credentials.tfrc.json"))
            .collect()
    }

    /// The directories in which clients search the program of a `credentials_helper` block, followed by the directories in `PATH`.
    pub(super) fn helper_directories(&self) -> Vec<PathBuf> {
        let plugins = self.client_directories().into_iter().flat_map(|directory| {
            let plugins = directory.join("plugins");
            let of_platform = plugins.join(Platform::current().to_string());
            [plugins, of_platform]
        });
        let programs = self.environment.path.iter().flat_map(std::env::split_paths);
        plugins.chain(programs).collect()
    }

    /// The path of the user's `.netrc`.
    pub(super) fn netrc(&self) -> Option<PathBuf> {
        let name = if cfg!(windows) { "_netrc" } else { ".netrc" };
        let Environment { netrc, home, .. } = &self.environment;
        netrc.clone().or_else(|| below(home.as_ref(), name))
    }

    /// The credential files of docker and podman. Files of variables that clients ignore come first, then the clients' files in [their
    /// order](crate::clients#credential-files).
    pub(super) fn auth_files(&self) -> Vec<(PathBuf, Readers)> {
        let environment = &self.environment;
        let ours = [
            environment.registry_auth_file.clone(),
            below(environment.docker_config.as_ref(), "config.json"),
        ];
        let home = |name| below(environment.home.as_ref(), name);
        let first = if cfg!(any(target_os = "macos", windows)) {
            home(".config/containers/auth.json")
        } else if cfg!(target_os = "linux") {
            below(environment.xdg_runtime_dir.as_ref(), "containers/auth.json")
        } else {
            None
        };
        let clients = [
            first,
            self.config_home("containers/auth.json"),
            home(".docker/config.json"),
            home(".dockercfg"),
        ];
        let clients: Vec<PathBuf> = clients.into_iter().flatten().collect();
        let mut files: Vec<(PathBuf, Readers)> = Vec::new();
        for path in ours.into_iter().flatten().chain(clients.iter().cloned()) {
            let readers = match clients.contains(&path) {
                true => Readers::Clients,
                false if self.is_of_client => continue,
                false => Readers::OnlyTfoci,
            };
            if files.iter().all(|(file, _)| *file != path) {
                files.push((path, readers));
            }
        }
        files
    }

    /// The file in which docker or podman would store credentials.
    pub(super) fn store(&self) -> Option<PathBuf> {
        let environment = &self.environment;
        let named = self.authfile.as_ref();
        named
            .or(environment.registry_auth_file.as_ref())
            .cloned()
            .or_else(|| below(environment.docker_config.as_ref(), "config.json"))
            .or_else(|| below(environment.home.as_ref(), ".docker/config.json"))
    }

    fn config_home(&self, name: &str) -> Option<PathBuf> {
        let environment = &self.environment;
        let given = environment.xdg_config_home.clone();
        let directory = given.or_else(|| below(environment.home.as_ref(), ".config"));
        below(directory.as_ref(), name)
    }
}

fn below(directory: Option<&PathBuf>, name: &str) -> Option<PathBuf> {
    let directory = directory.filter(|path| !path.as_os_str().is_empty())?;
    Some(directory.join(Path::new(name)))
}

/// Reads a file of docker or podman.
pub(super) fn read_docker_config(path: &Path) -> Result<Vec<Entry>, Error> {
    let bytes = Zeroizing::new(disk::read_regular(path, LARGEST)?);
    let entries = DockerFile::parse(&bytes).and_then(|file| docker::entries(&file));
    entries.map_err(|error| Error::docker_config(path, &error))
}

/// Reads a CLI configuration, or a token file, which has the same syntax, for its credentials. They do not depend on the client.
pub(super) fn read_for_credentials(path: &Path) -> Result<CliConfig, Error> {
    read_cli_config(path, Client::OpenTofu)
}

/// Reads a CLI configuration as a client does. `/dev/null` is an empty one for clients, and in CI the usual way to have none.
fn read_cli_config(path: &Path, client: Client) -> Result<CliConfig, Error> {
    if path == Path::new("/dev/null") {
        return Ok(CliConfig::default());
    }
    let bytes = Zeroizing::new(disk::read_regular(path, cli::LARGEST as u64)?);
    CliConfig::parse(&bytes, client).map_err(|source| Error::CliConfig {
        path: path.to_owned(),
        source: Arc::new(source),
    })
}
