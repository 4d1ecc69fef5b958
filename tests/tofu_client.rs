//! The independent reader, which checks the artifacts of tfoci, is itself checked. There is one small layout for each mistake of an
//! artifact, with the real client's message (`testdata/layouts/EXPECTED.tsv`).

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use sha2::{Digest, Sha256};
use tempfile::TempDir;

use crate::support::expected::{layouts, lines};
use crate::support::tofu_client::{self, Refusal};

const INDEX: &str = "application/vnd.oci.image.index.v1+json";
const MANIFEST: &str = "application/vnd.oci.image.manifest.v1+json";
const MIB: usize = 1024 * 1024;

/// The outcome, in the words of the table.
fn outcome(layout: &Path, version: &str, platform: &str) -> String {
    match version {
        "list" => tofu_client::versions(layout).map(|versions| versions.join(" ")),
        "ignored" => tofu_client::ignored(layout).map(|tags| {
            let names: Vec<String> = tags.into_iter().map(|(tag, _)| tag).collect();
            names.join(" ")
        }),
        _ => {
            let (os, arch) = platform.split_once('_').unwrap();
            tofu_client::install(layout, version, os, arch).map(|_| "ok".to_owned())
        }
    }
    .unwrap_or_else(|refusal| refusal.to_string())
}

#[test]
fn every_layout_has_the_outcome_in_the_table() {
    let wrong: Vec<String> = lines()
        .filter_map(|line| {
            let (version, platform) = (&line.version, &line.platform);
            let got = outcome(&layouts().join(&line.layout), version, platform);
            (got != line.outcome).then(|| {
                format!(
                    "{} {version} {platform}\n  expected {}\n  received {got}",
                    line.layout, line.outcome
                )
            })
        })
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn every_layout_is_in_the_table_and_every_line_has_its_layout() {
    let listed: BTreeSet<String> = lines().map(|line| line.layout).collect();
    let present: BTreeSet<String> = fs::read_dir(layouts())
        .unwrap()
        .map(|entry| entry.unwrap())
        .filter(|entry| entry.path().is_dir())
        .map(|entry| entry.file_name().into_string().unwrap())
        .collect();
    assert_eq!(listed, present);
}

/// Fixture packages hold their platform's name as stored text.
#[test]
fn the_package_is_the_one_for_the_platform() {
    let layout = layouts().join("good-empty-config");
    assert_eq!(
        tofu_client::platforms(&layout, "1.0.0").unwrap(),
        [("darwin", "arm64"), ("linux", "amd64")].map(|(o, a)| (o.to_owned(), a.to_owned()))
    );
    for (os, arch) in tofu_client::platforms(&layout, "1.0.0").unwrap() {
        let package = tofu_client::install(&layout, "1.0.0", &os, &arch).unwrap();
        let bytes = fs::read(&package.bytes_path).unwrap();
        assert_eq!(bytes.len() as u64, package.size);
        assert_eq!(package.zh, format!("zh:{}", sha256(&bytes)));
        let text = format!("demo 1.0.0 {os}_{arch}");
        assert!(
            bytes
                .windows(text.len())
                .any(|part| part == text.as_bytes()),
            "{text}"
        );
    }
}

#[test]
fn a_directory_that_is_no_layout_is_an_error_of_its_own() {
    let empty = TempDir::new().unwrap();
    assert!(matches!(
        tofu_client::versions(empty.path()),
        Err(Refusal::NoLayout(_))
    ));
}

/// Row 28: the client's limit is called 4 MiB, and is one byte less than 5 MiB.
#[test]
fn manifests_may_be_just_under_five_mebibytes() {
    for (size, installs) in [
        (4 * MIB, true),
        (4 * MIB + 1, true),
        (5 * MIB - 1, true),
        (5 * MIB, false),
    ] {
        for which in [INDEX, MANIFEST] {
            let layout = padded_layout(which, size);
            let got = tofu_client::install(layout.path(), "1.0.0", "linux", "amd64");
            assert_eq!(got.is_ok(), installs, "{which} of {size}: {got:?}");
            assert!(installs || got == Err(Refusal::ManifestTooLarge));
        }
    }
}

/// A good layout whose index or platform manifest is padded to a size with white space.
fn padded_layout(which: &str, size: usize) -> TempDir {
    let dir = TempDir::new().unwrap();
    fs::create_dir_all(dir.path().join("blobs/sha256")).unwrap();
    let put = |media_type: &str, mut bytes: Vec<u8>, more: &str| {
        if media_type == which {
            bytes.resize(size, b' ');
        }
        let value = sha256(&bytes);
        fs::write(dir.path().join("blobs/sha256").join(&value), &bytes).unwrap();
        let size = bytes.len();
        format!(r#"{{"mediaType":"{media_type}","digest":"sha256:{value}","size":{size}{more}}}"#)
    };
    let layer = put("archive/zip", b"not really a zip".to_vec(), "");
    let target = "application/vnd.opentofu.provider-target";
    let body =
        format!(r#"{{"mediaType":"{MANIFEST}","artifactType":"{target}","layers":[{layer}]}}"#);
    let platform = r#"{"architecture":"amd64","os":"linux"}"#;
    let more = format!(r#","artifactType":"{target}","platform":{platform}"#);
    let entry = put(MANIFEST, body.into_bytes(), &more);
    let provider = "application/vnd.opentofu.provider";
    let body =
        format!(r#"{{"mediaType":"{INDEX}","artifactType":"{provider}","manifests":[{entry}]}}"#);
    let more = r#","annotations":{"org.opencontainers.image.ref.name":"1.0.0"}"#;
    let tagged = put(INDEX, body.into_bytes(), more);
    fs::write(
        dir.path().join("oci-layout"),
        r#"{"imageLayoutVersion":"1.0.0"}"#,
    )
    .unwrap();
    let index = format!(r#"{{"schemaVersion":2,"manifests":[{tagged}]}}"#);
    fs::write(dir.path().join("index.json"), index).unwrap();
    dir
}

fn sha256(bytes: &[u8]) -> String {
    let digest = Sha256::digest(bytes);
    digest.iter().map(|byte| format!("{byte:02x}")).collect()
}
