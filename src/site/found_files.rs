//! Finishes a provider of a site: writes the list of its versions, and deletes what the store no longer has.

use std::collections::{BTreeMap, BTreeSet};

use super::documents::{self, INDEX, SiteFile};
use super::folder::{self, ProviderFolder};
use crate::address::ProviderAddr;
use crate::disk::{self, Directory};
use crate::protocol::network_mirror::Archive;
use crate::version::Version;

/// The files in the directory of a provider.
#[derive(Default)]
struct FoundFiles {
    /// The versions with a document, and their packages.
    listed: BTreeMap<Version, BTreeMap<String, Option<Archive>>>,
    /// The names of the documents and packages of each version. A document comes before its packages.
    names: BTreeMap<Version, Vec<String>>,
}

impl FoundFiles {
    fn read(directory: &Directory, type_name: &str) -> Result<Self, disk::Error> {
        let mut found = Self::default();
        let names = directory.names();
        let names = names.map_err(|error| disk::Error::at_use(directory.path(), error))?;
        for name in names {
            match SiteFile::of(&name, type_name) {
                None => continue,
                Some(SiteFile::Document(version)) => {
                    if let Some(listed) = documents::listed(directory, &version)? {
                        found.listed.insert(version.clone(), listed);
                    }
                    found.names.entry(version).or_default().insert(0, name);
                }
                Some(SiteFile::Package(version)) => {
                    found.names.entry(version).or_default().push(name);
                }
            }
        }
        Ok(found)
    }

    /// Deletes the versions that are not in `stored`, and the packages that no document names.
    fn delete(&self, directory: &Directory, stored: &BTreeSet<Version>) -> Result<(), disk::Error> {
        for (version, names) in &self.names {
            let is_kept = stored.contains(version);
            let archives = self.listed.get(version).filter(|_| is_kept);
            let archives = archives.into_iter().flat_map(BTreeMap::values).flatten();
            let named: BTreeSet<&str> = archives.map(|archive| archive.url.as_str()).collect();
            for name in names {
                let is_document = name.ends_with(".json");
                // A version that failed for another reason than its verification keeps its files.
                let is_left =
                    is_kept && (is_document || named.contains(name.as_str()) || named.is_empty());
                if !is_left {
                    folder::remove(directory, name)?;
                }
            }
        }
        Ok(())
    }
}

/// Writes `index.json` of every version in the directory. If `stored` is given, deletes the other versions, and the packages that no document
/// names. Returns the deleted versions.
///
/// # Errors
/// The system reported an error, or a file is a symbolic link.
pub(super) fn finish(
    folder: &ProviderFolder,
    provider: &ProviderAddr,
    stored: Option<&BTreeSet<Version>>,
    dry_run: bool,
) -> Result<Vec<Version>, disk::Error> {
    let Some(directory) = folder.open()? else {
        return Ok(Vec::new());
    };
    let found = FoundFiles::read(&directory, provider.type_name())?;
    let is_kept = |version: &Version| stored.is_none_or(|stored| stored.contains(version));
    let versions = found.names.keys();
    let deleted: Vec<Version> = versions.filter(|one| !is_kept(one)).cloned().collect();
    if dry_run {
        return Ok(deleted);
    }
    let listed = found.listed.iter();
    let listed = listed.filter(|(version, archives)| is_kept(version) && !archives.is_empty());
    let mut listed = listed.map(|(version, _)| version).peekable();
    if listed.peek().is_some() {
        let bytes = documents::index(listed);
        folder::write(folder.root(), &directory, INDEX, &bytes)?;
    } else if documents::indexed(&directory)?.is_some() {
        folder::remove(&directory, INDEX)?;
    }
    if let Some(stored) = stored {
        found.delete(&directory, stored)?;
    }
    Ok(deleted)
}
