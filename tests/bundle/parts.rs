use std::fs;

use super::{copy, members, push};
use crate::support::author::Author;
use crate::support::judge;
use crate::support::tar::Tar;

const LIMIT: u64 = 1_000_000;

/// Five versions of 500 KB, in parts of less than a megabyte.
fn split() -> Author {
    let author = Author::new();
    for (name, version) in [
        ("demo", "1.0.0"),
        ("demo", "1.1.0"),
        ("demo", "1.10.0"),
        ("other", "1.0.0"),
        ("other", "2.0.0"),
    ] {
        push(&author, name, version, 220_000);
    }
    copy(
        &author,
        "oci-layout:store",
        "bundle:all.tar",
        &["--split", "1MB"],
    )
    .succeeds();
    author
}

#[test]
fn each_part_is_a_complete_bundle_below_the_limit() {
    let author = split();
    let mut found = Vec::new();
    let mut set = None;
    for number in 1..=3 {
        let name = format!("all.tar.{number:03}");
        assert!(fs::metadata(author.scene.path(&name)).unwrap().len() < LIMIT);
        let tar = members(&author, &name);
        tar.assert_sound();
        let contents = tar.json("tfoci-bundle.json");
        assert_eq!(
            (&contents["parts"]["number"], &contents["parts"]["of"]),
            (&number.into(), &3.into())
        );
        assert_eq!(contents["parts"]["versions"].as_object().unwrap().len(), 5);
        let of = contents["parts"]["set"].clone();
        assert_eq!(*set.get_or_insert(of.clone()), of);
        for version in contents["versions"].as_array().unwrap() {
            found.push(format!("{} {}", version["address"], version["version"]).replace('"', ""));
        }
        let sums = fs::read_to_string(author.scene.path(format!("{name}.sha256"))).unwrap();
        let sum = judge::sha256(&author.scene.path(&name));
        assert_eq!(sums, format!("{sum}  {name}\n"));
        author
            .tfoci(&[
                "verify",
                "--from",
                &format!("bundle:{name}"),
                "--key",
                "acme.asc",
            ])
            .succeeds();
    }
    let host = "registry.opentofu.org/acme";
    let expected = [
        "demo 1.0.0",
        "demo 1.1.0",
        "demo 1.10.0",
        "other 1.0.0",
        "other 2.0.0",
    ];
    assert_eq!(found, expected.map(|one| format!("{host}/{one}")));
}

#[test]
fn parts_are_read_together_or_in_any_order() {
    let author = split();
    copy(&author, "bundle:all.tar", "oci-layout:together", &[]).succeeds();
    for number in [3, 1, 2] {
        copy(
            &author,
            &format!("bundle:all.tar.00{number}"),
            "oci-layout:alone",
            &[],
        )
        .succeeds();
    }
    let [store, together, alone] =
        ["store", "together", "alone"].map(|name| judge::tree(&author.scene.path(name)));
    assert!(store == together && store == alone);
    copy(&author, "bundle:all.tar", "bundle:one.tar", &[]).succeeds();
    copy(&author, "oci-layout:store", "bundle:two.tar", &[]).succeeds();
    let [one, two] = ["one.tar", "two.tar"].map(|name| fs::read(author.scene.path(name)).unwrap());
    assert!(one == two);
}

#[test]
fn a_missing_part_loses_its_versions_only() {
    let author = split();
    fs::remove_file(author.scene.path("all.tar.002")).unwrap();
    let run = copy(&author, "bundle:all.tar", "oci-layout:back", &[]).exits(1);
    run.says("Warning all.tar.002 error all.tar.002 registry.opentofu.org/acme/demo 1.10.0 registry.opentofu.org/acme/other 1.0.0");
    let list = author
        .tfoci(&["versions", "acme/demo", "--from", "oci-layout:back"])
        .succeeds();
    assert_eq!(list.stdout, "1.0.0\n1.1.0\n");
    let list = author
        .tfoci(&["versions", "acme/other", "--from", "oci-layout:back"])
        .succeeds();
    assert_eq!(list.stdout, "2.0.0\n");
    author
        .tfoci(&["verify", "--from", "bundle:all.tar"])
        .exits(1);
    author
        .tfoci(&["list", "--from", "bundle:all.tar"])
        .succeeds()
        .says("Warning all.tar.002");
    // Who names a part means that part.
    author
        .tfoci(&["verify", "--from", "bundle:all.tar.001"])
        .succeeds();
}

#[test]
fn parts_of_two_sets_are_not_mixed() {
    let author = split();
    let mine = fs::read(author.scene.path("all.tar.002")).unwrap();
    push(&author, "zoo", "1.0.0", 220_000);
    let more = ["--split", "1MB", "--overwrite"];
    copy(&author, "oci-layout:store", "bundle:all.tar", &more).succeeds();
    author.scene.write("all.tar.002", &mine);
    let before = author.tree();
    copy(&author, "bundle:all.tar", "oci-layout:back", &[])
        .exits(1)
        .says("error all.tar.002");
    assert_eq!(author.tree(), before);
    // The same part twice.
    let first = fs::read(author.scene.path("all.tar.001")).unwrap();
    author.scene.write("all.tar.002", first);
    copy(&author, "bundle:all.tar", "oci-layout:back", &[])
        .exits(1)
        .says("error all.tar.002");
}

#[test]
fn a_version_that_does_not_fit_is_named_with_its_size() {
    let author = split();
    push(&author, "large", "1.0.0", 600_000);
    let before = author.tree();
    for more in [&["--split", "1MB"][..], &["--split", "1MB", "--dry-run"]] {
        let run = copy(&author, "oci-layout:store", "bundle:new.tar", more).exits(1);
        run.says("error new.tar expected 1000000 registry.opentofu.org/acme/large 1.0.0 received")
            .without_result();
    }
    assert_eq!(author.tree(), before);
}

/// A delta may be split, too.
#[test]
fn parts_of_a_delta_have_what_the_far_side_needs() {
    let author = split();
    copy(
        &author,
        "oci-layout:store",
        "oci-layout:far",
        &["acme/demo@1.1.0"],
    )
    .succeeds();
    let list = author
        .tfoci(&["have", "--from", "oci-layout:far"])
        .succeeds()
        .stdout;
    author.scene.write("have.json", &list);
    let more = ["--split", "1MB", "--base", "have.json"];
    copy(&author, "oci-layout:store", "bundle:delta.tar", &more).succeeds();
    copy(&author, "bundle:delta.tar", "oci-layout:far", &[]).succeeds();
    let [near, far] = ["store", "far"].map(|name| judge::tree(&author.scene.path(name)));
    assert_eq!(near, far);
    crate::schema::follows("have", &serde_json::from_str(&list).unwrap());
    let first: Tar = members(&author, "delta.tar.001");
    assert_eq!(
        first.json("tfoci-bundle.json")["base"]["omitted"]
            .as_array()
            .unwrap()
            .len(),
        2
    );
}

#[test]
fn files_that_are_no_parts_of_one_set_are_refused() {
    let author = split();
    let write = |name: &str, tar: &Tar| author.scene.write(name, tar.write());
    let changed = |from: &str, to: &str| {
        let mut tar = members(&author, "all.tar.002");
        let text = String::from_utf8(tar.0[1].bytes.clone()).unwrap();
        assert!(text.contains(from), "{from}");
        tar.0[1].bytes = text.replacen(from, to, 1).into_bytes();
        tar
    };
    let first = members(&author, "all.tar.001");
    copy(&author, "oci-layout:store", "bundle:whole.tar", &[]).succeeds();
    for (case, second) in [
        ("a whole bundle", members(&author, "whole.tar")),
        ("number 0", changed("\"number\":2", "\"number\":0")),
        ("number 4", changed("\"number\":2", "\"number\":4")),
        ("of 9", changed("\"of\":3", "\"of\":9")),
        ("another list", changed("demo 1.0.0", "demo 1.0.9")),
        ("the same number", first.clone()),
    ] {
        for (one, two) in [(&first, &second), (&second, &first)] {
            write("bad.tar.001", one);
            write("bad.tar.002", two);
            let run = copy(&author, "bundle:bad.tar", "oci-layout:back", &[]).exits(1);
            assert!(run.stderr.contains("bad.tar.00"), "{case} {}", run.stderr);
            assert!(!author.scene.path("back").exists(), "{case}");
        }
    }
}
