//! Verifies detached signatures: tries each with every key that may have made it, and returns the first good one.

use std::collections::BTreeSet;

use sequoia_openpgp as openpgp;

use openpgp::packet::Signature;
use openpgp::parse::Parse;
use openpgp::{KeyHandle, Packet};

use crate::authentication::{Anchor, Note};
use crate::fingerprint::{Fingerprint, Issuer};
use crate::release::Document;
use crate::trust::deadline::{Deadline, Late};
use crate::trust::{
    Error, ExpectedKeys, NamedKey, SignatureError, SignatureErrorKind, UnsupportedSignature, limits,
};

use super::certificate::{Certificate, Offered};
use super::certificates::{Certificates, MOST_NAMES};
use super::description;
use super::key::Candidate;
use super::packets::{self, SignaturePacket};
use super::{ValidSignature, VerificationInput, verification};

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
        opened: BTreeSet::new(),
        last: None,
        lacks_pinned: false,
    };
    let mut best: Option<SignatureError> = None;
    for (place, file) in question.signatures.iter().enumerate() {
        let checked = trial.file(place, file);
        let reason = match checked.map_err(|Late| Error::Costly)? {
            Ok(good) => return Ok(Some(good)),
            Err(reason) => reason,
        };
        if best
            .as_ref()
            .is_none_or(|best| reached(&best.reason) < reached(&reason))
        {
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

/// How far the check got. The highest reason is reported.
fn reached(reason: &SignatureErrorKind) -> u8 {
    match reason {
        SignatureErrorKind::Long { .. } => 0,
        SignatureErrorKind::Malformed => 1,
        SignatureErrorKind::Armoured => 2,
        SignatureErrorKind::Unsupported { .. } => 3,
        SignatureErrorKind::OtherKey { .. } => 4,
        SignatureErrorKind::UnsupportedKey { .. } => 5,
        SignatureErrorKind::NotForSigning { .. } => 6,
        SignatureErrorKind::Altered { .. } => 7,
        SignatureErrorKind::WeakDocument { .. } => 8,
        SignatureErrorKind::Expired { .. } => 9,
        SignatureErrorKind::Revoked { .. } => 10,
        SignatureErrorKind::NotPinned { .. } => 11,
    }
}

/// A file may contain several signatures.
fn read(file: &[u8]) -> Result<Vec<SignaturePacket>, SignatureErrorKind> {
    let (limit, received) = (limits::SIGNATURE, file.len() as u64);
    if received > limit {
        return Err(SignatureErrorKind::Long { received, limit });
    }
    if file.trim_ascii_start().starts_with(b"-----BEGIN PGP ") {
        return Err(SignatureErrorKind::Armoured);
    }
    packets::signatures(file).ok_or(SignatureErrorKind::Malformed)
}

struct Verification<'a> {
    question: &'a VerificationInput<'a>,
    certificates: &'a Certificates,
    deadline: &'a Deadline,
    tried: usize,
    opened: BTreeSet<Fingerprint>,
    /// The one that was opened last: a second signature is usually by the same key.
    last: Option<Certificate>,
    /// Whether a signature names a pinned key that is not in any ring.
    lacks_pinned: bool,
}

impl Verification<'_> {
    /// Tries each packet of a file with each key.
    fn file(
        &mut self,
        place: usize,
        file: &Document,
    ) -> Result<Result<ValidSignature, SignatureErrorKind>, Late> {
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
                Err(SignatureErrorKind::Altered { .. }
                    | SignatureErrorKind::Revoked { .. }
                    | SignatureErrorKind::Unsupported {
                        received: UnsupportedSignature::Type(_) | UnsupportedSignature::Undated
                    })
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
                Err(reason) if reached(&best) < reached(&reason) => best = reason,
                Err(_) => {}
            }
        }
        Ok(Err(best))
    }

    /// Tries a signature with each certificate that it names.
    fn signature(
        &mut self,
        signature: &Signature,
    ) -> Result<Result<ValidSignature, SignatureErrorKind>, Late> {
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
        let mut best = SignatureErrorKind::Malformed;
        for offered in named {
            let judged = self.certificate(signature, &issuers, offered)?;
            match judged {
                Ok(good) => return Ok(Ok(good)),
                Err(reason) if reached(&best) < reached(&reason) => best = reason,
                Err(_) => {}
            }
        }
        Ok(Err(best))
    }

    /// Tries a signature with the keys of a certificate that it names.
    fn certificate(
        &mut self,
        signature: &Signature,
        issuers: &[KeyHandle],
        offered: &Offered,
    ) -> Result<Result<ValidSignature, SignatureErrorKind>, Late> {
        if !self.opened.contains(&offered.fingerprint) {
            if self.opened.len() == MOST_CERTIFICATES {
                return Ok(Err(self.unknown(issuers)));
            }
            self.opened.insert(offered.fingerprint.clone());
        }
        let is_open = |last: &Certificate| last.fingerprint == offered.fingerprint;
        if !self.last.as_ref().is_some_and(is_open) {
            self.last = offered.open(self.deadline)?;
        }
        // If the named key is not usable, it is reported as not for signing.
        let mut best = SignatureErrorKind::NotForSigning {
            key: offered.fingerprint.clone(),
        };
        let Some(certificate) = &self.last else {
            return Ok(Err(best));
        };
        let mut is_first = true;
        for key in certificate.parsed.keys().key_handles(issuers.iter()) {
            match self.verify_with_key(signature, certificate, &key)? {
                Ok(notes) => {
                    return Ok(Ok(ValidSignature {
                        signature: 0,
                        signer: description::of(certificate, self.question.now),
                        anchor: certificate.anchor,
                        at: signature.signature_creation_time(),
                        notes,
                    }));
                }
                Err(reason) if is_first || reached(&best) < reached(&reason) => best = reason,
                Err(_) => {}
            }
            is_first = false;
        }
        Ok(Err(best))
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

    /// The fingerprints of certificates that may sign, including missing ones.
    fn accepted(&self) -> Vec<Fingerprint> {
        let there = self.certificates.iter();
        let there = there.filter(|one| self.accepts(one.anchor));
        let mut accepted = self.question.rule.pins.clone();
        accepted.extend(there.map(|certificate| certificate.fingerprint.clone()));
        accepted.sort_unstable();
        accepted.dedup();
        accepted
    }

    /// These keys as people know them. A single one has its user id, if its certificate is there and there is time to read it.
    fn expected(&self) -> ExpectedKeys {
        let keys = self.accepted();
        let is_single = keys.len() == 1;
        let keys = keys.into_iter().map(|fingerprint| NamedKey {
            user_id: is_single.then(|| self.user_id(&fingerprint)).flatten(),
            fingerprint,
        });
        let keys = keys.map(|key| key.to_string());
        ExpectedKeys {
            keys: keys.collect(),
            asked_by: self.question.rule.asked_by.clone(),
        }
    }

    fn user_id(&self, key: &Fingerprint) -> Option<String> {
        let mut all = self.certificates.iter();
        let offered = all.find(|offered| offered.fingerprint == *key)?;
        let certificate = offered.open(self.deadline).ok()??;
        description::of(&certificate, self.question.now).user_id
    }

    fn accepts(&self, anchor: Anchor) -> bool {
        !self.question.rule.pinned() || anchor == Anchor::Pinned
    }

    /// Verifies a signature by this key, and returns the notes for accepting it.
    ///
    /// The cryptographic check comes first. Later checks matter only if the key really made the signature.
    fn verify_with_key(
        &self,
        signature: &Signature,
        certificate: &Certificate,
        key: &Candidate<'_>,
    ) -> Result<Result<Vec<Note>, SignatureErrorKind>, Late> {
        self.deadline.check()?;
        let verified = verification::verify(self.question, signature, certificate, key);
        Ok(match verified {
            Ok(_) if !self.accepts(certificate.anchor) => Err(SignatureErrorKind::NotPinned {
                expected: self.expected(),
                received: NamedKey {
                    fingerprint: certificate.fingerprint.clone(),
                    user_id: description::of(certificate, self.question.now).user_id,
                },
            }),
            verified => verified,
        })
    }
}

/// The issuers of a signature, without key ids whose fingerprint it names too.
fn named(issuers: &[KeyHandle]) -> Vec<Issuer> {
    let all: Vec<String> = issuers.iter().map(KeyHandle::to_hex).collect();
    let short = |one: &String| {
        all.iter()
            .any(|other| other != one && other.ends_with(one.as_str()))
    };
    let named = all.iter().filter(|one| !short(one)).cloned();
    named.map(Issuer::of_hex).collect()
}
