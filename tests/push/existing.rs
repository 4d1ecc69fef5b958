//! `--existing`: merge, fail, replace.

use std::collections::BTreeSet;
use std::fs;

use serde_json::{Value, json};

use super::installed;
use crate::support::author::{Author, another_build};
use crate::support::programs::can_trace;
use crate::support::registry::Registry;
use crate::support::release::ReleaseFolder;
use crate::support::{copy, testdata};

/// Version 1.0.0 is in the store, and the folder has it built again, for one platform.
fn made_again() -> Author {
    let author = Author::pushed();
    author.releases(another_build());
    author
}

/// Every blob that the layout's index leads to.
fn reachable(author: &Author) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let mut open = vec![author.layout_index()];
    while let Some(document) = open.pop() {
        let lists = ["manifests", "layers"].map(|field| document[field].as_array().cloned());
        let config = document.get("config").cloned();
        for entry in lists.into_iter().flatten().flatten().chain(config) {
            let path = author.described(&entry);
            found.insert(path.file_name().unwrap().to_str().unwrap().to_owned());
            let media_type = entry["mediaType"].as_str().unwrap();
            if media_type.starts_with("application/vnd.oci.image") {
                let bytes = fs::read(path).unwrap();
                open.push(serde_json::from_slice::<Value>(&bytes).unwrap());
            }
        }
    }
    found
}

fn stored(author: &Author) -> BTreeSet<String> {
    let read = fs::read_dir(author.repository("blobs/sha256")).unwrap();
    read.map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect()
}

/// The store has 1.0.0 and 2.0.0, and the folder has 1.0.0 for another platform.
fn another_platform(between: impl FnOnce(&Author)) -> Author {
    let author = Author::new();
    for version in ["1.0.0", "2.0.0"] {
        author.releases(ReleaseFolder::new("demo", version).platform("linux_amd64"));
        author.push("").succeeds();
    }
    between(&author);
    author.releases(ReleaseFolder::new("demo", "1.0.0").platform("linux_arm64"));
    author
}

#[test]
fn another_zip_is_refused() {
    let author = made_again();
    author.untouched(|| author.push("").exits(3).without_result());
    assert_eq!(author.installs().len(), 2);
}

#[test]
fn fail_refuses_every_existing_version() {
    let author = Author::with_release();
    author.push("--existing fail").succeeds();
    let before = author.tree();
    author.push("--existing fail").exits(1).without_result();
    author
        .push("--existing fail --dry-run")
        .exits(1)
        .without_result();
    assert_eq!(author.tree(), before);
}

#[test]
fn replace_stores_the_new_release() {
    let author = made_again();
    let (version, evidence) = (author.tagged("1.0.0"), author.tagged("evidence-1.0.0"));
    let run = author.push("--existing replace --format json").succeeds();
    let document = run.json();
    assert_eq!(document["providers"][0]["status"], "updated");
    assert_ne!(author.tagged("1.0.0"), version);
    assert_ne!(author.tagged("evidence-1.0.0"), evidence);
    assert_eq!(author.installs(), installed("1.0.0", &["linux_amd64"]));
    assert_eq!(stored(&author), reachable(&author));
}

#[test]
fn replace_keeps_what_other_versions_use() {
    let author = another_platform(|_| ());
    author.push("--existing replace").succeeds();
    assert_eq!(
        author.installs(),
        ["1.0.0 linux_arm64", "2.0.0 linux_amd64"]
    );
    assert_eq!(stored(&author), reachable(&author));
}

#[test]
fn replacing_with_the_same_changes_nothing() {
    let author = Author::pushed();
    let before = author.tree();
    let run = author.push("--existing replace --format json").succeeds();
    let document = run.json();
    assert_eq!(document["providers"][0]["status"], "present");
    assert_eq!(author.tree(), before);
}

/// Both tags are in one file, which is renamed once. So new packages never appear with old evidence.
#[test]
fn both_tags_move_at_once() {
    if !can_trace() {
        return;
    }
    let author = made_again();
    let trace = author.scene.path("trace");
    let status = author
        .scene
        .command("strace")
        .args(["-f", "-e", "trace=rename,renameat,renameat2", "-o"])
        .arg(&trace)
        .arg(env!("CARGO_BIN_EXE_tfoci"))
        .args("push dist --provider acme/demo --key acme.asc".split(' '))
        .args("--to oci-layout:store --existing replace --quiet".split(' '))
        .stdout(std::process::Stdio::null())
        .status();
    assert!(status.unwrap().success());
    let trace = fs::read_to_string(trace).unwrap();
    let is_index = |line: &&str| line.contains("index.json");
    assert_eq!(trace.lines().filter(is_index).count(), 1, "{trace}");
    let last = trace.lines().rfind(|line| line.contains("rename"));
    assert!(last.unwrap().contains("index.json"), "{trace}");
}

#[test]
fn a_tag_of_another_artifact_is_replaced_only_on_request() {
    for layout in [
        "tag-is-image-manifest",
        "tag-is-module",
        "index-tampered",
        "index-missing",
        "platform-ambiguous-identical",
    ] {
        let author = Author::with_release();
        copy(
            &testdata("layouts").join(layout),
            &author.scene.path("store"),
        );
        let push = |more: &str| author.push(format!("--exact-repository {more}"));
        let before = author.tree();
        assert_ne!(push("").without_result().status, Some(0), "{layout}");
        assert_eq!(author.tree(), before, "{layout}");
        push("--existing replace").succeeds();
        assert_eq!(
            author.installs(),
            installed("1.0.0", &["darwin_arm64", "linux_amd64"]),
            "{layout}"
        );
    }
}

/// An unreadable index may refer to any blob, so nothing is removed. The release is published nevertheless.
#[test]
fn damage_of_another_version_does_not_fail_a_replacement() {
    let author = another_platform(|author| {
        fs::write(author.blob(&author.tagged("2.0.0").unwrap()), "damaged").unwrap();
    });
    let run = author.push("--existing replace").succeeds();
    assert_ne!(run.stdout, "");
    run.says("Warning registry.opentofu.org/acme/demo 1.0.0 sha256:62668cc3ec9c9fd2d99d97dfc9d5e77bf4f46190ebbbf1bc672f1db00a47be54 Added registry.opentofu.org/acme/demo 1.0.0 linux_arm64 zh:2e475748dca15aaa266b98fb54ab3c03962ed565d5a7eb8ffb59d9b2b5bdecc4 Removed registry.opentofu.org/acme/demo 1.0.0 linux_amd64 zh:4fa7e60d506416362ae4a4933f2da2a5c755191e68c2d41fb7c13d5c8e023bec Updated registry.opentofu.org/acme/demo 1.0.0 1 406 signed [ACME ID] pinned Pushed 1 1 406 [TIME]");
}

#[test]
fn a_replacement_says_which_zips_it_replaces() {
    let author = made_again();
    author.untouched(|| author
        .push("--existing replace --dry-run")
        .succeeds()
        .says(
            "Would registry.opentofu.org/acme/demo 1.0.0 linux_amd64 zh:4fa7e60d506416362ae4a4933f2da2a5c755191e68c2d41fb7c13d5c8e023bec zh:4cea9670a9fc157739282a94a32b9926252c4fc9a21df6b9dba4709d9ef4c662 Would registry.opentofu.org/acme/demo 1.0.0 darwin_arm64 zh:f63237d1fd1003ffd38efd8a93e846cf69bd47b10e91d503971b8696b973580a Would registry.opentofu.org/acme/demo 1.0.0 1 168 signed [ACME ID] pinned Would 1 1 168 [TIME]",
        ));
    author.push("--existing replace").succeeds().says(
        "Replaced registry.opentofu.org/acme/demo 1.0.0 linux_amd64 zh:4fa7e60d506416362ae4a4933f2da2a5c755191e68c2d41fb7c13d5c8e023bec zh:4cea9670a9fc157739282a94a32b9926252c4fc9a21df6b9dba4709d9ef4c662 Removed registry.opentofu.org/acme/demo 1.0.0 darwin_arm64 zh:f63237d1fd1003ffd38efd8a93e846cf69bd47b10e91d503971b8696b973580a Updated registry.opentofu.org/acme/demo 1.0.0 1 168 signed [ACME ID] pinned Pushed 1 1 168 [TIME]",
    );
}

#[test]
fn a_dry_run_of_a_replacement_says_that_the_stored_version_cannot_be_read() {
    let author = made_again();
    let manifest = author.described(&author.document("1.0.0")["manifests"][0]);
    fs::write(manifest, "damaged").unwrap();
    let run = author.push("--existing replace --dry-run").succeeds();
    run.says("Warning registry.opentofu.org/acme/demo 1.0.0");
}

/// The JSON document has the plan and the changes.
#[test]
fn a_dry_run_of_a_replacement_says_which_platforms_it_would_add() {
    let author = Author::with_release();
    author.push("--platform linux_amd64").succeeds();
    let replace = "--existing replace --dry-run";
    const ADDED: &str = " Would add registry.opentofu.org/acme/demo 1.0.0 darwin_arm64   zh:f63237d1fd1003ffd38efd8a93e846cf69bd47b10e91d503971b8696b973580a\n";
    let run = author.push(replace).succeeds();
    run.says("Would registry.opentofu.org/acme/demo 1.0.0 darwin_arm64 zh:f63237d1fd1003ffd38efd8a93e846cf69bd47b10e91d503971b8696b973580a Would registry.opentofu.org/acme/demo 1.0.0 1 407 signed [ACME ID] pinned Would 1 1 407 1 [TIME]");
    let json = author.push(format!("{replace} --format json")).succeeds();
    assert!(json.stderr.starts_with(ADDED), "{}", json.stderr);
    let document = json.json();
    let zh = "zh:f63237d1fd1003ffd38efd8a93e846cf69bd47b10e91d503971b8696b973580a";
    assert_eq!(
        document["providers"][0]["changes"],
        json!([{"platform": "darwin_arm64", "to": zh}])
    );
    let packages = &document["providers"][0]["packages"];
    for (at, platform, status) in [
        (0, "darwin_arm64", "planned"),
        (1, "linux_amd64", "present"),
    ] {
        assert_eq!(packages[at]["platform"], platform);
        assert_eq!(packages[at]["status"], status);
    }
}

#[test]
fn a_platform_of_a_release_that_was_built_again_is_added_with_a_warning() {
    let author = Author::new();
    let two = || {
        let files: &[(&str, &[u8])] = &[("terraform-provider-demo_v1.0.0", b"arm\n")];
        ReleaseFolder::new("demo", "1.0.0").package("linux_arm64", files)
    };
    two()
        .platform("linux_amd64")
        .write(&author.scene.path("dist"));
    author.push("--platform linux_amd64").succeeds();
    fs::remove_dir_all(author.scene.path("dist")).unwrap();
    let files: &[(&str, &[u8])] = &[("terraform-provider-demo_v1.0.0", b"another\n")];
    two()
        .package("linux_amd64", files)
        .write(&author.scene.path("dist"));
    author
        .push("--platform linux_arm64")
        .succeeds()
        .says(
            "Warning registry.opentofu.org/acme/demo 1.0.0 linux_amd64 Updated registry.opentofu.org/acme/demo 1.0.0 1 164 signed [ACME ID] pinned Pushed 1 1 164 [TIME]",
        );
    assert_eq!(author.installs().len(), 2);
}

/// A template without host name maps both providers to one repository. Clients would then install the newest version of either for both.
#[test]
fn versions_of_two_providers_are_not_mixed() {
    let author = Author::with_release();
    ReleaseFolder::new("demo", "2.0.0")
        .platform("linux_amd64")
        .write(&author.scene.path("other"));
    let registry = Registry::plain();
    let to = format!("{}/tofu/{{namespace}}/{{type}}", registry.host());
    let push = |folder: &str, provider: &str, more: &str| {
        let to = format!("--to {to} --plain-http 127.0.0.1 --key acme.asc");
        let push = format!("push {folder} --provider {provider}");
        author.line(format!("{push} {to} {more}"))
    };
    push("dist", "acme/demo", "").succeeds();
    registry.forget();
    for provider in ["b.example/acme/demo", "a.example/acme/demo"] {
        let run = push("other", provider, "").exits(3).without_result();
        let host = registry.host();
        run.says(&format!(
            "error {provider} 2.0.0 {host}/tofu/acme/demo expected {provider} received registry.opentofu.org/acme/demo 1.0.0"
        ));
    }
    assert_eq!(
        registry.count(|seen| ["PUT", "POST", "PATCH"].contains(&&*seen.method)),
        0
    );
    // The provider's own next version is accepted, and the provider may get a new address.
    push("other", "acme/demo", "").succeeds();
    let copy = format!("copy --from oci-layout:store --to {to} --plain-http 127.0.0.1");
    author
        .push("--provider a.example/acme/demo@1.0.0")
        .succeeds();
    let run = author.line(format!("{copy} a.example/acme/demo")).exits(3);
    let host = registry.host();
    run.says(&format!("error a.example/acme/demo 1.0.0 {host}/tofu/acme/demo oci-layout:store/a.example/acme/demo expected a.example/acme/demo received registry.opentofu.org/acme/demo"));
    push("other", "a.example/acme/demo", "--existing replace").succeeds();
}
