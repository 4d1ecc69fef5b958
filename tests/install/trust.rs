//! Packages that do not verify are not installed, and leave nothing behind.

use std::fs;

use super::{DEMO, blob, demo, install, install_linux, names, push, with_demo};
use crate::support::release::{Mistake, ReleaseFolder};
use crate::support::scene::Scene;
use crate::support::signer::Signer;
use crate::support::tamper;

const REPOSITORY: &str = "store/example.com/acme/demo";
/// What the error of the version begins with.
const REFUSED: &str = "error: example.com/acme/demo 1.0.0 (oci-layout:store): ";

#[test]
fn wrong_bytes_in_the_store_are_refused_and_leave_nothing_behind() {
    type Change = fn(&mut Vec<u8>);
    let changes: [Option<Change>; 5] = [
        Some(|bytes| bytes[40] ^= 1),
        Some(|bytes| bytes.truncate(bytes.len() - 1)),
        Some(Vec::clear),
        Some(|bytes| bytes.push(0)),
        None,
    ];
    for form in ["--packed", "--unpacked"] {
        for change in changes {
            let scene = with_demo();
            let blob = blob(&scene, "linux_amd64");
            let mut bytes = fs::read(&blob).unwrap();
            fs::remove_file(&blob).unwrap();
            if let Some(change) = change {
                change(&mut bytes);
                fs::write(&blob, bytes).unwrap();
            }
            let status = if change.is_some() { 3 } else { 1 };
            let run = install_linux(&scene, form).exits(status);
            assert_eq!(run.stdout, "");
            let (_, error) = run.stderr.split_once("error: ").unwrap();
            let about = format!("{DEMO} 1.0.0 linux_amd64 (oci-layout:store): ");
            assert!(error.starts_with(&about), "{error}");
            assert_eq!(names(&scene.path("mirror")), [""; 0], "{error}");
        }
    }
}

#[test]
fn evidence_of_something_else_is_refused() {
    let scene = with_demo();
    let other = ReleaseFolder::new("demo", "2.0.0").platform("linux_amd64");
    push(&scene, DEMO, "2.0.0", &other);
    let layout = scene.path(REPOSITORY);
    tamper::retag(&layout, "evidence-1.0.0", "evidence-2.0.0");
    let asked = "example.com/acme/demo@1.0.0 --platform linux_amd64";
    install(&scene, asked).exits(3).without_result();
    assert!(!scene.path("mirror").exists());
}

#[test]
fn without_evidence_a_package_is_unverified_and_a_named_key_refuses_it() {
    let scene = with_demo();
    tamper::untag(&scene.path(REPOSITORY), "evidence-1.0.0");
    let run = install_linux(&scene, "--key acme.asc").exits(3);
    run.without_result();
    assert!(!scene.path("mirror").exists());
    let run = install_linux(&scene, "").succeeds();
    run.tells("   Warning example.com/acme/demo 1.0.0");
    run.tells("   unverified no-evidence\n");
}

/// Without an entry in the trust file, an unsigned release is shown as such. An entry refuses it, and `--allow-unsigned` accepts those of a pattern.
#[test]
fn an_unsigned_release_can_be_accepted() {
    let scene = Scene::new();
    let release = demo("1.0.0").mistake(Mistake::SignatureMissing);
    release.write(&scene.path("release"));
    let push = "push release --provider example.com/acme/demo --to oci-layout:store --allow-unsigned */*/*";
    scene.line(push).succeeds();
    let table = "[[provider]]\nmatch = \"*/*/*\"\nweak = \"warn\"\n";
    scene.write("trust.toml", table);
    let trust = "--trust trust.toml";
    install_linux(&scene, trust).exits(3);
    for (pattern, code) in [("example.com/other/*", 3), ("example.com/acme/*", 0)] {
        let allow = format!("{trust} --allow-unsigned {pattern}");
        install_linux(&scene, &allow).exits(code);
    }
    install_linux(&scene, "").succeeds().tells("   checksum\n");
}

#[test]
fn pinned_keys_are_checked() {
    let scene = with_demo();
    scene.write("stranger.asc", Signer::stranger().public_armored());
    for (name, pattern, key) in [
        (
            "acme.toml",
            "example.com/acme/*",
            &*Signer::acme().fingerprint(),
        ),
        ("by-file.toml", "example.com/acme/*", "acme.asc"),
        (
            "stranger.toml",
            "example.com/acme/*",
            &Signer::stranger().fingerprint(),
        ),
        ("elsewhere.toml", "example.org/acme/*", "acme.asc"),
    ] {
        let entry = format!("[[provider]]\nmatch = \"{pattern}\"\nkeys = [\"{key}\"]\n");
        scene.write(name, entry);
    }
    scene.write("broken.toml", "[[provider]]\nmatch = 1\n");
    let (required, pinned) = ("--require-pinned", "signed [ACME ID] (pinned)");
    let cases: [(&str, i32, &str); 11] = [
        (required, 2, REFUSED),
        (&format!("{required} --trust elsewhere.toml"), 2, REFUSED),
        (&format!("{required} --key acme.asc"), 0, pinned),
        (&format!("{required} --trust acme.toml"), 0, pinned),
        ("--trust by-file.toml", 0, pinned),
        ("--trust elsewhere.toml", 0, "signed [ACME ID] (embedded)"),
        ("--key stranger.asc", 3, REFUSED),
        (&format!("{required} --key stranger.asc"), 3, REFUSED),
        ("--trust stranger.toml", 3, REFUSED),
        ("--trust broken.toml", 2, "error: broken.toml "),
        ("--trust missing.toml", 1, " missing.toml"),
    ];
    for (arguments, status, said) in cases {
        let run = install_linux(&scene, format!("{arguments} --dry-run")).exits(status);
        let stderr = super::steady(&run.stderr);
        assert!(stderr.contains(said), "{arguments:?}\n{stderr}");
        let refused = install_linux(&scene, arguments).exits(status);
        assert_eq!(refused.stdout.is_empty(), status != 0, "{arguments:?}");
        if status != 0 {
            assert_eq!(names(&scene.path("mirror")), [""; 0], "{arguments:?}");
        }
        fs::remove_dir_all(scene.path("mirror")).unwrap_or_default();
    }
}
