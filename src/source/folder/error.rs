//! Why a release folder cannot be used. Which folder it is, whoever asked for it knows.

use crate::digest::Digest;
use crate::disk;
use crate::error::{Category, printable};
use crate::json;
use crate::platform::Platform;
use crate::trust;
use crate::version::Version;

/// A release folder that cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// This machine.
    #[error(transparent)]
    Disk(#[from] disk::Error),
    /// No file of any release.
    #[error(
        "no release is there\n  expected terraform-provider-TYPE_VERSION_OS_ARCH.zip and its SHA256SUMS"
    )]
    Empty,
    /// A release of another provider type.
    #[error("no release of this type is there\n  expected {asked}\n  has {}", .found.join(", "))]
    OtherType {
        /// The type of the address.
        asked: String,
        /// The types in the folder.
        found: Vec<String>,
    },
    /// The chosen version is not there.
    #[error("no such version is there\n  expected {asked}\n  has {}", list(.found))]
    NoVersion {
        /// The version.
        asked: Version,
        /// Those that are there.
        found: Vec<Version>,
    },
    /// Which one is meant cannot be told.
    #[error("several versions are there\n  has {}", list(.found))]
    SeveralVersions {
        /// The versions.
        found: Vec<Version>,
    },
    /// There is no checksum document.
    #[error("the checksum document is missing\n  expected {}", printable(.name))]
    NoChecksums {
        /// The name that it should have.
        name: String,
    },
    /// The checksum document contradicts itself.
    #[error(transparent)]
    Checksums(trust::Error),
    /// There are documents and no zip.
    #[error("no zip is there\n  expected terraform-provider-TYPE_VERSION_OS_ARCH.zip")]
    NoZip,
    /// A zip that the document promises is not there.
    #[error("a zip of the checksum document is missing\n  expected {}", printable(.name))]
    ListedZipMissing {
        /// The file name.
        name: String,
    },
    /// The chosen platform is not there.
    #[error("there is no zip for this platform\n  expected {asked}\n  has {}", list(.found))]
    NoPlatform {
        /// The platform.
        asked: Platform,
        /// Those that are there.
        found: Vec<Platform>,
    },
    /// Two files claim one platform.
    #[error("two zips claim the platform {platform}\n  {}\n  {}", printable(&.names.0), printable(&.names.1))]
    SamePlatform {
        /// The platform.
        platform: Platform,
        /// The two file names.
        names: (String, String),
    },
    /// The manifest is not the one that was signed.
    #[error("`{}` does not match its checksum\n  expected {expected} (checksum document)\n  received {received} (file)", printable(.file))]
    ManifestAltered {
        /// The file name.
        file: String,
        /// What the checksum document says.
        expected: Digest,
        /// What the file is.
        received: Digest,
    },
    /// The manifest is not JSON of its kind.
    #[error("`{}` is not a provider manifest", printable(.file))]
    Manifest {
        /// The file name.
        file: String,
        /// What is wrong, and where.
        source: json::Error,
    },
    /// A manifest of a later format.
    #[error("`{}` has an unknown format\n  expected version 1\n  received version {received}", printable(.file))]
    ManifestVersion {
        /// The file name.
        file: String,
        /// The format.
        received: u64,
    },
    /// The manifest names something that is no protocol version.
    #[error("`{}` names an unusable protocol version", printable(.file))]
    Protocol {
        /// The file name.
        file: String,
        /// Which one.
        source: crate::release::ProtocolError,
    },
}

fn list(items: &[impl ToString]) -> String {
    items
        .iter()
        .map(ToString::to_string)
        .collect::<Vec<_>>()
        .join(", ")
}

impl Error {
    /// What kind of problem it is.
    pub fn category(&self) -> Category {
        match self {
            Self::Disk(error) => error.category(),
            Self::Checksums(error) => error.category(),
            Self::OtherType { .. } | Self::SeveralVersions { .. } => Category::Usage,
            Self::ManifestAltered { .. } => Category::Untrusted,
            Self::Manifest { source, .. } => source.category(),
            Self::ManifestVersion { .. } | Self::Protocol { .. } | Self::SamePlatform { .. } => {
                Category::Malformed
            }
            Self::Empty
            | Self::NoVersion { .. }
            | Self::NoChecksums { .. }
            | Self::NoZip
            | Self::ListedZipMissing { .. }
            | Self::NoPlatform { .. } => Category::NotFound,
        }
    }
}
