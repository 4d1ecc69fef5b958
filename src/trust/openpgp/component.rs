//! The packets of a component that decide about signatures, and what it costs to verify them.

use sequoia_openpgp as openpgp;

use openpgp::packet::Signature;
use openpgp::parse::Parse as _;
use openpgp::types::SignatureType;
use openpgp::{KeyHandle, Packet};

use super::measure;
use super::ring::{Component, ComponentType};

/// The work of parsing and verifying a certificate.
#[derive(Default)]
pub(super) struct Cost {
    /// Signatures of the primary key.
    signatures: u64,
    /// Signatures of subkeys, embedded in others.
    embedded: u64,
    /// Bytes of components.
    bytes: u64,
    /// What one signature of the costliest subkey costs.
    subkey: u64,
}

impl Cost {
    pub fn add(&mut self, other: Self) {
        self.signatures += other.signatures;
        self.embedded += other.embedded;
        self.bytes += other.bytes;
        self.subkey = self.subkey.max(other.subkey);
    }

    /// The total cost. The library may hash each signature with each component to find the one that it belongs to.
    pub fn of_all(&self, primary: u64) -> u64 {
        let hashing = self.bytes.saturating_mul(measure::A_BYTE);
        let each = primary
            .saturating_add(hashing)
            .saturating_mul(self.signatures);
        let embedded = self.subkey.saturating_add(hashing);
        each.saturating_add(embedded.saturating_mul(self.embedded))
    }
}

/// The signatures of a component that may decide about signatures.
pub(super) fn signatures(component: &Component, owner: &KeyHandle) -> Vec<Signature> {
    let signatures = component.signatures.iter();
    signatures
        .filter_map(|packet| match Packet::from_bytes(packet) {
            Ok(Packet::Signature(signature)) => Some(signature),
            _ => None,
        })
        .filter(|signature| is_issued_by(signature, owner) && is_about_keys(signature.typ()))
        .collect()
}

/// Adds the packets of a component and its signatures, unless it is a subkey that cannot sign.
pub(super) fn keep(
    component: &Component,
    mut signatures: Vec<Signature>,
    is_signing: bool,
    packets: &mut Vec<Packet>,
) -> Cost {
    let Ok(packet) = Packet::from_bytes(&component.packet) else {
        return Cost::default();
    };
    let mut price = Cost {
        bytes: bytes(component.packet.len()),
        ..Cost::default()
    };
    if component.kind == ComponentType::Subkey {
        if !is_signing {
            // Keep revocations, because they may follow the wrong subkey.
            signatures.retain(is_revocation);
        }
        if signatures.is_empty() {
            return Cost::default();
        }
        price.subkey = cost_of(&packet);
    }
    price.signatures = bytes(signatures.len());
    let embedded = signatures
        .iter()
        .map(|one| one.embedded_signatures().count());
    price.embedded = embedded.map(bytes).sum();
    packets.push(packet);
    packets.extend(signatures.into_iter().map(Packet::from));
    price
}

fn cost_of(packet: &Packet) -> u64 {
    let cost = match packet {
        Packet::PublicSubkey(key) => measure::cost(key),
        Packet::SecretSubkey(key) => measure::cost(key),
        _ => None,
    };
    cost.unwrap_or(u64::MAX)
}

fn bytes(length: usize) -> u64 {
    u64::try_from(length).unwrap_or(u64::MAX)
}

/// Whether the owner of the certificate may have made a signature.
fn is_issued_by(signature: &Signature, owner: &KeyHandle) -> bool {
    let issuers = signature.get_issuers();
    issuers.is_empty() || issuers.iter().any(|issuer| issuer.aliases(owner))
}

fn is_about_keys(kind: SignatureType) -> bool {
    use SignatureType::{
        CasualCertification, CertificationRevocation, DirectKey, GenericCertification,
        KeyRevocation, PersonaCertification, PositiveCertification, SubkeyBinding,
        SubkeyRevocation,
    };
    matches!(
        kind,
        DirectKey
            | KeyRevocation
            | GenericCertification
            | PersonaCertification
            | CasualCertification
            | PositiveCertification
            | CertificationRevocation
            | SubkeyBinding
            | SubkeyRevocation
    )
}

fn is_revocation(signature: &Signature) -> bool {
    signature.typ() == SignatureType::SubkeyRevocation
}

/// Whether a signature may allow a subkey to sign. Without key flags, other signatures of the certificate decide.
pub(super) fn may_grant_signing(signature: &Signature) -> bool {
    signature.typ() == SignatureType::SubkeyBinding
        && signature
            .key_flags()
            .is_none_or(|flags| flags.for_signing())
}
