use std::fs;
use std::os::unix::fs::symlink;

use super::{ADDRESS, ALLOW, COPIED, from, packed, two};
use crate::mirror::origin_scene::{BOTH_ARRIVED, OriginScene};

/// Replaces a file or directory of the scene with a link to it.
fn linked(scene: &OriginScene, path: &str) {
    let (path, elsewhere) = (scene.path(path), scene.path("elsewhere"));
    fs::rename(&path, &elsewhere).unwrap();
    symlink(elsewhere, path).unwrap();
}

#[test]
fn the_mirror_and_its_zips_may_be_links() {
    let zip = format!("mirror/{ADDRESS}/terraform-provider-demo_1.0.0_linux_amd64.zip");
    for path in ["mirror", &zip] {
        let scene = OriginScene::new(two());
        packed(&scene);
        linked(&scene, path);
        from(&scene, ADDRESS, ALLOW).tells(COPIED);
        assert_eq!(scene.installs(), BOTH_ARRIVED);
    }
}

#[test]
fn directories_of_a_mirror_that_are_links_are_refused() {
    for place in ["example.com", "example.com/acme", ADDRESS] {
        let scene = OriginScene::new(two());
        packed(&scene);
        linked(&scene, &format!("mirror/{place}"));
        let says = format!("error example.com/acme/demo received mirror/{place}");
        from(&scene, ADDRESS, ALLOW).says(1, &says);
        assert!(scene.installs().is_empty());
    }
}

#[test]
fn a_link_beside_a_directory_does_not_hide_it() {
    let scene = OriginScene::new(two());
    packed(&scene);
    let unpacked = format!("mirror/{ADDRESS}/2.0.0");
    symlink("..", scene.path(unpacked)).unwrap();
    from(&scene, ADDRESS, ALLOW).tells(COPIED);
    assert_eq!(scene.installs(), BOTH_ARRIVED);
}
