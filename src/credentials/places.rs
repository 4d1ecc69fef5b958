//! Where credentials may be.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use crate::config::Hidden;
use crate::platform::Platform;

/// What the user said, and the environment as far as it counts.
#[derive(Clone, Debug, Default)]
pub struct Places {
    /// `--authfile`: this file, and no other of its kind.
    pub authfile: Option<PathBuf>,
    /// `--cli-config`.
    pub cli_config: Option<PathBuf>,
    /// The environment. The library does not read it by itself.
    pub environment: Environment,
}

/// The variables that count. Empty ones are as if unset.
#[derive(Clone, Debug, Default)]
pub struct Environment {
    /// `HOME`, on Windows `USERPROFILE`.
    pub home: Option<PathBuf>,
    /// `APPDATA`, on Windows.
    pub app_data: Option<PathBuf>,
    /// `XDG_RUNTIME_DIR`.
    pub xdg_runtime_dir: Option<PathBuf>,
    /// `XDG_CONFIG_HOME`.
    pub xdg_config_home: Option<PathBuf>,
    /// `DOCKER_CONFIG`: a directory.
    pub docker_config: Option<PathBuf>,
    /// `REGISTRY_AUTH_FILE`.
    pub registry_auth_file: Option<PathBuf>,
    /// `TF_CLI_CONFIG_FILE`.
    pub tf_cli_config_file: Option<PathBuf>,
    /// `PATH`, where helpers are.
    pub path: Option<OsString>,
    /// `NETRC`.
    pub netrc: Option<PathBuf>,
    /// Every `TF_TOKEN_…`: what follows that in the name, and the token.
    pub tokens: Vec<(String, Hidden)>,
}

/// A file that may be there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Place {
    pub(super) path: PathBuf,
    /// Whether clients look there too.
    pub(super) clients: bool,
}

impl Places {
    /// The CLI configurations in the order in which they are looked for; the first that is there counts. Clients look for
    /// their own before the other's.
    pub fn cli_configs(&self) -> Vec<PathBuf> {
        let environment = &self.environment;
        let named = self.cli_config.as_ref();
        if let Some(path) = named.or(environment.tf_cli_config_file.as_ref()) {
            return vec![path.clone()];
        }
        if cfg!(windows) {
            let places = ["tofu.rc", "terraform.rc"].into_iter();
            return places
                .filter_map(|name| below(environment.app_data.as_ref(), name))
                .collect();
        }
        let home = |name| below(environment.home.as_ref(), name);
        let places = [
            home(".tofurc"),
            home(".terraformrc"),
            self.config_home("opentofu/tofurc"),
        ];
        places.into_iter().flatten().collect()
    }

    /// Where clients keep what is theirs and no configuration, the first that counts before the others: OpenTofu takes the
    /// second where the first is not there.
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

    /// Where `login` of the clients keeps tokens. Whoever names a CLI configuration has that one and no other file.
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

    /// Where clients look for token helpers, and then, as for every other helper, among the programs.
    pub(super) fn token_helpers(&self) -> Vec<PathBuf> {
        let plugins = self.client_directories().into_iter().flat_map(|directory| {
            let plugins = directory.join("plugins");
            let of_platform = plugins.join(Platform::current().to_string());
            [plugins, of_platform]
        });
        let programs = self.environment.path.iter().flat_map(std::env::split_paths);
        plugins.chain(programs).collect()
    }

    /// Where names and passwords of hosts are.
    pub(super) fn netrc(&self) -> Option<PathBuf> {
        let name = if cfg!(windows) { "_netrc" } else { ".netrc" };
        let environment = &self.environment;
        let named = environment.netrc.clone();
        named.or_else(|| below(environment.home.as_ref(), name))
    }

    /// The files of docker and podman in [the order of clients](crate::clients#credential-files), behind those that only
    /// their own tools are told of.
    pub(super) fn files(&self) -> Vec<Place> {
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
        let mut places: Vec<Place> = Vec::new();
        for path in ours.into_iter().flatten().chain(clients.iter().cloned()) {
            if places.iter().all(|place| place.path != path) {
                let clients = clients.contains(&path);
                places.push(Place { path, clients });
            }
        }
        places
    }

    /// The file in which docker and podman would keep credentials, given these places.
    pub(super) fn kept(&self) -> Option<PathBuf> {
        let environment = &self.environment;
        let named = self
            .authfile
            .clone()
            .or(environment.registry_auth_file.clone());
        named
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
