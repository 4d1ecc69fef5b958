//! The README: its commands run, and what it shows is what is printed.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use tfoci::platform::Platform;

use crate::support::origin::{Origin, Provider};
use crate::support::programs::has;
use crate::support::scene::Scene;

fn readme() -> String {
    fs::read_to_string("README.md").unwrap()
}

/// The fenced blocks of one language.
pub fn blocks(language: &str) -> Vec<String> {
    let text = readme();
    let opening = format!("```{language}\n");
    text.split(&opening)
        .skip(1)
        .map(|rest| rest.split("```").next().unwrap().to_owned())
        .collect()
}

/// A scene that looks like a clone, as far as the README's commands go.
fn clone() -> Scene {
    let scene = Scene::new();
    for entry in fs::read_dir("testdata/release").unwrap() {
        let path = entry.unwrap().path();
        scene.write(
            Path::new("testdata/release").join(path.file_name().unwrap()),
            fs::read(&path).unwrap(),
        );
    }
    scene
}

/// The only block of one language with these words in it.
pub fn block(language: &str, words: &str) -> String {
    let mut found = blocks(language);
    found.retain(|block| block.contains(words));
    assert_eq!(found.len(), 1, "{words}");
    found.swap_remove(0)
}

/// A scene in which `registry.opentofu.org` is an origin of the provider of the quick start.
fn with_origin() -> (Origin, Scene) {
    let here = Platform::current().to_string();
    let provider = Provider::new("hashicorp/random").version("3.7.2", &[&here, "linux_amd64"]);
    let origin = Origin::of([provider]);
    let scene = Scene::new();
    let ca = origin.write_ca(&scene).display().to_string();
    scene.write("origin.tfrc", origin.host_block("registry.opentofu.org"));
    let scene = scene
        .env("TF_CLI_CONFIG_FILE", "origin.tfrc")
        .env("SSL_CERT_FILE", &ca);
    (origin, scene)
}

#[test]
fn the_quick_start_mirrors_a_provider_and_real_clients_install_it() {
    let here = Platform::current().to_string();
    let (_origin, scene) = with_origin();
    let commands = block("sh", "tfoci mirror hashicorp/random");
    assert_eq!(commands.lines().count(), 3);
    let mut printed = String::new();
    for line in commands.lines() {
        let line = line.replace("linux_amd64", &here);
        let arguments = line.strip_prefix("tfoci ").unwrap();
        printed = scene.tfoci(arguments.split(' ')).succeeds().stderr;
    }
    let root = scene.path("").canonicalize().unwrap();
    let root = root.to_str().unwrap().trim_end_matches('/');
    let configuration = block("hcl", "filesystem_mirror {");
    assert!(printed.contains("filesystem_mirror {"), "{printed}");
    scene.write("project/client.tfrc", configuration.replace("/work", root));
    let needs = "terraform {\n  required_providers {\n    random = {\n      source = \"registry.opentofu.org/hashicorp/random\"\n    }\n  }\n}\n";
    scene.write("project/main.tf", needs);
    let line = block("sh", "TF_CLI_CONFIG_FILE=client.tfrc");
    assert_eq!(line, "TF_CLI_CONFIG_FILE=client.tfrc tofu init\n");
    for client in ["terraform", "tofu"] {
        if !has(client) {
            continue;
        }
        let _none = fs::remove_dir_all(scene.path("project/.terraform"));
        let _none = fs::remove_file(scene.path("project/.terraform.lock.hcl"));
        let mut command = scene.command(client);
        let output = command
            .args(["init", "-input=false", "-no-color"])
            .env("TF_CLI_CONFIG_FILE", "client.tfrc")
            .env("CHECKPOINT_DISABLE", "1")
            .env("HTTPS_PROXY", "http://127.0.0.1:1")
            .current_dir(scene.path("project"))
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{client}: {said}");
    }
}

#[test]
fn the_example_run_is_true() {
    let scene = clone();
    let example = block("console", "$ tfoci push");
    let mut runs = example.split("$ tfoci ").skip(1);
    assert_eq!(runs.clone().count(), 2);
    for run in &mut runs {
        let (command, output) = run.split_once('\n').unwrap();
        let printed = scene.tfoci(command.split(' ')).succeeds().stdout;
        let mut printed = printed.lines();
        for line in output.lines() {
            // Long digests are cut.
            let shown = line.trim_end_matches('…');
            let real = printed.next().unwrap_or_default();
            assert!(real.starts_with(shown), "{line}\n{real}");
        }
    }
}

#[test]
fn the_newcomers_path_exists() {
    let text = readme();
    let (_, path) = text.split_once("## Contributing").unwrap();
    let named: Vec<&str> = path
        .split('`')
        .skip(1)
        .step_by(2)
        .filter(|name| name.contains(".rs"))
        .collect();
    assert!(named.len() >= 4, "{named:?}");
    for name in named {
        assert!(Path::new(name).exists(), "{name}");
    }
}

#[test]
fn the_trust_file_is_one() {
    let scene = clone();
    scene.write("trust.toml", block("toml", "match ="));
    scene.write(
        "keys/acme.asc",
        fs::read("testdata/release/acme.asc").unwrap(),
    );
    let arguments = "push testdata/release --provider example.com/acme/demo --trust trust.toml --to oci-layout:mirror";
    let run = scene.tfoci(arguments.split(' ')).succeeds();
    assert!(run.stderr.contains("(pinned)"), "{}", run.stderr);
}

#[test]
fn the_mirror_file_is_one() {
    let scene = clone()
        .env("HTTPS_PROXY", "http://127.0.0.1:1")
        .env("TF_REGISTRY_DISCOVERY_RETRY", "0")
        .env("REGISTRY_AUTH_FILE", "none.json");
    scene.write("mirror.toml", block("toml", "platforms ="));
    scene.write("trust.toml", "");
    let run = scene.tfoci(["mirror", "--file", "mirror.toml", "--pin-new"]);
    // It is understood, and there is no network.
    let run = run.exits(1);
    assert!(run.stderr.contains("cannot reach"), "{}", run.stderr);
}

#[test]
fn the_nightly_job_installs_this_version_before_it_mirrors() {
    let job = block("yaml", "schedule:");
    let version = format!("ref: v{},", env!("CARGO_PKG_VERSION"));
    let mut at = 0;
    for step in [
        version.as_str(),
        "cargo install --locked --path tfoci",
        "tfoci login ",
        "tfoci mirror --file mirror.toml",
    ] {
        let found = job[at..].find(step);
        at += found.unwrap_or_else(|| panic!("{step} is not where it should be: {job}"));
    }
}

#[test]
fn the_table_of_dependencies_names_all_and_no_others() {
    let text = readme();
    let (_, table) = text.split_once("| dependency | ").unwrap();
    let (table, _) = table.split_once("\n\n").unwrap();
    let named: Vec<&str> = table
        .lines()
        .filter_map(|row| row.strip_prefix("| `")?.split(" |").next())
        .flat_map(|names| names.split('`').filter(|name| !matches!(*name, "" | ", ")))
        .collect();
    let manifest = fs::read_to_string("Cargo.toml").unwrap();
    let manifest = manifest.parse::<toml_edit::DocumentMut>().unwrap();
    let platforms = manifest["target"].as_table().unwrap().iter();
    let declared: BTreeSet<&str> = platforms
        .map(|(_, platform)| platform)
        .chain([manifest.as_item()])
        .flat_map(|item| item["dependencies"].as_table().unwrap().iter())
        .map(|(name, _)| name)
        .collect();
    assert_eq!(named.len(), declared.len(), "{named:?}");
    assert_eq!(BTreeSet::from_iter(named), declared);
}

#[test]
fn it_is_short_enough_to_be_read() {
    let text = readme();
    assert!(text.lines().count() <= 250);
    for line in text.lines() {
        assert!(line.chars().count() <= 120, "{line}");
    }
}

#[test]
fn it_has_one_repository_template() {
    let text = readme();
    for template in ["ghcr.io/", "registry.internal/"] {
        let uses = text.split(template).skip(1);
        let paths = uses.filter_map(|rest| rest.split(['\'', '"', '`', ' ']).next());
        let paths: BTreeSet<_> = paths.filter(|path| path.contains('{')).collect();
        assert_eq!(paths.len(), 1, "{paths:?}");
    }
}

#[test]
fn every_option_in_it_is_one() {
    let scene = Scene::new();
    let commands = [
        "push", "mirror", "copy", "list", "versions", "inspect", "resolve", "install", "login",
    ];
    let pages = commands.map(|command| scene.tfoci([command, "--help"]).succeeds().stdout);
    let options = scene.tfoci(["help", "options"]).succeeds().stdout;
    let all = pages.concat() + &options;
    let text = readme();
    let (guides, _) = text.split_once("## Contributing").unwrap();
    for word in guides.split([' ', '`', '\n', '(', ')', ',', '\'']) {
        if word.starts_with("--") && !word.starts_with("---") && word.len() > 2 {
            let option = word.trim_end_matches(['.', ';', ':']);
            let is_clients = ["--path", "--locked"].contains(&option);
            assert!(is_clients || all.contains(option), "{option}");
        }
    }
}
