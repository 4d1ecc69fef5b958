use std::fs;
use std::path::PathBuf;

use super::demo;
use super::origin_scene::OriginScene;
use crate::support::judge;

#[test]
fn recheck_compares_stored_packages() {
    let scene = OriginScene::of([demo()]);
    scene.demo("").says(
        0,
        "
    Copied [ORIGIN]/acme/demo 1.0.0   1 package, 406 B   signed [ACME ID] (origin)
  Mirrored 1 version, 1 package (406 B copied) in [TIME]
",
    );
    scene.origin.forget();
    let before = scene.tree();
    scene.demo("--recheck").says(
        0,
        "
   Present [ORIGIN]/acme/demo 1.0.0   1 package   signed [ACME ID] (origin)
  Mirrored nothing: 1 package already present, in [TIME]
",
    );
    assert_eq!(
        scene.origin.counters(),
        "1 discovery, 1 versions, 1 download, 1 document, 1 signature"
    );
    assert_eq!(scene.tree(), before);
}

/// Other commands see only the size of what a layout has.
#[test]
fn recheck_repairs_a_package_of_a_layout() {
    let scene = OriginScene::of([demo()]);
    scene.demo("").ends(0);
    let good = scene.tree();
    let store = scene.path("store");
    let mut files = judge::tree(&store).into_keys().map(|name| store.join(name));
    let is_zip = |path: &PathBuf| path.is_file() && fs::read(path).unwrap().starts_with(b"PK");
    let zip = files.find(is_zip).unwrap();
    let length = fs::read(&zip).unwrap().len();
    fs::write(&zip, vec![b'x'; length]).unwrap();
    scene.demo("").says(
        0,
        "
  Mirrored nothing: 1 package already present, in [TIME]
",
    );
    scene.demo("--recheck").says(
        0,
        "
   Updated [ORIGIN]/acme/demo 1.0.0   1 of its packages, 406 B   signed [ACME ID] (origin)
  Mirrored 1 version, 1 package (406 B copied) in [TIME]
",
    );
    assert_eq!(scene.tree(), good);
}
