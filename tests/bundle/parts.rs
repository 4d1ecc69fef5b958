use std::fs;

use super::{bundled, copy, members, push, read, verifies, with};
use crate::support::author::Author;
use crate::support::judge;
use crate::support::tar::Tar;

const LIMIT: u64 = 1_000_000;

const VERSIONS: [&str; 5] = [
    "demo 1.0.0",
    "demo 1.1.0",
    "demo 1.10.0",
    "other 1.0.0",
    "other 2.0.0",
];

/// Five versions of 500 KB, in parts of less than a megabyte.
fn split() -> Author {
    let author = Author::new();
    for version in VERSIONS {
        let (name, version) = version.split_once(' ').unwrap();
        push(&author, name, version, 220_000);
    }
    bundled(&author, "all.tar", "--split 1MB");
    author
}

#[test]
fn each_part_is_a_complete_bundle_below_the_limit() {
    let author = split();
    let mut found = Vec::new();
    let mut set = None;
    for number in 1..=3 {
        let name = format!("all.tar.{number:03}");
        assert!(fs::metadata(author.path(&name)).unwrap().len() < LIMIT);
        let tar = members(&author, &name);
        tar.assert_sound();
        let contents = tar.json("tfoci-bundle.json");
        let parts = &contents["parts"];
        assert_eq!([&parts["number"], &parts["of"]], [number, 3]);
        assert_eq!(parts["versions"].as_object().unwrap().len(), 5);
        let of = parts["set"].clone();
        assert_eq!(*set.get_or_insert(of.clone()), of);
        for version in contents["versions"].as_array().unwrap() {
            found.push(format!("{} {}", version["address"], version["version"]).replace('"', ""));
        }
        let sums = fs::read_to_string(author.path(format!("{name}.sha256"))).unwrap();
        let sum = judge::sha256(&author.path(&name));
        assert_eq!(sums, format!("{sum}  {name}\n"));
        verifies(&author, &format!("bundle:{name}"));
    }
    let host = "registry.opentofu.org/acme";
    assert_eq!(found, VERSIONS.map(|one| format!("{host}/{one}")));
}

#[test]
fn parts_are_read_together_or_in_any_order() {
    let author = split();
    copy(&author, "bundle:all.tar oci-layout:together").succeeds();
    for number in [3, 1, 2] {
        let line = format!("bundle:all.tar.00{number} oci-layout:alone");
        copy(&author, line).succeeds();
    }
    for copied in ["together", "alone"] {
        assert_eq!(author.tree_of(copied), author.tree_of("store"));
    }
    copy(&author, "bundle:all.tar bundle:one.tar").succeeds();
    copy(&author, "oci-layout:store bundle:two.tar").succeeds();
    assert!(read(&author, "one.tar") == read(&author, "two.tar"));
}

#[test]
fn a_missing_part_loses_its_versions_only() {
    let author = split();
    fs::remove_file(author.path("all.tar.002")).unwrap();
    let run = copy(&author, "bundle:all.tar oci-layout:back").exits(1);
    run.says("Warning all.tar.002 error all.tar.002 registry.opentofu.org/acme/demo 1.10.0 registry.opentofu.org/acme/other 1.0.0");
    for (name, versions) in [("demo", "1.0.0\n1.1.0\n"), ("other", "2.0.0\n")] {
        let list = author.line(format!("versions acme/{name} --from oci-layout:back"));
        assert_eq!(list.succeeds().stdout, versions);
    }
    author.line("verify --from bundle:all.tar").exits(1);
    let list = author.line("list --from bundle:all.tar").succeeds();
    list.says("Warning all.tar.002");
    // Who names a part means that part.
    author.line("verify --from bundle:all.tar.001").succeeds();
}

#[test]
fn parts_of_two_sets_are_not_mixed() {
    let author = split();
    let mine = read(&author, "all.tar.002");
    push(&author, "zoo", "1.0.0", 220_000);
    bundled(&author, "all.tar", "--split 1MB --overwrite");
    // And the same part twice.
    let first = read(&author, "all.tar.001");
    for second in [mine, first] {
        author.write("all.tar.002", second);
        let run = author.untouched(|| copy(&author, "bundle:all.tar oci-layout:back"));
        run.exits(1).says("error all.tar.002");
    }
}

#[test]
fn a_version_that_does_not_fit_is_named_with_its_size() {
    let author = split();
    push(&author, "large", "1.0.0", 600_000);
    let before = author.tree();
    for more in ["", " --dry-run"] {
        let split = format!("oci-layout:store bundle:new.tar --split 1MB{more}");
        let run = copy(&author, split).exits(1).without_result();
        run.says(
            "error bundle:new.tar expected 1000000 registry.opentofu.org/acme/large 1.0.0 received",
        );
    }
    assert_eq!(author.tree(), before);
}

/// A delta may be split, too.
#[test]
fn parts_of_a_delta_have_what_the_far_side_needs() {
    let author = split();
    copy(&author, "oci-layout:store oci-layout:far acme/demo@1.1.0").succeeds();
    let have = author.line("have --from oci-layout:far").succeeds();
    author.write("have.json", &have.stdout);
    bundled(&author, "delta.tar", "--split 1MB --base have.json");
    copy(&author, "bundle:delta.tar oci-layout:far").succeeds();
    assert_eq!(author.tree_of("store"), author.tree_of("far"));
    crate::schema::follows("have", &have.json());
    let first = members(&author, "delta.tar.001").json("tfoci-bundle.json");
    assert_eq!(first["base"]["omitted"].as_array().unwrap().len(), 2);
}

#[test]
fn files_that_are_no_parts_of_one_set_are_refused() {
    let author = split();
    let write = |name: &str, tar: &Tar| author.write(name, tar.write());
    let second = members(&author, "all.tar.002");
    let changed = |from: &str, to: &str| with(&second, 1, from, to);
    let first = members(&author, "all.tar.001");
    copy(&author, "oci-layout:store bundle:whole.tar").succeeds();
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
            let run = copy(&author, "bundle:bad.tar oci-layout:back").exits(1);
            assert!(run.stderr.contains("bad.tar.00"), "{case} {}", run.stderr);
            assert!(!author.path("back").exists(), "{case}");
        }
    }
}
