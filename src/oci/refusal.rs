//! The reasons why clients refuse an artifact.

use super::{DescriptorError, INDEX, LARGEST_READ, MANIFEST, PROVIDER_TARGET, Part, ZIP};
use crate::digest::Digest;
use crate::error::{Category, Hint, MANY, listed, printable};
use crate::json::{self, Fault};
use crate::platform::Platform;
use crate::release::ProtocolError;

/// The reason why clients do not install the artifact of a tag ([clients: OCI artifacts](crate::clients#oci-artifacts)).
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs, reason = "the message of a variant names its fields")]
pub enum Refusal {
    /// The tag refers to a platform manifest instead of an index.
    #[error("the tag leads to the manifest of one platform\n  expected an index of platforms")]
    TagIsPlatform,
    /// The tag refers to an image manifest, for example of a container image or a Helm chart.
    #[error("the tag leads to an image manifest\n  expected a provider's index")]
    TagIsManifest,
    /// The tag refers to a module package.
    #[error("the tag leads to a module package\n  expected a provider's index")]
    TagIsModule,
    /// The tag refers to a bare descriptor.
    #[error("the tag leads to a bare descriptor\n  expected a provider's index")]
    TagIsDescriptor,
    /// The artifact has another type.
    #[error("the tag leads to another kind of artifact\n  expected {}\n  received {}", super::PROVIDER, printable(.received))]
    TagArtifactType { received: String },
    /// The manifest has another media type.
    #[error("the tag leads to another kind of document\n  expected {INDEX}\n  received {}", or_nothing(.received))]
    TagMediaType { received: String },
    /// The tag of evidence does not refer to evidence.
    #[error("the evidence is not an image manifest\n  expected {MANIFEST}\n  received {}", or_nothing(.received))]
    EvidenceMediaType { received: String },
    /// The evidence has invalid plugin protocol versions.
    #[error("the evidence names no usable plugin protocols")]
    Protocols(#[from] ProtocolError),
    /// The manifest exceeds the limit of clients.
    #[error(
        "the {what} is too large\n  expected at most {LARGEST_READ} bytes\n  received {size} bytes"
    )]
    TooLarge { what: Part, size: u64 },
    /// The manifest does not parse as JSON of the expected structure.
    #[error("the {what} is not valid JSON of its kind")]
    Json { what: Part, source: json::Error },
    /// An object has a duplicate member. Go decodes the second into the first, and other parsers use one of the two.
    #[error("the {what} repeats a member\n{}", .repeated.facts(&.what.to_string()))]
    Repeated {
        what: Part,
        /// The duplicate member.
        repeated: json::Error,
    },
    /// The manifest has too many entries.
    #[error("the {what} has too many {of}\n{}", .counted.facts(&.what.to_string()))]
    TooMany {
        what: Part,
        /// What it has too many of.
        of: &'static str,
        /// The list and its limit.
        counted: json::Error,
    },
    /// The manifest's own media type is absent or different.
    #[error("the {what} has the wrong mediaType\n  expected {}\n  received {}", printable(.expected), or_nothing(.received))]
    BodyMediaType {
        what: Part,
        expected: String,
        received: String,
    },
    /// The manifest's own artifact type is absent or different.
    #[error("the {what} has the wrong artifactType\n  expected {expected}\n  received {}", or_nothing(.received))]
    BodyArtifactType {
        what: Part,
        expected: &'static str,
        received: String,
    },
    /// A provider entry that is an index makes the version unusable on every platform.
    #[error("an entry of the index is not an image manifest\n  expected {MANIFEST}\n  received {}", or_nothing(.received))]
    EntryMediaType { received: String },
    /// A provider entry without `platform` makes the version unusable on every platform.
    #[error("an entry of the index has no platform\n  entry {}", printable(.digest))]
    EntryWithoutPlatform { digest: String },
    /// Two entries for the same platform, even if they have the same digest.
    #[error("the platform {platform} has several entries\n  received {}\n  and {}", printable(.first), printable(.second))]
    Ambiguous {
        platform: Platform,
        /// The digest of the first entry, as written.
        first: String,
        /// The digest of the second entry, as written.
        second: String,
    },
    /// The index has no entry for this platform.
    #[error("the platform {platform} is missing\n  has {}", list(.available))]
    NoPlatform {
        platform: Platform,
        available: Vec<Platform>,
    },
    #[error("the index has no entry of a provider\n  expected artifactType {PROVIDER_TARGET}\n  received {}", .received.as_deref().map_or_else(|| "none, as in a container image".to_owned(), printable))]
    NoProviders { received: Option<String> },
    /// A descriptor with an invalid digest or size.
    #[error("the {what} describes nothing that can be fetched")]
    Descriptor { what: Part, source: DescriptorError },
    /// A platform manifest without layers.
    #[error("the platform manifest has no layers\n  expected one of type {ZIP}")]
    NoLayers,
    /// The platform manifest has layers, but no zip.
    #[error("the platform manifest has no package\n  expected a layer of type {ZIP}\n  received {}", or_nothing(.received))]
    NoZip { received: String },
    #[error(
        "the platform manifest has several packages\n  expected one layer of type {ZIP}\n  received {count}"
    )]
    SeveralZips { count: usize },
    /// The digest of the package layer is not SHA-256, which clients require.
    #[error("the package layer has no SHA-256 digest\n  expected sha256:…\n  received {digest}")]
    PackageDigest { digest: Digest },
    /// The `platform` of the package layer differs from that of the index entry.
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
    listed(platforms, MANY)
}

impl Refusal {
    /// The refusal of a part that cannot be read as JSON, or repeats a member.
    pub fn unread(what: Part, source: json::Error) -> Self {
        match source.fault {
            Fault::Repeated { .. } => Self::Repeated {
                what,
                repeated: source,
            },
            // Documents of this depth are none of our kind, like others that do not parse.
            Fault::Malformed(_) | Fault::TooMany { what: "levels", .. } => {
                Self::Json { what, source }
            }
            Fault::TooMany { what: of, .. } => Self::TooMany {
                what,
                of,
                counted: source,
            },
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

impl Hint for Refusal {
    fn hint(&self) -> Option<String> {
        let text = match self {
            Self::NoPlatform { available, .. } if !available.is_empty() => {
                "choose one of these with `--platform`"
            }
            Self::BodyArtifactType { received, .. } if received.is_empty() => {
                "another tool may have left it out: copy the version with `tfoci copy`"
            }
            Self::Repeated { .. } => {
                "find out who wrote it before you replace it: two readers see two packages in it"
            }
            _ => return None,
        };
        Some(text.to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_index_whose_platforms_no_client_can_ask_for_says_so() {
        let refusal = Refusal::NoPlatform {
            platform: "linux_amd64".parse().unwrap(),
            available: Vec::new(),
        };
        let expected = "the platform linux_amd64 is missing\n  has none that can be asked for";
        assert_eq!(refusal.to_string(), expected);
    }
}
