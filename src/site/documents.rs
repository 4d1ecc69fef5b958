//! The JSON documents of a site, byte for byte as `tofu providers mirror` writes them ([clients: network mirror
//! answers](crate::clients#network-mirror-answers)).

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use super::folder;
use crate::disk::{self, Directory};
use crate::install::InstalledPackage;
use crate::json::{self, Object};
use crate::protocol::network_mirror::{Archive, Archives, VersionIndex};
use crate::trust::PackageName;
use crate::version::Version;

/// The name of the document that lists the versions.
pub(super) const INDEX: &str = "index.json";

/// The largest document that is read, in bytes: enough for any number of platforms, or for twenty thousand versions.
const LARGEST: u64 = 1 << 20;

/// The version of the document or package with this name: `VERSION.json`, or `terraform-provider-TYPE_VERSION_OS_ARCH.zip`. `None` if a site
/// writes no such file.
pub(super) fn version_of(name: &str, type_name: &str) -> Option<Version> {
    match name.strip_suffix(".json") {
        Some(version) => Version::canonical(version),
        None => {
            let package = PackageName::canonical(name, type_name)?;
            Some(package.version.version().clone())
        }
    }
}

/// The name of a version's document.
pub(super) fn document_name(version: &Version) -> String {
    format!("{version}.json")
}

/// `index.json` of these versions.
pub(super) fn index<'a>(versions: impl IntoIterator<Item = &'a Version>) -> Vec<u8> {
    written(&VersionIndex::of(versions))
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
    written(&Archives {
        archives,
        signed: false,
    })
}

/// The packages that the site has and that the document of a version names; none if the site has no valid document.
///
/// # Errors
/// The system reported an error, or a file is a symbolic link.
pub(super) fn listed(
    directory: &Directory,
    version: &Version,
) -> Result<BTreeMap<String, Option<Archive>>, disk::Error> {
    let document = read(directory, &document_name(version), Archives::read)?;
    let mut present = BTreeMap::new();
    for (platform, archive) in document.unwrap_or_default().archives {
        // The documents of a site name only zips in the same directory.
        if let Some(archive) = archive.filter(|archive| is_file_name(&archive.url))
            && folder::has_file(directory, &archive.url)?
        {
            present.insert(platform, Some(archive));
        }
    }
    Ok(present)
}

fn is_file_name(name: &str) -> bool {
    !name.is_empty() && !name.contains(['/', '\\', '\0']) && name != "." && name != ".."
}

/// The versions that `index.json` lists; `None` if it is missing or invalid.
///
/// # Errors
/// The system reported an error, or the file is a symbolic link.
pub(super) fn indexed(directory: &Directory) -> Result<Option<BTreeSet<Version>>, disk::Error> {
    let index = read(directory, INDEX, VersionIndex::read)?;
    Ok(index.map(|index| {
        let versions = index.versions.keys();
        let versions = versions.filter_map(|name| Version::canonical(name));
        versions.collect()
    }))
}

fn read<T>(
    directory: &Directory,
    name: &str,
    parse: impl FnOnce(Object<'_>) -> Result<T, json::Error>,
) -> Result<Option<T>, disk::Error> {
    let bytes = folder::read(directory, name, LARGEST)?;
    Ok(bytes.and_then(|bytes| parse(Object::parse(&bytes).ok()?).ok()))
}

/// These documents contain text and numbers only, so writing them cannot fail.
fn written(document: &impl Serialize) -> Vec<u8> {
    serde_json::to_vec_pretty(document).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_own_names_are_files_of_a_site() {
        for (name, version) in [
            ("1.0.0.json", Some("1.0.0")),
            ("2.0.0-rc.1+x.json", Some("2.0.0-rc.1+x")),
            ("1.0.json", None),
            ("index.json", None),
            (".1.0.0.json", None),
            (
                "terraform-provider-demo_1.0.0_linux_amd64.zip",
                Some("1.0.0"),
            ),
            (
                "terraform-provider-demo_1.0.0-a+b_linux_amd64.zip",
                Some("1.0.0-a+b"),
            ),
            ("terraform-provider-other_1.0.0_linux_amd64.zip", None),
            ("terraform-provider-demo-more_1.0.0_linux_amd64.zip", None),
            ("terraform-provider-demo_1.0_linux_amd64.zip", None),
            ("terraform-provider-demo_1.0.0_linux.zip", None),
            ("terraform-provider-demo_1.0.0_linux_amd64.zip.bak", None),
            ("notes.txt", None),
        ] {
            let version = version.map(|text| text.parse::<Version>().unwrap());
            assert_eq!(version_of(name, "demo"), version, "{name}");
        }
    }
}
