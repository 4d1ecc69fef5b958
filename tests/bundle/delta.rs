use std::fs;

use super::{bundled, copy, filled, members, push, push_elsewhere, verifies, zips};
use crate::support::author::Author;
use crate::support::judge;

/// The near side has three versions, and the far side one of them.
fn sides() -> Author {
    let author = filled();
    copy(&author, "oci-layout:store oci-layout:far acme/demo@1.0.0").succeeds();
    author
}

const DELTA_TO_FAR: &str = "bundle:delta.tar oci-layout:far";

/// The number of packages that a bundle states.
fn packages(author: &Author, name: &str) -> serde_json::Value {
    members(author, name).json("tfoci-bundle.json")["members"][2].clone()
}

/// What `tfoci have` prints of a store, in a file.
fn have(author: &Author, store: &str) -> String {
    let run = author.line(format!("have --from {store}")).succeeds();
    author.write("have.json", &run.stdout);
    run.stdout
}

#[test]
fn a_delta_has_everything_but_what_the_far_side_has() {
    let author = sides();
    have(&author, "oci-layout:far");
    bundled(&author, "delta.tar", "--base have.json");
    let tar = members(&author, "delta.tar");
    tar.assert_sound();
    let contents = tar.json("tfoci-bundle.json");
    assert_eq!(contents["versions"].as_array().unwrap().len(), 3);
    let list = judge::sha256(&author.path("have.json"));
    assert_eq!(contents["base"]["digest"], format!("sha256:{list}"));
    for hex in zips(&author, "dist-demo-1.0.0") {
        assert!(!tar.has(&hex));
        assert!(contents["base"]["omitted"].to_string().contains(&hex));
    }
    for folder in ["dist-demo-1.1.0", "dist-other-2.0.0+b.1"] {
        assert!(zips(&author, folder).iter().all(|hex| tar.has(hex)));
    }
    // Signatures verify from the delta alone.
    verifies(&author, "bundle:delta.tar");
    let install = "install acme/demo@1.0.0 --into mirror --from bundle:delta.tar";
    author.line(install).exits(1);
    let pinned = "--key acme.asc --require-pinned";
    copy(&author, format!("{DELTA_TO_FAR} {pinned}")).succeeds();
    assert_eq!(author.tree_of("store"), author.tree_of("far"));
}

#[test]
fn a_far_side_without_the_rest_gets_nothing() {
    let author = sides();
    have(&author, "oci-layout:far");
    bundled(&author, "delta.tar", "--base have.json");
    let lost = author.path("far/registry.opentofu.org/acme/demo/blobs/sha256");
    let lost = lost.join(zips(&author, "dist-demo-1.0.0").pop().unwrap());
    let lose_one = || fs::remove_file(&lost).unwrap();
    let lose_all = || fs::remove_dir_all(author.path("far")).unwrap();
    for lose in [&lose_one as &dyn Fn(), &lose_all] {
        lose();
        let before = author.tree();
        for more in ["", " --dry-run"] {
            let run = copy(&author, format!("{DELTA_TO_FAR}{more}")).exits(1);
            let run = run.without_result();
            run.says("error registry.opentofu.org/acme/demo@1.0.0");
        }
        assert_eq!(author.tree(), before);
    }
    // What does not need it is copied.
    copy(&author, "bundle:delta.tar oci-layout:far acme/other").succeeds();
    // The near side writes what was missing.
    bundled(&author, "rest.tar", "acme/demo@1.0.0");
    copy(&author, "bundle:rest.tar oci-layout:far").succeeds();
    copy(&author, "bundle:delta.tar oci-layout:far").succeeds();
    verifies(&author, "oci-layout:far");
}

/// A list with packages that nobody has makes no difference, and one that names packages which the far side has not is found out there.
#[test]
fn a_base_that_lies_cannot_leave_a_hole() {
    let author = sides();
    let lie = have(&author, "oci-layout:store");
    bundled(&author, "delta.tar", "--base have.json");
    assert_eq!(packages(&author, "delta.tar"), 0);
    let before = author.tree();
    let run = copy(&author, "bundle:delta.tar oci-layout:far").exits(1);
    let run = run.without_result();
    run.says(
        "error registry.opentofu.org/acme/demo@1.1.0 registry.opentofu.org/acme/other@2.0.0+b.1",
    );
    assert_eq!(author.tree(), before);
    let foreign = lie.replace("acme/", "stranger/");
    author.write("have.json", foreign);
    bundled(&author, "full.tar", "--base have.json");
    assert_eq!(packages(&author, "full.tar"), 6);
    let next = "{\"format\":2,\"versions\":[]}";
    for wrong in ["{}", "[]", next, "", "{\"format\":1"] {
        author.write("have.json", wrong);
        copy(&author, "oci-layout:store bundle:x.tar --base have.json").without_result();
        assert!(!author.path("x.tar").exists(), "{wrong}");
    }
}

/// Two providers may share a zip, and the store of the far side has it for one of them.
#[test]
fn a_package_counts_for_its_own_provider_only() {
    let author = sides();
    have(&author, "oci-layout:far");
    push_elsewhere(&author);
    bundled(&author, "delta.tar", "--base have.json");
    copy(&author, "bundle:delta.tar oci-layout:far").succeeds();
    verifies(&author, "oci-layout:far");
}

/// One-way links: the base is what was sent.
#[test]
fn an_earlier_bundle_or_its_list_is_a_base() {
    let author = filled();
    copy(&author, "oci-layout:store bundle:first.tar acme/demo@1.0.0").succeeds();
    let list = members(&author, "first.tar");
    author.write("first.json", list.get("tfoci-bundle.json").unwrap());
    for base in ["first.tar", "first.json"] {
        let more = format!("--base {base} --overwrite");
        bundled(&author, "second.tar", &more);
        assert_eq!(packages(&author, "second.tar"), 4, "{base}");
    }
    // A delta of a delta: what the first one left out counts as sent.
    push(&author, "demo", "1.2.0", 100);
    bundled(&author, "third.tar", "--base second.tar");
    assert_eq!(packages(&author, "third.tar"), 2);
    for bundle in ["first", "second", "third"] {
        let line = format!("bundle:{bundle}.tar oci-layout:far");
        copy(&author, line).succeeds();
    }
    assert_eq!(author.tree_of("store"), author.tree_of("far"));
}
