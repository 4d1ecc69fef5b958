use std::fs;

use super::{OTHER, listed, names, of_demo, of_two_providers, site, with, with_two, zip};
use crate::install::{DEMO, blob, demo, released};
use crate::support::release::Mistake;
use crate::support::scene::Scene;
use crate::support::signer::Signer;

#[test]
fn versions_that_do_not_verify_are_not_written_and_others_are() {
    let scene = with_two();
    let package = blob(&scene, "linux_amd64");
    let mut bytes = fs::read(&package).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    fs::write(&package, bytes).unwrap();
    let run = site(&scene, "").exits(3);
    run.tells("error: example.com/acme/demo 1.0.0");
    assert_eq!(listed(&scene), ["1.1.0"]);
    assert!(!of_demo(&scene, &zip("1.0.0", "linux_amd64")).exists());
}

#[test]
fn versions_of_a_key_that_is_no_longer_trusted_are_deleted() {
    let scene = with_two();
    site(&scene, "--key acme.asc --require-pinned").succeeds();
    scene.write("stranger.asc", Signer::stranger().public_armored());
    let pinned = "--key stranger.asc --require-pinned";
    site(&scene, pinned).exits(3);
    assert_eq!(listed(&scene), ["1.0.0", "1.1.0"]);
    site(&scene, format!("{pinned} --delete")).exits(3);
    assert_eq!(names(&scene), [""; 0]);
    site(&scene, "--require-pinned").exits(2);
}

#[test]
fn unsigned_versions_need_an_option_if_a_rule_refuses_them() {
    let scene = with(&["1.0.0"]);
    let folder = released(&scene, DEMO, "2.0.0");
    let unsigned = demo("2.0.0").mistake(Mistake::SignatureMissing);
    unsigned.write(&folder);
    let push = format!("push {} --provider {DEMO}@2.0.0", folder.display());
    let to = "--to oci-layout:store --allow-unsigned */*/*";
    scene.line(format!("{push} {to}")).succeeds();
    let trust = "[[provider]]\nmatch = \"*/*/*\"\nunsigned = \"refuse\"\n";
    scene.write("trust.toml", trust);
    let trust = "--trust trust.toml";
    site(&scene, trust).exits(3);
    assert_eq!(listed(&scene), ["1.0.0"]);
    let allow = format!("{trust} --allow-unsigned example.com/*/*");
    site(&scene, allow).succeeds();
    assert_eq!(listed(&scene), ["1.0.0", "2.0.0"]);
}

/// A site of two providers, and a trust file that pins a key for one of them.
fn with_one_pinned() -> Scene {
    let scene = of_two_providers();
    let acme = Signer::acme().fingerprint();
    let trust = format!("[[provider]]\nmatch = \"{DEMO}\"\nkeys = [\"{acme}\"]\n");
    scene.write("trust.toml", trust);
    scene
}

const PINNED: &str = "--trust trust.toml --require-pinned";

#[test]
fn versions_of_a_provider_without_a_pinned_key_stay_until_they_are_deleted() {
    let scene = with_one_pinned();
    let other = scene.path("public").join(OTHER);
    let run = site(&scene, PINNED).exits(2);
    run.omits("demo 1.0.0: still");
    run.says("Warning trust.toml example.net/team/other error example.net/team/other Note example.net/team/other 0.3.0 --delete");
    assert!(other.join("index.json").is_file());

    // A provider whose part of the store cannot be read keeps its files.
    let index = scene.path("store").join(OTHER).join("index.json");
    let sound = fs::read(&index).unwrap();
    fs::write(&index, "{").unwrap();
    let delete = format!("{PINNED} --delete");
    let run = site(&scene, format!("{delete} {DEMO} {OTHER}")).exits(2);
    run.omits("Deleted");
    assert!(other.join("index.json").is_file());
    fs::write(&index, sound).unwrap();

    let run = site(&scene, format!("{delete} --dry-run")).exits(2);
    run.tells("Would delete example.net/team/other 0.3.0\n");
    assert!(other.join("index.json").is_file());
    let run = site(&scene, &delete).exits(2);
    run.tells("   Deleted example.net/team/other 0.3.0\n");
    assert!(fs::read_dir(&other).unwrap().next().is_none());
    assert_eq!(listed(&scene), ["1.0.0", "1.1.0"]);
}

#[test]
fn a_published_version_that_no_longer_verifies_is_reported() {
    let scene = with_two();
    site(&scene, "").succeeds();
    scene.write("stranger.asc", Signer::stranger().public_armored());
    let pinned = "--key stranger.asc --require-pinned";
    let run = site(&scene, format!("{pinned} {DEMO}@1.1.0")).exits(3);
    run.omits("demo 1.0.0: still");
    let demo = "example.com/acme/demo 1.1.0";
    run.says(&format!("error {demo} Note {demo} --delete"));
}

/// Clients must not install a refused provider from its origin because they cannot install it from here.
#[test]
fn refused_providers_are_in_both_lists_of_the_configuration() {
    let scene = with_one_pinned();
    let url = "--url https://mirror.example --delete";
    let run = site(&scene, format!("{PINNED} {url}")).exits(2);
    let block = r#"
  network_mirror {
    url     = "https://mirror.example/"
    include = ["example.com/acme/demo", "example.net/team/other"]
  }
  direct {
    exclude = ["example.com/acme/demo", "example.net/team/other"]
  }
"#;
    run.tells(block);
    let page = fs::read_to_string(scene.path("public/index.html")).unwrap();
    let both = "[&quot;example.com/acme/demo&quot;, &quot;example.net/team/other&quot;]";
    assert_eq!(page.matches(both).count(), 2, "{page}");
    assert!(!page.contains("<strong>example.net"), "{page}");
}
