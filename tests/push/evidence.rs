//! The evidence of a version in the store.

use std::fs;

use serde_json::Value;

use super::installed;
use crate::support::author::{Author, two_platforms};
use crate::support::release::{Mistake, ReleaseFolder};
use crate::support::signer::Signer;
use crate::support::tamper;

/// Plugin protocols, which the manifest of a release states.
mod protocols;

const DOCUMENT: &str = "dist/terraform-provider-demo_1.0.0_SHA256SUMS";

fn status(author: &Author) -> String {
    let run = author.tfoci(&[
        "inspect",
        "acme/demo@1.0.0",
        "--from",
        "oci-layout:store",
        "--format",
        "json",
    ]);
    let document: Value = serde_json::from_str(&run.succeeds().stdout).unwrap();
    document["authentication"]["status"]
        .as_str()
        .unwrap()
        .to_owned()
}

/// Removes a tag from the layout's index, as another tool might.
fn untag(author: &Author, tag: &str) {
    let mut index = author.layout_index();
    let entries = index["manifests"].as_array_mut().unwrap();
    entries.retain(|entry| entry["annotations"]["org.opencontainers.image.ref.name"] != tag);
    fs::write(author.repository("index.json"), index.to_string()).unwrap();
}

fn pushed_status(author: &Author, more: &[&str]) -> String {
    let run = author
        .push(&[&["--format", "json"], more].concat())
        .succeeds();
    let document: Value = serde_json::from_str(&run.stdout).unwrap();
    document["providers"][0]["status"]
        .as_str()
        .unwrap()
        .to_owned()
}

#[test]
fn evidence_holds_the_documents_as_they_were_signed() {
    let author = Author::with_release();
    author.push(&[]).succeeds();
    let manifest = author.document("evidence-1.0.0");
    let layers = manifest["layers"].as_array().unwrap();
    let types: Vec<&str> = layers
        .iter()
        .map(|layer| layer["mediaType"].as_str().unwrap())
        .collect();
    assert_eq!(
        types,
        [
            "text/plain",
            "application/pgp-signature",
            "application/pgp-keys"
        ]
    );
    let bytes = |layer: &Value| {
        let digest = layer["digest"].as_str().unwrap();
        fs::read(author.blob(digest.strip_prefix("sha256:").unwrap())).unwrap()
    };
    assert_eq!(
        bytes(&layers[0]),
        fs::read(author.scene.path(DOCUMENT)).unwrap()
    );
    let signature = author.scene.path(format!("{DOCUMENT}.sig"));
    assert_eq!(bytes(&layers[1]), fs::read(signature).unwrap());
    assert!(bytes(&layers[2]).starts_with(b"-----BEGIN PGP PUBLIC KEY BLOCK-----"));
    assert_eq!(manifest["annotations"]["org.tfoci.protocols"], "5.0,6.0");
    assert!(
        layers
            .iter()
            .all(|layer| layer.get("annotations").is_none())
    );
    author.installs();
}

#[test]
fn only_the_signing_key_is_stored() {
    let author = Author::with_release();
    author
        .push_unsigned(&["--key", "stranger.asc", "--key", "acme.asc"])
        .succeeds();
    let alone = Author::with_release();
    let signature = format!("{DOCUMENT}.sig");
    // Two signatures over one document differ; the same release is pushed twice.
    fs::copy(author.scene.path(&signature), alone.scene.path(&signature)).unwrap();
    alone.push(&[]).succeeds();
    assert_eq!(
        author.tagged("evidence-1.0.0"),
        alone.tagged("evidence-1.0.0")
    );
    author.installs();
}

#[test]
fn missing_evidence_is_repaired() {
    let author = Author::with_release();
    author.push(&[]).succeeds();
    let (version, evidence) = (author.tagged("1.0.0"), author.tagged("evidence-1.0.0"));
    untag(&author, "evidence-1.0.0");
    assert_eq!(status(&author), "unverified");
    assert_eq!(pushed_status(&author, &["--dry-run"]), "planned");
    assert_eq!(pushed_status(&author, &[]), "updated");
    assert_eq!(
        (author.tagged("1.0.0"), author.tagged("evidence-1.0.0")),
        (version, evidence)
    );
    assert_eq!(status(&author), "signed");
    assert_eq!(pushed_status(&author, &[]), "present");
    author.installs();
}

/// Readers that pin a fingerprint need the key beside the packages.
#[test]
fn a_missing_key_is_added_later() {
    let author = Author::with_release();
    let unsigned = ["--allow-unsigned", "acme/demo"];
    author.push_unsigned(&unsigned).succeeds();
    assert_eq!(status(&author), "checksum");
    assert_eq!(pushed_status(&author, &[]), "updated");
    assert_eq!(status(&author), "signed");
    let layers = |document: Value| document["layers"].as_array().unwrap().len();
    assert_eq!(layers(author.document("evidence-1.0.0")), 3);
    let evidence = author.tagged("evidence-1.0.0");
    assert_eq!(pushed_status(&author, &[]), "present");
    // A later push without the key does not remove it.
    author.push_unsigned(&unsigned).succeeds();
    assert_eq!(author.tagged("evidence-1.0.0"), evidence);
}

#[test]
fn a_missing_manifest_is_added_later() {
    const MANIFEST: &str = "dist/terraform-provider-demo_1.0.0_manifest.json";
    let author = Author::with_release();
    let path = author.scene.path(MANIFEST);
    let manifest = fs::read(&path).unwrap();
    fs::remove_file(&path).unwrap();
    author.push(&[]).succeeds();
    let protocols =
        || author.document("evidence-1.0.0")["annotations"]["org.tfoci.protocols"].clone();
    assert_eq!(protocols(), "5.0");
    fs::write(&path, manifest).unwrap();
    assert_eq!(pushed_status(&author, &[]), "updated");
    assert_eq!(protocols(), "5.0,6.0");
    fs::remove_file(&path).unwrap();
    assert_eq!(pushed_status(&author, &[]), "present");
    assert_eq!(protocols(), "5.0,6.0");
}

#[test]
fn damaged_evidence_is_repaired() {
    let author = Author::with_release();
    author.push(&[]).succeeds();
    let good = author.tree();
    let manifest = author.document("evidence-1.0.0");
    let mut blobs: Vec<String> = manifest["layers"]
        .as_array()
        .unwrap()
        .iter()
        .map(|layer| {
            layer["digest"]
                .as_str()
                .unwrap()
                .strip_prefix("sha256:")
                .unwrap()
                .to_owned()
        })
        .collect();
    blobs.push(author.tagged("evidence-1.0.0").unwrap());
    for hex in blobs {
        let path = author.blob(&hex);
        let bytes = fs::read(&path).unwrap();
        let damages: [&dyn Fn(); 3] = [
            &|| fs::remove_file(&path).unwrap(),
            &|| fs::write(&path, &bytes[1..]).unwrap(),
            &|| fs::write(&path, vec![b'x'; bytes.len()]).unwrap(),
        ];
        for damage in damages {
            damage();
            assert_eq!(pushed_status(&author, &[]), "updated");
            assert_eq!(author.tree(), good);
        }
    }
}

#[test]
fn evidence_that_covers_everything_is_kept() {
    let author = Author::with_release();
    author.push(&[]).succeeds();
    let before = author.tree();
    // The same document, signed again: another valid signature.
    let document = fs::read(author.scene.path(DOCUMENT)).unwrap();
    let again = Signer::acme().sign_detached(&document);
    author.scene.write(format!("{DOCUMENT}.sig"), again);
    assert_eq!(pushed_status(&author, &[]), "present");
    fs::remove_file(author.scene.path(format!("{DOCUMENT}.sig"))).unwrap();
    let unsigned = author.push_unsigned(&["--allow-unsigned", "acme/demo"]);
    unsigned.succeeds();
    let after = author.tree();
    let store = |tree: &std::collections::BTreeMap<String, String>| {
        let of_store = tree.iter().filter(|(name, _)| name.starts_with("store"));
        of_store
            .map(|(name, digest)| (name.clone(), digest.clone()))
            .collect::<Vec<_>>()
    };
    assert_eq!(store(&after), store(&before));
    assert_eq!(status(&author), "signed");
}

#[test]
fn checksums_are_upgraded_to_a_signature_and_never_back() {
    let author = Author::with_release();
    let signature = author.scene.path(format!("{DOCUMENT}.sig"));
    let bytes = fs::read(&signature).unwrap();
    fs::remove_file(&signature).unwrap();
    author
        .push_unsigned(&["--allow-unsigned", "acme/demo"])
        .succeeds();
    assert_eq!(status(&author), "checksum");
    fs::write(&signature, bytes).unwrap();
    assert_eq!(pushed_status(&author, &[]), "updated");
    assert_eq!(status(&author), "signed");
    fs::remove_file(&signature).unwrap();
    author
        .push_unsigned(&["--allow-unsigned", "acme/demo"])
        .succeeds();
    assert_eq!(status(&author), "signed");
    author.installs();
}

/// The new document has one more line, for a platform that was built later. It covers the stored and the new platforms.
#[test]
fn a_checksum_document_that_covers_more_replaces_the_stored_one() {
    let author = Author::with_release();
    author.push(&[]).succeeds();
    two_platforms()
        .platform("linux_arm64")
        .write(&author.scene.path("dist"));
    assert_eq!(pushed_status(&author, &[]), "updated");
    assert_eq!(
        author.installs(),
        installed("1.0.0", &["darwin_arm64", "linux_amd64", "linux_arm64"])
    );
    assert_eq!(status(&author), "signed");
}

/// The release was built again, and its document no longer lists the stored zips.
#[test]
fn a_release_that_was_built_again_is_refused() {
    let author = Author::with_release();
    author.push(&[]).succeeds();
    fs::remove_dir_all(author.scene.path("dist")).unwrap();
    ReleaseFolder::new("demo", "1.0.0")
        .platform("linux_arm64")
        .write(&author.scene.path("dist"));
    let before = author.tree();
    author.push(&[]).exits(3).without_result();
    assert_eq!(author.tree(), before);
}

#[test]
fn weaker_evidence_than_the_stored_one_is_refused() {
    let author = Author::with_release();
    author.push(&[]).succeeds();
    two_platforms()
        .platform("linux_arm64")
        .mistake(Mistake::SignatureMissing)
        .write(&author.scene.path("dist"));
    fs::remove_file(author.scene.path(format!("{DOCUMENT}.sig"))).unwrap();
    let before = author.tree();
    author
        .push_unsigned(&["--allow-unsigned", "acme/demo"])
        .exits(3)
        .without_result();
    assert_eq!(author.tree(), before);
}

/// Removes the signature's bytes, or the evidence's manifest.
fn damage(author: &Author, layer: Option<usize>) {
    let hex = match layer {
        None => author.tagged("evidence-1.0.0").unwrap(),
        Some(layer) => {
            let digest = author.document("evidence-1.0.0")["layers"][layer]["digest"].clone();
            digest.as_str().unwrap()["sha256:".len()..].to_owned()
        }
    };
    fs::remove_file(author.blob(&hex)).unwrap();
}

/// A damaged signature does not bypass trust: an unsigned release replaces it only if the user allows it.
#[test]
fn a_damaged_signature_is_not_replaced_by_less() {
    let allowed = ["--allow-unsigned", "acme/demo"];
    let replace = [&allowed[..], &["--existing", "replace"]].concat();
    let about = "registry.opentofu.org/acme/demo 1.0.0";
    for (layer, replaced) in [(Some(1), "signed"), (Some(2), "signed"), (None, "read")] {
        let author = Author::with_release();
        author.push(&[]).succeeds();
        let signature = author.scene.path(format!("{DOCUMENT}.sig"));
        let bytes = fs::read(&signature).unwrap();
        fs::remove_file(&signature).unwrap();
        damage(&author, layer);
        let before = author.tree();
        let run = author.push_unsigned(&allowed).exits(3).without_result();
        run.says(&format!("error {about}"));
        assert_eq!(author.tree(), before);
        let run = author.push_unsigned(&replace).succeeds();
        run.says(&format!("Warning {about} {replaced} checksum"));
        assert_eq!(status(&author), "checksum");
        fs::write(&signature, bytes).unwrap();
        assert_eq!(pushed_status(&author, &[]), "updated");
        assert_eq!(status(&author), "signed");
    }
}

/// A replacement may weaken intact evidence, with a warning.
#[test]
fn a_replacement_with_weaker_evidence_has_a_warning() {
    let author = Author::with_release();
    author.push(&[]).succeeds();
    fs::remove_file(author.scene.path(format!("{DOCUMENT}.sig"))).unwrap();
    let replace = ["--allow-unsigned", "acme/demo", "--existing", "replace"];
    for more in [&["--dry-run"][..], &[]] {
        let run = author.push_unsigned(&[&replace, more].concat()).succeeds();
        run.says("Warning registry.opentofu.org/acme/demo 1.0.0 signed checksum");
    }
    assert_eq!(status(&author), "checksum");
}

/// The other author's evidence covers the same zips and is consistent in itself.
#[test]
fn evidence_of_another_key_is_replaced_with_a_warning() {
    let rival = Author::with_mistake(Mistake::SignatureByStranger);
    rival.push_unsigned(&["--key", "stranger.asc"]).succeeds();
    let author = Author::with_release();
    author.push(&[]).succeeds();
    let ours = author.tagged("evidence-1.0.0");
    tamper::transplant(&rival.repository(""), &author.repository(""), "1.0.0");
    for more in [&["--dry-run"][..], &[]] {
        let run = author.push(more).succeeds();
        run.says("Warning registry.opentofu.org/acme/demo 1.0.0 [STRANGER] [ACME]");
    }
    assert_eq!(author.tagged("evidence-1.0.0"), ours);
    author.push(&[]).succeeds().says("Present");
}
