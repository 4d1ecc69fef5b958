//! What did not verify, for programs: of problems whose category is [`Category::Untrusted`](crate::error::Category::Untrusted).

use serde::Serialize;

use super::Problem;
use crate::blob;
use crate::date::timestamp;
use crate::hash::PackageHash;
use crate::trust::{Error, SignatureErrorKind};

/// What did not verify.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Kind {
    /// One word.
    pub kind: &'static str,
    /// The fingerprints or hashes that were expected, or until when a version is held.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub expected: Vec<String>,
    /// Those that were received, or why a version is denied.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub received: Vec<String>,
}

impl Kind {
    fn new(kind: &'static str, expected: &[impl ToString], received: &[impl ToString]) -> Self {
        Self {
            kind,
            expected: expected.iter().map(ToString::to_string).collect(),
            received: received.iter().map(ToString::to_string).collect(),
        }
    }

    /// A kind without more facts than the message has.
    pub fn only(kind: &'static str) -> Self {
        Self::new(kind, &[""; 0], &[""; 0])
    }

    fn of_trust(error: &Error) -> Self {
        use SignatureErrorKind as Reason;
        match error {
            Error::Unproven { pinned, .. } => Self::new("not-signed", pinned, &[""; 0]),
            Error::Mismatch {
                expected, received, ..
            } => Self::new("wrong-hash", &[expected], &[received]),
            Error::NotLocked {
                expected, received, ..
            } => Self::new("wrong-hash", expected, &[PackageHash::of_zip(received)]),
            Error::NotAttested { .. } => Self::only("not-attested"),
            Error::Denied { why } => Self::new("denied", &[""; 0], &[why]),
            Error::Refused(refused) => match &refused.reason {
                Reason::NotPinned { expected, received } => {
                    Self::new("key-changed", expected, &[received])
                }
                Reason::OtherKey { expected, received } => {
                    Self::new("key-changed", expected, received)
                }
                Reason::Expired { key } => Self::new("key-expired", &[""; 0], &[key]),
                Reason::Revoked { key } => Self::new("key-revoked", &[""; 0], &[key]),
                _ => Self::only("bad-signature"),
            },
            _ => Self::only("not-verified"),
        }
    }
}

impl Problem {
    /// What did not verify.
    pub fn kind(&self) -> Kind {
        match self {
            Self::Trust(error)
            | Self::Evidence { source: error }
            | Self::Uncovered { source: error } => Kind::of_trust(error),
            Self::Package { source, .. } => source.kind(),
            Self::NoEvidence => Kind::only("not-signed"),
            Self::Held { until } => Kind::new("held", until.map(timestamp).as_slice(), &[""; 0]),
            Self::Blob(blob::Error::Digest { expected, received }) => {
                Kind::new("wrong-hash", &[expected], &[received])
            }
            Self::OtherPackage {
                stored, offered, ..
            } => Kind::new("wrong-hash", &[stored], &[offered]),
            Self::OtherRelease { locked, received } => Kind::new("wrong-hash", locked, received),
            _ => Kind::only("not-verified"),
        }
    }
}
