//! Package metadata: the location of a package, its digest and signing keys
//! ([clients: package metadata](crate::clients#package-metadata)).

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use url::Url;

use super::super::error::{Document, Error};
use super::super::fetch::Access;
use super::super::location::{RemoteMetadata, Renewal};
use super::super::source_package::SourcePackage;
use crate::authentication::Anchor;
use crate::digest::{Digest, from_hex};
use crate::error::{FEW, listed};
use crate::hash::PackageHash;
use crate::http::Shown;
use crate::platform::Platform;
use crate::protocol::provider_registry::{DownloadMetadata, GpgPublicKey, ListedPackage};
use crate::release::{Expected, KeyRing, Package, Protocols};

/// A request for metadata, and the URL of its response.
pub(super) struct MetadataRequest<'a> {
    pub(super) platform: &'a Platform,
    pub(super) access: &'a Access,
    /// The host of the provider's address.
    pub(super) named: &'a Url,
    /// The URL of the response after redirects. URLs in the response are relative to it.
    pub(super) url: Url,
    /// That URL, for a message.
    pub(super) shown: Shown,
    /// Whether the response came from the origin over verified TLS.
    pub(super) is_verified: bool,
}

/// The metadata of one package.
#[derive(Debug)]
pub(super) struct Metadata {
    pub(super) platform: Platform,
    file_name: String,
    pub(super) digest: Digest,
    /// The URL of the response.
    from: Shown,
    remote: RemoteMetadata,
    /// The URL of the checksum document.
    pub(super) checksums: Option<Url>,
    /// The URL of the signature of the checksum document.
    pub(super) signature: Option<Url>,
    pub(super) keys: Vec<KeyRing>,
    /// Whether the keys came from the origin over verified TLS.
    pub(super) is_verified: bool,
    pub(super) protocols: Protocols,
    /// Every platform of this version; empty if the origin does not list them.
    pub(super) packages: Vec<Platform>,
    /// The `h1` of the packages of every platform, as the origin reports them.
    pub(super) reported: BTreeSet<PackageHash>,
}

impl Metadata {
    /// Parses a response, and checks that it is about the requested package.
    pub(super) fn read(said: DownloadMetadata, asked: &MetadataRequest<'_>) -> Result<Self, Error> {
        let target = format!("{}_{}", said.os, said.arch);
        if target != asked.platform.to_string() {
            return Err(asked.contradicts("platform", asked.platform, &target));
        }
        let sha256 = from_hex(&said.shasum.to_ascii_lowercase()).map(Digest::from_sha256);
        let Some(digest) = sha256 else {
            return Err(asked.contradicts("shasum", "64 hex digits", &said.shasum));
        };
        let protocols = Protocols::parse(said.protocols.iter().map(String::as_str));
        let protocols =
            protocols.map_err(|error| asked.contradicts("protocol", "such as 6.0", &error.text))?;
        let (packages, size) = packages(&said, digest, asked)?;
        let url = |field, text: &str| match text {
            "" => Ok(None),
            text => asked.place(field, text).map(Some),
        };
        Ok(Self {
            platform: asked.platform.clone(),
            remote: RemoteMetadata {
                access: asked.access.clone(),
                url: asked.place("download_url", &said.download_url)?,
                named: asked.named.clone(),
                renewal: None,
                platform: asked.platform.clone(),
                digest: Some(digest),
                size,
                hashes: Vec::new(),
            },
            file_name: said.filename,
            digest,
            from: asked.shown.clone(),
            checksums: url("shasums_url", &said.shasums_url)?,
            signature: url("shasums_signature_url", &said.shasums_signature_url)?,
            keys: keys(said.keys.clone(), asked),
            is_verified: asked.is_verified,
            protocols,
            packages,
            reported: reported(&said.packages),
        })
    }

    /// `renewal` requests the metadata again when the download URL has expired.
    pub(super) fn package(mut self, renewal: Renewal) -> Package<SourcePackage> {
        self.remote.renewal = Some(renewal);
        let expected = Expected {
            digest: self.digest,
            size: self.remote.size.unwrap_or_default(),
        };
        Package {
            platform: self.platform,
            file_name: self.file_name,
            expected,
            location: SourcePackage::remote(self.remote, expected),
        }
    }

    /// The URL of the package, if it still has this digest.
    pub(super) fn place_of(self, digest: Digest) -> Result<Url, Error> {
        if self.digest == digest {
            return Ok(self.remote.url);
        }
        let what = Document::Download(self.platform);
        let (expected, received) = (digest.hex(), self.digest.hex());
        Err(Error::contradiction(
            &what, &self.from, "shasum", expected, &received,
        ))
    }
}

/// Reads `packages`: every platform, and the size of the requested one, if it is told. If the list is present, it must contain the requested
/// platform with its hash.
fn packages(
    said: &DownloadMetadata,
    digest: Digest,
    asked: &MetadataRequest<'_>,
) -> Result<(Vec<Platform>, Option<u64>), Error> {
    let what = Document::Download(asked.platform.clone());
    let mut platforms = Vec::new();
    for name in said.packages.keys() {
        let platform = name.parse();
        platforms.push(platform.map_err(|error| Error::invalid(&what, &asked.shown, error))?);
    }
    if platforms.is_empty() {
        return Ok((platforms, None));
    }
    let listed_package = said.packages.get(&asked.platform.to_string());
    let hashes = listed_package.map_or(&[][..], |package| &package.hashes);
    let mut zips = hashes.iter().filter_map(|hash| hash.strip_prefix("zh:"));
    let expected = digest.hex();
    let first = zips.next();
    if first != Some(&expected) || zips.any(|zip| zip != expected) {
        let received = match hashes {
            [] => "none".to_owned(),
            hashes => listed(hashes, FEW),
        };
        return Err(asked.contradicts("hash of the package", expected, &received));
    }
    let size = listed_package.map(|package| package.package_size);
    Ok((platforms, size.filter(|size| *size > 0)))
}

/// The `h1` of all packages. Values that match no package are left out.
fn reported(packages: &BTreeMap<String, ListedPackage>) -> BTreeSet<PackageHash> {
    let hashes = packages.values().flat_map(|package| &package.hashes);
    let hashes = hashes.filter_map(|text| text.parse().ok());
    hashes
        .filter(|hash| matches!(hash, PackageHash::H1(_)))
        .collect()
}

fn keys(said: Vec<GpgPublicKey>, asked: &MetadataRequest<'_>) -> Vec<KeyRing> {
    let host = asked.named.host_str().unwrap_or_default();
    let armours = said.into_iter().map(|key| key.ascii_armor);
    let armours = armours.filter(|armour| !armour.trim().is_empty());
    armours
        .enumerate()
        .map(|(place, armour)| KeyRing {
            name: format!("key {} of {host}", place + 1),
            bytes: armour.into_bytes(),
            anchor: Anchor::Origin,
        })
        .collect()
}

impl MetadataRequest<'_> {
    fn place(&self, field: &'static str, text: &str) -> Result<Url, Error> {
        let url = self.url.join(text).ok();
        url.filter(|url| matches!(url.scheme(), "http" | "https"))
            .ok_or_else(|| {
                let received = Shown::from(text).to_string();
                self.contradicts(field, "an https URL", &received)
            })
    }

    fn contradicts(&self, field: &str, expected: impl fmt::Display, received: &str) -> Error {
        let what = Document::Download(self.platform.clone());
        Error::contradiction(&what, &self.shown, field, expected, received)
    }
}
