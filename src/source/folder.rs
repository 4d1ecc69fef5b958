//! Release folders: the files that a provider's release process creates and uploads.
//!
//! ```text
//! terraform-provider-TYPE_VERSION_OS_ARCH.zip       one for each platform
//! terraform-provider-TYPE_VERSION_SHA256SUMS        their checksums
//! terraform-provider-TYPE_VERSION_SHA256SUMS*.sig   detached signatures over these
//! terraform-provider-TYPE_VERSION_manifest.json     plugin protocol versions
//! ```
//!
//! Other files in the folder are ignored. `VERSION` may begin with a `v`, as some release processes write it.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use crate::address::ProviderAddr;
use crate::authentication::Note;
use crate::digest::Digest;
use crate::disk;
use crate::error::{MANY, listed};
use crate::platform::Platform;
use crate::release::{Document, Protocols};
use crate::trust::{Checksums, PackageName, limits};
use crate::version::Version;

mod error;
mod provider_manifest;

pub use error::Error;

/// A folder and the names in it that belong to releases.
#[derive(Debug)]
pub struct Folder {
    directory: PathBuf,
    files: Vec<File>,
}

#[derive(Debug)]
struct File {
    name: String,
    type_name: String,
    version: Version,
    kind: FileKind,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum FileKind {
    Zip(Platform),
    Checksums,
    Signature,
    ProviderManifest,
}

/// A zip of a release folder. Only its name has been read.
#[derive(Clone, Debug)]
pub struct Zip {
    /// The platform in its file name.
    pub platform: Platform,
    /// The file name, as the checksum document lists it.
    pub file_name: String,
    /// The path of the file.
    pub path: PathBuf,
    /// The digest in the checksum document, which has not been verified; `None` if the document does not list the zip.
    pub digest: Option<Digest>,
}

/// The files of one release. The documents were read, the zips were not.
#[derive(Debug)]
pub struct Files {
    /// The version in the names of its files.
    pub version: Version,
    /// The zips, sorted by platform.
    pub zips: Vec<Zip>,
    /// The first zip that the checksum document lists and the folder lacks, if every platform was requested. It is not an error yet,
    /// because the document has not been verified.
    pub missing: Option<String>,
    /// Its `SHA256SUMS`, in which every zip must be listed.
    pub checksums: Document,
    /// The signatures, sorted by name.
    pub signatures: Vec<Document>,
    /// The plugin protocol versions of the provider manifest.
    pub protocols: Protocols,
    /// Irregularities that were accepted.
    pub notes: Vec<Note>,
}

impl Folder {
    /// Lists the files of a folder.
    ///
    /// # Errors
    /// The directory cannot be read.
    pub fn open(directory: &Path) -> Result<Self, Error> {
        let files = disk::names(directory)?
            .into_iter()
            .filter_map(File::parse)
            .collect();
        Ok(Self {
            directory: directory.to_owned(),
            files,
        })
    }

    /// Reads the documents of one release: of the given version, or of the only version in the folder.
    ///
    /// `platforms` selects zips. If it is empty, the release has every zip that the checksum document lists.
    ///
    /// # Errors
    /// The folder has no release of this type, or several versions while none is given; or a document or zip is missing or malformed.
    pub fn release(
        &self,
        provider: &ProviderAddr,
        version: Option<&Version>,
        platforms: &[Platform],
    ) -> Result<Files, Error> {
        let version = self.choose(provider.type_name(), version)?;
        let is_ours =
            |file: &&File| file.type_name == provider.type_name() && file.version == version;
        let files: Vec<&File> = self.files.iter().filter(is_ours).collect();
        let documents = |kind: FileKind, limit| -> Result<Vec<Document>, Error> {
            let found = files.iter().filter(|file| file.kind == kind);
            let read = found.map(|file| {
                let bytes = disk::read_regular(&self.directory.join(&file.name), limit)?;
                Ok(Document::new(&file.name, bytes))
            });
            read.collect()
        };
        let checksums = documents(FileKind::Checksums, limits::CHECKSUMS)?;
        let Some(checksums) = checksums.into_iter().next() else {
            let type_name = provider.type_name();
            let name = format!("terraform-provider-{type_name}_{version}_SHA256SUMS");
            return Err(Error::NoChecksums { name });
        };
        let lines = Checksums::parse(&checksums.bytes).map_err(Error::Checksums)?;
        let names = lines.lines().map(|(name, _)| name.to_owned());
        let listed: Vec<File> = names.filter_map(File::parse).collect();
        let mut listed = listed.iter().filter(is_ours);
        let zips = self.zips(&files, &lines)?;
        let (zips, missing) = match platforms.is_empty() {
            true => {
                let is_missing = |file: &&File| {
                    matches!(file.kind, FileKind::Zip(_))
                        && zips.iter().all(|zip| zip.file_name != file.name)
                };
                let missing = listed.clone().find(is_missing);
                (zips, missing.map(|file| file.name.clone()))
            }
            false => (only(zips, platforms)?, None),
        };
        let manifest = documents(FileKind::ProviderManifest, provider_manifest::LARGEST)?;
        let manifest = manifest.into_iter().next();
        let listed = listed.find(|file| file.kind == FileKind::ProviderManifest);
        let listed = listed.map(|file| &*file.name);
        let (protocols, notes) =
            provider_manifest::protocols(manifest, &self.directory, listed, &lines)?;
        let signatures = documents(FileKind::Signature, limits::SIGNATURE)?;
        if signatures.is_empty() {
            self.refuse_armoured(&checksums.name)?;
        }
        Ok(Files {
            version,
            zips,
            missing,
            checksums,
            signatures,
            protocols,
            notes,
        })
    }

    /// Fails if the only signature of a checksum document is an armoured one, which clients cannot read.
    fn refuse_armoured(&self, checksums: &str) -> Result<(), Error> {
        let name = format!("{checksums}.asc");
        match self.directory.join(&name).is_file() {
            false => Ok(()),
            true => Err(Error::ArmouredSignature {
                name,
                expected: format!("{checksums}.sig"),
            }),
        }
    }

    fn choose(&self, type_name: &str, version: Option<&Version>) -> Result<Version, Error> {
        if self.files.is_empty() {
            return Err(Error::NoZip);
        }
        let types: BTreeSet<&str> = self
            .files
            .iter()
            .map(|file| file.type_name.as_str())
            .collect();
        if !types.contains(type_name) {
            return Err(Error::OtherType {
                asked: type_name.to_owned(),
                found: Vec::from_iter(types).join(", "),
            });
        }
        let versions: BTreeSet<&Version> = self
            .files
            .iter()
            .filter(|file| file.type_name == type_name)
            .map(|file| &file.version)
            .collect();
        match version {
            Some(version) if versions.contains(version) => Ok(version.clone()),
            Some(version) => Err(Error::Absent {
                what: "such version",
                asked: version.to_string(),
                found: listed(&versions, MANY),
            }),
            None => match versions.first() {
                Some(only) if versions.len() == 1 => Ok((*only).clone()),
                _ => Err(Error::SeveralVersions {
                    found: listed(&versions, MANY),
                }),
            },
        }
    }

    fn zips(&self, files: &[&File], lines: &Checksums) -> Result<Vec<Zip>, Error> {
        let mut zips: Vec<Zip> = Vec::new();
        for file in files {
            let FileKind::Zip(platform) = &file.kind else {
                continue;
            };
            if let Some(other) = zips.iter().find(|zip| zip.platform == *platform) {
                let names = (other.file_name.clone(), file.name.clone());
                return Err(Error::SamePlatform {
                    platform: platform.clone(),
                    names,
                });
            }
            zips.push(Zip {
                platform: platform.clone(),
                file_name: file.name.clone(),
                path: self.directory.join(&file.name),
                digest: lines.lookup(&file.name),
            });
        }
        if zips.is_empty() {
            return Err(Error::NoZip);
        }
        zips.sort_by(|a, b| a.platform.cmp(&b.platform));
        Ok(zips)
    }
}

/// Selects the zips for these platforms.
fn only(mut zips: Vec<Zip>, platforms: &[Platform]) -> Result<Vec<Zip>, Error> {
    for platform in platforms {
        if !zips.iter().any(|zip| zip.platform == *platform) {
            return Err(Error::Absent {
                what: "zip for this platform",
                asked: platform.to_string(),
                found: listed(zips.iter().map(|zip| &zip.platform), MANY),
            });
        }
    }
    zips.retain(|zip| platforms.contains(&zip.platform));
    Ok(zips)
}

impl File {
    fn parse(name: String) -> Option<Self> {
        let (type_name, rest) = name.strip_prefix("terraform-provider-")?.split_once('_')?;
        let (version, rest) = rest.split_once('_')?;
        let version = version.strip_prefix('v').unwrap_or(version).parse().ok()?;
        let kind = match rest {
            "SHA256SUMS" => FileKind::Checksums,
            "manifest.json" => FileKind::ProviderManifest,
            _ if rest.starts_with("SHA256SUMS") && rest.ends_with(".sig") => FileKind::Signature,
            _ => FileKind::Zip(PackageName::parse(&name, type_name)?.platform),
        };
        Some(Self {
            type_name: type_name.to_owned(),
            version,
            kind,
            name,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_say_type_version_and_kind() {
        let parse = |name: &str| {
            File::parse(name.to_owned())
                .map(|file| (file.type_name, file.version.to_string(), file.kind))
        };
        let demo = |kind| Some(("demo".to_owned(), "1.0.0".to_owned(), kind));
        assert_eq!(
            parse("terraform-provider-demo_1.0.0_linux_amd64.zip"),
            demo(FileKind::Zip("linux_amd64".parse().unwrap()))
        );
        assert_eq!(
            parse("terraform-provider-demo_v1.0.0_SHA256SUMS"),
            demo(FileKind::Checksums)
        );
        assert_eq!(
            parse("terraform-provider-demo_1.0.0_SHA256SUMS.72D7468F.sig"),
            demo(FileKind::Signature)
        );
        assert_eq!(
            parse("terraform-provider-demo_1.0.0_manifest.json"),
            demo(FileKind::ProviderManifest)
        );
        for other in [
            "artifacts.json",
            "terraform-provider-demo_1.0.0_SHA256SUMS.txt",
            "terraform-provider-demo_x_SHA256SUMS",
            "terraform-provider-demo_1.0.0_linux.zip",
        ] {
            assert_eq!(parse(other), None, "{other}");
        }
    }
}
