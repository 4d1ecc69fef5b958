use std::fs;

use super::{
    CLIENTS, both_fail, both_pass, configuration, doctor, here, lock, other_hash, project,
};
use crate::support::origin::{Fault, Origin, Provider, asks};
use crate::support::scene::Scene;
use crate::support::server::answer::Answer;
use crate::support::trusting;

/// An origin with `acme/demo` for this machine, which is also a network mirror, and a project that requires it.
struct House {
    scene: Scene,
    origin: Origin,
}

impl House {
    fn of(provider: Provider) -> Self {
        let (origin, scene) = (Origin::of([provider]), trusting());
        project(&scene, &origin.address("acme/demo"), "~> 1.0");
        Self { scene, origin }
    }

    fn new() -> Self {
        Self::of(Provider::demo(&[&here()]).version("1.1.0", &[&here()]))
    }
}

#[test]
fn the_way_to_an_origin_is_walked_to_its_end() {
    let house = House::new();
    let report = doctor(&house.scene, &[]).passes();
    let version = &report.good["version"];
    assert!(version.starts_with("1.1.0"), "{version}");
    for step in [
        "method",
        "host",
        "versions",
        "platform",
        "signature",
        "package",
        "lock file",
    ] {
        assert!(report.good.contains_key(step), "{step}: {:?}", report.good);
    }
    // Nothing was written.
    assert!(!house.scene.path("project/.terraform").exists());
}

#[test]
fn the_way_to_an_origin_ends_where_the_client_fails() {
    for (words, step, code) in [
        ("discovery", "versions", "provider-missing"),
        ("versions", "versions", "provider-missing"),
        ("download", "platform", "platform-missing"),
        ("package", "package", "package-missing"),
    ] {
        let house = House::new();
        house.origin.always(asks(words), Fault::status(404));
        doctor(&house.scene, &[]).fails_at(step, code);
    }
    let house = House::new();
    project(&house.scene, &house.origin.address("acme/demo"), "~> 7.0");
    doctor(&house.scene, &[]).fails_at("version", "version-missing");
    project(&house.scene, &house.origin.address("acme/other"), "~> 1.0");
    doctor(&house.scene, &[]).fails_at("versions", "provider-missing");
    let house = House::of(Provider::demo(&["plan9_mips"]));
    doctor(&house.scene, &[]).fails_at("platform", "platform-missing");
    for client in CLIENTS {
        let mut house = House::new();
        both_pass(&house.scene, client);
        let source = house.origin.address("acme/demo");
        lock(&house.scene, client, &source, "1.0.0", &other_hash());
        both_fail(&house.scene, client, "lock file", "lock-differs", "");
        fs::remove_file(house.scene.path("project/.terraform.lock.hcl")).unwrap();
        house.scene.remove_env("SSL_CERT_FILE");
        both_fail(&house.scene, client, "host", "tls-failed", "x509");
    }
}

#[test]
fn another_hash_in_the_lock_file_ends_it_with_another_exit_code() {
    let house = House::new();
    let source = house.origin.address("acme/demo");
    lock(&house.scene, "tofu", &source, "1.0.0", &other_hash());
    let report = doctor(&house.scene, &[]).fails_at("lock file", "lock-differs");
    let version = &report.good["version"];
    assert!(version.starts_with("1.0.0"), "{version}");
    let zip = house.origin.zip("acme/demo", "1.0.0", &here());
    let hash = format!("zh:{}", crate::support::release::sha256(&zip));
    lock(&house.scene, "tofu", &source, "1.0.0", &hash);
    doctor(&house.scene, &[]).passes();
    // The origin does not have the locked version.
    lock(&house.scene, "tofu", &source, "1.0.9", &hash);
    doctor(&house.scene, &[]).fails_at("version", "version-missing");
}

#[test]
fn a_network_mirror_is_walked_and_html_is_no_mirror() {
    for client in CLIENTS {
        let House { scene, origin } = House::new();
        project(&scene, "example.com/acme/demo", "~> 1.0");
        let block = format!("network_mirror {{ url = \"{}\" }}", origin.mirror_url());
        configuration(&scene, &block);
        both_pass(&scene, client);
        let page = Answer::new(200).header("content-type", "text/html");
        let page = Fault::Answer(page.body("<html>"));
        origin.always(|seen| seen.path.ends_with(".json"), page);
        let code = "unexpected-answer";
        both_fail(&scene, client, "versions", code, "Content-Type");
    }
}

#[test]
fn a_mirror_in_the_plugin_cache_stops_clients() {
    for client in CLIENTS {
        let House { scene, origin } = House::new();
        let source = origin.address("acme/demo");
        let mirror = format!("mirror {source} --to oci-layout:store");
        scene.line(mirror).succeeds();
        let install = format!("install {source} --from oci-layout:store --into mirror --unpacked");
        scene.line(install).succeeds();
        let path = scene.path("mirror").display().to_string();
        let block = format!("filesystem_mirror {{ path = \"{path}\" }}");
        configuration(&scene, &block);
        both_pass(&scene, client);
        let methods = fs::read_to_string(scene.path(".tofurc")).unwrap();
        let cache = format!("plugin_cache_dir = \"{path}\"\n{methods}");
        scene.write(".tofurc", cache);
        both_fail(&scene, client, "plugin cache", "cache-is-mirror", "");
    }
}

#[test]
fn a_directory_is_walked_in_both_forms() {
    let house = House::new();
    let source = house.origin.address("acme/demo");
    let mirror = format!("mirror {source}@1.1.0 --to oci-layout:store");
    house.scene.tfoci(mirror.split(' ')).succeeds();
    for form in ["packed", "unpacked"] {
        let into = format!("{form}-mirror");
        let install = format!("install {source} --from oci-layout:store --into {into} --{form}");
        house.scene.tfoci(install.split(' ')).succeeds();
        let path = house.scene.path(&into);
        let block = format!("filesystem_mirror {{ path = \"{}\" }}", path.display());
        configuration(&house.scene, &block);
        doctor(&house.scene, &[]).passes();
        let h1 = format!("h1:{}=", "A".repeat(43));
        lock(&house.scene, "tofu", &source, "1.1.0", &h1);
        if form == "unpacked" {
            doctor(&house.scene, &[]).fails_at("lock file", "lock-differs");
        }
        fs::remove_file(house.scene.path("project/.terraform.lock.hcl")).unwrap();
        project(&house.scene, "example.com/acme/none", "~> 1.0");
        doctor(&house.scene, &[]).fails_at("versions", "provider-missing");
        project(&house.scene, &source, "~> 1.0");
    }
}

#[test]
fn methods_are_asked_in_their_order() {
    let house = House::new();
    let source = house.origin.address("acme/demo");
    configuration(&house.scene, "direct { include = [\"example.com/*/*\"] }");
    doctor(&house.scene, &[]).fails_at("method", "no-method");
    house.scene.write("empty/file", "");
    let empty = house.scene.path("empty").display().to_string();
    let block = format!("filesystem_mirror {{ path = \"{empty}\" }}\ndirect {{}}");
    configuration(&house.scene, &block);
    let report = doctor(&house.scene, &[]).passes();
    assert_eq!(report.good["method"], "filesystem_mirror, then direct");
    let block = format!("dev_overrides {{ \"{source}\" = \"/src\" }}\ndirect {{}}");
    configuration(&house.scene, &block);
    let report = doctor(&house.scene, &[]).passes();
    let method = &report.good["method"];
    assert!(method.contains("dev_overrides"), "{method}");
}
