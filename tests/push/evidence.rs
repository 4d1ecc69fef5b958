//! The evidence of a version in the store.

use std::fs;
use std::path::PathBuf;

use serde_json::Value;

use super::{installed, pushed};
use crate::support::author::{Author, two_platforms};
use crate::support::release::{Mistake, ReleaseFolder};
use crate::support::signer::Signer;
use crate::support::tamper;

/// Plugin protocols, which the manifest of a release states.
mod protocols;

const DOCUMENT: &str = "dist/terraform-provider-demo_1.0.0_SHA256SUMS";

const EVIDENCE: &str = "evidence-1.0.0";
const UNSIGNED: &str = "--allow-unsigned acme/demo";

fn status(author: &Author) -> Value {
    let run = author.line("inspect acme/demo@1.0.0 --from oci-layout:store --format json");
    run.succeeds().json()["authentication"]["status"].clone()
}

fn pushed_status(author: &Author, more: &str) -> Value {
    pushed(author, more)["status"].clone()
}

fn signature(author: &Author) -> PathBuf {
    author.path(format!("{DOCUMENT}.sig"))
}

#[test]
fn evidence_holds_the_documents_as_they_were_signed() {
    let author = Author::pushed();
    let manifest = author.document(EVIDENCE);
    let layers = &manifest["layers"];
    assert_eq!(layers.as_array().unwrap().len(), 3);
    let types = [
        "text/plain",
        "application/pgp-signature",
        "application/pgp-keys",
    ];
    let bytes = [0, 1, 2].map(|at| {
        assert_eq!(layers[at]["mediaType"], types[at]);
        assert_eq!(layers[at].get("annotations"), None);
        fs::read(author.described(&layers[at])).unwrap()
    });
    assert_eq!(bytes[0], fs::read(author.path(DOCUMENT)).unwrap());
    assert_eq!(bytes[1], fs::read(signature(&author)).unwrap());
    assert!(bytes[2].starts_with(b"-----BEGIN PGP PUBLIC KEY BLOCK-----"));
    assert_eq!(manifest["annotations"]["org.tfoci.protocols"], "5.0,6.0");
    author.installs();
}

#[test]
fn only_the_signing_key_is_stored() {
    let author = Author::with_release();
    let keys = "--key stranger.asc --key acme.asc";
    author.push_unsigned(keys).succeeds();
    let alone = Author::with_release();
    let signature = format!("{DOCUMENT}.sig");
    // Two signatures over one document differ; the same release is pushed twice.
    fs::copy(author.path(&signature), alone.path(&signature)).unwrap();
    alone.push("").succeeds();
    assert_eq!(author.tagged(EVIDENCE), alone.tagged(EVIDENCE));
    author.installs();
}

#[test]
fn missing_evidence_is_repaired() {
    let author = Author::pushed();
    let (version, evidence) = (author.tagged("1.0.0"), author.tagged(EVIDENCE));
    tamper::untag(&author.repository(""), EVIDENCE);
    assert_eq!(status(&author), "unverified");
    assert_eq!(pushed_status(&author, "--dry-run"), "planned");
    assert_eq!(pushed_status(&author, ""), "updated");
    let again = (author.tagged("1.0.0"), author.tagged(EVIDENCE));
    assert_eq!(again, (version, evidence));
    assert_eq!(status(&author), "signed");
    assert_eq!(pushed_status(&author, ""), "present");
    author.installs();
}

/// Readers that pin a fingerprint need the key beside the packages.
#[test]
fn a_missing_key_is_added_later() {
    let author = Author::with_release();
    author.push_unsigned(UNSIGNED).succeeds();
    assert_eq!(status(&author), "checksum");
    assert_eq!(pushed_status(&author, ""), "updated");
    assert_eq!(status(&author), "signed");
    let layers = |document: Value| document["layers"].as_array().unwrap().len();
    assert_eq!(layers(author.document(EVIDENCE)), 3);
    let evidence = author.tagged(EVIDENCE);
    assert_eq!(pushed_status(&author, ""), "present");
    // A later push without the key does not remove it.
    author.push_unsigned(UNSIGNED).succeeds();
    assert_eq!(author.tagged(EVIDENCE), evidence);
}

#[test]
fn a_missing_manifest_is_added_later() {
    const MANIFEST: &str = "dist/terraform-provider-demo_1.0.0_manifest.json";
    let author = Author::with_release();
    let path = author.path(MANIFEST);
    let manifest = fs::read(&path).unwrap();
    fs::remove_file(&path).unwrap();
    author.push("").succeeds();
    let protocols = || author.document(EVIDENCE)["annotations"]["org.tfoci.protocols"].clone();
    assert_eq!(protocols(), "5.0");
    fs::write(&path, manifest).unwrap();
    assert_eq!(pushed_status(&author, ""), "updated");
    assert_eq!(protocols(), "5.0,6.0");
    fs::remove_file(&path).unwrap();
    assert_eq!(pushed_status(&author, ""), "present");
    assert_eq!(protocols(), "5.0,6.0");
}

#[test]
fn evidence_that_covers_everything_is_kept() {
    let author = Author::pushed();
    let before = author.tree_of("store");
    // The same document, signed again: another valid signature.
    let document = fs::read(author.path(DOCUMENT)).unwrap();
    let again = Signer::acme().sign_detached(&document);
    fs::write(signature(&author), again).unwrap();
    assert_eq!(pushed_status(&author, ""), "present");
    fs::remove_file(signature(&author)).unwrap();
    author.push_unsigned(UNSIGNED).succeeds();
    assert_eq!(author.tree_of("store"), before);
    assert_eq!(status(&author), "signed");
}

#[test]
fn checksums_are_upgraded_to_a_signature_and_never_back() {
    let author = Author::with_release();
    let signature = signature(&author);
    let bytes = fs::read(&signature).unwrap();
    fs::remove_file(&signature).unwrap();
    author.push_unsigned(UNSIGNED).succeeds();
    assert_eq!(status(&author), "checksum");
    fs::write(&signature, bytes).unwrap();
    assert_eq!(pushed_status(&author, ""), "updated");
    assert_eq!(status(&author), "signed");
    fs::remove_file(&signature).unwrap();
    author.push_unsigned(UNSIGNED).succeeds();
    assert_eq!(status(&author), "signed");
    author.installs();
}

/// The new document has one more line, for a platform that was built later. It covers the stored and the new platforms.
#[test]
fn a_checksum_document_that_covers_more_replaces_the_stored_one() {
    let author = Author::pushed();
    author.releases(two_platforms().platform("linux_arm64"));
    assert_eq!(pushed_status(&author, ""), "updated");
    let all = ["darwin_arm64", "linux_amd64", "linux_arm64"];
    assert_eq!(author.installs(), installed("1.0.0", &all));
    assert_eq!(status(&author), "signed");
}

/// The release was built again, and its document no longer lists the stored zips.
#[test]
fn a_release_that_was_built_again_is_refused() {
    let author = Author::pushed();
    author.releases(ReleaseFolder::new("demo", "1.0.0").platform("linux_arm64"));
    author.untouched(|| author.push("").exits(3).without_result());
}

#[test]
fn weaker_evidence_than_the_stored_one_is_refused() {
    let author = Author::pushed();
    let more = two_platforms().platform("linux_arm64");
    author.releases(more.mistake(Mistake::SignatureMissing));
    author.untouched(|| author.push_unsigned(UNSIGNED).exits(3).without_result());
}

/// A damaged signature does not bypass trust: an unsigned release replaces it only if the user allows it.
#[test]
fn a_damaged_signature_is_not_replaced_by_less() {
    let replace = format!("{UNSIGNED} --existing replace");
    let about = "registry.opentofu.org/acme/demo 1.0.0";
    for layer in [Some(1), Some(2), None] {
        let author = Author::pushed();
        let signature = signature(&author);
        let bytes = fs::read(&signature).unwrap();
        fs::remove_file(&signature).unwrap();
        // Without the bytes of the signature or the key, or without the manifest.
        let lost = match layer {
            None => author.blob(&author.tagged(EVIDENCE).unwrap()),
            Some(layer) => author.described(&author.document(EVIDENCE)["layers"][layer]),
        };
        fs::remove_file(lost).unwrap();
        let run = author.untouched(|| author.push_unsigned(UNSIGNED));
        run.exits(3)
            .without_result()
            .says(&format!("error {about}"));
        let run = author.push_unsigned(&replace).succeeds();
        run.says(&format!("Warning {about} checksum"));
        assert_eq!(status(&author), "checksum");
        fs::write(&signature, bytes).unwrap();
        assert_eq!(pushed_status(&author, ""), "updated");
        assert_eq!(status(&author), "signed");
    }
}

/// A replacement may weaken intact evidence, with a warning.
#[test]
fn a_replacement_with_weaker_evidence_has_a_warning() {
    let author = Author::pushed();
    fs::remove_file(signature(&author)).unwrap();
    let replace = format!("{UNSIGNED} --existing replace");
    for more in ["--dry-run", ""] {
        let run = author.push_unsigned(format!("{replace} {more}")).succeeds();
        run.says("Warning registry.opentofu.org/acme/demo 1.0.0 checksum");
    }
    assert_eq!(status(&author), "checksum");
}

/// The other author's evidence covers the same zips and is consistent in itself.
#[test]
fn evidence_of_another_key_is_replaced_with_a_warning() {
    let rival = Author::with_mistake(Mistake::SignatureByStranger);
    rival.push_unsigned("--key stranger.asc").succeeds();
    let author = Author::pushed();
    let ours = author.tagged(EVIDENCE);
    tamper::transplant(&rival.repository(""), &author.repository(""), "1.0.0");
    for more in ["--dry-run", ""] {
        let run = author.push(more).succeeds();
        run.says("Warning registry.opentofu.org/acme/demo 1.0.0 [STRANGER] [ACME]");
    }
    assert_eq!(author.tagged(EVIDENCE), ours);
    author.push("").succeeds().says("Present");
}
