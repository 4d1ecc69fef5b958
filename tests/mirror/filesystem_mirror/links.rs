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
