//! A push repairs missing and damaged blobs, and mounts blobs of other repositories.

use std::fs;
use std::os::unix::fs::MetadataExt as _;

use serde_json::Value;

use crate::support::author::Author;
use crate::support::judge::{self, sha256};

fn status(author: &Author, more: &[&str]) -> Value {
    let run = author
        .push(&[&["--format", "json"], more].concat())
        .succeeds();
    let document: Value = serde_json::from_str(&run.stdout).unwrap();
    document["providers"][0].clone()
}

fn zip(author: &Author) -> String {
    sha256(
        &author
            .scene
            .path("dist/terraform-provider-demo_1.0.0_linux_amd64.zip"),
    )
}

#[test]
fn a_missing_or_truncated_package_is_repaired() {
    let author = Author::with_release();
    author.push(&[]).succeeds();
    let good = author.tree();
    let path = author.blob(&zip(&author));
    let damages: [&dyn Fn(); 3] = [
        &|| fs::remove_file(&path).unwrap(),
        &|| fs::write(&path, "short").unwrap(),
        &|| fs::write(&path, [0; 5000]).unwrap(),
    ];
    for damage in damages {
        damage();
        let planned = status(&author, &["--dry-run"]);
        assert_eq!(
            (&planned["status"], &planned["packages"][1]["status"]),
            (&"planned".into(), &"planned".into())
        );
        let repaired = status(&author, &[]);
        assert_eq!(
            (&repaired["status"], &repaired["packages"][1]["status"]),
            (&"updated".into(), &"copied".into())
        );
        assert_eq!(repaired["packages"][0]["status"], "present");
        assert_eq!(author.tree(), good);
    }
    author.installs();
}

#[test]
fn missing_manifests_and_indexes_are_repaired() {
    let author = Author::with_release();
    author.push(&[]).succeeds();
    let good = author.tree();
    let index = author.document("1.0.0");
    let entries = index["manifests"].as_array().unwrap().iter();
    let digest = |entry: &Value| {
        entry["digest"]
            .as_str()
            .unwrap()
            .strip_prefix("sha256:")
            .unwrap()
            .to_owned()
    };
    let mut documents: Vec<String> = entries.map(digest).collect();
    documents.push(author.tagged("1.0.0").unwrap());
    for hex in documents {
        let path = author.blob(&hex);
        let damages: [&dyn Fn(); 2] = [&|| fs::remove_file(&path).unwrap(), &|| {
            fs::write(&path, "{}").unwrap()
        }];
        for damage in damages {
            damage();
            assert_eq!(status(&author, &[])["status"], "updated");
            assert_eq!(author.tree(), good);
        }
    }
}

/// An unreadable index may have had more platforms. It is rebuilt only if this release has all of them.
#[test]
fn an_index_with_more_platforms_is_not_rebuilt_from_fewer() {
    let author = Author::with_release();
    author.push(&[]).succeeds();
    fs::remove_file(author.blob(&author.tagged("1.0.0").unwrap())).unwrap();
    let before = author.tree();
    author
        .push(&["--platform", "linux_amd64"])
        .exits(1)
        .without_result();
    assert_eq!(author.tree(), before);
    author.push(&[]).succeeds();
    assert_eq!(author.installs().len(), 2);
}

/// A damaged blob of the right size is not reused.
#[test]
fn a_damaged_blob_is_not_reused_for_a_new_version() {
    let author = Author::with_release();
    let path = author.blob(&zip(&author));
    let size = fs::metadata(
        author
            .scene
            .path("dist/terraform-provider-demo_1.0.0_linux_amd64.zip"),
    )
    .unwrap()
    .len();
    author
        .scene
        .write(&path, vec![0; usize::try_from(size).unwrap()]);
    author.push(&[]).succeeds();
    assert_eq!(author.installs().len(), 2);
}

/// Damaged content of the right size is found by commands that read every byte: replacements and installations.
#[test]
fn a_package_of_the_right_size_is_repaired_by_a_replacement() {
    let author = Author::with_release();
    author.push(&[]).succeeds();
    let good = author.tree();
    let path = author.blob(&zip(&author));
    let size = fs::metadata(&path).unwrap().len();
    fs::write(&path, vec![0; usize::try_from(size).unwrap()]).unwrap();
    assert_eq!(status(&author, &[])["status"], "present");
    let planned = status(&author, &["--existing", "replace", "--dry-run"]);
    let repaired = status(&author, &["--existing", "replace"]);
    for (outcome, status) in [
        (planned, ["planned", "planned"]),
        (repaired, ["updated", "copied"]),
    ] {
        assert_eq!(outcome["status"], status[0]);
        assert_eq!(outcome["packages"][0]["status"], "present");
        assert_eq!(outcome["packages"][1]["status"], status[1]);
    }
    assert_eq!(author.tree(), good);
    author.installs();
    assert_eq!(
        status(&author, &["--existing", "replace"])["status"],
        "present"
    );
}

/// Commands that read a damaged store advise it.
#[test]
fn a_replacement_repairs_every_damaged_part() {
    let author = Author::with_release();
    author.push(&[]).succeeds();
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
            author.push(&["--existing", "replace"]).succeeds();
            assert_eq!(author.tree(), good, "{}", path.display());
        }
    }
}

#[test]
fn a_package_of_another_repository_is_mounted() {
    let author = Author::with_release();
    author.push(&[]).succeeds();
    let other = status(&author, &["--provider", "example.com/acme/demo"]);
    let statuses: Vec<&str> = other["packages"]
        .as_array()
        .unwrap()
        .iter()
        .map(|p| p["status"].as_str().unwrap())
        .collect();
    assert_eq!(
        (&other["status"], statuses),
        (&"copied".into(), vec!["mounted", "mounted"])
    );
    let blob = author.blob(&zip(&author));
    let twin = author
        .scene
        .path("store/example.com/acme/demo/blobs/sha256")
        .join(zip(&author));
    assert_eq!(
        fs::metadata(&blob).unwrap().ino(),
        fs::metadata(twin).unwrap().ino()
    );
    assert_eq!(judge::installs(&author.scene.path("store")).len(), 4);
}

#[test]
fn a_damaged_package_of_another_repository_is_not_mounted() {
    let author = Author::with_release();
    author.push(&[]).succeeds();
    let path = author.blob(&zip(&author));
    let mut bytes = fs::read(&path).unwrap();
    bytes[0] ^= 1;
    fs::write(&path, bytes).unwrap();
    let other = status(&author, &["--provider", "example.com/acme/demo"]);
    let statuses: Vec<&str> = other["packages"]
        .as_array()
        .unwrap()
        .iter()
        .map(|p| p["status"].as_str().unwrap())
        .collect();
    assert_eq!(statuses, ["mounted", "copied"]);
    assert_eq!(
        judge::installs(&author.scene.path("store/example.com")).len(),
        2
    );
}

#[test]
fn an_interrupted_push_is_finished_by_the_next() {
    let author = Author::with_release();
    let whole = Author::with_release();
    let signature = "dist/terraform-provider-demo_1.0.0_SHA256SUMS.sig";
    fs::copy(author.scene.path(signature), whole.scene.path(signature)).unwrap();
    whole.push(&[]).succeeds();
    // One blob is complete, and another one was being written.
    let zip = zip(&author);
    fs::create_dir_all(author.repository("blobs/sha256")).unwrap();
    fs::copy(whole.blob(&zip), author.blob(&zip)).unwrap();
    author
        .scene
        .write(author.repository("blobs/sha256/.tfoci-tmp-000000"), "half");
    let outcome = status(&author, &[]);
    assert_eq!(outcome["packages"][1]["status"], "present");
    assert_eq!(author.tree(), whole.tree());
    author.installs();
}

#[test]
fn a_layout_that_lost_its_list_of_tags_is_not_written() {
    let author = Author::with_release();
    author.push(&[]).succeeds();
    // A copy of a layout that stopped before the last two files has neither.
    for lost in ["index.json", "oci-layout"] {
        fs::remove_file(author.repository(lost)).unwrap();
        let before = author.tree();
        for more in [&["--dry-run"] as &[_], &[], &["--existing", "replace"]] {
            let run = author.push(more).exits(1);
            run.says("error registry.opentofu.org/acme/demo expected index.json");
            assert_eq!(author.tree(), before);
        }
    }
    // Started anew, as the hint advises.
    fs::remove_dir_all(author.repository("")).unwrap();
    author.push(&[]).succeeds();
    author.installs();
}

#[test]
fn a_first_write_that_was_interrupted_between_the_two_files_is_finished() {
    let whole = Author::with_release();
    whole.push(&[]).succeeds();
    let no_tags = r#"{"schemaVersion":2,"manifests":[]}"#;
    for marker in [None, Some("oci-layout")] {
        let author = Author::with_release();
        let write = |name: &str, text: &str| author.scene.write(author.repository(name), text);
        write("index.json", no_tags);
        if let Some(name) = marker {
            let text = fs::read_to_string(whole.repository(name)).unwrap();
            write(name, &text);
        }
        assert_eq!(status(&author, &[])["status"], "copied");
        author.installs();
    }
}
