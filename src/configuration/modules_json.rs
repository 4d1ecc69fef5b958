//! `modules.json`: where the client has put the modules that it downloaded.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::Error;
use super::error::Mistake;
use super::recorded_source::{clean, recorded};
use crate::address::Hostname;
use crate::config::module::{ModuleCall, ModuleSource};
use crate::constraint::VersionConstraints;
use crate::disk;
use crate::syntax::{Section, Value};
use crate::version::Version;

/// The most bytes of the file. Large ones have some hundred kilobytes.
const LARGEST: u64 = 8 << 20;

/// The members of an entry.
const MEMBERS: [&str; 4] = ["Key", "Source", "Version", "Dir"];

/// A module that the client has installed.
#[derive(Debug)]
pub(super) struct InstalledModule {
    source: String,
    version: Option<String>,
    /// The directory, which need not exist.
    pub(super) directory: PathBuf,
}

/// Whether a client would use an installed module for a call, and not download the module again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Belongs {
    Yes,
    No,
    /// Not without evaluating expressions, or knowing all forms of addresses.
    Unknown,
}

/// The installed modules, by the names of the calls that lead to them, such as `network.subnets`.
///
/// # Errors
/// The file cannot be read or parsed. It need not exist.
pub(super) fn read(root: &Path, data: &Path) -> Result<BTreeMap<String, InstalledModule>, Error> {
    let path = data.join("modules/modules.json");
    let Some(bytes) = disk::if_exists(disk::read_regular(&path, LARGEST))? else {
        return Ok(BTreeMap::new());
    };
    let document: Value = match serde_json::from_slice(&bytes) {
        Ok(document) => document,
        Err(error) => {
            let line = error.line();
            return Err(Error::ModulesJson { path, line });
        }
    };
    parse(&document, root).map_err(|mistake| Error::ModulesJsonContent { path, mistake })
}

fn parse(document: &Value, root: &Path) -> Result<BTreeMap<String, InstalledModule>, Mistake> {
    let Value::Section(document) = document else {
        return Err(Mistake::Shape);
    };
    refuse_ambiguous(document, &["Modules"])?;
    let modules = match document.value("Modules") {
        None => return Ok(BTreeMap::new()),
        Some(Value::List(modules)) => modules,
        Some(_) => return Err(Mistake::Shape),
    };
    let mut installed = BTreeMap::new();
    for module in modules {
        let Value::Section(module) = module else {
            return Err(Mistake::Shape);
        };
        refuse_ambiguous(module, &MEMBERS)?;
        let text = |name| match module.value(name) {
            None => Ok(None),
            Some(Value::Text(text)) => Ok(Some(text.clone())),
            Some(_) => Err(Mistake::Shape),
        };
        let key = text("Key")?.ok_or(Mistake::Shape)?;
        let directory = text("Dir")?.ok_or(Mistake::Shape)?;
        // If such a path leads through a link, clients list the files of one directory, and read those of another.
        if clean(&directory) != directory {
            return Err(Mistake::Directory { directory, key });
        }
        let entry = InstalledModule {
            source: text("Source")?.unwrap_or_default(),
            version: text("Version")?.filter(|version| !version.is_empty()),
            directory: root.join(directory),
        };
        if installed.insert(key.clone(), entry).is_some() {
            return Err(Mistake::Entries { key });
        }
    }
    Ok(installed)
}

/// Refuses members that Go's JSON decoder takes for one of these names, and names that occur twice.
fn refuse_ambiguous(object: &Section, names: &[&'static str]) -> Result<(), Mistake> {
    // In both directions, since the Kelvin sign and the long s have one case only.
    let folded = |name: &str| name.to_uppercase().to_lowercase();
    for (received, _) in object.members() {
        let is_same = |expected: &&&str| folded(expected) == folded(received);
        if let Some(expected) = names.iter().find(is_same).filter(|one| **one != received) {
            let received = received.to_owned();
            return Err(Mistake::Member { expected, received });
        }
    }
    for name in names {
        let named = object.members().filter(|(received, _)| received == name);
        if named.count() > 1 {
            return Err(Mistake::Twice { name });
        }
    }
    Ok(())
}

impl InstalledModule {
    /// Whether it belongs to a call. `registries` are the hosts that registry modules without host may have.
    pub(super) fn belongs_to(&self, call: &ModuleCall, registries: &[Hostname]) -> Belongs {
        match self.has_source(&call.source, registries) {
            Belongs::No => Belongs::No,
            source => match (self.has_version(call.version.as_ref()), source) {
                (Belongs::Yes, source) => source,
                (version, _) => version,
            },
        }
    }

    fn has_source(&self, source: &ModuleSource, registries: &[Hostname]) -> Belongs {
        let (ModuleSource::Local(written) | ModuleSource::Elsewhere(written)) = source else {
            return Belongs::Unknown;
        };
        if *written == self.source {
            return Belongs::Yes;
        }
        let mut result = Belongs::Unknown;
        for registry in registries {
            let Some(expected) = recorded(written, registry) else {
                continue;
            };
            // Clients normalise what they read from the file too.
            let received = recorded(&self.source, registry);
            if received.as_ref().unwrap_or(&self.source) == &expected {
                return Belongs::Yes;
            }
            result = Belongs::No;
        }
        result
    }

    /// Compares versions by the rules of clients [for modules](crate::clients#installed-modules), which are not those for providers.
    fn has_version(&self, constraints: Option<&Result<String, String>>) -> Belongs {
        let (constraints, version) = match (constraints, &self.version) {
            (None, _) => return Belongs::Yes,
            (Some(_), None) => return Belongs::No,
            (Some(Err(_)), _) => return Belongs::Unknown,
            (Some(Ok(constraints)), Some(version)) => (constraints, version),
        };
        // Both rules differ most about pre-releases and metadata.
        let is_plain = !constraints.contains(['-', '+']) && !version.contains(['-', '+']);
        let constraints: Vec<String> = constraints.split(',').map(for_providers).collect();
        let constraints: Result<VersionConstraints, _> = constraints.join(",").parse();
        let version: Result<Version, _> = version.parse();
        match (constraints, version) {
            (Ok(constraints), Ok(version)) if is_plain && !version.is_unspecified() => {
                match constraints.admits(&version) {
                    true => Belongs::Yes,
                    false => Belongs::No,
                }
            }
            _ => Belongs::Unknown,
        }
    }
}

/// A comparison of module versions, in the form that it has for providers.
fn for_providers(comparison: &str) -> String {
    let comparison = comparison.trim();
    let version = comparison.trim_start_matches(['=', '!', '<', '>', '~']);
    let operator = comparison.strip_suffix(version).unwrap_or_default();
    let version = version.trim_start();
    let version = version.strip_prefix('v').unwrap_or(version);
    // The last number may grow, and here it is the only one.
    let operator = match operator {
        "~>" if !version.contains('.') => ">=",
        operator => operator,
    };
    format!("{operator} {version}").trim_start().to_owned()
}
