//! Whether a certificate allows one of its keys to sign, and which weaknesses have to be tolerated for that.

use std::time::SystemTime;

use sequoia_openpgp as openpgp;

use openpgp::Cert;
use openpgp::cert::amalgamation::ValidAmalgamation as _;
use openpgp::cert::amalgamation::ValidateAmalgamation as _;
use openpgp::cert::amalgamation::key::{ErasedKeyAmalgamation, ValidErasedKeyAmalgamation};
use openpgp::crypto::mpi;
use openpgp::packet::key::{PublicParts, UnspecifiedRole};
use openpgp::packet::{Key, Signature};
use openpgp::policy::{AsymmetricAlgorithm, HashAlgoSecurity, Policy as _, StandardPolicy};
use openpgp::types::HashAlgorithm;

use crate::authentication::Note;

/// A key within its certificate.
pub(super) type Candidate<'a> = ErasedKeyAmalgamation<'a, PublicParts>;

/// The sets of weaknesses that may be tolerated, smallest first, so that the notes list no more than necessary.
const TOLERANCES: [&[Note]; 4] = [
    &[],
    &[Note::WeakSelfSignature],
    &[Note::WeakKey],
    &[Note::WeakSelfSignature, Note::WeakKey],
];

/// The longest RSA key that the library supports, in bits.
const LARGEST_RSA: usize = 4_096;

/// Small or old keys that are still in use.
const WEAK_KEYS: [AsymmetricAlgorithm; 5] = [
    AsymmetricAlgorithm::RSA1024,
    AsymmetricAlgorithm::DSA1024,
    AsymmetricAlgorithm::DSA2048,
    AsymmetricAlgorithm::DSA3072,
    AsymmetricAlgorithm::DSA4096,
];

/// Sequoia's standard policy as of `now`, without the rules in `overlook`.
///
/// Cut-off dates that have passed are fixed here, so that a wrong system clock does not re-enable broken algorithms.
fn policy(now: SystemTime, overlook: &[Note]) -> StandardPolicy<'static> {
    let mut policy = StandardPolicy::at(now);
    for broken in [
        HashAlgorithm::MD5,
        HashAlgorithm::RipeMD,
        HashAlgorithm::SHA1,
    ] {
        policy.reject_hash(broken);
    }
    policy.reject_asymmetric_algo(AsymmetricAlgorithm::RSA1024);
    policy.reject_asymmetric_algo(AsymmetricAlgorithm::DSA1024);
    if overlook.contains(&Note::WeakSelfSignature) {
        let property = HashAlgoSecurity::SecondPreImageResistance;
        policy.accept_hash_property(HashAlgorithm::SHA1, property);
    }
    if overlook.contains(&Note::WeakDocument) {
        policy.accept_hash(HashAlgorithm::SHA1);
    }
    if overlook.contains(&Note::WeakKey) {
        for algorithm in WEAK_KEYS {
            policy.accept_asymmetric_algo(algorithm);
        }
    }
    policy
}

/// Checks the hash algorithm of a document's signature. Returns the notes for it, or `None` if it cannot be accepted.
pub(super) fn hash_notes(signature: &Signature, now: SystemTime) -> Option<&'static [Note]> {
    let property = HashAlgoSecurity::CollisionResistance;
    [&[][..], &[Note::WeakDocument]]
        .into_iter()
        .find(|overlook| policy(now, overlook).signature(signature, property).is_ok())
}

/// The status of a key in its certificate.
pub(super) struct KeyStatus {
    /// The weaknesses that were tolerated.
    pub notes: &'static [Note],
    /// When the key, or the certificate with it, expires.
    pub expires: Option<SystemTime>,
}

/// The status of this key, if its certificate allows it to sign.
///
/// The time `at` is not before the signature. Like clients, tfoci uses the owner's latest self-signature, because a renewed certificate may
/// lack the older ones.
pub(super) fn key_status(
    key: &Candidate<'_>,
    at: SystemTime,
    now: SystemTime,
) -> Option<KeyStatus> {
    TOLERANCES.into_iter().find_map(|notes| {
        let policy = policy(now, notes);
        let valid = key.clone().with_policy(&policy, at).ok()?;
        valid.for_signing().then(|| KeyStatus {
            notes,
            expires: expiry(&valid),
        })
    })
}

fn expiry(key: &ValidErasedKeyAmalgamation<'_, PublicParts>) -> Option<SystemTime> {
    let certificate = key.valid_cert().primary_key().key_expiration_time();
    [certificate, key.key_expiration_time()]
        .into_iter()
        .flatten()
        .min()
}

/// The user id that the owner of a certificate made the primary one.
pub(super) fn user_id(certificate: &Cert, now: SystemTime) -> Option<String> {
    TOLERANCES.into_iter().find_map(|notes| {
        let policy = policy(now, notes);
        let valid = certificate.with_policy(&policy, now).ok()?;
        let user_id = valid.primary_userid().ok()?;
        Some(String::from_utf8_lossy(user_id.userid().value()).into_owned())
    })
}

/// Whether the owner ever revoked the certificate or this key, for any reason and with any hash algorithm. The signature's own time is
/// ignored, because a thief of the key can write any time into it.
pub(super) fn revoked(key: &Candidate<'_>) -> bool {
    key.cert().primary_key().self_revocations().next().is_some()
        || key.self_revocations().next().is_some()
}

/// The unsupported algorithm or curve of this key or of its certificate's primary key.
pub(super) fn unsupported(key: &Candidate<'_>) -> Option<String> {
    let primary = key.cert().primary_key().key().role_as_unspecified();
    [key.key(), primary]
        .into_iter()
        .find_map(unsupported_algorithm)
}

fn unsupported_algorithm(key: &Key<PublicParts, UnspecifiedRole>) -> Option<String> {
    match key.mpis() {
        mpi::PublicKey::ECDSA { curve, .. } | mpi::PublicKey::EdDSA { curve, .. }
            if !curve.is_supported() =>
        {
            Some(curve.to_string())
        }
        mpi::PublicKey::RSA { n, .. } if n.bits() > LARGEST_RSA => {
            Some(format!("RSA of {} bits", n.bits()))
        }
        _ if !key.pk_algo().is_supported() => Some(key.pk_algo().to_string()),
        _ => None,
    }
}
