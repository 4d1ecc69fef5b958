use std::fs;

use super::{FROM, PINNED, PROVIDER, TO, copy, other};
use crate::support::author::Author;
use crate::support::release::Mistake;

/// Whether nothing but a lock file was written.
fn is_empty(author: &Author) -> bool {
    let written = |name: &str| other(author).join(name).exists();
    !written("index.json") && !written("blobs")
}

#[test]
fn a_pinned_key_is_enough_for_require_pinned() {
    let author = Author::pushed();
    let run = copy(&author, FROM, TO, PINNED).succeeds();
    run.says("Copied registry.opentofu.org/acme/demo 1.0.0 2 signed [ACME ID] pinned Copied 1 2 0 2 [TIME]");
    // The existing version is checked again, since the user asked for it.
    let again = copy(&author, FROM, TO, PINNED).succeeds();
    again.says(
        "Present registry.opentofu.org/acme/demo 1.0.0 2 signed [ACME ID] pinned Copied 2 [TIME]",
    );
}

#[test]
fn require_pinned_without_a_pin_is_a_usage_error() {
    let author = Author::pushed();
    let run = copy(&author, FROM, TO, "--require-pinned").exits(2);
    run.says("error registry.opentofu.org/acme/demo");
    assert!(is_empty(&author));
}

#[test]
fn a_key_that_is_not_pinned_is_refused_before_the_first_write() {
    let author = Author::pushed();
    let run = copy(&author, FROM, TO, "--key stranger.asc").exits(3);
    run.says("error registry.opentofu.org/acme/demo 1.0.0 oci-layout:store/registry.opentofu.org/acme/demo SHA256SUMS.sig expected [STRANGER] received [ACME]");
    assert!(is_empty(&author));
    copy(&author, FROM, TO, "").succeeds();
    // A version that is already present is refused too.
    copy(&author, FROM, TO, "--key stranger.asc").exits(3);
}

/// No command would install evidence that proves nothing.
#[test]
fn evidence_that_does_not_verify_is_refused() {
    let author = Author::pushed();
    let layers = author.document("evidence-1.0.0")["layers"].clone();
    // The signature's bytes are altered, so their digest differs from that in the manifest.
    let path = author.described(&layers[1]);
    let mut bytes = fs::read(&path).unwrap();
    let last = bytes.len() - 1;
    bytes[last] ^= 1;
    fs::write(path, bytes).unwrap();
    let run = copy(&author, FROM, TO, "").exits(3).without_result();
    run.tells(format!("({FROM}/{PROVIDER}): "));
    assert!(is_empty(&author));
}

#[test]
fn versions_without_evidence_are_copied_as_unverified_unless_a_policy_forbids_it() {
    let author = Author::with_mistake(Mistake::SignatureMissing);
    author.push_unsigned("--allow-unsigned acme/*").succeeds();
    let pin = "[[provider]]\nmatch = \"registry.opentofu.org/acme/*\"\nkeys = [\"acme.asc\"]\n";
    author.write("trust.toml", pin);
    copy(&author, FROM, TO, "--trust trust.toml").exits(3);
    assert!(is_empty(&author));
    let run = copy(&author, FROM, TO, "").succeeds();
    run.says("Copied registry.opentofu.org/acme/demo 1.0.0 2 checksum Copied 1 2 0 2 [TIME]");
}
