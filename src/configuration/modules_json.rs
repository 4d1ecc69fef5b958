//! `modules.json`: where the client has put the modules that it installed ([what clients do](crate::clients#installed-modules)).

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::{Error, clean};
use crate::config::module::{ModuleCall, ModuleSource};
use crate::constraint::VersionConstraints;
use crate::disk;
use crate::json::{self, Object};

/// The most bytes of the file. Large ones have some hundred kilobytes.
const LARGEST: u64 = 8 << 20;

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
        let installed = InstalledModule {
            source: module.text("Source")?,
            version: module.text("Version")?,
            directory: root.join(module.text("Dir")?),
        };
        Ok((module.text("Key")?, installed))
    })?;
    Ok(modules.into_iter().collect())
}

impl InstalledModule {
    /// Whether it is probably what the call means, as it is written now: with the same path or `ref`, and a version within the constraints. Clients
    /// record other sources in a form of their own.
    pub(super) fn belongs_to(&self, call: &ModuleCall) -> bool {
        let has_source = match &call.source {
            ModuleSource::Computed(_) => true,
            ModuleSource::Local(written) => clean(written) == clean(&self.source),
            ModuleSource::Elsewhere(written) => query(written) == query(&self.source),
        };
        let has_version = match &call.version {
            Some(Ok(constraints)) => {
                match (
                    constraints.parse::<VersionConstraints>(),
                    self.version.parse(),
                ) {
                    (Ok(constraints), Ok(version)) => constraints.admits(&version),
                    _ => true,
                }
            }
            _ => true,
        };
        has_source && has_version
    }
}

/// What follows the question mark in a source, such as `ref=v1`.
fn query(source: &str) -> &str {
    source.split_once('?').map_or("", |(_, query)| query)
}
