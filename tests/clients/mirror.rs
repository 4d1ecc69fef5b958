//! Terraform and OpenTofu install from the mirror, offline, and record the hashes that tfoci reported.

use std::collections::BTreeSet;
use std::fs;

use tfoci::platform::Platform;

use super::run;
use crate::install::{DEMO, install, push};
use crate::support::programs::has;
use crate::support::release::ReleaseFolder;
use crate::support::scene::{Run, Scene};

/// The clients on this machine.
fn clients() -> impl Iterator<Item = &'static str> {
    ["terraform", "tofu"]
        .into_iter()
        .filter(|client| has(client))
}

fn here() -> String {
    Platform::current().to_string()
}

/// Pushes one version for this machine and for a platform that no machine has.
fn push_release(scene: &Scene, address: &str, version: &str) {
    let type_name = address.rsplit('/').next().unwrap();
    let release = ReleaseFolder::new(type_name, version)
        .platform(&here())
        .platform("plan9_mips");
    push(scene, address, version, &release);
}

/// Installs everything and returns the reported hashes. The printed block becomes the client's configuration, unchanged.
fn install_and_configure(scene: &Scene, arguments: &[&str]) -> BTreeSet<String> {
    let installed = install(scene, format!("{} -v", arguments.join(" "))).succeeds();
    let real = scene.path("").canonicalize().unwrap();
    let (said, block) = installed
        .stderr
        .split_once("\nFor the client's CLI configuration:\n\n")
        .unwrap();
    let block = block.replace("[TMP]", real.to_str().unwrap().trim_end_matches('/'));
    scene.write("client.tfrc", block);
    let hashes = said.lines().map(str::trim);
    hashes
        .filter(|line| line.starts_with("h1:") || line.starts_with("zh:"))
        .map(str::to_owned)
        .collect()
}

/// A configuration that needs these providers, in a directory of its own.
fn project(scene: &Scene, name: &str, providers: &[(&str, &str)]) {
    let required: String = providers
        .iter()
        .enumerate()
        .map(|(n, (source, version))| {
            format!("    p{n} = {{\n      source  = \"{source}\"\n      version = \"{version}\"\n    }}\n")
        })
        .collect();
    scene.write(
        format!("{name}/main.tf"),
        format!("terraform {{\n  required_providers {{\n{required}  }}\n}}\n"),
    );
}

fn init(scene: &Scene, project: &str, client: &str) -> Run {
    run(
        scene,
        &scene.path(project),
        client,
        ["init", "-input=false", "-no-color"],
    )
}

/// The hashes in the lock file.
fn locked(scene: &Scene, project: &str) -> BTreeSet<String> {
    let lock = fs::read_to_string(scene.path(project).join(".terraform.lock.hcl")).unwrap();
    lock.split('"')
        .filter(|text| text.starts_with("h1:") || text.starts_with("zh:"))
        .map(str::to_owned)
        .collect()
}

fn h1(hashes: &BTreeSet<String>) -> BTreeSet<String> {
    let h1 = hashes.iter().filter(|hash| hash.starts_with("h1:"));
    h1.cloned().collect()
}

#[test]
fn clients_install_from_both_forms_and_lock_the_h1_that_we_report() {
    for client in clients() {
        for form in ["--packed", "--unpacked"] {
            let scene = Scene::new();
            push_release(&scene, DEMO, "1.0.0");
            push_release(&scene, DEMO, "1.1.0-rc.1");
            let reported = install_and_configure(&scene, &[DEMO, form]);
            project(&scene, "project", &[(DEMO, "~> 1.0")]);
            init(&scene, "project", client).succeeds();
            let locked = locked(&scene, "project");
            assert_eq!(h1(&locked), h1(&reported), "{client} {form}");
            assert!(locked.is_subset(&reported), "{client} {form}: {locked:?}");
            let installed = format!("project/.terraform/providers/{DEMO}/1.0.0/{}", here());
            let executable = scene.path(installed).join("terraform-provider-demo_v1.0.0");
            assert!(executable.is_file());

            // A second machine, with the lock file in its repository.
            fs::remove_dir_all(scene.path("project/.terraform")).unwrap();
            init(&scene, "project", client).succeeds();
        }
    }
}

#[test]
fn clients_find_hosts_in_any_script_and_with_ports() {
    for client in clients() {
        for form in ["--packed", "--unpacked"] {
            let scene = Scene::new();
            let addresses = ["bücher.example/acme/demo", "example.com:8443/acme/demo"];
            for address in addresses {
                push_release(&scene, address, "1.0.0");
            }
            let reported = install_and_configure(&scene, &[form]);
            project(
                &scene,
                "project",
                &addresses.map(|address| (address, "1.0.0")),
            );
            init(&scene, "project", client).succeeds();
            assert_eq!(
                h1(&locked(&scene, "project")),
                h1(&reported),
                "{client} {form}"
            );
        }
    }
}

#[test]
fn clients_install_several_providers_and_versions_from_one_mirror() {
    for client in clients() {
        let scene = Scene::new();
        let other = "example.net/team/other";
        push_release(&scene, DEMO, "1.0.0");
        push_release(&scene, DEMO, "2.0.0-beta.1+build.5");
        push_release(&scene, other, "0.3.0");
        install_and_configure(&scene, &["example.com/acme/demo@1.0.0", "--unpacked"]);
        let asked = [DEMO, "example.com/acme/demo@2.0.0-beta.1+build.5", other];
        // The unpacked package stays, and clients find it beside the packed ones.
        install(&scene, asked[0]).exits(3);
        install_and_configure(&scene, &asked[1..]);
        project(
            &scene,
            "new",
            &[(DEMO, "2.0.0-beta.1+build.5"), (other, ">= 0.1, < 1")],
        );
        project(&scene, "old", &[(DEMO, "~> 1.0")]);
        init(&scene, "new", client).succeeds();
        init(&scene, "old", client).succeeds();
    }
}

#[test]
fn clients_lock_several_platforms_from_the_mirror() {
    for client in clients() {
        for form in ["--packed", "--unpacked"] {
            let scene = Scene::new();
            push_release(&scene, DEMO, "1.0.0");
            let reported = install_and_configure(&scene, &["--platform", "all", form]);
            project(&scene, "project", &[(DEMO, "1.0.0")]);
            let mirror = format!("-fs-mirror={}", scene.path("mirror").display());
            let platform = format!("-platform={}", here());
            let arguments = [
                "providers",
                "lock",
                &mirror,
                &platform,
                "-platform=plan9_mips",
            ];
            run(&scene, &scene.path("project"), client, arguments).succeeds();
            let locked = locked(&scene, "project");
            assert_eq!(h1(&locked).len(), 2);
            assert_eq!(h1(&locked), h1(&reported), "{client} {form}");
            assert!(locked.is_subset(&reported), "{client} {form}: {locked:?}");
            init(&scene, "project", client).succeeds();
        }
    }
}

/// Clients behave as the warning about directory entries says.
#[test]
fn clients_refuse_their_own_lock_of_a_packed_zip_with_directory_entries() {
    for client in clients() {
        for (form, again) in [("--packed", 1), ("--unpacked", 0)] {
            let scene = Scene::new();
            let files: [(&str, &[u8]); 3] = [
                ("docs/", b""),
                ("docs/x.md", b"x\n"),
                ("terraform-provider-demo_v1.0.0", b"#!/bin/sh\n"),
            ];
            let release = ReleaseFolder::new("demo", "1.0.0").package(&here(), &files);
            push(&scene, DEMO, "1.0.0", &release);
            let reported = install_and_configure(&scene, &[form]);
            assert_eq!(h1(&reported).len(), 2);
            project(&scene, "project", &[(DEMO, "1.0.0")]);
            init(&scene, "project", client).succeeds();
            assert!(
                locked(&scene, "project").is_subset(&reported),
                "{client} {form}"
            );
            fs::remove_dir_all(scene.path("project/.terraform")).unwrap();
            let said = init(&scene, "project", client).exits(again).stderr;
            let reason = "recorded in the dependency lock file";
            let words: Vec<&str> = said
                .split_whitespace()
                .filter(|word| *word != "│")
                .collect();
            assert_eq!(
                words.join(" ").contains(reason),
                again != 0,
                "{client} {form}: {said}"
            );
        }
    }
}
