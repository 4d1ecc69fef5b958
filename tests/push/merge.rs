//! Further platforms for a version that the store has.

use std::fs;

use serde_json::Value;

use super::installed;
use crate::support::author::{Author, two_platforms};
use crate::support::release::ReleaseFolder;
use crate::support::signer::Signer;
use crate::support::tamper;
use crate::support::{copy, testdata};

/// A release of the fixtures' provider with one more platform.
fn foreign(layout: &str) -> Author {
    let author = Author::of(ReleaseFolder::new("demo", "1.0.0").platform("freebsd_amd64"));
    copy(&testdata("layouts").join(layout), &author.path("store"));
    author
}

fn index(author: &Author) -> Value {
    let layout = author.path("store");
    tamper::document(&layout, &tamper::tagged(&layout, "1.0.0"))
}

/// No signature covers a foreign artifact's zips, so a release that does not list them cannot be merged into it; one that lists them
/// can. This one lists every zip of the store.
fn list_stored_zips(author: &Author) {
    let document = "dist/terraform-provider-demo_1.0.0_SHA256SUMS";
    let mut text = fs::read_to_string(author.path(document)).unwrap();
    for line in crate::support::judge::installs(&author.path("store")) {
        let words: Vec<&str> = line.split(' ').collect();
        let hex = words[3].strip_prefix("zh:").unwrap();
        text += &format!("{hex}  terraform-provider-demo_1.0.0_{}.zip\n", words[2]);
    }
    author.write(document, &text);
    let signature = Signer::acme().sign_detached(text.as_bytes());
    author.write(format!("{document}.sig"), signature);
}

fn merge(author: &Author) {
    list_stored_zips(author);
    let push = "--exact-repository --platform freebsd_amd64";
    author.push(push).succeeds();
}

#[test]
fn platforms_pushed_one_by_one_give_the_same_bytes() {
    let platforms = ["windows_amd64", "linux_amd64", "darwin_arm64", "linux_386"];
    let author = |order: &[&[&str]]| {
        let author = Author::of(ReleaseFolder::new("demo", "1.0.0").each(&platforms));
        for some in order {
            let chosen = some.iter().map(|one| format!("--platform {one} "));
            author.push(chosen.collect::<String>()).succeeds();
        }
        assert_eq!(author.installs(), installed("1.0.0", &platforms));
        author.tagged("1.0.0")
    };
    let at_once = author(&[&[]]);
    let one_by_one: Vec<&[&str]> = platforms.chunks(1).collect();
    assert_eq!(author(&one_by_one), at_once);
    assert_eq!(author(&[&platforms[2..4], &[], &platforms[0..1]]), at_once);
}

#[test]
fn a_foreign_artifact_is_completed() {
    let layouts = "good-oras good-empty-config good-white-space good-same-package-twice";
    for layout in layouts.split(' ') {
        let author = foreign(layout);
        let before = index(&author)["manifests"].as_array().unwrap().len();
        merge(&author);
        let after = index(&author);
        let entries = after["manifests"].as_array().unwrap().len();
        assert_eq!(entries, before + 1, "{layout}");
        let added = author
            .installs()
            .contains(&"1.0.0 freebsd_amd64".to_owned());
        assert!(added, "{layout}");
        let version = &after["annotations"]["org.opencontainers.image.version"];
        assert_eq!(version, "1.0.0", "{layout}");
    }
}

#[test]
fn foreign_entries_and_unknown_fields_survive() {
    let author = foreign("good-foreign-entries");
    let before = index(&author);
    merge(&author);
    let after = index(&author);
    let entries = after["manifests"].as_array().unwrap();
    for entry in before["manifests"].as_array().unwrap() {
        assert!(entries.contains(entry), "{entry}");
    }
    for (field, value) in before.as_object().unwrap() {
        if !["manifests", "annotations"].contains(&field.as_str()) {
            assert_eq!(&after[field], value, "{field}");
        }
    }
    author.installs();
}

#[test]
fn tags_of_other_tools_survive() {
    let author = foreign("good-cosign-tags");
    let tags = || {
        let mut all = Vec::new();
        tamper::tags(&author.path("store"), |tags| all = tags.clone());
        all
    };
    let before = tags();
    merge(&author);
    for entry in &before {
        let kept = tags().contains(entry);
        let is_ours = entry["annotations"]["org.opencontainers.image.ref.name"] == "1.0.0";
        assert_eq!(kept, !is_ours, "{entry}");
    }
    author.installs();
}

/// If no document covers the stored zips, a merge would leave packages without evidence.
#[test]
fn zips_that_no_signature_covers_are_not_merged() {
    let author = foreign("good-oras");
    author.untouched(|| author.push("--exact-repository").exits(3).without_result());
}

#[test]
fn several_versions_lie_side_by_side() {
    let author = Author::new();
    for version in ["1.0.0", "1.1.0-rc.1", "2.0.0+build.5"] {
        let folder = ReleaseFolder::new("demo", version).platform("linux_amd64");
        folder.write(&author.path("dist"));
        let named = format!("--provider acme/demo@{version}");
        author.push(named).succeeds();
    }
    let all = ["1.0.0", "1.1.0-rc.1", "2.0.0+build.5"];
    assert_eq!(
        author.installs(),
        all.map(|version| format!("{version} linux_amd64"))
    );
    assert!(author.tagged("2.0.0_build.5").is_some());
    assert!(author.tagged("evidence-2.0.0_build.5").is_some());
}

#[test]
fn the_same_zip_under_another_name_is_the_same_package() {
    let author = Author::pushed();
    let tagged = author.tagged("1.0.0");
    author.releases(two_platforms().v_in_names());
    author.push("").succeeds();
    assert_eq!(author.tagged("1.0.0"), tagged);
    author.installs();
}

/// A provider that is a script has the same zip for every platform.
#[test]
fn equal_zips_are_written_once_and_counted_as_equal() {
    let files: &[(&str, &[u8])] = &[("terraform-provider-demo_v1.0.0", b"#!/bin/sh\n")];
    let platforms = ["darwin_arm64", "linux_amd64", "linux_arm64"];
    let folder = ReleaseFolder::new("demo", "1.0.0");
    let author = Author::of(
        platforms
            .iter()
            .fold(folder, |one, at| one.package(at, files)),
    );
    let plan = author.push("--dry-run").succeeds();
    plan.says("Would registry.opentofu.org/acme/demo 1.0.0 3 170 signed [ACME ID] pinned Would 1 1 170 2 [TIME]");
    let run = author.push("").succeeds();
    run.says("Copied registry.opentofu.org/acme/demo 1.0.0 3 170 signed [ACME ID] pinned Pushed 1 1 170 2 [TIME]");
    let again = author.push("").succeeds();
    again.says(
        "Present registry.opentofu.org/acme/demo 1.0.0 3 signed [ACME ID] pinned Pushed 3 [TIME]",
    );
    assert_eq!(author.installs(), installed("1.0.0", &platforms));
}
