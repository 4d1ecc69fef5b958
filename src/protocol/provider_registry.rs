//! The provider registry protocol.

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde::de::Error as _;
use serde::{Deserialize, Serialize, Serializer};
use serde_json::value::RawValue;

use super::{MOST_NOTES, MOST_VERSIONS};
use crate::error::printable;
use crate::json::{self, Fault, Object};
use crate::oci::MOST_PLATFORMS;
use crate::platform::Platform;
use crate::release::Protocols;
use crate::version::Version;

/// The most packages that a list of versions can name: five for each of the most versions, and far more than any real list has.
const MOST_LISTED: usize = 100_000;
/// The most keys that an answer can have. The owner with the most has four.
const MOST_KEYS: usize = 256;

/// `GET NAMESPACE/TYPE/versions` ([clients: version lists](crate::clients#version-lists)).
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct VersionList {
    /// The versions, in the order of the document.
    pub versions: Vec<ListedVersion>,
    /// Messages for users of the provider.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
    /// What is wrong with the bad entries, in the order of the document, safe to print.
    #[serde(skip)]
    pub skipped: Vec<String>,
}

/// A version with its platforms, as the list of versions has it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ListedVersion {
    /// The version, as the origin spells it.
    pub version: String,
    /// The plugin protocol versions, such as `6.0`. They are only written: readers use the package's metadata.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub protocols: Vec<String>,
    /// Its platforms; empty if the origin does not list them.
    #[serde(serialize_with = "platforms")]
    pub platforms: Vec<Platform>,
}

impl VersionList {
    /// Reads the document.
    ///
    /// # Errors
    /// A member is missing, occurs twice or has another type, or a list is too long, or every entry is bad.
    pub fn read(mut object: Object<'_>) -> Result<Self, json::Error> {
        let (mut listed, mut skipped, mut mistake) = (0, Vec::new(), None);
        let versions = object.list("versions", MOST_VERSIONS, |entry| {
            let version = match Object::of(entry).and_then(ListedVersion::read) {
                // Other faults are no mistakes: a member that occurs twice, and lists that are too long.
                Err(error) if matches!(error.fault, Fault::Malformed(_)) => {
                    let version = Object::of(entry).and_then(|mut entry| entry.required("version"));
                    let name: String = version.unwrap_or_else(|_| printable(entry.get()));
                    let error = error.within(&name);
                    skipped.push(error.to_string());
                    mistake.get_or_insert(error);
                    return Ok(None);
                }
                read => read?,
            };
            listed += version.platforms.len();
            if listed > MOST_LISTED {
                return Err(json::Error::too_many("packages", MOST_LISTED));
            }
            Ok(Some(version))
        });
        let versions: Vec<_> = versions?.into_iter().flatten().collect();
        match mistake {
            Some(mistake) if versions.is_empty() => Err(mistake.within("versions")),
            _ => Ok(Self {
                versions,
                warnings: object.texts("warnings", MOST_NOTES)?,
                skipped,
            }),
        }
    }
}

impl ListedVersion {
    fn read(mut object: Object<'_>) -> Result<Self, json::Error> {
        let mut read = Self {
            version: object.required("version")?,
            protocols: Vec::new(),
            platforms: Vec::new(),
        };
        let protocols = object.texts("protocols", MOST_NOTES)?;
        let protocols = Protocols::parse(protocols.iter().map(String::as_str));
        protocols.map_err(serde_json::Error::custom)?;
        let version = read.version.parse::<Version>();
        version.map_err(|_| serde_json::Error::custom("not a version"))?;
        let Some(said) = object.take("platforms")? else {
            return Ok(read);
        };
        if !said.get().starts_with('[') {
            return Ok(read);
        }
        let listed = json::items(said, MOST_PLATFORMS, |entry| {
            read.platforms.extend(platform(entry));
            Ok(())
        });
        listed.map_err(|error| error.within("platforms"))?;
        Ok(read)
    }
}

/// A platform of a listed version.
#[derive(Deserialize, Serialize)]
struct Target<'a> {
    #[serde(borrow)]
    os: Cow<'a, str>,
    #[serde(borrow)]
    arch: Cow<'a, str>,
}

/// Reads a platform of a listed version; `None` if it is invalid. Clients do not read platforms in this list.
fn platform(entry: &RawValue) -> Option<Platform> {
    let Target { os, arch } = serde_json::from_str(entry.get()).ok()?;
    Platform::new(&os, &arch).ok()
}

/// `GET NAMESPACE/TYPE/VERSION/download/OS/ARCH` ([clients: package metadata](crate::clients#package-metadata)).
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct DownloadMetadata {
    /// The plugin protocol versions, such as `6.0`.
    pub protocols: Vec<String>,
    /// As in `GOOS` of Go, such as `linux`.
    pub os: String,
    /// As in `GOARCH` of Go, such as `amd64`.
    pub arch: String,
    /// The name of the zip, by which the checksum document lists it.
    pub filename: String,
    /// The URL of the zip, which may be relative.
    pub download_url: String,
    /// The SHA-256 of the zip, in hex.
    pub shasum: String,
    /// The URL of the checksum document; empty if there is none.
    pub shasums_url: String,
    /// The URL of its signature; empty if there is none.
    pub shasums_signature_url: String,
    /// The keys that may have signed the checksum document.
    #[serde(rename = "signing_keys", serialize_with = "signing_keys")]
    pub keys: Vec<GpgPublicKey>,
    /// The packages of all platforms; empty if the origin does not list them.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub packages: BTreeMap<String, ListedPackage>,
}

impl DownloadMetadata {
    /// Reads the document.
    ///
    /// # Errors
    /// A member is missing, occurs twice or has another type, or a list is too long.
    pub fn read(mut object: Object<'_>) -> Result<Self, json::Error> {
        let keys = object.object("signing_keys", |mut keys| {
            keys.list("gpg_public_keys", MOST_KEYS, |key| {
                GpgPublicKey::read(Object::of(key)?)
            })
        });
        Ok(Self {
            protocols: object.texts("protocols", MOST_NOTES)?,
            os: object.required("os")?,
            arch: object.required("arch")?,
            filename: object.required("filename")?,
            download_url: object.required("download_url")?,
            shasum: object.required("shasum")?,
            shasums_url: object.text("shasums_url")?,
            shasums_signature_url: object.text("shasums_signature_url")?,
            keys: keys?.unwrap_or_default(),
            packages: object.map("packages", MOST_PLATFORMS, |package| {
                ListedPackage::read(Object::of(package)?)
            })?,
        })
    }
}

/// A signing key. Its other members are written for clients that expect them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct GpgPublicKey {
    /// The key id. Origins may give a wrong one, so it is not read.
    pub key_id: String,
    /// The key, ASCII-armoured; empty if the origin gives none.
    pub ascii_armor: String,
    trust_signature: &'static str,
    source: &'static str,
    source_url: &'static str,
}

impl GpgPublicKey {
    /// An armoured key with its id of 16 hex digits.
    pub fn new(key_id: String, ascii_armor: String) -> Self {
        Self {
            key_id,
            ascii_armor,
            ..Self::default()
        }
    }

    fn read(mut key: Object<'_>) -> Result<Self, json::Error> {
        for name in ["key_id", "trust_signature", "source", "source_url"] {
            key.peek(name)?;
        }
        Ok(Self::new(String::new(), key.text("ascii_armor")?))
    }
}

/// The hashes and size of a package of any platform, in the metadata of one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ListedPackage {
    /// Its hashes, such as `zh:…`.
    pub hashes: Vec<String>,
    /// Its size in bytes.
    pub package_size: u64,
}

impl ListedPackage {
    fn read(mut object: Object<'_>) -> Result<Self, json::Error> {
        Ok(Self {
            hashes: object.texts("hashes", MOST_NOTES)?,
            package_size: object.value("package_size")?.unwrap_or_default(),
        })
    }
}

/// Writes platforms as `{"os": …, "arch": …}`.
fn platforms<S: Serializer>(platforms: &[Platform], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(platforms.iter().map(|platform| Target {
        os: platform.os().into(),
        arch: platform.arch().into(),
    }))
}

/// Writes keys as `{"gpg_public_keys": [{"ascii_armor": …}]}`.
fn signing_keys<S: Serializer>(keys: &[GpgPublicKey], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_map([("gpg_public_keys", keys)])
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn read<T>(document: &Value, read: fn(Object<'_>) -> Result<T, json::Error>) -> T {
        let text = document.to_string();
        Object::first(text.as_bytes()).and_then(read).unwrap()
    }

    #[test]
    fn a_version_list_is_written_as_it_is_read() {
        let document = json!({
            "versions": [
                { "version": "1.0.0", "platforms": [{ "os": "linux", "arch": "amd64" }] },
                { "version": "2.0.0-rc.1", "platforms": [] },
            ],
            "warnings": ["moved to acme/other"],
        });
        let list = read(&document, VersionList::read);
        assert_eq!(list.versions.len(), 2);
        assert_eq!(serde_json::to_value(&list).unwrap(), document);
    }

    #[test]
    fn package_metadata_is_written_as_it_is_read() {
        let document = json!({
            "protocols": ["5.0", "6.0"],
            "os": "linux",
            "arch": "amd64",
            "filename": "terraform-provider-demo_1.0.0_linux_amd64.zip",
            "download_url": "https://example.com/files/demo.zip",
            "shasum": "0".repeat(64),
            "shasums_url": "SHA256SUMS",
            "shasums_signature_url": "SHA256SUMS.sig",
            "signing_keys": { "gpg_public_keys": [{
                "key_id": "",
                "ascii_armor": "a key",
                "trust_signature": "",
                "source": "",
                "source_url": "",
            }] },
            "packages": {
                "linux_amd64": { "hashes": [format!("zh:{}", "0".repeat(64))], "package_size": 406 },
            },
        });
        let download = read(&document, DownloadMetadata::read);
        assert_eq!(download.keys[0].ascii_armor, "a key");
        assert_eq!(serde_json::to_value(&download).unwrap(), document);
        // The same without optional members.
        let short = DownloadMetadata {
            keys: Vec::new(),
            packages: BTreeMap::new(),
            ..download
        };
        let written = serde_json::to_value(&short).unwrap();
        assert_eq!(read(&written, DownloadMetadata::read), short);
    }
}
