use serde_json::Value;

use super::{configuration, doctor, here, lock, project};
use crate::support::registry::{Fault, Personality, Registry, Setup};
use crate::support::release::ReleaseFolder;
use crate::support::scene::Scene;
use crate::support::server::answer::Answer;
use crate::support::signer::Signer;
use crate::support::tls::Authority;

pub const SOURCE: &str = "example.com/acme/demo";

/// A registry over TLS with a version for this machine, whose authority the client trusts.
pub struct House {
    pub scene: Scene,
    pub registry: Registry,
}

impl House {
    pub fn new() -> Self {
        Self::of(Personality::Plain, &[&here()])
    }

    pub fn of(personality: Personality, platforms: &[&str]) -> Self {
        let authority = Authority::shared();
        let registry = Setup::of(personality)
            .tls(authority.server().serve(None))
            .start();
        let scene = Scene::new();
        let path = authority.write(&scene, "ca.pem").display().to_string();
        let scene = scene.env("SSL_CERT_FILE", &path);
        let folder = ReleaseFolder::new("demo", "1.0.0");
        let folder = platforms
            .iter()
            .fold(folder, |folder, one| folder.platform(one));
        folder.write(&scene.path("dist"));
        scene.write("acme.asc", Signer::acme().public_armored());
        let house = Self { scene, registry };
        house
            .scene
            .write(".docker/config.json", house.registry.authfile());
        let push = format!(
            "push dist --provider {SOURCE} --key acme.asc --to {}/p/{{hostname}}/{{namespace}}/{{type}}",
            house.registry.host()
        );
        house.scene.tfoci(push.split(' ')).succeeds();
        house.mirror("p/${hostname}/${namespace}/${type}");
        project(&house.scene, SOURCE, ">= 1.0");
        house
    }

    /// Tags the manifest of a platform.
    pub fn tag_a_manifest(&self, tag: &str) {
        let name = format!("p/{SOURCE}");
        self.registry.repository(&name, |repository| {
            let index = repository.resolve("1.0.0").unwrap();
            let index: Value = serde_json::from_slice(&repository.manifests[&index].bytes).unwrap();
            let platform = index["manifests"][0]["digest"].as_str().unwrap().to_owned();
            repository.tag(tag, &platform);
        });
    }

    pub fn mirror(&self, template: &str) {
        let host = self.registry.host();
        configuration(
            &self.scene,
            &format!("oci_mirror {{ repository_template = \"{host}/{template}\" }}"),
        );
    }
}

#[test]
fn the_way_to_a_registry_is_walked_to_its_end() {
    let house = House::of(Personality::Quay, &[&here()]);
    let report = doctor(&house.scene, &[]).passes();
    for step in [
        "repository",
        "host",
        "credentials",
        "tags",
        "version",
        "index",
        "platform",
        "package",
    ] {
        assert!(
            report.good.contains_key(step),
            "{step}: {}",
            report.run.stdout
        );
    }
    assert!(
        report.good["credentials"].contains(".docker/config.json"),
        "{}",
        report.run.stdout
    );
    house.registry.assert_no_leaks();
}

#[test]
fn the_way_to_a_registry_ends_where_the_client_fails() {
    let house = House::new();
    house.mirror("q/${hostname}/${namespace}/${type}");
    doctor(&house.scene, &[]).fails_at("tags", "provider-missing");
    house.mirror("p/${hostname}/${namespace}/${type}");
    let page = Answer::new(200).body("<html>");
    let is_list = |seen: &crate::support::registry::Seen| seen.path.ends_with("/tags/list");
    house.registry.always(is_list, Fault::Answer(page));
    doctor(&house.scene, &[]).fails_at("credentials", "unexpected-answer");
    let house = House::of(Personality::Plain, &["plan9_mips"]);
    doctor(&house.scene, &[]).fails_at("platform", "platform-missing");
    let house = House::new();
    project(&house.scene, SOURCE, "~> 2.0");
    doctor(&house.scene, &[]).fails_at("version", "version-missing");
    project(&house.scene, SOURCE, ">= 1.0");
    let mut scene = house.scene;
    scene.remove_env("SSL_CERT_FILE");
    doctor(&scene, &[]).fails_at("host", "tls-failed");
}

/// Why a host cannot be asked.
#[test]
fn hosts_that_cannot_be_asked_are_told_apart() {
    let authority = Authority::shared();
    let expired = Setup::of(Personality::Plain)
        .tls(authority.server_in(2020).serve(None))
        .start();
    let scene = Scene::new();
    let path = authority.write(&scene, "ca.pem").display().to_string();
    let scene = scene.env("SSL_CERT_FILE", &path);
    project(&scene, SOURCE, ">= 1.0");
    for (host, code) in [
        (expired.host(), "certificate-date"),
        ("localhost:1", "connection-failed"),
        ("registry.invalid", "name-unknown"),
    ] {
        let template = format!("{host}/${{hostname}}/${{namespace}}/${{type}}");
        configuration(
            &scene,
            &format!("oci_mirror {{ repository_template = \"{template}\" }}"),
        );
        doctor(&scene, &[]).fails_at("host", code);
    }
}

/// A clock that differs is a warning: certificates and tokens may still be valid.
#[test]
fn a_wrong_clock_is_a_warning() {
    let house = House::new();
    let past = Answer::new(200).header("date", "Wed, 01 Jan 2020 00:00:00 GMT");
    house
        .registry
        .always(|seen| seen.path == "/v2/", Fault::Answer(past));
    let report = doctor(&house.scene, &[]).passes();
    let said = &report.run.stdout;
    assert!(said.contains("[clock-wrong]"), "{said}");
}

/// Tags that only clients take for versions.
#[test]
fn a_hand_made_tag_is_selected_as_by_the_client() {
    for (tag, step, code) in [
        ("9", "index", "version-missing"),
        ("9.0.0", "index", "not-a-provider"),
        ("1234567890123456789012345", "tags", "tag-crashes-clients"),
    ] {
        let house = House::new();
        house.tag_a_manifest(tag);
        doctor(&house.scene, &[]).fails_at(step, code);
    }
}

#[test]
fn credentials_that_the_client_does_not_have_are_named() {
    let house = House::of(Personality::Quay, &[&here()]);
    let auth = house.registry.authfile();
    // The client ignores all files because of this one.
    house.scene.write(".dockercfg", "{ hunter2");
    doctor(&house.scene, &[]).fails_at("credentials", "credentials-unreadable");
    std::fs::remove_file(house.scene.path(".dockercfg")).unwrap();
    house.scene.write(".docker/config.json", "{}");
    doctor(&house.scene, &[]).fails_at("credentials", "credentials-missing");
    house.scene.write("elsewhere/config.json", &auth);
    let directory = house.scene.path("elsewhere").display().to_string();
    let mut scene = house.scene.env("DOCKER_CONFIG", &directory);
    doctor(&scene, &[]).fails_at("credentials", "credentials-not-read");
    scene.remove_env("DOCKER_CONFIG");
    scene.write(".docker/config.json", &auth);
    doctor(&scene, &[]).passes();
    let wrong = auth.replace("\"auth\":\"", "\"auth\":\"eDp4");
    scene.write(".docker/config.json", wrong);
    doctor(&scene, &[]).fails_at("credentials", "credentials-refused");
}

#[test]
fn the_lock_file_is_compared_as_before_a_download() {
    let house = House::new();
    lock(
        &house.scene,
        "tofu",
        SOURCE,
        "1.0.0",
        &format!("zh:{}", "0".repeat(64)),
    );
    doctor(&house.scene, &[]).fails_at("lock file", "lock-differs");
    lock(
        &house.scene,
        "tofu",
        SOURCE,
        "1.0.0",
        &format!("h1:{}=", "A".repeat(43)),
    );
    let report = doctor(&house.scene, &[]).fails_at("lock file", "lock-without-zh");
    assert!(
        report.run.stdout.contains(&format!("tfoci lock {SOURCE}")),
        "{}",
        report.run.stdout
    );
}

/// Terraform has no `oci_mirror`, and goes on with what is left.
#[test]
fn terraform_does_not_read_the_block() {
    let house = House::new();
    let report = doctor(&house.scene, &["--client", "terraform"]);
    // It has its own configuration file.
    assert!(
        report.good["method"].starts_with("direct"),
        "{}",
        report.run.stdout
    );
    let text = std::fs::read_to_string(house.scene.path(".tofurc")).unwrap();
    house.scene.write(".terraformrc", text);
    let report = doctor(&house.scene, &["--client", "terraform"]).fails_at("method", "no-method");
    assert!(
        report.run.stdout.contains("[block-ignored]"),
        "{}",
        report.run.stdout
    );
}
