//! Searches a directory for other spellings of the path of a package.
//!
//! Clients read the paths below it as addresses, versions and platforms, and normalise them ([clients: filesystem
//! mirrors](crate::clients#filesystem-mirrors)). Of several packages they take the first in the order of the names: `EXAMPLE.com` and `01.0.0`
//! come before the path that tfoci writes. So a package that came with a checkout would run instead of the verified one.

use std::path::{Path, PathBuf};

use super::{
    DirectoryKind, Installer, Problem, ProviderAddr, Version, canonical_file_name, disk, jobs,
};
use crate::address::Hostname;
use crate::source::filesystem_mirror::package_name;

impl Installer<'_> {
    /// Refuses directories that have a package of this version under another spelling, or any package of the provider under another spelling of
    /// its address.
    pub(super) async fn refuse_other_spellings(
        &self,
        provider: &ProviderAddr,
        version: &Version,
    ) -> Result<(), Problem> {
        if self.request.kind == DirectoryKind::Site {
            return Ok(());
        }
        let into = self.request.into.clone();
        let (provider, version) = (provider.clone(), version.clone());
        jobs::in_thread(move || refuse_others(&into, &provider, &version)).await
    }
}

fn refuse_others(into: &Path, provider: &ProviderAddr, version: &Version) -> Result<(), Problem> {
    let refuse = |expected, received| Err(Problem::Spelling { expected, received });
    // A directory that does not exist has none.
    let names = |directory: &Path| {
        let names = disk::if_exists(disk::names(directory));
        names.map(Option::unwrap_or_default)
    };
    let is_same = |namespace: &str, name: &str| {
        let other = ProviderAddr::new(provider.hostname().clone(), namespace, name);
        other.is_ok_and(|other| other == *provider)
    };
    let mut found: Vec<PathBuf> = vec![into.to_owned()];
    for level in 0..3 {
        let is_own = |name: &str| match level {
            0 => name
                .parse()
                .is_ok_and(|host: Hostname| host == *provider.hostname()),
            1 => is_same(name, provider.type_name()),
            _ => is_same(provider.namespace(), name),
        };
        let mut below = Vec::new();
        for above in found {
            for name in names(&above)?.iter().filter(|name| is_own(name)) {
                let path = above.join(name);
                // Clients follow no symbolic link here.
                let is_directory = path.symlink_metadata().is_ok_and(|found| found.is_dir());
                below.extend(is_directory.then_some(path));
            }
        }
        found = below;
    }
    let own = into.join(provider.to_string());
    if let Some(other) = found.into_iter().find(|path| *path != own) {
        return refuse(own, other);
    }
    for name in names(&own)? {
        let meant = match package_name(&name, provider) {
            Some(found) if found.version.version() == version => {
                canonical_file_name(provider, version, &found.platform)
            }
            None if name.parse().is_ok_and(|found: Version| found == *version) => {
                version.to_string()
            }
            _ => continue,
        };
        if name != meant {
            return refuse(own.join(meant), own.join(name));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests;
