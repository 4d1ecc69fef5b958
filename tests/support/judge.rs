//! Checks that everything in a store installs: the independent client reads every artifact of a test.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use super::{release, tofu_client};

/// Installs every platform of every version of every layout below a directory, or panics with the client's refusal.
///
/// Returns `LAYOUT VERSION PLATFORM zh:…` for each, sorted, with the layout's path below the directory.
#[track_caller]
pub fn installs(store: &Path) -> Vec<String> {
    let mut found = Vec::new();
    for layout in layouts(store) {
        let name = layout.strip_prefix(store).unwrap().display().to_string();
        for version in tofu_client::versions(&layout).expect(&name) {
            for (os, arch) in tofu_client::platforms(&layout, &version).expect(&name) {
                let what = format!("{name} {version} {os}_{arch}");
                let package = tofu_client::install(&layout, &version, &os, &arch);
                let package = package.unwrap_or_else(|refusal| panic!("{what}: {refusal}"));
                let zh = format!("zh:{}", sha256(&package.bytes_path));
                assert_eq!(package.zh, zh, "{what}");
                found.push(format!("{what} {zh}"));
            }
        }
    }
    found.sort();
    found
}

/// Every file and directory below a directory, with the SHA-256 of each file. It must not change if a command writes nothing. Lock
/// files are left out, since readers ignore them.
pub fn tree(directory: &Path) -> BTreeMap<String, String> {
    let mut found = BTreeMap::new();
    let mut open = vec![directory.to_owned()];
    while let Some(path) = open.pop() {
        let name = path.strip_prefix(directory).unwrap().display().to_string();
        if path.is_dir() {
            open.extend(entries(&path));
            found.insert(name + "/", String::new());
        } else if path.exists() && !path.ends_with(".tfoci.lock") {
            found.insert(name, sha256(&path));
        }
    }
    found
}

fn layouts(directory: &Path) -> Vec<PathBuf> {
    if directory.join("oci-layout").exists() {
        return vec![directory.to_owned()];
    }
    let below = entries(directory).into_iter().filter(|path| path.is_dir());
    below.flat_map(|path| layouts(&path)).collect()
}

fn entries(directory: &Path) -> Vec<PathBuf> {
    let read = fs::read_dir(directory).unwrap();
    read.map(|entry| entry.unwrap().path()).collect()
}

/// The SHA-256 of a file in hex.
pub fn sha256(path: &Path) -> String {
    release::sha256(&fs::read(path).unwrap())
}

#[test]
fn every_good_layout_installs_and_a_broken_one_does_not() {
    let layouts = Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata/layouts");
    assert_eq!(installs(&layouts.join("good-oras")).len(), 2);
    let broken = layouts.join("package-tampered");
    assert!(std::panic::catch_unwind(|| installs(&broken)).is_err());
}
