//! Certificates: what all the places that offer keys know of each, and what of it is worth computing with.
//!
//! Only what decides about a signature is given to the library, which verifies what it is given: the primary key, user ids, keys that
//! may sign, and what the owner has signed about them. What others have certified is of no interest here.

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
use super::ring::{self, Component, ComponentType, Copy, Found};

/// The most names of its key that are read of a signature. Honest ones have two: a fingerprint and a key id.
pub(super) const MOST_NAMES: usize = 16;

/// A certificate that was offered, with all that any of the rings knows of it: another copy may bring its renewal, or its revocation.
pub(super) struct Offered {
    pub fingerprint: Fingerprint,
    /// The best reason to believe it.
    pub anchor: Anchor,
    copies: Vec<Copy>,
}

/// A certificate that can be asked.
pub(super) struct Certificate {
    pub cert: Cert,
    pub fingerprint: Fingerprint,
    pub anchor: Anchor,
}

impl Certificate {
    /// Armoured as clients read it, without comments, which would differ between versions of the library.
    pub fn armoured(&self) -> Option<Vec<u8>> {
        let mut writer = Writer::new(Vec::new(), Armour::PublicKey).ok()?;
        self.cert.export(&mut writer).ok()?;
        writer.finalize().ok()
    }
}

impl Offered {
    /// Whether one of these names means one of its keys.
    pub fn is_named(&self, names: &[KeyHandle]) -> bool {
        let handles = self.copies.iter().flat_map(|copy| &copy.handles);
        let mut pairs = handles.flat_map(|handle| names.iter().map(move |name| (handle, name)));
        pairs.any(|(handle, name)| handle.aliases(name))
    }

    /// Pays for all that can be computed with it, and hands it over; `None` if it is no certificate.
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
        // What one copy says of a subkey may be taken back by another.
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
        // One primary key, with what every copy knows of it.
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

    /// Takes in what another copy adds, as long as all of them together are no larger than an honest certificate.
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

    /// Takes in a revocation that stands apart from the certificate, if it names this one. Whether the owner made it is found out later.
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

/// What is to be paid for a certificate.
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

    /// Each signature is hashed with each component if it does not fit the one before it.
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

/// Adds the packets of a component and its signatures, unless it is a subkey that never signs.
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
            // A revocation may stand behind the wrong subkey.
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

/// Whether a signature may be by the owner of the certificate.
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

/// Whether a signature may say of a subkey that it signs. Without flags, others of the certificate decide.
fn may_let_sign(signature: &Signature) -> bool {
    signature.typ() == SignatureType::SubkeyBinding
        && signature
            .key_flags()
            .is_none_or(|flags| flags.for_signing())
}

/// Every certificate that there is, and what became of the rest.
#[derive(Default)]
pub(super) struct Certificates {
    all: BTreeMap<Fingerprint, Offered>,
    /// Those that stand apart from their keys, until all keys are read.
    revocations: Vec<Vec<u8>>,
    read: usize,
    skipped: bool,
}

impl Certificates {
    /// Reads the keys that the user brought and those that came along.
    ///
    /// # Errors
    /// Too many bytes or keys, and a ring of the user's own without any.
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

    /// Whether some key could not be read.
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
                Found::Certificate(copy) => self.insert(*copy, ring.anchor)?,
                Found::Revocation(packet) if self.revocations.len() < ring::MOST_CERTIFICATES => {
                    self.revocations.push(packet);
                }
                Found::Revocation(_) | Found::Nothing => self.skipped = true,
            }
        }
        Ok(())
    }

    /// Hands each revocation to the certificate that it names.
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
