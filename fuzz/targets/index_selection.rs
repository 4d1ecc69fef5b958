//! The package that an index and its manifests lead to, for tfoci and for the clients' model of the test suite.
//!
//! The input is an index, a NUL and a platform manifest. In each, `DIGEST` and `SIZE` stand for those of the document below. What
//! tfoci accepts, the client accepts too, and it selects the same zip.
#![no_main]

#[allow(dead_code, reason = "the test suite uses more of it")]
#[path = "../../tests/support/tofu_client/mod.rs"]
mod tofu_client;

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use libfuzzer_sys::{Corpus, fuzz_target};
use sha2::{Digest as _, Sha256};
use tfoci::oci::{INDEX, Index, MANIFEST, PROVIDER, PROVIDER_TARGET, Part, RawManifest, manifest};
use tfoci::platform::Platform;

const PACKAGE: &[u8] = b"any bytes: the zip is not opened here";

fuzz_target!(|input: &[u8]| -> Corpus {
    let Some((index, platform_manifest)) = documents(input) else {
        return Corpus::Reject;
    };
    let platform = Platform::new("linux", "amd64").unwrap();
    let read = Index::read(&RawManifest::new(
        INDEX,
        PROVIDER,
        index.clone().into_bytes(),
    ));
    let Ok(read) = read else { return Corpus::Keep };
    let Ok(entry) = read.select(&platform) else {
        return Corpus::Keep;
    };
    let raw = RawManifest::new(
        MANIFEST,
        PROVIDER_TARGET,
        platform_manifest.clone().into_bytes(),
    );
    let Ok(expected) = entry.expected_of(Part::Entry) else {
        return Corpus::Keep;
    };
    if expected != raw.expected || entry.media_type != MANIFEST {
        return Corpus::Keep;
    }
    let Ok(layer) = manifest::read(&raw, &platform) else {
        return Corpus::Keep;
    };
    let directory = tempfile::tempdir().unwrap();
    write_layout(directory.path(), &index, &platform_manifest);
    if layer.expected.digest.to_string() != digest(PACKAGE)
        || layer.expected.size != PACKAGE.len() as u64
    {
        return Corpus::Keep;
    }
    let package = tofu_client::install(directory.path(), "1.0.0", "linux", "amd64")
        .unwrap_or_else(|refusal| panic!("the client refuses it: {refusal}"));
    let zh = layer.expected.digest.to_string().replace("sha256:", "zh:");
    assert_eq!(package.zh, zh);
    Corpus::Keep
});

fn documents(input: &[u8]) -> Option<(String, String)> {
    let (index, platform_manifest) = str::from_utf8(input).ok()?.split_once('\0')?;
    let platform_manifest = filled(platform_manifest, PACKAGE)?;
    let index = filled(index, platform_manifest.as_bytes())?;
    Some((index, platform_manifest))
}

/// `None` for documents that would grow beyond what registries take.
fn filled(document: &str, below: &[u8]) -> Option<String> {
    let size = below.len().to_string();
    let document = document
        .replace("DIGEST", &digest(below))
        .replace("SIZE", &size);
    (document.len() < 1 << 20).then_some(document)
}

fn digest(bytes: &[u8]) -> String {
    let mut text = "sha256:".to_owned();
    for byte in Sha256::digest(bytes) {
        let _ = write!(text, "{byte:02x}");
    }
    text
}

fn write_layout(directory: &Path, index: &str, platform_manifest: &str) {
    let blobs = directory.join("blobs/sha256");
    fs::create_dir_all(&blobs).unwrap();
    for bytes in [PACKAGE, index.as_bytes(), platform_manifest.as_bytes()] {
        fs::write(
            blobs.join(digest(bytes).trim_start_matches("sha256:")),
            bytes,
        )
        .unwrap();
    }
    fs::write(
        directory.join("oci-layout"),
        r#"{"imageLayoutVersion":"1.0.0"}"#,
    )
    .unwrap();
    let tags = format!(
        r#"{{"schemaVersion":2,"manifests":[{{"mediaType":"{INDEX}","digest":"{}","size":{},"annotations":{{"org.opencontainers.image.ref.name":"1.0.0"}}}}]}}"#,
        digest(index.as_bytes()),
        index.len()
    );
    fs::write(directory.join("index.json"), tags).unwrap();
}
