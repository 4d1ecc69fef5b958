//! `--help`: complete, short enough for a screen, and true.

use std::fs;
use std::path::Path;

use crate::support::scene::Scene;
use crate::support::tls::Authority;

/// The examples of each command work.
mod examples;

const COMMANDS: [&str; 15] = [
    "push",
    "copy",
    "list",
    "versions",
    "inspect",
    "have",
    "resolve",
    "install",
    "site",
    "cli-config",
    "completions",
    "config",
    "man",
    "schema",
    // It deletes what the others read.
    "prune",
];

/// Commands whose examples need a registry or a terminal.
const ONLINE: [&str; 2] = ["login", "logout"];

/// Commands of two words. The help of the first word lists the second ones.
const NESTED: [[&str; 2]; 2] = [["trust", "check"], ["trust", "show"]];

/// Commands whose examples need the registries that publish providers.
const ORIGINS: [&str; 2] = ["mirror", "lock"];

/// A scene in which the examples of the help make sense: a release in `dist`, its author's key in `acme.asc`, a trust file that
/// pins it, the authority of a registry in `ca.pem`, and a configuration that requires the provider.
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
    let trust = "[[provider]]\nmatch = \"*/*/*\"\nkeys = [\"acme.asc\"]\n";
    scene.write("trust.toml", trust);
    let required = "demo = { source = \"acme/demo\" }";
    scene.write(
        "main.tf",
        format!("terraform {{\n  required_providers {{\n    {required}\n  }}\n}}\n"),
    );
    Authority::shared().write(&scene, "ca.pem");
    scene
}

#[test]
fn the_short_help_begins_with_the_purpose_of_the_command_and_fits_a_screen() {
    let scene = scene();
    let commands = COMMANDS.into_iter().chain(ONLINE);
    for command in commands.chain(ORIGINS).chain(["trust"]) {
        let help = scene.tfoci([command, "-h"]).succeeds().stdout;
        let first = help.lines().next().unwrap();
        assert!(first.len() > 20 && !first.ends_with('.'), "{first}");
        assert!(
            help.lines().count() <= 40,
            "{command}: {} lines",
            help.lines().count()
        );
        assert!(
            help.lines().all(|line| line.chars().count() <= 100),
            "{command}"
        );
    }
}

/// The topics of `tfoci help`, as the list of commands names them.
fn topics(scene: &Scene) -> Vec<String> {
    let help = scene.tfoci(["--help"]).succeeds().stdout;
    let (_, list) = help
        .split_once("Help topics, by `tfoci help TOPIC`:\n")
        .unwrap();
    let lines = list.lines().map_while(|line| line.strip_prefix("  "));
    lines
        .map(|line| line.split(' ').next().unwrap().to_owned())
        .collect()
}

#[test]
fn every_topic_that_help_lists_has_a_page_that_fits_a_terminal() {
    let scene = scene();
    let topics = topics(&scene);
    assert_eq!(topics.len(), 12, "{topics:?}");
    for topic in topics {
        let page = scene.tfoci(["help", &topic]).succeeds();
        assert_eq!(page.stderr, "");
        let lines = page.stdout.lines().count();
        assert!((9..=60).contains(&lines), "{topic}: {lines}");
        for line in page.stdout.lines() {
            assert!(line.chars().count() <= 100, "{topic}: {line}");
        }
    }
}

#[test]
fn help_command_prints_the_help_of_the_command() {
    let scene = scene();
    let commands = COMMANDS.into_iter().chain(ONLINE).chain(ORIGINS);
    for command in commands.chain(["help"]) {
        let long = scene.tfoci([command, "--help"]).succeeds().stdout;
        let page = scene.tfoci(["help", command]).succeeds().stdout;
        assert_eq!(page.trim_end(), long.trim_end());
    }
    let all = scene.tfoci(["--help"]).succeeds().stdout;
    let page = scene.tfoci(["help"]).succeeds().stdout;
    assert_eq!(page.trim_end(), all.trim_end());
    let long = scene.tfoci(["trust", "check", "--help"]).succeeds().stdout;
    let page = scene.tfoci(["help", "trust", "check"]).succeeds().stdout;
    assert_eq!(page.trim_end(), long.trim_end());
    scene.tfoci(["help", "chekc"]).exits(2).without_result();
}

#[test]
fn options_of_every_command_have_one_page() {
    let scene = scene();
    let page = scene.line("help options").succeeds().stdout;
    let commands = COMMANDS.into_iter().chain(ONLINE).chain(ORIGINS);
    let helps: Vec<String> = commands
        .map(|command| scene.tfoci([command, "--help"]).succeeds().stdout)
        .collect();
    for option in [
        "--format",
        "--quiet",
        "--jobs",
        "--default-host",
        "--exact-repository",
        "--ca-file",
        "--client-cert",
        "--plain-http",
        "--timeout",
        "--authfile",
        "--cli-config",
    ] {
        assert!(page.contains(option), "{option}");
        for help in &helps {
            // An example may use the option.
            let (list, _) = help.split_once("Examples:\n").unwrap_or((help, ""));
            let lists = |line: &str| line.trim_start().starts_with(&format!("{option} "));
            assert!(!list.lines().any(lists), "{option}: {help}");
            assert!(help.contains("tfoci help options"), "{help}");
        }
    }
}

#[test]
fn exit_codes_and_variables_are_listed() {
    let scene = scene();
    let help = scene.tfoci(["--help"]).succeeds().stdout;
    let page = scene.tfoci(["help", "exit-codes"]).succeeds().stdout;
    for code in ["0 ", "1 ", "2 ", "3 ", "4 ", "130 "] {
        for text in [&help, &page] {
            assert!(
                text.lines().any(|line| line.trim_start().starts_with(code)),
                "{code}"
            );
        }
    }
    let page = scene.tfoci(["help", "environment"]).succeeds().stdout;
    for name in [
        "TFOCI_DEFAULT_HOST",
        "TFOCI_TIMEOUT",
        "TFOCI_ALLOW_PRIVATE",
        "TF_PLUGIN_CACHE_DIR",
        "REGISTRY_AUTH_FILE",
        "DOCKER_CONFIG",
        "TF_DATA_DIR",
        "TF_CLI_CONFIG_FILE",
        "TF_TOKEN_",
        "NETRC",
        "TF_REGISTRY_CLIENT_TIMEOUT",
        "TF_REGISTRY_DISCOVERY_RETRY",
        "TF_PROVIDER_DOWNLOAD_RETRY",
        "SSL_CERT_FILE",
        "SSL_CERT_DIR",
        "HTTPS_PROXY",
        "HTTP_PROXY",
        "ALL_PROXY",
        "NO_PROXY",
        "TMPDIR",
        "NO_COLOR",
        "CLICOLOR_FORCE",
        "TERM=dumb",
        "CI",
    ] {
        assert!(page.contains(name), "{name}");
    }
}

#[test]
fn exit_codes_for_files_and_folders_match_the_help_page() {
    let scene = scene();
    scene.write("broken", "x {");
    for (arguments, code) in [
        ("push dist --provider acme/other --key acme.asc", 2),
        ("push dist --provider acme/demo@2.0.0 --key acme.asc", 1),
        (
            "push dist --provider acme/demo --platform plan9_mips --key acme.asc",
            1,
        ),
        ("push dist --provider acme/demo --require-pinned", 2),
        ("push dist --provider acme/demo --key broken", 2),
        ("push dist --provider acme/demo --trust broken", 2),
        ("push dist --provider acme/demo --trust none", 1),
        ("mirror --file broken", 2),
        ("mirror --file none", 1),
        ("mirror --from-lock broken", 2),
        ("mirror --from-lock none", 1),
        ("mirror acme/demo --cli-config broken", 1),
    ] {
        let arguments = format!("{arguments} --to oci-layout:mirror");
        scene.tfoci(arguments.split(' ')).exits(code);
    }
}

#[test]
fn the_version_names_the_commit_and_the_target() {
    let scene = scene();
    for run in [scene.tfoci(["--version"]), scene.oci_push(["--version"])] {
        let text = run.succeeds().stdout;
        let (_, rest) = text
            .split_once(concat!(" ", env!("CARGO_PKG_VERSION"), " ("))
            .unwrap();
        let (commit, target) = rest
            .trim_end()
            .strip_suffix(')')
            .unwrap()
            .split_once(", ")
            .unwrap();
        assert!(!commit.is_empty() && target.contains('-'), "{text}");
    }
}

#[test]
fn every_option_is_documented() {
    let scene = scene();
    for command in COMMANDS.into_iter().chain(ONLINE).chain(ORIGINS) {
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
fn oci_push_has_the_help_of_push() {
    let scene = scene();
    let help = scene.oci_push(["-h"]).succeeds().stdout;
    assert!(
        help.contains("Usage: oci-push [OPTIONS] --provider"),
        "{help}"
    );
    let help = scene.oci_push(["--help"]).succeeds().stdout;
    let example = "oci-push dist --provider example.com/acme/demo --key acme.asc \\\n    --to oci-layout:mirror";
    assert!(help.contains(example), "{help}");
    let line = "dist --provider acme/demo --key acme.asc --to oci-layout:mirror";
    let run = scene.oci_push(line.split(' '));
    assert!(
        run.succeeds()
            .stdout
            .starts_with("oci-layout:mirror/registry.opentofu.org/acme/demo:1.0.0@sha256:")
    );
}

#[test]
fn help_trust_is_a_topic_and_its_commands_have_pages() {
    let scene = scene();
    let topic = scene.tfoci(["help", "trust"]).succeeds().stdout;
    for words in NESTED {
        let [first, second] = words;
        let help = scene.tfoci([first, second, "-h"]).succeeds().stdout;
        assert!(help.lines().count() <= 40, "{help}");
        assert!(help.lines().all(|line| line.chars().count() <= 100));
        assert!(help.ends_with("tfoci help exit-codes\n"), "{help}");
        assert!(!help.contains("--ca-file"), "{help}");
        assert!(
            topic.contains(&format!("tfoci {first} {second}")),
            "{topic}"
        );
    }
}
