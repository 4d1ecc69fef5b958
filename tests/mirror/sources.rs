use std::fs;

use serde_json::json;

use super::stage::Stage;
use super::{LINUX, demo};
use crate::support::origin::{Fault, Origin, Provider, Setup, asks, lie};
use crate::support::release::sha256;

/// Hosts with a port have no place in mirrors, so packages are of another one.
const ADDRESS: &str = "example.com/acme/demo";
const ALLOW: &str = "--allow-unsigned example.com/acme/*";
const ARRIVED: [&str; 1] = ["acme/demo 1.0.0 linux_amd64"];

fn from(stage: &Stage, more: &str) -> super::stage::Told {
    let url = stage.origin.mirror_url();
    stage.mirror(&format!("{ADDRESS} --from network-mirror:{url} {more}"))
}

/// Nothing arrives from a mirror that says something else.
#[track_caller]
fn refused(sort: &'static str, fault: Fault, code: i32, says: &str) {
    let stage = Stage::of([demo()]);
    stage.origin.always(asks(sort), fault);
    from(&stage, ALLOW).says(code, says).gives(&[]);
    assert!(stage.installs().is_empty());
}

#[track_caller]
fn arrives(stage: &Stage) {
    from(stage, &format!("{ALLOW} -q"))
        .says(0, "")
        .gives(&["oci-layout:store/example.com/acme/demo:1.0.0"]);
    assert_eq!(stage.installs(), ARRIVED);
}

#[test]
fn a_mirror_proves_nothing() {
    let stage = Stage::of([demo()]);
    from(&stage, "").says(3, "
error: there is no checksum document for example.com/acme/demo 1.0.0 in network-mirror:https://[ORIGIN]/mirror/

hint: nothing was written. Mirrors prove nothing: `--from-lock FILE` holds them to a lock file, `--allow-unsigned example.com/acme/demo` takes their word
");
    from(&stage, ALLOW).says(
        0,
        "
  Verified example.com/acme/demo 1.0.0   unverified
    Copied example.com/acme/demo 1.0.0 linux_amd64   406 B   unverified
  Mirrored 1 version, 1 package (406 B copied) in [TIME]
",
    );
    assert_eq!(stage.installs(), ARRIVED);
    stage.origin.forget();
    from(&stage, ALLOW).says(
        0,
        "
  Mirrored nothing: 1 package already present, in [TIME]
",
    );
    assert_eq!(stage.origin.counters(), "1 mirror-index, 1 mirror-version");
}

#[test]
fn packages_are_held_to_the_hashes_that_are_listed() {
    for schemes in [&["zh:"][..], &["h1:"], &["h1:", "zh:"], &[]] {
        arrives(&Stage::new(
            Setup::new([demo()]).mirror_schemes(schemes).start(),
        ));
    }
    for (schemes, code, says) in [(&["zh:"][..], 3, "
  Verified example.com/acme/demo 1.0.0   unverified
error: the package cannot be had for example.com/acme/demo 1.0.0 linux_amd64 in network-mirror:https://[ORIGIN]/mirror/
  the bytes do not match their digest
    expected sha256:4fa7e60d506416362ae4a4933f2da2a5c755191e68c2d41fb7c13d5c8e023bec
    received sha256:234b09bc565e76f0a9aa2aad92ba0fc66cb4757024344035e63444f8c0fe82a5

hint: nothing was tagged. What came is not what was promised: the source is broken, or something on the way alters packages
"), (&["h1:"], 1, "
error: the package cannot be used for example.com/acme/demo 1.0.0 linux_amd64 in network-mirror:https://[ORIGIN]/mirror/
  from https://[ORIGIN]/mirror/example.com/acme/demo/terraform-provider-demo_1.0.0_linux_amd64.zip
  the zip's central directory cannot be read
    expected 3 entries

hint: nothing was tagged. Clients cannot install it either: whoever publishes it has to do so again. `--platform` mirrors the others
")] {
        let stage = Stage::new(Setup::new([demo()]).mirror_schemes(schemes).start());
        stage.origin.always(asks("package"), Fault::wrong_bytes());
        from(&stage, ALLOW).says(code, says);
        assert!(stage.installs().is_empty());
    }
}

/// What the mirror says about the hashes of the package.
fn hashes(says: serde_json::Value) -> Fault {
    lie::says("archives/linux_amd64/hashes", says)
}

#[test]
fn one_hash_that_is_right_is_enough() {
    let stage = Stage::of([demo()]);
    let right = format!(
        "zh:{}",
        sha256(&stage.origin.zip("acme/demo", "1.0.0", LINUX))
    );
    let wrong = format!("zh:{}", "0".repeat(64));
    stage
        .origin
        .always(asks("mirror-version"), hashes(json!([wrong, right])));
    arrives(&stage);
    refused("mirror-version", hashes(json!([wrong])), 3, "
  Verified example.com/acme/demo 1.0.0   unverified
error: the package cannot be had for example.com/acme/demo 1.0.0 linux_amd64 in network-mirror:https://[ORIGIN]/mirror/
  the bytes do not match their digest
    expected sha256:0000000000000000000000000000000000000000000000000000000000000000
    received sha256:4fa7e60d506416362ae4a4933f2da2a5c755191e68c2d41fb7c13d5c8e023bec

hint: nothing was tagged. What came is not what was promised: the source is broken, or something on the way alters packages
");
    refused("mirror-version", hashes(json!(["h9:x"])), 3, "
error: the package has another hash than expected for example.com/acme/demo 1.0.0 linux_amd64 in network-mirror:https://[ORIGIN]/mirror/
  expected h9:x
  received zh:4fa7e60d506416362ae4a4933f2da2a5c755191e68c2d41fb7c13d5c8e023bec, h1:ULN8yrUQyE37mEmIPGSTmDzhSWVvAN2Ohh481yZGusE=
  from https://[ORIGIN]/mirror/example.com/acme/demo/terraform-provider-demo_1.0.0_linux_amd64.zip
");
    refused("mirror-version", hashes(json!(["x"])), 3, "
error: the list of packages has another hash than expected for example.com/acme/demo 1.0.0 in network-mirror:https://[ORIGIN]/mirror/
  expected SCHEME:VALUE
  received x
  from https://[ORIGIN]/mirror/example.com/acme/demo/1.0.0.json
");
}

#[test]
fn documents_of_mirrors_follow_their_rules() {
    let plain = || Fault::with("content-type", "text/plain");
    refused("mirror-index", plain(), 1, "
error: the list of versions is not JSON for example.com/acme/demo in network-mirror:https://[ORIGIN]/mirror/
  expected the content type application/json
  received text/plain
  from https://[ORIGIN]/mirror/example.com/acme/demo/index.json

hint: a page in place of JSON often means that something between here and the server wants a login
");
    refused("mirror-version", plain(), 1, "
error: the list of packages is not JSON for example.com/acme/demo 1.0.0 in network-mirror:https://[ORIGIN]/mirror/
  expected the content type application/json
  received text/plain
  from https://[ORIGIN]/mirror/example.com/acme/demo/1.0.0.json

hint: a page in place of JSON often means that something between here and the server wants a login
");
    refused("mirror-index", Fault::status(404), 1, "
error: nothing is published for example.com/acme/demo in network-mirror:https://[ORIGIN]/mirror/

hint: the full address counts: the same name on another host is another provider. A private one may need a token
");
    refused("mirror-version", Fault::status(404), 1, "
error: the request for the list of packages failed for example.com/acme/demo 1.0.0 in network-mirror:https://[ORIGIN]/mirror/
  from https://[ORIGIN]/mirror/example.com/acme/demo/1.0.0.json
  answered 404: it went wrong

hint: the source lists a package that is not there: its owner has to publish it again
");
    refused("mirror-version", lie::says("archives/linux_amd64", json!(null)), 1, "
error: none of the wanted packages is published for example.com/acme/demo 1.0.0 in network-mirror:https://[ORIGIN]/mirror/
");
    refused("mirror-version", lie::renames_in("archives", "linux_amd64", "x"), 1, "
error: the list of packages names a platform that is none for example.com/acme/demo 1.0.0 in network-mirror:https://[ORIGIN]/mirror/
  from https://[ORIGIN]/mirror/example.com/acme/demo/1.0.0.json
  `x` is not a platform: expected OS_ARCH, such as `linux_amd64`
");
    refused("mirror-version", lie::says("archives/linux_amd64/url", "ftp://example.com/x"), 3, "
error: the list of packages has another url than expected for example.com/acme/demo 1.0.0 in network-mirror:https://[ORIGIN]/mirror/
  expected an https URL
  received ftp://example.com/x
  from https://[ORIGIN]/mirror/example.com/acme/demo/1.0.0.json
");
    refused("package", Fault::status(404), 1, "
error: the request for the package failed for example.com/acme/demo 1.0.0 linux_amd64 in network-mirror:https://[ORIGIN]/mirror/
  from https://[ORIGIN]/mirror/example.com/acme/demo/terraform-provider-demo_1.0.0_linux_amd64.zip
  answered 404: it went wrong

hint: the source lists a package that is not there: its owner has to publish it again
");
    let stage = Stage::of([demo()]);
    stage.origin.always(
        asks("mirror-index"),
        Fault::with("content-type", "application/json; charset=utf-8"),
    );
    arrives(&stage);
}

#[test]
fn a_mirror_without_the_platform_says_so() {
    let stage = Stage::of([demo()]);
    from(&stage, &format!("{ALLOW} --platform plan9_mips")).says(1, "
error: none of the wanted packages is published for example.com/acme/demo 1.0.0 in network-mirror:https://[ORIGIN]/mirror/
  expected plan9_mips
");
}

#[test]
fn urls_of_mirrors_are_checked() {
    let stage = Stage::of([demo()]);
    let run = |from: &str, address: &str| stage.mirror(&format!("{address} --from {from} {ALLOW}"));
    run("network-mirror:mirror", ADDRESS).says(
        2,
        "
error: `mirror/` is not the URL of a network mirror
  expected https://HOST/PATH/
",
    );
    run("network-mirror:https://mirror.example/", "[ORIGIN]/acme/demo").says(1, "
error: network mirrors cannot serve a host with a port for [ORIGIN]/acme/demo in network-mirror:https://mirror.example/
");
    run("oci-layout:other", ADDRESS).says(2, "
error: invalid value 'oci-layout:other' for '--from <SOURCE>': expected network-mirror:URL or filesystem-mirror:DIR; stores are copied with `tfoci copy`

For more information, try '--help'.
");
}

/// A mirror in `mirror`, with the packages of an origin.
fn packed(stage: &Stage) {
    for platform in [LINUX, "darwin_arm64"] {
        stage.scene.write(
            format!("mirror/{ADDRESS}/terraform-provider-demo_1.0.0_{platform}.zip"),
            stage.origin.zip("acme/demo", "1.0.0", platform),
        );
    }
}

fn two() -> Origin {
    Origin::of([Provider::demo(&[LINUX, "darwin_arm64"])])
}

#[test]
fn a_directory_of_packages_is_a_source() {
    let stage = Stage::new(two());
    packed(&stage);
    let from = format!("{ADDRESS} --from filesystem-mirror:mirror --jobs 1");
    stage.mirror(&from).says(3, "
error: there is no checksum document for example.com/acme/demo 1.0.0 in filesystem-mirror:mirror

hint: nothing was written. Mirrors prove nothing: `--from-lock FILE` holds them to a lock file, `--allow-unsigned example.com/acme/demo` takes their word
");
    stage.mirror(&format!("{from} {ALLOW}")).says(
        0,
        "
  Verified example.com/acme/demo 1.0.0   unverified
    Copied example.com/acme/demo 1.0.0 darwin_arm64   407 B   unverified
    Copied example.com/acme/demo 1.0.0 linux_amd64   406 B   unverified
  Mirrored 1 version, 2 packages (813 B copied) in [TIME]
",
    );
    stage.mirror(&format!("{from} {ALLOW}")).says(
        0,
        "
  Mirrored nothing: 2 packages already present, in [TIME]
",
    );
    assert_eq!(
        stage.installs(),
        [
            "acme/demo 1.0.0 darwin_arm64",
            "acme/demo 1.0.0 linux_amd64"
        ]
    );
    assert!(stage.origin.seen().is_empty());
}

#[test]
fn a_directory_of_what_was_unpacked_is_none() {
    let stage = Stage::new(two());
    let path = format!("mirror/{ADDRESS}/1.0.0/{LINUX}/terraform-provider-demo_v1.0.0");
    stage.scene.write(path, "#!/bin/sh\n");
    let from = "--from filesystem-mirror:mirror";
    stage.mirror(&format!("{ADDRESS} {from} {ALLOW}")).says(1, "
error: the author's zip cannot be made again from what is unpacked for example.com/acme/demo in filesystem-mirror:mirror
  received mirror/example.com/acme/demo/1.0.0

hint: mirror it from its origin: lock files pin the hashes of authors' zips
");
    stage.mirror(&format!("example.com/acme/none {from} {ALLOW}")).says(1, "
error: nothing is published for example.com/acme/none in filesystem-mirror:mirror

hint: the full address counts: the same name on another host is another provider. A private one may need a token
");
    fs::remove_dir_all(stage.scene.path("mirror")).unwrap();
    stage.mirror(&format!("{ADDRESS} {from} {ALLOW}")).says(1, "
error: nothing is published for example.com/acme/demo in filesystem-mirror:mirror

hint: the full address counts: the same name on another host is another provider. A private one may need a token
");
}

#[test]
fn a_file_that_is_no_package_is_refused() {
    let stage = Stage::new(two());
    let path = format!("mirror/{ADDRESS}/terraform-provider-demo_1.0.0_{LINUX}.zip");
    stage.scene.write(path, "no zip");
    stage
        .mirror(&format!("{ADDRESS} --from filesystem-mirror:mirror {ALLOW}"))
        .says(1, "
error: the file mirror/example.com/acme/demo/terraform-provider-demo_1.0.0_linux_amd64.zip cannot be used for example.com/acme/demo 1.0.0 in filesystem-mirror:mirror
  not a zip archive
    expected the bytes 50 4b 03 04 at its front
    received `no zip`
");
    assert!(stage.installs().is_empty());
}
