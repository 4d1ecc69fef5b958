use std::fs;

use tfoci::platform::Platform;

use super::site;
use crate::clients::{clients, hashes, init, requiring, run};
use crate::install::{DEMO, names, push};
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

#[test]
fn clients_install_from_a_web_server() {
    for client in clients() {
        let scene = Scene::new();
        let here = Platform::current().to_string();
        for (address, version) in REQUIRED.into_iter().chain([(DEMO, "1.0.0")]) {
            let type_name = address.rsplit('/').next().unwrap();
            let release = ReleaseFolder::new(type_name, version).platform(&here);
            push(&scene, address, version, &release.platform("plan9_mips"));
        }
        let server = Files::serve(&scene.path("public"));
        let said = site(&scene, format!("--url {}", server.url("")));
        let said = said.succeeds().stderr;
        let (_, block) = said.split_once("CLI configuration:\n\n").unwrap();
        scene.write("client.tfrc", block);
        scene.write("project/main.tf", requiring(&REQUIRED));
        let ca = Authority::shared().write(&scene, "ca.pem");
        let scene = scene.env("SSL_CERT_FILE", ca.to_str().unwrap());
        let project = scene.path("project");
        init(&scene, "project", client).succeeds();
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
        init(&scene, "project", client).succeeds();
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
    scene.write("project/main.tf", requiring(&[(&address, "")]));
    let platforms = "-platform=linux_amd64 -platform=windows_arm64";
    let arguments = format!("providers mirror {platforms} ../tofu");
    let project = scene.path("project");
    run(&scene, &project, "tofu", arguments.split(' ')).succeeds();
    let mirror = format!("mirror {address} --to oci-layout:store --ca-file ca.pem");
    scene.line(mirror).succeeds();
    site(&scene, "").succeeds();
    let read = |directory: &str, name: &str| {
        let text = fs::read_to_string(scene.path(format!("{directory}/{address}/{name}"))).unwrap();
        let lines = text.split('\n').filter(|line| !line.contains("\"h1:"));
        lines.collect::<Vec<_>>().join("\n")
    };
    for name in ["index.json", "1.0.0.json"] {
        assert_eq!(read("public", name), read("tofu", name));
    }
    let names = |directory: &str| names(&scene.path(format!("{directory}/{address}")));
    assert_eq!(names("public"), names("tofu"));
}
