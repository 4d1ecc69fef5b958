//! A certificate, reduced to the packets that matter for verification.
//!
//! The OpenPGP library verifies every packet that it is given. tfoci therefore passes it only the packets that decide about a signature:
//! the primary key, user ids, keys that may sign, and the owner's own signatures over them. Certifications by others are dropped.

use std::collections::BTreeSet;

use sequoia_openpgp as openpgp;

use openpgp::armor::{Kind as Armour, Writer};
use openpgp::cert::Cert;
use openpgp::serialize::Serialize as _;
use openpgp::{KeyHandle, Packet};

use crate::authentication::Anchor;
use crate::fingerprint::Fingerprint;
use crate::trust::deadline::{Deadline, Late};

use super::component::{count, keep, may_grant_signing, signatures};
use super::ring::{self, CertificateCopy, ComponentType};

/// The most signatures of the owner of a certificate, which the library verifies. Real ones have some twenty.
const MOST_OWN: usize = 128;

/// A certificate, merged from the copies in all rings: another copy may contain its renewal or its revocation.
pub(super) struct Offered {
    pub fingerprint: Fingerprint,
    /// The strongest trust anchor of any copy.
    pub anchor: Anchor,
    pub(super) copies: Vec<CertificateCopy>,
}

pub(super) struct Certificate {
    pub parsed: Cert,
    pub fingerprint: Fingerprint,
    pub anchor: Anchor,
}

impl Certificate {
    /// The certificate, ASCII-armoured without comments, which would differ between versions of the library.
    pub fn armoured(&self) -> Option<Vec<u8>> {
        let mut writer = Writer::new(Vec::new(), Armour::PublicKey).ok()?;
        self.parsed.export(&mut writer).ok()?;
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

    /// Parses the certificate, which takes at most some seconds; `None` if it is not a certificate. With too many signatures of its owner, there is
    /// no time for it.
    pub fn open(&self, deadline: &Deadline) -> Result<Option<Certificate>, Late> {
        deadline.check()?;
        let (mut primary, mut others) = (Vec::new(), Vec::new());
        let (mut found, mut own) = (Vec::new(), 0);
        for copy in &self.copies {
            let Some(owner) = copy.handles.first() else {
                continue;
            };
            for component in &copy.components {
                let signatures: Vec<_> = signatures(component, owner).take(MOST_OWN + 1).collect();
                own += signatures.iter().map(count).sum::<usize>();
                if own > MOST_OWN {
                    return Err(Late);
                }
                found.push((component, signatures));
            }
        }
        // Another copy may revoke what this one says of a subkey.
        let signing: BTreeSet<openpgp::Fingerprint> = found
            .iter()
            .filter(|(_, signatures)| signatures.iter().any(may_grant_signing))
            .filter_map(|(component, _)| component.fingerprint.clone())
            .collect();
        for (component, signatures) in found {
            let subkey = component.fingerprint.as_ref();
            let is_signing = subkey.is_none_or(|subkey| signing.contains(subkey));
            let packets = match component.kind {
                ComponentType::Primary => &mut primary,
                _ => &mut others,
            };
            keep(component, signatures, is_signing, packets);
        }
        let is_key = |packet: &Packet| !matches!(packet, Packet::Signature(_));
        // One primary key, with the signatures of every copy.
        let (mut first, signatures): (Vec<_>, Vec<_>) = primary.into_iter().partition(is_key);
        first.truncate(1);
        let packets = first.into_iter().chain(signatures).chain(others);
        let packets: Vec<Packet> = packets.collect();
        let parsed = Cert::from_packets(packets.into_iter()).ok();
        Ok(parsed.map(|parsed| Certificate {
            parsed: parsed.strip_secret_key_material(),
            fingerprint: self.fingerprint.clone(),
            anchor: self.anchor,
        }))
    }

    /// Adds the packets of another copy, unless the certificate would exceed the limits.
    pub fn merge(&mut self, mut copy: CertificateCopy, anchor: Anchor) -> bool {
        self.anchor = stronger(self.anchor, anchor);
        copy.forget(&self.copies);
        if copy.components.is_empty() {
            return true;
        }
        let components = |copy: &CertificateCopy| copy.components.len();
        let is_small = |count: fn(&CertificateCopy) -> usize, most| {
            self.copies.iter().map(count).sum::<usize>() + count(&copy) <= most
        };
        let fits = is_small(components, ring::MOST_COMPONENTS)
            && is_small(CertificateCopy::signatures, ring::MOST_SIGNATURES);
        if fits {
            self.copies.push(copy);
        }
        fits
    }

    /// Adds a separate revocation if it names this certificate. Whether the owner made it is verified later.
    pub fn revoke(&mut self, packet: &[u8], names: &[KeyHandle]) -> bool {
        let owner = self.copies.first().and_then(|copy| copy.handles.first());
        if !owner.is_some_and(|owner| names.iter().any(|name| name.aliases(owner))) {
            return false;
        }
        let signatures: usize = self.copies.iter().map(CertificateCopy::signatures).sum();
        let primary = self.copies.first_mut();
        let primary = primary.and_then(|copy| copy.components.first_mut());
        let primary = primary.filter(|_| signatures < ring::MOST_SIGNATURES);
        primary
            .map(|primary| primary.signatures.push(packet.to_owned()))
            .is_some()
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
