//! What provider registries and mirrors answer, as JSON (contract 5 and 6).
//!
//! Unknown fields are passed over, and `null` is as good as nothing, as clients have it.

use std::collections::BTreeMap;

use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;

/// A service discovery document (contract 5.1): what kinds of services a host has, and where.
pub(super) type Services = BTreeMap<String, serde_json::Value>;

/// `GET NAMESPACE/TYPE/versions` (contract 5.3).
#[derive(Debug, Deserialize)]
pub(super) struct VersionList {
    #[serde(default, deserialize_with = "or_nothing")]
    pub(super) versions: Vec<ListedVersion>,
    #[serde(default, deserialize_with = "or_nothing")]
    pub(super) warnings: Vec<String>,
}

/// One version of a list.
#[derive(Debug, Deserialize)]
pub(super) struct ListedVersion {
    pub(super) version: String,
    /// Whatever stands there: clients do not look at it.
    #[serde(default)]
    pub(super) platforms: Option<Box<RawValue>>,
}

/// One platform of a listed version.
#[derive(Debug, Deserialize)]
pub(super) struct ListedPlatform {
    pub(super) os: String,
    pub(super) arch: String,
}

/// `GET NAMESPACE/TYPE/VERSION/download/OS/ARCH` (contract 5.4).
#[derive(Debug, Deserialize)]
pub(super) struct Download {
    #[serde(default, deserialize_with = "or_nothing")]
    pub(super) protocols: Vec<String>,
    pub(super) os: String,
    pub(super) arch: String,
    pub(super) filename: String,
    pub(super) download_url: String,
    pub(super) shasum: String,
    #[serde(default, deserialize_with = "or_nothing")]
    pub(super) shasums_url: String,
    #[serde(default, deserialize_with = "or_nothing")]
    pub(super) shasums_signature_url: String,
    #[serde(default, deserialize_with = "or_nothing")]
    pub(super) signing_keys: SigningKeys,
    #[serde(default, deserialize_with = "or_nothing")]
    pub(super) packages: BTreeMap<String, ListedPackage>,
}

/// The keys of a download answer.
#[derive(Debug, Default, Deserialize)]
pub(super) struct SigningKeys {
    #[serde(default, deserialize_with = "or_nothing")]
    pub(super) gpg_public_keys: Vec<Option<PublicKey>>,
}

/// One key. Only its armour counts; what is said about it may be wrong.
#[derive(Debug, Deserialize)]
pub(super) struct PublicKey {
    #[serde(default, deserialize_with = "or_nothing")]
    pub(super) ascii_armor: String,
}

/// What a download answer says about a package of any platform.
#[derive(Debug, Deserialize)]
pub(super) struct ListedPackage {
    #[serde(default, deserialize_with = "or_nothing")]
    pub(super) hashes: Vec<String>,
    #[serde(default, deserialize_with = "or_nothing")]
    pub(super) package_size: u64,
}

/// `index.json` of a network mirror (contract 6.2): what a version has is not looked at.
#[derive(Debug, Deserialize)]
pub(super) struct MirrorIndex {
    #[serde(default, deserialize_with = "or_nothing")]
    pub(super) versions: BTreeMap<String, serde::de::IgnoredAny>,
}

/// `VERSION.json` of a network mirror (contract 6.2).
#[derive(Debug, Deserialize)]
pub(super) struct Archives {
    #[serde(default, deserialize_with = "or_nothing")]
    pub(super) archives: BTreeMap<String, Option<Archive>>,
}

/// One package of a network mirror.
#[derive(Debug, Deserialize)]
pub(super) struct Archive {
    pub(super) url: String,
    #[serde(default, deserialize_with = "or_nothing")]
    pub(super) hashes: Vec<String>,
}

/// Reads `null` as the absence of a value.
fn or_nothing<'de, D: Deserializer<'de>, T: Deserialize<'de> + Default>(
    deserializer: D,
) -> Result<T, D::Error> {
    Ok(Option::deserialize(deserializer)?.unwrap_or_default())
}
