//! `modules.json`: where the client has put the modules that it installed ([what clients do](crate::clients#installed-modules)).

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use serde::de::Error as _;
use url::form_urlencoded;

use super::{Error, clean};
use crate::address::Hostname;
use crate::config::module::{ModuleCall, ModuleSource};
use crate::constraint::VersionConstraints;
use crate::disk;
use crate::json::{self, Object};
use crate::version::Version;

/// The most bytes of the file. Large ones have some hundred kilobytes.
const LARGEST: u64 = 8 << 20;

/// The words that clients add to a source when they record it, besides the host of the default registry, and the port that they leave out.
const ADDED: [&str; 7] = ["file", "gcs", "git", "https", "s3", "ssh", "443"];

/// A module that the client has installed.
#[derive(Debug)]
pub(super) struct InstalledModule {
    source: String,
    version: String,
    /// The directory, which need not exist.
    pub(super) directory: PathBuf,
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
    parse(&bytes, root).map_err(|_| Error::ModulesJson { path })
}

fn parse(bytes: &[u8], root: &Path) -> Result<BTreeMap<String, InstalledModule>, json::Error> {
    let modules = Object::parse(bytes)?.list("Modules", usize::MAX, |module| {
        let mut module = Object::of(module)?;
        let directory = module.text("Dir")?;
        // If another path leads through a link, clients list the files of one directory, and read the files of another.
        if clean(&directory) != directory {
            return Err(serde_json::Error::custom("not the shortest path").into());
        }
        let installed = InstalledModule {
            source: module.text("Source")?,
            version: module.text("Version")?,
            directory: root.join(directory),
        };
        Ok((module.text("Key")?, installed))
    })?;
    Ok(modules.into_iter().collect())
}

impl InstalledModule {
    /// Whether a client would use it for a call, and not download the module again. `registries` are the hosts that registry modules without
    /// host may have. What only the client can compute or compare belongs to the call.
    pub(super) fn belongs_to(&self, call: &ModuleCall, registries: &[Hostname]) -> bool {
        let has_source = match &call.source {
            ModuleSource::Computed(_) => true,
            ModuleSource::Local(written) => clean(written) == clean(&self.source),
            ModuleSource::Elsewhere(written) => {
                words(written, registries) == words(&self.source, registries)
            }
        };
        has_source
            && match &call.version {
                None | Some(Err(_)) => true,
                Some(Ok(constraints)) => self.has_version(constraints),
            }
    }

    /// Compares versions by the rules of clients [for modules](crate::clients#installed-modules), which are not those for providers.
    fn has_version(&self, constraints: &str) -> bool {
        // Both rules differ most about pre-releases and metadata.
        let is_plain = !constraints.contains(['-', '+']) && !self.version.contains(['-', '+']);
        let constraints: Vec<String> = constraints.split(',').map(for_providers).collect();
        let constraints: Result<VersionConstraints, _> = constraints.join(",").parse();
        match (constraints, self.version.parse::<Version>()) {
            (Ok(constraints), Ok(version)) if is_plain => constraints.admits(&version),
            _ => !self.version.is_empty(),
        }
    }
}

/// The words of a source that every way to write it has in common: clients record `github.com/acme/net` as
/// `git::https://github.com/acme/net.git`, and `acme/net/aws` as `registry.opentofu.org/acme/net/aws`.
pub(super) fn words(source: &str, registries: &[Hostname]) -> BTreeSet<String> {
    let source = clean(&source.to_lowercase());
    let parts = form_urlencoded::parse(source.as_bytes());
    let text: String = parts
        .map(|(name, value)| format!("{name} {value} "))
        .collect();
    let hosts: String = registries.iter().map(|host| format!("{host}.")).collect();
    let added: BTreeSet<&str> = hosts.split('.').chain(ADDED).collect();
    let words = text.split(|c: char| !c.is_alphanumeric());
    words
        .filter(|word| !added.contains(word))
        .map(str::to_owned)
        .collect()
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
