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
        let subjects = statement.get("subject").and_then(Value::as_array);
        let subjects = subjects.into_iter().flatten();
        let subjects = subjects.map(|one| [text(one, "/name"), text(one, "/digest/sha256")]);
        let subjects: Vec<[&str; 2]> = subjects.collect();
        let (own, hex) = (text(&statement, "/predicate/verifier/id"), index.hex());
        let id = self.id.as_deref().filter(|_| !own.is_empty());
        let subject = [name, &hex];
        let found = subjects.iter().find(|one| **one == subject);
        let found = found.or(subjects.first()).unwrap_or(&["", ""]);
        let inputs = statement.pointer("/predicate/inputAttestations");
        let inputs = inputs.and_then(Value::as_array).into_iter().flatten();
        let mut inputs = inputs.map(|one| text(one, "/digest/sha256"));
        let document = checksums.map(Digest::hex).unwrap_or_default();
        let is_input = checksums.is_none() || inputs.any(|one| one == document);
        for (what, expected, received) in [
            ("type", STATEMENT, text(&statement, "/_type")),
            (
                "type of predicate",
                PREDICATE_TYPE,
                text(&statement, "/predicateType"),
            ),
            ("subject", name, found[0]),
            ("digest", &hex, found[1]),
            (
                "checksum document",
                &document,
                if is_input { &document } else { "" },
            ),
            (
                "verifier",
                id.unwrap_or(if own.is_empty() { "a URI" } else { own }),
                own,
            ),
            (
                "result",
                PASSED,
                text(&statement, "/predicate/verificationResult"),
            ),
        ] {
            if expected != received {
                let (expected, received) = (expected.to_owned(), received.to_owned());
                return Err(Fault::Other {
                    what,
                    expected,
                    received,
                });
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
