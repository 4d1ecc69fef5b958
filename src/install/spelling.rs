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
use crate::outcome::spelling::Error;
use crate::source::filesystem_mirror::package_name;

/// The most entries that are looked at for one provider. A mirror of all public providers has fewer in these directories.
const MOST_ENTRIES: usize = 200_000;

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
        let directories = [Some(self.request.into.clone()), self.request.cache.clone()];
        let (provider, version) = (provider.clone(), version.clone());
        jobs::in_thread(move || {
            directories.iter().flatten().try_for_each(|into| {
                let search = Search {
                    into,
                    provider: &provider,
                    left: MOST_ENTRIES,
                };
                search.refuse_others(&version)
            })
        })
        .await
    }
}

/// A search below a directory. It descends only into directories whose names mean the provider.
struct Search<'a> {
    into: &'a Path,
    provider: &'a ProviderAddr,
    /// The number of entries that may still be looked at.
    left: usize,
}

impl Search<'_> {
    fn refuse_others(mut self, version: &Version) -> Result<(), Problem> {
        let refuse = |expected, received| Err(Error::Other { expected, received }.into());
        let own = self.into.join(self.provider.to_string());
        for directory in self.directories()? {
            if directory != own {
                return refuse(own, directory);
            }
        }
        for name in self.names(&own)? {
            let path = own.join(&name);
            let meant = match package_name(&name, self.provider) {
                Some(found) if found.version.version() == version => {
                    canonical_file_name(self.provider, version, &found.platform)
                }
                None if name.parse().is_ok_and(|found: Version| found == *version) => {
                    version.to_string()
                }
                _ => continue,
            };
            if name != meant {
                return refuse(own.join(meant), path);
            }
        }
        Ok(())
    }

    /// The directories that clients take for that of the provider.
    fn directories(&mut self) -> Result<Vec<PathBuf>, Problem> {
        let provider = self.provider;
        let is_same = |namespace: &str, name: &str| {
            ProviderAddr::new(provider.hostname().clone(), namespace, name)
                .is_ok_and(|other| other == *provider)
        };
        let is_host = |text: &str| {
            text.parse::<Hostname>()
                .is_ok_and(|other| other == *provider.hostname())
        };
        let levels: [&dyn Fn(&str) -> bool; 3] = [
            &is_host,
            &|text| is_same(text, provider.type_name()),
            &|text| is_same(provider.namespace(), text),
        ];
        let mut directories = vec![self.into.to_owned()];
        for means in levels {
            let mut below = Vec::new();
            for above in &directories {
                for name in self.names(above)?.iter().filter(|name| means(name)) {
                    let path = above.join(name);
                    // Clients follow no symbolic link here.
                    let is_directory = path.symlink_metadata().is_ok_and(|found| found.is_dir());
                    below.extend(is_directory.then_some(path));
                }
            }
            directories = below;
        }
        Ok(directories)
    }

    /// The names in a directory; none if it does not exist.
    fn names(&mut self, directory: &Path) -> Result<Vec<String>, Problem> {
        let names = disk::if_exists(disk::names_within(directory, &mut self.left))?;
        let names = names.unwrap_or_else(|| Some(Vec::new()));
        names.ok_or_else(|| {
            let (path, limit) = (self.into.to_owned(), MOST_ENTRIES);
            Error::TooManyEntries { path, limit }.into()
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(path: &str, left: usize) -> Option<String> {
        let scene = tempfile::tempdir().unwrap();
        let provider = "bücher.example/acme/demo".parse().unwrap();
        std::fs::create_dir_all(scene.path().join("bücher.example/acme/demo/1.0.0/x")).unwrap();
        std::fs::create_dir_all(scene.path().join(path)).unwrap();
        let (into, provider) = (scene.path(), &provider);
        let search = Search {
            into,
            provider,
            left,
        };
        let found = search.refuse_others(&"1.0.0".parse().unwrap());
        let said = found.err().map(|problem| problem.to_string())?;
        Some(said.replace(&crate::error::printable_path(into), ""))
    }

    #[test]
    fn every_spelling_that_clients_normalise_is_found() {
        for (path, expected) in [
            ("BÜCHER.example/acme/demo", ""),
            ("bücher.example:443/acme/demo", ""),
            ("ｂücher.example/acme/demo", ""),
            ("bücher.example/ACME/demo", ""),
            ("bücher.example/acme/ｄemo", ""),
            ("bücher.example/acme/demo/1.0", "/1.0.0"),
            ("bücher.example/acme/demo/01.0.0", "/1.0.0"),
            (
                "bücher.example/acme/demo/Terraform-Provider-demo_1.0.0_linux_amd64.zip",
                "/terraform-provider-demo_1.0.0_linux_amd64.zip",
            ),
            (
                "bücher.example/acme/demo/terraform-provider-demo_1_linux_amd64_x.zip",
                "/terraform-provider-demo_1.0.0_linux_amd64.zip",
            ),
        ] {
            let paths =
                format!("\n  expected /bücher.example/acme/demo{expected}\n  received /{path}");
            assert!(refused(path, 100).unwrap().ends_with(&paths), "{path}");
        }
    }

    #[test]
    fn other_providers_and_versions_may_be_there() {
        for path in [
            "xn--bcher-kva.example/acme/demo",
            "EXAMPLE.com/acme/demo",
            "bücher.example/ACME/other",
            "bücher.example/acme/demo/1.0.1",
            "bücher.example/acme/demo/terraform-provider-demo_1.0.0_linux_amd64.zip",
        ] {
            assert_eq!(refused(path, 100), None, "{path}");
        }
    }

    #[test]
    fn the_search_ends_after_a_number_of_entries() {
        let path = "bücher.example/acme/demo/1.0.0";
        assert_eq!(refused(path, 4), None);
        assert!(refused(path, 3).unwrap().contains("200000"));
    }
}
