//! `--help`: complete, short enough for a screen, and true.

use std::fs;
use std::path::Path;

use crate::support::scene::Scene;

const COMMANDS: [&str; 6] = ["push", "copy", "versions", "inspect", "resolve", "install"];

/// Commands that need a registry, or a terminal, to do what their examples say.
const ONLINE: [&str; 2] = ["login", "logout"];

/// The command whose examples need the registries that publish providers.
const MIRROR: &str = "mirror";

/// A scene in which the examples of the help make sense: a release in `dist`, its author's key in `acme.asc`.
fn scene() -> Scene {
    let scene = Scene::new();
    for entry in fs::read_dir("testdata/release").unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap();
        let directory = if name == "acme.asc" {
            Path::new("")
        } else {
            Path::new("dist")
        };
        scene.write(directory.join(name), fs::read(&path).unwrap());
    }
    scene
}

/// The words of a command line as a shell splits them; single quotes are all that the examples use.
fn words(line: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut quoted = false;
    for c in line.chars() {
        match c {
            '\'' => quoted = !quoted,
            ' ' if !quoted => words.push(String::new()),
            _ => words.last_mut().unwrap().push(c),
        }
    }
    words
}

#[test]
fn every_command_has_two_examples_that_work() {
    let scene = scene();
    for command in COMMANDS {
        let help = scene.tfoci([command, "--help"]).succeeds().stdout;
        let (_, examples) = help.split_once("Examples:\n").expect("examples");
        let examples: Vec<_> = examples
            .lines()
            .map_while(|line| line.strip_prefix("  tfoci "))
            .collect();
        assert_eq!(examples.len(), 2, "{command}");
        for example in examples {
            scene.tfoci(words(example)).succeeds();
        }
    }
}

#[test]
fn examples_that_need_a_registry_are_understood() {
    let scene = scene().env("REGISTRY_AUTH_FILE", "none.json");
    for command in ONLINE {
        let help = scene.tfoci([command, "--help"]).succeeds().stdout;
        let examples = help.split("\n  tfoci ").skip(1);
        let examples: Vec<_> = examples.filter_map(|text| text.lines().next()).collect();
        assert_eq!(examples.len(), 2, "{command}");
        for example in examples {
            let (arguments, _) = example.split_once(" < ").unwrap_or((example, ""));
            let run = scene.tfoci(words(arguments));
            // There is neither a terminal nor a password here.
            let asked = run.stderr.starts_with("error: there is no terminal")
                || run.stderr.starts_with("error: no password was given");
            assert!(asked || run.status == Some(0), "{example}: {}", run.stderr);
        }
    }
}

#[test]
fn examples_that_need_origins_are_understood() {
    let scene = scene()
        .env("HTTPS_PROXY", "http://127.0.0.1:1")
        .env("TF_REGISTRY_DISCOVERY_RETRY", "0")
        .env("REGISTRY_AUTH_FILE", "none.json");
    let help = scene.tfoci([MIRROR, "--help"]).succeeds().stdout;
    let examples = help.split("\n  tfoci ").skip(1);
    let examples: Vec<_> = examples.filter_map(|text| text.lines().next()).collect();
    assert_eq!(examples.len(), 2);
    for example in examples {
        let run = scene.tfoci(words(example)).exits(1);
        assert!(run.stderr.contains("cannot reach"), "{}", run.stderr);
    }
}

#[test]
fn the_short_help_says_what_a_command_does_first_and_fits_a_screen() {
    let scene = scene();
    for command in COMMANDS.into_iter().chain(ONLINE).chain([MIRROR]) {
        let help = scene.tfoci([command, "-h"]).succeeds().stdout;
        let first = help.lines().next().unwrap();
        assert!(first.len() > 20 && !first.ends_with('.'), "{first}");
        assert!(
            help.lines().count() <= 50,
            "{command}: {} lines",
            help.lines().count()
        );
        assert!(
            help.lines().all(|line| line.chars().count() <= 100),
            "{command}"
        );
    }
}

#[test]
fn exit_codes_and_variables_are_listed_in_help_and_readme() {
    let scene = scene();
    let readme = fs::read_to_string("README.md").unwrap();
    let help = scene.tfoci(["--help"]).succeeds().stdout;
    for code in ["0 ", "1 ", "2 ", "3 ", "130 "] {
        assert!(
            help.lines().any(|line| line.trim_start().starts_with(code)),
            "{code}"
        );
        assert!(readme.contains(&format!("| {}|", code)), "{code}");
    }
    for text in [
        "TFOCI_DEFAULT_HOST",
        "TFOCI_TIMEOUT",
        "REGISTRY_AUTH_FILE",
        "DOCKER_CONFIG",
        "TF_CLI_CONFIG_FILE",
        "SSL_CERT_FILE",
        "SSL_CERT_DIR",
        "HTTPS_PROXY",
        "NO_PROXY",
        "NO_COLOR",
        "CLICOLOR_FORCE",
    ] {
        assert!(help.contains(text) && readme.contains(text), "{text}");
    }
}

#[test]
fn every_option_is_documented() {
    let scene = scene();
    for command in COMMANDS.into_iter().chain(ONLINE).chain([MIRROR]) {
        let help = scene.tfoci([command, "-h"]).succeeds().stdout;
        for line in help
            .lines()
            .filter(|line| line.trim_start().starts_with('-') && !line.starts_with("         "))
        {
            let bare = line
                .split("  ")
                .filter(|part| !part.trim().is_empty())
                .count()
                < 2;
            let next = help
                .lines()
                .skip_while(|other| *other != line)
                .nth(1)
                .unwrap_or_default();
            assert!(!bare || next.starts_with("         "), "{command}: {line}");
        }
    }
}

#[test]
fn oci_push_is_push_under_another_name() {
    let scene = scene();
    let help = scene.oci_push(["-h"]).succeeds().stdout;
    assert!(
        help.contains("Usage: oci-push [OPTIONS] --provider"),
        "{help}"
    );
    let run = scene.oci_push([
        "dist",
        "--provider",
        "acme/demo",
        "--key",
        "acme.asc",
        "--to",
        "oci-layout:mirror",
    ]);
    assert!(
        run.succeeds()
            .stdout
            .starts_with("oci-layout:mirror/registry.opentofu.org/acme/demo:1.0.0@sha256:")
    );
}
