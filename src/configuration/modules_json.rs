//! `modules.json`: where the client has put the modules that it downloaded.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::Error;
use crate::disk;

/// The most bytes of the file. Large ones have some hundred kilobytes.
const LARGEST: u64 = 8 << 20;

/// The file.
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

/// The directories of downloaded modules, by the names of the calls that lead to them, such as `network.subnets`.
///
/// # Errors
/// The file cannot be read or parsed. It need not exist.
pub(super) fn read(root: &Path, data: &Path) -> Result<BTreeMap<String, PathBuf>, Error> {
    let path = data.join("modules/modules.json");
    let Some(bytes) = disk::if_exists(disk::read_regular(&path, LARGEST))? else {
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
