//! Certificates and signatures: untrusted ones never give `signed`, and never take long.
//!
//! The input is a length in two bytes, a signature file of that length, and a key ring. No input that a fuzzer finds by itself is a
//! good signature by a key of the seeds over this document.
#![no_main]

use std::time::{Duration, SystemTime};

use libfuzzer_sys::fuzz_target;
use tfoci::authentication::Anchor;
use tfoci::release::{Document, KeyRing, Protocols, Release};
use tfoci::trust::{self, Rule};

fuzz_target!(|input: &[u8]| {
    let Some(([high, low], rest)) = input.split_first_chunk::<2>().map(|(a, b)| (*a, b)) else {
        return;
    };
    let length = usize::from(u16::from_be_bytes([high, low])).min(rest.len());
    let (signature, keys) = rest.split_at(length);
    let release = Release::<()> {
        provider: "registry.opentofu.org/acme/demo".parse().unwrap(),
        version: "1.0.0".parse().unwrap(),
        protocols: Protocols::default(),
        checksums: Some(Document::new("SHA256SUMS", Vec::new())),
        signatures: vec![Document::new("SHA256SUMS.sig", signature.to_vec())],
        keys: vec![KeyRing {
            name: "keys".to_owned(),
            bytes: keys.to_vec(),
            anchor: Anchor::Origin,
        }],
        packages: Vec::new(),
        notes: Vec::new(),
    };
    // A fixed day: findings can be repeated.
    let now = SystemTime::UNIX_EPOCH + Duration::from_secs(1_790_000_000);
    assert!(trust::verify(release, &Rule::default(), now).is_err());
});
