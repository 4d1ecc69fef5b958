//! OpenPGP packets built byte by byte: certificates and signatures that no honest program writes.
//!
//! This module writes bytes and does no key arithmetic: the numbers are of any size, and signatures are noise behind the
//! right hash prefix. That is enough to make a careless reader compute. The library's unit tests include this file too.

#![allow(
    clippy::indexing_slicing,
    dead_code,
    reason = "each test executable uses its part, and indexes what it built"
)]

use sequoia_openpgp as openpgp;

use openpgp::parse::Parse as _;
use sha2::{Digest as _, Sha256};

/// A packet whose length has four bytes.
pub fn packet(tag: u8, body: &[u8]) -> Vec<u8> {
    let length = u32::try_from(body.len()).unwrap().to_be_bytes();
    [&[0xc0 | tag, 0xff], &length[..], body].concat()
}

/// An odd number of so many bits.
pub fn number(bits: u16) -> Vec<u8> {
    let length = usize::from(bits).div_ceil(8);
    let mut value = vec![0xa5; length];
    if let Some(first) = value.first_mut() {
        let top = (bits - 1) % 8;
        *first = 1 << top | (0x25 & ((1 << top) - 1));
    }
    if let Some(last) = value.last_mut() {
        *last |= 1;
    }
    [&bits.to_be_bytes()[..], &value].concat()
}

/// The body of a key packet of version 4.
pub fn key(algorithm: u8, numbers: &[u16]) -> Vec<u8> {
    let numbers: Vec<u8> = numbers.iter().flat_map(|bits| number(*bits)).collect();
    [&[4, 0x5e, 0, 0, 0, algorithm], &numbers[..]].concat()
}

pub const DSA: u8 = 17;

/// A DSA key: p, q, g, y.
pub fn dsa(p: u16, q: u16) -> Vec<u8> {
    key(DSA, &[p, q, p - 1, p - 1])
}

/// The key id of a key.
pub fn key_id(body: &[u8]) -> Vec<u8> {
    match openpgp::Packet::from_bytes(&packet(6, body)) {
        Ok(openpgp::Packet::PublicKey(key)) => key.keyid().as_bytes().to_vec(),
        _ => vec![0; 8],
    }
}

/// The content of a signature.
pub struct Signature<'a> {
    pub kind: u8,
    pub algorithm: u8,
    /// The sizes of its numbers.
    pub numbers: &'a [u16],
    /// The key id of its issuer.
    pub issuer: &'a [u8],
    /// Seconds since the creation of the key, which make signatures different.
    pub at: u32,
    /// Further subpackets that are signed.
    pub subpackets: Vec<u8>,
    /// The signed data, without the signature's trailer.
    pub over: Vec<u8>,
}

/// A subpacket, whose length has five bytes.
pub fn subpacket(kind: u8, content: &[u8]) -> Vec<u8> {
    let length = u32::try_from(content.len() + 1).unwrap().to_be_bytes();
    [&[0xff], &length[..], &[kind], content].concat()
}

impl Signature<'_> {
    /// The body of its packet. The two hash bytes that a reader compares first are right, so a reader continues with the arithmetic.
    pub fn body(&self) -> Vec<u8> {
        let made = (0x5e00_0000 + self.at).to_be_bytes();
        let hashed = [subpacket(2, &made), self.subpackets.clone()].concat();
        let mut body = vec![4, self.kind, self.algorithm, 8];
        body.extend(u16::try_from(hashed.len()).unwrap().to_be_bytes());
        body.extend(hashed);
        let length = u32::try_from(body.len()).unwrap().to_be_bytes();
        let hash = Sha256::new()
            .chain_update(&self.over)
            .chain_update(&body)
            .chain_update([4, 0xff])
            .chain_update(length)
            .finalize();
        let issuer = subpacket(16, self.issuer);
        body.extend(u16::try_from(issuer.len()).unwrap().to_be_bytes());
        body.extend(issuer);
        body.extend(&hash[..2]);
        body.extend(self.numbers.iter().flat_map(|bits| number(*bits)));
        body
    }
}

/// A key as it is hashed.
pub fn hashed_key(body: &[u8]) -> Vec<u8> {
    let length = u16::try_from(body.len()).unwrap_or(u16::MAX).to_be_bytes();
    [&[0x99], &length[..], body].concat()
}

/// A user id as it is hashed.
pub fn hashed_user_id(text: &[u8]) -> Vec<u8> {
    let length = u32::try_from(text.len()).unwrap().to_be_bytes();
    [&[0xb4], &length[..], text].concat()
}

/// A certificate: a primary key, a user id, and so many signatures over it, each of which a reader has to check.
pub fn certificate(primary: &[u8], numbers: &[u16], signatures: u32) -> Vec<u8> {
    let name = b"Busy <busy@hostile.example>";
    let mut bytes = [packet(6, primary), packet(13, name)].concat();
    let (issuer, algorithm) = (key_id(primary), primary[5]);
    for at in 0..signatures {
        let signature = Signature {
            kind: 0x13,
            algorithm,
            numbers,
            issuer: &issuer,
            at,
            subpackets: subpacket(27, &[3]),
            over: [hashed_key(primary), hashed_user_id(name)].concat(),
        };
        bytes.extend(packet(2, &signature.body()));
    }
    bytes
}

/// A detached signature by a key.
pub fn detached(primary: &[u8], numbers: &[u16]) -> Vec<u8> {
    let signature = Signature {
        kind: 0,
        algorithm: primary[5],
        numbers,
        issuer: &key_id(primary),
        at: 1000,
        subpackets: Vec::new(),
        over: Vec::new(),
    };
    packet(2, &signature.body())
}

/// A key block in armour.
pub fn armoured(bytes: &[u8]) -> String {
    use std::io::Write as _;
    let mut writer =
        openpgp::armor::Writer::new(Vec::new(), openpgp::armor::Kind::PublicKey).unwrap();
    writer.write_all(bytes).unwrap();
    String::from_utf8(writer.finalize().unwrap()).unwrap()
}
