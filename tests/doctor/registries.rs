use std::fs;

use serde_json::Value;

use super::{both_fail, both_pass, configuration, doctor, here, lock, other_hash, project};
use crate::support::registry::{Fault, Personality, Registry, Seen, Setup};
use crate::support::release::ReleaseFolder;
use crate::support::scene::Scene;
use crate::support::server::answer::Answer;
use crate::support::signer::Signer;
use crate::support::tls::Authority;
use crate::support::trusting;

const SOURCE: &str = "example.com/acme/demo";

/// A registry over TLS with a version for this machine, whose authority the client trusts.
struct House {
    scene: Scene,
    registry: Registry,
}

impl House {
    fn new() -> Self {
        Self::of(Personality::Plain, &[&here()])
    }

    fn of(personality: Personality, platforms: &[&str]) -> Self {
        let tls = Authority::shared().server().serve(None);
        let registry = Setup::of(personality).tls(tls).start();
        let scene = trusting();
        let folder = ReleaseFolder::new("demo", "1.0.0");
        let folder = platforms.iter().fold(folder, |all, one| all.platform(one));
        folder.write(&scene.path("dist"));
        scene.write("acme.asc", Signer::acme().public_armored());
        scene.write(".docker/config.json", registry.authfile());
        let to = format!("{}/p/{{hostname}}/{{namespace}}/{{type}}", registry.host());
        let push = format!("push dist --provider {SOURCE} --key acme.asc --to {to}");
        scene.line(push).succeeds();
        let house = Self { scene, registry };
        house.mirror("p/${hostname}/${namespace}/${type}");
        project(&house.scene, SOURCE, ">= 1.0");
        house
    }

    /// Tags the manifest of a platform.
    fn tag_a_manifest(&self, tag: &str) {
        let name = format!("p/{SOURCE}");
        self.registry.repository(&name, |repository| {
            let index = repository.resolve("1.0.0").unwrap();
            let index: Value = serde_json::from_slice(&repository.manifests[&index].bytes).unwrap();
            let platform = index["manifests"][0]["digest"].as_str().unwrap().to_owned();
            repository.tag(tag, &platform);
        });
    }

    fn mirror(&self, template: &str) {
        let host = self.registry.host();
        let block = format!("oci_mirror {{ repository_template = \"{host}/{template}\" }}");
        configuration(&self.scene, &block);
    }
}

#[test]
fn the_way_to_a_registry_is_walked_to_its_end() {
    let house = House::of(Personality::Quay, &[&here()]);
    let report = both_pass(&house.scene, "tofu");
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
        assert!(report.good.contains_key(step), "{step}: {:?}", report.good);
    }
    let credentials = &report.good["credentials"];
    assert!(credentials.contains(".docker/config.json"), "{credentials}");
    house.registry.assert_no_leaks();
}

#[test]
fn the_way_to_a_registry_ends_where_the_client_fails() {
    let house = House::new();
    let fails = |step, code| both_fail(&house.scene, "tofu", step, code, "");
    both_pass(&house.scene, "tofu");
    house.mirror("q/${hostname}/${namespace}/${type}");
    fails("tags", "provider-missing");
    house.mirror("p/${hostnam}/${namespace}/${type}");
    fails("configuration", "template-refused");
    house.mirror("p/${hostname}/${namespace}/${type}");
    project(&house.scene, SOURCE, "~> 2.0");
    fails("version", "version-missing");
    project(&house.scene, SOURCE, ">= 1.0");
    lock(&house.scene, "tofu", SOURCE, "1.0.0", &other_hash());
    fails("lock file", "lock-differs");
    fs::remove_file(house.scene.path("project/.terraform.lock.hcl")).unwrap();
    let page = Answer::new(200).body("<html>");
    let is_list = |seen: &Seen| seen.path.ends_with("/tags/list");
    house.registry.always(is_list, Fault::Answer(page));
    doctor(&house.scene, &[]).fails_at("credentials", "unexpected-answer");
    let mut scene = house.scene;
    scene.remove_env("SSL_CERT_FILE");
    both_fail(&scene, "tofu", "host", "tls-failed", "x509");
    let house = House::of(Personality::Plain, &["plan9_mips"]);
    both_fail(&house.scene, "tofu", "platform", "platform-missing", "");
}

/// Why a host cannot be asked.
#[test]
fn hosts_that_cannot_be_asked_are_told_apart() {
    let tls = Authority::shared().server_in(2020).serve(None);
    let expired = Setup::of(Personality::Plain).tls(tls).start();
    let scene = trusting();
    project(&scene, SOURCE, ">= 1.0");
    for (host, code) in [
        (expired.host(), "certificate-date"),
        ("localhost:1", "connection-failed"),
        ("registry.invalid", "name-unknown"),
    ] {
        let template = format!("{host}/${{hostname}}/${{namespace}}/${{type}}");
        let block = format!("oci_mirror {{ repository_template = \"{template}\" }}");
        configuration(&scene, &block);
        doctor(&scene, &[]).fails_at("host", code);
    }
}

/// A clock that differs is a warning: certificates and tokens may still be valid.
#[test]
fn a_wrong_clock_is_a_warning() {
    let house = House::new();
    let past = Answer::new(200).header("date", "Wed, 01 Jan 2020 00:00:00 GMT");
    let fault = Fault::Answer(past);
    house.registry.always(|seen| seen.path == "/v2/", fault);
    let report = doctor(&house.scene, &[]).passes();
    report.run.shows("[clock-wrong]");
}

/// Tags that only clients take for versions.
#[test]
fn a_hand_made_tag_is_selected_as_by_the_client() {
    for (tag, step, code, says) in [
        ("9", "index", "version-missing", "9.0.0"),
        ("9.0.0", "index", "not-a-provider", "9.0.0"),
        (
            "1234567890123456789012345",
            "tags",
            "tag-crashes-clients",
            "",
        ),
    ] {
        let house = House::new();
        house.tag_a_manifest(tag);
        both_fail(&house.scene, "tofu", step, code, says);
    }
}

#[test]
fn credentials_that_the_client_does_not_have_are_named() {
    let house = House::of(Personality::Quay, &[&here()]);
    let auth = house.registry.authfile();
    // The client ignores all files because of this one.
    let fails = |scene: &Scene, code| both_fail(scene, "tofu", "credentials", code, "");
    house.scene.write(".dockercfg", "{ hunter2");
    fails(&house.scene, "credentials-unreadable");
    fs::remove_file(house.scene.path(".dockercfg")).unwrap();
    house.scene.write(".docker/config.json", "{}");
    fails(&house.scene, "credentials-missing");
    house.scene.write("elsewhere/config.json", &auth);
    let directory = house.scene.path("elsewhere").display().to_string();
    let mut scene = house.scene.env("DOCKER_CONFIG", &directory);
    doctor(&scene, &[]).fails_at("credentials", "credentials-not-read");
    scene.remove_env("DOCKER_CONFIG");
    scene.write(".docker/config.json", &auth);
    both_pass(&scene, "tofu");
    let wrong = auth.replace("\"auth\":\"", "\"auth\":\"eDp4");
    scene.write(".docker/config.json", wrong);
    fails(&scene, "credentials-refused");
}

#[test]
fn a_lock_file_needs_a_hash_that_is_known_before_a_download() {
    let house = House::new();
    let h1 = format!("h1:{}=", "A".repeat(43));
    lock(&house.scene, "tofu", SOURCE, "1.0.0", &h1);
    let report = doctor(&house.scene, &[]).fails_at("lock file", "lock-without-zh");
    report.run.shows(format!("tfoci lock {SOURCE}"));
}

/// Terraform has no `oci_mirror`, and goes on with what is left.
#[test]
fn terraform_does_not_read_the_block() {
    let house = House::new();
    let report = doctor(&house.scene, &["--client", "terraform"]);
    // It has its own configuration file.
    let method = &report.good["method"];
    assert!(method.starts_with("direct"), "{method}");
    let text = fs::read_to_string(house.scene.path(".tofurc")).unwrap();
    house.scene.write(".terraformrc", text);
    let report = doctor(&house.scene, &["--client", "terraform"]).fails_at("method", "no-method");
    report.run.shows("[block-ignored]");
}
