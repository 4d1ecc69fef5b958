//! The network mirror protocol.

use std::collections::BTreeMap;

use serde::Serialize;

use super::{MOST_NOTES, MOST_VERSIONS};
use crate::json::{self, Object};
use crate::oci::MOST_PLATFORMS;

/// `index.json` ([clients: network mirrors](crate::clients#network-mirror-answers)): the versions of a provider.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct VersionIndex {
    /// The versions, as the mirror spells them.
    pub versions: BTreeMap<String, NoMembers>,
}

/// A version in an index. Clients read no member of it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct NoMembers {}

impl VersionIndex {
    /// The index of these versions.
    pub fn of(versions: impl IntoIterator<Item = impl ToString>) -> Self {
        let versions = versions.into_iter();
        let versions = versions.map(|version| (version.to_string(), NoMembers {}));
        let versions = versions.collect();
        Self { versions }
    }

    /// Reads the document.
    ///
    /// # Errors
    /// A member occurs twice or has another type, or the list is too long.
    pub fn read(mut object: Object<'_>) -> Result<Self, json::Error> {
        let versions = object.map("versions", MOST_VERSIONS, |_| Ok(NoMembers {}))?;
        Ok(Self { versions })
    }
}

/// `VERSION.json` ([clients: network mirrors](crate::clients#network-mirror-answers)): the packages of a version.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Archives {
    /// The packages by platform; `None` where the document has `null`.
    pub archives: BTreeMap<String, Option<Archive>>,
    /// Whether the mirror has [`SignedDocuments`] of the version. Clients ignore this member of `tfoci serve`.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub signed: bool,
}

impl Archives {
    /// Reads the document.
    ///
    /// # Errors
    /// A member is missing, occurs twice or has another type, or a list is too long.
    pub fn read(mut object: Object<'_>) -> Result<Self, json::Error> {
        let archives = object.map("archives", MOST_PLATFORMS, |archive| {
            if json::is_null(archive) {
                return Ok(None);
            }
            Archive::read(Object::of(archive)?).map(Some)
        })?;
        let signed = object.value("signed")?.unwrap_or_default();
        Ok(Self { archives, signed })
    }
}

/// One package of a network mirror.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Archive {
    /// The hashes of the zip, such as `h1:…` and `zh:…`.
    pub hashes: Vec<String>,
    /// The URL of the zip, which may be relative.
    pub url: String,
}

impl Archive {
    fn read(mut object: Object<'_>) -> Result<Self, json::Error> {
        Ok(Self {
            url: object.required("url")?,
            hashes: object.texts("hashes", MOST_NOTES)?,
        })
    }
}

/// `VERSION/signed.json` of `tfoci serve`: by what the author signed a version. Clients never ask for it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SignedDocuments {
    /// The checksum document, in base64.
    pub checksums: String,
    /// Its detached signature, in base64.
    pub signature: String,
    /// The certificate of the signature, armoured.
    pub keys: String,
}

impl SignedDocuments {
    /// Reads the document.
    ///
    /// # Errors
    /// A member is missing, occurs twice or has another type.
    pub fn read(mut object: Object<'_>) -> Result<Self, json::Error> {
        Ok(Self {
            checksums: object.required("checksums")?,
            signature: object.required("signature")?,
            keys: object.required("keys")?,
        })
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn documents_are_written_as_they_are_read() {
        let document = json!({ "versions": { "1.0.0": {}, "2.0.0": {} } });
        let text = document.to_string();
        let index = Object::first(text.as_bytes()).and_then(VersionIndex::read);
        assert_eq!(serde_json::to_value(index.unwrap()).unwrap(), document);
        let document = json!({ "archives": {
            "darwin_arm64": null,
            "linux_amd64": { "url": "demo.zip", "hashes": ["h1:abc="] },
        } });
        let text = document.to_string();
        let archives = Object::first(text.as_bytes()).and_then(Archives::read);
        assert_eq!(serde_json::to_value(archives.unwrap()).unwrap(), document);
    }
}
