//! The README: its commands run, and what it shows is what is printed.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

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

#[test]
fn the_first_commands_build_and_push_test_and_inspect() {
    let first = blocks("sh").swap_remove(0);
    let lines: Vec<&str> = first.lines().collect();
    assert_eq!(lines.len(), 3, "{first}");
    assert_eq!(lines[1], "cargo test --locked");
    let scene = clone();
    for line in [lines[0], lines[2]] {
        let arguments = line
            .strip_prefix("cargo run --locked -- ")
            .expect("a run of the program");
        scene.tfoci(arguments.split(' ')).succeeds();
    }
}

#[test]
fn the_example_run_is_true() {
    let example = blocks("console").swap_remove(0);
    let scene = clone();
    let mut shown = String::new();
    let mut printed = String::new();
    for step in example.split("$ tfoci ").skip(1) {
        let (command, output) = step.split_once('\n').unwrap();
        shown.push_str(&format!("$ tfoci {command}\n{output}"));
        // Packages are announced as they are done, in no particular order, with one job in theirs.
        let run = scene
            .tfoci(command.split(' ').chain(["--jobs", "1"]))
            .succeeds();
        printed.push_str(&format!(
            "$ tfoci {command}\n{}{}\n",
            run.stderr, run.stdout
        ));
    }
    assert_eq!(without_times(shown.trim()), without_times(printed.trim()));
}

/// Text in which every duration is the same.
fn without_times(text: &str) -> String {
    let lines = text.lines().map(|line| match line.rsplit_once(" in ") {
        Some((before, time)) if time.ends_with('s') => format!("{before} in 0.0s"),
        _ => line.trim_end().to_owned(),
    });
    lines.collect::<Vec<_>>().join("\n")
}

#[test]
fn the_newcomers_path_exists() {
    let text = readme();
    let (_, path) = text.split_once("## How it is built").unwrap();
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
    scene.write("trust.toml", blocks("toml").swap_remove(1));
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
    scene.write("mirror.toml", blocks("toml").swap_remove(0));
    let run = scene.tfoci(["mirror", "--file", "mirror.toml", "--pin-new"]);
    // It is understood, and there is no network.
    let run = run.exits(1);
    assert!(run.stderr.contains("cannot reach"), "{}", run.stderr);
}

/// The only block of one language with these words in it.
fn block(language: &str, words: &str) -> String {
    let mut found = blocks(language);
    found.retain(|block| block.contains(words));
    assert_eq!(found.len(), 1, "{words}");
    found.swap_remove(0)
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
fn the_indexed_job_has_all_that_it_reads() {
    let job = block("yaml", "Indexed");
    let setup = block("sh", "kubectl ");
    for (path, volume, mount, made) in [
        (
            "--file /etc/tfoci/mirror.toml",
            "{ name: plan, configMap: { name: tfoci } }",
            "{ name: plan, mountPath: /etc/tfoci }",
            "configmap tfoci --from-file mirror.toml --from-file trust.toml",
        ),
        (
            "name: REGISTRY_AUTH_FILE, value: /etc/registry/.dockerconfigjson",
            "{ name: registry, secret: { secretName: registry } }",
            "{ name: registry, mountPath: /etc/registry }",
            "secret docker-registry registry ",
        ),
    ] {
        for words in [path, volume, mount] {
            assert!(job.contains(words), "{words}");
        }
        assert!(setup.contains(made), "{made}");
    }
    let image = format!("/tfoci:{}\n", env!("CARGO_PKG_VERSION"));
    assert!(job.contains(&image), "{job}");
}

#[test]
fn every_command_that_prints_a_document_is_in_the_table_of_documents() {
    let text = readme();
    let (_, output) = text.split_once("| command | document |").unwrap();
    let (table, _) = output.split_once("\n\n").unwrap();
    for command in ["push", "mirror", "copy", "versions", "inspect", "install"] {
        assert!(table.contains(&format!("`{command}`")), "{command}");
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
    assert!(readme().lines().count() <= 350);
}
