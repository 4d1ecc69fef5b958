use serde_json::json;

use super::{DARWIN, DOWNLOAD, LINUX, Raw, VERSIONS};
use crate::support::origin::{Door, Origin, Provider, Release, SECRET, Setup};
use crate::support::release::{ReleaseFolder, sha256};
use crate::support::signer::Signer;
use crate::support::zipfile;

#[tokio::test]
async fn a_release_is_found_step_by_step() {
    let origin = Origin::of([Provider::demo(&[LINUX, DARWIN]).warning("move on")]);
    let raw = Raw::new();
    let services = raw.ask(&origin, "/.well-known/terraform.json").await;
    assert_eq!(services.json()["providers.v1"], "/v1/providers/");
    assert_eq!(
        raw.ask(&origin, VERSIONS).await.json(),
        json!({
            "id": "acme/demo",
            "versions": [{
                "version": "1.0.0",
                "protocols": ["5.0", "6.0"],
                "platforms": [{ "os": "linux", "arch": "amd64" }, { "os": "darwin", "arch": "arm64" }],
            }],
            "warnings": ["move on"],
        })
    );
    let said = raw.ask(&origin, DOWNLOAD).await.json();
    let zip = origin.zip("acme/demo", "1.0.0", LINUX);
    let name = "terraform-provider-demo_1.0.0_linux_amd64.zip";
    assert_eq!([&said["os"], &said["arch"]], ["linux", "amd64"]);
    assert_eq!([&said["filename"], &said["shasum"]], [name, &sha256(&zip)]);
    let package = &said["packages"][LINUX];
    assert_eq!(package["package_size"], zip.len());
    assert_eq!(package["hashes"][0], format!("zh:{}", sha256(&zip)));
    assert!(said["packages"][DARWIN].is_object());
    let key = &said["signing_keys"]["gpg_public_keys"][0];
    assert_eq!(key["ascii_armor"], Signer::acme().public_armored());
    let id = key["key_id"].as_str().unwrap();
    assert!(Signer::acme().fingerprint().ends_with(id) && id.len() == 16);
    let url = |name: &str| said[name].as_str().unwrap().to_owned();
    assert_eq!(raw.get(&url("download_url"), &[]).await.body, zip);
    let document = raw.get(&url("shasums_url"), &[]).await.body;
    let line = format!("{}  {name}\n", sha256(&zip));
    assert!(String::from_utf8_lossy(&document).contains(&line));
    let signature = raw.get(&url("shasums_signature_url"), &[]).await;
    let kind = signature.header("content-type");
    assert_eq!(kind, "application/pgp-signature");
    let asked = [
        "GET discovery 200",
        "GET versions acme/demo 200",
        "GET download acme/demo 1.0.0 linux_amd64 200",
        "GET package acme/demo 1.0.0 linux_amd64 200",
        "GET document acme/demo 1.0.0 200",
        "GET signature acme/demo 1.0.0 200",
    ];
    assert_eq!(origin.transcript(), asked);
}

#[tokio::test]
async fn the_network_mirror_has_the_same_zips() {
    let origin = Setup::new([Provider::demo(&[LINUX, DARWIN]).version("1.1.0", &[LINUX])])
        .mirror_token("of the mirror")
        .mirror_schemes(&["zh:"])
        .start();
    let raw = Raw::new();
    let base = format!("{}registry.opentofu.org/acme/demo/", origin.mirror_url());
    let list = format!("{base}index.json");
    let [other, token] = ["other", "of the mirror"].map(|token| format!("Bearer {token}"));
    let other = [("authorization", &*other)];
    for (headers, status) in [(&[][..], 401), (&other, 403)] {
        raw.get(&list, headers).await.is(status);
    }
    let token = [("authorization", &*token)];
    let index = raw.get(&list, &token).await.json();
    assert_eq!(index, json!({ "versions": { "1.0.0": {}, "1.1.0": {} } }));
    let version = raw.get(&format!("{base}1.0.0.json"), &token).await.json();
    for platform in [LINUX, DARWIN] {
        let archive = &version["archives"][platform];
        let zip = origin.zip("acme/demo", "1.0.0", platform);
        assert_eq!(archive["hashes"], json!([format!("zh:{}", sha256(&zip))]));
        let url = format!("{base}{}", archive["url"].as_str().unwrap());
        assert_eq!(raw.get(&url, &[]).await.body, zip);
    }
    raw.get(&format!("{base}2.0.0.json"), &token).await.is(404);
    let counters = "2 package, 3 mirror-index, 2 mirror-version";
    assert_eq!(origin.counters(), counters);
    origin.assert_no_leaks();
}

#[tokio::test]
async fn the_h1_of_a_zip_is_the_one_of_clients() {
    let files: &[(&str, &[u8])] = &[
        ("terraform-provider-demo_v1.0.0", b"hello\n"),
        ("LICENSE", b"demo license\n"),
    ];
    let release = ReleaseFolder::new("demo", "1.0.0").package(LINUX, files);
    let origin = Origin::of([Provider::new("acme/demo").release(release)]);
    let said = Raw::new().ask(&origin, DOWNLOAD).await.json();
    let h1 = "h1:mIYLZGu7edyL1Yh6y7aWNAFymkLMcuyVVTSpSMDKY8I=";
    assert_eq!(said["packages"][LINUX]["hashes"][1], h1);
}

#[tokio::test]
async fn missing_content_is_answered_with_404() {
    let origin = Origin::of([Provider::demo(&[LINUX])]);
    let raw = Raw::new();
    for path in [
        "/v1/acme/demo/versions",
        "/v1/providers/acme/other/versions",
        "/v1/providers/acme/demo/1.0/download/linux/amd64",
        "/v1/providers/acme/demo/1.0.0/download/linux/arm64",
        "/files/acme/demo/1.0.1/SHA256SUMS",
    ] {
        raw.ask(&origin, path).await.is(404);
    }
    let url = origin.url(VERSIONS);
    assert_eq!(raw.send("POST", &url, &[]).await.unwrap().status, 405);
}

#[tokio::test]
async fn requests_need_the_token_and_the_password() {
    let origin = Setup::new([Provider::demo(&[LINUX])])
        .token("sesame")
        .package_login("robot", "secret")
        .start();
    let raw = Raw::new();
    let zip = "/files/acme/demo/1.0.0/linux_amd64/x.zip";
    for (path, secret) in [(VERSIONS, "Bearer sesame"), (zip, "Basic cm9ib3Q6c2VjcmV0")] {
        raw.ask(&origin, path).await.is(401);
        for (secret, status) in [("Bearer parsley", 403), (secret, 200)] {
            let headers = [("authorization", secret)];
            raw.get(&origin.url(path), &headers).await.is(status);
        }
    }
    for path in [
        "/files/acme/demo/1.0.0/SHA256SUMS",
        "/.well-known/terraform.json",
    ] {
        raw.ask(&origin, path).await.is(200);
    }
}

#[tokio::test]
async fn services_and_files_can_be_elsewhere_and_urls_signed() {
    let origin = Setup::new([Provider::demo(&[LINUX])])
        .service_at(Door::Elsewhere)
        .files_at(Door::Plain)
        .signed_urls()
        .start();
    let raw = Raw::new();
    let doors = origin.doors();
    assert!(doors.elsewhere.starts_with("https://127.0.0.1:"));
    assert!(doors.front.starts_with("https://localhost:"));
    let services = raw.ask(&origin, "/.well-known/terraform.json").await.json();
    let service = format!("{}/v1/providers/", doors.elsewhere);
    assert_eq!(services["providers.v1"], service);
    let url = format!("{service}acme/demo/1.0.0/download/linux/amd64");
    let download = raw.get(&url, &[]).await.json();
    for (member, file) in [
        (
            "download_url",
            "linux_amd64/terraform-provider-demo_1.0.0_linux_amd64.zip",
        ),
        ("shasums_url", "SHA256SUMS"),
        ("shasums_signature_url", "SHA256SUMS.sig"),
    ] {
        let url = download[member].as_str().unwrap();
        let bare = format!("{}/files/acme/demo/1.0.0/{file}", doors.plain);
        assert_eq!(url, format!("{bare}?X-Signature={SECRET}"));
        raw.get(url, &[]).await.is(200);
        raw.get(&bare, &[]).await.is(403);
    }
}

#[tokio::test]
async fn optional_members_can_be_left_out() {
    let release = |version: &str| ReleaseFolder::new("demo", version).platform(LINUX);
    let shy = Release::from(release("0.50").v_in_names());
    let demo = Provider::new("acme/demo")
        .release(shy.without_packages().without_platforms())
        .release(release("0.50"))
        .release(release("not-a-version"))
        .release(Release::from(release("2.0.0+1")).listed_as("2"));
    let origin = Origin::of([demo]);
    let raw = Raw::new();
    let versions = raw.ask(&origin, VERSIONS).await.json();
    let versions = versions["versions"].as_array().unwrap();
    let listed: Vec<_> = versions.iter().map(|entry| &entry["version"]).collect();
    assert_eq!(listed, ["0.50", "0.50", "not-a-version", "2"]);
    assert_eq!(versions[0].get("platforms"), None);
    let download = |version: &str| DOWNLOAD.replace("1.0.0", version);
    let first = raw.ask(&origin, &download("0.50")).await.json();
    assert_eq!(first.get("packages"), None);
    let last = raw.ask(&origin, &download("2")).await.json();
    for (answer, version) in [(first, "v0.50"), (last, "2.0.0+1")] {
        let name = format!("terraform-provider-demo_{version}_linux_amd64.zip");
        assert_eq!(answer["filename"], name);
    }
    raw.ask(&origin, &download("2.0.0%2B1")).await.is(404);
}

#[tokio::test]
async fn two_platforms_can_share_a_zip_and_its_name_can_be_wrong() {
    let zip = zipfile::zip([zipfile::executable()]);
    let name = "terraform-provider-demo_1.4.18_linux_amd64.zip";
    let release = ReleaseFolder::new("demo", "1.0.0")
        .zip(LINUX, &zip)
        .named(name)
        .zip(DARWIN, &zip);
    let origin = Origin::of([Provider::new("acme/demo").release(release)]);
    let raw = Raw::new();
    let linux = raw.ask(&origin, DOWNLOAD).await.json();
    assert_eq!(linux["filename"], name);
    let hashes = |platform: &str| &linux["packages"][platform]["hashes"];
    assert_eq!(hashes(LINUX), hashes(DARWIN));
}

#[tokio::test]
async fn a_release_can_be_built_again_with_another_key() {
    let origin = Origin::of([Provider::demo(&[LINUX])]);
    let raw = Raw::new();
    let before = raw.ask(&origin, DOWNLOAD).await.json();
    let etag = raw.package(&origin, &[]).await.header("etag").to_owned();
    let folder = ReleaseFolder::new("demo", "1.0.0")
        .package(LINUX, &[("terraform-provider-demo_v1.0.0", b"again\n")])
        .signed_by(Signer::stranger());
    origin.publish(Provider::new("acme/demo").release(folder));
    let after = raw.ask(&origin, DOWNLOAD).await.json();
    assert_eq!(before["filename"], after["filename"]);
    assert_ne!(before["shasum"], after["shasum"]);
    let key = &after["signing_keys"]["gpg_public_keys"][0]["ascii_armor"];
    assert_eq!(key, &Signer::stranger().public_armored());
    let range = [("range", "bytes=5-"), ("if-range", &etag)];
    let said = raw.package(&origin, &range).await;
    let zip = origin.zip("acme/demo", "1.0.0", LINUX);
    assert_eq!((said.status, said.body), (200, zip));
}

#[tokio::test]
async fn signatures_of_testdata_are_served_unchanged() {
    for case in ["revoked", "sha1-document", "expired-before"] {
        let demo = Provider::new("acme/demo").release(Release::of_testdata(case));
        let origin = Origin::of([demo]);
        let raw = Raw::new();
        let said = raw.ask(&origin, DOWNLOAD).await.json();
        let url = |name: &str| said[name].as_str().unwrap().to_owned();
        let document = raw.get(&url("shasums_url"), &[]).await;
        let zip = raw.package(&origin, &[]).await;
        assert_eq!(zip.body, LINUX);
        let text = String::from_utf8(document.body.to_vec()).unwrap();
        assert!(text.contains(&sha256(&zip.body)));
        let signature = raw.get(&url("shasums_signature_url"), &[]).await;
        let path = crate::support::testdata(&format!("keys/{case}.sig"));
        assert_eq!(signature.body, std::fs::read(path).unwrap());
    }
}
