//! Terraform and OpenTofu install from the mirror, offline, and record the hashes that tfoci reported.

use std::collections::BTreeSet;
use std::fs;

use tfoci::platform::Platform;

use super::{clients, hashes, init, requiring, run, said};
use crate::install::forms::with_directory;
use crate::install::{DEMO, install, push};
use crate::support::release::ReleaseFolder;
use crate::support::scene::Scene;

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
fn install_and_configure(scene: &Scene, arguments: &str) -> BTreeSet<String> {
    let installed = install(scene, format!("{arguments} -v")).succeeds();
    let real = scene.path("").canonicalize().unwrap();
    let (said, block) = installed
        .stderr
        .split_once("\nFor the client's CLI configuration:\n\n")
        .unwrap();
    let block = block.replace("[TMP]", real.to_str().unwrap().trim_end_matches('/'));
    scene.write("client.tfrc", block);
    let lines: Vec<&str> = said.lines().map(str::trim).collect();
    hashes(&lines.join("\""))
}

/// A configuration that needs these providers, in a directory of its own.
fn project(scene: &Scene, name: &str, providers: &[(&str, &str)]) {
    scene.write(format!("{name}/main.tf"), requiring(providers));
}

/// The hashes in the lock file of `project`.
fn locked(scene: &Scene) -> BTreeSet<String> {
    let lock = scene.path("project/.terraform.lock.hcl");
    hashes(&fs::read_to_string(lock).unwrap())
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
            let reported = install_and_configure(&scene, &format!("{DEMO} {form}"));
            project(&scene, "project", &[(DEMO, "~> 1.0")]);
            init(&scene, "project", client).succeeds();
            let locked = locked(&scene);
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
            let reported = install_and_configure(&scene, form);
            let both = addresses.map(|address| (address, "1.0.0"));
            project(&scene, "project", &both);
            init(&scene, "project", client).succeeds();
            assert_eq!(h1(&locked(&scene)), h1(&reported), "{client} {form}");
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
        install_and_configure(&scene, &format!("{DEMO}@1.0.0 --unpacked"));
        // The unpacked package stays, and clients find it beside the packed ones.
        install(&scene, DEMO).exits(3);
        let candidate = format!("{DEMO}@2.0.0-beta.1+build.5");
        install_and_configure(&scene, &format!("{candidate} {other}"));
        let new = [(DEMO, "2.0.0-beta.1+build.5"), (other, ">= 0.1, < 1")];
        project(&scene, "new", &new);
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
            let reported = install_and_configure(&scene, &format!("--platform all {form}"));
            project(&scene, "project", &[(DEMO, "1.0.0")]);
            let mirror = format!("-fs-mirror={}", scene.path("mirror").display());
            let platforms = format!("-platform={} -platform=plan9_mips", here());
            let lock = format!("providers lock {mirror} {platforms}");
            let project = scene.path("project");
            run(&scene, &project, client, lock.split(' ')).succeeds();
            let locked = locked(&scene);
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
            push(&scene, DEMO, "1.0.0", &with_directory(&here()));
            let reported = install_and_configure(&scene, form);
            assert_eq!(h1(&reported).len(), 2);
            project(&scene, "project", &[(DEMO, "1.0.0")]);
            init(&scene, "project", client).succeeds();
            assert!(locked(&scene).is_subset(&reported), "{client} {form}");
            fs::remove_dir_all(scene.path("project/.terraform")).unwrap();
            let said = said(&init(&scene, "project", client).exits(again));
            let is_refused = said.contains("recorded in the dependency lock file");
            assert_eq!(is_refused, again != 0, "{client} {form}: {said}");
        }
    }
}
