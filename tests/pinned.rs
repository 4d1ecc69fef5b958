//! Versions that are named by the digest of their index, alone or in a reference as `push` prints it.

use std::fs;

use serde_json::Value;

use crate::support::author::{Author, steady};
use crate::support::judge;
use crate::support::layout_of_registry::import;
use crate::support::registry::Registry;
use crate::support::release::ReleaseFolder;
use crate::support::scene::Run;

const PROVIDER: &str = "registry.opentofu.org/acme/demo";
const REPOSITORY: &str = "oci-layout:store/registry.opentofu.org/acme/demo";

/// Pushes a version with one platform, and returns the reference that `push` prints.
fn push(author: &Author, version: &str) -> String {
    let _none = fs::remove_dir_all(author.scene.path("dist"));
    let release = ReleaseFolder::new("demo", version).platform("linux_amd64");
    release.write(&author.scene.path("dist"));
    let run = author.scene.line(
        "push dist --provider acme/demo --key acme.asc --to oci-layout:store --existing replace",
    );
    run.succeeds().stdout.trim().to_owned()
}

/// 1.0.0 and 1.1.0, with the reference of each.
fn two_versions() -> (Author, [String; 2]) {
    let author = Author::new();
    let references = ["1.0.0", "1.1.0"].map(|version| push(&author, version));
    (author, references)
}

fn digest(reference: &str) -> &str {
    reference.rsplit_once('@').unwrap().1
}

/// The reference that `inspect` shows.
fn shown(run: Run) -> [String; 2] {
    let run = run.succeeds();
    let line = |start: &str| {
        let line = run.stdout.lines().find_map(|line| line.strip_prefix(start));
        line.unwrap().trim().to_owned()
    };
    [line("provider "), line("reference ")]
}

#[test]
fn inspect_takes_a_reference_or_a_digest() {
    let (author, [first, second]) = two_versions();
    for (version, reference) in [("1.0.0", &first), ("1.1.0", &second)] {
        let by_digest = format!("acme/demo@{}", digest(reference));
        let by_both = format!("acme/demo@{version}@{}", digest(reference));
        let from = ["--from", "oci-layout:store"];
        for arguments in [
            vec!["inspect", reference],
            [&["inspect", &by_digest][..], &from].concat(),
            [&["inspect", &by_both][..], &from].concat(),
            vec!["inspect", reference.split('@').next().unwrap()],
        ] {
            let run = author.scene.tfoci(&arguments);
            assert_eq!(
                shown(run),
                [format!("{PROVIDER} {version}"), reference.clone()]
            );
        }
    }
}

#[test]
fn install_and_copy_take_references() {
    let (author, [first, second]) = two_versions();
    author
        .scene
        .line(format!("install {first} --into out --platform linux_amd64"))
        .succeeds();
    let zip = "out/registry.opentofu.org/acme/demo/terraform-provider-demo_1.0.0_linux_amd64.zip";
    assert!(author.scene.path(zip).exists());
    for (store, arguments) in [
        ("one", vec![first.as_str()]),
        ("two", vec!["--from", &second]),
    ] {
        let to = format!("oci-layout:{store}");
        let run = author
            .scene
            .line(format!("copy {} --to {to}", arguments.join(" ")))
            .succeeds();
        let reference = arguments.last().unwrap().replace("oci-layout:store", &to);
        assert_eq!(run.stdout, format!("{reference}\n"));
    }
}

#[test]
fn references_of_registries_name_the_provider_in_the_index() {
    let (author, [first, _]) = two_versions();
    let registry = Registry::plain();
    import(&author.repository(""), &registry, "elsewhere");
    let reference = format!("{}/elsewhere:1.0.0@{}", registry.host(), digest(&first));
    let plain = "--plain-http 127.0.0.1";
    let run = author.scene.line(format!("inspect {reference} {plain}"));
    assert_eq!(shown(run), [format!("{PROVIDER} 1.0.0"), reference.clone()]);
    let arguments = format!("copy --from {reference} --to oci-layout:other");
    author.scene.line(format!("{arguments} {plain}")).succeeds();
    let arguments = "versions acme/demo --from oci-layout:other";
    assert_eq!(author.scene.line(arguments).succeeds().stdout, "1.0.0\n");
}

/// A writer who moves a tag must not be able to choose the provider that is installed.
#[test]
fn a_reference_without_a_digest_names_the_provider_itself() {
    let (author, [first, _]) = two_versions();
    let other = author.scene.path("elsewhere/acme/other");
    fs::create_dir_all(other.parent().unwrap()).unwrap();
    fs::rename(author.repository(""), &other).unwrap();
    let reference = "oci-layout:elsewhere/acme/other:1.0.0";
    let with_digest = format!("{reference}@{}", digest(&first));
    author.scene.tfoci(["inspect", &with_digest]).succeeds();
    for command in ["inspect", "copy --to oci-layout:out"] {
        let run = author.scene.line(format!("{command} {reference}"));
        run.exits(3).says(&format!(
            "error {PROVIDER} {reference} expected REPOSITORY:VERSION@DIGEST"
        ));
    }
    assert!(!author.scene.path("out").exists());
}

#[test]
fn a_tag_that_moved_is_refused() {
    let author = Author::new();
    let first = push(&author, "1.0.0");
    let _none = fs::remove_dir_all(author.scene.path("dist"));
    let release = ReleaseFolder::new("demo", "1.0.0").platform("linux_arm64");
    release.write(&author.scene.path("dist"));
    let moved = author.push("--existing replace").succeeds();
    let received = digest(moved.stdout.trim()).to_owned();
    let expected = digest(&first).to_owned();
    let facts = format!(
        "1.0.0 expected {expected} received {}",
        author_digest(&author)
    );
    assert_ne!(expected, received);
    let before = judge::tree(&author.scene.path("store"));
    for command in [
        vec!["inspect", &first],
        vec!["install", &first, "--into", "out"],
        vec!["copy", &first, "--to", "oci-layout:other"],
    ] {
        let run = author.scene.tfoci(&command).exits(3).without_result();
        run.says(&format!("error {REPOSITORY} {facts}"));
    }
    let version = format!("acme/demo@1.0.0@{expected}");
    let from = "--from oci-layout:store";
    let run = author
        .scene
        .line(format!("inspect {version} {from}"))
        .exits(3);
    run.says(&format!("error {PROVIDER} 1.0.0 oci-layout:store {facts}"));
    let copy = format!("copy {version} --to oci-layout:other");
    let run = author.scene.line(format!("{copy} {from}")).exits(3);
    run.says(&format!("error {facts}"));
    assert!(!author.scene.path("other").exists() || author.scene.path("out").read_dir().is_err());
    assert_eq!(judge::tree(&author.scene.path("store")), before);
}

/// The digest that the tag 1.0.0 refers to.
fn author_digest(author: &Author) -> String {
    format!("sha256:{}", author.tagged("1.0.0").unwrap())
}

#[test]
fn arguments_without_a_version_are_refused() {
    let (author, [first, _]) = two_versions();
    let zeros = "sha256:0000000000000000000000000000000000000000000000000000000000000000";
    let none = format!("acme/demo@{zeros}");
    let evidence = first.replace(":1.0.0@", ":evidence-1.0.0@");
    let absent = first.replace(":1.0.0@", ":9.9.9@");
    let from = ["--from", "oci-layout:store"];
    for (arguments, exit, facts) in [
        (
            [&["inspect", &none][..], &from].concat(),
            1,
            format!("{PROVIDER} oci-layout:store {zeros}"),
        ),
        (
            vec!["inspect", &evidence],
            2,
            format!("{evidence} expected REPOSITORY:VERSION@DIGEST"),
        ),
        (
            vec!["inspect", &absent],
            1,
            format!("{REPOSITORY} 9.9.9 has none"),
        ),
        (
            vec!["inspect", "acme/demo@sha256:12"],
            2,
            "sha256:12 expected 64 128".to_owned(),
        ),
        (vec!["inspect", "acme/demo"], 2, PROVIDER.to_owned()),
        (vec!["install", "--into", "out"], 2, "--from".to_owned()),
        (
            [&["inspect", &first][..], &from].concat(),
            2,
            "--from".to_owned(),
        ),
    ] {
        let run = author.scene.tfoci(&arguments).exits(exit);
        run.says(&format!("error {facts}"));
    }
}

#[test]
fn an_index_without_a_title_is_of_the_provider_of_its_directory() {
    let (author, [first, _]) = two_versions();
    let blobs = author.repository("blobs/sha256");
    let hex = digest(&first).strip_prefix("sha256:").unwrap();
    let mut index: Value = serde_json::from_slice(&fs::read(blobs.join(hex)).unwrap()).unwrap();
    index.as_object_mut().unwrap().remove("annotations");
    let bytes = index.to_string();
    let untitled = judge::sha256(&author.scene.write("untitled", &bytes));
    fs::write(blobs.join(&untitled), &bytes).unwrap();
    let mut tags: Value =
        serde_json::from_slice(&fs::read(author.repository("index.json")).unwrap()).unwrap();
    for entry in tags["manifests"].as_array_mut().unwrap() {
        if entry["digest"] == digest(&first) {
            entry["digest"] = format!("sha256:{untitled}").into();
            entry["size"] = bytes.len().into();
        }
    }
    fs::write(author.repository("index.json"), tags.to_string()).unwrap();
    let reference = format!("{REPOSITORY}:1.0.0@sha256:{untitled}");
    let run = author.scene.tfoci(["inspect", &reference]);
    assert_eq!(shown(run), [format!("{PROVIDER} 1.0.0"), reference]);
    fs::rename(author.repository(""), author.scene.path("alone")).unwrap();
    let reference = format!("oci-layout:alone:1.0.0@sha256:{untitled}");
    let run = steady(author.scene.tfoci(["inspect", &reference])).exits(1);
    run.says(&format!("error {reference}"));
}

#[test]
fn inspect_without_a_version_shows_the_newest_and_lists_the_others() {
    let (author, _) = two_versions();
    let second = push(&author, "1.2.0-rc.1");
    let from = ["inspect", "acme/demo", "--from", "oci-layout:store"];
    let run = author.scene.tfoci(from).succeeds();
    assert!(
        run.stdout
            .starts_with(&format!("provider        {PROVIDER} 1.1.0\n")),
        "{}",
        run.stdout
    );
    assert!(
        run.stdout.contains("\nother versions  1.2.0-rc.1, 1.0.0\n"),
        "{}",
        run.stdout
    );
    let run = author
        .scene
        .tfoci(from.iter().chain(&["--format", "json"]))
        .succeeds();
    let document: Value = serde_json::from_str(&run.stdout).unwrap();
    assert_eq!(document["version"], "1.1.0");
    assert_eq!(
        document["other_versions"],
        serde_json::json!(["1.2.0-rc.1", "1.0.0"])
    );
    let run = author
        .scene
        .tfoci(["inspect", &second, "--format", "json"])
        .succeeds();
    let document: Value = serde_json::from_str(&run.stdout).unwrap();
    assert_eq!(document.get("other_versions"), None);
}
