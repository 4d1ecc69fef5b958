//! What a directory is that was named in the place of a filesystem mirror, or as something else.
//!
//! The answer is for a hint. Therefore it has to come soon, whatever a stranger put into the directory.

use std::ffi::OsStr;
use std::fs::DirEntry;
use std::path::Path;

use crate::address::{Hostname, ProviderAddr};
use crate::disk;
use crate::platform::Platform;

/// The number of entries that are looked at. A mirror has a package among its first ones.
const MOST_ENTRIES: usize = 1_000;

/// Whether a directory has packages of providers where clients expect them in a filesystem mirror, among the first 1,000 entries.
pub fn is_mirror(directory: &Path) -> bool {
    Search { left: MOST_ENTRIES }.is_mirror(directory)
}

/// The providers that have a directory in a filesystem mirror, with or without packages; none if the mirror does not exist.
///
/// # Errors
/// A directory cannot be read.
pub fn providers(mirror: &Path) -> Result<Vec<ProviderAddr>, disk::Error> {
    let mut found = Vec::new();
    for host in disk::subdirectories(mirror)? {
        let Some(hostname) = hostname(OsStr::new(&host)) else {
            continue;
        };
        for namespace in disk::subdirectories(&mirror.join(&host))? {
            for name in disk::subdirectories(&mirror.join(&host).join(&namespace))? {
                found.extend(ProviderAddr::new(hostname.clone(), &namespace, &name));
            }
        }
    }
    Ok(found)
}

/// A search below a directory.
struct Search {
    /// The number of entries that may still be looked at.
    left: usize,
}

impl Search {
    fn is_mirror(&mut self, directory: &Path) -> bool {
        self.any(directory, |search, host| {
            is_host(&host.file_name()) && search.has_provider(host)
        })
    }

    fn has_provider(&mut self, host: &DirEntry) -> bool {
        self.any_below(host, |search, namespace| {
            search.any_below(namespace, Self::has_package)
        })
    }

    /// Whether the directory of a provider has a zip or an unpacked package.
    fn has_package(&mut self, provider: &DirEntry) -> bool {
        self.any_below(provider, |search, entry| {
            let name = entry.file_name();
            let is_zip = name.to_string_lossy().starts_with("terraform-provider-")
                && Path::new(&name).extension() == Some(OsStr::new("zip"));
            is_zip || search.any_below(entry, |_, inner| is_platform(inner))
        })
    }

    /// As [`Self::any`], below an entry that is a directory and no link. Clients do not follow links above a package either. Links that lead
    /// upwards would have no end.
    fn any_below(
        &mut self,
        entry: &DirEntry,
        is_wanted: impl FnMut(&mut Self, &DirEntry) -> bool,
    ) -> bool {
        let is_directory = entry.file_type().is_ok_and(|kind| kind.is_dir());
        is_directory && self.any(&entry.path(), is_wanted)
    }

    /// Whether an entry of a directory is wanted; none is if the directory cannot be read.
    fn any(
        &mut self,
        directory: &Path,
        mut is_wanted: impl FnMut(&mut Self, &DirEntry) -> bool,
    ) -> bool {
        let entries = std::fs::read_dir(directory).into_iter().flatten();
        for entry in entries.flatten() {
            let Some(left) = self.left.checked_sub(1) else {
                return false;
            };
            self.left = left;
            if is_wanted(self, &entry) {
                return true;
            }
        }
        false
    }
}

/// Whether it is the directory of a platform, or a link to one. The name of a program in such a directory may look like one.
fn is_platform(entry: &DirEntry) -> bool {
    let name = entry.file_name();
    let is_named = name
        .to_str()
        .is_some_and(|name| name.parse::<Platform>().is_ok());
    is_named && entry.path().is_dir()
}

/// Whether it is probably the name of a host. Most hosts have a dot or a port; without that, most directories would be hosts.
fn is_host(name: &OsStr) -> bool {
    name.to_string_lossy().contains(['.', '_', ':']) && hostname(name).is_some()
}

fn hostname(name: &OsStr) -> Option<Hostname> {
    let name = name.to_str()?;
    let written = name.parse().ok();
    written.or_else(|| Hostname::from_path_segment(name).ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with(paths: &[&str]) -> tempfile::TempDir {
        let directory = tempfile::tempdir().unwrap();
        for path in paths {
            std::fs::create_dir_all(directory.path().join(path)).unwrap();
        }
        directory
    }

    #[test]
    fn a_host_has_a_dot_or_a_port() {
        for (path, expected) in [
            ("example.com/acme/demo/1.0.0/linux_amd64", true),
            ("localhost_8443/acme/demo/1.0.0/linux_amd64", true),
            ("home/user/project/1.0.0/linux_amd64", false),
        ] {
            assert_eq!(is_mirror(with(&[path]).path()), expected, "{path}");
        }
    }

    #[cfg(unix)]
    #[test]
    fn links_are_followed_only_to_packages() {
        use std::os::unix::fs::symlink;
        let mirror = with(&["example.com/acme/demo/1.0.0", "package"]);
        let version = mirror.path().join("example.com/acme/demo/1.0.0");
        symlink(mirror.path().join("package"), version.join("linux_amd64")).unwrap();
        assert!(is_mirror(mirror.path()));
        let host = mirror.path().join("example.com");
        let other = tempfile::tempdir().unwrap();
        symlink(&host, other.path().join("example.com")).unwrap();
        assert!(!is_mirror(other.path()));
    }

    #[test]
    fn the_search_ends_after_a_thousand_entries() {
        let far = with(&["example.com/acme/demo/1.0.0/linux_amd64"]);
        let mut search = Search { left: 4 };
        assert!(!search.is_mirror(far.path()));
        assert_eq!(search.left, 0);
        assert!(Search { left: 5 }.is_mirror(far.path()));
    }
}
