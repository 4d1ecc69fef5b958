use super::*;
use crate::trust::deadline::Deadline;
use openpgp::serialize::Serialize as _;
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
        let certificate = certificate.open(&Deadline::default());
        let certificate = certificate.expect("cheap").expect("a certificate");
        certificate.parsed.export(&mut binary).expect("bytes");
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
            let _ = certificate.open(&Deadline::default());
        }
    }
}
