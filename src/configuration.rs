//! Configurations: a root module, the local modules that it calls, and the providers that they require together.
//!
//! Called modules may be outside the root's directory, such as `../modules/network`. Remote modules are read where `modules.json` says that
//! the client has put them; tfoci downloads none.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Component, Path, PathBuf};

use crate::address::{Hostname, ProviderAddr};
use crate::config::module::{self, Module, ModuleSource, SourceFile, is_configuration};
use crate::constraint::VersionConstraints;
use crate::disk;
use crate::error::{Category, printable_path};
use crate::lockfile::{self, Client};

/// The most modules of one configuration. Large ones have some hundreds.
const MOST_MODULES: usize = 10_000;

/// The most files of one module. Large ones have some hundreds.
const MOST_FILES: usize = 10_000;

/// The most bytes of all files of one module, which are in memory at once. It equals four files of the
/// largest accepted size.
const LARGEST_MODULE: u64 = 16 << 20;

/// The most bytes of `modules.json`. Large ones have some hundred kilobytes.
const LARGEST_MANIFEST: u64 = 8 << 20;

/// The requirements of a configuration.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Requirements {
    /// The providers, with the combined constraints of all modules. A configuration uses one version of each provider.
    pub providers: BTreeMap<ProviderAddr, VersionConstraints>,
    /// The number of modules that were read.
    pub modules: usize,
    /// The sources of remote modules that are not on this disk, as they are written. Their requirements are not known.
    pub not_followed: BTreeSet<String>,
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
        if root.is_file() {
            let path = root.to_owned();
            return Err(Error::File { path });
        }
        let (client, default_host) = match read_as.client {
            Some(client) => (Some(client), None),
            None => {
                let writer = writer_of_lock_file(root)?;
                (writer, writer.map(Client::default_host))
            }
        };
        let default_host = default_host.unwrap_or_else(|| read_as.default_host.clone());
        let installed = installed_modules(root, &root.join(&read_as.data))?;
        let mut not_followed = BTreeSet::new();
        let mut modules = Vec::new();
        let mut seen = BTreeSet::new();
        let mut pending = vec![(root.to_owned(), None, String::new())];
        while let Some((directory, caller, key)) = pending.pop() {
            // Compare canonical paths, so that modules that link to each other do not cause an endless loop.
            if !seen.insert(one_path(&directory, caller)?) {
                continue;
            }
            if seen.len() > MOST_MODULES {
                let (what, limit) = ("modules", MOST_MODULES as u64);
                let directory = root.to_owned();
                return Err(Error::Many {
                    directory,
                    what,
                    limit,
                });
            }
            let module = read_module(&directory, client, &default_host)?;
            for (name, source) in &module.calls {
                let key = match key.is_empty() {
                    true => name.clone(),
                    false => format!("{key}.{name}"),
                };
                let called = match source {
                    ModuleSource::Local(path) => joined(&directory, path),
                    ModuleSource::Elsewhere(source) => match installed.get(&key) {
                        Some(place) => place.clone(),
                        None => {
                            not_followed.insert(source.clone());
                            continue;
                        }
                    },
                };
                pending.push((called, Some(directory.clone()), key));
            }
            modules.push(module);
        }
        Ok(Self {
            providers: module::united(&modules),
            modules: modules.len(),
            not_followed,
        })
    }
}

/// The canonical path, without symbolic links.
fn one_path(directory: &Path, caller: Option<PathBuf>) -> Result<PathBuf, Error> {
    let result = directory.canonicalize();
    let result = result.map_err(|source| disk::Error::at("read", directory, source));
    match (result, caller) {
        (Err(error), Some(caller)) if error.is_not_found() => Err(Error::Missing {
            directory: directory.to_owned(),
            caller,
        }),
        (result, _) => Ok(result?),
    }
}

fn writer_of_lock_file(root: &Path) -> Result<Option<Client>, disk::Error> {
    let path = root.join(lockfile::FILE_NAME);
    let bytes = disk::if_exists(disk::read_regular(&path, lockfile::LARGEST as u64))?;
    Ok(bytes.and_then(|bytes| Client::of_header(&bytes)))
}

/// The modules that the client has downloaded, by the names of the calls that lead to them, such as `network.subnets`.
fn installed_modules(root: &Path, data: &Path) -> Result<BTreeMap<String, PathBuf>, Error> {
    #[derive(serde::Deserialize)]
    struct Manifest {
        #[serde(rename = "Modules", default)]
        modules: Vec<Installed>,
    }
    #[derive(serde::Deserialize)]
    struct Installed {
        #[serde(rename = "Key")]
        key: String,
        #[serde(rename = "Dir")]
        directory: PathBuf,
    }
    let path = data.join("modules/modules.json");
    let Some(bytes) = disk::if_exists(disk::read_regular(&path, LARGEST_MANIFEST))? else {
        return Ok(BTreeMap::new());
    };
    let manifest: Manifest = serde_json::from_slice(&bytes).map_err(|error| Error::Manifest {
        path,
        line: error.line(),
    })?;
    let modules = manifest.modules.into_iter();
    Ok(modules
        .map(|module| (module.key, root.join(module.directory)))
        .collect())
}

fn read_module(
    directory: &Path,
    client: Option<Client>,
    default_host: &Hostname,
) -> Result<Module, Error> {
    let many = |what, limit| Error::Many {
        directory: directory.to_owned(),
        what,
        limit,
    };
    let mut names = disk::names(directory)?;
    // Terraform does not know the endings that only OpenTofu reads.
    let is_read = |name: &str| {
        let is_tofu = name.ends_with(".tofu") || name.ends_with(".tofu.json");
        is_configuration(name) && !(is_tofu && client == Some(Client::Terraform))
    };
    names.retain(|name| is_read(name) && !directory.join(name).is_dir());
    if names.is_empty() {
        let directory = directory.to_owned();
        return Err(Error::Empty { directory });
    }
    if names.len() > MOST_FILES {
        return Err(many("files", MOST_FILES as u64));
    }
    let mut size = 0;
    let mut contents = Vec::new();
    for name in &names {
        let bytes = disk::read_regular(&directory.join(name), module::LARGEST as u64)?;
        size += bytes.len() as u64;
        if size > LARGEST_MODULE {
            return Err(many("bytes", LARGEST_MODULE));
        }
        contents.push(bytes);
    }
    let files = names.iter().zip(&contents);
    let files: Vec<_> = files
        .map(|(name, bytes)| SourceFile { name, bytes })
        .collect();
    Module::read(&files, default_host).map_err(|source| Error::Module {
        directory: directory.to_owned(),
        source: Box::new(source),
    })
}

/// The directory that a module call refers to. Like clients, it resolves `..` in the text of the path, even after a symbolic link.
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

/// A configuration that cannot be read.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs, reason = "the message of a variant names its fields")]
pub enum Error {
    /// A file or directory cannot be read, or the root module does not exist.
    #[error(transparent)]
    Disk(#[from] disk::Error),
    /// The root module is a file.
    #[error("{} is not a configuration\n  expected a directory\n  received a file", printable_path(.path))]
    File { path: PathBuf },
    /// A called module does not exist.
    #[error("a called module is missing\n  expected {}\n  called in {}", printable_path(.directory), printable_path(.caller))]
    Missing {
        /// The directory of the module.
        directory: PathBuf,
        /// The directory of the module that calls it.
        caller: PathBuf,
    },
    /// A directory without configuration files.
    #[error("no configuration is in {}\n  expected files such as main.tf", printable_path(.directory))]
    Empty { directory: PathBuf },
    /// The client's list of downloaded modules is not one.
    #[error("{} cannot be read\n  not valid JSON at line {line}", printable_path(.path))]
    Manifest { path: PathBuf, line: usize },
    /// A limit was exceeded.
    #[error("{} has more than {limit} {what}", printable_path(.directory))]
    Many {
        directory: PathBuf,
        /// The noun for what exceeds the limit, such as `files`.
        what: &'static str,
        /// The largest number that is accepted.
        limit: u64,
    },
    /// A module with invalid configuration, which clients refuse too.
    #[error("the module in {} cannot be read", printable_path(.directory))]
    Module {
        /// The directory of the module.
        directory: PathBuf,
        /// The cause, with file and line.
        source: Box<module::Error>,
    },
}

impl Error {
    /// The category of the error.
    pub fn category(&self) -> Category {
        match self {
            Self::Disk(error) => error.category(),
            Self::File { .. } | Self::Missing { .. } | Self::Empty { .. } => Category::NotFound,
            Self::Many { .. } | Self::Manifest { .. } => Category::Malformed,
            Self::Module { source, .. } => source.category(),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use tempfile::TempDir;

    use super::*;

    fn tree(files: &[(&str, &str)]) -> TempDir {
        let home = TempDir::new().unwrap();
        for (name, text) in files {
            let path = home.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        home
    }

    fn read(root: &Path) -> Result<Requirements, Error> {
        Requirements::read(root, &read_as(None))
    }

    fn read_as(client: Option<Client>) -> ReadAs {
        ReadAs {
            client,
            default_host: Hostname::default_origin(),
            data: ".terraform".into(),
        }
    }

    fn providers(requirements: &Requirements) -> Vec<String> {
        let providers = requirements.providers.iter();
        providers
            .map(|(provider, constraints)| format!("{provider} {constraints}"))
            .collect()
    }

    fn requiring(constraint: &str, calls: &[&str]) -> String {
        let calls = calls.iter().enumerate();
        let calls: String = calls
            .map(|(n, source)| format!("module \"m{n}\" {{ source = \"{source}\" }}\n"))
            .collect();
        format!("terraform {{\n required_providers {{\n a = \"{constraint}\"\n }}\n}}\n{calls}")
    }

    #[test]
    fn modules_of_one_configuration_are_read_once_each() {
        let home = tree(&[
            (
                "root/main.tf",
                &requiring(
                    ">= 1",
                    &["./near", "../beside", "acme/far/aws", "./near/../near"],
                ),
            ),
            (
                "root/near/x.tf",
                &requiring("< 3", &["../../beside/", "../../root"]),
            ),
            ("root/near/x.tf.d/y.tf", "not read"),
            ("root/not-called/x.tf", "nonsense"),
            (
                "beside/x.tofu",
                &requiring("!= 2", &["git::https://example.com/x.git"]),
            ),
            ("beside/x.tf", "nonsense"),
        ]);
        fs::create_dir(home.path().join("beside/directory.tf")).unwrap();
        let requirements = read(&home.path().join("root")).unwrap();
        assert_eq!(
            providers(&requirements),
            ["registry.opentofu.org/hashicorp/a >= 1.0.0, != 2.0.0, < 3.0.0"]
        );
        assert_eq!(requirements.modules, 3);
        let wanted = ["acme/far/aws", "git::https://example.com/x.git"].map(str::to_owned);
        assert_eq!(requirements.not_followed, wanted.into());
    }

    #[test]
    fn links_are_followed_as_clients_do_and_never_forever() {
        let home = tree(&[
            ("root/main.tf", &requiring(">= 1", &["./link"])),
            ("root/other/x.tf", &requiring("< 3", &[])),
            (
                "elsewhere/module/x.tf",
                &requiring("!= 2", &["../other", "./again"]),
            ),
            ("elsewhere/other/x.tf", "nonsense"),
        ]);
        let path = |path: &str| home.path().join(path);
        symlink("../elsewhere/module", path("root/link")).unwrap();
        symlink(".", path("elsewhere/module/again")).unwrap();
        let requirements = read(&path("root")).unwrap();
        assert_eq!(
            providers(&requirements),
            ["registry.opentofu.org/hashicorp/a >= 1.0.0, != 2.0.0, < 3.0.0"]
        );
    }

    #[test]
    fn the_client_that_wrote_the_lock_file_says_which_host_is_meant() {
        let lock = "# This file is maintained automatically by \"terraform init\".\n";
        let home = tree(&[
            ("main.tf", &requiring("1.0.0", &[])),
            (lockfile::FILE_NAME, lock),
        ]);
        assert_eq!(
            providers(&read(home.path()).unwrap()),
            ["registry.terraform.io/hashicorp/a 1.0.0"]
        );
    }

    #[test]
    fn what_cannot_be_read_is_named() {
        let home = tree(&[
            ("missing/main.tf", "module \"m\" { source = \"./gone\" }"),
            ("empty/x.txt", ""),
            ("broken/main.tf", "a = {"),
        ]);
        for (root, message, category) in [
            (
                "missing",
                "a called module is missing\n  expected [HOME]/missing/gone\n  called in [HOME]/missing",
                Category::NotFound,
            ),
            ("nowhere", "cannot read [HOME]/nowhere", Category::NotFound),
            (
                "broken/main.tf",
                "[HOME]/broken/main.tf is not a configuration\n  expected a directory\n  received a file",
                Category::NotFound,
            ),
            (
                "empty",
                "no configuration is in [HOME]/empty\n  expected files such as main.tf",
                Category::NotFound,
            ),
            (
                "broken",
                "the module in [HOME]/broken cannot be read",
                Category::Malformed,
            ),
        ] {
            let error = read(&home.path().join(root)).unwrap_err();
            let said = error.to_string();
            let said = said.replace(home.path().to_str().unwrap(), "[HOME]");
            assert_eq!((&*said, error.category()), (message, category));
        }
    }

    #[test]
    fn a_path_is_joined_by_its_words() {
        for (directory, source, wanted) in [
            ("a/b", "./c", "a/b/c"),
            ("a/b", "../c//d/", "a/c/d"),
            ("a", "../b", "b"),
            ("a", "../", "."),
            (".", "../b", "./../b"),
            ("..", "../b", "../../b"),
        ] {
            assert_eq!(joined(Path::new(directory), source), Path::new(wanted));
        }
    }
}
