use std::collections::BTreeMap;
use std::fs;

use super::{ADDRESS, ALLOW, from, two};
use crate::mirror::LINUX;
use crate::mirror::origin_scene::{ARRIVED, OriginScene};
use crate::support::origin::Provider;

const FILE: &str = "terraform-provider-demo_1.0.0_linux_amd64.zip";

/// Mirrors the package of `acme/demo` from a path in a mirror.
#[track_caller]
fn mirrored(provider: &str, place: &str) -> BTreeMap<String, String> {
    let scene = OriginScene::new(two());
    let zip = scene.origin.zip("acme/demo", "1.0.0", LINUX);
    scene.write(format!("mirror/{place}"), zip);
    arrives(&scene, provider)
}

#[track_caller]
fn arrives(scene: &OriginScene, provider: &str) -> BTreeMap<String, String> {
    let allow = format!("--allow-unsigned {provider} -q");
    from(scene, provider, &allow).says(0, "");
    assert_eq!(scene.installs(), ARRIVED);
    scene.tree()
}

#[test]
fn every_spelling_that_clients_find_gives_the_same_artifact() {
    let plain = mirrored(ADDRESS, &format!("{ADDRESS}/{FILE}"));
    for place in [
        "example.com/acme/demo/Terraform-Provider-DEMO_1.0.0_Linux_AMD64.ZIP",
        "example.com/acme/demo/terraform-provider-demo_1.0_linux_amd64.zip",
        "example.com/acme/demo/terraform-provider-demo_1.0.0_linux_amd64_of_ours.zip",
    ] {
        assert_eq!(mirrored(ADDRESS, place), plain, "{place}");
    }
}

#[test]
fn a_host_may_have_a_port() {
    let scene = OriginScene::new(two());
    let provider = scene.named("[ORIGIN]/acme/demo");
    let zip = scene.origin.zip("acme/demo", "1.0.0", LINUX);
    scene.write(format!("mirror/{provider}/{FILE}"), zip);
    arrives(&scene, &provider);
}

#[test]
fn build_metadata_is_part_of_a_name() {
    let provider = Provider::new("acme/demo").version("1.0.0+ent", &[LINUX]);
    let scene = OriginScene::of([provider]);
    let zip = scene.origin.zip("acme/demo", "1.0.0+ent", LINUX);
    let path = format!("mirror/{ADDRESS}/terraform-provider-demo_1.0.0+ent_linux_amd64.zip");
    scene.write(path, zip);
    from(&scene, ADDRESS, ALLOW)
        .tells("Copied example.com/acme/demo 1.0.0+ent 1 418 unverified Mirrored 1 1 418 [TIME]")
        .gives("example.com/acme/demo:1.0.0_ent");
    assert_eq!(scene.installs(), ["acme/demo 1.0.0+ent linux_amd64"]);
}

#[test]
fn the_first_of_several_names_of_a_package_is_used() {
    let scene = OriginScene::new(two());
    let zip = scene.origin.zip("acme/demo", "1.0.0", LINUX);
    scene.write(format!("mirror/{ADDRESS}/{FILE}"), zip);
    for other in [
        "terraform-provider-demo_1.0.0_linux_amd64_signed.zip",
        "terraform-provider-demo_1.0_linux_amd64.zip",
    ] {
        scene.write(format!("mirror/{ADDRESS}/{other}"), "no zip");
    }
    let directory = "terraform-provider-demo_2.0.0_linux_amd64.zip";
    fs::create_dir(scene.path(format!("mirror/{ADDRESS}/{directory}"))).unwrap();
    arrives(&scene, ADDRESS);
}
