//! Private addresses of hosts that only a configuration names are not contacted: the checkout may be untrusted.

use std::fs;

use crate::support::origin::Origin;
use crate::support::scene::Scene;

use super::{LOCK, any_version, lock, project, read};
use crate::clients;

/// A project that requires a provider of the origin, which is on this machine. No option allows that.
fn given() -> (Origin, Scene) {
    let (origin, scene) = project("");
    (origin, scene.env("TFOCI_ALLOW_PRIVATE", ""))
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
        let run = scene.line(format!("{command} --chdir project")).exits(1);
        run.tells(format!("`--allow-private {host}`"));
        run.omits("project/main.tf:3");
        assert_eq!(origin.counters(), "", "{command}");
        assert!(!scene.path(LOCK).exists());
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
        lock(&scene, &consent).succeeds();
        fs::remove_file(scene.path(LOCK)).unwrap();
    }
    let configuration = read(&scene, "client.tfrc");
    let token = format!("credentials \"{host}\" {{\n  token = \"x\"\n}}\n");
    for block in [token, origin.host_block(host)] {
        scene.write("client.tfrc", format!("{configuration}{block}"));
        lock(&scene, "").succeeds();
        fs::remove_file(scene.path(LOCK)).unwrap();
    }
    // Naming another host is no consent.
    scene.write("client.tfrc", &configuration);
    lock(&scene, "--allow-private example.com").exits(1);
    // The URL of a mirror at this host is consent too, for everything that the host serves.
    let two = [(&*origin.address("acme/demo"), ""), ("hashicorp/null", "")];
    scene.write("b/main.tf", clients::requiring(&two));
    let (url, accept) = (origin.mirror_url(), "--allow-unsigned hashicorp/null");
    let mirror = format!("lock --chdir b hashicorp/null --from network-mirror:{url}");
    scene.line(format!("{mirror} {accept}")).succeeds();
    let block = format!(
        "provider_installation {{\n  network_mirror {{\n    url = \"{url}\"\n    include = [\"hashicorp/*\"]\n  }}\n  direct {{\n    exclude = [\"hashicorp/*\"]\n  }}\n}}\n"
    );
    scene.write("client.tfrc", format!("{configuration}{block}"));
    fs::remove_file(scene.path("b/.terraform.lock.hcl")).unwrap();
    scene.line(format!("lock --chdir b {accept}")).succeeds();
    scene.write("client.tfrc", &configuration);
    let scene = scene.env("TFOCI_ALLOW_PRIVATE", &format!("example.com,{host}"));
    lock(&scene, "").succeeds();
}

/// The metadata services that give cloud machines their credentials.
#[test]
fn no_option_allows_metadata_services() {
    let (_origin, scene) = given();
    for host in ["169.254.169.254", "100.100.100.200:8443"] {
        let required = any_version(&format!("{host}/acme/demo"));
        scene.write("project/main.tf", required);
        for allow in ["", &format!("--allow-private {host}")] {
            lock(&scene, allow).exits(1).tells("refusing ");
        }
    }
}

#[test]
fn mirroring_a_private_host_from_a_lock_file_needs_consent_too() {
    let (origin, scene) = given();
    let (host, demo) = (origin.host(), origin.address("acme/demo"));
    let mirror = |arguments: &str| scene.line(format!("mirror --to oci-layout:out {arguments}"));
    // A lock file beside the configuration is untrusted too.
    let lock = format!("provider \"{demo}\" {{\n  version = \"1.2.0\"\n}}\n");
    scene.write(LOCK, lock);
    let configuration = "--from-config project";
    let lock = format!("--from-lock {LOCK}");
    for files in [configuration, &lock, &format!("{configuration} {lock}")] {
        let run = mirror(files).exits(1);
        run.tells(format!("`--allow-private {host}`"));
        assert_eq!(origin.counters(), "", "{files}");
        assert!(!scene.path("out").exists());
    }
    let file = format!("[[provider]]\naddress = \"{demo}\"\n");
    scene.write("mirror.toml", file);
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

/// A pull request can write `tfoci.toml`, and the mirror file that it names.
#[test]
fn the_settings_of_a_directory_are_no_consent_and_set_no_trust() {
    let (origin, scene) = given();
    let (host, demo) = (origin.host(), origin.address("acme/demo"));
    let file = format!("to = [\"oci-layout:out\"]\n[[provider]]\naddress = \"{demo}\"\n");
    scene.write("mirror.toml", &file);
    for (settings, command) in [
        ("mirror_file = \"mirror.toml\"".to_owned(), "mirror"),
        (
            format!("store = \"{host}/x/${{hostname}}/${{namespace}}/${{type}}\""),
            "versions acme/demo",
        ),
    ] {
        scene.write("tfoci.toml", settings);
        let run = scene.line(command).exits(1);
        run.tells(format!("`--allow-private {host}`"));
        assert_eq!(origin.counters(), "", "{command}");
    }
    scene.write("tfoci.toml", "mirror_file = \"mirror.toml\"");
    scene
        .line(format!("mirror --allow-private {host}"))
        .succeeds();
    for line in [
        "trust = \"trust.toml\"",
        "attest = { id = \"https://a.example/\" }",
    ] {
        scene.write("mirror.toml", format!("{line}\n{file}"));
        let run = scene.line(format!("mirror --allow-private {host}"));
        run.exits(2).says("error mirror.toml tfoci.toml");
    }
    scene.write(
        "mirror.toml",
        format!("to = [\"${{type}}.example/x/y\"]\n[[provider]]\naddress = \"{demo}\"\n"),
    );
    scene.line("mirror").exits(2).says("error tfoci.toml");
}
