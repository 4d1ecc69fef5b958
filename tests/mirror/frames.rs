use super::LINUX;
use super::origin_scene::{ARRIVED, OriginScene, folder};
use super::team::Team;
use crate::support::author::Author;
use crate::support::hostile::cases;
use crate::support::origin::{Fault, Provider, Release, Setup, asks};
use crate::support::release::{ReleaseFolder, sha256};
use crate::support::zipfile::{executable, file, with, zip};

/// A signed release with these bytes as its only package.
fn signed(bytes: &[u8]) -> ReleaseFolder {
    ReleaseFolder::new("demo", "1.0.0").zip(LINUX, bytes)
}

/// A zip that is longer than a single read, and of which no end is kept that begins at its front.
fn long(comment: usize) -> Vec<u8> {
    let license = file("LICENSE", vec![b'x'; 200_000]);
    let comment = vec![b'x'; comment];
    with([executable(), license], |zip| zip.comment = comment)
}

/// Asserts that a signed package is refused.
#[track_caller]
fn refused(bytes: &[u8], code: i32) {
    let scene = OriginScene::release(Release::from(signed(bytes)).without_packages());
    let about = "error [ORIGIN]/acme/demo 1.0.0 linux_amd64 [ORIGIN] terraform-provider-demo_1.0.0_linux_amd64.zip";
    let told = scene.demo("").says(code, about);
    told.gives("");
    assert!(scene.installs().is_empty());
    assert!(!scene.tree().values().any(|digest| *digest == sha256(bytes)));
}

#[test]
fn zips_that_are_not_whole_are_refused() {
    let page = b"<!DOCTYPE html>\n<title>Sign in</title>\n";
    refused(page, 1);
    refused(b"", 1);
    refused(&zip([]), 1);
    // Cut before it was signed.
    let bytes = long(0);
    refused(&bytes[..150_000], 1);
    refused(&bytes[..bytes.len() - 1], 1);
    refused(&[&bytes[..], b"more"].concat(), 3);
}

#[test]
fn whole_zips_with_any_form_of_end_record_are_mirrored() {
    for bytes in [long(0), long(0xffff)] {
        let scene = OriginScene::release(signed(&bytes));
        scene.demo("-q").says(0, "");
        assert_eq!(scene.installs(), ARRIVED);
    }
}

/// The zips that are wrong in their end records.
const AT_THE_END: [&str; 16] = [
    "no bytes",
    "text",
    "cut short",
    "cut in its end record",
    "no entries",
    "bytes behind the end",
    "a second zip in the comment",
    "an end record in the comment that ends early",
    "a stub before the zip, offsets not shifted",
    "bytes between directory and end",
    "directory out of range",
    "directory of another size",
    "one part of several",
    "64-bit number of entries unlike the other",
    "64-bit end record elsewhere",
    "64-bit directory out of range",
];

/// Every command checks the end of a zip in the same way.
#[test]
fn end_records_are_checked_as_push_checks_them() {
    let (cases, mut count) = (cases(), 0);
    for case in cases.iter().filter(|case| AT_THE_END.contains(&case.label)) {
        let author = Author::of(signed(&case.zip));
        let release = Release::from(signed(&case.zip)).without_packages();
        let scene = OriginScene::release(release);
        let says = "error terraform-provider-demo_1.0.0_linux_amd64.zip";
        author.push("").exits(case.exit.into()).says(says);
        scene.demo("").says(case.exit.into(), says);
        assert!(scene.installs().is_empty());
        count += 1;
    }
    assert_eq!(count, AT_THE_END.len());
}

#[test]
fn a_broken_zip_leaves_no_tag_in_a_registry() {
    let both = [LINUX, "darwin_arm64"];
    for bytes in [&long(0)[..150_000], b"<html>", b""] {
        let release = Release::from(signed(bytes).platform("darwin_arm64")).without_packages();
        let providers = vec![
            Provider::new("acme/demo").release(release),
            Provider::new("acme/other").version("1.0.0", &both),
        ];
        let team = Team::of(providers);
        let run = team.mirror("").exits(1);
        let about = "acme/demo 1.0.0 linux_amd64 (";
        assert!(run.stderr.contains(about), "{}", run.stderr);
        assert!(team.held("acme/demo").tags.is_empty());
        assert_eq!(team.held("acme/other").tags.len(), 2);
        // The whole package can be mirrored alone.
        team.mirror("--platform darwin_arm64").succeeds();
        let demo = team.held("acme/demo");
        assert_eq!(demo.tags.len(), 2);
        let digest = format!("sha256:{}", sha256(bytes));
        assert!(!demo.blobs.contains_key(&digest));
        team.assert_whole();
    }
}

const ADDRESS: &str = "example.com/acme/demo";

/// A mirror that lists hashes of these schemes only.
fn mirrored(bytes: &[u8], schemes: &[&'static str]) -> OriginScene {
    let setup = Setup::new([Provider::new("acme/demo").release(signed(bytes))]);
    OriginScene::new(setup.mirror_schemes(schemes).start())
}

#[test]
fn zips_of_network_mirrors_are_checked_too() {
    for schemes in [&["zh:"][..], &[]] {
        let scene = mirrored(&long(0)[..150_000], schemes);
        let url = scene.origin.mirror_url();
        let from = format!("{ADDRESS} --from network-mirror:{url} --allow-unsigned {ADDRESS}");
        scene.mirror(&from).says(1, "error example.com/acme/demo 1.0.0 linux_amd64 network-mirror:https://[ORIGIN]/mirror/ terraform-provider-demo_1.0.0_linux_amd64.zip").gives("");
        assert!(scene.installs().is_empty());
    }
}

#[test]
fn the_digest_is_checked_before_the_zip_structure() {
    let scene = OriginScene::release(folder());
    let altered = Fault::body(vec![b'<'; 406]);
    scene.origin.always(asks("package"), altered);
    let says = "error [ORIGIN]/acme/demo 1.0.0 linux_amd64 [ORIGIN]";
    scene.demo("").says(3, says);
}
