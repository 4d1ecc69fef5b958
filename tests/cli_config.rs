//! `tfoci cli-config`: the printed block, real clients that read it, and the check of existing configurations.

use std::fs;

use serde_json::Value;
use tfoci::platform::Platform;

use crate::clients::run;
use crate::install::{DEMO, push};
use crate::readme::block;
use crate::schema::follows;
use crate::support::programs::has;
use crate::support::release::ReleaseFolder;
use crate::support::scene::{Run, Scene};

/// `--check`.
mod check;

const TEMPLATE: &str = "h.example/${hostname}/${namespace}/${type}";

/// Prints the block where `mirror` is a directory.
fn print(arguments: &[&str]) -> Run {
    let scene = Scene::new();
    let package = "acme/demo/terraform-provider-demo_1.0.0_linux_amd64.zip";
    for host in ["registry.opentofu.org", "registry.terraform.io"] {
        scene.write(format!("mirror/{host}/{package}"), "");
    }
    scene.tfoci(["cli-config"].iter().chain(arguments))
}

#[test]
fn the_document_has_the_block_that_is_printed() {
    for arguments in [
        &["acme/*", "--from", TEMPLATE][..],
        &["--from", "h.example/{hostname}/{namespace}/{type}"],
        &["acme/demo", "--client=terraform", "--into=mirror"],
        &["acme/*", "--url", "https://m.example/v1"],
        &[
            "acme/demo",
            "--exact-repository",
            "--from=h.example/any/name",
        ],
        &[
            "acme/*",
            r#"--from=${hostname == "a.example" ? "h.example" : "i.example"}/${namespace}/${type}"#,
        ],
    ] {
        let block = print(arguments).succeeds().stdout;
        let run = print(&[arguments, &["--format", "json"]].concat()).succeeds();
        let document: Value = serde_json::from_str(&run.stdout).unwrap();
        follows("cli-config", &document);
        assert_eq!(document["configuration"], block);
    }
}

#[test]
fn blocks_with_which_no_client_could_install_are_refused() {
    for arguments in [
        &["a.example:8443/*/*", "--url", "https://m.example/mirror/"][..],
        &["--from", TEMPLATE, "--client", "terraform"],
        &["--from", "oci-layout:store"],
        &["--url", "http://m.example/"],
        &["acme/*", "--from", "h.example/{namespace}"],
        // Clients accept this template, and install every provider from one repository.
        &["*/*/*", "acme/demo", "--from", "h.example/acme/demo"],
        &["acme/demo", "acme/more", "--from", "h.example/acme/demo"],
        &["bücher/*", "--from", TEMPLATE],
        &["a.example:8443/acme/*", "--from", TEMPLATE],
        &["acme", "--into", "mirror"],
        &[],
        &["--client", "terraform"],
        &["--into", "a", "--url", "b"],
        &["--check", "acme/demo"],
        &["--check", "own.tfrc"],
    ] {
        print(arguments).exits(2).without_result();
    }
    let scene = Scene::new();
    scene.write("store/a.example/acme/demo/index.json", "{}");
    scene.write("store/a.example/acme/demo/oci-layout", "{}");
    for into in ["store", "oci-layout:store"] {
        let run = scene.tfoci(["cli-config", "--into", into]);
        run.exits(2).without_result();
    }
    scene.write("file", "");
    scene.tfoci(["cli-config", "--into", "file"]).exits(1);
}

#[test]
fn clients_install_from_a_directory_with_any_name() {
    let here = Platform::current().to_string();
    for client in ["terraform", "tofu"].into_iter().filter(|name| has(name)) {
        let scene = Scene::new();
        let release = ReleaseFolder::new("demo", "1.0.0").platform(&here);
        push(&scene, DEMO, "1.0.0", &release);
        let into = r#"mirror "${a}" %{b} \ $${c ${d"#;
        let install = ["install", "--from", "oci-layout:store", "--into", into];
        let installed = scene.tfoci(install).succeeds().stderr;
        let print = ["cli-config", DEMO, "--into", into, "--client", client];
        let block = scene.tfoci(print).succeeds().stdout;
        // Both commands print the same block.
        let (_, after) = installed.split_once("CLI configuration:\n\n").unwrap();
        assert_eq!(after, block);
        let root = scene.path("").canonicalize().unwrap();
        let root = root.to_str().unwrap().trim_end_matches('/');
        scene.write("client.tfrc", block.replace("[TMP]", root));
        let needs = format!(
            "terraform {{\n  required_providers {{\n    demo = {{\n      source = \"{DEMO}\"\n    }}\n  }}\n}}\n"
        );
        scene.write("project/main.tf", needs);
        let init = ["init", "-input=false", "-no-color"];
        run(&scene, &scene.path("project"), client, init).succeeds();
        assert!(fs::exists(scene.path("project/.terraform.lock.hcl")).unwrap());
    }
}

#[test]
fn the_block_in_the_readme_is_printed() {
    let template = "ghcr.io/acme/providers/${hostname}/${namespace}/${type}";
    let printed = print(&["example.com/acme/*", "--from", template]).succeeds();
    let words = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert_eq!(
        words(&block("hcl", "include             = ")),
        words(&printed.stdout)
    );
}

/// Terraform users name its default host once, in the environment, and `lock` then writes for Terraform.
#[test]
fn the_default_host_of_terraform_says_which_client_it_is_for() {
    let scene = Scene::new().env("TFOCI_DEFAULT_HOST", "registry.terraform.io");
    let arguments = ["cli-config", "acme/demo", "--from", TEMPLATE];
    scene.tfoci(arguments).exits(2).without_result();
    let run = scene.tfoci(arguments.into_iter().chain(["--client", "tofu"]));
    let included = "include             = [\"registry.terraform.io/acme/demo\"]";
    assert!(run.succeeds().stdout.contains(included));
    scene.write(".terraformrc", "plugin_cache_dir = \"none\"\n");
    let run = scene.tfoci(["cli-config", "--check"]).exits(1);
    assert!(run.stdout.contains(".terraformrc"), "{}", run.stdout);
}
