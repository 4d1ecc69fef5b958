use std::fs;

use super::requested::outcomes;
use super::{FROM, TO, assert_same, copy, copy_demo};
use crate::support::author::Author;
use crate::support::layout::blob;
use crate::support::release::ReleaseFolder;
use crate::support::testdata;

/// A store with `one` 1.0.0, 1.1.0-rc.1 and 2.0.0, and `two` 1.0.0.
fn filled() -> Author {
    let author = Author::new();
    for (name, version) in [
        ("one", "1.0.0"),
        ("one", "1.1.0-rc.1"),
        ("one", "2.0.0"),
        ("two", "1.0.0"),
    ] {
        author.releases(ReleaseFolder::new(name, version).platform("linux_amd64"));
        let provider = format!("acme/{name}");
        author.push(format!("--provider {provider}")).succeeds();
    }
    author
}

/// `TYPE VERSION` of each that was copied.
fn copied(author: &Author, more: &str) -> Vec<String> {
    let run = copy(author, FROM, TO, format!("{more} --format json")).succeeds();
    let two_words = |line: String| line.split(' ').take(2).collect::<Vec<_>>().join(" ");
    outcomes(&run).into_iter().map(two_words).collect()
}

#[test]
fn without_addresses_all_versions_are_copied_with_pre_releases() {
    let author = filled();
    let all = ["one 1.0.0", "one 1.1.0-rc.1", "one 2.0.0", "two 1.0.0"];
    assert_eq!(copied(&author, ""), all);
    assert_same(&author);
}

#[test]
fn an_address_selects_all_of_its_versions() {
    let all = ["one 1.0.0", "one 1.1.0-rc.1", "one 2.0.0"];
    assert_eq!(copied(&filled(), "acme/one"), all);
}

#[test]
fn constraints_narrow_and_admit_pre_releases_only_by_name() {
    let author = filled();
    let both = ["one 1.0.0", "one 2.0.0"];
    assert_eq!(copied(&author, "acme/one@>=1.0"), both);
    assert_eq!(copied(&author, "acme/one@<2.0"), ["one 1.0.0"]);
    assert_eq!(copied(&author, "acme/one@1.1.0-rc.1"), ["one 1.1.0-rc.1"]);
    let run = copy(&author, FROM, TO, "acme/one@>=3.0").exits(1);
    let says = "error registry.opentofu.org/acme/one >= 3.0.0 2.0.0 1.1.0-rc.1 1.0.0";
    run.without_result().says(says);
}

#[test]
fn one_failure_does_not_stop_the_others_and_the_gravest_sets_the_exit_code() {
    let author = filled();
    let release = ReleaseFolder::new("one", "2.0.0").platform("linux_amd64");
    let mut zip = release.build().zips.remove(0).1.bytes;
    let blob = blob(&author.path("store/registry.opentofu.org/acme/one"), &zip);
    zip[40] ^= 1;
    fs::write(blob, zip).unwrap();
    let asked = "acme/none acme/one acme/two";
    let run = copy(&author, FROM, TO, asked).exits(3);
    assert_eq!(run.stdout.lines().count(), 3, "{}", run.stdout);
    run.says("error registry.opentofu.org/acme/none error registry.opentofu.org/acme/one 2.0.0 linux_amd64 oci-layout:store/registry.opentofu.org/acme/one sha256:9a6bbfe9e50de4fcac99e350bd8378c8296419e940d41117899bbf10b298d058 expected sha256:9a6bbfe9e50de4fcac99e350bd8378c8296419e940d41117899bbf10b298d058 received sha256:4a51571b886922872dde8faccbab4e46aa167ab62ee876efc0d41f15cf55c922");
    let run = copy(&author, FROM, TO, format!("{asked} --format json")).exits(3);
    let there = ["one 1.0.0", "one 1.1.0-rc.1", "two 1.0.0"];
    let there = there.map(|one| format!("{one} present linux_amd64"));
    let failed = ["none none failed", "one 2.0.0 failed"].map(str::to_owned);
    let expected = [&there[..], &failed].concat();
    assert_eq!(outcomes(&run), expected);
    let document = run.json();
    for (number, category) in [(3, "not_found"), (4, "untrusted")] {
        assert_eq!(document["providers"][number]["error"]["category"], category);
    }
}

#[test]
fn the_document_is_that_of_a_push() {
    let author = Author::pushed();
    let run = copy(&author, FROM, TO, "--format json").succeeds();
    let document = run.json();
    let digest = format!("sha256:{}", author.tagged("1.0.0").unwrap());
    let package = |platform: &str, size: u64| {
        let zh = format!("zh:{}", author.zip_hex(platform));
        serde_json::json!({"platform": platform, "status": "mounted", "size": size, "zh": zh})
    };
    assert_eq!(
        document,
        serde_json::json!({
            "schema": 1,
            "providers": [{
                "provider": super::PROVIDER,
                "version": "1.0.0",
                "reference": format!("{TO}/{}:1.0.0@{digest}", super::PROVIDER),
                "digest": digest,
                "status": "copied",
                "authentication": {"status": "signed", "anchor": "embedded", "fingerprint": "[ACME]", "notes": []},
                "packages": [package("darwin_arm64", 407), package("linux_amd64", 406)],
            }],
            "bytes": 0,
            "requests": 0,
        })
    );
}

/// Tags that are not versions are not copied.
#[test]
fn other_tags_are_not_copied() {
    let author = Author::new();
    let from = format!("oci-layout:{}", testdata("layouts/good-oras").display());
    copy_demo(&author, &from, TO, "--exact-repository").succeeds();
    let arguments = format!("versions acme/demo --all --exact-repository --from {TO}");
    assert_eq!(author.line(arguments).succeeds().stdout, "1.0.0\n");
}
