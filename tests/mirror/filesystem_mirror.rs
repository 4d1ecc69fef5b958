use std::fs;

use super::LINUX;
use super::origin_scene::{BOTH_ARRIVED, OriginScene, Told};
use crate::support::origin::{Origin, Provider};

/// Symbolic links in a mirror.
#[cfg(unix)]
mod links;
/// Spellings of files.
mod names;

const ADDRESS: &str = "example.com/acme/demo";
const ALLOW: &str = "--allow-unsigned example.com/acme/*";

/// A mirror in `mirror`, with the packages of an origin.
fn packed(scene: &OriginScene) {
    for platform in [LINUX, "darwin_arm64"] {
        scene.write(
            format!("mirror/{ADDRESS}/terraform-provider-demo_1.0.0_{platform}.zip"),
            scene.origin.zip("acme/demo", "1.0.0", platform),
        );
    }
}

fn from(scene: &OriginScene, address: &str, more: &str) -> Told {
    let mirror = "--from filesystem-mirror:mirror --jobs 1";
    scene.mirror(&format!("{address} {mirror} {more}"))
}

const COPIED: &str = "Copied example.com/acme/demo 1.0.0 2 813 unverified Mirrored 1 2 813 [TIME]";

fn two() -> Origin {
    Origin::of([Provider::demo(&[LINUX, "darwin_arm64"])])
}

#[test]
fn a_directory_of_packages_is_a_source() {
    let scene = OriginScene::new(two());
    packed(&scene);
    from(&scene, ADDRESS, "").says(3, "error example.com/acme/demo 1.0.0");
    from(&scene, ADDRESS, ALLOW).tells(COPIED);
    from(&scene, ADDRESS, ALLOW).tells("Mirrored 2 [TIME]");
    assert_eq!(scene.installs(), BOTH_ARRIVED);
    assert!(scene.origin.seen().is_empty());
}

#[test]
fn unpacked_packages_are_ignored_beside_packed_ones() {
    let scene = OriginScene::new(two());
    let unpacked = |version: &str, platform: &str| {
        let directory = format!("mirror/{ADDRESS}/{version}/{platform}");
        let path = format!("{directory}/terraform-provider-demo_v{version}");
        scene.write(path, "#!/bin/sh\n");
    };
    packed(&scene);
    for platform in [LINUX, "darwin_arm64"] {
        unpacked("1.0.0", platform);
    }
    from(&scene, ADDRESS, ALLOW).tells(COPIED);
    unpacked("1.0.0", "windows_amd64");
    unpacked("2.0.0", LINUX);
    unpacked("2.0.0", "darwin_arm64");
    from(&scene, ADDRESS, ALLOW).tells("Mirrored 2 [TIME]");
    let told = from(&scene, "example.com/acme/demo@2.0.0", ALLOW);
    told.says(1, "error example.com/acme/demo 2.0.0 1.0.0");
}

#[test]
fn an_unpacked_mirror_is_refused() {
    let scene = OriginScene::new(two());
    let path = format!("mirror/{ADDRESS}/1.0.0/{LINUX}/terraform-provider-demo_v1.0.0");
    scene.write(path, "#!/bin/sh\n");
    let unpacked = "error example.com/acme/demo received mirror/example.com/acme/demo/1.0.0";
    from(&scene, ADDRESS, ALLOW).says(1, unpacked);
    // The mirror may have the provider of another host.
    for absent in ["example.com/acme/none", "registry.opentofu.org/acme/demo"] {
        let says = format!("error {absent} mirror/{absent}");
        from(&scene, absent, ALLOW).says(1, &says);
    }
    fs::remove_dir_all(scene.path("mirror")).unwrap();
    from(&scene, ADDRESS, ALLOW).says(1, "error mirror No 2");
}

#[test]
fn a_file_that_is_not_a_package_is_refused() {
    let scene = OriginScene::new(two());
    let path = format!("mirror/{ADDRESS}/terraform-provider-demo_1.0.0_{LINUX}.zip");
    scene.write(path, "no zip");
    from(&scene, ADDRESS, ALLOW).says(1, "error example.com/acme/demo 1.0.0 linux_amd64 mirror/example.com/acme/demo/terraform-provider-demo_1.0.0_linux_amd64.zip");
    assert!(scene.installs().is_empty());
}
