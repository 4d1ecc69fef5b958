//! The reasons why clients refuse an artifact.

use super::{PROVIDER_TARGET, Part};
use crate::error::{Category, Hint, MANY, listed, printable};
use crate::json;
use crate::platform::Platform;
use crate::release::ProtocolError;

/// The reason why clients do not install the artifact of a tag ([clients: OCI artifacts](crate::clients#oci-artifacts)).
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs, reason = "the message of a variant names its fields")]
pub enum Refusal {
    /// A document or entry has another type, digest, platform or list of layers than clients expect.
    #[error("{}\n  expected {}\n  received {}", lead(*.what, .member), printable(.expected), or_nothing(.received))]
    Wrong {
        what: Part,
        /// The member of the document.
        member: &'static str,
        expected: String,
        /// The value as written; empty if absent.
        received: String,
    },
    /// The evidence has invalid plugin protocol versions.
    #[error("the evidence names no usable plugin protocols")]
    Protocols(#[from] ProtocolError),
    /// The document exceeds the limit for its kind.
    #[error("the {what} is too large\n  expected at most {limit} bytes\n  received {size} bytes")]
    TooLarge { what: Part, limit: u64, size: u64 },
    /// The manifest does not parse as JSON of the expected structure, or has too many entries, or an object has a duplicate member. Go decodes the
    /// second into the first, and other parsers use one of the two.
    #[error("the {what} is not valid JSON of its kind")]
    Json { what: Part, source: json::Error },
    /// The index has no entry for this platform.
    #[error("the platform {platform} is missing\n  has {}", list(.available))]
    NoPlatform {
        platform: Platform,
        available: Vec<Platform>,
    },
    #[error("the index has no entry of a provider\n  expected artifactType {PROVIDER_TARGET}\n  received {}", .received.as_deref().map_or_else(|| "none, as in a container image".to_owned(), printable))]
    NoProviders { received: Option<String> },
}

fn lead(what: Part, member: &str) -> String {
    match what {
        Part::Tag => "the tag leads to another kind of artifact".to_owned(),
        _ => format!("the {what} has the wrong {member}"),
    }
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
    /// The refusal of a member with another value.
    pub(super) fn wrong(
        what: Part,
        member: &'static str,
        expected: impl ToString,
        received: impl ToString,
    ) -> Self {
        Self::Wrong {
            what,
            member,
            expected: expected.to_string(),
            received: received.to_string(),
        }
    }

    /// Refuses a part of more than `limit` bytes.
    ///
    /// # Errors
    /// It is larger.
    pub fn check_size(what: Part, limit: u64, size: u64) -> Result<(), Self> {
        match size > limit {
            true => Err(Self::TooLarge { what, limit, size }),
            false => Ok(()),
        }
    }

    /// The refusal of a part that cannot be read as JSON, or repeats a member.
    pub fn unread(what: Part, source: json::Error) -> Self {
        Self::Json { what, source }
    }

    /// The category: an absent platform is not found, a duplicate member is untrusted, everything else is malformed.
    pub fn category(&self) -> Category {
        match self {
            Self::Json { source, .. } => source.category(),
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
            Self::Wrong {
                member: "artifactType",
                received,
                ..
            } if received.is_empty() => {
                "another tool may have left it out: copy the version with `tfoci copy`"
            }
            Self::Json { source, .. } if source.category() == Category::Untrusted => {
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
