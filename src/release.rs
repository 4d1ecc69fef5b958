//! A release: one version of one provider, with its packages, checksum document, signatures and keys.
//!
//! Sources build releases, [`crate::trust`] verifies them, and journeys publish only verified ones. `L` is the location of a package: a
//! path, a URL or a blob of a store. This module does not use it.

use std::time::SystemTime;

use serde::Serialize;

use crate::address::ProviderAddr;
use crate::authentication::{Anchor, Note};
use crate::digest::Digest;
use crate::hash::PackageHash;
use crate::platform::Platform;
use crate::version::Version;

/// One version of one provider from a source, unverified.
#[derive(Clone, Debug)]
pub struct Release<L> {
    /// The provider's address.
    pub provider: ProviderAddr,
    /// The version, which tags and file names repeat.
    pub version: Version,
    /// The plugin protocol versions in the release's provider manifest.
    pub protocols: Protocols,
    /// The checksum document (`SHA256SUMS`), byte for byte: its signature covers exactly these bytes.
    pub checksums: Option<Document>,
    /// Detached signatures of the checksum document, in the order in which to try them.
    pub signatures: Vec<Document>,
    /// Public keys that the source provides with the release.
    pub keys: Vec<KeyRing>,
    /// The packages, at most one for each platform.
    pub packages: Vec<Package<L>>,
    /// Irregularities that the source noticed and accepted.
    pub notes: Vec<Note>,
}

impl<L> Release<L> {
    /// A release without checksum document, signatures and keys.
    pub fn unproven(provider: &ProviderAddr, version: &Version, packages: Vec<Package<L>>) -> Self {
        Self {
            provider: provider.clone(),
            version: version.clone(),
            protocols: Protocols::default(),
            checksums: None,
            signatures: Vec::new(),
            keys: Vec::new(),
            packages,
            notes: Vec::new(),
        }
    }

    /// Whether it has a package for this platform.
    pub fn has(&self, platform: &Platform) -> bool {
        self.packages.iter().any(|one| one.platform == *platform)
    }

    /// Replaces the packages, for example to change their locations.
    pub fn with_packages<M>(self, packages: Vec<Package<M>>) -> Release<M> {
        Release {
            packages,
            provider: self.provider,
            version: self.version,
            protocols: self.protocols,
            checksums: self.checksums,
            signatures: self.signatures,
            keys: self.keys,
            notes: self.notes,
        }
    }
}

/// A named file: a checksum document, a signature or keys.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Document {
    /// The file name, or another name of the document for messages.
    pub name: String,
    /// The unmodified content.
    pub bytes: Vec<u8>,
    /// When it was changed, as the host that serves it says.
    pub modified: Option<SystemTime>,
}

impl Document {
    /// A document without a date.
    pub fn new(name: &str, bytes: Vec<u8>) -> Self {
        Self {
            name: name.to_owned(),
            bytes,
            modified: None,
        }
    }
}

/// Public keys from one source: armoured or binary, one or several.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyRing {
    /// The source of the keys, for messages.
    pub name: String,
    /// The unmodified key data.
    pub bytes: Vec<u8>,
    /// The reason to trust the keys.
    pub anchor: Anchor,
}

/// One provider zip for one platform.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Package<L> {
    /// The platform that it is built for.
    pub platform: Platform,
    /// The file name at the origin, which the checksum document lists.
    pub file_name: String,
    /// The digest and size that the zip must have. A size of 0 is not known yet.
    pub expected: Expected,
    /// The location of the zip.
    pub location: L,
}

/// The largest package in bytes, and the largest other blob of an artifact: a byte less than 8 GiB, as in the headers of a tar. Strangers say how
/// large a package is, and what they say must not fill a disk.
pub const LARGEST_BLOB: u64 = (8 << 30) - 1;

/// The digest and size that a blob must have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, PartialOrd, Ord)]
pub struct Expected {
    /// The digest of the whole content.
    pub digest: Digest,
    /// The size in bytes.
    pub size: u64,
}

impl Expected {
    /// The digest and size of these bytes.
    pub fn of(bytes: &[u8]) -> Self {
        Self {
            digest: Digest::of(bytes),
            size: bytes.len() as u64,
        }
    }
}

impl<L> Package<L> {
    /// The `zh:` hash of the zip.
    pub fn zh(&self) -> PackageHash {
        PackageHash::of_zip(&self.expected.digest)
    }
}

/// The conventional file name of a package: `terraform-provider-TYPE_VERSION_OS_ARCH.zip`.
pub fn canonical_file_name(
    provider: &ProviderAddr,
    version: &Version,
    platform: &Platform,
) -> String {
    format!(
        "terraform-provider-{}_{version}_{platform}.zip",
        provider.type_name()
    )
}

/// The plugin protocol versions of a release, such as `5.0` and `6.0`, in ascending order and without duplicates; never empty.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Protocols(Vec<(u64, u64)>);

impl Protocols {
    /// Parses protocol versions as origins and provider manifests write them (`6.0`, `6`, `5.0.0`). An empty list gives the default.
    ///
    /// # Errors
    /// The first text that is not a protocol version.
    pub fn parse<'a>(texts: impl IntoIterator<Item = &'a str>) -> Result<Self, ProtocolError> {
        let mut all = Vec::new();
        for text in texts {
            let numbers = text.split('.').map(|part| part.parse().ok());
            let numbers: Option<Vec<u64>> = numbers.collect();
            all.push(match numbers.as_deref() {
                Some([major]) => (*major, 0),
                Some([major, minor] | [major, minor, _]) => (*major, *minor),
                _ => {
                    return Err(ProtocolError {
                        text: text.to_owned(),
                    });
                }
            });
        }
        all.sort_unstable();
        all.dedup();
        Ok(if all.is_empty() {
            Self::default()
        } else {
            Self(all)
        })
    }

    /// The versions as `MAJOR.MINOR`, in ascending order.
    pub fn texts(&self) -> Vec<String> {
        self.0
            .iter()
            .map(|(major, minor)| format!("{major}.{minor}"))
            .collect()
    }
}

/// `5.0`, the version of a release without a provider manifest.
impl Default for Protocols {
    fn default() -> Self {
        Self(vec![(5, 0)])
    }
}

/// Text that is not a plugin protocol version.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{}` is not a plugin protocol version, such as `6.0`", crate::error::printable(.text))]
pub struct ProtocolError {
    /// The invalid text.
    pub text: String,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn protocols_as_they_occur_at_real_registries() {
        let texts = |input: &[&str]| Protocols::parse(input.iter().copied()).map(|p| p.texts());
        assert_eq!(
            texts(&["6.0", "5.0", "5.0"]),
            Ok(vec!["5.0".to_owned(), "6.0".to_owned()])
        );
        assert_eq!(
            texts(&["4", "1.0.0"]),
            Ok(vec!["1.0".to_owned(), "4.0".to_owned()])
        );
        assert_eq!(texts(&[]), Ok(vec!["5.0".to_owned()]));
        for broken in ["", "x", "5.", ".5", "5.0.0.0", "-1", "99999999999999999999"] {
            assert!(texts(&[broken]).is_err(), "{broken:?}");
        }
    }
}
