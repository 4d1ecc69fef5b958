//! Certificates, merged from all key rings that contain them and reduced to the packets that matter for verification.
//!
//! The OpenPGP library verifies every packet that it is given. tfoci therefore passes it only the packets that decide about a signature:
//! the primary key, user ids, keys that may sign, and the owner's own signatures over them. Certifications by others are dropped.

use std::collections::{BTreeMap, BTreeSet};

use sequoia_openpgp as openpgp;

use openpgp::armor::{Kind as Armour, Writer};
use openpgp::cert::Cert;
use openpgp::packet::Signature;
use openpgp::parse::Parse as _;
use openpgp::serialize::Serialize as _;
use openpgp::types::SignatureType;
use openpgp::{KeyHandle, Packet};

use crate::authentication::Anchor;
use crate::release::KeyRing;
use crate::trust::budget::{Budget, Spent};
use crate::trust::rule::{Fingerprint, Rule};
use crate::trust::{Error, limits};

use super::measure;
use super::ring::{self, Component, ComponentType, Copy, RingElement};

/// The most issuers that are read of one signature. Usual signatures have two: a fingerprint and a key id.
pub(super) const MOST_NAMES: usize = 16;

/// A certificate, merged from the copies in all rings: another copy may contain its renewal or its revocation.
pub(super) struct Offered {
    pub fingerprint: Fingerprint,
    /// The strongest trust anchor of any copy.
    pub anchor: Anchor,
    copies: Vec<Copy>,
}

/// A parsed certificate.
pub(super) struct Certificate {
    pub cert: Cert,
    pub fingerprint: Fingerprint,
    pub anchor: Anchor,
}

impl Certificate {
    /// The certificate, ASCII-armoured without comments, which would differ between versions of the library.
    pub fn armoured(&self) -> Option<Vec<u8>> {
        let mut writer = Writer::new(Vec::new(), Armour::PublicKey).ok()?;
        self.cert.export(&mut writer).ok()?;
        writer.finalize().ok()
    }
}

impl Offered {
    /// Whether one of these key handles matches one of its keys.
    pub fn is_named(&self, names: &[KeyHandle]) -> bool {
        let handles = self.copies.iter().flat_map(|copy| &copy.handles);
        let mut pairs = handles.flat_map(|handle| names.iter().map(move |name| (handle, name)));
        pairs.any(|(handle, name)| handle.aliases(name))
    }

    /// Charges the budget for the work, and parses the certificate; `None` if it is not a certificate.
    pub fn open(&self, budget: &Budget) -> Result<Option<Certificate>, Spent> {
        let (mut primary, mut others) = (Vec::new(), Vec::new());
        let mut price = Price::default();
        let mut found = Vec::new();
        for copy in &self.copies {
            let Some(owner) = copy.handles.first() else {
                continue;
            };
            budget.spend(copy.parsing())?;
            let components = copy.components.iter();
            found.extend(components.map(|component| (component, signatures(component, owner))));
        }
        // Another copy may revoke what this one says of a subkey.
        let signing: BTreeSet<openpgp::Fingerprint> = found
            .iter()
            .filter(|(_, signatures)| signatures.iter().any(may_let_sign))
            .filter_map(|(component, _)| component.fingerprint.clone())
            .collect();
        for (component, signatures) in found {
            let subkey = component.fingerprint.as_ref();
            let is_signing = subkey.is_none_or(|subkey| signing.contains(subkey));
            let packets = match component.kind {
                ComponentType::Primary => &mut primary,
                _ => &mut others,
            };
            price.add(keep(component, signatures, is_signing, packets));
        }
        let Some(copy) = self.copies.first() else {
            return Ok(None);
        };
        budget.spend(price.of_all(measure::cost(&copy.primary).unwrap_or(u64::MAX)))?;
        let is_key = |packet: &Packet| !matches!(packet, Packet::Signature(_));
        // One primary key, with the signatures of every copy.
        let (mut first, signatures): (Vec<_>, Vec<_>) = primary.into_iter().partition(is_key);
        first.truncate(1);
        let packets = first.into_iter().chain(signatures).chain(others);
        let packets: Vec<Packet> = packets.collect();
        let cert = Cert::from_packets(packets.into_iter()).ok();
        Ok(cert.map(|cert| Certificate {
            cert: cert.strip_secret_key_material(),
            fingerprint: self.fingerprint.clone(),
            anchor: self.anchor,
        }))
    }

    /// Adds the packets of another copy, unless the certificate would exceed the limits.
    fn merge(&mut self, mut copy: Copy, anchor: Anchor) -> bool {
        self.anchor = stronger(self.anchor, anchor);
        copy.forget(&self.copies);
        if copy.components.is_empty() {
            return true;
        }
        let components = |copy: &Copy| copy.components.len();
        let is_small = |count: fn(&Copy) -> usize, most| {
            self.copies.iter().map(count).sum::<usize>() + count(&copy) <= most
        };
        let fits = is_small(components, ring::MOST_COMPONENTS)
            && is_small(Copy::signatures, ring::MOST_SIGNATURES);
        if fits {
            self.copies.push(copy);
        }
        fits
    }

    /// Adds a separate revocation if it names this certificate. Whether the owner made it is verified later.
    fn revoke(&mut self, packet: &[u8], names: &[KeyHandle]) -> bool {
        let owner = self.copies.first().and_then(|copy| copy.handles.first());
        if !owner.is_some_and(|owner| names.iter().any(|name| name.aliases(owner))) {
            return false;
        }
        let signatures: usize = self.copies.iter().map(Copy::signatures).sum();
        let primary = self.copies.first_mut();
        let primary = primary.and_then(|copy| copy.components.first_mut());
        let primary = primary.filter(|_| signatures < ring::MOST_SIGNATURES);
        primary
            .map(|primary| primary.signatures.push(packet.to_owned()))
            .is_some()
    }
}

/// The work of parsing and verifying a certificate.
#[derive(Default)]
struct Price {
    /// Signatures of the primary key.
    signatures: u64,
    /// Signatures of subkeys, embedded in others.
    embedded: u64,
    /// Bytes of components.
    bytes: u64,
    /// What one signature of the costliest subkey costs.
    subkey: u64,
}

impl Price {
    fn add(&mut self, other: Self) {
        self.signatures += other.signatures;
        self.embedded += other.embedded;
        self.bytes += other.bytes;
        self.subkey = self.subkey.max(other.subkey);
    }

    /// The total cost. The library may hash each signature with each component to find the one that it belongs to.
    fn of_all(&self, primary: u64) -> u64 {
        let hashing = self.bytes.saturating_mul(measure::A_BYTE);
        let each = primary
            .saturating_add(hashing)
            .saturating_mul(self.signatures);
        let embedded = self.subkey.saturating_add(hashing);
        each.saturating_add(embedded.saturating_mul(self.embedded))
    }
}

/// The signatures of a component that may decide about signatures.
fn signatures(component: &Component, owner: &KeyHandle) -> Vec<Signature> {
    let signatures = component.signatures.iter();
    signatures
        .filter_map(|packet| match Packet::from_bytes(packet) {
            Ok(Packet::Signature(signature)) => Some(signature),
            _ => None,
        })
        .filter(|signature| is_by(signature, owner) && is_about_keys(signature.typ()))
        .collect()
}

/// Adds the packets of a component and its signatures, unless it is a subkey that cannot sign.
fn keep(
    component: &Component,
    mut signatures: Vec<Signature>,
    is_signing: bool,
    packets: &mut Vec<Packet>,
) -> Price {
    let Ok(packet) = Packet::from_bytes(&component.packet) else {
        return Price::default();
    };
    let mut price = Price {
        bytes: bytes(component.packet.len()),
        ..Price::default()
    };
    if component.kind == ComponentType::Subkey {
        if !is_signing {
            // Keep revocations, because they may follow the wrong subkey.
            signatures.retain(is_revocation);
        }
        if signatures.is_empty() {
            return Price::default();
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
fn is_by(signature: &Signature, owner: &KeyHandle) -> bool {
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
fn may_let_sign(signature: &Signature) -> bool {
    signature.typ() == SignatureType::SubkeyBinding
        && signature
            .key_flags()
            .is_none_or(|flags| flags.for_signing())
}

/// All certificates of all rings.
#[derive(Default)]
pub(super) struct Certificates {
    all: BTreeMap<Fingerprint, Offered>,
    /// Revocations without a key, kept until all keys are read.
    revocations: Vec<Vec<u8>>,
    read: usize,
    skipped: bool,
}

impl Certificates {
    /// Reads the keys of the trust rule and those of the release.
    ///
    /// # Errors
    /// Too many bytes or keys, or a ring of the user without any key.
    pub fn read(rule: &Rule, rings: &[KeyRing]) -> Result<Self, Error> {
        let mut certificates = Self::default();
        for ring in &rule.keys {
            let before = certificates.read;
            certificates.add(ring)?;
            if certificates.read == before {
                return Err(Error::NotAKey {
                    name: ring.name.clone(),
                });
            }
        }
        for ring in rings {
            certificates.add(ring)?;
        }
        certificates.revoke();
        for pin in &rule.pins {
            if let Some(certificate) = certificates.all.get_mut(pin) {
                certificate.anchor = Anchor::Pinned;
            }
        }
        Ok(certificates)
    }

    /// All of them, in the order of their fingerprints.
    pub fn iter(&self) -> impl Iterator<Item = &Offered> {
        self.all.values()
    }

    /// Whether any key was skipped because it could not be read.
    pub fn skipped(&self) -> bool {
        self.skipped
    }

    fn add(&mut self, ring: &KeyRing) -> Result<(), Error> {
        let limit = limits::KEYS;
        if let Some(received) = limits::excess(&ring.bytes, limit) {
            return Err(Error::LongKeys {
                name: ring.name.clone(),
                received,
                limit,
            });
        }
        for found in ring::read(&ring.bytes) {
            match found {
                RingElement::Certificate(copy) => self.insert(*copy, ring.anchor)?,
                RingElement::Revocation(packet)
                    if self.revocations.len() < ring::MOST_CERTIFICATES =>
                {
                    self.revocations.push(packet);
                }
                RingElement::Revocation(_) | RingElement::Unreadable => self.skipped = true,
            }
        }
        Ok(())
    }

    /// Adds each revocation to the certificate that it names.
    fn revoke(&mut self) {
        for packet in std::mem::take(&mut self.revocations) {
            let mut names = match Packet::from_bytes(&packet) {
                Ok(Packet::Signature(signature)) => signature.get_issuers(),
                _ => Vec::new(),
            };
            names.truncate(MOST_NAMES);
            let mut taken = false;
            for certificate in self.all.values_mut() {
                taken |= certificate.revoke(&packet, &names);
            }
            self.skipped |= !taken;
        }
    }

    fn insert(&mut self, copy: Copy, anchor: Anchor) -> Result<(), Error> {
        self.read += 1;
        if self.read > ring::MOST_CERTIFICATES {
            return Err(Error::ManyKeys {
                limit: ring::MOST_CERTIFICATES,
            });
        }
        let fingerprint = copy.primary.fingerprint().to_hex().parse::<Fingerprint>();
        let Ok(fingerprint) = fingerprint else {
            self.skipped = true;
            return Ok(());
        };
        let known = self
            .all
            .entry(fingerprint.clone())
            .or_insert_with(|| Offered {
                fingerprint,
                anchor,
                copies: Vec::new(),
            });
        self.skipped |= !known.merge(copy, anchor);
        Ok(())
    }
}

fn stronger(one: Anchor, other: Anchor) -> Anchor {
    let order = [
        Anchor::Pinned,
        Anchor::Origin,
        Anchor::Embedded,
        Anchor::Lock,
    ];
    order
        .into_iter()
        .find(|anchor| *anchor == one || *anchor == other)
        .unwrap_or(one)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::path::{Path, PathBuf};

    fn testdata(path: &str) -> PathBuf {
        Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("testdata")
            .join(path)
    }

    const BEGIN: &[u8] = b"-----BEGIN PGP PUBLIC KEY BLOCK-----";

    fn read(bytes: Vec<u8>) -> Result<Certificates, Error> {
        let ring = KeyRing {
            name: "ring".to_owned(),
            bytes,
            anchor: Anchor::Origin,
        };
        Certificates::read(&Rule::default(), &[ring])
    }

    #[test]
    fn binary_rings_are_read() {
        let armoured = std::fs::read(testdata("keys/rsa2048.asc")).expect("a key");
        let mut binary = Vec::new();
        for certificate in read(armoured).expect("a ring").iter() {
            let certificate = certificate.open(&Budget::default());
            let certificate = certificate.expect("cheap").expect("a certificate");
            certificate.cert.export(&mut binary).expect("bytes");
        }
        let two = read(binary.repeat(2)).expect("a ring");
        assert_eq!((two.iter().count(), two.read, two.skipped()), (1, 2, false));
    }

    #[test]
    fn a_block_without_its_end_does_not_take_the_next_with_it() {
        let key = std::fs::read(testdata("keys/rsa2048.asc")).expect("a key");
        let broken = [BEGIN, b"\n\nAAAA\n", &key, b"after"].concat();
        let certificates = read(broken).expect("a ring");
        assert_eq!(certificates.iter().count(), 1);
        assert!(certificates.skipped());
    }

    #[test]
    fn what_is_no_key_is_skipped() {
        for bytes in [&b""[..], b"hello", BEGIN, b"\xff\xff\xff", b"\x99\x00"] {
            let certificates = read(bytes.to_vec()).expect("a ring");
            assert!(certificates.skipped(), "{bytes:?}");
            assert_eq!(certificates.iter().count(), 0);
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn never_panics(start: Vec<u8>, cut in 0usize..900, flip in 0usize..900, bit in 0u32..8) {
            let mut bytes = std::fs::read(testdata("keys/rsa2048.asc")).expect("a key");
            if let Some(byte) = bytes.get_mut(flip) {
                *byte ^= 1 << bit;
            }
            bytes.truncate(cut);
            for certificate in read([start, bytes].concat()).expect("a ring").iter() {
                let _ = certificate.open(&Budget::default());
            }
        }
    }
}
