//! The providers of an origin: their releases and metadata.

use std::io::{self, Cursor};
use std::sync::{Arc, OnceLock};

use base64::Engine as _;
use bytes::Bytes;
use sequoia_openpgp::Cert;
use sequoia_openpgp::parse::Parse as _;
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};
use zip::ZipArchive;

use crate::support::release::{File, ReleaseFolder, sha256};
use crate::support::signer::Signer;

/// A provider of an origin.
#[derive(Clone)]
pub struct Provider {
    /// `NAMESPACE/TYPE`
    pub address: String,
    /// In the order in which they are listed.
    pub releases: Vec<Release>,
    warnings: Vec<String>,
}

impl Provider {
    /// A provider without releases; `address` is `NAMESPACE/TYPE`.
    pub fn new(address: &str) -> Self {
        Self {
            address: address.to_owned(),
            releases: Vec::new(),
            warnings: Vec::new(),
        }
    }

    /// `acme/demo` with the release `demo` 1.0.0 for these platforms.
    pub fn demo(platforms: &[&str]) -> Self {
        Self::new("acme/demo").version("1.0.0", platforms)
    }

    /// Several providers `acme/p0`, `acme/p1`, …, each with the versions `1.0.0`, `1.1.0`, … for these platforms. No release is
    /// signed before it is requested.
    pub fn many(count: usize, versions: usize, platforms: &[&str]) -> Vec<Self> {
        let provider = |number| {
            (0..versions).fold(Self::new(&format!("acme/p{number}")), |provider, minor| {
                provider.version(&format!("1.{minor}.0"), platforms)
            })
        };
        (0..count).map(provider).collect()
    }

    /// Adds an ordinary release for these platforms.
    pub fn version(self, version: &str, platforms: &[&str]) -> Self {
        let (_, name) = self.address.split_once('/').unwrap();
        let folder = ReleaseFolder::new(name, version).each(platforms);
        self.release(folder)
    }

    /// Adds a release.
    pub fn release(mut self, release: impl Into<Release>) -> Self {
        self.releases.push(release.into());
        self
    }

    /// Adds a warning to the list of versions.
    pub fn warning(mut self, text: &str) -> Self {
        self.warnings.push(text.to_owned());
        self
    }

    /// The release of a listed version, the first one if there are several.
    pub fn find(&self, version: &str) -> Option<&Release> {
        self.releases
            .iter()
            .find(|release| release.listed == version)
    }

    pub(super) fn versions(&self) -> Value {
        let versions: Vec<Value> = self.releases.iter().map(Release::entry).collect();
        let mut answer = json!({ "id": self.address, "versions": versions });
        if !self.warnings.is_empty() {
            answer["warnings"] = json!(self.warnings);
        }
        answer
    }
}

/// A release that an origin offers, as the origin shows it.
#[derive(Clone)]
pub struct Release {
    folder: ReleaseFolder,
    /// The version as the origin writes it.
    pub listed: String,
    shows_platforms: bool,
    shows_packages: bool,
    keys: Vec<Key>,
    files: Arc<OnceLock<Files>>,
}

/// The files of a release.
struct Files {
    packages: Vec<Package>,
    document: Option<Bytes>,
    signature: Option<Bytes>,
}

/// The zip of a platform.
pub struct Package {
    pub platform: String,
    pub name: String,
    pub bytes: Bytes,
    /// `zh`, and `h1` if the bytes are a zip.
    pub hashes: Vec<String>,
}

#[derive(Clone)]
struct Key {
    id: String,
    armor: String,
}

impl From<ReleaseFolder> for Release {
    fn from(folder: ReleaseFolder) -> Self {
        let (listed, signer) = (folder.version().to_owned(), folder.signer());
        let release = Self {
            folder,
            listed,
            shows_platforms: true,
            shows_packages: true,
            keys: Vec::new(),
            files: Arc::default(),
        };
        release.signers(&[signer])
    }
}

impl Release {
    /// [`ReleaseFolder::of_testdata`] with its key.
    pub fn of_testdata(case: &str) -> Self {
        let (folder, key) = ReleaseFolder::of_testdata(case);
        Self::from(folder).keys(&[&key])
    }

    /// Lists the version in another spelling than in the names of its files.
    pub fn listed_as(mut self, version: &str) -> Self {
        self.listed = version.to_owned();
        self
    }

    /// Leaves the platforms out of the list of versions.
    pub fn without_platforms(mut self) -> Self {
        self.shows_platforms = false;
        self
    }

    /// Leaves the hashes and sizes of all packages out of the metadata of each.
    pub fn without_packages(mut self) -> Self {
        self.shows_packages = false;
        self
    }

    /// Serves the keys of these signers, in this order.
    pub fn signers(self, signers: &[&Signer]) -> Self {
        let armors: Vec<String> = signers.iter().map(|key| key.public_armored()).collect();
        self.keys(&armors.iter().map(String::as_str).collect::<Vec<_>>())
    }

    /// Serves these keys, valid or not.
    pub fn keys(mut self, armors: &[&str]) -> Self {
        let key = |armor: &&str| Key {
            id: Cert::from_bytes(armor.as_bytes())
                .map_or(String::new(), |cert| cert.keyid().to_hex()),
            armor: (*armor).to_owned(),
        };
        self.keys = armors.iter().map(key).collect();
        self
    }

    /// The zips, in the order in which they were added.
    pub fn packages(&self) -> &[Package] {
        &self.files().packages
    }

    /// The zip of a platform.
    pub fn package(&self, platform: &str) -> Option<&Package> {
        let mut packages = self.packages().iter();
        packages.find(|package| package.platform == platform)
    }

    /// The checksum document.
    pub(super) fn document(&self) -> Option<&Bytes> {
        self.files().document.as_ref()
    }

    /// The signature.
    pub(super) fn signature(&self) -> Option<&Bytes> {
        self.files().signature.as_ref()
    }

    /// Builds a release when it is first requested.
    fn files(&self) -> &Files {
        self.files.get_or_init(|| {
            let built = self.folder.build();
            let package = |(platform, file): (String, File)| Package {
                platform,
                name: file.name,
                hashes: hashes(&file.bytes),
                bytes: file.bytes.into(),
            };
            Files {
                packages: built.zips.into_iter().map(package).collect(),
                document: built.document.map(|file| file.bytes.into()),
                signature: built.signature.map(|file| file.bytes.into()),
            }
        })
    }

    /// Its entry in the list of versions.
    fn entry(&self) -> Value {
        let mut entry = json!({
            "version": self.listed,
            "protocols": self.folder.manifest_protocols(),
        });
        if self.shows_platforms {
            let platform = |platform: &str| {
                let (os, arch) = platform.split_once('_').unwrap();
                json!({ "os": os, "arch": arch })
            };
            entry["platforms"] = self.folder.platforms().map(platform).collect();
        }
        entry
    }

    /// The metadata of a platform's package. `url` gives the URL of a file name.
    pub(super) fn download(&self, platform: &str, url: impl Fn(&str) -> String) -> Option<Value> {
        let package = self.package(platform)?;
        let (os, arch) = platform.split_once('_')?;
        let key = |key: &Key| {
            json!({
                "key_id": key.id,
                "ascii_armor": key.armor,
                "trust_signature": "",
                "source": "",
                "source_url": "",
            })
        };
        let mut answer = json!({
            "protocols": self.folder.manifest_protocols(),
            "os": os,
            "arch": arch,
            "filename": package.name,
            "download_url": url(&format!("{platform}/{}", package.name)),
            "shasums_url": url("SHA256SUMS"),
            "shasums_signature_url": url("SHA256SUMS.sig"),
            "shasum": package.sha256(),
            "signing_keys": { "gpg_public_keys": self.keys.iter().map(key).collect::<Vec<_>>() },
        });
        if self.shows_packages {
            let packages = self.packages().iter().map(|package| {
                let size = package.bytes.len();
                let said = json!({ "hashes": package.hashes, "package_size": size });
                (package.platform.clone(), said)
            });
            answer["packages"] = Value::Object(packages.collect());
        }
        Some(answer)
    }
}

impl Package {
    /// SHA-256 in lower-case hex.
    pub fn sha256(&self) -> &str {
        self.hashes[0].strip_prefix("zh:").unwrap()
    }
}

fn hashes(zip: &[u8]) -> Vec<String> {
    let zh = format!("zh:{}", sha256(zip));
    [Some(zh), h1(zip)].into_iter().flatten().collect()
}

/// The `h1` of a zip without two entries of one name (`tfoci::clients#package-hashes`).
fn h1(zip: &[u8]) -> Option<String> {
    let mut zip = ZipArchive::new(Cursor::new(zip)).ok()?;
    let mut lines = Vec::new();
    for place in 0..zip.len() {
        let (mut file, mut bytes) = (zip.by_index(place).ok()?, Vec::new());
        io::copy(&mut file, &mut bytes).ok()?;
        let name = String::from_utf8(file.name_raw().to_vec()).ok()?;
        lines.push((name, sha256(&bytes)));
    }
    lines.sort();
    let lines = lines
        .into_iter()
        .map(|(name, hex)| format!("{hex}  {name}\n"));
    let digest = Sha256::digest(lines.collect::<String>());
    let text = base64::engine::general_purpose::STANDARD.encode(digest);
    Some(format!("h1:{text}"))
}
