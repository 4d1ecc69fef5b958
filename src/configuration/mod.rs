//! Configurations: a root module, the local modules that it calls, and the providers that they require together.
//!
//! Called modules may be outside the root's directory, such as `../modules/network`. Remote modules are read where `modules.json` says that
//! the client has put them; tfoci downloads none.

mod error;
mod modules_json;
mod recorded_source;
mod walk;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::path::{Component, Path, PathBuf};

use crate::address::{Hostname, ProviderAddr};
use crate::config::module::{self, Module, SourceFile, is_configuration};
use crate::constraint::VersionConstraints;
use crate::disk;
use crate::error::printable_path;
use crate::lockfile::{self, Client};
pub use error::{Error, Mistake};
use walk::{Caller, Walk};

/// The most files of one module. Large ones have some hundreds.
const MOST_FILES: usize = 10_000;

/// The most bytes of all files of one module, which are in memory at once. It equals four files of the
/// largest accepted size.
const LARGEST_MODULE: u64 = 16 << 20;

/// What `required_providers` of the root module and of all modules that it calls demand together.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Requirements {
    /// The providers, with the combined constraints of all modules. A configuration uses one version of each provider.
    pub providers: BTreeMap<ProviderAddr, VersionConstraints>,
    /// Where the configuration states each of them, in the order of the modules.
    pub stated: BTreeMap<ProviderAddr, Vec<StatedAt>>,
    /// The number of modules that were read.
    pub modules: usize,
    /// The sources of remote modules that are not on this disk, or that were downloaded for another source or version than the call has
    /// now, as they are written. Their requirements are not known.
    pub not_followed: BTreeSet<String>,
}

/// Where a file states something, for messages: `versions.tf:7`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Position {
    /// The path of the file.
    pub path: PathBuf,
    /// The line, from 1; `None` in JSON.
    pub line: Option<usize>,
}

/// A statement that requires a provider, for messages: `versions.tf:7 (>= 1.0)`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StatedAt {
    /// Where it is.
    pub position: Position,
    /// The versions that it admits.
    pub constraints: VersionConstraints,
}

impl fmt::Display for Position {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let path = self.path.strip_prefix(".").unwrap_or(&self.path);
        write!(f, "{}", printable_path(path))?;
        match self.line {
            Some(line) => write!(f, ":{line}"),
            None => Ok(()),
        }
    }
}

impl fmt::Display for StatedAt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.position)?;
        match self.constraints.is_any() {
            true => Ok(()),
            false => write!(f, " ({})", self.constraints.as_written()),
        }
    }
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
    /// Whether a downloaded module counts only if it is certain that the client would not download another one instead.
    pub is_strict: bool,
}

impl Requirements {
    /// Reads a configuration from the directory of its root module.
    ///
    /// Addresses without a host have the default host of the client. A directory that is called by several names is read once.
    ///
    /// # Errors
    /// A local module is missing, or a module or `modules.json` cannot be parsed, or `modules.json` misleads about a module.
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
            is_strict: read_as.is_strict,
            found: Self::default(),
            read: BTreeMap::new(),
            size: 0,
        };
        walk.run()
    }

    /// Adds what a module requires.
    fn add(&mut self, module: Module, directory: &Path) {
        self.modules += 1;
        for requirement in module.requirements.values() {
            let statements = requirement.stated.iter().map(|one| StatedAt {
                position: Position {
                    path: directory.join(&one.file),
                    line: one.line,
                },
                constraints: one.constraints.clone(),
            });
            let all = self.stated.entry(requirement.source.clone()).or_default();
            all.extend(statements);
        }
        module.add_to(&mut self.providers);
    }
}

/// The canonical path, without symbolic links.
fn one_path(directory: &Path, caller: Option<&Caller>) -> Result<PathBuf, Error> {
    let result = directory.canonicalize();
    let result = result.map_err(|source| disk::Error::at(disk::Action::Read, directory, source));
    match (result, caller) {
        (Err(error), Some(caller)) if error.is_not_found() => Err(Error::Missing {
            directory: directory.to_owned(),
            address: caller.address.clone(),
            position: caller.position.clone(),
        }),
        (result, _) => Ok(result?),
    }
}

fn writer_of_lock_file(root: &Path) -> Result<Option<Client>, disk::Error> {
    let path = root.join(lockfile::FILE_NAME);
    let bytes = disk::if_exists(disk::read_regular(&path, lockfile::LARGEST as u64))?;
    Ok(bytes.and_then(|bytes| Client::of_header(&bytes)))
}

fn read_module(
    directory: &Path,
    client: Option<Client>,
    default_host: &Hostname,
) -> Result<(Module, u64), Error> {
    let many = |what, limit| Error::Many {
        directory: directory.to_owned(),
        what,
        limit,
    };
    refuse_odd_names(directory)?;
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
    let module = Module::read(&files, client, default_host).map_err(|source| Error::Module {
        directory: directory.to_owned(),
        source: Box::new(source),
    })?;
    Ok((module, size))
}

/// Refuses a file that clients read and whose name is not text.
fn refuse_odd_names(directory: &Path) -> Result<(), Error> {
    let failed = |source| disk::Error::at(disk::Action::Read, directory, source);
    for entry in std::fs::read_dir(directory).map_err(failed)? {
        let name = entry.map_err(failed)?.file_name();
        if name.to_str().is_none() && is_configuration(&name.to_string_lossy()) {
            let path = directory.join(name);
            return Err(Error::FileName { path });
        }
    }
    Ok(())
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

#[cfg(test)]
mod belongs_tests;
#[cfg(test)]
mod installed_tests;
#[cfg(test)]
mod recorded_source_tests;
#[cfg(test)]
mod tests;
