//! Configurations: a root module, the local modules that it calls, and the providers that they require together.
//!
//! Called modules may be outside the root's directory, such as `../modules/network`. Remote modules are read where `modules.json` says that
//! the client has put them; tfoci downloads none.

mod error;
mod modules_json;
mod walk;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Component, Path, PathBuf};

use crate::address::{Hostname, ProviderAddr};
use crate::config::module::{Module, is_configuration, is_test_file};
pub use crate::config::module::{Position, Stated};
use crate::constraint::VersionConstraints;
use crate::disk;
use crate::error::printable_path;
use crate::lockfile::{self, Client};
pub use error::Error;
use walk::{Caller, Walk};

/// The directory below the root module where clients look for test files, too.
const TESTS: &str = "tests";

/// The name of a state on this disk, and in the client's own directory of the record of a backend.
const STATE: &str = "terraform.tfstate";

/// The most providers of a configuration. Large ones have some dozens, and each costs requests.
const MOST_PROVIDERS: usize = 2_000;

/// What the root module, all modules that it calls and its test files demand together: everything but the state from which `init` takes
/// providers ([what clients do](crate::clients#where-init-finds-providers)).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Requirements {
    /// The providers, with the combined constraints of all modules. A configuration uses one version of each provider.
    pub providers: BTreeMap<ProviderAddr, VersionConstraints>,
    /// Where the configuration states each of them, in the order of the modules.
    pub stated: BTreeMap<ProviderAddr, Vec<Stated>>,
    /// The sources of remote modules that are not on this disk, or that were downloaded for another source or version than the call has
    /// now, as they are written. Their requirements are not known.
    pub not_followed: BTreeSet<String>,
    /// The state, which may require more, such as "state in the backend `s3`".
    pub unread_state: Option<String>,
}

/// How to read a configuration.
#[derive(Clone, Debug)]
pub struct ReadAs {
    /// The client to read it as; `None` for the one that wrote the lock file beside it, whose default host then counts.
    pub client: Option<Client>,
    /// The host of addresses without one.
    pub default_host: Hostname,
    /// The directory of the client's own files, relative to that of the root module: `.terraform`, or `TF_DATA_DIR`.
    pub data: PathBuf,
}

impl Requirements {
    /// Reads a configuration from the directory of its root module.
    ///
    /// Addresses without a host have the default host of the client. A directory that is called by several names is read once.
    ///
    /// # Errors
    /// A local module is missing, or a module or `modules.json` cannot be parsed.
    pub fn read(root: &Path, read_as: &ReadAs) -> Result<Self, Error> {
        let (client, default_host) = match read_as.client {
            Some(client) => (Some(client), None),
            None => {
                let writer = writer_of_lock_file(root)?;
                (writer, writer.map(Client::default_host))
            }
        };
        let default_host = default_host.unwrap_or_else(|| read_as.default_host.clone());
        let registries = match client {
            Some(client) => vec![client.default_host()],
            None => vec![Hostname::default_origin(), Hostname::predecessor_origin()],
        };
        let walk = Walk {
            root,
            client,
            default_host: &default_host,
            registries,
            installed: modules_json::read(&followed(root), &root.join(&read_as.data))?,
            found: Self::default(),
            read: BTreeMap::new(),
            size: 0,
        };
        let mut found = walk.run()?;
        if found.unread_state.is_none() {
            found.unread_state = local_state(root, &root.join(&read_as.data));
        }
        Ok(found)
    }

    /// Adds what a module requires.
    fn add(&mut self, module: &Module, directory: &Path) -> Result<(), Error> {
        for requirement in module.requirements.values() {
            for one in &requirement.stated {
                let position = one.position.below(directory);
                let constraints = one.constraints.clone();
                self.require(
                    requirement.source.clone(),
                    Stated {
                        position,
                        constraints,
                    },
                )?;
            }
        }
        Ok(())
    }

    /// Adds a statement. Clients select one version of each provider, which all modules can use.
    fn require(&mut self, provider: ProviderAddr, stated: Stated) -> Result<(), Error> {
        let known = self.providers.entry(provider.clone()).or_default();
        *known = std::mem::take(known).and(stated.constraints.clone());
        if self.providers.len() > MOST_PROVIDERS {
            return Err(Error::Many {
                directory: stated.position.path,
                what: "required providers",
                limit: MOST_PROVIDERS as u64,
            });
        }
        self.stated.entry(provider).or_default().push(stated);
        Ok(())
    }
}

/// The canonical path, without symbolic links.
fn one_path(directory: &Path, caller: Option<&Caller>) -> Result<PathBuf, Error> {
    let result = directory.canonicalize();
    let result = result.map_err(|source| disk::Error::at("read", directory, source));
    match (result, caller) {
        (Err(error), Some(caller)) if error.is_not_found() => Err(Error::Missing {
            directory: directory.to_owned(),
            address: caller.address.clone(),
            position: caller.position.clone(),
        }),
        (result, _) => Ok(result?),
    }
}

/// The state of a root module that names no backend, or that named one when the client set it up.
fn local_state(root: &Path, data: &Path) -> Option<String> {
    let workspaces = root.join("terraform.tfstate.d");
    let mut states = [root.join(STATE), workspaces, data.join(STATE)].into_iter();
    let state = states.find(|path| path.exists())?;
    Some(format!("state {}", printable_path(&state)))
}

fn writer_of_lock_file(root: &Path) -> Result<Option<Client>, disk::Error> {
    let path = root.join(lockfile::FILE_NAME);
    let bytes = disk::if_exists(disk::read_regular(&path, lockfile::LARGEST as u64))?;
    Ok(bytes.and_then(|bytes| Client::of_header(&bytes)))
}

/// The files that clients read, relative to the directory: the files of the module, and the test files of a root module.
fn names(directory: &Path, is_root: bool, client: Option<Client>) -> Result<Vec<String>, Error> {
    // Terraform does not know the endings that only OpenTofu reads.
    let is_unknown = |name: &str| {
        let endings = [".tofu", ".tofu.json", ".tofutest.hcl", ".tofutest.json"];
        client == Some(Client::Terraform) && endings.iter().any(|ending| name.ends_with(ending))
    };
    let mut folders = vec![(String::new(), directory.to_owned())];
    let tests = directory.join(TESTS);
    if is_root && tests.is_dir() {
        folders.push((format!("{TESTS}/"), tests));
    }
    let mut names = Vec::new();
    for (prefix, folder) in folders {
        let failed = |source| disk::Error::at("read", &folder, source);
        for entry in std::fs::read_dir(&folder).map_err(failed)? {
            let file = entry.map_err(failed)?.file_name();
            let (name, path) = (file.to_string_lossy(), folder.join(&file));
            let is_module = prefix.is_empty() && is_configuration(&name);
            let is_read = is_module || is_root && is_test_file(&name);
            if !is_read || is_unknown(&name) || path.is_dir() {
                continue;
            }
            // Clients read it, too.
            if file.to_str().is_none() {
                let invalid = std::io::ErrorKind::InvalidFilename.into();
                return Err(disk::Error::at("read", &path, invalid).into());
            }
            names.push(format!("{prefix}{name}"));
        }
    }
    names.sort_unstable();
    Ok(names)
}

/// A directory without the links that lead to it.
fn followed(directory: &Path) -> PathBuf {
    let is_linked = directory.ancestors().any(Path::is_symlink);
    let canonical = is_linked.then(|| directory.canonicalize().ok()).flatten();
    canonical.unwrap_or_else(|| directory.to_owned())
}

/// The directory that a module call refers to.
fn joined(directory: &Path, source: &str) -> PathBuf {
    let mut path = directory.to_owned();
    for segment in source.split('/') {
        match segment {
            "" | "." => {}
            ".." if matches!(path.components().next_back(), Some(Component::Normal(_))) => {
                path.pop();
            }
            segment => path.push(segment),
        }
    }
    if path.as_os_str().is_empty() {
        path.push(".");
    }
    path
}

/// The shortest equal path, with `/` between its names.
fn clean(path: &str) -> String {
    let root = if path.starts_with('/') { "/" } else { "" };
    let path = joined(Path::new(root), path);
    path.to_string_lossy().into_owned()
}

#[cfg(test)]
mod tests;
