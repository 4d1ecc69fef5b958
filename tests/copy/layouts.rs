use std::fs;

use super::{FROM, PROVIDER, TO, assert_same, blobs, copy, copy_demo, other, status};
use crate::support::author::Author;
use crate::support::{judge, testdata};

#[test]
fn every_byte_is_copied_and_a_second_run_has_nothing_to_do() {
    let author = Author::pushed();
    let reference = format!(
        "oci-layout:other/{PROVIDER}:1.0.0@sha256:{}\n",
        author.tagged("1.0.0").unwrap()
    );
    let run = copy(&author, FROM, TO, "").succeeds();
    assert_eq!(run.stdout, reference);
    run.says("Copied registry.opentofu.org/acme/demo 1.0.0 2 signed [ACME ID] embedded Copied 1 2 0 2 [TIME]");
    assert_same(&author);
    let again = author.untouched(|| copy(&author, FROM, TO, "").succeeds());
    assert_eq!(again.stdout, reference);
    again.says("Copied 2 [TIME]");
}

#[test]
#[cfg(unix)]
fn zips_are_hard_links_on_one_file_system() {
    use std::os::unix::fs::MetadataExt as _;
    let author = Author::pushed();
    // By the short name of the command.
    author
        .line(format!("cp --from {FROM} --to {TO}"))
        .succeeds();
    let hex = author.zip_hex("linux_amd64");
    let twin = other(&author).join("blobs/sha256").join(&hex);
    let inode = |path| fs::metadata(path).unwrap().ino();
    assert_eq!(inode(author.blob(&hex)), inode(twin));
}

#[test]
fn a_dry_run_reports_the_plan_and_writes_nothing() {
    let author = Author::pushed();
    let run = author.untouched(|| copy(&author, FROM, TO, "--dry-run").succeeds());
    run.says("Would registry.opentofu.org/acme/demo 1.0.0 2 813 signed [ACME ID] embedded Would 1 2 813 [TIME]");
}

/// Layouts that other tools made: every version that clients accept is copied with all its content, unless a member is duplicate.
#[test]
fn foreign_artifacts_stay_as_they_are() {
    let mut seen = 0;
    for entry in fs::read_dir(testdata("layouts")).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        if !name.starts_with("good-") && !name.starts_with("lenient-") {
            continue;
        }
        let author = Author::new();
        let source = testdata("layouts").join(&name);
        let from = format!("oci-layout:{}", source.display());
        let exact = "--exact-repository";
        let run = copy_demo(&author, &from, TO, exact);
        if name == "lenient-duplicate-keys" {
            assert_eq!(run.status, Some(3), "{name}: {}", run.stderr);
            continue;
        }
        assert_eq!(run.status, Some(0), "{name}: {}", run.stderr);
        let other = author.path("other");
        let (there, here) = (blobs(&source), blobs(&other));
        // Entries that clients ignore and unknown members are copied too.
        assert!(name != "good-foreign-entries" || here == there);
        // tfoci adds the empty config blob if another tool left it out.
        let alien = |path: &&String| !there.contains_key(*path) && !path.contains("44136fa355b3");
        assert_eq!(here.keys().find(alien), None, "{name}");
        assert_eq!(judge::installs(&other), judge::installs(&source), "{name}");
        let again = copy_demo(&author, &from, TO, exact);
        again.tells("Copied nothing");
        seen += 1;
    }
    assert!(seen > 15);
}

/// tfoci refuses what clients refuse, and leaves no tag behind.
#[test]
fn artifacts_that_clients_refuse_are_not_copied() {
    const INDEX: &str = "application/vnd.oci.image.index.v1+json";
    for (name, status, word) in [
        ("tag-is-module", 1, "application/vnd.opentofu.modulepkg"),
        ("index-tampered", 3, "index"),
        ("entry-is-index", 1, INDEX),
        ("manifest-missing", 1, "missing"),
        ("manifest-tampered", 3, "manifest"),
        ("layer-ambiguous", 1, "several"),
        ("package-tampered", 3, "digest"),
        ("package-truncated", 3, "fewer"),
        ("package-missing", 1, "missing"),
        ("entry-digest-md5", 1, "digest"),
    ] {
        let author = Author::new();
        let from = format!("oci-layout:{}", testdata("layouts").join(name).display());
        let run = copy_demo(&author, &from, TO, "--exact-repository");
        let run = run.exits(status).without_result();
        run.says(&format!("error {from} {word}"));
        let index = author.path("other/index.json");
        assert!(!index.exists(), "{name}");
    }
}

#[test]
fn damaged_content_of_the_destination_is_repaired() {
    let author = Author::pushed();
    copy(&author, FROM, TO, "").succeeds();
    let whole = author.tree_of("other");
    let blobs = fs::read_dir(other(&author).join("blobs/sha256")).unwrap();
    let blobs: Vec<_> = blobs.map(|blob| blob.unwrap().path()).collect();
    for blob in blobs {
        fs::remove_file(&blob).unwrap();
        assert_eq!(status(&author, ""), "updated", "{}", blob.display());
        assert_eq!(author.tree_of("other"), whole, "{}", blob.display());
    }
}

/// Without addresses, everything is to be copied or installed.
#[test]
fn an_incomplete_layout_of_a_whole_store_fails_the_command() {
    let author = Author::pushed();
    let other = "registry.opentofu.org/acme/other";
    let path = author.path("store").join(other);
    fs::create_dir_all(path.join("blobs")).unwrap();
    let error = format!("error store/{other} expected index.json");
    for more in ["", "--dry-run"] {
        for (command, to) in [
            ("copy", "--to=oci-layout:other"),
            ("install", "--into=into --platform all"),
        ] {
            let line = format!("{command} --from oci-layout:store {to}");
            let run = author.line(format!("{line} -q {more}"));
            run.exits(1).says(&error);
            let run = author.line(format!("{line} --format json {more}"));
            let document = run.exits(1).json();
            assert_eq!(document["error"]["category"], "malformed", "{document}");
            // The others are done all the same.
            assert_eq!(document["providers"].as_array().unwrap().len(), 1);
        }
    }
    let named = format!("copy {PROVIDER} --from oci-layout:store --to oci-layout:other");
    author.line(named).succeeds();
}

#[test]
fn a_package_that_is_missing_is_found() {
    let author = Author::pushed();
    let hex = author.zip_hex("linux_amd64");
    let blob = author.blob(&hex);
    fs::remove_file(&blob).unwrap();
    let run = copy(&author, FROM, TO, "").exits(1).without_result();
    let says = format!("error {PROVIDER} 1.0.0 linux_amd64 {FROM}/{PROVIDER} sha256:{hex}");
    run.says(&says);
    assert!(!other(&author).join("index.json").exists());
}
