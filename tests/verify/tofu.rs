use std::collections::BTreeSet;
use std::fs;

use tfoci::platform::Platform;

use super::Found;
use crate::clients::run;
use crate::support::expected::{layouts, lines};
use crate::support::layout_of_registry::import;
use crate::support::programs::has;
use crate::support::registry::{Personality, Setup};
use crate::support::tls::Authority;
use crate::support::trusting;

const DEMO: &str = "registry.opentofu.org/acme/demo";

#[test]
fn the_verdict_about_every_repository_is_that_of_tofu() {
    if !has("tofu") {
        return;
    }
    let tls = Authority::shared().server().serve(None);
    let registry = Setup::of(Personality::Plain).tls(tls).start();
    let scene = trusting();
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
        import(&layouts().join(&name), &registry, &name);
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
    // Two readers see two packages in the first. The second fails on another platform. tfoci refuses the digest of the third, which no tool writes.
    let known = [
        "lenient-duplicate-keys: ",
        "platform-ambiguous-variants: ",
        "entry-digest-sha512: ",
    ];
    others.retain(|one| !known.iter().any(|known| one.starts_with(known)));
    assert!(others.is_empty(), "{agreements} agree, and not {others:#?}");
}
