//! The verification of a signature by one key.

use std::borrow::Cow;

use sequoia_openpgp as openpgp;

use openpgp::packet::Signature;
use openpgp::types::SignatureType;

use crate::authentication::Note;
use crate::trust::rule::{Expired, Weak};
use crate::trust::{SignatureErrorKind, VerificationInput};

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
        return Err(unsupported(format_args!("by a key of {algorithm}")));
    }
    let made = signature.signature_creation_time();
    let made = made.ok_or_else(|| unsupported("undated"))?;
    let at = made.max(now);
    // Clients gave up version 3.
    if signature.version() < 4 {
        let version = signature.version();
        return Err(unsupported(format_args!("version {version}")));
    }
    let standing = key::key_status(key, at, now)
        .ok_or_else(|| SignatureErrorKind::NotForSigning { key: signer() })?;
    if !is_over(signature, question.document, key)? {
        return Err(SignatureErrorKind::Altered { key: signer() });
    }
    let weak = key::hash_notes(signature, now);
    let weak = weak.ok_or_else(|| unsupported(signature.hash_algo()))?;
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

/// Whether a key made a signature over the document, or over its lines ended by CRLF.
fn is_over(
    signature: &Signature,
    document: &[u8],
    key: &Candidate<'_>,
) -> Result<bool, SignatureErrorKind> {
    let message = match signature.typ() {
        SignatureType::Binary => Cow::Borrowed(document),
        SignatureType::Text => Cow::Owned(with_crlf(document)),
        _ => return Ok(false),
    };
    let algorithm = signature.hash_algo();
    let mut hash = algorithm
        .context()
        .map_err(|_| unsupported(algorithm))?
        .for_signature(signature.version());
    if let Some(salt) = signature.salt() {
        hash.update(salt);
    }
    hash.update(&message);
    Ok(signature.verify_hash(key.key(), hash).is_ok())
}

fn unsupported(received: impl ToString) -> SignatureErrorKind {
    SignatureErrorKind::Unsupported(received.to_string())
}
