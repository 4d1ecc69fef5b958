//! Packed and unpacked.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use super::{DEMO, Facts, demo, install, install_linux, names, push, released, tree, with_demo};
use crate::support::release::ReleaseFolder;
use crate::support::scene::Scene;
use crate::support::signer::Signer;

#[test]
fn packed_installs_the_zip_under_the_name_that_clients_expect() {
    let scene = with_demo();
    let demo = "acme/demo --default-host example.com --platform linux_amd64";
    let run = install(&scene, demo).succeeds();
    let Facts { size, .. } = Facts::of_demo(&scene, "linux_amd64");
    let path = "mirror/example.com/acme/demo/terraform-provider-demo_1.0.0_linux_amd64.zip";
    assert_eq!(run.stdout, format!("{path}\n"));
    let block = r#"
provider_installation {
  filesystem_mirror {
    path    = "[TMP]/mirror"
    include = ["example.com/acme/demo"]
  }
  direct {
    exclude = ["example.com/acme/demo"]
  }
}
"#;
    assert!(run.stderr.ends_with(block), "{}", run.stderr);
    run.tells(format!(" ({size} B copied) "));
    let zip = released(&scene, DEMO, "1.0.0").join("terraform-provider-demo_1.0.0_linux_amd64.zip");
    assert_eq!(fs::read(scene.path(path)).unwrap(), fs::read(zip).unwrap());
    let mode = |path| fs::metadata(path).unwrap().permissions().mode();
    let ordinary = mode(scene.write("ordinary", ""));
    assert_eq!(mode(scene.path(path)), ordinary);
    assert_eq!(names(&scene.path("mirror")).len(), 1);
}

#[test]
fn hashes_are_printed_on_request() {
    let scene = with_demo();
    let run = install_linux(&scene, "-v").succeeds();
    let Facts { zh, h1, .. } = Facts::of_demo(&scene, "linux_amd64");
    let hashes = format!("    Hashes {DEMO} 1.0.0\n           {h1}\n           {zh}\n");
    run.tells(&hashes);
}

#[test]
fn unpacked_installs_the_zip_s_contents_into_a_directory() {
    let scene = with_demo();
    let run = install(&scene, "--unpacked --platform windows_arm64 --quiet").succeeds();
    let path = "mirror/example.com/acme/demo/1.0.0/windows_arm64";
    assert_eq!(run.stdout, format!("{path}\n"));
    assert_eq!(run.stderr, "");
    let executable = "terraform-provider-demo_v1.0.0.exe";
    let script = "#!/bin/sh\necho demo 1.0.0 windows_arm64\n";
    let files = tree(&scene.path(path));
    let expected = [
        ("LICENSE", "demo license\n", 0o644),
        ("README.md", "# demo\n", 0o644),
        (executable, script, 0o755),
    ];
    assert_eq!(names(&scene.path("mirror")).len(), expected.len());
    for (name, content, mode) in expected {
        let metadata = fs::metadata(scene.path(path).join(name)).unwrap();
        assert_eq!(metadata.permissions().mode() & 0o7777, mode, "{name}");
        assert_eq!(files[name], content.as_bytes(), "{name}");
    }
    fs::create_dir(scene.path("ordinary")).unwrap();
    let mode = |path| fs::metadata(scene.path(path)).unwrap().permissions().mode();
    assert_eq!(mode(path), mode("ordinary"));
}

#[test]
fn json_prints_one_document() {
    let scene = with_demo();
    let run = install(&scene, "--format json --platform linux_amd64").succeeds();
    let Facts { zh, h1, .. } = Facts::of_demo(&scene, "linux_amd64");
    let expected = serde_json::json!({
        "schema": 1,
        "providers": [{
            "provider": DEMO,
            "version": "1.0.0",
            "authentication": {
                "status": "signed",
                "anchor": "embedded",
                "fingerprint": Signer::acme().fingerprint(),
                "notes": [],
            },
            "packages": [{
                "platform": "linux_amd64",
                "path": "mirror/example.com/acme/demo/terraform-provider-demo_1.0.0_linux_amd64.zip",
            }],
            "hashes": [h1, zh],
        }],
    });
    assert_eq!(run.json(), expected);
}

#[test]
fn hosts_are_spelled_as_clients_read_them() {
    for (host, directory) in [
        ("bücher.example", "bücher.example"),
        ("BÜCHER.example", "bücher.example"),
        ("example.com:8443", "example.com:8443"),
        ("localhost:443", "localhost"),
    ] {
        let scene = Scene::new();
        let address = format!("{host}/acme/demo");
        push(&scene, &address, "1.0.0", &demo("1.0.0"));
        let run = install(&scene, "--platform linux_amd64 --unpacked").succeeds();
        let path = format!("mirror/{directory}/acme/demo/1.0.0/linux_amd64");
        assert_eq!(run.stdout, format!("{path}\n"));
        assert!(scene.path(&path).join("LICENSE").is_file());
        run.tells(format!("include = [\"{directory}/acme/demo\"]"));
    }
}

#[test]
fn a_zip_gets_the_file_name_that_clients_parse() {
    let (scene, version) = (Scene::new(), "1.0.0-rc.1+b");
    push(&scene, DEMO, version, &demo(version).v_in_names());
    let asked = format!("{DEMO}@{version} --platform linux_amd64");
    let run = install(&scene, asked).succeeds();
    let name = format!("terraform-provider-demo_{version}_linux_amd64.zip");
    assert_eq!(run.stdout, format!("mirror/{DEMO}/{name}\n"));
}

#[test]
fn a_version_with_capital_letters_is_installed_unpacked_only() {
    let scene = Scene::new();
    push(&scene, DEMO, "1.0.0-RC1", &demo("1.0.0-RC1"));
    let asked = format!("{DEMO}@1.0.0-RC1 --platform linux_amd64");
    let run = install(&scene, &asked).exits(1).without_result();
    run.tells("`--unpacked`");
    assert!(!scene.path("mirror").exists());
    let run = install(&scene, format!("{asked} --unpacked")).succeeds();
    let path = format!("mirror/{DEMO}/1.0.0-RC1/linux_amd64\n");
    assert_eq!(run.stdout, path);
}

#[test]
fn a_zip_with_directory_entries_has_two_h1_and_a_note() {
    for form in ["--packed", "--unpacked"] {
        let scene = Scene::new();
        push(&scene, DEMO, "1.0.0", &with_directory("linux_amd64"));
        let run = install(&scene, format!("--platform all --format json {form}")).succeeds();
        let provider = &run.json()["providers"][0];
        let facts = Facts::of_demo(&scene, "linux_amd64");
        assert_ne!(facts.h1, facts.directory_h1);
        let mut hashes = [facts.h1, facts.directory_h1, facts.zh];
        hashes.sort();
        assert_eq!(provider["hashes"], serde_json::json!(hashes));
        let notes = &provider["authentication"]["notes"];
        assert_eq!(*notes, serde_json::json!(["directory-entries"]));
    }
}

/// A release whose zip has an entry for a directory.
pub fn with_directory(platform: &str) -> ReleaseFolder {
    let files: [(&str, &[u8]); 3] = [
        ("docs/", b""),
        ("docs/x.md", b"x\n"),
        ("terraform-provider-demo_v1.0.0", b"#!/bin/sh\n"),
    ];
    ReleaseFolder::new("demo", "1.0.0").package(platform, &files)
}
