//! Why an attestation does not count.

use crate::error::printable;

/// Why an attestation does not count. The later ones are closer to a good one.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, thiserror::Error)]
#[allow(missing_docs, reason = "the message of a variant names its fields")]
pub enum Fault {
    #[error("it is no Sigstore bundle with a statement")]
    Malformed,
    #[error("another key signed it, or it was changed")]
    OtherKey,
    #[error("it has another {what}\n  expected {}\n  received {}", printable(.expected), printable(.received))]
    Other {
        what: &'static str,
        expected: String,
        received: String,
    },
}
