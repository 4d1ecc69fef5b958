use super::{configuration, doctor, here, lock, project};
use crate::support::origin::{Fault, Origin, Provider, asks};
use crate::support::scene::Scene;
use crate::support::server::answer::Answer;

/// An origin with `acme/demo` for this machine, which is also a network mirror, and a project that requires it.
pub struct House {
    pub scene: Scene,
    pub origin: Origin,
}

impl House {
    fn of(provider: Provider) -> Self {
        let origin = Origin::of([provider]);
        let scene = Scene::new();
        let authority = origin.write_ca(&scene).display().to_string();
        let scene = scene.env("SSL_CERT_FILE", &authority);
        project(&scene, &origin.address("acme/demo"), "~> 1.0");
        Self { scene, origin }
    }

    pub fn new() -> Self {
        Self::of(Provider::demo(&[&here()]).version("1.1.0", &[&here()]))
    }
}

#[test]
fn the_way_to_an_origin_is_walked_to_its_end() {
    let house = House::new();
    let report = doctor(&house.scene, &[]).passes();
    assert!(
        report.good["version"].starts_with("1.1.0"),
        "{}",
        report.run.stdout
    );
    for step in [
        "method",
        "host",
        "versions",
        "platform",
        "signature",
        "package",
        "lock file",
    ] {
        assert!(
            report.good.contains_key(step),
            "{step}: {}",
            report.run.stdout
        );
    }
    // Nothing was written.
    assert!(!house.scene.path("project/.terraform").exists());
}

#[test]
fn the_way_to_an_origin_ends_where_the_client_fails() {
    let not_found = || Fault::Answer(Answer::new(404));
    for (words, step, code) in [
        ("discovery", "versions", "provider-missing"),
        ("versions", "versions", "provider-missing"),
        ("download", "platform", "platform-missing"),
        ("package", "package", "package-missing"),
    ] {
        let house = House::new();
        house.origin.always(asks(words), not_found());
        doctor(&house.scene, &[]).fails_at(step, code);
    }
    let house = House::new();
    project(&house.scene, &house.origin.address("acme/demo"), "~> 7.0");
    doctor(&house.scene, &[]).fails_at("version", "version-missing");
    project(&house.scene, &house.origin.address("acme/other"), "~> 1.0");
    doctor(&house.scene, &[]).fails_at("versions", "provider-missing");
    let mut house = House::new();
    house.scene.remove_env("SSL_CERT_FILE");
    doctor(&house.scene, &[]).fails_at("host", "tls-failed");
    let house = House::of(Provider::demo(&["plan9_mips"]));
    doctor(&house.scene, &[]).fails_at("platform", "platform-missing");
}

#[test]
fn another_hash_in_the_lock_file_ends_it_with_another_exit_code() {
    let house = House::new();
    let source = house.origin.address("acme/demo");
    let other = format!("zh:{}", "0".repeat(64));
    lock(&house.scene, "tofu", &source, "1.0.0", &other);
    let report = doctor(&house.scene, &[]).fails_at("lock file", "lock-differs");
    assert!(
        report.good["version"].starts_with("1.0.0"),
        "{}",
        report.run.stdout
    );
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
    let house = House::new();
    let url = house.origin.mirror_url();
    project(&house.scene, "example.com/acme/demo", "~> 1.0");
    configuration(
        &house.scene,
        &format!("network_mirror {{ url = \"{url}\" }}"),
    );
    doctor(&house.scene, &[]).passes();
    let page = Answer::new(200)
        .header("content-type", "text/html")
        .body("<html>");
    house
        .origin
        .always(|seen| seen.path.ends_with(".json"), Fault::Answer(page));
    doctor(&house.scene, &[]).fails_at("versions", "unexpected-answer");
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
        configuration(
            &house.scene,
            &format!("filesystem_mirror {{ path = \"{}\" }}", path.display()),
        );
        doctor(&house.scene, &[]).passes();
        lock(
            &house.scene,
            "tofu",
            &source,
            "1.1.0",
            &format!("h1:{}=", "A".repeat(43)),
        );
        if form == "unpacked" {
            doctor(&house.scene, &[]).fails_at("lock file", "lock-differs");
        }
        std::fs::remove_file(house.scene.path("project/.terraform.lock.hcl")).unwrap();
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
    configuration(
        &house.scene,
        &format!("filesystem_mirror {{ path = \"{empty}\" }}\ndirect {{}}"),
    );
    let report = doctor(&house.scene, &[]).passes();
    assert_eq!(report.good["method"], "filesystem_mirror, then direct");
    configuration(
        &house.scene,
        &format!("dev_overrides {{ \"{source}\" = \"/src\" }}\ndirect {{}}"),
    );
    let report = doctor(&house.scene, &[]).passes();
    assert!(
        report.good["method"].contains("dev_overrides"),
        "{}",
        report.run.stdout
    );
}
