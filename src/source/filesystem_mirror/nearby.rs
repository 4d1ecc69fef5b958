//! What a directory is that was named in the place of a filesystem mirror, or as something else.

use std::ffi::OsStr;
use std::fs::DirEntry;
use std::path::{Path, PathBuf};

use crate::address::Hostname;
use crate::platform::Platform;

/// The mirror that is probably meant by a directory below it: the one above a directory that has the name of a host. `None` if the directory
/// is a mirror itself.
pub fn mirror_above(directory: &Path) -> Option<PathBuf> {
    if !directory.is_dir() || is_mirror(directory) {
        return None;
    }
    // A mirror has three levels above its packages.
    let levels = directory.ancestors().take(3);
    let mut above = levels.filter_map(|path| {
        let above = path
            .file_name()
            .filter(|name| is_host(name))
            .and(path.parent())?;
        Some(match above.as_os_str().is_empty() {
            true => PathBuf::from("."),
            false => above.to_owned(),
        })
    });
    above.find(|above| is_mirror(above))
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
        is_zip || entries(&entry.path()).any(|inner| is_platform(&inner))
    })
}

/// Whether it is the directory of a platform. The name of a program in such a directory may look like one.
fn is_platform(entry: &DirEntry) -> bool {
    let name = entry.file_name();
    let is_named = name
        .to_str()
        .is_some_and(|name| name.parse::<Platform>().is_ok());
    is_named && entry.path().is_dir()
}

fn is_host(name: &OsStr) -> bool {
    let name = name.to_str();
    name.is_some_and(|name| {
        name.parse::<Hostname>().is_ok() || Hostname::from_path_segment(name).is_ok()
    })
}

/// What is in a directory; nothing if it cannot be read.
fn entries(directory: &Path) -> impl Iterator<Item = DirEntry> + use<> {
    let entries = std::fs::read_dir(directory).into_iter().flatten();
    entries.flatten()
}
