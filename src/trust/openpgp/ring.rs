//! Splits key rings into certificates, without cryptographic operations.
//!
//! Real key files contain carriage returns, lack the last newline, have a no-break space in the empty line or text after the end, and
//! contain several keys or blocks. A key that cannot be read is skipped, because the signature may be by another.

use std::collections::HashSet;
use std::io::Read as _;

use sequoia_openpgp as openpgp;

use openpgp::armor::{Reader, ReaderMode};
use openpgp::packet::Key;
use openpgp::packet::key::{PublicParts, UnspecifiedRole};
use openpgp::parse::Parse as _;
use openpgp::{KeyHandle, Packet};

use super::{measure, packets};

/// The most keys, user ids and attributes of a certificate. Real ones have ten.
pub(super) const MOST_COMPONENTS: usize = 256;
/// The most signatures of a certificate, including embedded ones: two for each of its components.
pub(super) const MOST_SIGNATURES: usize = 512;
/// The most bytes of a certificate. The largest real one has 16 KiB.
const LONGEST_CERTIFICATE: usize = 1 << 20;
/// The most bytes of a user id. Writers of keys do not make longer ones.
const LONGEST_USER_ID: usize = 2 << 10;
/// The most certificates of all rings together. The owner with the most has four.
pub(super) const MOST_CERTIFICATES: usize = 256;

/// Tags of packets. The last three are markers, what a program noted for itself, and padding.
const SECRET_KEY: u8 = 5;
const PUBLIC_KEY: u8 = 6;
const SECRET_SUBKEY: u8 = 7;
const PUBLIC_SUBKEY: u8 = 14;
const USER_ID: u8 = 13;
const MARKER: u8 = 10;
const TRUST: u8 = 12;
const PADDING: u8 = 21;

/// Kinds of signatures: of a key over itself, and those that revoke a key.
const DIRECT: u8 = 0x1f;
const REVOCATION: u8 = 0x20;
const SUBKEY_REVOCATION: u8 = 0x28;

const BEGIN: &[u8] = b"-----BEGIN PGP PUBLIC KEY BLOCK-----";
const END: &[u8] = b"-----END PGP PUBLIC KEY BLOCK-----";
const SECRET: &[u8] = b"-----BEGIN PGP PRIVATE KEY BLOCK-----";

pub(super) enum RingElement {
    Certificate(CertificateCopy),
    /// A key revocation without a key before it, as programs write it when they generate a key.
    Revocation(Vec<u8>),
    /// Data that cannot be read, or a certificate beyond the limits.
    Unreadable,
}

impl RingElement {
    fn of(copy: Option<CertificateCopy>) -> Self {
        copy.map_or(Self::Unreadable, Self::Certificate)
    }
}

/// A certificate as a ring has it. Nothing in it has been verified.
#[derive(PartialEq)]
pub(super) struct CertificateCopy {
    /// The handles of its keys: the primary key's fingerprint first, then the fingerprints of all subkeys.
    pub handles: Vec<KeyHandle>,
    /// The primary key, and what belongs to it.
    pub components: Vec<Component>,
}

/// A key or a user id with the signatures behind it.
#[derive(PartialEq, Eq)]
pub(super) struct Component {
    pub kind: ComponentType,
    pub packet: Vec<u8>,
    /// The packets of its signatures.
    pub signatures: Vec<Vec<u8>>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum ComponentType {
    Primary,
    Subkey(openpgp::Fingerprint),
    UserId,
}

impl Component {
    fn new(kind: ComponentType, packet: Vec<u8>) -> Self {
        let signatures = Vec::new();
        Self {
            kind,
            packet,
            signatures,
        }
    }
}

impl CertificateCopy {
    /// Removes what another copy contains too. The copies of a key have most signatures in common.
    pub fn forget(&mut self, other: &Self) {
        let (mut components, mut signatures) = (HashSet::new(), HashSet::new());
        for known in &other.components {
            let packet = known.packet.as_slice();
            components.insert(packet);
            signatures.extend(known.signatures.iter().map(|one| (packet, one.as_slice())));
        }
        for component in &mut self.components {
            let packet = component.packet.as_slice();
            let is_new = |one: &Vec<u8>| !signatures.contains(&(packet, one.as_slice()));
            component.signatures.retain(is_new);
        }
        self.components.retain(|component| {
            !component.signatures.is_empty() || !components.contains(component.packet.as_slice())
        });
    }

    /// How many signatures it has, without embedded ones.
    pub fn signatures(&self) -> usize {
        let each = self.components.iter().map(|one| one.signatures.len());
        each.sum()
    }
}

/// Whether a file has a key and no secret one, and all of its blocks have their ends and checksums, and no packet is cut short. A signature is no key:
/// somebody may have named that of a release.
pub(in crate::trust) fn is_key_file(file: &[u8]) -> bool {
    let is_key = |element: &RingElement| matches!(element, RingElement::Certificate(_));
    let is_whole = |block: &Vec<u8>| {
        let (bytes, is_whole) = decoded(block);
        let mut rest = bytes.as_slice();
        while !rest.is_empty() {
            if let None | Some((SECRET_KEY | SECRET_SUBKEY, _)) = packets::next(&mut rest) {
                return false;
            }
        }
        is_whole
    };
    position(file, SECRET).is_none()
        && read(file).iter().any(is_key)
        && blocks(file).iter().all(is_whole)
}

/// Everything in a ring, in its order.
pub(super) fn read(ring: &[u8]) -> Vec<RingElement> {
    let mut found = Vec::new();
    for block in blocks(ring) {
        let before = found.len();
        split(&decoded(&block).0, &mut found);
        if found.len() > MOST_CERTIFICATES {
            break;
        }
        if found.len() == before {
            found.push(RingElement::Unreadable);
        }
    }
    found
}

/// What can be decoded of a block, and whether that is all of it.
fn decoded(block: &[u8]) -> (Vec<u8>, bool) {
    if block.first().is_some_and(|first| first & 0x80 != 0) {
        return (block.to_vec(), true);
    }
    let mut bytes = Vec::new();
    let mut reader = Reader::from_bytes(block, ReaderMode::Tolerant(None));
    // A truncated block, or one with a wrong checksum, may still contain a usable key, which its signatures prove.
    let is_whole = reader.read_to_end(&mut bytes).is_ok();
    (bytes, is_whole && position(block, END).is_some())
}

/// A certificate that is still being read.
struct Open {
    copy: Option<CertificateCopy>,
    components: usize,
    signatures: usize,
    bytes: usize,
    /// Whether signatures belong to the last component of `copy`.
    is_kept: bool,
}

fn split(bytes: &[u8], found: &mut Vec<RingElement>) {
    let mut rest = bytes;
    let mut open: Option<Open> = None;
    while !rest.is_empty() {
        let Some((tag, body)) = packets::next(&mut rest) else {
            found.extend(open.take().map(|open| RingElement::of(open.copy)));
            // Without a valid length, the next packet cannot be found.
            found.push(RingElement::Unreadable);
            return;
        };
        match (tag, &mut open) {
            (PUBLIC_KEY | SECRET_KEY, _) => {
                found.extend(open.take().map(|open| RingElement::of(open.copy)));
                open = Some(Open::new(tag, body));
            }
            (_, Some(open)) => open.add(tag, body),
            (MARKER | TRUST | PADDING, None) => {}
            (packets::SIGNATURE, None) => found.push(revocation(body)),
            // Something without a key before it.
            (_, None) => found.push(RingElement::Unreadable),
        }
        if found.len() > MOST_CERTIFICATES {
            return;
        }
    }
    found.extend(open.map(|open| RingElement::of(open.copy)));
}

/// A signature without a key before it, if it is a revocation.
fn revocation(body: &[u8]) -> RingElement {
    let is_one = matches!(
        packets::kind_of_signature(body),
        Some(REVOCATION | SUBKEY_REVOCATION)
    );
    packets::signatures_in(body)
        .filter(|_| is_one)
        .and_then(|_| packets::with_header(packets::SIGNATURE, body))
        .map_or(RingElement::Unreadable, RingElement::Revocation)
}

impl Open {
    fn new(tag: u8, body: &[u8]) -> Self {
        // A primary key that cannot sign cannot certify its own user ids and subkeys.
        let primary = read_key(tag, body).filter(|(primary, _)| measure::can_sign(primary));
        let copy = primary.map(|(primary, packet)| CertificateCopy {
            handles: vec![primary.key_handle()],
            components: vec![Component::new(ComponentType::Primary, packet)],
        });
        Self {
            copy,
            components: 1,
            signatures: 0,
            bytes: body.len(),
            is_kept: true,
        }
    }

    /// Adds the next packet. The whole certificate is dropped once it exceeds the limits.
    fn add(&mut self, tag: u8, body: &[u8]) {
        let Some(copy) = &mut self.copy else { return };
        match tag {
            MARKER | TRUST | PADDING => return,
            packets::SIGNATURE => {
                let count = packets::signatures_in(body);
                self.signatures += count.unwrap_or(1);
                let holder = copy.component_of(packets::kind_of_signature(body), self.is_kept);
                if let (Some(_), Some(holder)) = (count, holder) {
                    self.bytes += body.len();
                    let packet = packets::with_header(packets::SIGNATURE, body);
                    holder.signatures.extend(packet);
                }
            }
            _ => {
                self.components += 1;
                let kept = copy.component(tag, body);
                self.is_kept = kept.is_some();
                if let Some(component) = kept {
                    self.bytes += body.len();
                    copy.components.push(component);
                }
            }
        }
        if self.components > MOST_COMPONENTS
            || self.signatures > MOST_SIGNATURES
            || self.bytes > LONGEST_CERTIFICATE
        {
            self.copy = None;
        }
    }
}

impl CertificateCopy {
    /// The component that a signature belongs to. Revocations are often appended to the end of a file, so they go to the primary key if
    /// necessary.
    fn component_of(&mut self, kind: Option<u8>, last_is_kept: bool) -> Option<&mut Component> {
        match kind? {
            DIRECT | REVOCATION => self.components.first_mut(),
            _ if last_is_kept => self.components.last_mut(),
            SUBKEY_REVOCATION => self.components.first_mut(),
            _ => None,
        }
    }

    /// A component that may matter. The name of a subkey is kept even if the subkey is not.
    fn component(&mut self, tag: u8, body: &[u8]) -> Option<Component> {
        match tag {
            USER_ID if body.len() <= LONGEST_USER_ID => {
                let packet = packets::with_header(tag, body)?;
                Some(Component::new(ComponentType::UserId, packet))
            }
            PUBLIC_SUBKEY | SECRET_SUBKEY => {
                let (key, packet) = read_key(tag, body)?;
                self.handles.push(key.key_handle());
                let kind = ComponentType::Subkey(key.fingerprint());
                measure::can_sign(&key).then(|| Component::new(kind, packet))
            }
            // User attributes, and what does not belong into a certificate.
            _ => None,
        }
    }
}

fn read_key(tag: u8, body: &[u8]) -> Option<(Key<PublicParts, UnspecifiedRole>, Vec<u8>)> {
    let packet = packets::with_header(tag, body)?;
    let key = match Packet::from_bytes(&packet).ok()? {
        Packet::PublicKey(key) => key.into(),
        Packet::PublicSubkey(key) => key.into(),
        Packet::SecretKey(key) => key.parts_into_public().into(),
        Packet::SecretSubkey(key) => key.parts_into_public().into(),
        _ => return None,
    };
    Some((key, packet))
}

/// The armoured blocks of a text, without the text around them. Without any block, the whole input is binary.
fn blocks(ring: &[u8]) -> Vec<Vec<u8>> {
    let mut found = Vec::new();
    let mut rest = ring;
    while found.len() <= MOST_CERTIFICATES
        && let Some((_, block)) = split_after(rest, BEGIN)
    {
        // A block without an end must not swallow the next block.
        let (body, next) = split_before(block, BEGIN).unwrap_or((block, &[]));
        let body = split_after(body, END).map_or(body, |(body, _)| body);
        found.push([BEGIN, body].concat());
        rest = next;
    }
    if found.is_empty() {
        vec![ring.to_vec()]
    } else {
        found
    }
}

fn split_before<'a>(text: &'a [u8], marker: &[u8]) -> Option<(&'a [u8], &'a [u8])> {
    text.split_at_checked(position(text, marker)?)
}

fn split_after<'a>(text: &'a [u8], marker: &[u8]) -> Option<(&'a [u8], &'a [u8])> {
    text.split_at_checked(position(text, marker)? + marker.len())
}

fn position(text: &[u8], marker: &[u8]) -> Option<usize> {
    text.windows(marker.len())
        .position(|window| window == marker)
}
