//! `tfoci versions`: the listed versions, and the reasons for those that are left out.

use std::fs;

use serde_json::json;

use crate::schema::follows;
use crate::support::layout::Parts;
use crate::support::scene::{Run, Scene};
use crate::support::tamper::untag;
use crate::support::testdata;

/// A scene in which the release of `testdata` is in `oci-layout:mirror`.
pub fn pushed() -> Scene {
    let scene = Scene::new();
    push(&scene, "registry.opentofu.org/acme/demo");
    scene
}

fn push(scene: &Scene, provider: &str) {
    let release = testdata("release");
    fs::copy(release.join("acme.asc"), scene.path("acme.asc")).unwrap();
    let push = format!(
        "push {} --provider {provider} --key acme.asc",
        release.display()
    );
    scene
        .line(format!("{push} --to oci-layout:mirror"))
        .succeeds();
}

fn versions(scene: &Scene, more: &str) -> Run {
    scene.line(format!(
        "versions acme/demo --from oci-layout:mirror {more}"
    ))
}

#[test]
fn a_repository_without_versions_is_said_to_have_none() {
    let scene = pushed();
    let layout = scene.path("mirror/registry.opentofu.org/acme/demo");
    untag(&layout, "1.0.0");
    let none =
        "Warning registry.opentofu.org/acme/demo oci-layout:mirror/registry.opentofu.org/acme/demo";
    let run = versions(&scene, "").succeeds().without_result();
    run.says(none);
    let run = versions(&scene, "--all").succeeds().says(none);
    assert_eq!(run.stdout, "evidence-1.0.0\tevidence\n");
    untag(&layout, "evidence-1.0.0");
    versions(&scene, "").succeeds().says(none);
}

#[test]
fn an_incomplete_layout_is_not_an_absent_one() {
    let scene = pushed();
    let layout = "mirror/registry.opentofu.org/acme/demo";
    fs::remove_file(scene.path(layout).join("index.json")).unwrap();
    versions(&scene, "").exits(1).says(&format!(
        "error registry.opentofu.org/acme/demo {layout} expected index.json"
    ));
}

#[test]
fn the_list_in_text_and_in_json() {
    let scene = pushed();
    assert_eq!(versions(&scene, "").succeeds().stdout, "1.0.0\n");
    let all = versions(&scene, "--all").succeeds();
    assert_eq!(all.stdout, "1.0.0\nevidence-1.0.0\tevidence\n");
    let expected = json!({
        "schema": 1,
        "provider": "registry.opentofu.org/acme/demo",
        "repository": "oci-layout:mirror/registry.opentofu.org/acme/demo",
        "versions": ["1.0.0"],
    });
    let document = versions(&scene, "--format json").succeeds().json();
    assert_eq!(document, expected);
}

/// Every reason appears, and versions are in version order.
#[test]
fn all_tags_with_their_reasons() {
    let scene = Scene::new();
    let parts = Parts::good();
    let long = format!("1.0.0-{}", "a".repeat(114));
    let huge = "1234567890123456789012345";
    let names = ["1.10.0", "1.9.0", "1.9.0-rc.1", "1.9.0_x", "latest", "1.2"];
    let names = names.into_iter().chain(["evidence-1.9.0", &long, huge]);
    let entry = parts.tags.split_once('[').unwrap().1;
    let entry = entry.strip_suffix("]}").unwrap();
    let entries = names.map(|name| entry.replace("\"1.0.0\"", &format!("\"{name}\"")));
    let entries: Vec<String> = entries.collect();
    let tags = format!("{{\"manifests\":[{}]}}", entries.join(","));
    Parts { tags, ..parts }.write(&scene.path("layout"));
    let arguments = "versions acme/demo --exact-repository --from oci-layout:layout --all";
    assert_eq!(
        scene.line(arguments).succeeds().stdout,
        format!(
            "1.9.0-rc.1\n1.9.0\n1.9.0+x\n1.10.0\n\
             {long}\tlonger than the 119 characters that leave room for its evidence\n\
             1.2\tnot canonical: clients list it as 1.2.0 and then look for the tag of that name\n\
             {huge}\ta number beyond 64 bits: clients crash on it\n\
             evidence-1.9.0\tevidence\n\
             latest\tnot a version\n"
        )
    );
    let run = scene.line(format!("{arguments} --format json"));
    let document = run.succeeds().json();
    follows("versions", &document);
    let listed = json!(["1.9.0-rc.1", "1.9.0", "1.9.0+x", "1.10.0"]);
    assert_eq!(document["versions"], listed);
    assert_eq!(document["ignored"].as_array().unwrap().len(), 5);
}

#[test]
fn missing_providers_and_stores_are_errors() {
    let scene = pushed();
    let other = "versions acme/other --from oci-layout:mirror";
    let says = "error registry.opentofu.org/acme/other oci-layout:mirror";
    scene.line(other).exits(1).says(says);
    let run = scene.line("versions acme/demo --from oci-layout:absent");
    run.exits(1).says("error absent");
    let document = scene.line(format!("{other} --format json")).exits(1).json();
    follows("versions", &document);
    assert_eq!(document["error"]["category"], "not_found");
}

#[test]
fn exact_repository_is_required_for_one_repository_and_refused_for_many() {
    let scene = pushed();
    let one = "oci-layout:mirror/registry.opentofu.org/acme/demo";
    let run = scene.line(format!("versions acme/demo --from {one}"));
    run.exits(2)
        .says("error mirror/registry.opentofu.org/acme/demo expected directory");
    let exact = "versions acme/demo --exact-repository --from";
    let run = scene.line(format!("{exact} {one}")).succeeds();
    assert_eq!(run.stdout, "1.0.0\n");
    let many = scene.line(format!("{exact} oci-layout:mirror"));
    many.exits(1).says("error mirror");
}

#[test]
fn hosts_with_letters_and_ports_have_directories_of_their_own() {
    let scene = Scene::new();
    push(&scene, "bücher.example:8443/acme/demo");
    let index = "mirror/xn--bcher-kva.example_8443/acme/demo/index.json";
    assert!(scene.path(index).is_file());
    for host in ["bücher.example:8443", "BÜCHER.Example:8443"] {
        let run = scene.line(format!(
            "versions {host}/acme/demo --from oci-layout:mirror"
        ));
        assert_eq!(run.succeeds().stdout, "1.0.0\n");
    }
    versions(&scene, "").exits(1);
    let run = versions(&scene, "--default-host bücher.example:8443");
    assert_eq!(run.succeeds().stdout, "1.0.0\n");
    let scene = scene.env("TFOCI_DEFAULT_HOST", "bücher.example:8443");
    assert_eq!(versions(&scene, "").succeeds().stdout, "1.0.0\n");
    versions(&scene, "--default-host registry.opentofu.org").exits(1);
}
