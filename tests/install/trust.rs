//! Packages that do not verify are not installed, and leave nothing behind.

use std::fs;
use std::path::PathBuf;

use super::{DEMO, Facts, demo, install, install_linux, names, push, with_demo};
use crate::support::release::{Mistake, ReleaseFolder};
use crate::support::scene::Scene;
use crate::support::signer::Signer;

const REPOSITORY: &str = "store/example.com/acme/demo";
/// What the error of the version begins with.
const REFUSED: &str = "error: example.com/acme/demo 1.0.0 (oci-layout:store): ";

/// The blob of the zip for Linux.
fn blob(scene: &Scene) -> PathBuf {
    let Facts { zh, .. } = Facts::of_demo(scene, "linux_amd64");
    scene
        .path(REPOSITORY)
        .join("blobs/sha256")
        .join(&zh["zh:".len()..])
}

/// Edits the layout's list of tags.
fn retag(scene: &Scene, change: impl FnOnce(&mut Vec<serde_json::Value>)) {
    let path = scene.path(REPOSITORY).join("index.json");
    let mut index: serde_json::Value = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
    change(index["manifests"].as_array_mut().unwrap());
    fs::write(path, index.to_string()).unwrap();
}

fn tag(descriptor: &serde_json::Value) -> &str {
    descriptor["annotations"]["org.opencontainers.image.ref.name"]
        .as_str()
        .unwrap()
}

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
            let blob = blob(&scene);
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
fn a_hostile_zip_is_refused_although_its_digest_matches() {
    type Files = [(&'static str, &'static [u8])];
    let executable: (&str, &[u8]) = ("terraform-provider-demo_v1.0.0", b"hello\n");
    let cases: [(&Files, i32); 3] = [
        (&[("README", b"no executable")], 1),
        (&[executable, ("../outside", b"hostile")], 3),
        (&[executable, ("a/LICENSE", b""), ("A/LICENSE", b"")], 3),
    ];
    for (files, status) in cases {
        // As a tool pushes it that does not look into zips.
        let scene = with_demo();
        let folder = scene.path("hostile");
        ReleaseFolder::new("demo", "1.0.0")
            .package("linux_amd64", files)
            .write(&folder);
        let name = "terraform-provider-demo_1.0.0_linux_amd64.zip";
        replace_zip(&scene, &fs::read(folder.join(name)).unwrap());
        for form in ["--packed", "--unpacked"] {
            install_linux(&scene, form).exits(status).tells(name);
            assert_eq!(names(&scene.path("mirror")), [""; 0]);
            assert!(!scene.path("outside").exists());
        }
    }
}

/// Puts another zip into the store, with manifests that fit it and without evidence.
fn replace_zip(scene: &Scene, zip: &[u8]) {
    let blobs = scene.path(REPOSITORY).join("blobs/sha256");
    let put = |bytes: &[u8]| {
        let hex = super::sha256(bytes);
        fs::write(blobs.join(&hex), bytes).unwrap();
        (
            serde_json::json!(format!("sha256:{hex}")),
            serde_json::json!(bytes.len()),
        )
    };
    let read = |descriptor: &serde_json::Value| -> serde_json::Value {
        let digest = descriptor["digest"].as_str().unwrap();
        serde_json::from_slice(&fs::read(blobs.join(&digest["sha256:".len()..])).unwrap()).unwrap()
    };
    let point = |descriptor: &mut serde_json::Value, bytes: &[u8]| {
        (descriptor["digest"], descriptor["size"]) = put(bytes);
    };
    retag(scene, |tags| {
        tags.retain(|descriptor| tag(descriptor) == "1.0.0");
        let mut index = read(&tags[0]);
        let platform = &mut index["manifests"][0];
        let mut manifest = read(platform);
        point(&mut manifest["layers"][0], zip);
        point(platform, manifest.to_string().as_bytes());
        point(&mut tags[0], index.to_string().as_bytes());
    });
}

#[test]
fn evidence_of_something_else_is_refused() {
    let scene = with_demo();
    let other = ReleaseFolder::new("demo", "2.0.0").platform("linux_amd64");
    push(&scene, DEMO, "2.0.0", &other);
    retag(&scene, |tags| {
        let find = |name| tags.iter().position(|descriptor| tag(descriptor) == name);
        let (other, own) = (find("evidence-2.0.0"), find("evidence-1.0.0"));
        let other = tags[other.unwrap()].clone();
        let own = &mut tags[own.unwrap()];
        (own["digest"], own["size"]) = (other["digest"].clone(), other["size"].clone());
    });
    let asked = "example.com/acme/demo@1.0.0 --platform linux_amd64";
    let run = install(&scene, asked).exits(3);
    assert_eq!(run.stdout, "");
    assert!(!scene.path("mirror").exists());
}

#[test]
fn without_evidence_a_package_is_unverified_and_a_named_key_refuses_it() {
    let scene = with_demo();
    retag(&scene, |tags| {
        tags.retain(|descriptor| tag(descriptor) == "1.0.0")
    });
    let run = install_linux(&scene, "--key acme.asc").exits(3);
    assert_eq!(run.stdout, "");
    assert!(!scene.path("mirror").exists());
    let run = install_linux(&scene, "").succeeds();
    for said in [
        "   Warning example.com/acme/demo 1.0.0",
        "   unverified no-evidence\n",
    ] {
        run.tells(said);
    }
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
    let file = |name: &str, key: &str| {
        scene.write(
            name,
            format!("[[provider]]\nmatch = \"example.com/acme/*\"\nkeys = [\"{key}\"]\n"),
        );
    };
    file("acme.toml", &Signer::acme().fingerprint());
    file("by-file.toml", "acme.asc");
    file("stranger.toml", &Signer::stranger().fingerprint());
    scene.write(
        "elsewhere.toml",
        "[[provider]]\nmatch = \"example.org/acme/*\"\nkeys = [\"acme.asc\"]\n",
    );
    scene.write("broken.toml", "[[provider]]\nmatch = 1\n");
    let (required, pinned) = ("--require-pinned", "signed [KEY] (pinned)");
    let cases: [(&str, i32, &str); 11] = [
        (required, 2, REFUSED),
        (&format!("{required} --trust elsewhere.toml"), 2, REFUSED),
        (&format!("{required} --key acme.asc"), 0, pinned),
        (&format!("{required} --trust acme.toml"), 0, pinned),
        ("--trust by-file.toml", 0, pinned),
        ("--trust elsewhere.toml", 0, "signed [KEY] (embedded)"),
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
