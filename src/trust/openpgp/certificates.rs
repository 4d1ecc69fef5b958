//! The certificates of all key rings, each merged from all its copies.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use sequoia_openpgp as openpgp;

use openpgp::parse::Parse as _;
use openpgp::{KeyHandle, Packet};

use crate::authentication::Anchor;
use crate::error::printable;
use crate::fingerprint::Fingerprint;
use crate::release::KeyRing;
use crate::trust::rule::Rule;
use crate::trust::{Error, limits};

use super::certificate::Offered;
use super::ring::{self, CertificateCopy, RingElement};

/// The most issuers that are read of one signature. Usual signatures have two: a fingerprint and a key id.
pub(super) const MOST_NAMES: usize = 16;

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
    /// Reads the keys of the trust rule and of the release.
    ///
    /// # Errors
    /// Too many bytes or keys.
    pub fn read(rule: &Rule, rings: &[KeyRing]) -> Result<Self, Error> {
        let mut certificates = Self::default();
        for ring in &rule.keys {
            certificates.add(ring)?;
        }
        // The user's revocations count even if a stranger's copy of the key leaves no room for signatures.
        certificates.revoke();
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
        if ring.bytes.len() as u64 > limits::KEYS {
            return Err(Error::Large(format!("`{}`", printable(&ring.name))));
        }
        for found in ring::read(&ring.bytes) {
            match found {
                RingElement::Certificate(copy) => self.insert(copy, ring.anchor)?,
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

    fn insert(&mut self, copy: CertificateCopy, anchor: Anchor) -> Result<(), Error> {
        self.read += 1;
        if self.read > ring::MOST_CERTIFICATES {
            return Err(Error::Large("the number of keys".to_owned()));
        }
        let primary = copy.handles.first().map(KeyHandle::to_hex);
        let Some(Ok(fingerprint)) = primary.map(|hex| hex.parse::<Fingerprint>()) else {
            self.skipped = true;
            return Ok(());
        };
        match self.all.entry(fingerprint.clone()) {
            Entry::Occupied(mut known) => self.skipped |= !known.get_mut().merge(copy, anchor),
            Entry::Vacant(new) => {
                new.insert(Offered {
                    fingerprint,
                    anchor,
                    copy,
                });
            }
        }
        Ok(())
    }
}

#[cfg(test)]
#[path = "certificates_tests.rs"]
mod tests;
