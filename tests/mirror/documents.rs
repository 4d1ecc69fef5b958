use serde_json::json;

use super::origin_scene::{ARRIVED, OriginScene, arrives, folder, refused, spoiled, told};
use super::{LINUX, demo};
use crate::support::origin::lie::{self, Form};
use crate::support::origin::{Fault, Provider, SECRET, Setup, asks};
use crate::support::release::ReleaseFolder;

const ZIP: &str = "terraform-provider-demo_1.0.0_linux_amd64.zip";
const METADATA: &str = "https://[ORIGIN]/v1/providers/acme/demo/1.0.0/download/linux/amd64";
const ABOUT: &str = "error [ORIGIN]/acme/demo 1.0.0 linux_amd64 [ORIGIN]";
/// The SHA-256 of the package.
const DIGEST: &str = "4fa7e60d506416362ae4a4933f2da2a5c755191e68c2d41fb7c13d5c8e023bec";

#[test]
fn a_short_version_is_requested_as_published_and_tagged_in_full() {
    let scene = OriginScene::of([Provider::new("acme/demo").version("0.50", &[LINUX])]);
    let copied =
        "Copied [ORIGIN]/acme/demo 0.50.0 1 403 signed [ACME ID] origin Mirrored 1 1 403 [TIME]";
    let tag = "[ORIGIN]/acme/demo:0.50.0";
    scene.demo("").tells(copied).gives(tag);
    let asked = asks("download acme/demo 0.50 linux_amd64");
    assert_eq!(scene.origin.count(asked), 1);
    assert_eq!(scene.installs(), ["acme/demo 0.50.0 linux_amd64"]);
    scene.demo("").tells("Mirrored 1 [TIME]");
}

#[test]
fn build_metadata_is_kept() {
    let scene = OriginScene::of([Provider::new("acme/demo").version("1.0.0+ent", &[LINUX])]);
    let copied =
        "Copied [ORIGIN]/acme/demo 1.0.0+ent 1 418 signed [ACME ID] origin Mirrored 1 1 418 [TIME]";
    let tag = "[ORIGIN]/acme/demo:1.0.0_ent";
    scene.demo("").tells(copied).gives(tag);
    assert_eq!(scene.installs(), ["acme/demo 1.0.0+ent linux_amd64"]);
    // The `+` is sent as clients send it: some servers do not decode `%2B`.
    let seen = scene.origin.seen();
    let target = "/v1/providers/acme/demo/1.0.0+ent/download/linux/amd64";
    assert!(seen.iter().any(|seen| seen.target == target));
}

fn misnamed(name: &str) -> String {
    format!("error [ORIGIN]/acme/demo 1.0.0 [ORIGIN] expected {ZIP} received {name}")
}

#[test]
fn file_names_may_have_a_v_but_no_other_version() {
    arrives(&OriginScene::release(folder().v_in_names()));
    for name in ["terraform-provider-demo_1.0.1_linux_amd64.zip", "demo.zip"] {
        let scene = OriginScene::release(folder().named(name));
        scene.demo("").says(3, &misnamed(name));
    }
}

#[test]
fn two_platforms_may_have_one_zip() {
    let zip = folder().build().zips.remove(0).1.bytes;
    let folder = ReleaseFolder::new("demo", "1.0.0").zip(LINUX, &zip);
    let scene = OriginScene::release(folder.zip("linux_arm64", &zip));
    scene.demo("").tells(
        "Copied [ORIGIN]/acme/demo 1.0.0 2 406 signed [ACME ID] origin Mirrored 1 1 406 1 [TIME]",
    );
    assert_eq!(scene.installs().len(), 2);
    assert_eq!(scene.origin.count(asks("package")), 1);
}

#[test]
fn checksum_documents_are_parsed_as_clients_parse_them() {
    for form in Form::ALL {
        let scene = OriginScene::release(folder().document(move |text| form.of(text)));
        if ![Form::Starred, Form::UpperCaseNames].contains(&form) {
            arrives(&scene);
            continue;
        }
        let unlisted = format!("error [ORIGIN]/acme/demo 1.0.0 [ORIGIN] SHA-256 {ZIP}");
        scene.demo("").says(3, &unlisted);
        assert!(scene.installs().is_empty());
    }
}

#[test]
fn metadata_that_contradicts_is_refused() {
    let zeros = "0".repeat(64);
    let hashes = format!("zh:{DIGEST} h1:ULN8yrUQyE37mEmIPGSTmDzhSWVvAN2Ohh481yZGusE=");
    let size = |size| lie::says("packages/linux_amd64/package_size", size);
    let wrong = json!(["zh:00"]);
    #[rustfmt::skip] // A table.
    let cases = [
        (lie::says("shasum", &*zeros), 3, &*format!("expected {zeros} received {hashes}")),
        (lie::says("shasum", "x"), 3, "expected 64 received x"),
        (lie::says("os", "beos"), 3, "expected linux_amd64 received beos_amd64"),
        (lie::lacks("filename"), 1, "filename"),
        (lie::renames_in("packages", LINUX, "plan9_mips"), 3, &format!("expected {DIGEST} received none")),
        (lie::renames_in("packages", LINUX, "linux"), 1, "linux"),
        (size(json!(-1)), 1, "packages linux_amd64 package_size expected"),
        (lie::says("packages/linux_amd64/hashes", wrong), 3, &*format!("expected {DIGEST} received zh:00")),
        (lie::says("protocols", json!(["x"])), 3, "expected 6.0 received x"),
        (lie::says("download_url", "ftp://example.com/x.zip"), 3, "expected https received ftp://example.com/x.zip"),
    ];
    for (lie, code, facts) in cases {
        // The document is named in front of what cannot be read, and behind what is wrong.
        let facts = match code {
            1 => format!("{METADATA} {facts}"),
            _ => format!("{facts} {METADATA}"),
        };
        refused("download", lie, code, &format!("{ABOUT} {facts}"));
    }
    let lie = lie::says("filename", "../x.zip");
    refused("download", lie, 3, &misnamed("../x.zip"));
    // The size is not known then.
    arrives(&told("download", size(json!(0))));
}

#[test]
fn urls_may_be_relative_and_must_be_http() {
    let relative = lie::json(|document| {
        for field in ["download_url", "shasums_url", "shasums_signature_url"] {
            let url = document[field].as_str().unwrap().to_owned();
            let (_, path) = url.split_once("/files/").unwrap();
            document[field] = format!("/files/{path}").into();
        }
    });
    arrives(&told("download", relative));
    let url = |url: &str| lie::says("download_url", url);
    refused("download", url(""), 3, &spoiled("406", "more"));
    let plain = "http://127.0.0.1:1/x.zip";
    let says = format!("{ABOUT} http received {plain}");
    refused("download", url(plain), 1, &says);
}

#[test]
fn secrets_in_urls_are_sent_and_never_shown() {
    let scene = OriginScene::new(Setup::new([demo()]).signed_urls().start());
    scene.demo("-vv").hides(SECRET);
    assert_eq!(scene.installs(), ARRIVED);
    let scene = OriginScene::new(Setup::new([demo()]).signed_urls().start());
    scene.origin.always(asks("package"), Fault::status(404));
    scene.demo("").says(1, "error [ORIGIN]/acme/demo 1.0.0 linux_amd64 [ORIGIN] https://[ORIGIN]/files/acme/demo/1.0.0/linux_amd64/terraform-provider-demo_1.0.0_linux_amd64.zip?… 404").hides(SECRET);
}

/// No document then determines the file names, and other tools create files named by the titles.
#[test]
fn without_a_checksum_document_zips_get_canonical_names() {
    let scene = OriginScene::of([demo()]);
    let bare = lie::json(|document| {
        let document = document.as_object_mut().unwrap();
        document.insert("filename".to_owned(), json!("../../.bashrc"));
        document.retain(|name, _| !name.starts_with("shasums_"));
    });
    scene.origin.always(asks("download"), bare);
    scene.demo("--allow-unsigned */*/*").ends(0);
    assert_eq!(scene.installs(), ARRIVED);
    let host = scene.origin.host().replace(':', "_");
    let blobs = scene.path(format!("store/{host}/acme/demo/blobs/sha256"));
    let blobs = std::fs::read_dir(blobs).unwrap();
    let title = |path: std::path::PathBuf| {
        let manifest: serde_json::Value =
            serde_json::from_slice(&std::fs::read(path).ok()?).ok()?;
        let notes = &manifest["layers"][0]["annotations"];
        Some(notes["org.opencontainers.image.title"].as_str()?.to_owned())
    };
    let titles: Vec<String> = blobs
        .filter_map(|blob| title(blob.unwrap().path()))
        .collect();
    assert_eq!(titles, [ZIP]);
}
