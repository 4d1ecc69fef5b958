use std::collections::BTreeMap;

use serde_json::json;

use super::{Found, Mirrored};
use crate::support::expected::{Line, layouts, lines};
use crate::support::scene::Scene;
use crate::support::tamper::{alter, put, retag, tags};

/// The tags that clients crash on or fail to fetch in a layout, and the versions that they do not install, by the real client.
fn expected(lines: &[Line]) -> bool {
    lines.iter().any(|line| match &*line.version {
        "list" => line.outcome.starts_with("panic"),
        "ignored" => false,
        _ => !line.is_accepted() && line.outcome != "platform not supported",
    })
}

/// tfoci says that something is wrong with a layout if, and only if, the real client refuses one of its versions.
#[test]
fn the_verdict_about_every_layout_is_that_of_the_client() {
    let mut of_layout: BTreeMap<String, Vec<Line>> = BTreeMap::new();
    for line in lines() {
        of_layout.entry(line.layout.clone()).or_default().push(line);
    }
    let scene = Scene::new();
    let (mut agreements, mut wrong) = (0, Vec::new());
    for (layout, lines) in of_layout {
        let store = lines[0].store();
        let verify = "verify registry.opentofu.org/acme/demo --deep --exact-repository";
        let found = Found::of(scene.line(format!("{verify} --format json --from {store}")));
        // What is only a warning is none of the client's business, and the fixtures are no real zips.
        let harmless = [
            "not-signed",
            "no-executable",
            "zip-refused",
            "irregular-manifest",
            "entry-ignored",
        ];
        let mut codes = found.codes();
        codes.retain(|code| !harmless.contains(code));
        // A tag that clients list and cannot fetch fails only if it is selected; a layout without versions has none to install.
        match codes.is_empty() != (expected(&lines) || layout == "versions-none") {
            true => agreements += 1,
            false => wrong.push(format!("{layout}: {codes:?}")),
        }
    }
    assert!(wrong.is_empty(), "{agreements} agree, and not {wrong:#?}");
    assert!(agreements > 60);
}

#[test]
fn a_tag_that_is_the_newest_for_clients_is_named_as_such() {
    for (tag, code, exit) in [
        ("20260101", "newest-refused", 1),
        ("0.9", "tag-not-canonical", 0),
        ("1234567890123456789012345", "tag-crashes-clients", 1),
        ("1.0.0-linux-amd64", "tag-of-platform", 0),
    ] {
        let mirrored = Mirrored::new();
        retag(&mirrored.layout("store"), tag, "1.0.0");
        let found = mirrored.verify("").are(&[code], exit);
        let reference = found.findings[0]["reference"].as_str().unwrap();
        assert!(reference.ends_with(&format!(":{tag}")), "{reference}");
        mirrored.verify("--client terraform").are_none();
    }
    let mirrored = Mirrored::new();
    let long = format!("1.0.0-{}", "a".repeat(120));
    retag(&mirrored.layout("store"), &long, "1.0.0");
    mirrored.verify("").are(&["tag-too-long"], 0);
}

/// `1.2` does no harm beside `1.2.0`, and cosign's tags never do.
#[test]
fn tags_that_do_no_harm_are_not_mentioned() {
    let mirrored = Mirrored::new();
    for tag in ["1.0", "latest", "v9.0.0", "sha256-abc.sig"] {
        retag(&mirrored.layout("store"), tag, "1.0.0");
    }
    mirrored.verify("").are_none();
}

#[test]
fn an_image_under_the_tag_of_a_version_is_not_a_provider() {
    for (tag, code) in [("0.1.0", "not-a-provider"), ("9.0.0", "newest-refused")] {
        let mirrored = Mirrored::new();
        let layout = mirrored.layout("store");
        let kind = "application/vnd.oci.image.manifest.v1+json";
        let manifest = format!(r#"{{"schemaVersion":2,"mediaType":"{kind}","layers":[]}}"#);
        let mut image = put(&layout, kind, manifest.as_bytes());
        image["annotations"] = json!({"org.opencontainers.image.ref.name": tag});
        tags(&layout, |tags| tags.push(image));
        let found = mirrored.verify("").are(&[code], 1);
        assert_eq!(found.findings[0]["version"], tag);
    }
}

#[test]
fn every_fault_of_a_document_has_its_code() {
    for (layout, code) in [
        ("index-artifact-type-missing", "newest-refused"),
        ("lenient-duplicate-keys", "member-repeated"),
        ("manifest-media-type-wrong", "manifest-refused"),
        ("layer-missing", "manifest-refused"),
        ("platform-wrong-case", "entry-ignored"),
        ("entry-artifact-type-missing", "entry-ignored"),
        ("lenient-wrong-case", "irregular-manifest"),
    ] {
        let store = format!("oci-layout:{}", layouts().join(layout).display());
        let verify = "verify registry.opentofu.org/acme/demo --exact-repository --format json";
        let found = Found::of(Scene::new().line(format!("{verify} --from {store}")));
        let found = found.codes();
        assert!(found.contains(&code), "{layout}: {found:?}");
    }
    let mirrored = Mirrored::new();
    alter(&mirrored.layout("store"), "1.0.0", |index| {
        index["manifests"][0]["mediaType"] = json!("application/vnd.oci.image.index.v1+json");
    });
    mirrored.verify("").are(&["index-refused"], 1);
}

#[test]
fn an_index_that_names_another_provider_is_a_warning_and_with_keys_no_proof() {
    let mirrored = Mirrored::new();
    alter(&mirrored.layout("store"), "1.0.0", |index| {
        index["annotations"]["org.opencontainers.image.title"] = json!("example.com/acme/other");
    });
    mirrored.verify("").are(&["not-verified"], 3);
    let line = "verify [DEMO] --from oci-layout:store";
    mirrored.found(line).are(&["other-provider"], 0);
}
