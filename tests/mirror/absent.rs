use serde_json::json;

use super::origin_scene::{ARRIVED, OriginScene, TWO_ARRIVED, arrives, told};
use super::{DARWIN, LINUX, demo};
use crate::support::origin::{Fault, Provider, Release, asks, lie};
use crate::support::registry::answer::Answer;
use crate::support::release::ReleaseFolder;

/// `acme/demo` of these platforms, which the list of versions does not name.
fn unlisted(platforms: &[&str]) -> Provider {
    let folder = ReleaseFolder::new("demo", "1.0.0").each(platforms);
    Provider::new("acme/demo").release(Release::from(folder).without_platforms())
}

/// Only the package for Linux is mirrored. A second run reports the same missing package, and the other one as present.
#[track_caller]
fn arrives_without_darwin(scene: &OriginScene, arguments: &str, address: &str) {
    let (place, authentication) = match address {
        ADDRESS => ("[ORIGIN]", "signed [ACME ID] origin"),
        _ => ("network-mirror:https://[ORIGIN]/mirror/", "unverified"),
    };
    let warning = format!("Warning {address} 1.0.0 {place} darwin_arm64");
    let copied = format!("Copied {address} 1.0.0 1 406 {authentication} {warning}");
    scene
        .mirror(arguments)
        .tells(&format!("{copied} Mirrored 1 1 406 [TIME]"));
    let before = scene.tree();
    let said = scene.mirror(arguments);
    said.tells(&format!("{warning} Mirrored 1 [TIME]"));
    assert_eq!(scene.tree(), before);
    assert_eq!(scene.installs(), ARRIVED);
}

const ADDRESS: &str = "[ORIGIN]/acme/demo";
const BOTH: &str = "--platform linux_amd64 --platform darwin_arm64";

#[test]
fn a_listed_platform_that_is_missing_is_reported() {
    let two = [DARWIN, LINUX];
    for provider in [Provider::demo(&two), unlisted(&two)] {
        let scene = OriginScene::of([provider]);
        let said = json!({"errors": ["signing key 0123 not found\u{1b}[2K"]});
        let absent = Fault::Answer(Answer::json(404, &said));
        let darwin = asks("download * * darwin_arm64");
        scene.origin.always(darwin, absent);
        arrives_without_darwin(&scene, ADDRESS, ADDRESS);
        let only = format!("{ADDRESS} --platform darwin_arm64 --to oci-layout:other");
        let error = "error [ORIGIN]/acme/demo 1.0.0 [ORIGIN] expected darwin_arm64";
        scene.run(&only).says(1, error);
    }
}

#[test]
fn a_missing_platform_is_reported_if_the_source_lists_none() {
    let scene = OriginScene::of([unlisted(&[LINUX])]);
    let arguments = format!("{ADDRESS} {BOTH}");
    arrives_without_darwin(&scene, &arguments, ADDRESS);

    let scene = OriginScene::of([demo()]);
    let (address, url) = ("example.com/acme/demo", scene.origin.mirror_url());
    let from = format!("--from network-mirror:{url} --allow-unsigned {address}");
    let arguments = format!("{address} {BOTH} {from}");
    arrives_without_darwin(&scene, &arguments, address);
    scene
        .mirror(&format!("{address} --platform plan9_mips {from}"))
        .says(1, "error example.com/acme/demo 1.0.0 network-mirror:https://[ORIGIN]/mirror/ expected plan9_mips");
}

#[test]
fn an_empty_list_of_platforms_is_ignored() {
    let scene = OriginScene::of([demo().version("1.1.0", &[LINUX])]);
    let empty = lie::says("versions/1/platforms", json!([]));
    scene.origin.always(asks("versions"), empty);
    for _ in 0..2 {
        scene.mirror("[ORIGIN]/acme/demo@>=1.0 -q").says(0, "");
        assert_eq!(scene.installs(), TWO_ARRIVED);
    }
}

#[test]
fn malformed_platforms_in_a_list_are_ignored() {
    let linux = json!({ "os": "linux", "arch": "amd64" });
    for platforms in [
        json!([linux, { "os": "a\u{202e} b", "arch": "x" }, { "os": "b c", "arch": "x" }]),
        json!([{ "os": "linux" }]),
        json!([null, "linux_amd64", linux]),
        json!("linux_amd64"),
    ] {
        let scene = OriginScene::of([demo().version("1.1.0", &[LINUX])]);
        let odd_list = lie::says("versions/1/platforms", platforms);
        scene.origin.always(asks("versions"), odd_list);
        let said = scene.mirror("[ORIGIN]/acme/demo@>=1.0 --jobs 1");
        said.tells(
            "Copied [ORIGIN]/acme/demo 1.0.0 Copied [ORIGIN]/acme/demo 1.1.0 Mirrored 2 2 812 [TIME]",
        );
    }
    let null = lie::says("versions/0/platforms", json!(null));
    arrives(&told("versions", null));
}
