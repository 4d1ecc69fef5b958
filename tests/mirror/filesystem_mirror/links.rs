use std::fs;
use std::os::unix::fs::symlink;

use super::{ADDRESS, ALLOW, packed, two};
use crate::mirror::origin_scene::{OriginScene, Told};

const ARRIVED: [&str; 2] = [
    "acme/demo 1.0.0 darwin_arm64",
    "acme/demo 1.0.0 linux_amd64",
];

/// Puts a link in the place of something in the scene.
fn linked(stage: &OriginScene, path: &str) {
    let (path, elsewhere) = (stage.scene.path(path), stage.scene.path("elsewhere"));
    fs::rename(&path, &elsewhere).unwrap();
    symlink(elsewhere, path).unwrap();
}

fn mirror(stage: &OriginScene) -> Told {
    stage.mirror(&format!(
        "{ADDRESS} --from filesystem-mirror:mirror {ALLOW} -q"
    ))
}

#[test]
fn the_mirror_and_its_zips_may_be_links() {
    let zip = format!("mirror/{ADDRESS}/terraform-provider-demo_1.0.0_linux_amd64.zip");
    for path in ["mirror", &zip] {
        let stage = OriginScene::new(two());
        packed(&stage);
        linked(&stage, path);
        mirror(&stage).says(0, "");
        assert_eq!(stage.installs(), ARRIVED);
    }
}

#[test]
fn directories_of_a_mirror_that_are_links_are_refused() {
    for place in ["example.com", "example.com/acme", ADDRESS] {
        let stage = OriginScene::new(two());
        packed(&stage);
        linked(&stage, &format!("mirror/{place}"));
        mirror(&stage).says(1, &format!("
error: example.com/acme/demo (filesystem-mirror:mirror): a directory of the mirror is a link, and clients follow none there
  received mirror/{place}

hint: put a directory in the place of the link: only the mirror itself and its zips may be links
"));
        assert!(stage.installs().is_empty());
    }
}

#[test]
fn a_link_beside_a_directory_hides_nothing() {
    let stage = OriginScene::new(two());
    packed(&stage);
    let unpacked = format!("mirror/{ADDRESS}/2.0.0");
    symlink("..", stage.scene.path(unpacked)).unwrap();
    mirror(&stage).says(0, "");
    assert_eq!(stage.installs(), ARRIVED);
}
