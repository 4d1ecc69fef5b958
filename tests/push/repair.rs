//! A push repairs missing and damaged blobs, and mounts blobs of other repositories.

use std::fs;
use std::os::unix::fs::MetadataExt as _;

use super::pushed;
use crate::support::author::Author;
use crate::support::judge;

const LINUX: &str = "linux_amd64";

/// The status of the version, and of its packages.
fn statuses(author: &Author, more: &str) -> String {
    let provider = pushed(author, more);
    let packages = provider["packages"].as_array().unwrap().iter();
    let all = [&provider].into_iter().chain(packages);
    let all = all.map(|one| one["status"].as_str().unwrap());
    all.collect::<Vec<_>>().join(" ")
}

/// Damaged content of the right size is found by commands that read every byte: replacements and installations.
#[test]
fn a_damaged_package_is_repaired() {
    let author = Author::pushed();
    let good = author.tree();
    let path = author.blob(&author.zip_hex(LINUX));
    let size = fs::read(&path).unwrap().len();
    for (left, more) in [(0, ""), (5, ""), (5000, ""), (size, "--existing replace")] {
        match left {
            0 => fs::remove_file(&path).unwrap(),
            _ => fs::write(&path, vec![0; left]).unwrap(),
        }
        let planned = statuses(&author, &format!("--dry-run {more}"));
        assert_eq!(planned, "planned present planned");
        assert_eq!(statuses(&author, more), "updated present copied");
        assert_eq!(author.tree(), good);
        assert_eq!(statuses(&author, more), "present present present");
    }
    author.installs();
}

/// A replacement reads every byte, as commands that read a damaged store advise.
#[test]
fn every_damaged_part_is_repaired() {
    let author = Author::pushed();
    let good = author.tree();
    let blobs = fs::read_dir(author.repository("blobs/sha256")).unwrap();
    let blobs: Vec<_> = blobs.map(|blob| blob.unwrap().path()).collect();
    for path in blobs {
        let bytes = fs::read(&path).unwrap();
        let damages: [&dyn Fn(); 3] = [
            &|| fs::remove_file(&path).unwrap(),
            &|| fs::write(&path, &bytes[1..]).unwrap(),
            &|| fs::write(&path, vec![b'x'; bytes.len()]).unwrap(),
        ];
        for (at, damage) in damages.iter().enumerate() {
            for more in ["", "--existing replace"] {
                damage();
                // A push that replaces nothing looks only at the size of packages and of the empty config.
                let is_sized = bytes.starts_with(b"PK") || bytes == b"{}";
                let is_unread = at == 2 && more.is_empty() && is_sized;
                let expected = if is_unread { "present" } else { "updated" };
                let status = pushed(&author, more)["status"].clone();
                assert_eq!(status, expected, "{at} {more} {}", path.display());
                assert_eq!(author.tree() == good, !is_unread, "{}", path.display());
            }
        }
    }
}

/// An unreadable index may have had more platforms. It is rebuilt only if this release has all of them.
#[test]
fn an_index_with_more_platforms_is_not_rebuilt_from_fewer() {
    let author = Author::pushed();
    fs::remove_file(author.blob(&author.tagged("1.0.0").unwrap())).unwrap();
    let run = author.untouched(|| author.push("--platform linux_amd64"));
    run.exits(1).without_result();
    author.push("").succeeds();
    assert_eq!(author.installs().len(), 2);
}

/// A damaged blob of the right size is not reused.
#[test]
fn a_damaged_blob_is_not_reused_for_a_new_version() {
    let author = Author::with_release();
    let path = author.blob(&author.zip_hex(LINUX));
    let size = fs::read(author.zip(LINUX)).unwrap().len();
    author.write(&path, vec![0; size]);
    author.push("").succeeds();
    assert_eq!(author.installs().len(), 2);
}

#[test]
fn a_package_of_another_repository_is_mounted() {
    let author = Author::pushed();
    let other = "--provider example.com/acme/demo";
    assert_eq!(statuses(&author, other), "copied mounted mounted");
    let zip = author.zip_hex(LINUX);
    let twins = author.path("store/example.com/acme/demo/blobs/sha256");
    let inode = |path| fs::metadata(path).unwrap().ino();
    assert_eq!(inode(author.blob(&zip)), inode(twins.join(&zip)));
    assert_eq!(judge::installs(&author.path("store")).len(), 4);
}

#[test]
fn a_damaged_package_of_another_repository_is_not_mounted() {
    let author = Author::pushed();
    let path = author.blob(&author.zip_hex(LINUX));
    let mut bytes = fs::read(&path).unwrap();
    bytes[0] ^= 1;
    fs::write(&path, bytes).unwrap();
    let other = "--provider example.com/acme/demo";
    assert_eq!(statuses(&author, other), "copied mounted copied");
    let store = author.path("store/example.com");
    assert_eq!(judge::installs(&store).len(), 2);
}

#[test]
fn an_interrupted_push_is_finished_by_the_next() {
    let author = Author::with_release();
    let whole = Author::with_release();
    let signature = "dist/terraform-provider-demo_1.0.0_SHA256SUMS.sig";
    fs::copy(author.path(signature), whole.path(signature)).unwrap();
    whole.push("").succeeds();
    // One blob is complete, and another one was being written.
    let zip = author.zip_hex(LINUX);
    fs::create_dir_all(author.repository("blobs/sha256")).unwrap();
    fs::copy(whole.blob(&zip), author.blob(&zip)).unwrap();
    author.write(author.repository("blobs/sha256/.tfoci-tmp-000000"), "half");
    assert_eq!(statuses(&author, ""), "copied copied present");
    assert_eq!(author.tree(), whole.tree());
    author.installs();
}

#[test]
fn a_layout_that_lost_its_list_of_tags_is_not_written() {
    let author = Author::pushed();
    // A copy of a layout that stopped before the last two files has neither.
    for lost in ["index.json", "oci-layout"] {
        fs::remove_file(author.repository(lost)).unwrap();
        for more in ["--dry-run", "", "--existing replace"] {
            let run = author.untouched(|| author.push(more).exits(1));
            run.says("error registry.opentofu.org/acme/demo expected index.json");
        }
    }
    // Started anew, as the hint advises.
    fs::remove_dir_all(author.repository("")).unwrap();
    author.push("").succeeds();
    author.installs();
}

#[test]
fn a_first_write_that_was_interrupted_between_the_two_files_is_finished() {
    let whole = Author::pushed();
    let no_tags = r#"{"schemaVersion":2,"manifests":[]}"#;
    for marker in [None, Some("oci-layout")] {
        let author = Author::with_release();
        let write = |name: &str, text: &str| author.write(author.repository(name), text);
        write("index.json", no_tags);
        if let Some(name) = marker {
            let text = fs::read_to_string(whole.repository(name)).unwrap();
            write(name, &text);
        }
        assert_eq!(pushed(&author, "")["status"], "copied");
        author.installs();
    }
}
