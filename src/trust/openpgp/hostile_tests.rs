//! Keys crafted to make verification slow are verified at little cost, or refused before they cost much.

use std::time::{Duration, Instant};

use super::*;
use crate::authentication::Anchor;
use crate::release::{Document, KeyRing, Release};
use crate::trust::tests::{now, release};
use crate::trust::{Deadline, Error, Rule, SignatureErrorKind, verify_within};

#[path = "../../../tests/support/keygrammar.rs"]
mod keygrammar;

use keygrammar::{
    DSA, Signature, certificate, detached, dsa, hashed_key, hashed_user_id, key, key_id, packet,
    subpacket,
};

/// A random generator: the same seed gives the same keys.
struct Dice(u64);

impl Dice {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn below(&mut self, limit: u64) -> u64 {
        self.next() % limit
    }
}

const RSA: u8 = 1;
const ELGAMAL: u8 = 16;

/// A generous limit for slow machines. Without measuring numbers, the ring would take minutes to days.
const LONGEST: Duration = Duration::from_secs(30);
/// As much for what is refused without arithmetic. With it, each of these rings takes longer.
const QUICK: Duration = Duration::from_secs(5);

/// What is done with a ring and a signature that names a key in it.
fn judged(ring: Vec<u8>, signature: Vec<u8>, most: Duration) -> Result<(), Error> {
    let release: Release<()> = Release {
        signatures: vec![Document::new("hostile.sig", signature)],
        keys: vec![KeyRing {
            name: "ring".to_owned(),
            bytes: ring,
            anchor: Anchor::Origin,
        }],
        ..release("keys/SHA256SUMS")
    };
    let began = Instant::now();
    let verified = verify_within(release, &Rule::default(), now(), &Deadline::default());
    assert!(began.elapsed() < most, "{:?}", began.elapsed());
    verified.map(|_| ())
}

/// Refused without arithmetic.
#[track_caller]
fn refused(ring: Vec<u8>, signature: Vec<u8>) -> Error {
    judged(ring, signature, QUICK).expect_err("refused")
}

#[test]
fn numbers_that_are_too_large_are_not_computed_with() {
    for primary in [
        dsa(65_535, 65_000),
        dsa(65_535, 256),
        dsa(4_096, 513),
        dsa(4_097, 256),
        key(DSA, &[2_048, 256, 65_535, 2_047]),
        key(DSA, &[2_048, 256, 2_047, 65_535]),
        key(DSA, &[256, 512, 255, 255]),
        key(RSA, &[16_385, 17]),
        key(RSA, &[4_096, 65]),
        key(RSA, &[4_096, 4_096]),
        key(ELGAMAL, &[65_535, 65_535, 65_535]),
    ] {
        let numbers = match primary[5] {
            RSA => &[2_048][..],
            _ => &[256, 256],
        };
        let ring = certificate(&primary, numbers, 20);
        let error = refused(ring, detached(&primary, numbers));
        assert!(matches!(error, Error::Unproven { .. }), "{error}");
    }
}

#[test]
fn rsa_keys_that_the_library_cannot_compute_with_are_named() {
    let primary = key(RSA, &[8_192, 17]);
    let ring = certificate(&primary, &[8_192], 5);
    let error = refused(ring, detached(&primary, &[8_192]));
    let Error::Refused(refusal) = error else {
        panic!("{error}")
    };
    assert!(
        matches!(&refusal.reason, SignatureErrorKind::Unsupported(received) if received == "by a key of RSA of 8192 bits"),
        "{refusal}"
    );
}

#[test]
fn an_even_modulus_is_no_key() {
    let mut primary = dsa(2_048, 256);
    // The last byte of p, behind the head, its length and its value.
    primary[6 + 2 + 255] &= 0xfe;
    let error = refused(
        certificate(&primary, &[256, 256], 5),
        detached(&primary, &[256, 256]),
    );
    assert!(matches!(error, Error::Unproven { .. }), "{error}");
}

#[test]
fn many_signatures_of_an_owner_are_too_much_before_the_first_is_checked() {
    let primary = dsa(4_096, 512);
    let ring = certificate(&primary, &[512, 512], 500);
    let error = refused(ring, detached(&primary, &[512, 512]));
    assert!(matches!(error, Error::Costly), "{error}");
}

#[test]
fn what_is_within_the_limits_is_computed_in_time() {
    let primary = dsa(4_096, 512);
    let ring = certificate(&primary, &[512, 512], 120);
    let result = judged(ring, detached(&primary, &[512, 512]), LONGEST);
    let error = result.expect_err("refused");
    assert!(
        matches!(&error, Error::Refused(refusal) if matches!(refusal.reason, SignatureErrorKind::NotForSigning { .. })),
        "{error}"
    );
}

#[test]
fn a_certificate_with_more_than_honest_ones_is_skipped() {
    let primary = dsa(2_048, 256);
    let signature = || detached(&primary, &[256, 256]);
    let name = |at: u32| packet(13, format!("name {at}").as_bytes());
    let many = |bytes: Vec<u8>, count: usize| {
        let mut ring = certificate(&primary, &[256, 256], 1);
        ring.extend(bytes.repeat(count));
        refused(ring, signature())
    };
    let subkey = packet(14, &dsa(4_096, 512));
    for error in [
        many(subkey, 255),
        many(packet(13, b"name"), 255),
        many(packet(17, &[1; 20]), 255),
        many(packet(13, &[b'a'; 1 << 13]), 255),
        many(packet(2, &[4; 20]), 512),
    ] {
        assert!(matches!(error, Error::Unproven { .. }), "{error}");
    }
    // As many as there may be.
    let mut ring = certificate(&primary, &[256, 256], 1);
    ring.extend((0..200).flat_map(name));
    let error = refused(ring, signature());
    assert!(matches!(error, Error::Refused(_)), "{error}");
}

/// A subkey whose binding has so many signatures of it within.
fn with_embedded(primary: &[u8], subkey: &[u8], count: u32) -> Vec<u8> {
    let over = [hashed_key(primary), hashed_key(subkey)].concat();
    let (owner, signer) = (key_id(primary), key_id(subkey));
    let embedded = (0..count).flat_map(|at| {
        let signature = Signature {
            kind: 0x19,
            algorithm: DSA,
            numbers: &[512, 512],
            issuer: &signer,
            at,
            subpackets: Vec::new(),
            over: over.clone(),
        };
        subpacket(32, &signature.body())
    });
    let binding = Signature {
        kind: 0x18,
        algorithm: DSA,
        numbers: &[256, 256],
        issuer: &owner,
        at: 7,
        subpackets: [subpacket(27, &[2]), embedded.collect()].concat(),
        over: over.clone(),
    };
    [packet(14, subkey), packet(2, &binding.body())].concat()
}

#[test]
fn embedded_signatures_are_counted() {
    let (primary, subkey) = (dsa(2_048, 256), dsa(4_096, 512));
    let ring = |count| {
        let mut ring = certificate(&primary, &[256, 256], 1);
        ring.extend(with_embedded(&primary, &subkey, count).repeat(5));
        ring
    };
    let signature = || detached(&subkey, &[512, 512]);
    let error = refused(ring(100), signature());
    assert!(matches!(error, Error::Costly), "{error}");
    let error = refused(ring(120), signature());
    assert!(matches!(error, Error::Unproven { .. }), "{error}");
    // More subpackets than any signature needs: the binding is not read at all.
    let error = refused(ring(200), signature());
    assert!(!matches!(error, Error::Costly), "{error}");
}

#[test]
fn only_certificates_that_are_named_are_computed_with() {
    let mut ring = Vec::new();
    for p in 0..200 {
        ring.extend(certificate(&dsa(3_800 + p, 512), &[512, 512], 5));
    }
    ring.extend(certificate(&dsa(1_024, 160), &[160, 160], 1));
    let error = refused(ring, detached(&dsa(1_024, 160), &[160, 160]));
    assert!(matches!(error, Error::Refused(_)), "{error}");
}

#[test]
fn what_others_certified_is_not_computed_with() {
    let (primary, other) = (dsa(2_048, 256), dsa(4_096, 512));
    let name = b"name";
    let mut ring = [packet(6, &primary), packet(13, name)].concat();
    for at in 0..500 {
        let signature = Signature {
            kind: 0x10,
            algorithm: DSA,
            numbers: &[512, 512],
            issuer: &key_id(&other),
            at,
            subpackets: Vec::new(),
            over: [hashed_key(&primary), hashed_user_id(name)].concat(),
        };
        ring.extend(packet(2, &signature.body()));
    }
    let error = refused(ring, detached(&primary, &[256, 256]));
    assert!(matches!(error, Error::Refused(_)), "{error}");
}

#[test]
fn files_of_many_signatures_and_of_many_certificates_end() {
    let keys: Vec<Vec<u8>> = (0..40).map(|p| dsa(4_000 + p, 512)).collect();
    let ring: Vec<u8> = keys
        .iter()
        .flat_map(|primary| certificate(primary, &[512, 512], 2))
        .collect();
    let file: Vec<u8> = keys[..16]
        .iter()
        .flat_map(|primary| detached(primary, &[512, 512]))
        .collect();
    assert!(judged(ring, file, LONGEST).is_err());
}

#[test]
fn odd_packets_and_armour_end() {
    let primary = dsa(2_048, 256);
    let sound = certificate(&primary, &[256, 256], 1);
    let begin = "-----BEGIN PGP PUBLIC KEY BLOCK-----\n\n";
    let nested = (0..200).fold(sound.clone(), |inner, _| {
        packet(8, &[&[0], &inner[..]].concat())
    });
    let mut lying = packet(6, &key(DSA, &[2_048, 256, 2_047]));
    lying.extend([0xff, 0xff, 1, 2, 3]);
    for ring in [
        nested,
        lying,
        // Partial lengths, lengths beyond the end, and none.
        [&[0xc6, 0xee][..], &[4; 1 << 14]].concat(),
        vec![0xc6, 0xff, 0xff, 0xff, 0xff, 0xff, 4],
        vec![0x9b; 1 << 20],
        packet(10, b"PGP").repeat(100_000),
        packet(2, &[]).repeat(100_000),
        begin.repeat(100_000).into_bytes(),
        [begin.as_bytes(), &[b'A'; 4 << 19]].concat(),
        // Versions that are too new, or none.
        packet(6, &[&[6], &dsa(2_048, 256)[1..]].concat()),
        packet(6, &[&[5], &dsa(2_048, 256)[1..]].concat()),
        packet(6, &[]),
    ] {
        refused(ring, detached(&primary, &[256, 256]));
    }
}

#[test]
fn a_proof_that_is_ended_does_no_more_work() {
    let release = tests::signed(
        "keys/SHA256SUMS",
        &["keys/ed25519.sig"],
        &["keys/ed25519.asc"],
    );
    let deadline = Deadline::default();
    deadline.end();
    let ended = verify_within(release, &Rule::default(), now(), &deadline);
    assert!(matches!(ended, Err(Error::Costly)));
}

/// A certificate in which anything may be anywhere.
fn anything(dice: &mut Dice, primary: &[u8]) -> Vec<u8> {
    let owner = key_id(primary);
    let mut bytes = packet(6, primary);
    let mut last = hashed_user_id(b"");
    for at in 0..dice.below(60) {
        let size = |dice: &mut Dice| match dice.below(4) {
            0 => 65_535,
            1 => 512,
            _ => u16::try_from(dice.below(4_200)).unwrap() + 9,
        };
        match dice.below(8) {
            0 => {
                let subkey = dsa(size(dice), size(dice));
                last = hashed_key(&subkey);
                bytes.extend(packet(14, &subkey));
            }
            1 => {
                let subkey = key(RSA, &[size(dice), size(dice)]);
                last = hashed_key(&subkey);
                bytes.extend(packet(14, &subkey));
            }
            2 => {
                let name = vec![b'n'; usize::try_from(dice.below(5_000)).unwrap()];
                last = hashed_user_id(&name);
                bytes.extend(packet(13, &name));
            }
            3 => {
                let tag = u8::try_from(dice.below(64)).unwrap();
                bytes.extend(packet(tag, &[5; 40]));
            }
            _ => {
                let kinds = [0x10, 0x13, 0x18, 0x19, 0x1f, 0x20, 0x28, 0x30, 0];
                let kind = kinds[usize::try_from(dice.below(9)).unwrap()];
                let numbers = [size(dice), size(dice)];
                let nested = Signature {
                    kind: 0x19,
                    algorithm: DSA,
                    numbers: &[160, 160],
                    issuer: &owner,
                    at: 1,
                    subpackets: subpacket(32, &[4; 30]),
                    over: Vec::new(),
                };
                let embedded = subpacket(32, &nested.body());
                let signature = Signature {
                    kind,
                    algorithm: DSA,
                    numbers: &numbers,
                    issuer: &owner,
                    at: u32::try_from(at).unwrap(),
                    subpackets: embedded.repeat(usize::try_from(dice.below(4)).unwrap()),
                    over: match kind {
                        0x1f | 0x20 => hashed_key(primary),
                        _ => [hashed_key(primary), last.clone()].concat(),
                    },
                };
                bytes.extend(packet(2, &signature.body()));
            }
        }
    }
    if dice.below(3) == 0 {
        let at = usize::try_from(dice.below(bytes.len() as u64)).unwrap();
        bytes[at] ^= 1 << dice.below(8);
    }
    bytes
}

#[test]
fn every_certificate_is_parsed_in_limited_time() {
    for seed in 1..150 {
        let mut dice = Dice(0x9e37_79b9_7f4a_7c15_u64.wrapping_mul(seed));
        let primary = match dice.below(3) {
            0 => dsa(4_096, 512),
            1 => dsa(1_024, 160),
            _ => key(RSA, &[2_048, 17]),
        };
        let ring = anything(&mut dice, &primary);
        let result = judged(ring, detached(&primary, &[512, 512]), LONGEST);
        assert!(result.is_err(), "seed {seed}");
    }
}
