//! Why an attestation does not count.

/// Why an attestation does not count. The later ones are closer to a good one.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, thiserror::Error)]
#[allow(missing_docs, reason = "the message of a variant says it")]
pub enum Fault {
    #[error("it is no Sigstore bundle with a statement")]
    Malformed,
    #[error("another key signed it, or it was changed")]
    OtherKey,
    #[error("it has another {0}")]
    Other(&'static str),
}
