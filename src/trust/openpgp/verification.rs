//! The verification of a signature by one key.

use std::borrow::Cow;
use std::time::SystemTime;

use sequoia_openpgp as openpgp;

use openpgp::packet::Signature;
use openpgp::types::{HashAlgorithm, SignatureType};

use crate::authentication::Note;
use crate::trust::rule::{Expired, Weak};
use crate::trust::{SignatureErrorKind, UnsupportedSignature, VerificationInput};

use super::certificate::Certificate;
use super::key::{self, Candidate};

/// Verifies a signature by this key, and returns the notes for accepting it.
pub(super) fn verify(
    question: &VerificationInput<'_>,
    signature: &Signature,
    certificate: &Certificate,
    key: &Candidate<'_>,
) -> Result<Vec<Note>, SignatureErrorKind> {
    let VerificationInput { rule, now, .. } = *question;
    let signer = || certificate.fingerprint.clone();
    if let Some(algorithm) = key::unsupported(key) {
        return Err(SignatureErrorKind::UnsupportedKey {
            key: signer(),
            algorithm,
        });
    }
    let message = message(signature, question.document)?;
    let made = signature
        .signature_creation_time()
        .ok_or_else(|| unsupported(UnsupportedSignature::Undated))?;
    let at = made.max(now);
    let standing = key::key_status(key, at, now)
        .ok_or_else(|| SignatureErrorKind::NotForSigning { key: signer() })?;
    if !is_over(signature, &message, key)? {
        return Err(SignatureErrorKind::Altered { key: signer() });
    }
    let weak = weakness(signature, now)?;
    if !weak.is_empty() && rule.weak == Weak::Refuse {
        return Err(SignatureErrorKind::WeakDocument { key: signer() });
    }
    let ended = signature
        .signature_expiration_time()
        .is_some_and(|end| end <= at);
    let expired = ended || standing.expires.is_some_and(|expires| expires <= at);
    // The signature's own date is ignored, because a thief of the key can write any date into it.
    if expired && rule.expired == Expired::Refuse {
        return Err(SignatureErrorKind::Expired { key: signer() });
    }
    if key::revoked(key) {
        return Err(SignatureErrorKind::Revoked { key: signer() });
    }
    let mut notes = [standing.notes, weak].concat();
    notes.extend(expired.then_some(Note::ExpiredKey));
    Ok(notes)
}

/// The bytes that a signature covers: the document, or its lines ended by CRLF.
fn message<'a>(
    signature: &Signature,
    document: &'a [u8],
) -> Result<Cow<'a, [u8]>, SignatureErrorKind> {
    match (signature.version(), signature.typ()) {
        // Clients gave up version 3.
        (version @ 0..4, _) => Err(unsupported(UnsupportedSignature::Version(version))),
        (_, SignatureType::Binary) => Ok(Cow::Borrowed(document)),
        (_, SignatureType::Text) => Ok(Cow::Owned(with_crlf(document))),
        (_, other) => Err(unsupported(UnsupportedSignature::Type(other.to_string()))),
    }
}

fn with_crlf(text: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len());
    for byte in text {
        if *byte == b'\n' && out.last() != Some(&b'\r') {
            out.push(b'\r');
        }
        out.push(*byte);
    }
    out
}

fn is_over(
    signature: &Signature,
    message: &[u8],
    key: &Candidate<'_>,
) -> Result<bool, SignatureErrorKind> {
    let algorithm = signature.hash_algo();
    let mut hash = algorithm
        .context()
        .map_err(|_| unsupported_hash(algorithm))?
        .for_signature(signature.version());
    if let Some(salt) = signature.salt() {
        hash.update(salt);
    }
    hash.update(message);
    Ok(signature.verify_hash(key.key(), hash).is_ok())
}

/// The notes about the hash algorithm of the signature.
fn weakness(signature: &Signature, now: SystemTime) -> Result<&'static [Note], SignatureErrorKind> {
    key::hash_notes(signature, now).ok_or_else(|| unsupported_hash(signature.hash_algo()))
}

fn unsupported_hash(algorithm: HashAlgorithm) -> SignatureErrorKind {
    unsupported(UnsupportedSignature::Hash(algorithm.to_string()))
}

fn unsupported(received: UnsupportedSignature) -> SignatureErrorKind {
    SignatureErrorKind::Unsupported { received }
}
