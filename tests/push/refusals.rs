//! Refusals of `push`. Those that it shares with other commands are in `tests/refused.rs`.

use std::fs;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::support::author::{Author, two_platforms};
use crate::support::registry::{Fault, Registry, Seen, matching};
use crate::support::release::{Mistake, sha256};
use crate::support::signer::Signer;

#[test]
fn allow_unsigned_applies_only_to_matching_providers() {
    let author = Author::with_mistake(Mistake::SignatureMissing);
    let push = |pattern| author.push_unsigned(format!("--allow-unsigned {pattern}"));
    push("acme/other").exits(3);
    push("example.com/acme/demo").exits(3);
    push("acme/demo").succeeds();
    assert_eq!(author.installs().len(), 2);
}

#[test]
fn one_valid_signature_of_several_is_enough() {
    let author = Author::with_mistake(Mistake::SignatureByStranger);
    let other = Author::with_release();
    let signature = "dist/terraform-provider-demo_1.0.0_SHA256SUMS";
    let good = fs::read(other.path(format!("{signature}.sig"))).unwrap();
    author.write(format!("{signature}.72D7468F.sig"), &good);
    author.push("").succeeds();
    author.installs();
    let layers = author.document("evidence-1.0.0")["layers"].clone();
    assert_eq!(fs::read(author.described(&layers[1])).unwrap(), good);
}

/// An altered document may list a zip that the folder lacks. The error is the signature, not the missing file.
#[test]
fn the_checksum_document_is_not_used_before_it_is_verified() {
    let author = Author::with_mistake(Mistake::DocumentAltered);
    author.push("").exits(3);
    let author = Author::with_release();
    fs::remove_file(author.zip("linux_amd64")).unwrap();
    author.push("").exits(1);
    author.push("--platform darwin_arm64").succeeds();
    author.installs();
}

/// OpenPGP programs write a revocation with each new key, in a separate block, for later use.
#[test]
fn a_revocation_in_a_separate_block_is_found() {
    let signer = Signer::revoked();
    let [key, revocation] = Signer::revocation_apart(&signer.public_armored());
    let other = Signer::stranger().public_armored();
    for (keys, code) in [
        (key.clone(), 0),
        (format!("{key}{revocation}"), 3),
        (format!("{revocation}\n{key}"), 3),
        // A revocation of another key has no effect.
        (format!("{other}{revocation}"), 3),
    ] {
        let author = Author::of(two_platforms().signed_by(signer));
        author.write("keys.asc", &keys);
        let run = author.push_unsigned("--key keys.asc").exits(code);
        let is_revoked = code == 3 && keys.contains(&key);
        let says_so = run.stderr.contains("revoked key");
        assert_eq!(says_so, is_revoked, "{}", run.stderr);
        assert_eq!(author.path("store").exists(), code == 0);
    }
}

const REFUSED: &str =
    "error registry.opentofu.org/acme/demo 1.0.0 terraform-provider-demo_1.0.0_SHA256SUMS.sig";

/// All copies of a key are combined, and one of them has its owner's latest statement.
#[test]
fn a_subkey_that_may_no_longer_sign_is_refused_in_every_copy_of_its_key() {
    let signer = Signer::retired();
    let (before, after) = (signer.public_armored(), signer.armored_without_signing());
    let author = Author::of(two_platforms().signed_by(signer));
    author.write("before.asc", &before);
    author.write("after.asc", &after);
    author.write("both.asc", format!("{before}{after}"));
    for keys in ["after.asc", "both.asc"] {
        let run = author.push_unsigned(format!("--key {keys}")).exits(3);
        run.says(&format!("{REFUSED} {}", signer.fingerprint()));
        assert!(!author.path("store").exists());
    }
    author.push_unsigned("--key before.asc").succeeds();
    // The evidence has the key without the later change.
    let inspect = "inspect acme/demo@1.0.0 --from oci-layout:store --require-pinned";
    for (key, code) in [("before.asc", 0), ("after.asc", 3)] {
        author.line(format!("{inspect} --key {key}")).exits(code);
    }
}

/// Packets that two copies of a key share count once towards the limit.
#[test]
fn a_revocation_behind_many_certifications_is_found() {
    let signer = Signer::revoked();
    let revoked = Signer::stranger().certified(&signer.public_armored(), 300);
    let [good, _revocation] = Signer::revocation_apart(&revoked);
    let author = Author::of(two_platforms().signed_by(signer));
    author.write("good.asc", &good);
    author.write("both.asc", format!("{good}{revoked}"));
    author.push_unsigned("--key good.asc --dry-run").succeeds();
    let run = author.push_unsigned("--key both.asc").exits(3);
    run.says(&format!("{REFUSED} {}", signer.fingerprint()));
    author.push_unsigned("--key good.asc").succeeds();
    let from = "--from oci-layout:store --key both.asc";
    let run = author.line(format!("inspect acme/demo@1.0.0 {from}"));
    run.exits(3).tells("revoked");
}

/// Who can make links in a store could have files written and removed elsewhere.
#[cfg(unix)]
#[test]
fn nothing_is_written_or_removed_where_a_link_in_the_store_leads() {
    use std::os::unix::fs::symlink;
    let parts = ["registry.opentofu.org", "acme", "demo", "blobs", "sha256"];
    for at in 0..parts.len() {
        let author = Author::with_release();
        // What a sweep of unfinished files would remove, wherever the link leads.
        author.write("victim/.tfoci-tmp-x/file", "kept");
        author.write("victim/sha256/.tfoci-tmp-x", "kept");
        let above = [&["store"], &parts[..at]].concat().join("/");
        fs::create_dir_all(author.path(&above)).unwrap();
        let link = format!("{above}/{}", parts[at]);
        symlink(author.path("victim"), author.path(&link)).unwrap();
        let run = author.untouched(|| author.push("").exits(1).without_result());
        let says = format!("error registry.opentofu.org/acme/demo 1.0.0 {link}");
        run.says(&says);
    }
    // The store itself may be a link.
    let author = Author::with_release();
    fs::create_dir(author.path("elsewhere")).unwrap();
    symlink("elsewhere", author.path("store")).unwrap();
    author.push("").succeeds();
    assert_eq!(author.installs().len(), 2);
}

/// The release process is not done: it writes a zip again while tfoci uploads it.
#[test]
fn a_zip_that_changes_after_its_verification_is_not_published() {
    let author = Author::with_release();
    let registry = Registry::plain();
    let zip = author.zip("linux_amd64");
    let bytes = fs::read(&zip).unwrap();
    let digest = sha256(&bytes);
    let has_failed = Arc::new(AtomicBool::new(false));
    let failed = has_failed.clone();
    let first = move |seen: &Seen| {
        let is_zip = seen.method == "PUT" && seen.target.contains(&digest);
        failed.fetch_or(is_zip, Ordering::Relaxed);
        is_zip
    };
    registry.fault(1, first, Fault::status(503));
    let change = move || {
        if has_failed.load(Ordering::Relaxed) {
            fs::write(&zip, &bytes[1..]).unwrap();
        }
    };
    registry.always(matching("POST", "/blobs/uploads/"), Fault::after(change));
    let host = registry.host();
    let more = format!("--exact-repository --plain-http {host}");
    author.push_to(&format!("{host}/acme/demo"), more).exits(3);
    assert!(registry.tags("acme/demo").is_empty());
}
