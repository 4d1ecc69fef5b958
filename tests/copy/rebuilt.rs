use std::fs;

use serde_json::{Value, json};

use super::{PROVIDER, copy};
use crate::support::author::Author;
use crate::support::judge;
use crate::support::layout::{blob, digest};

const FROM: &str = "oci-layout:store";
const TO: &str = "oci-layout:other";

fn pushed() -> Author {
    let author = Author::new();
    author.with_pushed();
    author
}

fn installs(author: &Author) -> Vec<String> {
    judge::installs(&author.scene.path("other"))
}

#[test]
fn a_platform_alone_is_refused_with_the_reason() {
    let author = pushed();
    let before = author.tree();
    let run = copy(&author, FROM, TO, &["--platform", "linux_amd64"]).exits(2);
    assert_eq!(author.tree(), before);
    run.without_result().says("error --platform");
}

#[test]
fn an_index_of_fewer_platforms_is_the_one_that_a_push_writes() {
    let author = pushed();
    let fewer = ["--platform", "linux_amd64"];
    let more = [&fewer[..], &["--rebuild-index"]].concat();
    let run = copy(&author, FROM, TO, &more).succeeds();
    let pushed = author.push_to("oci-layout:pushed", &fewer).succeeds();
    assert_eq!(run.stdout, pushed.stdout.replace("pushed", "other"));
    let [other, pushed] = ["other", "pushed"].map(|name| judge::tree(&author.scene.path(name)));
    assert_eq!(other, pushed);
    assert_eq!(installs(&author).len(), 1);
    let again = copy(&author, FROM, TO, &more).succeeds();
    again.says(
        "Present registry.opentofu.org/acme/demo 1.0.0 1 signed [ACME ID] embedded Copied 1 [TIME]",
    );
}

#[test]
fn further_platforms_are_added_later() {
    let author = pushed();
    for platform in ["linux_amd64", "darwin_arm64"] {
        copy(
            &author,
            FROM,
            TO,
            &["--rebuild-index", "--platform", platform],
        )
        .succeeds();
    }
    assert_eq!(installs(&author).len(), 2);
    let run = copy(&author, FROM, TO, &[]).succeeds();
    run.says("Present registry.opentofu.org/acme/demo 1.0.0 Copied 2 [TIME]");
}

#[test]
fn a_platform_that_is_not_there_is_an_error() {
    let author = pushed();
    let more = ["--rebuild-index", "--platform", "windows_amd64"];
    let run = copy(&author, FROM, TO, &more).exits(1).without_result();
    run.says("error registry.opentofu.org/acme/demo 1.0.0 oci-layout:store/registry.opentofu.org/acme/demo oci-layout:other/registry.opentofu.org/acme/demo windows_amd64 darwin_arm64 linux_amd64");
    assert!(!author.scene.path("other").exists());
}

#[test]
fn a_dry_run_writes_nothing() {
    let author = pushed();
    let before = author.tree();
    let more = ["--rebuild-index", "--platform", "linux_amd64", "--dry-run"];
    copy(&author, FROM, TO, &more).succeeds().says(
        "Would registry.opentofu.org/acme/demo 1.0.0 1 406 signed [ACME ID] embedded Would 1 1 406 [TIME]",
    );
    assert_eq!(author.tree(), before);
}

/// Adds a layer of an unknown type to the evidence.
fn extend_evidence(author: &Author) -> String {
    let mut evidence = author.document("evidence-1.0.0");
    let attestation = b"{\"an\":\"attestation\"}";
    fs::write(blob(&author.repository(""), attestation), attestation).unwrap();
    evidence["layers"].as_array_mut().unwrap().push(json!({
        "mediaType": "application/vnd.in-toto+json", "digest": digest(attestation), "size": attestation.len(),
    }));
    evidence["annotations"]["net.example.later"] = "yes".into();
    let bytes = evidence.to_string();
    fs::write(blob(&author.repository(""), bytes.as_bytes()), &bytes).unwrap();
    let mut index = author.layout_index();
    let entry = index["manifests"]
        .as_array_mut()
        .unwrap()
        .iter_mut()
        .find(|entry| {
            entry["annotations"]["org.opencontainers.image.ref.name"] == "evidence-1.0.0"
        });
    let entry = entry.unwrap();
    entry["digest"] = digest(bytes.as_bytes()).into();
    entry["size"] = bytes.len().into();
    fs::write(author.repository("index.json"), index.to_string()).unwrap();
    digest(bytes.as_bytes())
}

/// Later versions of tfoci may extend evidence. It is copied unchanged, also with a rebuilt index.
#[test]
fn evidence_is_kept_byte_for_byte() {
    for more in [&[][..], &["--rebuild-index", "--platform", "linux_amd64"]] {
        let author = pushed();
        let expected = extend_evidence(&author);
        copy(&author, FROM, TO, more).succeeds();
        let path = author.scene.path(format!("other/{PROVIDER}"));
        let index: Value =
            serde_json::from_slice(&fs::read(path.join("index.json")).unwrap()).unwrap();
        let tagged = index["manifests"].as_array().unwrap().iter().find(|entry| {
            entry["annotations"]["org.opencontainers.image.ref.name"] == "evidence-1.0.0"
        });
        assert_eq!(tagged.unwrap()["digest"], expected);
        assert!(blob(&path, b"{\"an\":\"attestation\"}").exists());
    }
}
