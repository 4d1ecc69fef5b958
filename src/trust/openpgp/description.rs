//! Describes the certificates of a key file.

use std::collections::BTreeMap;
use std::time::SystemTime;

use sequoia_openpgp as openpgp;

use openpgp::Cert;
use openpgp::crypto::mpi::PublicKey;
use openpgp::types::Curve;

use crate::fingerprint::Fingerprint;
use crate::release::KeyRing;
use crate::trust::Error;
use crate::trust::deadline::Deadline;
use crate::trust::key_description::KeyDescription;
use crate::trust::rule::Rule;

use super::certificate::Certificate;
use super::certificates::Certificates;
use super::key;

/// The keys of each key file, in the order of their fingerprints, as all copies of a key together describe it. `now` is the time used to decide what
/// its owner says of it.
///
/// # Errors
/// A file has no key, is too long, has too many keys, or reading them costs too much work.
pub fn describe(
    rings: &[KeyRing],
    now: SystemTime,
    deadline: &Deadline,
) -> Result<Vec<Vec<KeyDescription>>, Error> {
    let mut described = BTreeMap::new();
    for offered in certificates(rings)?.iter() {
        let opened = offered.open(deadline)?;
        described.extend(opened.map(|certificate| {
            let key = certificate.fingerprint.clone();
            (key, of(&certificate, now))
        }));
    }
    let of_ring = |ring| {
        let keys = fingerprints(ring)?.into_iter();
        Ok(keys
            .filter_map(|key| described.get(&key).cloned())
            .collect())
    };
    rings.iter().map(of_ring).collect()
}

/// The fingerprints of the keys of a ring, in order.
pub(in crate::trust) fn fingerprints(ring: &KeyRing) -> Result<Vec<Fingerprint>, Error> {
    let keys = certificates(std::slice::from_ref(ring))?;
    Ok(keys.iter().map(|key| key.fingerprint.clone()).collect())
}

fn certificates(rings: &[KeyRing]) -> Result<Certificates, Error> {
    let rule = Rule {
        keys: rings.to_vec(),
        ..Rule::default()
    };
    Certificates::read(&rule, &[])
}

/// What users are shown of a key, at this time.
pub(super) fn of(certificate: &Certificate, now: SystemTime) -> KeyDescription {
    let parsed = &certificate.parsed;
    let signing = parsed.keys().filter_map(|key| {
        let is_usable = key::unsupported(&key).is_none() && !key::revoked(&key);
        key::key_status(&key, now, now).filter(|_| is_usable)
    });
    let expiries: Vec<Option<SystemTime>> = signing.map(|status| status.expires).collect();
    let lasts = expiries.contains(&None);
    let of_keys = parsed.keys().flat_map(|key| {
        let statements = key.self_signatures();
        statements.chain(key.self_revocations())
    });
    let of_user_ids = parsed.userids().flat_map(|user_id| {
        let statements = user_id.self_signatures();
        statements.chain(user_id.self_revocations())
    });
    let statements = of_keys.chain(of_user_ids);
    let dates = statements.filter_map(|one| one.signature_creation_time());
    KeyDescription {
        fingerprint: certificate.fingerprint.clone(),
        user_id: key::user_id(parsed, now),
        algorithm: algorithm(parsed),
        expires: expiries.iter().flatten().max().filter(|_| !lasts).copied(),
        updated: dates.max(),
        certificate: certificate.armoured(),
        is_revoked: parsed.primary_key().self_revocations().next().is_some(),
        can_sign: !expiries.is_empty(),
    }
}

/// The algorithm of the primary key, with its size or curve.
fn algorithm(certificate: &Cert) -> String {
    let key = certificate.primary_key().key();
    match key.mpis() {
        PublicKey::RSA { n, .. } => format!("RSA {}", n.bits()),
        PublicKey::DSA { p, .. } => format!("DSA {}", p.bits()),
        PublicKey::EdDSA {
            curve: Curve::Ed25519,
            ..
        } => "Ed25519".to_owned(),
        PublicKey::EdDSA { curve, .. } => format!("EdDSA {curve}"),
        PublicKey::ECDSA { curve, .. } => format!("ECDSA {curve}"),
        _ => key.pk_algo().to_string(),
    }
}

#[cfg(test)]
#[path = "description_tests.rs"]
mod tests;
