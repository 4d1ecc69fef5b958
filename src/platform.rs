//! Platforms: the operating system and architecture of a package.

use std::collections::BTreeSet;
use std::fmt;
use std::str::FromStr;

use serde::{Serialize, Serializer};

/// The operating systems of Go.
const SYSTEMS: &str = "linux darwin windows freebsd openbsd netbsd dragonfly solaris illumos aix android ios plan9 js wasip1 zos";

/// The architectures of Go.
const ARCHITECTURES: &str = "amd64 arm64 arm 386 ppc64le ppc64 s390x riscv64 loong64 mips mipsle mips64 mips64le wasm sparc64 riscv";

/// An operating system and an architecture by their names in Go, such as `linux_amd64`.
///
/// There are no variants: clients compare `os` and `architecture` byte for byte and ignore all other attributes ([clients: platform
/// selection](crate::clients#platform-selection)). Both common spellings are parsed, `linux_amd64` and OCI's `linux/amd64`; the first is
/// printed.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Platform {
    os: String,
    arch: String,
}

impl Platform {
    /// Creates a platform.
    ///
    /// # Errors
    /// A part is empty, longer than 32 characters, or contains a character other than ASCII letters, digits, `.` and `-`. File names
    /// contain both parts, so they must be distinguishable.
    pub fn new(os: &str, arch: &str) -> Result<Self, Error> {
        let sound = |half: &str| {
            half.starts_with(|c: char| c.is_ascii_alphanumeric())
                && half.len() <= 32
                && half
                    .bytes()
                    .all(|b| b.is_ascii_alphanumeric() || b == b'.' || b == b'-')
        };
        if sound(os) && sound(arch) {
            Ok(Self {
                os: os.to_owned(),
                arch: arch.to_owned(),
            })
        } else {
            Err(Error {
                text: format!("{os}_{arch}"),
            })
        }
    }

    /// The operating system by its name in Go, such as `linux`.
    pub fn os(&self) -> &str {
        &self.os
    }

    /// The architecture by its name in Go, such as `amd64`.
    pub fn arch(&self) -> &str {
        &self.arch
    }

    /// Whether Go knows both names.
    pub fn is_of_go(&self) -> bool {
        let has = |all: &str, name: &str| all.split(' ').any(|one| one == name);
        has(SYSTEMS, &self.os) && has(ARCHITECTURES, &self.arch)
    }

    /// The platform that this program runs on.
    pub fn current() -> Self {
        let os = match std::env::consts::OS {
            "macos" => "darwin",
            other => other,
        };
        let arch = match std::env::consts::ARCH {
            "x86_64" => "amd64",
            "aarch64" => "arm64",
            "x86" => "386",
            "powerpc64" => "ppc64",
            "loongarch64" => "loong64",
            other => other,
        };
        Self {
            os: os.to_owned(),
            arch: arch.to_owned(),
        }
    }
}

/// The platforms to read, to write or to mirror.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Platforms {
    /// Every platform of the version.
    All,
    /// Only these platforms. It is an error if one of them is missing.
    Only(Vec<Platform>),
    /// Those of these platforms that the version has. It is an error if it has none of them.
    Among(Vec<Platform>),
}

impl Platforms {
    /// These platforms, each once and sorted.
    pub fn only(platforms: impl IntoIterator<Item = Platform>) -> Self {
        let platforms: BTreeSet<Platform> = platforms.into_iter().collect();
        Self::Only(platforms.into_iter().collect())
    }

    /// Whether this platform is one of them.
    pub fn has(&self, platform: &Platform) -> bool {
        self.named().is_none_or(|named| named.contains(platform))
    }

    /// The platforms, if not all are meant.
    pub fn named(&self) -> Option<&[Platform]> {
        match self {
            Self::All => None,
            Self::Only(platforms) | Self::Among(platforms) => Some(platforms),
        }
    }

    /// One platform of a version, preferably one of these. Any leads to the checksum document of all.
    pub fn any_of(&self, listed: Option<&[Platform]>) -> Self {
        let (wanted, listed) = (self.named().unwrap_or_default(), listed.unwrap_or_default());
        let is_listed = |platform: &&Platform| listed.is_empty() || listed.contains(platform);
        let one = wanted.iter().find(is_listed).or(listed.first());
        Self::Only(vec![one.cloned().unwrap_or_else(Platform::current)])
    }

    /// Adds the platforms of another selection, sorted. Platforms that a version does not have are then no error, unless it has none of them.
    pub(crate) fn add(&mut self, other: &Self) {
        *self = match (self.named(), other.named()) {
            (Some(these), Some(others)) => {
                let all: BTreeSet<_> = these.iter().chain(others).cloned().collect();
                Self::Among(all.into_iter().collect())
            }
            (None, _) | (_, None) => Self::All,
        };
    }
}

impl fmt::Display for Platform {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}_{}", self.os, self.arch)
    }
}

impl FromStr for Platform {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        let separators = |c: char| c == '_' || c == '/';
        match text.split_once(separators) {
            Some((os, arch)) if !arch.contains(separators) => {
                Self::new(os, arch).map_err(|_| Error {
                    text: text.to_owned(),
                })
            }
            _ => Err(Error {
                text: text.to_owned(),
            }),
        }
    }
}

impl Serialize for Platform {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// A text that is not a platform.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{}` is not a platform: expected OS_ARCH, such as `linux_amd64`", crate::error::printable(.text))]
pub struct Error {
    /// The invalid text.
    pub text: String,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_spellings_are_read_and_one_is_printed() {
        for text in ["linux_amd64", "linux/amd64"] {
            assert_eq!(
                text.parse::<Platform>().map(|p| p.to_string()),
                Ok("linux_amd64".to_owned())
            );
        }
    }

    #[test]
    fn what_could_escape_or_confuse_is_refused() {
        for text in [
            "",
            "linux",
            "_",
            "linux_",
            "_amd64",
            "linux_x86_64",
            "linux/arm/v7",
            "../_x",
            "a b_c",
            "li\u{0}_x",
            "./_a",
        ] {
            assert!(text.parse::<Platform>().is_err(), "{text:?}");
        }
    }
}
