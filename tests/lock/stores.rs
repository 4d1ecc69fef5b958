//! What of a store is trusted, and which hashes are recorded.

use std::fs;

use crate::support::author::{Author, another_build};
use crate::support::layout::Parts;
use crate::support::registry::Registry;
use crate::support::release::ReleaseFolder;
use crate::support::scene::Run;
use crate::support::signer::Signer;
use crate::support::tamper;

use super::read;

const LOCK: &str = ".terraform.lock.hcl";
const ONLY: &str =
    "   Warning registry.opentofu.org/acme/demo 1.0.0 was hashed for linux_amd64 only";

fn lock(author: &Author, arguments: &str) -> Run {
    author.line(format!(
        "lock acme/demo --from oci-layout:store {arguments}"
    ))
}

/// The schemes and numbers of the hashes in the lock file.
fn hashes(author: &Author) -> String {
    let text = read(&author.scene, LOCK);
    let count = |scheme: &str| text.matches(&format!("\"{scheme}:")).count();
    format!("{} h1, {} zh", count("h1"), count("zh"))
}

#[test]
fn a_pinned_signature_locks_every_platform() {
    let author = Author::pushed();
    lock(&author, "--key acme.asc").succeeds();
    assert_eq!(hashes(&author), "0 h1, 3 zh");
    let text = read(&author.scene, LOCK);
    let begins = "# This file is maintained automatically by \"tofu init\".
# Manual edits may be lost in future updates.

provider \"registry.opentofu.org/acme/demo\" {
  version = \"1.0.0\"
  hashes = [
    \"zh:";
    assert!(text.starts_with(begins), "{text}");
    // A trusted store knows every hash too. The checksum document lists the author's manifest, which is no package.
    let run = lock(&author, "--trust-store --check").succeeds();
    run.omits("Warning");
}

#[test]
fn without_a_pinned_key_a_store_is_not_trusted() {
    let pinned = "--key acme.asc --h1 --platform darwin_arm64";
    for (arguments, code, wanted) in [
        ("--platform linux_amd64", 0, "0 h1, 1 zh"),
        ("--platform all --h1", 0, "2 h1, 2 zh"),
        ("--trust-store", 0, "0 h1, 3 zh"),
        ("--trust-store --h1 --platform linux_amd64", 0, "1 h1, 3 zh"),
        (pinned, 0, "1 h1, 3 zh"),
        ("--key stranger.asc", 3, ""),
        ("--platform plan9_mips", 1, ""),
        ("--platform plan9_mips --key acme.asc", 1, ""),
        ("--require-pinned", 2, ""),
    ] {
        let author = Author::pushed();
        let run = lock(&author, arguments).exits(code);
        let is_partial = arguments == "--platform linux_amd64";
        assert_eq!(run.stderr.contains(ONLY), is_partial, "{}", run.stderr);
        if code == 0 {
            assert_eq!(hashes(&author), wanted, "{arguments}");
        } else {
            assert!(run.stderr.contains("error: "), "{arguments}");
            assert!(!author.scene.path(LOCK).exists());
        }
    }
}

#[test]
fn an_unsigned_release_is_not_said_to_need_a_pin() {
    let author = Author::new();
    author.with_pushed_unsigned();
    let run = lock(&author, "--platform linux_amd64").succeeds();
    run.tells(ONLY).omits("pin");
}

#[test]
fn a_version_without_evidence_needs_trust_in_the_store() {
    let author = Author::new();
    let release = ReleaseFolder::new("demo", "1.0.0").platform("linux_amd64");
    let zip = &release.build().zips[0].1.bytes;
    Parts::of(zip).write(&author.repository(""));
    lock(&author, "--platform linux_amd64").exits(3);
    assert!(!author.scene.path(LOCK).exists());
    lock(&author, "--trust-store").succeeds();
    assert_eq!(hashes(&author), "0 h1, 1 zh");
}

#[test]
fn evidence_that_contradicts_is_refused_even_in_a_trusted_store() {
    let (author, other) = (Author::pushed(), Author::of(another_build()));
    other.push("").succeeds();
    tamper::transplant(&other.repository(""), &author.repository(""), "1.0.0");
    lock(&author, "--trust-store").exits(3);
    assert!(!author.scene.path(LOCK).exists());
}

/// The documents of another version have a valid signature too.
#[test]
fn the_evidence_of_another_version_locks_nothing() {
    let author = Author::pushed();
    author.releases(ReleaseFolder::new("demo", "2.0.0").platform("linux_amd64"));
    author.push("").succeeds();
    tamper::retag(&author.repository(""), "evidence-2.0.0", "evidence-1.0.0");
    lock(&author, "--key acme.asc").exits(3).tells("2.0.0");
}

/// One list of tags, one index, one manifest of evidence and its three documents, however many platforms there are.
#[test]
fn locking_from_a_registry_sends_six_requests() {
    for count in [2, 15] {
        let registry = Registry::plain();
        let platforms = (0..count).map(|number| format!("os{number}_amd64"));
        let author = Author::of(
            platforms.fold(ReleaseFolder::new("demo", "1.0.0"), |release, platform| {
                release.platform(&platform)
            }),
        );
        let host = registry.host();
        let store = format!("{host}/{{namespace}}/{{type}}");
        let plain = format!("--plain-http {host}");
        author.push_to(&store, &plain).succeeds();
        registry.forget();
        let lock = format!("lock acme/demo --from {store} --key acme.asc {plain}");
        author.line(lock).succeeds();
        let seen = registry.seen();
        let paths: Vec<String> = seen.iter().map(|seen| seen.path.clone()).collect();
        assert_eq!(paths.len(), 6, "{paths:?}");
        assert_eq!(hashes(&author), format!("0 h1, {} zh", count + 1));
    }
}

/// A store without a known signature cannot add its packages to a version that is locked as another release.
#[test]
fn another_release_of_a_locked_version_is_refused() {
    let author = Author::pushed();
    lock(&author, "--key acme.asc").succeeds();
    let before = read(&author.scene, LOCK);
    let other = Author::of(another_build().signed_by(Signer::stranger()));
    other.push_unsigned("--key stranger.asc").succeeds();
    let lock = |more: &str| author.line(format!("lock acme/demo --from {} {more}", layout(&other)));
    // Even if a trusted key signed it.
    for trust in [
        "--platform=linux_amd64",
        "--trust-store",
        "--key stranger.asc",
    ] {
        for more in ["", "--check", "--dry-run"] {
            let run = lock(&format!("{trust} {more}")).exits(3);
            run.tells("\n  expected ");
            assert_eq!(read(&author.scene, LOCK), before);
        }
    }
    fs::remove_file(author.scene.path(LOCK)).unwrap();
    lock("--key stranger.asc").succeeds();
}

/// The address of the store of another author.
fn layout(other: &Author) -> String {
    format!("oci-layout:{}", other.scene.path("store").display())
}

/// Whoever holds the key could otherwise exchange one package and leave another as it was.
#[test]
fn one_exchanged_package_makes_another_release() {
    let release = |linux: &[u8], more: &[&str]| {
        let release = ReleaseFolder::new("demo", "1.0.0")
            .package("linux_amd64", &[("terraform-provider-demo", linux)])
            .platform("darwin_arm64");
        more.iter()
            .fold(release, |release, one| release.platform(one))
    };
    let author = Author::of(release(b"first", &[]));
    author.push("").succeeds();
    lock(&author, "--key acme.asc").succeeds();
    let before = read(&author.scene, LOCK);
    let locking = |other: ReleaseFolder, trust: &str| {
        let store = Author::of(other);
        store.push("").succeeds();
        author.line(format!("lock acme/demo --from {} {trust}", layout(&store)))
    };
    for trust in "--key acme.asc|--key acme.asc --check|--key acme.asc --upgrade|--trust-store|--platform linux_amd64".split('|') {
        let run = locking(release(b"other", &[]), trust).exits(3);
        run.tells("expected one of ");
        assert_eq!(read(&author.scene, LOCK), before, "{trust}");
    }
    // The author added a platform.
    locking(release(b"first", &["windows_amd64"]), "--key acme.asc").succeeds();
    let now = read(&author.scene, LOCK);
    let [before, now] = [before, now].map(|text| text.matches("\"zh:").count());
    assert_eq!(now, before + 1);
}
