use std::fs;

use super::methods::House as Origin;
use super::registries::{House as Registry, SOURCE};
use super::{Report, configuration, doctor, here, lock, project};
use crate::clients::run;
use crate::support::origin::Fault;
use crate::support::programs::has;
use crate::support::registry::Personality;
use crate::support::scene::{Run, Scene};
use crate::support::server::answer::Answer;

/// Runs `init` of a client in `project`, with the configuration of the tests.
#[track_caller]
fn init(scene: &Scene, client: &str) -> Run {
    for name in ["client.tfrc", ".terraformrc"] {
        let text = fs::read(scene.path(".tofurc")).unwrap_or_default();
        scene.write(name, text);
    }
    let arguments = ["init", "-input=false", "-no-color"];
    let run = run(scene, &scene.path("project"), client, arguments);
    let _absent = fs::remove_dir_all(scene.path("project/.terraform"));
    run
}

/// Asserts that `init` succeeds, and that no step fails.
#[track_caller]
fn both_pass(scene: &Scene, client: &str) {
    init(scene, client).succeeds();
    let _absent = fs::remove_file(scene.path("project/.terraform.lock.hcl"));
    doctor(scene, &["--client", client]).passes();
}

/// Asserts that `init` fails and says one of these words, and that this step alone fails.
#[track_caller]
fn both_fail(scene: &Scene, client: &str, step: &str, code: &str, says: &str) -> Report {
    let run = init(scene, client);
    assert_ne!(run.status, Some(0), "{client}, {code}: {}", run.stdout);
    let said = run.stderr.split_whitespace().collect::<Vec<_>>().join(" ");
    let said = said.replace("│ ", "");
    assert!(said.contains(says), "{client}, {code}: {said}");
    doctor(scene, &["--client", client]).fails_at(step, code)
}

/// Clients of OCI registries.
fn tofu() -> Option<&'static str> {
    has("tofu").then_some("tofu")
}

/// Clients of origins and other mirrors.
fn clients() -> impl Iterator<Item = &'static str> {
    ["terraform", "tofu"].into_iter().filter(|one| has(one))
}

#[test]
fn the_way_to_a_registry_ends_where_tofu_fails() {
    let Some(tofu) = tofu() else { return };
    let house = Registry::new();
    both_pass(&house.scene, tofu);
    house.mirror("q/${hostname}/${namespace}/${type}");
    both_fail(&house.scene, tofu, "tags", "provider-missing", "");
    house.mirror("p/${hostnam}/${namespace}/${type}");
    both_fail(&house.scene, tofu, "configuration", "template-refused", "");
    house.mirror("p/${hostname}/${namespace}/${type}");
    project(&house.scene, SOURCE, "~> 2.0");
    both_fail(&house.scene, tofu, "version", "version-missing", "");
    project(&house.scene, SOURCE, ">= 1.0");
    lock(
        &house.scene,
        tofu,
        SOURCE,
        "1.0.0",
        &format!("zh:{}", "0".repeat(64)),
    );
    both_fail(&house.scene, tofu, "lock file", "lock-differs", "");
    fs::remove_file(house.scene.path("project/.terraform.lock.hcl")).unwrap();
    let mut scene = house.scene;
    scene.remove_env("SSL_CERT_FILE");
    both_fail(&scene, tofu, "host", "tls-failed", "x509");
    let house = Registry::of(Personality::Plain, &["plan9_mips"]);
    both_fail(&house.scene, tofu, "platform", "platform-missing", "");
}

#[test]
fn a_hand_made_tag_stops_tofu_at_the_index() {
    let Some(tofu) = tofu() else { return };
    for (tag, code) in [("9", "version-missing"), ("9.0.0", "not-a-provider")] {
        let house = Registry::new();
        house.tag_a_manifest(tag);
        both_fail(&house.scene, tofu, "index", code, "9.0.0");
    }
}

#[test]
fn credentials_stop_tofu_at_the_tags() {
    let Some(tofu) = tofu() else { return };
    let house = Registry::of(Personality::Quay, &[&here()]);
    let (scene, auth) = (&house.scene, house.registry.authfile());
    both_pass(scene, tofu);
    scene.write(".dockercfg", "{ hunter2");
    both_fail(scene, tofu, "credentials", "credentials-unreadable", "");
    fs::remove_file(scene.path(".dockercfg")).unwrap();
    scene.write(".docker/config.json", "{}");
    both_fail(scene, tofu, "credentials", "credentials-missing", "");
    scene.write(
        ".docker/config.json",
        auth.replace("\"auth\":\"", "\"auth\":\"eDp4"),
    );
    both_fail(scene, tofu, "credentials", "credentials-refused", "");
}

#[test]
fn the_way_to_an_origin_ends_where_clients_fail() {
    for client in clients() {
        let mut house = Origin::new();
        both_pass(&house.scene, client);
        let source = house.origin.address("acme/demo");
        let other = format!("zh:{}", "0".repeat(64));
        lock(&house.scene, client, &source, "1.0.0", &other);
        both_fail(&house.scene, client, "lock file", "lock-differs", "");
        fs::remove_file(house.scene.path("project/.terraform.lock.hcl")).unwrap();
        house.scene.remove_env("SSL_CERT_FILE");
        both_fail(&house.scene, client, "host", "tls-failed", "x509");
    }
}

#[test]
fn a_mirror_that_answers_with_a_page_stops_clients_at_the_versions() {
    for client in clients() {
        let house = Origin::new();
        let url = house.origin.mirror_url();
        project(&house.scene, "example.com/acme/demo", "~> 1.0");
        configuration(
            &house.scene,
            &format!("network_mirror {{ url = \"{url}\" }}"),
        );
        both_pass(&house.scene, client);
        let page = Answer::new(200)
            .header("content-type", "text/html")
            .body("<html>");
        house
            .origin
            .always(|seen| seen.path.ends_with(".json"), Fault::Answer(page));
        both_fail(
            &house.scene,
            client,
            "versions",
            "unexpected-answer",
            "Content-Type",
        );
    }
}

#[test]
fn a_mirror_in_the_plugin_cache_stops_clients() {
    for client in clients() {
        let house = Origin::new();
        let source = house.origin.address("acme/demo");
        let mirror = format!("mirror {source} --to oci-layout:store");
        house.scene.tfoci(mirror.split(' ')).succeeds();
        let install = format!("install {source} --from oci-layout:store --into mirror --unpacked");
        house.scene.tfoci(install.split(' ')).succeeds();
        let path = house.scene.path("mirror").display().to_string();
        configuration(
            &house.scene,
            &format!("filesystem_mirror {{ path = \"{path}\" }}"),
        );
        both_pass(&house.scene, client);
        let methods = fs::read_to_string(house.scene.path(".tofurc")).unwrap();
        let cache = format!("plugin_cache_dir = \"{path}\"\n{methods}");
        house.scene.write(".tofurc", cache);
        both_fail(&house.scene, client, "plugin cache", "cache-is-mirror", "");
    }
}
