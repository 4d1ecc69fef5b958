//! What of a store is trusted, and which hashes are recorded.

use std::fs;

use crate::support::author::Author;
use crate::support::layout::Parts;
use crate::support::registry::{Personality, Registry, Setup};
use crate::support::release::ReleaseFolder;
use crate::support::scene::Run;
use crate::support::tamper;

use super::read;

const STORE: &str = "oci-layout:store";

fn lock(author: &Author, arguments: &str) -> Run {
    let all = format!("lock acme/demo --from {STORE} {arguments}");
    author.line(all)
}

/// The schemes and numbers of the hashes in the lock file.
fn hashes(author: &Author) -> String {
    let text = read(&author.scene, ".terraform.lock.hcl");
    let count = |scheme: &str| text.matches(&format!("\"{scheme}:")).count();
    format!("{} h1, {} zh", count("h1"), count("zh"))
}

#[test]
fn a_pinned_signature_locks_every_platform() {
    let author = Author::new();
    author.with_pushed();
    lock(&author, "--key acme.asc").succeeds();
    assert_eq!(hashes(&author), "0 h1, 3 zh");
    let text = read(&author.scene, ".terraform.lock.hcl");
    assert!(
        text.starts_with(
            "# This file is maintained automatically by \"tofu init\".
# Manual edits may be lost in future updates.

provider \"registry.opentofu.org/acme/demo\" {
  version = \"1.0.0\"
  hashes = [
    \"zh:"
        ),
        "{text}"
    );
    // A trusted store knows every hash too. The checksum document lists the author's manifest, which is no package.
    let run = lock(&author, "--trust-store --check").succeeds();
    run.omits("Warning");
}

#[test]
fn without_a_pinned_key_a_store_is_not_trusted() {
    for (arguments, code, wanted) in [
        ("--platform linux_amd64", 0, "0 h1, 1 zh"),
        ("--platform all --h1", 0, "2 h1, 2 zh"),
        ("--trust-store", 0, "0 h1, 3 zh"),
        ("--trust-store --h1 --platform linux_amd64", 0, "1 h1, 3 zh"),
        (
            "--key acme.asc --h1 --platform darwin_arm64",
            0,
            "1 h1, 3 zh",
        ),
        ("--key stranger.asc", 3, ""),
        ("--platform plan9_mips", 1, ""),
        ("--platform plan9_mips --key acme.asc", 1, ""),
        ("--require-pinned", 2, ""),
    ] {
        let author = Author::new();
        author.with_pushed();
        let run = lock(&author, arguments).exits(code);
        let only =
            "   Warning registry.opentofu.org/acme/demo 1.0.0 was hashed for linux_amd64 only";
        let is_partial = arguments == "--platform linux_amd64";
        assert_eq!(run.stderr.contains(only), is_partial, "{}", run.stderr);
        if code == 0 {
            assert_eq!(hashes(&author), wanted, "{arguments}");
        } else {
            assert!(run.stderr.contains("error: "), "{arguments}");
            assert!(!author.scene.path(".terraform.lock.hcl").exists());
        }
    }
}

#[test]
fn an_unsigned_release_is_not_said_to_need_a_pin() {
    let author = Author::new();
    author.with_pushed_unsigned();
    let said = lock(&author, "--platform linux_amd64").succeeds().stderr;
    let warning =
        "   Warning registry.opentofu.org/acme/demo 1.0.0 was hashed for linux_amd64 only";
    assert!(said.contains(warning) && !said.contains("pin"), "{said}");
}

#[test]
fn a_version_without_evidence_needs_trust_in_the_store() {
    let author = Author::new();
    let release = ReleaseFolder::new("demo", "1.0.0").platform("linux_amd64");
    let zip = &release.build().zips[0].1.bytes;
    Parts::of(zip).write(&author.repository(""));
    lock(&author, "--platform linux_amd64").exits(3);
    assert!(!author.scene.path(".terraform.lock.hcl").exists());
    lock(&author, "--trust-store").succeeds();
    assert_eq!(hashes(&author), "0 h1, 1 zh");
}

#[test]
fn evidence_that_contradicts_is_refused_even_in_a_trusted_store() {
    let author = Author::new();
    author.with_pushed();
    let other = Author::new();
    ReleaseFolder::new("demo", "1.0.0")
        .package("linux_amd64", &[("terraform-provider-demo", b"other")])
        .write(&other.scene.path("dist"));
    other.push("").succeeds();
    tamper::transplant(&other.repository(""), &author.repository(""), "1.0.0");
    lock(&author, "--trust-store").exits(3);
    assert!(!author.scene.path(".terraform.lock.hcl").exists());
}

/// The documents of another version have a valid signature too.
#[test]
fn the_evidence_of_another_version_locks_nothing() {
    let author = Author::new();
    author.with_pushed();
    ReleaseFolder::new("demo", "2.0.0")
        .platform("linux_amd64")
        .write(&author.scene.path("new"));
    let push = "push new --provider acme/demo --to oci-layout:store --key acme.asc";
    author.line(push).succeeds();
    let old = tamper::tagged(&author.repository(""), "evidence-1.0.0");
    tamper::tags(&author.repository(""), |tags| {
        for tag in tags {
            if tag["annotations"]["org.opencontainers.image.ref.name"] == "evidence-2.0.0" {
                tag["digest"] = old["digest"].clone();
                tag["size"] = old["size"].clone();
            }
        }
    });
    lock(&author, "--key acme.asc").exits(3).tells("2.0.0");
}

/// One list of tags, one index, one manifest of evidence and its three documents, however many platforms there are.
#[test]
fn locking_from_a_registry_sends_six_requests() {
    for count in [2, 15] {
        let registry: Registry = Setup::of(Personality::Plain).start();
        let author = Author::new();
        let platforms = (0..count).map(|number| format!("os{number}_amd64"));
        platforms
            .fold(ReleaseFolder::new("demo", "1.0.0"), |release, platform| {
                release.platform(&platform)
            })
            .write(&author.scene.path("dist"));
        let host = registry.host();
        let store = format!("{host}/{{namespace}}/{{type}}");
        let common = ["--key", "acme.asc", "--plain-http", host];
        let push = ["push", "dist", "--provider", "acme/demo", "--to", &store];
        author.tfoci(&[&push[..], &common].concat()).succeeds();
        registry.forget();
        let lock = ["lock", "acme/demo", "--from", &store];
        author.tfoci(&[&lock[..], &common].concat()).succeeds();
        let seen = registry.seen();
        let paths: Vec<String> = seen.iter().map(|seen| seen.path.clone()).collect();
        assert_eq!(paths.len(), 6, "{paths:?}");
        assert_eq!(hashes(&author), format!("0 h1, {} zh", count + 1));
    }
}

/// A store without a known signature cannot add its packages to a version that is locked as another release.
#[test]
fn another_release_of_a_locked_version_is_refused() {
    let author = Author::new();
    author.with_pushed();
    lock(&author, "--key acme.asc").succeeds();
    let before = read(&author.scene, ".terraform.lock.hcl");
    let other = Author::new();
    ReleaseFolder::new("demo", "1.0.0")
        .package("linux_amd64", &[("terraform-provider-demo", b"other")])
        .signed_by(crate::support::signer::Signer::stranger())
        .write(&other.scene.path("dist"));
    other.push_unsigned("--key stranger.asc").succeeds();
    let store = format!("oci-layout:{}", other.scene.path("store").display());
    let key = format!("--key={}", other.scene.path("stranger.asc").display());
    // Even if a trusted key signed it.
    for trust in ["--platform=linux_amd64", "--trust-store", &key] {
        for more in [&[][..], &["--check"], &["--dry-run"]] {
            let lock = ["lock", "acme/demo", "--from", &store, trust];
            let run = author.tfoci(&[&lock, more].concat()).exits(3);
            run.tells("\n  expected ");
            assert_eq!(read(&author.scene, ".terraform.lock.hcl"), before);
        }
    }
    fs::remove_file(author.scene.path(".terraform.lock.hcl")).unwrap();
    author
        .line(format!("lock acme/demo --from {store} {key}"))
        .succeeds();
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
    let author = Author::new();
    release(b"first", &[]).write(&author.scene.path("dist"));
    author.push("").succeeds();
    lock(&author, "--key acme.asc").succeeds();
    let before = read(&author.scene, ".terraform.lock.hcl");
    let locking = |other: ReleaseFolder, trust: &[&str]| {
        let store = Author::new();
        other.write(&store.scene.path("dist"));
        store.push("").succeeds();
        let from = format!("oci-layout:{}", store.scene.path("store").display());
        author.tfoci(&[&["lock", "acme/demo", "--from", &from], trust].concat())
    };
    for trust in [
        &["--key", "acme.asc"][..],
        &["--key", "acme.asc", "--check"],
        &["--key", "acme.asc", "--upgrade"],
        &["--trust-store"],
        &["--platform", "linux_amd64"],
    ] {
        let run = locking(release(b"other", &[]), trust).exits(3);
        assert!(
            run.stderr.contains("expected one of "),
            "{trust:?} {}",
            run.stderr
        );
        assert_eq!(read(&author.scene, ".terraform.lock.hcl"), before);
    }
    // The author added a platform.
    let trust = ["--key", "acme.asc"];
    locking(release(b"first", &["windows_amd64"]), &trust).succeeds();
    let zh = read(&author.scene, ".terraform.lock.hcl");
    assert_eq!(
        zh.matches("\"zh:").count(),
        before.matches("\"zh:").count() + 1
    );
}
