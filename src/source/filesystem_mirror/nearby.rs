//! What a directory is that was named in the place of a filesystem mirror, or as something else.

use std::ffi::OsStr;
use std::fs::DirEntry;
use std::path::{Path, PathBuf};

use crate::address::{Hostname, ProviderAddr};
use crate::platform::Platform;

/// The mirror that is probably meant by a directory below it: the one above a directory that has the name of a host. `None` if the directory
/// itself has directories of hosts.
pub fn mirror_above(directory: &Path) -> Option<PathBuf> {
    let own = entries(directory).any(|entry| is_certainly_host(&entry.file_name()));
    if own || !directory.is_dir() {
        return None;
    }
    // A mirror has three levels above its packages.
    let mut levels = directory.ancestors().take(3);
    let host = levels.find(|path| path.file_name().is_some_and(is_certainly_host))?;
    let above = host.parent()?;
    Some(match above.as_os_str().is_empty() {
        true => PathBuf::from("."),
        false => above.to_owned(),
    })
}

/// Whether a directory has packages of providers where clients expect them in a filesystem mirror.
pub fn is_mirror(directory: &Path) -> bool {
    let hosts = entries(directory).filter(|entry| is_host(&entry.file_name()));
    let namespaces = hosts.flat_map(|host| entries(&host.path()));
    let types = namespaces.flat_map(|namespace| entries(&namespace.path()));
    types.into_iter().any(|found| has_package(&found.path()))
}

/// Whether a directory of a provider has a zip or an unpacked package.
fn has_package(provider: &Path) -> bool {
    entries(provider).any(|entry| {
        let name = entry.file_name();
        let is_zip = name.to_string_lossy().starts_with("terraform-provider-")
            && Path::new(&name).extension() == Some(OsStr::new("zip"));
        is_zip || entries(&entry.path()).any(|inner| is_platform(&inner.file_name()))
    })
}

fn is_platform(name: &OsStr) -> bool {
    let name = name.to_str();
    name.is_some_and(|name| name.contains('_') && name.parse::<Platform>().is_ok())
}

fn is_host(name: &OsStr) -> bool {
    let name = name.to_str();
    name.is_some_and(|name| {
        name.parse::<Hostname>().is_ok() || Hostname::from_path_segment(name).is_ok()
    })
}

/// Whether a name is that of a host, and of no namespace or type: these have no dot.
fn is_certainly_host(name: &OsStr) -> bool {
    let is_provider_part = |name: &str| {
        let address = format!("example.com/{name}/{name}");
        address.parse::<ProviderAddr>().is_ok()
    };
    let name = name.to_str().filter(|name| !is_provider_part(name));
    is_host(name.unwrap_or_default().as_ref()) && name.is_some_and(|name| !is_version(name))
}

/// Below a provider, directories have the names of versions.
fn is_version(name: &str) -> bool {
    name.parse::<crate::version::Version>().is_ok()
}

/// What is in a directory; nothing if it cannot be read.
fn entries(directory: &Path) -> impl Iterator<Item = DirEntry> + use<> {
    let entries = std::fs::read_dir(directory).into_iter().flatten();
    entries.flatten()
}
