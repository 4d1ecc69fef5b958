use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use serde_json::Value;
use tfoci::platform::Platform;

use super::Found;
use crate::clients::run;
use crate::support::expected::{layouts, lines};
use crate::support::programs::has;
use crate::support::registry::content::Manifest;
use crate::support::registry::{Personality, Registry, Setup};
use crate::support::scene::Scene;
use crate::support::tls::Authority;

const DEMO: &str = "registry.opentofu.org/acme/demo";

/// Reads a layout into a repository. What a descriptor states is the media type of an answer.
fn load(registry: &Registry, name: &str) {
    let layout = layouts().join(name);
    let read = |path: &Path| -> Value {
        serde_json::from_slice(&fs::read(path).unwrap_or_default()).unwrap_or_default()
    };
    let index = read(&layout.join("index.json"));
    let mut blobs = BTreeMap::new();
    let mut media_types = BTreeMap::new();
    let mut describe = |document: &Value| {
        for entry in document["manifests"].as_array().into_iter().flatten() {
            let text = |name: &str| entry[name].as_str().unwrap_or_default().to_owned();
            media_types.insert(text("digest"), text("mediaType"));
        }
    };
    describe(&index);
    for algorithm in ["sha256", "sha512"] {
        let files = fs::read_dir(layout.join("blobs").join(algorithm));
        for file in files.into_iter().flatten().flatten() {
            let digest = format!("{algorithm}:{}", file.file_name().display());
            describe(&read(&file.path()));
            blobs.insert(digest, fs::read(file.path()).unwrap());
        }
    }
    registry.repository(name, |repository| {
        for (digest, bytes) in blobs {
            let media_type = media_types.get(&digest).cloned().unwrap_or_default();
            let bytes = bytes::Bytes::from(bytes);
            let manifest = Manifest {
                media_type,
                bytes: bytes.clone(),
            };
            repository.manifests.insert(digest.clone(), manifest);
            repository.blobs.insert(digest, bytes);
        }
        for entry in index["manifests"].as_array().into_iter().flatten() {
            let tag = entry["annotations"]["org.opencontainers.image.ref.name"].as_str();
            if let Some(tag) = tag {
                repository.tag(tag, entry["digest"].as_str().unwrap());
            }
        }
    });
}

#[test]
fn the_verdict_about_every_repository_is_that_of_tofu() {
    if !has("tofu") {
        return;
    }
    let authority = Authority::shared();
    let registry = Setup::of(Personality::Plain)
        .tls(authority.server().serve(None))
        .start();
    let scene = Scene::new();
    let path = authority.write(&scene, "ca.pem").display().to_string();
    let scene = scene.env("SSL_CERT_FILE", &path);
    let needs = format!(
        "terraform {{\n  required_providers {{\n    demo = {{\n      source = \"{DEMO}\"\n    }}\n  }}\n}}\n"
    );
    scene.write("project/main.tf", needs);
    let here = Platform::current().to_string();
    let names: BTreeSet<String> = lines()
        .filter(|line| line.is_install() && line.platform == here)
        .filter(|line| line.outcome != "platform not supported")
        .map(|line| line.layout)
        .collect();
    let (mut agreements, mut others) = (0, Vec::new());
    for name in names {
        load(&registry, &name);
        let store = format!("{}/{name}", registry.host());
        let block = format!(
            "provider_installation {{\n  oci_mirror {{\n    repository_template = \"{store}\"\n    include = [\"{DEMO}\"]\n  }}\n}}\n"
        );
        scene.write("client.tfrc", block);
        let _first = fs::remove_dir_all(scene.path("project/.terraform"));
        let _first = fs::remove_file(scene.path("project/.terraform.lock.hcl"));
        let init = ["init", "-input=false", "-no-color"];
        let init = run(&scene, &scene.path("project"), "tofu", init);
        // The packages of the fixtures are no zips.
        let is_accepted = init.status == Some(0) || init.stderr.contains("not a valid zip file");
        let verify = format!("verify {DEMO} --deep --exact-repository --client tofu-1.13");
        let from = format!("--format json --from {store}");
        let found = Found::of(scene.line(format!("{verify} {from}")));
        let errors = found.findings.iter();
        let errors = errors.filter(|one| one["severity"] == "error");
        let codes: BTreeSet<&str> = errors.map(|one| one["code"].as_str().unwrap()).collect();
        let is_refused = codes
            .iter()
            .any(|code| !["no-executable", "zip-refused"].contains(code));
        match is_accepted != is_refused {
            true => agreements += 1,
            false => others.push(format!("{name}: {codes:?}\n{}", init.stderr)),
        }
    }
    // Two readers see two packages in the first. The second fails on another platform.
    let known = ["lenient-duplicate-keys: ", "platform-ambiguous-variants: "];
    others.retain(|one| !known.iter().any(|known| one.starts_with(known)));
    assert!(
        others.is_empty(),
        "{agreements} agree, and not\n{}",
        others.join("\n")
    );
}
