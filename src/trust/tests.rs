//! Tests of documents, packages and rules; the tests of signatures are in the module that checks them.

use std::path::Path;
use std::time::{Duration, UNIX_EPOCH};

use super::*;
use crate::error::Category;
use crate::release::{Expected, Protocols};

/// 2026-11-21: years after every signature here.
pub(super) fn now() -> SystemTime {
    UNIX_EPOCH + Duration::from_secs(1_795_219_200)
}

pub(super) fn data(path: &str) -> Vec<u8> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("testdata")
        .join(path);
    std::fs::read(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

pub(super) fn document(path: &str) -> Document {
    Document::new(path, data(path))
}

/// A release with a checksum document, without signatures, keys and packages.
pub(super) fn release(checksums: &str) -> Release<()> {
    Release {
        provider: "example.com/acme/demo".parse().expect("an address"),
        version: "1.0.0".parse().expect("a version"),
        protocols: Protocols::default(),
        checksums: Some(document(checksums)),
        signatures: Vec::new(),
        keys: Vec::new(),
        packages: Vec::new(),
        notes: Vec::new(),
    }
}

fn package(platform: &str, file_name: &str, digest: Digest) -> Package<()> {
    Package {
        platform: platform.parse().expect("a platform"),
        file_name: file_name.to_owned(),
        expected: Expected { digest, size: 1 },
        location: (),
    }
}

/// A package for Linux. Its digest in the generated document is that of the platform's name.
fn linux() -> Package<()> {
    package(
        "linux_amd64",
        "terraform-provider-demo_1.0.0_linux_amd64.zip",
        Digest::of(b"linux_amd64"),
    )
}

#[test]
fn what_is_missing_is_an_error_unless_it_is_allowed() {
    let document = || release("keys/SHA256SUMS");
    let nothing = || Release {
        checksums: None,
        ..document()
    };
    let strict = |release| verify(release, &Rule::default(), now()).expect_err("refused");
    assert!(matches!(
        strict(document()),
        Error::Unproven {
            lacks: Lacking::Signature,
            ..
        }
    ));
    assert!(matches!(
        strict(nothing()),
        Error::Unproven {
            lacks: Lacking::Document,
            ..
        }
    ));
    for (release, status) in [
        (document(), Status::Checksum),
        (nothing(), Status::Unverified),
    ] {
        let verified = verify(release, &Rule::reading(), now()).expect("allowed");
        let authentication = verified.authentication();
        assert_eq!(
            (authentication.status, authentication.anchor),
            (status, None)
        );
        assert!(verified.signature().is_none() && verified.certificate().is_none());
    }
}

#[test]
fn packages_must_match_their_lines_under_names_that_say_so() {
    let attempt = |package| {
        let mut release = release("keys/SHA256SUMS");
        release.packages = vec![package];
        verify(release, &Rule::reading(), now())
    };
    assert!(attempt(linux()).is_ok());

    let Err(Error::Mismatch {
        expected, received, ..
    }) = attempt(package("linux_amd64", &linux().file_name, Digest::of(b"")))
    else {
        panic!()
    };
    assert_eq!(
        (expected, received),
        (linux().expected.digest, Digest::of(b""))
    );

    let absent = package(
        "linux_arm64",
        "terraform-provider-demo_1.0.0_linux_arm64.zip",
        Digest::of(b""),
    );
    assert!(matches!(attempt(absent), Err(Error::NoLine { .. })));

    // The document lists the digest, but for another platform.
    let other = package(
        "linux_amd64",
        "terraform-provider-demo_1.0.0_darwin_arm64.zip",
        Digest::of(b"darwin_arm64"),
    );
    let error = attempt(other).expect_err("refused");
    assert!(matches!(error, Error::OtherName { .. }), "{error}");
    assert_eq!(error.category(), Category::Untrusted);
}

#[test]
fn fewer_packages_keep_the_proof_and_a_merge_asks_for_more() {
    let mut release = release("keys/SHA256SUMS");
    release.packages = vec![linux()];
    let verified = verify(release, &Rule::reading(), now()).expect("allowed");
    let darwin = "darwin_arm64".parse().expect("a platform");
    assert!(
        verified
            .covers([(&darwin, &Digest::of(b"darwin_arm64"))])
            .is_ok()
    );
    let foreign = verified.covers([(&darwin, &Digest::of(b"linux_amd64"))]);
    assert!(matches!(foreign, Err(Error::Uncovered { .. })));
    let none = verified.only(|platform| *platform == darwin);
    assert_eq!(
        (none.packages.len(), none.authentication().status),
        (0, Status::Checksum)
    );
}
