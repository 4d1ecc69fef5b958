//! The provider manifest of a release, which says with which plugin protocols its provider speaks.
//!
//! Release processes such as goreleaser list it in the checksum document as `terraform-provider-TYPE_VERSION_manifest.json` and upload it under
//! that name. In the folder it is often missing: it lies in the directory of the sources, as `terraform-registry-manifest.json`.

use std::path::Path;

use serde::de::Error as _;

use super::Error;
use crate::authentication::Note;
use crate::digest::Digest;
use crate::disk;
use crate::json::{self, Object};
use crate::release::{Document, Protocols};
use crate::trust::Checksums;

/// The largest provider manifest that is read, in bytes. It lists a few protocol versions.
pub(super) const LARGEST: u64 = 64 << 10;
/// The name of the provider manifest in the sources of a provider.
const SOURCE_NAME: &str = "terraform-registry-manifest.json";

/// The plugin protocols of a release. `manifest` is the provider manifest in the folder, and `listed` the name that the checksum document has for it.
pub(super) fn protocols(
    manifest: Option<Document>,
    folder: &Path,
    listed: Option<&str>,
    lines: &Checksums,
) -> Result<(Protocols, Vec<Note>), Error> {
    match (manifest, listed) {
        (Some(manifest), _) => checked(&manifest, lines),
        // A release process may leave the provider manifest of the sources beside the zips, under the name that it has there.
        (None, None) => match disk::read_regular(&folder.join(SOURCE_NAME), LARGEST) {
            Ok(bytes) => checked(&Document::new(SOURCE_NAME, bytes), lines),
            Err(_) => Ok(Default::default()),
        },
        (None, Some(name)) => match in_sources(folder, name, lines) {
            Some(manifest) => checked(&manifest, lines),
            None => Ok((Protocols::default(), vec![Note::MissingProviderManifest])),
        },
    }
}

/// The provider manifest in the folder or in the one above it, if it is the one that the checksum document lists.
fn in_sources(folder: &Path, name: &str, lines: &Checksums) -> Option<Document> {
    let above = folder.parent().unwrap_or(Path::new(""));
    [folder, above].into_iter().find_map(|directory| {
        let bytes = disk::read_regular(&directory.join(SOURCE_NAME), LARGEST).ok()?;
        let is_listed = lines.lookup(name) == Some(Digest::of(&bytes));
        is_listed.then(|| Document::new(name, bytes))
    })
}

/// Parses the provider manifest that provider registries read: its format version, and the plugin protocol versions.
fn read(document: &[u8]) -> Result<Protocols, json::Error> {
    let mut object = Object::parse(document)?;
    let version: u64 = object.required("version")?;
    let named = object.object("metadata", |mut metadata| {
        let named: Vec<String> = metadata.required("protocol_versions")?;
        Ok(named)
    })?;
    let named = named.ok_or_else(|| serde_json::Error::missing_field("metadata"))?;
    if version != 1 {
        let other = format!("the format is not version 1 but {version}");
        return Err(serde_json::Error::custom(other).into());
    }
    let protocols = Protocols::parse(named.iter().map(String::as_str));
    Ok(protocols.map_err(serde_json::Error::custom)?)
}

/// Reads a provider manifest, and compares it with the checksum document.
fn checked(document: &Document, lines: &Checksums) -> Result<(Protocols, Vec<Note>), Error> {
    let received = Digest::of(&document.bytes);
    let notes = match lines.lookup(&document.name) {
        Some(expected) if expected == received => Vec::new(),
        Some(expected) => {
            return Err(Error::ProviderManifestAltered {
                file: document.name.clone(),
                expected,
                received,
            });
        }
        None => vec![Note::UnlistedProviderManifest],
    };
    let protocols = read(&document.bytes).map_err(|source| Error::ProviderManifest {
        file: document.name.clone(),
        source,
    })?;
    Ok((protocols, notes))
}
