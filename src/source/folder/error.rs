//! Errors of release folders. They do not contain the path of the folder, which the caller knows.

use crate::digest::Digest;
use crate::disk;
use crate::error::{Category, printable};
use crate::json;
use crate::platform::Platform;
use crate::trust;

/// A release folder that cannot be used.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs, reason = "the message of a variant names its fields")]
pub enum Error {
    /// A file cannot be read.
    #[error(transparent)]
    Disk(#[from] disk::Error),
    /// The folder has no zip of a release.
    #[error(
        "the folder has no zip of a release\n  expected terraform-provider-TYPE_VERSION_OS_ARCH.zip and its SHA256SUMS"
    )]
    NoZip,
    /// The folder has releases of other provider types only.
    #[error("the folder has no release of this type\n  expected {asked}\n  has {found}")]
    OtherType {
        /// The requested type.
        asked: String,
        /// The types in the folder.
        found: String,
    },
    /// The folder does not have the requested version, or no zip for the requested platform.
    #[error("the folder has no {what}\n  expected {asked}\n  has {found}")]
    Absent {
        what: &'static str,
        asked: String,
        /// What the folder has.
        found: String,
    },
    /// The folder has several versions and none was requested.
    #[error("the folder has several versions\n  has {found}")]
    SeveralVersions { found: String },
    /// There is no checksum document.
    #[error("the checksum document is missing\n  expected {}", printable(.name))]
    NoChecksums {
        /// The expected file name.
        name: String,
    },
    /// The checksum document contradicts itself.
    #[error(transparent)]
    Checksums(trust::Error),
    /// The folder has an armoured signature, which clients do not read, and none in binary.
    #[error("`{}` is a signature in text, which clients do not read\n  expected {} in binary", printable(.name), printable(.expected))]
    ArmouredSignature { name: String, expected: String },
    /// The checksum document lists a zip that is not in the folder.
    #[error("a zip of the checksum document is missing\n  expected {}", printable(.name))]
    ListedZipMissing { name: String },
    #[error("two zips claim the platform {platform}\n  {}\n  {}", printable(&.names.0), printable(&.names.1))]
    SamePlatform {
        platform: Platform,
        /// The two file names.
        names: (String, String),
    },
    /// The provider manifest does not match its digest in the checksum document.
    #[error("`{}` does not match its checksum\n  expected {expected} (checksum document)\n  received {received} (file)", printable(.file))]
    ProviderManifestAltered {
        file: String,
        /// The digest in the checksum document.
        expected: Digest,
        /// The digest of the file.
        received: Digest,
    },
    /// The provider manifest is not JSON of the expected form, or has a later format or an invalid protocol version.
    #[error("`{}` is not a provider manifest", printable(.file))]
    ProviderManifest {
        file: String,
        /// The cause, with its position.
        source: json::Error,
    },
}

impl Error {
    /// The category that decides the exit code.
    pub fn category(&self) -> Category {
        match self {
            Self::Disk(error) => error.category(),
            Self::Checksums(error) => error.category(),
            Self::OtherType { .. } | Self::SeveralVersions { .. } => Category::Usage,
            Self::ProviderManifestAltered { .. } => Category::Untrusted,
            Self::ProviderManifest { source, .. } => source.category(),
            Self::SamePlatform { .. } | Self::ArmouredSignature { .. } => Category::Malformed,
            Self::Absent { .. }
            | Self::NoChecksums { .. }
            | Self::NoZip
            | Self::ListedZipMissing { .. } => Category::NotFound,
        }
    }
}
