//! The attestation that readers of a store require of a version.

use serde_json::Value;

use super::bundle::open;
use super::statement::{PASSED, PREDICATE_TYPE, STATEMENT};
use super::{Fault, KeyError, PublicKey};
use crate::digest::Digest;

/// Whose attestation a version needs, besides its author's signature.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RequiredAttestation {
    /// The PEM of the mirror's public key.
    pub pem: Vec<u8>,
    /// The URI of the mirror; any, if it is `None`.
    pub id: Option<String>,
}

impl RequiredAttestation {
    /// The key.
    ///
    /// # Errors
    /// The file has no such key.
    pub fn key(&self) -> Result<PublicKey, KeyError> {
        PublicKey::parse(&self.pem)
    }

    /// Checks the bundle of an attestation: signature, kind, subject, mirror, result, and the checksum document beside the version, if there is one.
    ///
    /// # Errors
    /// It does not say that this mirror verified this version.
    pub fn check(
        &self,
        bundle: &[u8],
        name: &str,
        index: &Digest,
        checksums: Option<&Digest>,
    ) -> Result<(), Fault> {
        let key = self.key().map_err(|_| Fault::OtherKey)?;
        let statement = open(bundle, Some(&key))?;
        let list = |pointer| {
            let list = statement.pointer(pointer).and_then(Value::as_array);
            list.into_iter().flatten()
        };
        let is_of = |one: &Value, digest: &Digest| text(one, "/digest/sha256") == digest.hex();
        let is_subject = |one: &Value| text(one, "/name") == name && is_of(one, index);
        let is_input =
            |document| list("/predicate/inputAttestations").any(|one| is_of(one, document));
        let mirror = text(&statement, "/predicate/verifier/id");
        let is_named = self.id.as_deref().is_none_or(|id| id == mirror);
        for (what, is_right) in [
            ("type", text(&statement, "/_type") == STATEMENT),
            (
                "type of predicate",
                text(&statement, "/predicateType") == PREDICATE_TYPE,
            ),
            ("subject", list("/subject").any(is_subject)),
            ("checksum document", checksums.is_none_or(is_input)),
            ("verifier", is_named && !mirror.is_empty()),
            (
                "result",
                text(&statement, "/predicate/verificationResult") == PASSED,
            ),
        ] {
            if !is_right {
                return Err(Fault::Other(what));
            }
        }
        Ok(())
    }
}

/// A text in a document; empty if it is none.
fn text<'v>(value: &'v Value, pointer: &str) -> &'v str {
    let text = value.pointer(pointer).and_then(Value::as_str);
    text.unwrap_or_default()
}
