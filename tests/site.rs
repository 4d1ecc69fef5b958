//! `site`: the files, their order, and existing files of the directory.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::install::{self, DEMO, Facts, demo, push, released, tree};
use crate::support::judge;
use crate::support::release::ReleaseFolder;
use crate::support::scene::{Run, Scene};
use crate::support::tamper::untag;

/// Terraform and OpenTofu, from a web server.
mod clients;
/// Deletion.
mod delete;
/// Existing files that do not belong in the directory.
mod existing;
/// The page for people.
mod page;
/// The order of files, from a registry.
mod registries;
/// Versions that do not verify.
mod trust;

/// Another provider.
const OTHER: &str = "example.net/team/other";

/// A scene with these versions of a provider in the store.
fn with(versions: &[&str]) -> Scene {
    let scene = Scene::new();
    for version in versions {
        push(&scene, DEMO, version, &demo(version));
    }
    scene
}

fn with_two() -> Scene {
    with(&["1.0.0", "1.1.0"])
}

/// Pushes a version of [`OTHER`].
fn push_other(scene: &Scene, version: &str) {
    let release = ReleaseFolder::new("other", version).platform("linux_amd64");
    push(scene, OTHER, version, &release);
}

/// A site of the demo provider in two versions and of [`OTHER`] 0.3.0.
fn of_two_providers() -> Scene {
    let scene = with_two();
    push_other(&scene, "0.3.0");
    site(&scene, "").succeeds();
    scene
}

/// Writes the store into `public`.
fn site(scene: &Scene, arguments: impl AsRef<str>) -> Run {
    let always = "site public --from oci-layout:store";
    scene.line(format!("{always} {}", arguments.as_ref()))
}

/// Runs `site` with `--dry-run`, which leaves every file and directory of the site as it was.
#[track_caller]
fn dry_run(scene: &Scene, arguments: &str) -> Run {
    let public = scene.path("public");
    let content = || public.exists().then(|| judge::tree(&public));
    let before = content();
    let run = site(scene, format!("{arguments} --dry-run"));
    assert_eq!(content(), before);
    run
}

#[test]
fn a_store_is_not_a_directory_and_a_url_has_https() {
    let scene = with_two();
    let run = scene.line("site oci-layout:public --from oci-layout:store");
    run.exits(2).says("error oci-layout:public expected DIR");
    let run = site(&scene, "--url http://mirror.example").exits(2);
    run.tells("expected https://HOST");
}

/// The files of the site, without the page for people, which tells how the last run verified each version.
fn files(scene: &Scene) -> BTreeMap<String, Vec<u8>> {
    let mut files = tree(&scene.path("public"));
    files.remove("index.html");
    files
}

/// A path in the directory of the demo provider.
fn of_demo(scene: &Scene, name: &str) -> PathBuf {
    scene.path("public").join(DEMO).join(name)
}

/// The file name of a package of the demo provider.
fn zip(version: &str, platform: &str) -> String {
    format!("terraform-provider-demo_{version}_{platform}.zip")
}

/// The versions that `index.json` lists.
fn listed(scene: &Scene) -> Vec<String> {
    members(scene, "index.json", "versions")
}

/// The names of the members of a document of the demo provider.
fn members(scene: &Scene, document: &str, list: &str) -> Vec<String> {
    let bytes = fs::read(of_demo(scene, document)).unwrap();
    let document: Value = serde_json::from_slice(&bytes).unwrap();
    let names = document[list].as_object().unwrap().keys();
    names.cloned().collect()
}

/// The names in the directory of the demo provider.
fn names(scene: &Scene) -> Vec<String> {
    install::names(&scene.path("public").join(DEMO))
}

/// Panics if a document below a directory names a file that does not exist.
#[track_caller]
pub fn assert_names_what_is_there(root: &Path) {
    for (name, bytes) in tree(root) {
        let Some((folder, file)) = name.rsplit_once('/').filter(|_| name.ends_with(".json")) else {
            continue;
        };
        let document: Value = serde_json::from_slice(&bytes).unwrap();
        let is_there = |name: &str| root.join(folder).join(name).is_file();
        if file == "index.json" {
            for version in document["versions"].as_object().unwrap().keys() {
                assert!(is_there(&format!("{version}.json")), "{folder} {version}");
            }
        } else {
            for (platform, archive) in document["archives"].as_object().unwrap() {
                let url = archive["url"].as_str().unwrap();
                assert!(is_there(url), "{folder} {file} {platform}");
            }
        }
    }
}

/// `tofu providers mirror` 1.12 wrote the same for the same hashes.
#[test]
fn the_files_are_those_of_providers_mirror() {
    let scene = with_two();
    let run = site(&scene, "").succeeds();
    let [linux, windows] =
        ["linux_amd64", "windows_arm64"].map(|platform| Facts::of_demo(&scene, platform));
    let document = format!(
        r#"{{
  "archives": {{
    "linux_amd64": {{
      "hashes": [
        "{}",
        "{}"
      ],
      "url": "terraform-provider-demo_1.0.0_linux_amd64.zip"
    }},
    "windows_arm64": {{
      "hashes": [
        "{}",
        "{}"
      ],
      "url": "terraform-provider-demo_1.0.0_windows_arm64.zip"
    }}
  }}
}}"#,
        linux.h1, linux.zh, windows.h1, windows.zh
    );
    let index = "{\n  \"versions\": {\n    \"1.0.0\": {},\n    \"1.1.0\": {}\n  }\n}";
    let read = |name: &str| fs::read_to_string(of_demo(&scene, name)).unwrap();
    assert_eq!(read("1.0.0.json"), document);
    assert_eq!(read("index.json"), index);
    let packages = ["1.0.0", "1.1.0"]
        .map(|version| ["linux_amd64", "windows_arm64"].map(|platform| zip(version, platform)));
    let documents = ["1.0.0.json", "1.1.0.json", "index.json"].map(str::to_owned);
    let expected = [&documents[..], &packages.concat()].concat();
    assert_eq!(names(&scene), expected);
    for name in &expected {
        use std::os::unix::fs::PermissionsExt as _;
        let mode = fs::metadata(of_demo(&scene, name)).unwrap().permissions();
        assert_eq!(mode.mode() & 0o7777, 0o644, "{name}");
        let original = released(&scene, DEMO, "1.0.0").join(name);
        if original.exists() {
            let [written, original] = [of_demo(&scene, name), original].map(fs::read);
            assert_eq!(written.unwrap(), original.unwrap());
        }
    }
    let path = |name: &String| format!("public/{DEMO}/{name}\n");
    let paths: String = expected[3..].iter().map(path).collect();
    assert_eq!(run.stdout, paths);
    run.tells("     Wrote 2 versions, 4 packages (0 B copied, 4 reused) in ");
}

#[test]
fn hosts_are_in_punycode() {
    let scene = Scene::new();
    let addresses = ["bücher.example/acme/demo", "example.com:8443/acme/demo"];
    for address in addresses {
        push(&scene, address, "1.0.0", &demo("1.0.0"));
    }
    site(&scene, "").succeeds();
    for host in ["xn--bcher-kva.example", "example.com:8443"] {
        let folder = scene.path("public").join(host).join("acme/demo");
        assert!(folder.join("index.json").is_file(), "{host}");
    }
    let entries = fs::read_dir(scene.path("public")).unwrap().count();
    // Both hosts, the page and the lock.
    assert_eq!(entries, 4);
}

#[test]
fn constraints_select_all_versions_that_match() {
    let all = ["1.0.0", "1.1.0", "1.2.0-rc.1+build.5", "2.0.0"];
    let scene = with(&all);
    site(&scene, format!("{DEMO}@~>1.0")).succeeds();
    assert_eq!(listed(&scene), ["1.0.0", "1.1.0"]);
    let run = site(&scene, format!("{DEMO}@9.9.9")).exits(1);
    run.says("error example.com/acme/demo 9.9.9");
    site(&scene, DEMO).succeeds();
    assert_eq!(listed(&scene), all);
    assert_names_what_is_there(&scene.path("public"));
}

#[test]
fn only_wanted_platforms_are_written_and_others_stay() {
    let scene = with_two();
    let darwin = ReleaseFolder::new("demo", "1.2.0").platform("darwin_arm64");
    push(&scene, DEMO, "1.2.0", &darwin);
    let run = site(&scene, "--platform linux/amd64").succeeds();
    run.says("Warning example.com/acme/demo 1.2.0");
    assert_eq!(listed(&scene), ["1.0.0", "1.1.0"]);
    let platforms = || members(&scene, "1.0.0.json", "archives");
    assert_eq!(platforms(), ["linux_amd64"]);
    for more in ["", "--delete"] {
        site(&scene, format!("--platform windows_arm64 {more}")).succeeds();
        assert_eq!(platforms(), ["linux_amd64", "windows_arm64"]);
    }
}

/// Its package may have been withdrawn because it is bad.
#[test]
fn a_version_that_lost_its_only_wanted_platform_is_deleted() {
    let scene = with_two();
    let linux = "--platform linux_amd64";
    site(&scene, linux).succeeds();
    let lost = ReleaseFolder::new("demo", "1.1.0").platform("windows_arm64");
    lost.write(&scene.path("lost"));
    let replace = "push lost --provider example.com/acme/demo --key acme.asc --to oci-layout:store --existing replace";
    scene.line(replace).succeeds();
    let run = site(&scene, linux).succeeds();
    assert_eq!(listed(&scene), ["1.0.0", "1.1.0"]);
    run.says("Warning example.com/acme/demo 1.1.0");
    let delete = "--platform linux_amd64 --delete";
    let run = dry_run(&scene, delete).succeeds();
    run.tells("Would delete example.com/acme/demo 1.1.0\n");
    assert_eq!(listed(&scene), ["1.0.0", "1.1.0"]);
    site(&scene, delete).succeeds();
    assert_eq!(listed(&scene), ["1.0.0"]);
    assert!(!of_demo(&scene, &zip("1.1.0", "linux_amd64")).exists());
    // Another platform that the store still has stays published.
    let scene = with_two();
    site(&scene, "").succeeds();
    lost.write(&scene.path("lost"));
    scene.line(replace).succeeds();
    site(&scene, delete).succeeds();
    let platforms = members(&scene, "1.1.0.json", "archives");
    assert_eq!(platforms, ["windows_arm64"]);
    assert!(!of_demo(&scene, &zip("1.1.0", "linux_amd64")).exists());
}

#[test]
fn a_platform_that_no_version_has_is_an_error() {
    let run = site(&with_two(), "--platform linux_arm").exits(1);
    // The versions are read side by side.
    for version in ["1.0.0", "1.1.0"] {
        let warning = format!("Warning example.com/acme/demo {version}:");
        assert!(run.stderr.contains(&warning), "{}", run.stderr);
    }
    run.says("Warning Warning error example.com/acme/demo oci-layout:store");
}

/// At last the site has a damaged package, a package that the store lost and a file of an unfinished run, and it lacks a version.
#[test]
fn a_dry_run_writes_nothing() {
    let scene = with_two();
    let run = dry_run(&scene, "--delete").succeeds();
    run.tells("Would write 2 versions, 4 packages (");
    assert!(!scene.path("public").exists());
    site(&scene, "").succeeds();
    push(&scene, DEMO, "1.2.0", &demo("1.2.0"));
    untag(&scene.path("store").join(DEMO), "1.0.0");
    let package = of_demo(&scene, &zip("1.1.0", "linux_amd64"));
    fs::remove_file(&package).unwrap();
    fs::write(&package, "damaged").unwrap();
    scene.write("public/.tfoci-tmp-abc", b"half");
    for more in ["", "--delete"] {
        dry_run(&scene, more).succeeds();
    }
    let before = judge::tree(&scene.path("public"));
    site(&scene, "--delete").succeeds();
    assert_ne!(judge::tree(&scene.path("public")), before);
    assert_eq!(listed(&scene), ["1.1.0", "1.2.0"]);
}

#[test]
fn two_runs_at_once_take_turns() {
    let scene = with_two();
    let line = "site public --from oci-layout:store --quiet";
    for mut run in [(); 4].map(|()| scene.piped(line).spawn().unwrap()) {
        assert!(run.wait().unwrap().success());
    }
    assert_eq!(listed(&scene), ["1.0.0", "1.1.0"]);
    assert_names_what_is_there(&scene.path("public"));
}
