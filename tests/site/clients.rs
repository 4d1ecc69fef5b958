use std::collections::BTreeSet;
use std::fs;

use tfoci::platform::Platform;

use super::site;
use crate::clients::run;
use crate::install::{DEMO, push, tree};
use crate::support::files::Files;
use crate::support::origin::{Origin, Provider};
use crate::support::programs::has;
use crate::support::release::ReleaseFolder;
use crate::support::scene::Scene;
use crate::support::tls::Authority;

/// The addresses that the project requires, with their versions.
const REQUIRED: [(&str, &str); 3] = [
    (DEMO, "1.1.0"),
    ("bücher.example/acme/demo", "2.0.0-beta.1+build.5"),
    ("example.net/team/other", "0.3.0"),
];

/// The hashes of a text, as lock files and documents write them.
fn hashes(text: &str) -> BTreeSet<String> {
    let words = text.split('"');
    let hashes = words.filter(|word| word.starts_with("h1:") || word.starts_with("zh:"));
    hashes.map(str::to_owned).collect()
}

#[test]
fn clients_install_from_a_web_server() {
    for client in ["terraform", "tofu"]
        .into_iter()
        .filter(|client| has(client))
    {
        let scene = Scene::new();
        let here = Platform::current().to_string();
        for (address, version) in REQUIRED {
            let type_name = address.rsplit('/').next().unwrap();
            let release = ReleaseFolder::new(type_name, version)
                .platform(&here)
                .platform("plan9_mips");
            push(&scene, address, version, &release);
        }
        push(
            &scene,
            DEMO,
            "1.0.0",
            &ReleaseFolder::new("demo", "1.0.0").platform(&here),
        );
        let server = Files::serve(&scene.path("public"));
        let printed = site(&scene, format!("--url {}", server.url(""))).succeeds();
        let (_, block) = printed
            .stderr
            .split_once("\nFor the client's CLI configuration:\n\n")
            .unwrap();
        scene.write("client.tfrc", block);
        let required: String = (0..)
            .zip(REQUIRED)
            .map(|(n, (source, version))| {
                format!("    p{n} = {{\n      source  = \"{source}\"\n      version = \"{version}\"\n    }}\n")
            })
            .collect();
        scene.write(
            "project/main.tf",
            format!("terraform {{\n  required_providers {{\n{required}  }}\n}}\n"),
        );
        let ca = Authority::shared().write(&scene, "ca.pem");
        let scene = scene.env("SSL_CERT_FILE", ca.to_str().unwrap());
        let project = scene.path("project");
        run(
            &scene,
            &project,
            client,
            ["init", "-input=false", "-no-color"],
        )
        .succeeds();
        let lock = fs::read_to_string(project.join(".terraform.lock.hcl")).unwrap();
        let stated = [
            "example.com/acme/demo/1.1.0",
            "xn--bcher-kva.example/acme/demo/2.0.0-beta.1+build.5",
            "example.net/team/other/0.3.0",
        ]
        .map(|path| fs::read_to_string(scene.path(format!("public/{path}.json"))).unwrap());
        let stated = hashes(&stated.concat());
        let locked = hashes(&lock);
        assert!(locked.len() >= REQUIRED.len(), "{client}: {lock}");
        assert!(locked.is_subset(&stated), "{client}: {locked:?} {stated:?}");

        // Another machine, with the lock file and without the packages.
        fs::remove_dir_all(project.join(".terraform")).unwrap();
        run(
            &scene,
            &project,
            client,
            ["init", "-input=false", "-no-color"],
        )
        .succeeds();
    }
}

/// The same provider by `tofu providers mirror` and by tfoci, except the hashes that only tfoci writes.
#[test]
fn documents_are_byte_for_byte_those_of_tofu() {
    if !has("tofu") {
        return;
    }
    let origin = Origin::of([Provider::demo(&["linux_amd64", "windows_arm64"])]);
    let address = origin.address("acme/demo");
    let scene = Scene::new();
    let ca = origin.write_ca(&scene);
    let scene = scene.env("SSL_CERT_FILE", ca.to_str().unwrap());
    scene.write("client.tfrc", "");
    let required = format!("demo = {{ source = \"{address}\" }}");
    scene.write(
        "project/main.tf",
        format!("terraform {{\n  required_providers {{\n    {required}\n  }}\n}}\n"),
    );
    let platforms = ["-platform=linux_amd64", "-platform=windows_arm64"];
    let arguments = ["providers", "mirror", platforms[0], platforms[1], "../tofu"];
    run(&scene, &scene.path("project"), "tofu", arguments).succeeds();
    let ca = ca.to_str().unwrap();
    scene
        .line(format!(
            "mirror {address} --to oci-layout:store --ca-file {ca}"
        ))
        .succeeds();
    site(&scene, "").succeeds();
    let read = |directory: &str, name: &str| {
        let text = fs::read_to_string(scene.path(format!("{directory}/{address}/{name}"))).unwrap();
        let lines = text.split('\n').filter(|line| !line.contains("\"h1:"));
        lines.collect::<Vec<_>>().join("\n")
    };
    for name in ["index.json", "1.0.0.json"] {
        assert_eq!(read("public", name), read("tofu", name));
    }
    let names = |directory: &str| {
        let files = tree(&scene.path(format!("{directory}/{address}")));
        files.into_keys().collect::<Vec<_>>()
    };
    assert_eq!(names("public"), names("tofu"));
}
