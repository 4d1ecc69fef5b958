//! Why a signature is not accepted.

use std::fmt;

use crate::error::{self, FEW, printable};
use crate::fingerprint::Fingerprint;
/// Why a signature is not accepted. Of several signatures, the one that passed most checks is reported.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the signature `{}` {reason}", printable(.signature))]
pub struct SignatureError {
    /// The signature's name.
    pub signature: String,
    /// What is wrong with it.
    pub reason: SignatureErrorKind,
}

/// What is wrong with a signature. The later ones passed more checks.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, thiserror::Error)]
#[allow(missing_docs, reason = "the message of a variant names its fields")]
pub enum SignatureErrorKind {
    /// It contains no readable OpenPGP signature packets, or is longer than any real one.
    #[error("is not an OpenPGP signature that can be read")]
    Malformed,
    /// It is armoured text. Clients accept only [binary signatures](crate::clients#signatures), so they would not install the provider.
    #[error("is armoured, and clients accept binary signatures only")]
    Armoured,
    /// Clients do not accept its version or hash algorithm either, or it has no date; or this build does not support the algorithm of its key.
    #[error("is of an unsupported kind: {0}")]
    Unsupported(String),
    /// It was made by a key that is not among the accepted ones.
    #[error("is by another key\n  expected {}\n  received {}", listed(.expected), listed(.received))]
    OtherKey {
        expected: Vec<Fingerprint>,
        /// The fingerprints or key ids that the signature names, in upper-case hex.
        received: Vec<String>,
    },
    /// The certificate has no valid statement that this key may sign.
    #[error("is by a key that may not sign\n  key {key}")]
    NotForSigning { key: Fingerprint },
    /// The signature is not over this document: one of the two was altered, or it is of another type.
    #[error("is not over this checksum document\n  key {key}")]
    Altered { key: Fingerprint },
    /// Somebody can make two documents with the same SHA-1 hash, and have the author sign the harmless one.
    #[error("uses SHA-1 over the checksum document\n  key {key}")]
    WeakDocument { key: Fingerprint },
    /// The signature or its key has expired.
    #[error("is by an expired key\n  key {key}")]
    Expired { key: Fingerprint },
    /// The owner revoked the key.
    #[error("is by a revoked key\n  key {key}")]
    Revoked { key: Fingerprint },
    /// It is good, but its key is not pinned.
    #[error("is by a key that is not pinned\n  expected {}\n  received {received}", listed(.expected))]
    NotPinned {
        expected: Vec<Fingerprint>,
        received: Fingerprint,
    },
}

/// The first items of a list, as text. An origin may send hundreds of keys.
pub(super) fn listed<T: fmt::Display>(items: &[T]) -> String {
    match items {
        [] => "none".to_owned(),
        items => error::listed(items, FEW),
    }
}
