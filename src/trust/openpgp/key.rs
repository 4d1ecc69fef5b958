//! Whether a certificate lets one of its keys sign, and what has to be overlooked for that.

use std::time::SystemTime;

use sequoia_openpgp as openpgp;

use openpgp::cert::amalgamation::ValidAmalgamation as _;
use openpgp::cert::amalgamation::ValidateAmalgamation as _;
use openpgp::cert::amalgamation::key::{ErasedKeyAmalgamation, ValidErasedKeyAmalgamation};
use openpgp::crypto::mpi;
use openpgp::packet::key::{PublicParts, UnspecifiedRole};
use openpgp::packet::{Key, Signature};
use openpgp::policy::{AsymmetricAlgorithm, HashAlgoSecurity, Policy as _, StandardPolicy};
use openpgp::types::HashAlgorithm;

use crate::authentication::Note;

/// A key as it stands in its certificate.
pub(super) type Candidate<'a> = ErasedKeyAmalgamation<'a, PublicParts>;

/// What may be overlooked in a certificate, the least first, so that the notes say no more than is true.
const TOLERANCES: [&[Note]; 4] = [
    &[],
    &[Note::WeakSelfSignature],
    &[Note::WeakKey],
    &[Note::WeakSelfSignature, Note::WeakKey],
];

/// The library computes with no longer ones.
const LARGEST_RSA: usize = 4_096;

/// Small or old keys that are still in use.
const WEAK_KEYS: [AsymmetricAlgorithm; 5] = [
    AsymmetricAlgorithm::RSA1024,
    AsymmetricAlgorithm::DSA1024,
    AsymmetricAlgorithm::DSA2048,
    AsymmetricAlgorithm::DSA3072,
    AsymmetricAlgorithm::DSA4096,
];

/// Sequoia's own policy as of `now`, less what is to be overlooked.
///
/// Its dates of retirement that have passed are fixed here: a clock that went back to 1970 must not bring broken algorithms back.
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

/// Whether the hash over a document is a sound one: what is to be noted, or `None` where nothing can be overlooked.
pub(super) fn soundness(signature: &Signature, now: SystemTime) -> Option<&'static [Note]> {
    let property = HashAlgoSecurity::CollisionResistance;
    [&[][..], &[Note::WeakDocument]]
        .into_iter()
        .find(|overlook| policy(now, overlook).signature(signature, property).is_ok())
}

/// What a certificate says about one of its keys.
pub(super) struct Standing {
    /// What had to be overlooked.
    pub notes: &'static [Note],
    /// When the key, or the certificate with it, expires.
    pub expires: Option<SystemTime>,
}

/// What the certificate says, if it lets this key sign.
///
/// It is asked at a time `at` which is not before the signature: the owner's last word on the key counts, as with clients, and a
/// certificate that was renewed need not carry its older self-signatures.
pub(super) fn standing(key: &Candidate<'_>, at: SystemTime, now: SystemTime) -> Option<Standing> {
    TOLERANCES.into_iter().find_map(|notes| {
        let policy = policy(now, notes);
        let valid = key.clone().with_policy(&policy, at).ok()?;
        valid.for_signing().then(|| Standing {
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

/// Whether the owner ever revoked the certificate or this key, for whatever reason and by whichever hash. A signature's own time
/// does not count: with a stolen key any time can be written into it.
pub(super) fn revoked(key: &Candidate<'_>) -> bool {
    key.cert().primary_key().self_revocations().next().is_some()
        || key.self_revocations().next().is_some()
}

/// The algorithm or curve of this key, or of its certificate's primary key, that cannot be computed with.
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
