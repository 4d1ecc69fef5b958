//! The page for people, and the providers that it lists.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use super::folder;
use super::{Site, documents};
use crate::address::ProviderAddr;
use crate::disk::{self, Directory};
use crate::platform::Platform;
use crate::version::Version;

/// The text by which tfoci recognises its own page, so that it never replaces another one.
pub const GENERATOR: &str = r#"<meta name="generator" content="tfoci site">"#;

/// The file name of the page.
const PAGE: &str = "index.html";

/// The largest page that is read, in bytes: enough for a hundred thousand providers.
const LARGEST: u64 = 64 << 20;

/// Providers with their versions in ascending order, as the page lists them.
pub type Listed = BTreeMap<ProviderAddr, BTreeSet<Version>>;

impl Site<'_> {
    /// The providers in the site. This includes those that earlier runs wrote.
    ///
    /// # Errors
    /// The system reported an error, or an `index.json` is a symbolic link.
    pub fn providers(&self) -> Result<Listed, disk::Error> {
        let mut listed = Listed::new();
        for provider in self.folders()? {
            let versions = match folder::open(&self.request.into, &provider)? {
                Some(directory) => documents::indexed(&directory)?,
                None => None,
            };
            let versions = versions.filter(|versions| !versions.is_empty());
            listed.extend(versions.map(|versions| (provider, versions)));
        }
        Ok(listed)
    }

    /// The platforms of a version in the site, and the size of its largest package in bytes.
    ///
    /// # Errors
    /// As [`Site::providers`].
    pub fn packages(
        &self,
        provider: &ProviderAddr,
        version: &Version,
    ) -> Result<(Vec<Platform>, Option<u64>), disk::Error> {
        let (mut platforms, mut largest) = (Vec::new(), None);
        if let Some(directory) = folder::open(&self.request.into, provider)? {
            for (platform, archive) in documents::listed(&directory, version)? {
                let name = archive.map(|archive| archive.url).unwrap_or_default();
                let file = directory.metadata(&name)?;
                largest = largest.max(file.map(|file| file.len()));
                platforms.extend(platform.parse::<Platform>());
            }
        }
        Ok((platforms, largest))
    }

    /// Writes the page, which has to contain [`GENERATOR`]. All files that it lists have to be written before. Returns whether it did: the page of
    /// another program stays.
    ///
    /// # Errors
    /// The system reported an error, or the page's path is a symbolic link.
    pub fn write_page(&self, html: &str) -> Result<bool, disk::Error> {
        let root = &self.request.into;
        let directory = open(root)?;
        let old = folder::read(&directory, PAGE, LARGEST)?;
        let exists = folder::has_file(&directory, PAGE)?;
        let is_own = old.is_some_and(|old| String::from_utf8_lossy(&old).contains(GENERATOR));
        if exists && !is_own {
            return Ok(false);
        }
        folder::write(root, &directory, PAGE, html.as_bytes())?;
        Ok(true)
    }

    /// The providers that have a directory, sorted. Entries that are not directories, or have other names, are ignored.
    pub(super) fn folders(&self) -> Result<Vec<ProviderAddr>, disk::Error> {
        let mut found = Vec::new();
        if let Some(root) = disk::if_exists(open(&self.request.into))? {
            find(&root, "", &mut found)?;
        }
        found.sort();
        Ok(found)
    }
}

/// Adds the providers below a directory with this path in the site, which ends with a slash. Only one directory of each level is open at a time,
/// because the number of open files is limited.
fn find(at: &Directory, path: &str, found: &mut Vec<ProviderAddr>) -> Result<(), disk::Error> {
    let names = at.names()?;
    for name in names.iter().filter(|name| !name.starts_with('.')) {
        let Ok(below) = at.enter(name) else {
            continue;
        };
        let path = format!("{path}{name}");
        if path.matches('/').count() < 2 {
            find(&below, &format!("{path}/"), found)?;
        } else {
            let provider = ProviderAddr::from_ascii(&path).ok();
            found.extend(provider.filter(|provider| provider.to_ascii() == path));
        }
    }
    Ok(())
}

fn open(path: &Path) -> Result<Directory, disk::Error> {
    Directory::open(path).map_err(|error| disk::Error::at_use(path, error))
}
