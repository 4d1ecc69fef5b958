//! `tfoci have`: what a store has, for a bundle that leaves it out.

use std::fs;

use crate::bundle::{filled, zips};

#[test]
fn a_version_that_the_store_has_in_part_is_not_had() {
    let author = filled();
    let hex = zips(&author, "dist-demo-1.1.0").pop().unwrap();
    fs::remove_file(author.blob(&hex)).unwrap();
    let run = author.line("have --from oci-layout:store").succeeds();
    let list = run.json();
    let versions = list["versions"].as_array().unwrap();
    let versions = versions.iter().map(|one| one["version"].as_str().unwrap());
    assert_eq!(versions.collect::<Vec<_>>(), ["1.0.0", "2.0.0+b.1"]);
    run.says("Warning registry.opentofu.org/acme/demo 1.1.0");
}
