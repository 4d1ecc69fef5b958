use std::fs;

use super::{bundled, copy, filled, members, push, push_elsewhere, zips};
use crate::support::author::Author;
use crate::support::judge;

/// The near side has three versions, and the far side one of them.
fn sides() -> Author {
    let author = filled();
    copy(
        &author,
        "oci-layout:store",
        "oci-layout:far",
        &["acme/demo@1.0.0"],
    )
    .succeeds();
    author
}

/// What `tfoci have` prints of a store, in a file.
fn have(author: &Author, store: &str) -> String {
    let list = author.tfoci(&["have", "--from", store]).succeeds().stdout;
    author.scene.write("have.json", &list);
    list
}

#[test]
fn a_delta_has_everything_but_what_the_far_side_has() {
    let author = sides();
    have(&author, "oci-layout:far");
    bundled(&author, "delta.tar", &["--base", "have.json"]);
    let tar = members(&author, "delta.tar");
    tar.assert_sound();
    let contents = tar.json("tfoci-bundle.json");
    assert_eq!(contents["versions"].as_array().unwrap().len(), 3);
    let list = judge::sha256(&author.scene.path("have.json"));
    assert_eq!(contents["base"]["digest"], format!("sha256:{list}"));
    for hex in zips(&author, "dist-demo-1.0.0") {
        assert!(!tar.has(&hex));
        assert!(contents["base"]["omitted"].to_string().contains(&hex));
    }
    for folder in ["dist-demo-1.1.0", "dist-other-2.0.0+b.1"] {
        assert!(zips(&author, folder).iter().all(|hex| tar.has(hex)));
    }
    // Signatures verify from the delta alone.
    author
        .tfoci(&["verify", "--from", "bundle:delta.tar", "--key", "acme.asc"])
        .succeeds();
    author
        .line("install acme/demo@1.0.0 --into mirror --from bundle:delta.tar")
        .exits(1);
    let pinned = ["--key", "acme.asc", "--require-pinned"];
    copy(&author, "bundle:delta.tar", "oci-layout:far", &pinned).succeeds();
    let [near, far] = ["store", "far"].map(|name| judge::tree(&author.scene.path(name)));
    assert_eq!(near, far);
}

#[test]
fn a_far_side_without_the_rest_gets_nothing() {
    let author = sides();
    have(&author, "oci-layout:far");
    bundled(&author, "delta.tar", &["--base", "have.json"]);
    let lost = author
        .scene
        .path("far/registry.opentofu.org/acme/demo/blobs/sha256");
    let lost = lost.join(zips(&author, "dist-demo-1.0.0").pop().unwrap());
    let lose_one = || fs::remove_file(&lost).unwrap();
    let lose_all = || fs::remove_dir_all(author.scene.path("far")).unwrap();
    for lose in [&lose_one as &dyn Fn(), &lose_all] {
        lose();
        let before = author.tree();
        for more in [&[][..], &["--dry-run"]] {
            let run = copy(&author, "bundle:delta.tar", "oci-layout:far", more).exits(1);
            run.says("error registry.opentofu.org/acme/demo@1.0.0")
                .without_result();
        }
        assert_eq!(author.tree(), before);
    }
    // What does not need it is copied.
    copy(
        &author,
        "bundle:delta.tar",
        "oci-layout:far",
        &["acme/other"],
    )
    .succeeds();
    // The near side writes what was missing.
    let missing = ["acme/demo@1.0.0", "--overwrite"];
    copy(&author, "oci-layout:store", "bundle:rest.tar", &missing).succeeds();
    copy(&author, "bundle:rest.tar", "oci-layout:far", &[]).succeeds();
    copy(&author, "bundle:delta.tar", "oci-layout:far", &[]).succeeds();
    author
        .tfoci(&["verify", "--from", "oci-layout:far", "--key", "acme.asc"])
        .succeeds();
}

/// A list with packages that nobody has makes no difference, and one that names packages which the far side has not is found out there.
#[test]
fn a_base_that_lies_cannot_leave_a_hole() {
    let author = sides();
    let lie = have(&author, "oci-layout:store");
    bundled(&author, "delta.tar", &["--base", "have.json"]);
    assert!(members(&author, "delta.tar").json("tfoci-bundle.json")["members"][2] == 0);
    let before = author.tree();
    let run = copy(&author, "bundle:delta.tar", "oci-layout:far", &[]).exits(1);
    run.says(
        "error registry.opentofu.org/acme/demo@1.1.0 registry.opentofu.org/acme/other@2.0.0+b.1",
    )
    .without_result();
    assert_eq!(author.tree(), before);
    let foreign = lie.replace("acme/", "stranger/");
    author.scene.write("have.json", foreign);
    bundled(&author, "full.tar", &["--base", "have.json"]);
    assert!(members(&author, "full.tar").json("tfoci-bundle.json")["members"][2] == 6);
    for wrong in [
        "{}",
        "[]",
        "{\"format\":2,\"versions\":[]}",
        "",
        "{\"format\":1",
    ] {
        author.scene.write("have.json", wrong);
        copy(
            &author,
            "oci-layout:store",
            "bundle:x.tar",
            &["--base", "have.json"],
        )
        .without_result();
        assert!(!author.scene.path("x.tar").exists(), "{wrong}");
    }
}

/// Two providers may share a zip, and the store of the far side has it for one of them.
#[test]
fn a_package_counts_for_its_own_provider_only() {
    let author = sides();
    have(&author, "oci-layout:far");
    push_elsewhere(&author);
    bundled(&author, "delta.tar", &["--base", "have.json"]);
    copy(&author, "bundle:delta.tar", "oci-layout:far", &[]).succeeds();
    author
        .tfoci(&["verify", "--from", "oci-layout:far", "--key", "acme.asc"])
        .succeeds();
}

/// One-way links: the base is what was sent.
#[test]
fn an_earlier_bundle_or_its_list_is_a_base() {
    let author = filled();
    copy(
        &author,
        "oci-layout:store",
        "bundle:first.tar",
        &["acme/demo@1.0.0"],
    )
    .succeeds();
    let list = members(&author, "first.tar");
    author
        .scene
        .write("first.json", list.get("tfoci-bundle.json").unwrap());
    for base in ["first.tar", "first.json"] {
        bundled(&author, "second.tar", &["--base", base, "--overwrite"]);
        assert_eq!(
            members(&author, "second.tar").json("tfoci-bundle.json")["members"][2],
            4
        );
    }
    // A delta of a delta: what the first one left out counts as sent.
    push(&author, "demo", "1.2.0", 100);
    bundled(&author, "third.tar", &["--base", "second.tar"]);
    assert_eq!(
        members(&author, "third.tar").json("tfoci-bundle.json")["members"][2],
        2
    );
    for bundle in ["first", "second", "third"] {
        copy(
            &author,
            &format!("bundle:{bundle}.tar"),
            "oci-layout:far",
            &[],
        )
        .succeeds();
    }
    let [near, far] = ["store", "far"].map(|name| judge::tree(&author.scene.path(name)));
    assert_eq!(near, far);
}

#[test]
fn a_version_that_the_store_has_in_part_is_not_had() {
    let author = filled();
    let hex = zips(&author, "dist-demo-1.1.0").pop().unwrap();
    fs::remove_file(author.blob(&hex)).unwrap();
    let run = author
        .tfoci(&["have", "--from", "oci-layout:store"])
        .succeeds();
    let list: serde_json::Value = serde_json::from_str(&run.stdout).unwrap();
    let versions = list["versions"].as_array().unwrap();
    let versions = versions.iter().map(|one| one["version"].as_str().unwrap());
    assert_eq!(versions.collect::<Vec<_>>(), ["1.0.0", "2.0.0+b.1"]);
    run.says("Warning registry.opentofu.org/acme/demo 1.1.0");
}
