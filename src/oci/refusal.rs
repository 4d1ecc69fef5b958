//! Why a client would refuse an artifact.

use crate::error::printable;
use crate::platform::Platform;

use super::descriptor;

/// One reason, and only one, why what a tag leads to is not a provider that clients install (contract 1.3 to 1.6).
#[derive(Debug, thiserror::Error)]
pub enum Refusal {
    /// The tag leads to a platform manifest instead of an index.
    #[error("the tag leads directly to one platform's manifest, not to an index of platforms")]
    TagIsPlatform,
    /// The tag leads to an image manifest: a container image, a chart, or something else.
    #[error("the tag leads to an image manifest, not to a provider's index")]
    TagIsManifest,
    /// A module package was pushed where a provider should be.
    #[error("the tag leads to a module package, not to a provider")]
    TagIsModule,
    /// Something with another media type.
    #[error("the tag leads to `{}`\n  expected {}", printable(.received), super::INDEX)]
    TagMediaType {
        /// The media type that the store reports.
        received: String,
    },
    /// Larger than clients read.
    #[error("the manifest is too large\n  expected less than 5 MiB\n  received {size} bytes")]
    TooLarge {
        /// The size in bytes.
        size: u64,
    },
    /// Not the JSON that it should be.
    #[error("the {what} is not valid JSON of its kind")]
    Json {
        /// Which document.
        what: &'static str,
        /// What is wrong, and where.
        source: serde_json::Error,
    },
    /// The body says that it is something else, or does not say what it is.
    #[error("the {what} has the wrong mediaType\n  expected {expected}\n  received {}", or_nothing(.received))]
    BodyMediaType {
        /// Which document.
        what: &'static str,
        /// What the store reports.
        expected: String,
        /// What the body says; empty when it says nothing.
        received: String,
    },
    /// The body has another artifact type, or none.
    #[error("the {what} has the wrong artifactType\n  expected {expected}\n  received {}", or_nothing(.received))]
    BodyArtifactType {
        /// Which document.
        what: &'static str,
        /// What it should be.
        expected: &'static str,
        /// What the body says; empty when it says nothing.
        received: String,
    },
    /// A provider entry that is itself an index breaks the version for every platform.
    #[error("an entry for providers is not an image manifest\n  expected {}\n  received {}", super::MANIFEST, or_nothing(.received))]
    EntryMediaType {
        /// The entry's media type.
        received: String,
    },
    /// A provider entry without `platform` breaks the version for every platform.
    #[error("the entry {} has no platform", printable(.digest))]
    EntryWithoutPlatform {
        /// The entry's digest.
        digest: String,
    },
    /// Two entries for one platform, even with one digest.
    #[error("the platform {platform} has several entries")]
    Ambiguous {
        /// The platform.
        platform: Platform,
    },
    /// Only other platforms are there.
    #[error("the platform {platform} is missing\n  has {}", list(.available))]
    NoPlatform {
        /// The platform that was asked for.
        platform: Platform,
        /// Those that are there.
        available: Vec<Platform>,
    },
    /// Entries are there, and none of them is a provider's.
    #[error("no entry is a provider's\n  expected artifactType {}\n  received {}", super::PROVIDER_TARGET, printable(.received))]
    ForeignEntries {
        /// The artifact type of one of them.
        received: String,
    },
    /// No entry, or none with an artifact type, as in a container image.
    #[error("no entry has an artifactType, as in a container image")]
    NoEntries,
    /// Digest or size of an entry, layer or config cannot be used.
    #[error("the descriptor of the {what} is unusable")]
    Descriptor {
        /// What it describes.
        what: &'static str,
        /// Why.
        source: descriptor::Error,
    },
    /// A platform manifest without layers.
    #[error("the platform manifest has no layers")]
    NoLayers,
    /// Layers, but none of them a zip.
    #[error("the platform manifest has no layer of type {}\n  received {}", super::ZIP, printable(.received))]
    NoZip {
        /// The media type of one of them.
        received: String,
    },
    /// More than one zip.
    #[error(
        "the platform manifest has several layers of type {}\n  expected 1\n  received {count}",
        super::ZIP
    )]
    SeveralZips {
        /// How many.
        count: usize,
    },
    /// Packages are known by their SHA-256 and nothing else.
    #[error("the package has an unsupported digest\n  expected sha256\n  received {}", printable(.digest))]
    PackageDigest {
        /// What is written.
        digest: String,
    },
    /// The layer says that it is for another platform.
    #[error("the package says that it is for another platform\n  expected {expected}\n  received {}", printable(.received))]
    PackagePlatform {
        /// What the index says.
        expected: Platform,
        /// What the layer says.
        received: String,
    },
}

fn or_nothing(text: &str) -> String {
    if text.is_empty() {
        "nothing".to_owned()
    } else {
        printable(text)
    }
}

fn list(platforms: &[Platform]) -> String {
    if platforms.is_empty() {
        return "none that can be asked for".to_owned();
    }
    platforms
        .iter()
        .map(Platform::to_string)
        .collect::<Vec<_>>()
        .join(", ")
}

impl Refusal {
    /// A short, stable name for this reason.
    pub fn code(&self) -> &'static str {
        match self {
            Self::TagIsPlatform => "tag-is-platform",
            Self::TagIsManifest => "tag-is-manifest",
            Self::TagIsModule => "tag-is-module",
            Self::TagMediaType { .. } => "tag-media-type",
            Self::TooLarge { .. } => "too-large",
            Self::Json { .. } => "json",
            Self::BodyMediaType { .. } => "body-media-type",
            Self::BodyArtifactType { .. } => "body-artifact-type",
            Self::EntryMediaType { .. } => "entry-media-type",
            Self::EntryWithoutPlatform { .. } => "entry-without-platform",
            Self::Ambiguous { .. } => "ambiguous",
            Self::NoPlatform { .. } => "no-platform",
            Self::ForeignEntries { .. } => "foreign-entries",
            Self::NoEntries => "no-entries",
            Self::Descriptor { .. } => "descriptor",
            Self::NoLayers => "no-layers",
            Self::NoZip { .. } => "no-zip",
            Self::SeveralZips { .. } => "several-zips",
            Self::PackageDigest { .. } => "package-digest",
            Self::PackagePlatform { .. } => "package-platform",
        }
    }

    /// What kind of problem it is: an absent platform is not found, everything else has the wrong shape.
    pub fn category(&self) -> crate::error::Category {
        match self {
            Self::NoPlatform { .. } => crate::error::Category::NotFound,
            _ => crate::error::Category::Malformed,
        }
    }
}
