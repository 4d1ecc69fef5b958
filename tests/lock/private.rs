//! Private addresses of hosts that only a configuration names are not contacted: the checkout may be untrusted.

use std::fs;

use crate::support::origin::Origin;
use crate::support::scene::Scene;

use super::{any_version, origin, read, scene};

/// A project that requires a provider of the origin, which is on this machine. No option allows that.
fn given() -> (Origin, Scene) {
    let origin = origin();
    let scene = scene(&origin).env("TFOCI_ALLOW_PRIVATE", "");
    scene.write("a/main.tf", any_version(&origin.address("acme/demo")));
    (origin, scene)
}

#[test]
fn a_private_host_is_not_asked_without_consent() {
    let (origin, scene) = given();
    let host = origin.host();
    for command in [
        "lock",
        "install",
        "lock --from origin",
        "lock --h1 --upgrade",
    ] {
        let run = scene.line(format!("{command} --chdir a")).exits(1);
        run.tells(format!("`--allow-private {host}`"));
        run.omits("a/main.tf:3");
        assert_eq!(origin.counters(), "", "{command}");
        assert!(!scene.path("a/.terraform.lock.hcl").exists());
    }
}

#[test]
fn naming_a_private_host_is_consent() {
    let (origin, scene) = given();
    let (host, demo) = (origin.host(), origin.address("acme/demo"));
    for consent in [
        format!("--allow-private {host}"),
        "--allow-private localhost".to_owned(),
        format!("--insecure-skip-tls-verify {host} --allow-unsigned {demo}"),
        format!("--default-host {host}"),
        demo,
    ] {
        scene.line(format!("lock --chdir a {consent}")).succeeds();
        fs::remove_file(scene.path("a/.terraform.lock.hcl")).unwrap();
    }
    let configuration = read(&scene, "client.tfrc");
    let token = format!("credentials \"{host}\" {{\n  token = \"x\"\n}}\n");
    for block in [token, origin.host_block(host)] {
        scene.write("client.tfrc", format!("{configuration}{block}"));
        scene.line("lock --chdir a").succeeds();
        fs::remove_file(scene.path("a/.terraform.lock.hcl")).unwrap();
    }
    scene.write("client.tfrc", &configuration);
    // The URL of a mirror at this host is consent too, for everything that the host serves.
    let two = format!(
        "terraform {{\n  required_providers {{\n    x = {{ source = \"{}\" }}\n    null = {{ source = \"hashicorp/null\" }}\n  }}\n}}\n",
        origin.address("acme/demo")
    );
    scene.write("b/main.tf", two);
    let url = origin.mirror_url();
    let lock = format!(
        "lock --chdir b hashicorp/null --from network-mirror:{url} --allow-unsigned hashicorp/null"
    );
    scene.line(&lock).succeeds();
    let block = format!(
        "provider_installation {{\n  network_mirror {{\n    url = \"{url}\"\n    include = [\"hashicorp/*\"]\n  }}\n  direct {{\n    exclude = [\"hashicorp/*\"]\n  }}\n}}\n"
    );
    scene.write("client.tfrc", format!("{configuration}{block}"));
    fs::remove_file(scene.path("b/.terraform.lock.hcl")).unwrap();
    scene
        .line("lock --chdir b --allow-unsigned hashicorp/null")
        .succeeds();
    scene.write("client.tfrc", &configuration);
    // Naming another host is no consent.
    scene
        .line("lock --chdir a --allow-private example.com")
        .exits(1);
    let scene = scene.env("TFOCI_ALLOW_PRIVATE", &format!("example.com,{host}"));
    scene.line("lock --chdir a").succeeds();
}

/// The metadata services that give cloud machines their credentials.
#[test]
fn no_option_allows_metadata_services() {
    let (_origin, scene) = given();
    for host in ["169.254.169.254", "100.100.100.200:8443"] {
        scene.write("a/main.tf", any_version(&format!("{host}/acme/demo")));
        for allow in [String::new(), format!("--allow-private {host}")] {
            let run = scene.line(format!("lock --chdir a {allow}")).exits(1);
            run.tells("refusing ");
        }
    }
}

#[test]
fn mirroring_a_private_host_from_a_lock_file_needs_consent_too() {
    let (origin, scene) = given();
    let (host, demo) = (origin.host(), origin.address("acme/demo"));
    let mirror = |arguments: &str| {
        let all = format!("mirror --to oci-layout:out {arguments}");
        scene.line(&all)
    };
    // A lock file beside the configuration is untrusted too.
    let lock = format!("provider \"{demo}\" {{\n  version = \"1.2.0\"\n}}\n");
    scene.write("a/.terraform.lock.hcl", lock);
    let (configuration, lock) = ("--from-config a", "--from-lock a/.terraform.lock.hcl");
    for files in [configuration, lock, &format!("{configuration} {lock}")] {
        let run = mirror(files).exits(1);
        run.tells(format!("`--allow-private {host}`"));
        assert_eq!(origin.counters(), "", "{files}");
        assert!(!scene.path("out").exists());
    }
    scene.write(
        "mirror.toml",
        format!("[[provider]]\naddress = \"{demo}\"\n"),
    );
    for consent in [
        format!("--allow-private {host}"),
        format!("--default-host {host}"),
        "--file mirror.toml".to_owned(),
        demo,
    ] {
        mirror(&format!("{configuration} {consent}")).succeeds();
        fs::remove_dir_all(scene.path("out")).unwrap();
    }
}
