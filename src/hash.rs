//! Package hashes: the hashes of provider zips in lock files and network mirrors.
//!
//! | scheme | value | known from |
//! | --- | --- | --- |
//! | `zh:` | lower-case hex SHA-256 of the zip file, which is also its OCI layer digest | any manifest |
//! | `h1:` | Go's "dirhash": SHA-256 over the sorted list of the files' SHA-256 and names, in base64 | the zip's or the unpacked directory's contents |
//!
//! A package may have **two** `h1` values: directory entries and unusual names are included in that of the zip, and not in that of the
//! unpacked directory ([clients: package hashes](crate::clients#package-hashes)). Clients compute the one of the form from which they
//! install.

use std::fmt;
use std::str::FromStr;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::{Serialize, Serializer};
use sha2::{Digest as _, Sha256};

use crate::digest::{Digest, from_hex, to_hex};

/// A hash of a provider package, with its scheme.
///
/// Ordered by the printed text, byte for byte, as clients sort them in lock files.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum PackageHash {
    /// `zh:`, the SHA-256 of the zip file.
    Zh([u8; 32]),
    /// `h1:`, the hash of the contents.
    H1([u8; 32]),
    /// An unknown scheme, or an invalid value from [`Self::claimed`]. It is printed unchanged, and matches no package.
    Other {
        /// The part before the colon; never empty.
        scheme: String,
        /// The part after the colon.
        value: String,
    },
}

impl PackageHash {
    /// The `zh:` hash of a zip with this digest.
    pub fn of_zip(digest: &Digest) -> Self {
        Self::Zh(digest.sha256())
    }

    /// Parses a hash from a mirror or origin. A value that is invalid for its scheme matches no package, as for clients ([clients:
    /// package hashes](crate::clients#package-hashes)).
    ///
    /// # Errors
    /// The text has no scheme.
    pub fn claimed(text: &str) -> Result<Self, Error> {
        text.parse().or_else(|error| match text.split_once(':') {
            Some((scheme, value)) if !scheme.is_empty() => Ok(Self::Other {
                scheme: scheme.to_owned(),
                value: value.to_owned(),
            }),
            _ => Err(error),
        })
    }

    /// Whether this is an `h1:` hash, by which clients check unpacked packages.
    pub fn is_h1(&self) -> bool {
        matches!(self, Self::H1(_))
    }

    /// The digest of the zip; `None` unless this is a `zh:` hash.
    pub fn zip_digest(&self) -> Option<Digest> {
        match self {
            Self::Zh(value) => Some(Digest::from_sha256(*value)),
            Self::H1(_) | Self::Other { .. } => None,
        }
    }
}

impl fmt::Display for PackageHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Zh(value) => write!(f, "zh:{}", to_hex(value)),
            Self::H1(value) => write!(f, "h1:{}", STANDARD.encode(value)),
            Self::Other { scheme, value } => write!(f, "{scheme}:{value}"),
        }
    }
}

impl PartialOrd for PackageHash {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for PackageHash {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.to_string().cmp(&other.to_string())
    }
}

impl Serialize for PackageHash {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl FromStr for PackageHash {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        let malformed = || Error {
            text: text.to_owned(),
        };
        let (scheme, value) = text.split_once(':').ok_or_else(malformed)?;
        match scheme {
            "" => Err(malformed()),
            "zh" => from_hex(value).map(Self::Zh).ok_or_else(malformed),
            "h1" => STANDARD
                .decode(value)
                .ok()
                .and_then(|bytes| bytes.try_into().ok())
                .map(Self::H1)
                .ok_or_else(malformed),
            _ => Ok(Self::Other {
                scheme: scheme.to_owned(),
                value: value.to_owned(),
            }),
        }
    }
}

/// A text that is not a package hash.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{}` is not a package hash: expected SCHEME:VALUE, such as `zh:` and 64 hex digits", crate::error::printable(.text))]
pub struct Error {
    /// The invalid text.
    pub text: String,
}

/// Computes the `h1:` of a package from its files (the algorithm "Hash1" of Go's `dirhash`).
#[derive(Default)]
pub struct Contents {
    files: Vec<(Vec<u8>, [u8; 32])>,
}

impl Contents {
    /// Starts without files.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a file: its name with forward slashes, and the SHA-256 of its content.
    pub fn add(&mut self, name: &[u8], content: [u8; 32]) {
        self.files.push((name.to_vec(), content));
    }

    /// The hash of all files, independent of their order.
    ///
    /// # Errors
    /// A name contains a line break. The hashed list consists of lines, so such a name could forge the line of another file.
    pub fn h1(mut self) -> Result<PackageHash, NameError> {
        self.files.sort_by(|a, b| a.0.cmp(&b.0));
        let mut list = Sha256::new();
        for (name, content) in &self.files {
            if name.contains(&b'\n') {
                return Err(NameError {
                    name: String::from_utf8_lossy(name).into_owned(),
                });
            }
            list.update(to_hex(content));
            list.update(b"  ");
            list.update(name);
            list.update(b"\n");
        }
        Ok(PackageHash::H1(list.finalize().into()))
    }
}

/// A file name for which `h1` is not defined.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the file name `{}` has a line break", crate::error::printable(.name))]
pub struct NameError {
    /// The file name.
    pub name: String,
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn h1(files: &[(&str, &str)]) -> String {
        let mut contents = Contents::new();
        for (name, content) in files {
            contents.add(name.as_bytes(), Sha256::digest(content.as_bytes()).into());
        }
        contents
            .h1()
            .map_or_else(|e| e.to_string(), |hash| hash.to_string())
    }

    #[test]
    fn h1_of_the_vectors_of_clients() {
        assert_eq!(h1(&[]), "h1:47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=");
        let executable = ("terraform-provider-demo_v1.0.0", "hello\n");
        let license = ("LICENSE", "demo license\n");
        assert_eq!(
            h1(&[executable, license]),
            "h1:mIYLZGu7edyL1Yh6y7aWNAFymkLMcuyVVTSpSMDKY8I="
        );
        let page = ("docs/x.md", "x\n");
        assert_eq!(
            h1(&[executable, license, page]),
            "h1:fiPMXADwgsEsEA6knh+GTDhklBhZ4OjtQ6uyqCOCshU="
        );
        assert_eq!(
            h1(&[executable, license, page, ("docs/", "")]),
            "h1:mHiZzsdCBTPj5JPV87fjr/f9PXRly3FIqzfjMkmImpA="
        );
    }

    #[test]
    fn a_line_break_in_a_name_has_no_h1() {
        assert_eq!(
            h1(&[("a\nb", "")]),
            "the file name `a\u{fffd}b` has a line break"
        );
    }

    #[test]
    fn unknown_schemes_are_kept_and_broken_ones_refused() {
        assert_eq!(
            "h9:whatever".parse::<PackageHash>().map(|h| h.to_string()),
            Ok("h9:whatever".to_owned())
        );
        for text in ["", "zh", ":x", "zh:12", "h1:!!!!", "h1:aGVsbG8=", "zh:Z"] {
            assert!(text.parse::<PackageHash>().is_err(), "{text:?}");
        }
    }

    #[test]
    fn what_is_listed_needs_a_scheme_and_no_more() {
        for text in ["zh:12", "h1:", "h1:!!!!", "h9:x"] {
            let hash = PackageHash::claimed(text);
            assert!(matches!(&hash, Ok(PackageHash::Other { .. })), "{text:?}");
            assert_eq!(hash.map(|hash| hash.to_string()), Ok(text.to_owned()));
        }
        let zh = PackageHash::Zh([7; 32]);
        assert_eq!(PackageHash::claimed(&zh.to_string()), Ok(zh));
        for text in ["", "zh", ":x"] {
            assert!(PackageHash::claimed(text).is_err(), "{text:?}");
        }
    }

    #[test]
    fn h1_sorts_before_zh_as_in_lock_files() {
        assert!(PackageHash::H1([255; 32]) < PackageHash::Zh([0; 32]));
    }

    proptest! {
        #[test]
        fn never_panics_and_prints_back(text in "(zh|h1|h2|):[0-9a-zA-Z+/=]{0,64}") {
            if let Ok(hash) = text.parse::<PackageHash>() {
                prop_assert_eq!(hash.to_string(), text);
            }
        }

        #[test]
        fn both_known_schemes_round_trip(value: [u8; 32]) {
            for hash in [PackageHash::Zh(value), PackageHash::H1(value)] {
                prop_assert_eq!(hash.to_string().parse(), Ok(hash));
            }
        }
    }
}
