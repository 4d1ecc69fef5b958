//! The packets of a component that decide about signatures.

use sequoia_openpgp as openpgp;

use openpgp::packet::Signature;
use openpgp::parse::Parse as _;
use openpgp::types::SignatureType;
use openpgp::{KeyHandle, Packet};

use super::ring::Component;

/// The signatures of a component that may decide about signatures.
pub(super) fn signatures(
    component: &Component,
    owner: &KeyHandle,
) -> impl Iterator<Item = Signature> {
    let signatures = component.signatures.iter();
    signatures
        .filter_map(|packet| match Packet::from_bytes(packet) {
            Ok(Packet::Signature(signature)) => Some(signature),
            _ => None,
        })
        .filter(|signature| is_issued_by(signature, owner) && is_about_keys(signature.typ()))
}

/// How many signatures have to be verified for one: itself, and the signatures of subkeys within it.
pub(super) fn count(signature: &Signature) -> usize {
    1 + signature.embedded_signatures().count()
}

/// Whether the owner of the certificate may have made a signature.
fn is_issued_by(signature: &Signature, owner: &KeyHandle) -> bool {
    let issuers = signature.get_issuers();
    issuers.is_empty() || issuers.iter().any(|issuer| issuer.aliases(owner))
}

fn is_about_keys(kind: SignatureType) -> bool {
    matches!(
        kind,
        SignatureType::DirectKey
            | SignatureType::KeyRevocation
            | SignatureType::GenericCertification
            | SignatureType::PersonaCertification
            | SignatureType::CasualCertification
            | SignatureType::PositiveCertification
            | SignatureType::CertificationRevocation
            | SignatureType::SubkeyBinding
            | SignatureType::SubkeyRevocation
    )
}

pub(super) fn is_revocation(signature: &Signature) -> bool {
    signature.typ() == SignatureType::SubkeyRevocation
}

/// Whether a signature may allow a subkey to sign. Without key flags, other signatures of the certificate decide.
pub(super) fn may_grant_signing(signature: &Signature) -> bool {
    signature.typ() == SignatureType::SubkeyBinding
        && signature
            .key_flags()
            .is_none_or(|flags| flags.for_signing())
}
