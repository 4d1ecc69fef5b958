//! The JSON documents of a site, byte for byte as `tofu providers mirror` writes them ([clients: network mirror
//! answers](crate::clients#network-mirror-answers)).

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use super::folder;
use crate::disk::{self, Directory};
use crate::install::InstalledPackage;
use crate::json::Object;
use crate::protocol::network_mirror::{Archive, Archives, VersionIndex};
use crate::trust::PackageName;
use crate::version::Version;

/// The name of the document that lists the versions.
pub(super) const INDEX: &str = "index.json";

/// The largest document that is read, in bytes: enough for any number of platforms, or for twenty thousand versions.
const LARGEST: u64 = 1 << 20;

/// A file in a provider's directory that a site writes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum SiteFile {
    /// `VERSION.json`
    Document(Version),
    /// `terraform-provider-TYPE_VERSION_OS_ARCH.zip`
    Package(Version),
}

impl SiteFile {
    /// The file with this name; `None` if a site writes no such file.
    pub(super) fn of(name: &str, type_name: &str) -> Option<Self> {
        if let Some(version) = name.strip_suffix(".json") {
            return Version::canonical(version).map(Self::Document);
        }
        let package = PackageName::canonical(name, type_name)?;
        Some(Self::Package(package.version.version().clone()))
    }
}

/// The name of a version's document.
pub(super) fn document_name(version: &Version) -> String {
    format!("{version}.json")
}

/// `index.json` of these versions.
pub(super) fn index<'a>(versions: impl IntoIterator<Item = &'a Version>) -> Vec<u8> {
    json(&VersionIndex::of(versions))
}

/// `VERSION.json` of these packages, and of those that the site has for other platforms.
pub(super) fn archives(
    packages: &[InstalledPackage],
    kept: BTreeMap<String, Option<Archive>>,
) -> Vec<u8> {
    let mut archives = kept;
    for package in packages {
        let name = package.path.file_name().unwrap_or_default();
        let archive = Archive {
            hashes: package.hashes.iter().map(ToString::to_string).collect(),
            url: name.to_string_lossy().into_owned(),
        };
        archives.insert(package.platform.to_string(), Some(archive));
    }
    json(&Archives { archives })
}

/// The packages that the site has and that the document of a version names; `None` if the site has no valid document.
///
/// # Errors
/// The system reported an error, or a file is a symbolic link.
pub(super) fn listed(
    directory: &Directory,
    version: &Version,
) -> Result<Option<BTreeMap<String, Option<Archive>>>, disk::Error> {
    let bytes = folder::read(directory, &document_name(version), LARGEST)?;
    let document = bytes.as_deref().and_then(|bytes| {
        let object = Object::parse(bytes).ok()?;
        Archives::read(object).ok()
    });
    let Some(Archives { mut archives }) = document else {
        return Ok(None);
    };
    let mut absent = BTreeSet::new();
    for (platform, archive) in &archives {
        let name = archive.as_ref().map(|archive| archive.url.as_str());
        // The documents of a site name only zips in the same directory.
        let exists = match name.filter(|name| is_file_name(name)) {
            Some(name) => folder::has_file(directory, name)?,
            None => false,
        };
        if !exists {
            absent.insert(platform.clone());
        }
    }
    archives.retain(|platform, _| !absent.contains(platform));
    Ok(Some(archives))
}

fn is_file_name(name: &str) -> bool {
    !name.is_empty() && !name.contains(['/', '\\', '\0']) && name != "." && name != ".."
}

/// The versions that `index.json` lists; `None` if it is missing or invalid.
///
/// # Errors
/// The system reported an error, or the file is a symbolic link.
pub(super) fn indexed(directory: &Directory) -> Result<Option<Vec<Version>>, disk::Error> {
    let bytes = folder::read(directory, INDEX, LARGEST)?;
    let index = bytes.as_deref().and_then(|bytes| {
        let object = Object::parse(bytes).ok()?;
        VersionIndex::read(object).ok()
    });
    Ok(index.map(|index| {
        let names = index.versions.keys();
        let mut versions: Vec<Version> =
            names.filter_map(|name| Version::canonical(name)).collect();
        versions.sort();
        versions
    }))
}

/// These documents contain text and numbers only, so writing them cannot fail.
fn json(document: &impl Serialize) -> Vec<u8> {
    serde_json::to_vec_pretty(document).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_own_names_are_files_of_a_site() {
        let version = |text: &str| text.parse::<Version>().unwrap();
        let document = |text| Some(SiteFile::Document(version(text)));
        let package = |text| Some(SiteFile::Package(version(text)));
        for (name, file) in [
            ("1.0.0.json", document("1.0.0")),
            ("2.0.0-rc.1+x.json", document("2.0.0-rc.1+x")),
            ("1.0.json", None),
            ("index.json", None),
            (".1.0.0.json", None),
            (
                "terraform-provider-demo_1.0.0_linux_amd64.zip",
                package("1.0.0"),
            ),
            (
                "terraform-provider-demo_1.0.0-a+b_linux_amd64.zip",
                package("1.0.0-a+b"),
            ),
            ("terraform-provider-other_1.0.0_linux_amd64.zip", None),
            ("terraform-provider-demo-more_1.0.0_linux_amd64.zip", None),
            ("terraform-provider-demo_1.0_linux_amd64.zip", None),
            ("terraform-provider-demo_1.0.0_linux.zip", None),
            ("terraform-provider-demo_1.0.0_linux_amd64.zip.bak", None),
            ("notes.txt", None),
        ] {
            assert_eq!(SiteFile::of(name, "demo"), file, "{name}");
        }
    }
}
