//! The reasons for which a client refuses an artifact.

use super::{DescriptorError, INDEX, LARGEST_READ, MANIFEST, PROVIDER_TARGET, Part, ZIP};
use crate::digest::{self, Digest};
use crate::error::{Category, printable};
use crate::json::{self, Fault};
use crate::platform::Platform;
use crate::release::ProtocolError;

/// The reason for which clients do not install the artifact that a tag refers to
/// ([clients: OCI artifacts](crate::clients#oci-artifacts)).
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs, reason = "the message of a variant names its fields")]
pub enum Refusal {
    /// The tag leads to a platform manifest instead of an index.
    #[error("the tag leads to the manifest of one platform\n  expected an index of platforms")]
    TagIsPlatform,
    /// The tag leads to an image manifest: a container image, a chart, or something else.
    #[error("the tag leads to an image manifest\n  expected a provider's index")]
    TagIsManifest,
    /// A module package was pushed where a provider should be.
    #[error("the tag leads to a module package\n  expected a provider's index")]
    TagIsModule,
    /// A bare descriptor was tagged.
    #[error("the tag leads to a bare descriptor\n  expected a provider's index")]
    TagIsDescriptor,
    /// Something with another artifact type.
    #[error("the tag leads to another kind of artifact\n  expected {}\n  received {}", super::PROVIDER, printable(.received))]
    TagArtifactType { received: String },
    /// Something with another media type.
    #[error("the tag leads to another kind of document\n  expected {INDEX}\n  received {}", or_nothing(.received))]
    TagMediaType { received: String },
    /// The tag of evidence leads to something else.
    #[error("the evidence is not an image manifest\n  expected {MANIFEST}\n  received {}", or_nothing(.received))]
    EvidenceMediaType { received: String },
    /// The plugin protocol versions of the evidence are invalid.
    #[error("the evidence names no usable plugin protocols")]
    Protocols(#[from] ProtocolError),
    /// It is larger than the limit of clients.
    #[error(
        "the {what} is too large\n  expected at most {LARGEST_READ} bytes\n  received {size} bytes"
    )]
    TooLarge { what: Part, size: u64 },
    /// Not the JSON that it should be.
    #[error("the {what} is not valid JSON of its kind")]
    Json { what: Part, source: json::Error },
    /// An object has a duplicate member. Go decodes the second into the first, and other parsers use one of the two.
    #[error("the {what} repeats a member\n  expected one `{}` in {place}\n  received `{}` and `{}`", printable(.first), printable(.first), printable(.second))]
    Repeated {
        what: Part,
        place: String,
        first: String,
        second: String,
    },
    /// It lists more than any provider has.
    #[error(
        "the {what} has too many {counted}\n  expected at most {limit} {counted} in {place}\n  received more"
    )]
    TooMany {
        what: Part,
        place: String,
        counted: &'static str,
        limit: usize,
    },
    /// The body says that it is something else, or does not say what it is.
    #[error("the {what} has the wrong mediaType\n  expected {}\n  received {}", printable(.expected), or_nothing(.received))]
    BodyMediaType {
        what: Part,
        expected: String,
        received: String,
    },
    /// The body has another artifact type, or none.
    #[error("the {what} has the wrong artifactType\n  expected {expected}\n  received {}", or_nothing(.received))]
    BodyArtifactType {
        what: Part,
        expected: &'static str,
        received: String,
    },
    /// A provider entry that is itself an index breaks the version for every platform.
    #[error("an entry of the index is not an image manifest\n  expected {MANIFEST}\n  received {}", or_nothing(.received))]
    EntryMediaType { received: String },
    /// A provider entry without `platform` breaks the version for every platform.
    #[error("an entry of the index has no platform\n  entry {}", printable(.digest))]
    EntryWithoutPlatform { digest: String },
    /// Two entries for one platform, even with one digest.
    #[error("the platform {platform} has several entries")]
    Ambiguous { platform: Platform },
    /// Only other platforms are there.
    #[error("the platform {platform} is missing\n  has {}", list(.available))]
    NoPlatform {
        platform: Platform,
        available: Vec<Platform>,
    },
    /// No entry is a provider's: none has an artifact type, as in a container image, or it is another one.
    #[error("the index has no entry of a provider\n  expected artifactType {PROVIDER_TARGET}\n  received {}", .received.as_deref().map_or_else(|| "none, as in a container image".to_owned(), printable))]
    NoProviders { received: Option<String> },
    /// A descriptor that describes no bytes.
    #[error("the {what} describes nothing that can be fetched")]
    Descriptor { what: Part, source: DescriptorError },
    /// A platform manifest without layers.
    #[error("the platform manifest has no layers\n  expected one of type {ZIP}")]
    NoLayers,
    /// Layers, but none of them a zip.
    #[error("the platform manifest has no package\n  expected a layer of type {ZIP}\n  received {}", or_nothing(.received))]
    NoZip { received: String },
    /// More than one zip.
    #[error(
        "the platform manifest has several packages\n  expected one layer of type {ZIP}\n  received {count}"
    )]
    SeveralZips { count: usize },
    /// Packages are known by their SHA-256 and nothing else.
    #[error("the package layer has no SHA-256 digest\n  received {digest}")]
    PackageDigest { digest: Digest },
    /// The layer says that it is for another platform.
    #[error("the package layer is for another platform\n  expected {expected}\n  received {}", printable(.received))]
    PackagePlatform {
        expected: Platform,
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
    /// Why the JSON of a document cannot be used.
    pub fn unread(what: Part, source: json::Error) -> Self {
        let place = source.part_of(&what.to_string());
        match source.fault {
            Fault::Repeated { first, second } => Self::Repeated {
                what,
                place,
                first,
                second,
            },
            Fault::TooMany {
                what: counted,
                limit,
            } if counted != "levels" => Self::TooMany {
                what,
                place,
                counted,
                limit,
            },
            _ => Self::Json { what, source },
        }
    }

    /// A short, stable name for this reason: `PART-WHAT`.
    pub fn code(&self) -> String {
        let missing_or_wrong = |received: &str| {
            if received.is_empty() {
                "missing"
            } else {
                "wrong"
            }
        };
        match self {
            Self::TagIsPlatform => "tag-is-platform-manifest".to_owned(),
            Self::TagIsManifest => "tag-is-image-manifest".to_owned(),
            Self::TagIsModule => "tag-is-module".to_owned(),
            Self::TagIsDescriptor => "tag-is-descriptor".to_owned(),
            Self::TagArtifactType { .. } => "tag-artifact-type-unsupported".to_owned(),
            Self::TagMediaType { .. } => "tag-media-type-unsupported".to_owned(),
            Self::EvidenceMediaType { .. } => "evidence-media-type-wrong".to_owned(),
            Self::Protocols(_) => "evidence-protocols-malformed".to_owned(),
            Self::TooLarge { what, .. } => format!("{}-too-large", what.as_str()),
            Self::Json { what, .. } => format!("{}-malformed", what.as_str()),
            Self::Repeated { what, .. } => format!("{}-member-repeated", what.as_str()),
            Self::TooMany { what, .. } => format!("{}-too-large", what.as_str()),
            Self::BodyMediaType { what, received, .. } => {
                format!(
                    "{}-media-type-{}",
                    what.as_str(),
                    missing_or_wrong(received)
                )
            }
            Self::BodyArtifactType { what, received, .. } => {
                format!(
                    "{}-artifact-type-{}",
                    what.as_str(),
                    missing_or_wrong(received)
                )
            }
            Self::EntryMediaType { .. } => "entry-media-type-wrong".to_owned(),
            Self::EntryWithoutPlatform { .. } => "entry-platform-missing".to_owned(),
            Self::Ambiguous { .. } => "platform-ambiguous".to_owned(),
            Self::NoPlatform { .. } => "platform-missing".to_owned(),
            Self::NoProviders { .. } => "index-without-packages".to_owned(),
            Self::Descriptor { what, source } => format!("{}-{}", what.as_str(), fault(source)),
            Self::NoLayers => "layer-missing".to_owned(),
            Self::NoZip { .. } => "layer-media-type-wrong".to_owned(),
            Self::SeveralZips { .. } => "layer-ambiguous".to_owned(),
            Self::PackageDigest { .. } => "layer-digest-unsupported".to_owned(),
            Self::PackagePlatform { .. } => "layer-platform-wrong".to_owned(),
        }
    }

    /// The category: an absent platform is not found, a duplicate member is untrusted, everything else is malformed.
    pub fn category(&self) -> Category {
        match self {
            Self::Repeated { .. } => Category::Untrusted,
            Self::NoPlatform { .. } => Category::NotFound,
            _ => Category::Malformed,
        }
    }
}

fn fault(error: &DescriptorError) -> &'static str {
    match error {
        DescriptorError::Digest(digest::Error::UnknownAlgorithm { .. }) => "digest-unsupported",
        DescriptorError::Digest(_) => "digest-malformed",
        DescriptorError::Size { .. } => "size-malformed",
    }
}
