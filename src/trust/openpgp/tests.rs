//! The matrix of `testdata/keys`, and the real documents of `testdata/real`.

use std::time::{Duration, UNIX_EPOCH};

use proptest::prelude::*;

use crate::authentication::{Anchor, Note, Status};
use crate::fingerprint::Fingerprint;
use crate::release::{KeyRing, Release};
use crate::trust::rule::{Expired, Weak};
use crate::trust::tests::{data, document, now, release};
use crate::trust::{Error, Rule, SignatureErrorKind as Kind, verify};

fn ring(path: &str, anchor: Anchor) -> KeyRing {
    KeyRing {
        name: path.to_owned(),
        bytes: data(path),
        anchor,
    }
}

/// A release with a document, signatures and the origin's keys, without packages.
pub(super) fn signed(checksums: &str, signatures: &[&str], keys: &[&str]) -> Release<()> {
    Release {
        signatures: signatures.iter().map(|path| document(path)).collect(),
        keys: keys.iter().map(|path| ring(path, Anchor::Origin)).collect(),
        ..release(checksums)
    }
}

/// The document of the matrix with one case's signature and another's key.
fn made(signature: &str, keys: &[&str]) -> Release<()> {
    let keys: Vec<String> = keys.iter().map(|key| format!("keys/{key}.asc")).collect();
    signed(
        "keys/SHA256SUMS",
        &[&format!("keys/{signature}.sig")],
        &keys.iter().map(String::as_str).collect::<Vec<_>>(),
    )
}

fn case(name: &str) -> Release<()> {
    made(name, &[name])
}

fn reason(release: Release<()>, rule: &Rule) -> Kind {
    match verify(release, rule, now()) {
        Err(Error::Refused(refusal)) => refusal.reason,
        other => panic!("not refused: {:?}", other.map(|good| good.1)),
    }
}

fn notes(release: Release<()>, rule: &Rule) -> Vec<Note> {
    let verified = verify(release, rule, now()).unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(verified.authentication().status, Status::Signed);
    verified.authentication().notes.clone()
}

fn allowing() -> Rule {
    Rule::reading()
}

fn fingerprint(key: &str) -> Fingerprint {
    let verified = verify(case(key), &Rule::default(), now()).unwrap_or_else(|e| panic!("{e}"));
    let fingerprint = verified.authentication().fingerprint.clone();
    fingerprint.expect("a fingerprint")
}

#[test]
fn sound_keys_of_every_algorithm() {
    for name in [
        "rsa2048", "rsa4096", "dsa2048", "ed25519", "nistp256", "subkey", "text", "renewed",
    ] {
        assert_eq!(notes(case(name), &Rule::default()), [], "{name}");
    }
}

#[test]
fn expired_keys_are_noted_and_can_be_refused() {
    let refusing = Rule {
        expired: Expired::Refuse,
        ..Rule::default()
    };
    // The date of a signature tells nothing: a thief writes any date.
    for name in ["expired-since", "expired-before"] {
        assert_eq!(notes(case(name), &Rule::default()), [Note::ExpiredKey]);
        let expired = reason(case(name), &refusing);
        assert!(matches!(expired, Kind::Expired { .. }), "{expired}");
    }
}

#[test]
fn a_key_that_expires_later_is_not_noted() {
    let then = UNIX_EPOCH + Duration::from_secs(1_722_470_400);
    let verified = verify(case("expired-since"), &Rule::default(), then).expect("a good signature");
    assert_eq!(verified.authentication().notes, []);
}

#[test]
fn revoked_keys_are_refused_wherever_the_revocation_is_found() {
    let tolerant = Rule {
        weak: Weak::Warn,
        ..allowing()
    };
    for keys in [
        &["revoked"][..],
        &["revoked", "revoked-older"],
        &["revoked-older", "revoked"],
    ] {
        let refused = reason(made("revoked", keys), &tolerant);
        assert!(
            matches!(refused, Kind::Revoked { .. }),
            "{keys:?}: {refused}"
        );
    }
    assert_eq!(
        notes(made("revoked", &["revoked-older"]), &Rule::default()),
        []
    );
    let refused = reason(case("revoked-subkey"), &tolerant);
    assert!(matches!(refused, Kind::Revoked { .. }), "{refused}");
}

#[test]
fn a_revocation_at_the_origin_counts_for_a_pinned_copy() {
    let pinned = Rule {
        keys: vec![ring("keys/revoked-older.asc", Anchor::Pinned)],
        ..Rule::default()
    };
    let refused = reason(made("revoked", &["revoked"]), &pinned);
    assert!(matches!(refused, Kind::Revoked { .. }), "{refused}");
}

#[test]
fn weakness_is_noted_for_what_it_is() {
    assert_eq!(
        notes(case("sha1-self"), &Rule::default()),
        [Note::WeakSelfSignature]
    );
    assert_eq!(
        notes(case("dsa1024"), &Rule::default()),
        [Note::WeakSelfSignature, Note::WeakKey]
    );
    assert_eq!(notes(case("rsa1024"), &Rule::default()), [Note::WeakKey]);
}

#[test]
fn sha1_over_the_document_needs_a_switch() {
    let refused = reason(case("sha1-document"), &allowing());
    assert!(matches!(refused, Kind::WeakDocument { .. }), "{refused}");
    let warning = Rule {
        weak: Weak::Warn,
        ..Rule::default()
    };
    assert_eq!(notes(case("sha1-document"), &warning), [Note::WeakDocument]);
}

#[test]
fn a_clock_that_went_back_changes_nothing() {
    let refused = verify(case("sha1-document"), &Rule::default(), UNIX_EPOCH);
    let Err(Error::Refused(refusal)) = refused else {
        panic!()
    };
    assert!(
        matches!(refusal.reason, Kind::WeakDocument { .. }),
        "{refusal}"
    );
    let verified = verify(case("rsa1024"), &Rule::default(), UNIX_EPOCH).expect("a good signature");
    assert_eq!(verified.authentication().notes, [Note::WeakKey]);
}

#[test]
fn keys_that_may_not_sign_and_curves_without_arithmetic() {
    let refused = reason(case("certify-only"), &allowing());
    assert!(matches!(refused, Kind::NotForSigning { .. }), "{refused}");
    for name in ["brainpoolP256r1", "secp256k1"] {
        let refused = reason(case(name), &allowing());
        assert!(matches!(refused, Kind::Unsupported(_)), "{name}: {refused}");
    }
}

#[test]
fn every_key_is_tried_and_garbage_passed_over() {
    assert_eq!(
        notes(made("ed25519", &["rsa2048", "ed25519"]), &Rule::default()),
        []
    );
    let mut release = made("ed25519", &[]);
    let both = [
        &b"-----BEGIN PGP PUBLIC KEY BLOCK-----\n\nAAAA\n-----END PGP PUBLIC KEY BLOCK-----\n"[..],
        &data("keys/rsa2048.asc"),
        b"between\r\n",
        &data("keys/ed25519.asc"),
        b"git st",
    ]
    .concat();
    release.keys = vec![KeyRing {
        name: "both".to_owned(),
        bytes: both,
        anchor: Anchor::Embedded,
    }];
    let verified = verify(release, &Rule::default(), now()).expect("a good signature");
    assert_eq!(verified.authentication().anchor, Some(Anchor::Embedded));
    assert_eq!(verified.authentication().notes, [Note::SkippedKey]);
}

#[test]
fn every_signature_is_tried_and_the_good_one_named() {
    let mut release = case("ed25519");
    release.signatures.splice(
        0..0,
        [document("keys/armoured.sig"), document("keys/rsa2048.sig")],
    );
    let verified = verify(release, &Rule::default(), now()).expect("a good signature");
    let good = verified.signature().map(|good| good.name.as_str());
    assert_eq!(good, Some("keys/ed25519.sig"));
}

#[test]
fn several_packets_in_one_file() {
    let mut release = case("ed25519");
    release.signatures[0]
        .bytes
        .splice(0..0, data("keys/rsa2048.sig"));
    assert_eq!(notes(release, &Rule::default()), []);
}

#[test]
fn wrong_signatures_are_refused_even_where_none_is_needed() {
    let refused = reason(made("armoured", &["rsa2048"]), &allowing());
    assert_eq!(refused, Kind::Armoured);

    let mut altered = case("ed25519");
    altered
        .checksums
        .as_mut()
        .expect("a document")
        .bytes
        .push(b'\n');
    let refused = reason(altered, &allowing());
    assert_eq!(
        refused,
        Kind::Altered {
            key: fingerprint("ed25519")
        }
    );

    let foreign = reason(made("ed25519", &["rsa2048"]), &allowing());
    let Kind::OtherKey { expected, received } = foreign else {
        panic!("{foreign}")
    };
    assert_eq!(expected, [fingerprint("rsa2048")]);
    assert!(
        received.contains(&fingerprint("ed25519").to_string()),
        "{received:?}"
    );

    let mut broken = case("ed25519");
    broken.signatures[0].bytes.truncate(40);
    assert_eq!(reason(broken, &allowing()), Kind::Malformed);
    let mut long = case("ed25519");
    long.signatures[0].bytes.resize((64 << 10) + 1, 0);
    assert_eq!(reason(long, &allowing()), Kind::Malformed);
}

#[test]
fn of_several_reasons_the_most_telling_is_given() {
    let mut release = made("revoked", &["revoked"]);
    release.signatures.push(document("keys/armoured.sig"));
    let Err(Error::Refused(refusal)) = verify(release, &Rule::default(), now()) else {
        panic!()
    };
    assert!(matches!(refusal.reason, Kind::Revoked { .. }), "{refusal}");
    assert_eq!(refusal.signature, "keys/revoked.sig");
}

#[test]
fn pins_accept_only_what_they_name() {
    let pinned = |pins| Rule {
        pins,
        ..Rule::default()
    };
    let right = pinned(vec![fingerprint("ed25519")]);
    let verified = verify(case("ed25519"), &right, now()).expect("a good signature");
    assert_eq!(verified.authentication().anchor, Some(Anchor::Pinned));

    let wrong = pinned(vec![fingerprint("rsa2048")]);
    for keys in [&["ed25519"][..], &["ed25519", "rsa2048"]] {
        let Kind::NotPinned { received, .. } = reason(made("ed25519", keys), &wrong) else {
            panic!("{keys:?}")
        };
        assert_eq!(received, fingerprint("ed25519"));
    }
    let refusal = verify(case("ed25519"), &wrong, now())
        .expect_err("refused")
        .to_string();
    assert!(
        refusal.contains(&format!("expected {}", fingerprint("rsa2048"))),
        "{refusal}"
    );
    assert!(
        refusal.contains(&format!("received {}", fingerprint("ed25519"))),
        "{refusal}"
    );
}

#[test]
fn keys_of_the_user_replace_those_of_the_origin() {
    let rule = |path: &str| Rule {
        keys: vec![ring(path, Anchor::Pinned)],
        ..allowing()
    };
    let verified =
        verify(made("ed25519", &[]), &rule("keys/ed25519.asc"), now()).expect("a good signature");
    assert_eq!(verified.authentication().anchor, Some(Anchor::Pinned));
    let refused = reason(case("ed25519"), &rule("keys/rsa2048.asc"));
    assert!(matches!(refused, Kind::NotPinned { .. }), "{refused}");
}

#[test]
fn the_certificate_comes_alone_and_in_the_same_bytes() {
    let release = made("subkey", &["rsa2048", "subkey", "ed25519"]);
    let verified = verify(release, &Rule::default(), now()).expect("a good signature");
    let certificate = verified.certificate().expect("a certificate").to_vec();
    let text = String::from_utf8(certificate.clone()).expect("armour");
    assert!(
        text.starts_with("-----BEGIN PGP PUBLIC KEY BLOCK-----\n\n"),
        "{text}"
    );
    let mut alone = made("subkey", &[]);
    alone.keys = vec![KeyRing {
        name: "evidence".to_owned(),
        bytes: certificate.clone(),
        anchor: Anchor::Embedded,
    }];
    let again = verify(alone, &Rule::default(), now()).expect("a good signature");
    assert_eq!(again.certificate(), Some(certificate.as_slice()));
}

#[test]
fn keys_are_bounded() {
    let mut release = case("ed25519");
    release.keys[0].bytes = vec![b' '; (4 << 20) + 1];
    let error = verify(release, &allowing(), now()).expect_err("refused");
    assert!(matches!(error, Error::Large(_)), "{error}");
    let mut release = case("ed25519");
    release.keys[0].bytes = data("keys/ed25519.asc").repeat(257);
    let error = verify(release, &allowing(), now()).expect_err("refused");
    assert!(matches!(error, Error::Large(_)), "{error}");
}

#[test]
fn a_signature_without_a_key_counts_as_unsigned() {
    let error = verify(made("ed25519", &[]), &Rule::default(), now()).expect_err("refused");
    assert!(matches!(error, Error::Unproven { .. }), "{error}");
    let verified = verify(made("ed25519", &[]), &allowing(), now()).expect("allowed");
    assert_eq!(verified.authentication().status, Status::Checksum);
}

#[test]
fn notes_of_the_release_come_first_and_once() {
    let mut release = case("expired-since");
    release.notes = vec![Note::LenientJson, Note::ExpiredKey];
    let notes = notes(release, &Rule::default());
    assert_eq!(notes, [Note::LenientJson, Note::ExpiredKey]);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn no_altered_document_passes(at in 0usize..339, bit in 0u32..8) {
        let mut release = case("ed25519");
        if let Some(document) = &mut release.checksums {
            document.bytes[at] ^= 1 << bit;
        }
        prop_assert!(verify(release, &allowing(), now()).is_err());
    }

    #[test]
    fn no_signature_file_panics(at in 0usize..140, bit in 0u32..8, rest: Vec<u8>) {
        let mut release = case("ed25519");
        if let Some(byte) = release.signatures[0].bytes.get_mut(at) {
            *byte ^= 1 << bit;
        }
        release.signatures[0].bytes.extend(rest);
        let _ = verify(release, &allowing(), now());
    }
}
