use serde_json::json;

use super::origin_scene::{ARRIVED, OriginScene, arrives, folder, refused, spoiled, told};
use super::{LINUX, demo};
use crate::support::origin::lie::{self, Form};
use crate::support::origin::{Fault, Provider, SECRET, Setup, asks};
use crate::support::release::{Mistake, ReleaseFolder};

#[test]
fn a_short_version_is_requested_as_published_and_tagged_in_full() {
    let scene = OriginScene::of([Provider::new("acme/demo").version("0.50", &[LINUX])]);
    scene
        .demo("")
        .says(
            0,
            "Copied [ORIGIN]/acme/demo 0.50.0 1 403 signed [ACME ID] origin Mirrored 1 1 403 [TIME]",
        )
        .gives(&["oci-layout:store/[ORIGIN]/acme/demo:0.50.0"]);
    assert_eq!(
        scene
            .origin
            .count(asks("download acme/demo 0.50 linux_amd64")),
        1
    );
    assert_eq!(scene.installs(), ["acme/demo 0.50.0 linux_amd64"]);
    scene.demo("").says(0, "Mirrored 1 [TIME]");
}

#[test]
fn build_metadata_is_kept() {
    let scene = OriginScene::of([Provider::new("acme/demo").version("1.0.0+ent", &[LINUX])]);
    scene
        .demo("")
        .says(
            0,
            "Copied [ORIGIN]/acme/demo 1.0.0+ent 1 418 signed [ACME ID] origin Mirrored 1 1 418 [TIME]",
        )
        .gives(&["oci-layout:store/[ORIGIN]/acme/demo:1.0.0_ent"]);
    assert_eq!(scene.installs(), ["acme/demo 1.0.0+ent linux_amd64"]);
    // The `+` is sent as clients send it: some servers do not decode `%2B`.
    let seen = scene.origin.seen();
    let mut targets = seen.iter().map(|seen| &seen.target);
    assert!(
        targets.any(|target| target == "/v1/providers/acme/demo/1.0.0+ent/download/linux/amd64")
    );
}

#[test]
fn file_names_may_have_a_v_but_no_other_version() {
    arrives(&OriginScene::release(folder().v_in_names()));
    let other = folder().named("terraform-provider-demo_1.0.1_linux_amd64.zip");
    OriginScene::release(other).demo("").says(
        3,
        "error [ORIGIN]/acme/demo 1.0.0 [ORIGIN] expected terraform-provider-demo_1.0.0_linux_amd64.zip received terraform-provider-demo_1.0.1_linux_amd64.zip",
    );
    let other = folder().named("demo.zip");
    OriginScene::release(other).demo("").says(
        3,
        "error [ORIGIN]/acme/demo 1.0.0 [ORIGIN] expected terraform-provider-demo_1.0.0_linux_amd64.zip received",
    );
}

#[test]
fn two_platforms_may_have_one_zip() {
    let zip = folder().build().zips.remove(0).1.bytes;
    let scene = OriginScene::release(
        ReleaseFolder::new("demo", "1.0.0")
            .zip(LINUX, &zip)
            .zip("linux_arm64", &zip),
    );
    scene.demo("").says(
        0,
        "Copied [ORIGIN]/acme/demo 1.0.0 2 406 signed [ACME ID] origin Mirrored 1 1 406 1 [TIME]",
    );
    assert_eq!(
        scene.installs(),
        ["acme/demo 1.0.0 linux_amd64", "acme/demo 1.0.0 linux_arm64"]
    );
    assert_eq!(scene.origin.count(asks("package")), 1);
}

#[test]
fn checksum_documents_are_parsed_as_clients_parse_them() {
    for form in [
        Form::Crlf,
        Form::BlankLine,
        Form::UpperCaseHex,
        Form::OneWord,
        Form::MoreFiles,
        Form::NoLastNewline,
    ] {
        arrives(&OriginScene::release(
            folder().document(move |text| form.of(text)),
        ));
    }
    for (form, says) in [(Form::Starred, "error [ORIGIN]/acme/demo 1.0.0 [ORIGIN] SHA-256 terraform-provider-demo_1.0.0_linux_amd64.zip expected received 1"), (Form::UpperCaseNames, "
error: [ORIGIN]/acme/demo 1.0.0 ([ORIGIN]): the checksum document has no SHA-256 for `terraform-provider-demo_1.0.0_linux_amd64.zip`

hint: nothing of this version was written. One checksum document has to list the packages of all platforms: its author has to publish it again
")] {
        let scene = OriginScene::release(folder().document(move |text| form.of(text)));
        scene.demo("").says(3, says);
        assert!(scene.installs().is_empty());
    }
    let other = |text: &str| text.replace(['0', '1'], "2");
    let said = OriginScene::release(folder().document(move |text| {
        let lines = text.lines().map(|line| {
            let (digest, name) = line.split_once(' ').unwrap();
            format!("{} {name}\n", other(digest))
        });
        lines.collect()
    }))
    .demo("")
    .ends(3);
    let hint = "hint: nothing of this version was written. Clients refuse this release, too: its author has to publish it again\n";
    assert!(said.ends_with(hint), "{said}");
    let stated = " (checksum document)\n  received sha256:4fa7e60d506416362ae4a4933f2da2a5c755191e68c2d41fb7c13d5c8e023bec (stated by its source)\n";
    assert!(said.contains(stated), "{said}");
    OriginScene::release(folder().mistake(Mistake::ZipsUnlisted)).demo("").says(3, "error [ORIGIN]/acme/demo 1.0.0 [ORIGIN] SHA-256 terraform-provider-demo_1.0.0_linux_amd64.zip");
}

#[test]
fn metadata_that_contradicts_is_refused() {
    refused("download", lie::says("shasum", "0".repeat(64)), 3, "
error: [ORIGIN]/acme/demo 1.0.0 linux_amd64 ([ORIGIN]): the package metadata has another hash of the package than expected
  expected 0000000000000000000000000000000000000000000000000000000000000000
  received zh:4fa7e60d506416362ae4a4933f2da2a5c755191e68c2d41fb7c13d5c8e023bec, h1:ULN8yrUQyE37mEmIPGSTmDzhSWVvAN2Ohh481yZGusE=
  from https://[ORIGIN]/v1/providers/acme/demo/1.0.0/download/linux/amd64
");
    refused("download", lie::says("shasum", "x"), 3, "
error: [ORIGIN]/acme/demo 1.0.0 linux_amd64 ([ORIGIN]): the package metadata has another shasum than expected
  expected 64 hex digits
  received x
  from https://[ORIGIN]/v1/providers/acme/demo/1.0.0/download/linux/amd64
");
    refused("download", lie::says("os", "beos"), 3, "
error: [ORIGIN]/acme/demo 1.0.0 linux_amd64 ([ORIGIN]): the package metadata has another platform than expected
  expected linux_amd64
  received beos_amd64
  from https://[ORIGIN]/v1/providers/acme/demo/1.0.0/download/linux/amd64
");
    refused(
        "download",
        lie::says("filename", "../x.zip"),
        3,
        "
error: [ORIGIN]/acme/demo 1.0.0 ([ORIGIN]): the file name of a package says something else
  expected terraform-provider-demo_1.0.0_linux_amd64.zip
  received ../x.zip

hint: nothing of this version was written. The package may be another version's: its author has to publish it again
",
    );
    refused("download", lie::lacks("filename"), 1, "error: [ORIGIN]/acme/demo 1.0.0 linux_amd64 ([ORIGIN]): the package metadata cannot be understood
  from https://[ORIGIN]/v1/providers/acme/demo/1.0.0/download/linux/amd64
  `filename` is missing
");
    refused("download", lie::renames_in("packages", "linux_amd64", "plan9_mips"), 3, "
error: [ORIGIN]/acme/demo 1.0.0 linux_amd64 ([ORIGIN]): the package metadata has another list of packages than expected
  expected linux_amd64
  received plan9_mips
  from https://[ORIGIN]/v1/providers/acme/demo/1.0.0/download/linux/amd64
");
    refused(
        "download",
        lie::renames_in("packages", "linux_amd64", "linux"),
        1,
        "
error: [ORIGIN]/acme/demo 1.0.0 linux_amd64 ([ORIGIN]): the package metadata has an invalid platform
  from https://[ORIGIN]/v1/providers/acme/demo/1.0.0/download/linux/amd64
  `linux` is not a platform: expected OS_ARCH, such as `linux_amd64`
",
    );
    for size in [0, 1_u64 << 63] {
        refused("download", lie::says("packages/linux_amd64/package_size", size), 3, &format!("
error: [ORIGIN]/acme/demo 1.0.0 linux_amd64 ([ORIGIN]): the package metadata has another package size than expected
  expected 1 to 9223372036854775807
  received {size}
  from https://[ORIGIN]/v1/providers/acme/demo/1.0.0/download/linux/amd64
"));
    }
    refused(
        "download",
        lie::says("packages/linux_amd64/package_size", -1),
        1,
        "
error: [ORIGIN]/acme/demo 1.0.0 linux_amd64 ([ORIGIN]): the package metadata cannot be understood
  from https://[ORIGIN]/v1/providers/acme/demo/1.0.0/download/linux/amd64
  `packages`: `linux_amd64`: `package_size`: expected a whole number from 0, received the number -1
",
    );
    refused("download", lie::says("packages/linux_amd64/hashes", json!(["zh:00"])), 3, "
error: [ORIGIN]/acme/demo 1.0.0 linux_amd64 ([ORIGIN]): the package metadata has another hash of the package than expected
  expected 4fa7e60d506416362ae4a4933f2da2a5c755191e68c2d41fb7c13d5c8e023bec
  received zh:00
  from https://[ORIGIN]/v1/providers/acme/demo/1.0.0/download/linux/amd64
");
    refused("download", lie::says("protocols", json!(["x"])), 3, "
error: [ORIGIN]/acme/demo 1.0.0 linux_amd64 ([ORIGIN]): the package metadata has another protocol than expected
  expected such as 6.0
  received x
  from https://[ORIGIN]/v1/providers/acme/demo/1.0.0/download/linux/amd64
");
}

#[test]
fn wrong_sizes_are_detected_during_the_download() {
    refused(
        "download",
        lie::says("packages/linux_amd64/package_size", 1),
        3,
        &spoiled("there are more bytes than expected", "1 bytes", "more"),
    );
    refused(
        "download",
        lie::says("packages/linux_amd64/package_size", 1 << 20),
        3,
        &spoiled(
            "there are fewer bytes than expected",
            "1048576 bytes",
            "406 bytes",
        ),
    );
}

#[test]
fn urls_may_be_relative_and_must_be_http() {
    arrives(&told(
        "download",
        lie::json(|document| {
            for field in ["download_url", "shasums_url", "shasums_signature_url"] {
                let url = document[field].as_str().unwrap().to_owned();
                let (_, path) = url.split_once("/files/").unwrap();
                document[field] = format!("/files/{path}").into();
            }
        }),
    ));
    refused("download", lie::says("download_url", "ftp://example.com/x.zip"), 3, "
error: [ORIGIN]/acme/demo 1.0.0 linux_amd64 ([ORIGIN]): the package metadata has another download_url than expected
  expected an https URL
  received ftp://example.com/x.zip
  from https://[ORIGIN]/v1/providers/acme/demo/1.0.0/download/linux/amd64
");
    refused(
        "download",
        lie::says("download_url", ""),
        3,
        &spoiled("there are more bytes than expected", "406 bytes", "more"),
    );
    refused(
        "download",
        lie::says("download_url", "http://127.0.0.1:1/x.zip"),
        1,
        "
error: [ORIGIN]/acme/demo 1.0.0 linux_amd64 ([ORIGIN]): cannot download the package
  refusing to use http
    received http://127.0.0.1:1/x.zip

hint: to speak to it without TLS, `--plain-http 127.0.0.1:1`
",
    );
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
    scene.origin.always(
        asks("download"),
        lie::json(|document| {
            let document = document.as_object_mut().unwrap();
            document.insert("filename".to_owned(), json!("../../.bashrc"));
            document.remove("shasums_url");
            document.remove("shasums_signature_url");
        }),
    );
    scene.demo("--allow-unsigned */*/*").ends(0);
    assert_eq!(scene.installs(), ARRIVED);
    let host = scene.origin.host().replace(':', "_");
    let blobs = scene.path(format!("store/{host}/acme/demo/blobs/sha256"));
    let blobs = std::fs::read_dir(blobs).unwrap();
    let texts = blobs.filter_map(|blob| std::fs::read_to_string(blob.unwrap().path()).ok());
    let titles: Vec<String> = texts
        .filter_map(|text| serde_json::from_str::<serde_json::Value>(&text).ok())
        .map(|manifest| manifest["layers"][0]["annotations"].clone())
        .filter_map(|notes| Some(notes["org.opencontainers.image.title"].as_str()?.to_owned()))
        .collect();
    assert_eq!(titles, ["terraform-provider-demo_1.0.0_linux_amd64.zip"]);
}
