//! Verifies detached signatures: tries each with every key that may have made it, and returns the first good one.

use std::collections::{BTreeMap, BTreeSet};

use sequoia_openpgp as openpgp;

use openpgp::packet::Signature;
use openpgp::parse::Parse;
use openpgp::{KeyHandle, Packet};

use crate::authentication::{Anchor, Note};
use crate::fingerprint::Fingerprint;
use crate::release::Document;
use crate::trust::deadline::Deadline;
use crate::trust::{
    Error, SignatureError, SignatureErrorKind, ValidSignature, VerificationInput, limits,
};

use super::certificate::{Certificate, Offered};
use super::certificates::{Certificates, MOST_NAMES};
use super::description;
use super::key::Candidate;
use super::packets::{self, SignaturePacket};
use super::verification;

/// The most signatures that are tried for a release. Real ones have one, and two while its owner changes keys.
const MOST_SIGNATURES: usize = 16;
/// The most certificates that are tried for a release, of those that its signatures name. A signature names one, but two certificates can
/// share a key id, and a stranger can make any number that share it.
const MOST_CERTIFICATES: usize = 16;

/// Looks for a good signature. `None` if there is no key at all to check one with.
///
/// # Errors
/// Keys that cannot be read, the most specific refusal if no signature is good, or [`Error::Costly`].
pub(in crate::trust) fn check(
    question: &VerificationInput<'_>,
    notes: &mut Vec<Note>,
    deadline: &Deadline,
) -> Result<Option<ValidSignature>, Error> {
    let certificates = Certificates::read(question.rule, question.rings)?;
    if certificates.skipped() {
        notes.push(Note::SkippedKey);
    }
    let mut trial = Verification {
        question,
        certificates: &certificates,
        deadline,
        tried: 0,
        opened: BTreeMap::new(),
        lacks_pinned: false,
    };
    let mut best: Option<SignatureError> = None;
    for (place, file) in question.signatures.iter().enumerate() {
        let reason = match trial.file(place, file)? {
            Ok(good) => return Ok(Some(good)),
            Err(reason) => reason,
        };
        if best.as_ref().is_none_or(|best| best.reason < reason) {
            best = Some(SignatureError {
                signature: file.name.clone(),
                reason,
            });
        }
    }
    let reason = best.as_ref().map(|best| &best.reason);
    // Without any key, a signature cannot be checked; only its issuers can be compared with the required keys.
    let is_unchecked = match reason {
        Some(SignatureErrorKind::OtherKey { .. }) => {
            certificates.iter().next().is_none() && !question.rule.pinned()
        }
        Some(SignatureErrorKind::Malformed) if trial.lacks_pinned => true,
        _ => certificates.iter().next().is_none(),
    };
    if is_unchecked {
        return Ok(None);
    }
    best.map_or(Ok(None), |refusal| Err(refusal.into()))
}

/// The first good signature. If there is none, the reason of the attempt that got furthest.
fn first_good(attempts: impl Iterator<Item = Result<Judged, Error>>) -> Result<Judged, Error> {
    let mut best = SignatureErrorKind::Malformed;
    for judged in attempts {
        match judged? {
            Ok(good) => return Ok(Ok(good)),
            Err(reason) => best = best.max(reason),
        }
    }
    Ok(Err(best))
}

/// A file may contain several signatures.
fn read(file: &[u8]) -> Result<Vec<SignaturePacket>, SignatureErrorKind> {
    if file.len() as u64 > limits::SIGNATURE {
        return Err(SignatureErrorKind::Malformed);
    }
    if file.trim_ascii_start().starts_with(b"-----BEGIN PGP ") {
        return Err(SignatureErrorKind::Armoured);
    }
    packets::signatures(file).ok_or(SignatureErrorKind::Malformed)
}

type Judged = Result<ValidSignature, SignatureErrorKind>;

struct Verification<'a> {
    question: &'a VerificationInput<'a>,
    certificates: &'a Certificates,
    deadline: &'a Deadline,
    tried: usize,
    /// The certificates that were tried; `None` for one that is none.
    opened: BTreeMap<Fingerprint, Option<Certificate>>,
    /// Whether a signature names a pinned key that is not in any ring.
    lacks_pinned: bool,
}

impl Verification<'_> {
    /// Tries each packet of a file with each key.
    fn file(&mut self, place: usize, file: &Document) -> Result<Judged, Error> {
        let packets = match read(&file.bytes) {
            Ok(packets) => packets,
            Err(reason) => return Ok(Err(reason)),
        };
        let mut best = SignatureErrorKind::Malformed;
        // Clients try the first signature that they can read and whose key they know, and no other.
        let mut is_second = false;
        for packet in packets {
            self.tried += 1;
            if self.tried > MOST_SIGNATURES {
                break;
            }
            let Ok(Packet::Signature(signature)) = Packet::from_bytes(&packet.bytes) else {
                continue;
            };
            let judged = self.signature(&signature)?;
            is_second |= matches!(
                judged,
                Err(SignatureErrorKind::Altered { .. } | SignatureErrorKind::Revoked { .. })
            );
            match judged {
                Ok(mut good) => {
                    good.signature = place;
                    good.notes
                        .extend(packet.repaired.then_some(Note::RepairedMpi));
                    good.notes
                        .extend(is_second.then_some(Note::SecondSignature));
                    return Ok(Ok(good));
                }
                Err(reason) => best = best.max(reason),
            }
        }
        Ok(Err(best))
    }

    /// Tries a signature with each certificate that it names.
    fn signature(&mut self, signature: &Signature) -> Result<Judged, Error> {
        let mut issuers = signature.get_issuers();
        issuers.truncate(MOST_NAMES);
        let certificates = self.certificates;
        let mut named: Vec<&Offered> = certificates
            .iter()
            .filter(|offered| offered.is_named(&issuers))
            .collect();
        if named.is_empty() {
            return Ok(Err(self.unknown(&issuers)));
        }
        // Try accepted keys first, so that other keys do not use up the time.
        named.sort_by_key(|offered| !self.accepts(offered.anchor));
        let attempts = named.into_iter();
        let attempts = attempts.map(|offered| self.certificate(signature, &issuers, offered));
        first_good(attempts)
    }

    /// Tries a signature with the keys of a certificate that it names.
    fn certificate(
        &mut self,
        signature: &Signature,
        issuers: &[KeyHandle],
        offered: &Offered,
    ) -> Result<Judged, Error> {
        let own = &offered.fingerprint;
        if !self.opened.contains_key(own) {
            if self.opened.len() == MOST_CERTIFICATES {
                return Ok(Err(self.unknown(issuers)));
            }
            let certificate = offered.open(self.deadline)?;
            self.opened.insert(own.clone(), certificate);
        }
        let none = SignatureErrorKind::NotForSigning { key: own.clone() };
        let Some(certificate) = self.opened.get(own).and_then(Option::as_ref) else {
            return Ok(Err(none));
        };
        let keys = certificate.parsed.keys().key_handles(issuers.iter());
        let keys: Vec<Candidate<'_>> = keys.collect();
        if keys.is_empty() {
            return Ok(Err(none));
        }
        let attempts = keys.iter();
        let attempts = attempts.map(|key| self.verify_with_key(signature, certificate, key));
        first_good(attempts)
    }

    /// The error for a signature whose keys are all missing.
    fn unknown(&mut self, issuers: &[KeyHandle]) -> SignatureErrorKind {
        let pins = &self.question.rule.pins;
        let is_pinned = |issuer: &KeyHandle| {
            pins.iter().any(|pin| {
                let pin = pin.to_string().parse::<openpgp::Fingerprint>();
                pin.is_ok_and(|pin| KeyHandle::from(pin).aliases(issuer))
            })
        };
        // A pinned key made the signature, but no ring contains it.
        if issuers.iter().any(is_pinned) {
            self.lacks_pinned = true;
            return SignatureErrorKind::Malformed;
        }
        SignatureErrorKind::OtherKey {
            expected: self.expected(),
            received: named(issuers),
        }
    }

    /// The keys that may sign, including missing ones.
    fn expected(&self) -> Vec<Fingerprint> {
        let there = self.certificates.iter();
        let there = there.filter(|one| self.accepts(one.anchor));
        let keys = there.map(|certificate| &certificate.fingerprint);
        let keys: BTreeSet<&Fingerprint> = keys.chain(&self.question.rule.pins).collect();
        keys.into_iter().cloned().collect()
    }

    fn accepts(&self, anchor: Anchor) -> bool {
        !self.question.rule.pinned() || anchor == Anchor::Pinned
    }

    /// Verifies a signature by this key.
    ///
    /// The cryptographic check comes first. Later checks matter only if the key really made the signature.
    fn verify_with_key(
        &self,
        signature: &Signature,
        certificate: &Certificate,
        key: &Candidate<'_>,
    ) -> Result<Judged, Error> {
        self.deadline.check()?;
        let verified = verification::verify(self.question, signature, certificate, key);
        Ok(
            verified.and_then(|notes| match self.accepts(certificate.anchor) {
                true => Ok(ValidSignature {
                    signature: 0,
                    signer: description::of(certificate, self.question.now),
                    anchor: certificate.anchor,
                    at: signature.signature_creation_time(),
                    notes,
                }),
                false => Err(SignatureErrorKind::NotPinned {
                    expected: self.expected(),
                    received: certificate.fingerprint.clone(),
                }),
            }),
        )
    }
}

/// The issuers of a signature, without key ids whose fingerprint it names too.
fn named(issuers: &[KeyHandle]) -> Vec<String> {
    let all: Vec<String> = issuers.iter().map(KeyHandle::to_hex).collect();
    let short = |one: &String| {
        all.iter()
            .any(|other| other != one && other.ends_with(one.as_str()))
    };
    all.iter().filter(|one| !short(one)).cloned().collect()
}
