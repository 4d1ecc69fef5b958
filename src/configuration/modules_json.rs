//! `modules.json`: where the client has put the modules that it downloaded.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::Error;
use crate::disk;

/// The most bytes of the file. Large ones have some hundred kilobytes.
const LARGEST: u64 = 8 << 20;

/// The content of the file.
#[derive(serde::Deserialize)]
struct InstalledModules {
    #[serde(rename = "Modules", default)]
    modules: Vec<InstalledModule>,
}

#[derive(serde::Deserialize)]
struct InstalledModule {
    #[serde(rename = "Key")]
    key: String,
    #[serde(rename = "Dir")]
    directory: PathBuf,
}

/// The directories of downloaded modules, by the names of the calls that lead to them, such as `network.subnets`.
///
/// # Errors
/// The file cannot be read or parsed. It need not exist.
pub(super) fn read(root: &Path, data: &Path) -> Result<BTreeMap<String, PathBuf>, Error> {
    let path = data.join("modules/modules.json");
    let Some(bytes) = disk::if_exists(disk::read_regular(&path, LARGEST))? else {
        return Ok(BTreeMap::new());
    };
    let installed: InstalledModules =
        serde_json::from_slice(&bytes).map_err(|error| Error::ModulesJson {
            path,
            line: error.line(),
        })?;
    let modules = installed.modules.into_iter();
    Ok(modules
        .map(|module| (module.key, root.join(module.directory)))
        .collect())
}
