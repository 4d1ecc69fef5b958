//! A certificate, reduced to the packets that matter for verification.
//!
//! The OpenPGP library verifies every packet that it is given. tfoci therefore passes it only the packets that decide about a signature:
//! the primary key, user ids, keys that may sign, and the owner's own signatures over them. Certifications by others are dropped.

use std::collections::BTreeSet;

use sequoia_openpgp as openpgp;

use openpgp::armor::{Kind as Armour, Writer};
use openpgp::cert::Cert;
use openpgp::parse::Parse as _;
use openpgp::serialize::Serialize as _;
use openpgp::{KeyHandle, Packet};

use crate::authentication::Anchor;
use crate::fingerprint::Fingerprint;
use crate::trust::Error;
use crate::trust::deadline::Deadline;

use super::component::{count, is_revocation, may_grant_signing, signatures};
use super::ring::{self, CertificateCopy, ComponentType};

/// The most signatures of the owner of a certificate, which the library verifies. Real ones have some twenty.
const MOST_OWN: usize = 128;

/// A certificate, merged from the copies in all rings: another copy may contain its renewal or its revocation.
pub(super) struct Offered {
    pub fingerprint: Fingerprint,
    /// The strongest trust anchor of any copy.
    pub anchor: Anchor,
    pub copy: CertificateCopy,
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
        let mut handles = self.copy.handles.iter();
        handles.any(|handle| names.iter().any(|name| handle.aliases(name)))
    }

    /// Parses the certificate, which takes at most some seconds; `None` if it is not a certificate. With too many signatures of its owner, there is
    /// no time for it.
    pub fn open(&self, deadline: &Deadline) -> Result<Option<Certificate>, Error> {
        deadline.check()?;
        let (mut primary, mut others) = (Vec::new(), Vec::new());
        let (mut found, mut own) = (Vec::new(), 0);
        let Some(owner) = self.copy.handles.first() else {
            return Ok(None);
        };
        for component in &self.copy.components {
            let signatures: Vec<_> = signatures(component, owner).take(MOST_OWN + 1).collect();
            own += signatures.iter().map(count).sum::<usize>();
            if own > MOST_OWN {
                return Err(Error::Costly);
            }
            found.push((component, signatures));
        }
        // Another copy may revoke what this one says of a subkey.
        let signing: BTreeSet<openpgp::Fingerprint> = found
            .iter()
            .filter(|(_, signatures)| signatures.iter().any(may_grant_signing))
            .filter_map(|(component, _)| match &component.kind {
                ComponentType::Subkey(fingerprint) => Some(fingerprint.clone()),
                _ => None,
            })
            .collect();
        for (component, mut signatures) in found {
            if let ComponentType::Subkey(fingerprint) = &component.kind {
                if !signing.contains(fingerprint) {
                    // Keep revocations, because they may follow the wrong subkey.
                    signatures.retain(is_revocation);
                }
                if signatures.is_empty() {
                    continue;
                }
            }
            let packets = match component.kind {
                ComponentType::Primary => &mut primary,
                _ => &mut others,
            };
            if let Ok(packet) = Packet::from_bytes(&component.packet) {
                packets.push(packet);
                packets.extend(signatures.into_iter().map(Packet::from));
            }
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
    pub fn merge(&mut self, mut other: CertificateCopy, anchor: Anchor) -> bool {
        self.anchor = self.anchor.min(anchor);
        let own = &mut self.copy;
        other.forget(own);
        if other.components.is_empty() {
            return true;
        }
        let fits = own.components.len() + other.components.len() <= ring::MOST_COMPONENTS
            && own.signatures() + other.signatures() <= ring::MOST_SIGNATURES;
        if fits {
            own.handles.extend(other.handles);
            own.components.extend(other.components);
        }
        fits
    }

    /// Adds a separate revocation if it names this certificate. Whether the owner made it is verified later.
    pub fn revoke(&mut self, packet: &[u8], names: &[KeyHandle]) -> bool {
        let copy = &mut self.copy;
        let owner = copy.handles.first();
        let is_named = owner.is_some_and(|owner| names.iter().any(|name| name.aliases(owner)));
        let has_room = copy.signatures() < ring::MOST_SIGNATURES;
        let primary = copy.components.first_mut();
        primary
            .filter(|_| is_named && has_room)
            .map(|primary| primary.signatures.push(packet.to_owned()))
            .is_some()
    }
}
