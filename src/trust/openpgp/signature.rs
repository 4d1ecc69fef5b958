//! Detached signatures: each is tried with each key that it may be by, and the first good one wins.

use std::borrow::Cow;
use std::time::SystemTime;

use sequoia_openpgp as openpgp;

use openpgp::packet::Signature;
use openpgp::parse::Parse;
use openpgp::types::SignatureType;
use openpgp::{KeyHandle, Packet};

use crate::authentication::{Anchor, Note};
use crate::release::Document;
use crate::trust::rule::{Expired, Fingerprint, Weak};
use crate::trust::{Error, Reason, Refusal};

use super::certificates::{Certificate, Certificates};
use super::key::{self, Candidate};
use super::packets::{self, SignaturePacket};
use super::{Good, Question};

/// The most bytes of a signature file. Real ones have 600.
const LONGEST: usize = 64 << 10;

/// Looks for a good signature. `None` if there is no key at all to check one with.
///
/// # Errors
/// Keys that cannot be taken in, and the refusal that tells most if no signature is good.
pub(in crate::trust) fn check(
    question: &Question<'_>,
    notes: &mut Vec<Note>,
) -> Result<Option<Good>, Error> {
    let certificates = Certificates::read(question.rule, question.rings)?;
    if certificates.skipped() {
        notes.push(Note::SkippedKey);
    }
    if certificates.iter().next().is_none() {
        return Ok(None);
    }
    let trial = Trial {
        question,
        certificates: &certificates,
    };
    let mut told: Option<Refusal> = None;
    for (place, file) in question.signatures.iter().enumerate() {
        let reason = match trial.file(place, file) {
            Ok(good) => return Ok(Some(good)),
            Err(reason) => reason,
        };
        if told
            .as_ref()
            .is_none_or(|told| reached(&told.reason) < reached(&reason))
        {
            told = Some(Refusal {
                signature: file.name.clone(),
                reason,
            });
        }
    }
    told.map_or(Ok(None), |refusal| Err(refusal.into()))
}

/// How far the check got: of several reasons, the highest tells most.
fn reached(reason: &Reason) -> u8 {
    match reason {
        Reason::Long { .. } => 0,
        Reason::Malformed => 1,
        Reason::Armoured => 2,
        Reason::Kind { .. } => 3,
        Reason::OtherKey { .. } => 4,
        Reason::UnsupportedKey { .. } => 5,
        Reason::NotForSigning { .. } => 6,
        Reason::Altered { .. } => 7,
        Reason::WeakDocument { .. } => 8,
        Reason::Expired { .. } => 9,
        Reason::Revoked { .. } => 10,
        Reason::NotPinned { .. } => 11,
    }
}

/// The packets of a signature file.
fn read(file: &[u8]) -> Result<Vec<SignaturePacket>, Reason> {
    if file.len() > LONGEST {
        return Err(Reason::Long {
            received: file.len(),
            limit: LONGEST,
        });
    }
    if file.trim_ascii_start().starts_with(b"-----BEGIN PGP ") {
        return Err(Reason::Armoured);
    }
    packets::signatures(file).ok_or(Reason::Malformed)
}

struct Trial<'a> {
    question: &'a Question<'a>,
    certificates: &'a Certificates,
}

impl Trial<'_> {
    /// Tries each packet of a file with each key.
    fn file(&self, place: usize, file: &Document) -> Result<Good, Reason> {
        let mut told = Reason::Malformed;
        for packet in read(&file.bytes)? {
            let Ok(Packet::Signature(signature)) = Packet::from_bytes(&packet.bytes) else {
                continue;
            };
            for candidate in self.candidates(&signature) {
                let judged = candidate.and_then(|(certificate, key)| {
                    let notes = self.judge(&signature, certificate, &key)?;
                    Ok((certificate, notes))
                });
                match judged {
                    Ok((certificate, mut notes)) => {
                        notes.extend(packet.repaired.then_some(Note::RepairedMpi));
                        return Ok(Good {
                            signature: place,
                            fingerprint: certificate.fingerprint.clone(),
                            anchor: certificate.anchor,
                            certificate: certificate.armoured(),
                            notes,
                        });
                    }
                    Err(reason) if reached(&told) < reached(&reason) => told = reason,
                    Err(_) => {}
                }
            }
        }
        Err(told)
    }

    /// The keys that a signature may be by; if there is none, the reason that says so.
    fn candidates(
        &self,
        signature: &Signature,
    ) -> Vec<Result<(&Certificate, Candidate<'_>), Reason>> {
        let issuers = signature.get_issuers();
        let mut found = Vec::new();
        for certificate in self.certificates.iter() {
            let keys = certificate.cert.keys().key_handles(issuers.iter());
            // An empty list of issuers would mean every key.
            let keys = keys.filter(|_| !issuers.is_empty());
            found.extend(keys.map(|key| Ok((certificate, key))));
        }
        if found.is_empty() {
            found.push(Err(Reason::OtherKey {
                expected: self.accepted(),
                received: named(&issuers),
            }));
        }
        found
    }

    /// The certificates that may sign, whether or not they are there.
    fn accepted(&self) -> Vec<Fingerprint> {
        let there = self.certificates.iter().filter(|one| self.accepts(one));
        let mut accepted = self.question.rule.pins.clone();
        accepted.extend(there.map(|certificate| certificate.fingerprint.clone()));
        accepted.sort_unstable();
        accepted.dedup();
        accepted
    }

    fn accepts(&self, certificate: &Certificate) -> bool {
        !self.question.rule.pinned() || certificate.anchor == Anchor::Pinned
    }

    /// What has to be noted when this key's signature is accepted.
    ///
    /// The arithmetic comes before whatever only matters of signatures that the key really made.
    fn judge(
        &self,
        signature: &Signature,
        certificate: &Certificate,
        key: &Candidate<'_>,
    ) -> Result<Vec<Note>, Reason> {
        let Question { rule, now, .. } = *self.question;
        let signer = || certificate.fingerprint.clone();
        if let Some(algorithm) = key::unsupported(key) {
            return Err(Reason::UnsupportedKey {
                key: signer(),
                algorithm,
            });
        }
        let message = message(signature, self.question.document)?;
        let made = signature
            .signature_creation_time()
            .ok_or_else(|| unsupported("undated"))?;
        let at = made.max(now);
        let standing =
            key::standing(key, at, now).ok_or_else(|| Reason::NotForSigning { key: signer() })?;
        if !is_over(signature, &message, key)? {
            return Err(Reason::Altered { key: signer() });
        }
        let weak = weakness(signature, now)?;
        if !weak.is_empty() && rule.weak == Weak::Refuse {
            return Err(Reason::WeakDocument { key: signer() });
        }
        let expired = |at| standing.expires.is_some_and(|expires| expires <= at);
        if expired(made) && rule.expired == Expired::Refuse {
            return Err(Reason::Expired { key: signer() });
        }
        if key::revoked(key) {
            return Err(Reason::Revoked { key: signer() });
        }
        if !self.accepts(certificate) {
            return Err(Reason::NotPinned {
                expected: self.accepted(),
                received: signer(),
            });
        }
        let ended = signature
            .signature_expiration_time()
            .is_some_and(|end| end <= at);
        let mut notes = [standing.notes, weak].concat();
        notes.extend((ended || expired(at)).then_some(Note::ExpiredKey));
        Ok(notes)
    }
}

/// The bytes that a signature covers: the document, or its lines ended by CRLF.
fn message<'a>(signature: &Signature, document: &'a [u8]) -> Result<Cow<'a, [u8]>, Reason> {
    match (signature.version(), signature.typ()) {
        // Clients gave up version 3.
        (version @ 0..4, _) => Err(unsupported(format_args!("version {version}"))),
        (_, SignatureType::Binary) => Ok(Cow::Borrowed(document)),
        (_, SignatureType::Text) => Ok(Cow::Owned(with_crlf(document))),
        (_, other) => Err(unsupported(other)),
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

fn is_over(signature: &Signature, message: &[u8], key: &Candidate<'_>) -> Result<bool, Reason> {
    let algorithm = signature.hash_algo();
    let mut hash = algorithm
        .context()
        .map_err(|_| unsupported(algorithm))?
        .for_signature(signature.version());
    if let Some(salt) = signature.salt() {
        hash.update(salt);
    }
    hash.update(message);
    Ok(signature.verify_hash(key.key(), hash).is_ok())
}

/// What has to be noted about the hash over the document.
fn weakness(signature: &Signature, now: SystemTime) -> Result<&'static [Note], Reason> {
    key::soundness(signature, now).ok_or_else(|| unsupported(signature.hash_algo()))
}

fn unsupported(kind: impl ToString) -> Reason {
    Reason::Kind {
        kind: kind.to_string(),
    }
}

/// The keys that a signature names, without the key identifiers of fingerprints that it names too.
fn named(issuers: &[KeyHandle]) -> Vec<String> {
    let all: Vec<String> = issuers.iter().map(KeyHandle::to_hex).collect();
    let short = |one: &String| {
        all.iter()
            .any(|other| other != one && other.ends_with(one.as_str()))
    };
    all.iter().filter(|one| !short(one)).cloned().collect()
}
