use std::fs;
use std::path::Path;

use serde_json::Value;

use super::{Mirrored, flip};
use crate::support::judge;
use crate::support::tamper::{alter, document, file, tagged, untag};

/// The first platform manifest of the version, and its package.
fn first(layout: &Path) -> [Value; 2] {
    let index = document(layout, &tagged(layout, "1.0.0"));
    let manifest = index["manifests"][0].clone();
    let package = document(layout, &manifest)["layers"][0].clone();
    [manifest, package]
}

fn evidence(layout: &Path) -> Value {
    document(layout, &tagged(layout, "evidence-1.0.0"))
}

/// A code, its exit code, and how a layout gets the fault.
type Fault = (&'static str, i32, fn(&Path));

const FAULTS: [Fault; 10] = [
    ("index-missing", 1, |layout| {
        fs::remove_file(file(layout, &tagged(layout, "1.0.0"))).unwrap();
    }),
    ("child-missing", 1, |layout| {
        fs::remove_file(file(layout, &first(layout)[0])).unwrap();
    }),
    ("package-missing", 1, |layout| {
        fs::remove_file(file(layout, &first(layout)[1])).unwrap();
    }),
    ("evidence-missing", 1, |layout| {
        untag(layout, "evidence-1.0.0")
    }),
    ("evidence-missing", 1, |layout| {
        fs::remove_file(file(layout, &evidence(layout)["layers"][0])).unwrap();
    }),
    ("size-differs", 3, |layout| {
        let package = file(layout, &first(layout)[1]);
        fs::write(&package, &fs::read(&package).unwrap()[1..]).unwrap();
    }),
    ("bytes-differ", 3, |layout| {
        flip(&file(layout, &first(layout)[0]))
    }),
    ("bytes-differ", 3, |layout| {
        flip(&file(layout, &tagged(layout, "1.0.0")))
    }),
    ("evidence-orphan", 0, |layout| untag(layout, "1.0.0")),
    ("not-verified", 3, |layout| {
        alter(layout, "evidence-1.0.0", |evidence| {
            evidence["layers"].as_array_mut().unwrap().remove(0);
        });
    }),
];

#[test]
fn each_fault_has_its_code_and_the_fix_heals_it() {
    let mirrored = Mirrored::new();
    mirrored.verify("--require-pinned").are_none();
    for (number, (code, exit, damage)) in FAULTS.into_iter().enumerate() {
        let store = format!("store{number}");
        let layout = mirrored.copy_to(&store);
        damage(&layout);
        let found = mirrored.verify_in(&store, "--require-pinned");
        let found = found.are(&[code], exit);
        let finding = &found.findings[0];
        assert_eq!(finding["version"], "1.0.0", "{finding}");
        let deep = mirrored.verify_in(&store, "--require-pinned --deep");
        deep.are(&[code], exit);
        if code == "not-verified" {
            continue;
        }
        mirrored.fix(finding);
        mirrored.verify_in(&store, "--require-pinned").are_none();
    }
}

#[test]
fn a_fix_asks_for_the_platforms_that_the_index_names() {
    let mirrored = Mirrored::of(super::demo(), "@1.0.0 --platform linux_amd64");
    let layout = mirrored.layout("store");
    fs::remove_file(file(&layout, &first(&layout)[0])).unwrap();
    let found = mirrored.verify("").are(&["child-missing"], 1);
    assert_eq!(found.findings[0]["platform"], "linux_amd64");
    mirrored.fix(&found.findings[0]);
    mirrored.verify("").are_none();
    let index = document(&layout, &tagged(&layout, "1.0.0"));
    assert_eq!(index["manifests"].as_array().unwrap().len(), 1);
}

/// Nothing is written, not even a lock.
#[test]
fn a_store_that_cannot_be_written_is_verified() {
    let mirrored = Mirrored::new();
    let store = mirrored.scene.path("store");
    let before = judge::tree(&store);
    mirrored.verify("--deep").are_none();
    assert_eq!(judge::tree(&store), before);
}

#[test]
fn a_file_in_the_place_of_a_layout_cannot_be_read() {
    let mirrored = Mirrored::new();
    fs::write(mirrored.layout("store").join("index.json"), "{").unwrap();
    let line = "verify [DEMO] --from oci-layout:store";
    mirrored.found(line).are(&["unreadable"], 1);
}
