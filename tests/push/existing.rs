//! `--existing`: merge, fail, replace.

use std::collections::BTreeSet;
use std::fs;

use serde_json::json;

use super::{installed, pushed};
use crate::support::author::{Author, another_build, two_platforms};
use crate::support::programs::can_trace;
use crate::support::registry::content::parts;
use crate::support::registry::{Registry, Seen};
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
        let (blobs, manifests) = parts(&document);
        for digest in &manifests {
            let bytes = fs::read(author.blob(&digest[7..])).unwrap();
            open.push(serde_json::from_slice(&bytes).unwrap());
        }
        found.extend(blobs.into_iter().chain(manifests));
    }
    found
}

fn stored(author: &Author) -> BTreeSet<String> {
    let read = fs::read_dir(author.repository("blobs/sha256")).unwrap();
    let names = read.map(|entry| entry.unwrap().file_name());
    names
        .map(|name| format!("sha256:{}", name.display()))
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
    for more in ["", "--dry-run"] {
        let run = author.untouched(|| author.push(format!("--existing fail {more}")));
        run.exits(1).without_result();
    }
}

#[test]
fn replace_stores_the_new_release() {
    let author = made_again();
    let (version, evidence) = (author.tagged("1.0.0"), author.tagged("evidence-1.0.0"));
    assert_eq!(pushed(&author, "--existing replace")["status"], "updated");
    assert_ne!(author.tagged("1.0.0"), version);
    assert_ne!(author.tagged("evidence-1.0.0"), evidence);
    assert_eq!(author.installs(), installed("1.0.0", &["linux_amd64"]));
    assert_eq!(stored(&author), reachable(&author));
}

#[test]
fn replace_keeps_what_other_versions_use() {
    let author = another_platform(|_| ());
    author.push("--existing replace").succeeds();
    let both = ["1.0.0 linux_arm64", "2.0.0 linux_amd64"];
    assert_eq!(author.installs(), both);
    assert_eq!(stored(&author), reachable(&author));
}

#[test]
fn replacing_with_the_same_changes_nothing() {
    let author = Author::pushed();
    let again = author.untouched(|| pushed(&author, "--existing replace"));
    assert_eq!(again["status"], "present");
}

/// Both tags are in one file, which is renamed once. So new packages never appear with old evidence.
#[test]
fn both_tags_move_at_once() {
    if !can_trace() {
        return;
    }
    let author = made_again();
    let push = "push dist --provider acme/demo --key acme.asc --to oci-layout:store";
    let options = "-f -e trace=rename,renameat,renameat2 -o trace";
    let line = format!(
        "{options} {} {push} --existing replace",
        env!("CARGO_BIN_EXE_tfoci")
    );
    author.run("strace", line.split(' ')).succeeds();
    let trace = fs::read_to_string(author.path("trace")).unwrap();
    let is_index = |line: &&str| line.contains("index.json");
    assert_eq!(trace.lines().filter(is_index).count(), 1, "{trace}");
    let last = trace.lines().rfind(|line| line.contains("rename"));
    assert!(last.unwrap().contains("index.json"), "{trace}");
}

#[test]
fn a_tag_of_another_artifact_is_replaced_only_on_request() {
    let layouts = "tag-is-image-manifest tag-is-module index-tampered index-missing platform-ambiguous-identical";
    for layout in layouts.split(' ') {
        let author = Author::with_release();
        copy(&testdata("layouts").join(layout), &author.path("store"));
        let push = |more: &str| author.push(format!("--exact-repository {more}"));
        let run = author.untouched(|| push(""));
        assert_ne!(run.without_result().status, Some(0), "{layout}");
        push("--existing replace").succeeds();
        assert_eq!(author.installs().len(), 2, "{layout}");
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
    let plan = author.untouched(|| author.push("--existing replace --dry-run").succeeds());
    plan.says("Would registry.opentofu.org/acme/demo 1.0.0 linux_amd64 zh:4fa7e60d506416362ae4a4933f2da2a5c755191e68c2d41fb7c13d5c8e023bec zh:4cea9670a9fc157739282a94a32b9926252c4fc9a21df6b9dba4709d9ef4c662 Would registry.opentofu.org/acme/demo 1.0.0 darwin_arm64 zh:f63237d1fd1003ffd38efd8a93e846cf69bd47b10e91d503971b8696b973580a Would registry.opentofu.org/acme/demo 1.0.0 1 168 signed [ACME ID] pinned Would 1 1 168 [TIME]");
    let run = author.push("--existing replace").succeeds();
    run.says("Replaced registry.opentofu.org/acme/demo 1.0.0 linux_amd64 zh:4fa7e60d506416362ae4a4933f2da2a5c755191e68c2d41fb7c13d5c8e023bec zh:4cea9670a9fc157739282a94a32b9926252c4fc9a21df6b9dba4709d9ef4c662 Removed registry.opentofu.org/acme/demo 1.0.0 darwin_arm64 zh:f63237d1fd1003ffd38efd8a93e846cf69bd47b10e91d503971b8696b973580a Updated registry.opentofu.org/acme/demo 1.0.0 1 168 signed [ACME ID] pinned Pushed 1 1 168 [TIME]");
}

#[test]
fn a_dry_run_of_a_replacement_needs_no_sound_version_in_the_store() {
    let author = made_again();
    let manifest = author.described(&author.document("1.0.0")["manifests"][0]);
    fs::write(manifest, "damaged").unwrap();
    author.push("--existing replace --dry-run").succeeds();
}

/// The JSON document has the plan and the changes.
#[test]
fn a_dry_run_of_a_replacement_says_which_platforms_it_would_add() {
    let author = Author::with_release();
    author.push("--platform linux_amd64").succeeds();
    let replace = "--existing replace --dry-run";
    const ADDED: &str = " Would add registry.opentofu.org/acme/demo 1.0.0 darwin_arm64   zh:f63237d1fd1003ffd38efd8a93e846cf69bd47b10e91d503971b8696b973580a\n";
    let run = author.push(replace).succeeds();
    run.says("Would registry.opentofu.org/acme/demo 1.0.0 darwin_arm64 zh:f63237d1fd1003ffd38efd8a93e846cf69bd47b10e91d503971b8696b973580a Would registry.opentofu.org/acme/demo 1.0.0 2 407 signed [ACME ID] pinned Would 1 1 407 1 [TIME]");
    let json = author.push(format!("{replace} --format json")).succeeds();
    assert!(json.stderr.starts_with(ADDED), "{}", json.stderr);
    let provider = &json.json()["providers"][0];
    let zh = "zh:f63237d1fd1003ffd38efd8a93e846cf69bd47b10e91d503971b8696b973580a";
    let added = json!([{"platform": "darwin_arm64", "to": zh}]);
    assert_eq!(provider["changes"], added);
    let platforms = [("darwin_arm64", "planned"), ("linux_amd64", "present")];
    for (at, (platform, status)) in platforms.into_iter().enumerate() {
        assert_eq!(provider["packages"][at]["platform"], platform);
        assert_eq!(provider["packages"][at]["status"], status);
    }
}

#[test]
fn a_platform_of_a_release_that_was_built_again_is_added_with_a_warning() {
    let author = Author::new();
    let files: &[(&str, &[u8])] = &[("terraform-provider-demo_v1.0.0", b"arm\n")];
    author.releases(two_platforms().package("linux_arm64", files));
    author.push("--platform linux_amd64").succeeds();
    author.releases(another_build().package("linux_arm64", files));
    let run = author.push("--platform linux_arm64").succeeds();
    run.says("Warning registry.opentofu.org/acme/demo 1.0.0 linux_amd64 Updated registry.opentofu.org/acme/demo 1.0.0 1 164 signed [ACME ID] pinned Pushed 1 1 164 [TIME]");
    assert_eq!(author.installs().len(), 2);
}

/// A template without host name maps both providers to one repository. Clients would then install the newest version of either for both.
#[test]
fn versions_of_two_providers_are_not_mixed() {
    let author = Author::with_release();
    let next = ReleaseFolder::new("demo", "2.0.0").platform("linux_amd64");
    next.write(&author.path("other"));
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
        let about = format!("{provider} 2.0.0 {}/tofu/acme/demo", registry.host());
        let facts = format!("expected {provider} received registry.opentofu.org/acme/demo 1.0.0");
        run.says(&format!("error {about} {facts}"));
    }
    let writes = |seen: &Seen| ["PUT", "POST", "PATCH"].contains(&&*seen.method);
    assert_eq!(registry.count(writes), 0);
    // The provider's own next version is accepted, and the provider may get a new address.
    push("other", "acme/demo", "").succeeds();
    let copy = format!("copy --from oci-layout:store --to {to} --plain-http 127.0.0.1");
    let named = "--provider a.example/acme/demo@1.0.0";
    author.push(named).succeeds();
    let run = author.line(format!("{copy} a.example/acme/demo")).exits(3);
    let host = registry.host();
    run.says(&format!("error a.example/acme/demo 1.0.0 {host}/tofu/acme/demo expected a.example/acme/demo received registry.opentofu.org/acme/demo"));
    push("other", "a.example/acme/demo", "--existing replace").succeeds();
}
