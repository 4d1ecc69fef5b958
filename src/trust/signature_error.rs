//! Why a signature is not accepted.

use std::fmt;

use crate::error::printable;
use crate::fingerprint::Fingerprint;

use super::expected_keys::{ExpectedKeys, NamedKey, listed};

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
    /// It is longer than any real one.
    #[error("is too long\n  expected at most {limit} bytes\n  received {received} bytes")]
    Long { received: u64, limit: u64 },
    /// It contains no readable OpenPGP signature packets.
    #[error("is not an OpenPGP signature that can be read")]
    Malformed,
    /// It is armoured text. Clients accept only [binary signatures](crate::clients#signatures), so they would not install the provider.
    #[error("is armoured\n  expected binary, the only form that clients accept\n  received text")]
    Armoured,
    /// Clients do not accept its version, type or hash algorithm either.
    #[error("is of an unsupported kind\n  received {received}")]
    Unsupported { received: UnsupportedSignature },
    /// It was made by a key that is not among the accepted ones.
    #[error("is by another key\n  expected {expected}\n  received {}", listed(.received))]
    OtherKey {
        expected: ExpectedKeys,
        /// The fingerprints or key ids that the signature names, in upper-case hex.
        received: Vec<String>,
    },
    /// This build does not support the key's algorithm or curve.
    #[error("is by a key of an unsupported algorithm\n  key {key}\n  algorithm {algorithm}")]
    UnsupportedKey { key: Fingerprint, algorithm: String },
    /// The certificate has no valid statement that this key may sign.
    #[error("is by a key that may not sign\n  key {key}")]
    NotForSigning { key: Fingerprint },
    /// The signature is not over this document: one of the two was altered.
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
    #[error("is by a key that is not pinned\n  expected {expected}\n  received {received}")]
    NotPinned {
        expected: ExpectedKeys,
        received: NamedKey,
    },
}

/// The property of a signature that is not supported.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum UnsupportedSignature {
    /// A version of the format before 4, which the clients do not accept either.
    Version(u8),
    /// Its type, by name.
    Type(String),
    /// Its hash algorithm, by name.
    Hash(String),
    /// It has no creation time.
    Undated,
}

impl fmt::Display for UnsupportedSignature {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Version(version) => write!(f, "version {version}"),
            Self::Type(name) | Self::Hash(name) => f.write_str(name),
            Self::Undated => f.write_str("undated"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_names_both_keys_and_cannot_be_forged() {
        let key = |digit: &str| NamedKey {
            fingerprint: digit.repeat(40).parse().expect("a fingerprint"),
            user_id: None,
        };
        let refusal = SignatureError {
            signature: "x\n.sig".to_owned(),
            reason: SignatureErrorKind::NotPinned {
                expected: ExpectedKeys {
                    keys: vec![key("A").to_string()],
                    asked_by: None,
                },
                received: key("B"),
            },
        };
        assert_eq!(
            refusal.to_string(),
            format!(
                "the signature `x\u{fffd}.sig` is by a key that is not pinned\n  expected {}\n  received {}",
                "A".repeat(40),
                "B".repeat(40)
            )
        );
    }
}
