//! What provider registries and mirrors answer, as JSON ([clients: registry protocol](crate::clients#registry-protocol),
//! [network mirrors](crate::clients#network-mirrors)).
//!
//! Unknown members are passed over, and `null` is as good as nothing, as clients have it. A member that clients read is there once.

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde_json::value::RawValue;

use crate::error::printable;
use crate::json::{self, Object};
use crate::oci::MOST_PLATFORMS;
use crate::platform::Platform;

/// The most versions that a list can have.
const MOST_VERSIONS: usize = 20_000;
/// The most packages that a list of versions can name: five for each of the most versions, and far more than any real list has.
const MOST_LISTED: usize = 100_000;
/// The most keys that an answer can have.
const MOST_KEYS: usize = 256;
/// The most hashes of one package, warnings of a list, and protocols of a version.
const MOST_NOTES: usize = 100;

/// A [service discovery](crate::clients#service-discovery) document: what kinds of services a host has, and where. What
/// is no text is kept as it is written.
pub(super) type Services = BTreeMap<String, Result<String, String>>;

/// Reads a service discovery document. The names of services are data: they are what they are, in every letter case.
pub(super) fn services(object: Object<'_>) -> Result<Services, json::Error> {
    let mut all = Services::new();
    for (name, value) in object.into_rest() {
        if name.starts_with("providers.") && all.contains_key(&name) {
            return Err(json::Error::repeated(&name, &name));
        }
        let text = serde_json::from_str(value.get());
        all.insert(name, text.map_err(|_| printable(value.get())));
    }
    Ok(all)
}

/// `GET NAMESPACE/TYPE/versions` ([clients: version lists](crate::clients#version-lists)).
#[derive(Debug)]
pub(super) struct VersionList {
    pub(super) versions: Vec<ListedVersion>,
    pub(super) warnings: Vec<String>,
}

/// One version of a list.
#[derive(Debug)]
pub(super) struct ListedVersion {
    pub(super) version: String,
    pub(super) platforms: Vec<Platform>,
    /// The first of its platforms that is none. Clients do not look at them.
    pub(super) odd: Option<String>,
}

impl VersionList {
    pub(super) fn read(mut object: Object<'_>) -> Result<Self, json::Error> {
        let mut listed = 0;
        let versions = object.list("versions", MOST_VERSIONS, |version| {
            let version = ListedVersion::read(Object::of(version)?)?;
            listed += version.platforms.len();
            if listed > MOST_LISTED {
                return Err(json::Error::too_many("packages", MOST_LISTED));
            }
            Ok(version)
        });
        Ok(Self {
            versions: versions?,
            warnings: object.texts("warnings", MOST_NOTES)?,
        })
    }
}

impl ListedVersion {
    fn read(mut object: Object<'_>) -> Result<Self, json::Error> {
        object.peek("protocols")?;
        let mut read = Self {
            version: object.required("version")?,
            platforms: Vec::new(),
            odd: None,
        };
        let Some(said) = object.take("platforms")? else {
            return Ok(read);
        };
        if !said.get().starts_with('[') {
            read.odd = Some(printable(said.get()));
            return Ok(read);
        }
        let listed = json::items(said, MOST_PLATFORMS, |entry| {
            match platform(entry)? {
                Some(platform) => read.platforms.push(platform),
                None if read.odd.is_none() => read.odd = Some(printable(entry.get())),
                None => {}
            }
            Ok(())
        });
        listed.map_err(|error| error.within("platforms"))?;
        Ok(read)
    }
}

/// Reads a platform of a listed version; `None` if it is none.
fn platform(entry: &RawValue) -> Result<Option<Platform>, json::Error> {
    if !entry.get().starts_with('{') {
        return Ok(None);
    }
    let mut object = Object::of(entry)?;
    let mut half = |name| {
        let value = object.take(name)?;
        let text = value.and_then(|value| serde_json::from_str::<Cow<'_, str>>(value.get()).ok());
        Ok::<_, json::Error>(text)
    };
    let (Some(os), Some(arch)) = (half("os")?, half("arch")?) else {
        return Ok(None);
    };
    Ok(Platform::new(&os, &arch).ok())
}

/// `GET NAMESPACE/TYPE/VERSION/download/OS/ARCH` ([clients: package metadata](crate::clients#package-metadata)).
#[derive(Debug)]
pub(super) struct Download {
    pub(super) protocols: Vec<String>,
    pub(super) os: String,
    pub(super) arch: String,
    pub(super) filename: String,
    pub(super) download_url: String,
    pub(super) shasum: String,
    pub(super) shasums_url: String,
    pub(super) shasums_signature_url: String,
    /// The armour of each key. What else is said about it may be wrong.
    pub(super) keys: Vec<String>,
    pub(super) packages: BTreeMap<String, ListedPackage>,
}

impl Download {
    pub(super) fn read(mut object: Object<'_>) -> Result<Self, json::Error> {
        let keys = object.object("signing_keys", |mut keys| {
            keys.list("gpg_public_keys", MOST_KEYS, |key| armour(Object::of(key)?))
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

/// The armour of a key, empty if it has none.
fn armour(mut key: Object<'_>) -> Result<String, json::Error> {
    for name in ["key_id", "trust_signature", "source", "source_url"] {
        key.peek(name)?;
    }
    key.text("ascii_armor")
}

/// What a download answer says about a package of any platform.
#[derive(Debug)]
pub(super) struct ListedPackage {
    pub(super) hashes: Vec<String>,
    pub(super) package_size: u64,
}

impl ListedPackage {
    fn read(mut object: Object<'_>) -> Result<Self, json::Error> {
        Ok(Self {
            hashes: object.texts("hashes", MOST_NOTES)?,
            package_size: object.value("package_size")?.unwrap_or_default(),
        })
    }
}

/// `index.json` of a [network mirror](crate::clients#network-mirror-answers): the names of its versions. What a version
/// has is not looked at.
pub(super) fn mirrored(mut object: Object<'_>) -> Result<Vec<String>, json::Error> {
    let versions = object.map("versions", MOST_VERSIONS, |_| Ok(()))?;
    Ok(versions.into_keys().collect())
}

/// `VERSION.json` of a [network mirror](crate::clients#network-mirror-answers): its packages by platform.
pub(super) fn archives(
    mut object: Object<'_>,
) -> Result<BTreeMap<String, Option<Archive>>, json::Error> {
    object.map("archives", MOST_PLATFORMS, |archive| {
        if json::is_null(archive) {
            return Ok(None);
        }
        Archive::read(Object::of(archive)?).map(Some)
    })
}

/// One package of a network mirror.
#[derive(Debug)]
pub(super) struct Archive {
    pub(super) url: String,
    pub(super) hashes: Vec<String>,
}

impl Archive {
    fn read(mut object: Object<'_>) -> Result<Self, json::Error> {
        Ok(Self {
            url: object.required("url")?,
            hashes: object.texts("hashes", MOST_NOTES)?,
        })
    }
}
