use std::fs;

use super::{
    FROM, NAME, PLAIN, TO, assert_same, at, between, blobs, copy, copy_demo, exported, filled,
};
use crate::support::author::Author;
use crate::support::layout_of_registry::import;
use crate::support::registry::access::PASSWORD;
use crate::support::registry::{Access, Personality, Registry, Setup, matching};

const COPIED: &str = "Copied registry.opentofu.org/acme/demo 1.0.0 2 813 signed [ACME ID] embedded Copied 1 2 813 [TIME]";

#[test]
fn from_a_layout_into_a_registry() {
    let author = Author::pushed();
    let registry = Registry::plain();
    let run = copy_demo(&author, FROM, &at(&registry), "").succeeds();
    let run = between(run, "[NONE]", registry.host());
    let digest = author.tagged("1.0.0").unwrap();
    let reference = format!("[TO]/acme/demo:1.0.0@sha256:{digest}\n");
    assert_eq!(run.stdout, reference);
    run.says(COPIED);
    let arrived = exported(&author, &registry, NAME);
    assert_eq!(arrived, blobs(&author.repository("")));
}

#[test]
fn from_one_registry_into_another() {
    let author = Author::pushed();
    let (from, to) = (filled(&author), Registry::plain());
    let run = copy_demo(&author, &at(&from), &at(&to), "").succeeds();
    between(run, from.host(), to.host()).says(COPIED);
    assert_eq!(exported(&author, &to, NAME), blobs(&author.repository("")));
    assert_eq!(from.tags(NAME), to.tags(NAME));
    let last = to.seen().into_iter().rfind(|seen| seen.method == "PUT");
    assert_eq!(last.unwrap().path, "/v2/acme/demo/manifests/1.0.0");
    for registry in [from, to] {
        registry.assert_no_leaks();
    }
}

#[test]
fn within_one_registry_blobs_are_mounted_unless_it_does_not_mount() {
    for (mounts, numbers) in [
        (true, "2 signed [ACME ID] embedded Copied 1 2 0 2"),
        (false, "2 813 signed [ACME ID] embedded Copied 1 2 813"),
    ] {
        let author = Author::pushed();
        let setup = Setup::of(Personality::Plain).quirks(|quirks| quirks.mounts = mounts);
        let registry = setup.start();
        import(&author.repository(""), &registry, NAME);
        let to = format!("{}/elsewhere/{{namespace}}/{{type}}", registry.host());
        let run = copy_demo(&author, &at(&registry), &to, "").succeeds();
        let says = format!("Copied registry.opentofu.org/acme/demo 1.0.0 {numbers} [TIME]");
        run.says(&says);
        if mounts {
            assert_eq!(registry.count(matching("PUT", "/blobs/")), 0);
            // The documents of the evidence, which are read to verify it.
            assert_eq!(registry.count(matching("GET", "/blobs/")), 3);
        }
        let arrived = exported(&author, &registry, "elsewhere/acme/demo");
        assert_eq!(arrived, blobs(&author.repository("")));
    }
}

#[test]
fn each_registry_gets_its_own_password() {
    let author = Author::pushed();
    let [from, to] = [Personality::Quay, Personality::Ecr]
        .map(|personality| Setup::of(personality).create(NAME).start());
    import(&author.repository(""), &from, NAME);
    let auth = |registry: &Registry| {
        use base64::Engine as _;
        let text = format!("{}:{PASSWORD}", registry.user().unwrap());
        base64::engine::general_purpose::STANDARD.encode(text)
    };
    let file = serde_json::json!({"auths": {
        from.host(): {"auth": auth(&from)}, to.host(): {"auth": auth(&to)},
    }});
    author.write("auth.json", file.to_string());
    let found = "--authfile auth.json";
    copy_demo(&author, &at(&from), &at(&to), found).succeeds();
    assert_eq!(exported(&author, &to, NAME), blobs(&author.repository("")));
    from.assert_no_leaks();
    to.assert_no_leaks();
}

#[test]
fn a_registry_that_refuses_writes_is_named() {
    let author = Author::pushed();
    let closed = Setup::of(Personality::Plain).access(Access::of(Personality::Quay));
    let (from, to) = (filled(&author), closed.start());
    let run = copy_demo(&author, &at(&from), &at(&to), "");
    let run = between(run.exits(1), from.host(), to.host()).without_result();
    run.says("error registry.opentofu.org/acme/demo [TO]/acme/demo [TO] 401");
}

#[test]
fn a_source_registry_without_a_catalog_needs_addresses() {
    let author = Author::pushed();
    let from = filled(&author);
    let template = format!("{}/{{hostname}}/{{namespace}}/{{type}}", from.host());
    let run = copy(&author, &template, TO, PLAIN).exits(1);
    let run = between(run, from.host(), "[NONE]");
    run.says("error [FROM]/{hostname}/{namespace}/{type} http://[FROM]/v2/_catalog 404");
}

/// A transfer through an air gap changes no byte.
#[test]
fn through_a_disk_from_one_registry_into_another() {
    let author = Author::pushed();
    let (from, to) = (filled(&author), Registry::plain());
    copy_demo(&author, &at(&from), TO, "").succeeds();
    assert_same(&author);
    fs::rename(author.path("other"), author.path("carried")).unwrap();
    copy(&author, "oci-layout:carried", &at(&to), PLAIN).succeeds();
    assert_eq!(from.tags(NAME), to.tags(NAME));
    assert_eq!(exported(&author, &to, NAME), exported(&author, &from, NAME));
}
