//! A push repairs missing and damaged blobs, and mounts blobs of other repositories.

use std::fs;
use std::os::unix::fs::MetadataExt as _;

use serde_json::Value;

use crate::support::author::Author;
use crate::support::judge;

const LINUX: &str = "linux_amd64";

fn status(author: &Author, more: &str) -> Value {
    let run = author.push(format!("--format json {more}")).succeeds();
    run.json()["providers"][0].clone()
}

/// The status of the version, and of its packages.
fn statuses(author: &Author, more: &str) -> String {
    let status = status(author, more);
    let packages = status["packages"].as_array().unwrap().iter();
    let all = [&status].into_iter().chain(packages);
    let all = all.map(|one| one["status"].as_str().unwrap());
    all.collect::<Vec<_>>().join(" ")
}

#[test]
fn a_missing_or_truncated_package_is_repaired() {
    let author = Author::pushed();
    let good = author.tree();
    let path = author.blob(&author.zip_hex(LINUX));
    let damages: [&dyn Fn(); 3] = [
        &|| fs::remove_file(&path).unwrap(),
        &|| fs::write(&path, "short").unwrap(),
        &|| fs::write(&path, [0; 5000]).unwrap(),
    ];
    for damage in damages {
        damage();
        let planned = status(&author, "--dry-run");
        assert_eq!(planned["status"], "planned");
        assert_eq!(planned["packages"][1]["status"], "planned");
        assert_eq!(statuses(&author, ""), "updated present copied");
        assert_eq!(author.tree(), good);
    }
    author.installs();
}

#[test]
fn missing_manifests_and_indexes_are_repaired() {
    let author = Author::pushed();
    let good = author.tree();
    let index = author.document("1.0.0");
    let entries = index["manifests"].as_array().unwrap().iter();
    let whole = author.blob(&author.tagged("1.0.0").unwrap());
    for path in entries.map(|entry| author.described(entry)).chain([whole]) {
        let damages: [&dyn Fn(); 2] = [&|| fs::remove_file(&path).unwrap(), &|| {
            fs::write(&path, "{}").unwrap()
        }];
        for damage in damages {
            damage();
            assert_eq!(status(&author, "")["status"], "updated");
            assert_eq!(author.tree(), good);
        }
    }
}

/// An unreadable index may have had more platforms. It is rebuilt only if this release has all of them.
#[test]
fn an_index_with_more_platforms_is_not_rebuilt_from_fewer() {
    let author = Author::pushed();
    fs::remove_file(author.blob(&author.tagged("1.0.0").unwrap())).unwrap();
    author.untouched(|| {
        author
            .push("--platform linux_amd64")
            .exits(1)
            .without_result()
    });
    author.push("").succeeds();
    assert_eq!(author.installs().len(), 2);
}

/// A damaged blob of the right size is not reused.
#[test]
fn a_damaged_blob_is_not_reused_for_a_new_version() {
    let author = Author::with_release();
    let path = author.blob(&author.zip_hex(LINUX));
    let size = fs::read(author.zip(LINUX)).unwrap().len();
    author.scene.write(&path, vec![0; size]);
    author.push("").succeeds();
    assert_eq!(author.installs().len(), 2);
}

/// Damaged content of the right size is found by commands that read every byte: replacements and installations.
#[test]
fn a_package_of_the_right_size_is_repaired_by_a_replacement() {
    let author = Author::pushed();
    let good = author.tree();
    let path = author.blob(&author.zip_hex(LINUX));
    let size = fs::read(&path).unwrap().len();
    fs::write(&path, vec![0; size]).unwrap();
    assert_eq!(status(&author, "")["status"], "present");
    let replace = "--existing replace";
    let planned = statuses(&author, "--existing replace --dry-run");
    assert_eq!(planned, "planned present planned");
    assert_eq!(statuses(&author, replace), "updated present copied");
    assert_eq!(author.tree(), good);
    author.installs();
    assert_eq!(status(&author, replace)["status"], "present");
}

/// Commands that read a damaged store advise it.
#[test]
fn a_replacement_repairs_every_damaged_part() {
    let author = Author::pushed();
    let good = author.tree();
    let blobs = author.repository("blobs/sha256");
    for entry in fs::read_dir(&blobs).unwrap() {
        let path = entry.unwrap().path();
        let bytes = fs::read(&path).unwrap();
        let damages: [&dyn Fn(); 3] = [
            &|| fs::remove_file(&path).unwrap(),
            &|| fs::write(&path, &bytes[1..]).unwrap(),
            &|| fs::write(&path, vec![b'x'; bytes.len()]).unwrap(),
        ];
        for damage in damages {
            damage();
            author.push("--existing replace").succeeds();
            assert_eq!(author.tree(), good, "{}", path.display());
        }
    }
}

#[test]
fn a_package_of_another_repository_is_mounted() {
    let author = Author::pushed();
    let other = "--provider example.com/acme/demo";
    assert_eq!(statuses(&author, other), "copied mounted mounted");
    let zip = author.zip_hex(LINUX);
    let twins = author
        .scene
        .path("store/example.com/acme/demo/blobs/sha256");
    let inode = |path| fs::metadata(path).unwrap().ino();
    assert_eq!(inode(author.blob(&zip)), inode(twins.join(&zip)));
    assert_eq!(judge::installs(&author.scene.path("store")).len(), 4);
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
    let store = author.scene.path("store/example.com");
    assert_eq!(judge::installs(&store).len(), 2);
}

#[test]
fn an_interrupted_push_is_finished_by_the_next() {
    let author = Author::with_release();
    let whole = Author::with_release();
    let signature = "dist/terraform-provider-demo_1.0.0_SHA256SUMS.sig";
    fs::copy(author.scene.path(signature), whole.scene.path(signature)).unwrap();
    whole.push("").succeeds();
    // One blob is complete, and another one was being written.
    let zip = author.zip_hex(LINUX);
    fs::create_dir_all(author.repository("blobs/sha256")).unwrap();
    fs::copy(whole.blob(&zip), author.blob(&zip)).unwrap();
    author
        .scene
        .write(author.repository("blobs/sha256/.tfoci-tmp-000000"), "half");
    let outcome = status(&author, "");
    assert_eq!(outcome["packages"][1]["status"], "present");
    assert_eq!(author.tree(), whole.tree());
    author.installs();
}

#[test]
fn a_layout_that_lost_its_list_of_tags_is_not_written() {
    let author = Author::pushed();
    // A copy of a layout that stopped before the last two files has neither.
    for lost in ["index.json", "oci-layout"] {
        fs::remove_file(author.repository(lost)).unwrap();
        let before = author.tree();
        for more in ["--dry-run", "", "--existing replace"] {
            let run = author.push(more).exits(1);
            run.says("error registry.opentofu.org/acme/demo expected index.json");
            assert_eq!(author.tree(), before);
        }
    }
    // Started anew, as the hint advises.
    fs::remove_dir_all(author.repository("")).unwrap();
    author.push("").succeeds();
    author.installs();
}

#[test]
fn a_first_write_that_was_interrupted_between_the_two_files_is_finished() {
    let whole = Author::with_release();
    whole.push("").succeeds();
    let no_tags = r#"{"schemaVersion":2,"manifests":[]}"#;
    for marker in [None, Some("oci-layout")] {
        let author = Author::with_release();
        let write = |name: &str, text: &str| author.scene.write(author.repository(name), text);
        write("index.json", no_tags);
        if let Some(name) = marker {
            let text = fs::read_to_string(whole.repository(name)).unwrap();
            write(name, &text);
        }
        assert_eq!(status(&author, "")["status"], "copied");
        author.installs();
    }
}
