//! `--help`: complete, short enough for a screen, and true.

use std::fs;

use crate::clients::requiring;
use crate::support::scene::Scene;
use crate::support::tls::Authority;

/// The examples of each command work.
mod examples;

/// The last one deletes what the others read.
const COMMANDS: &str = "push copy list versions inspect have resolve install site cli-config completions config man schema prune";

/// Commands whose examples need a registry or a terminal.
const ONLINE: [&str; 2] = ["login", "logout"];

/// Commands of two words. The help of the first word lists the second ones.
const NESTED: [&str; 2] = ["trust check", "trust show"];

/// Commands whose examples need the registries that publish providers.
const ORIGINS: [&str; 2] = ["mirror", "lock"];

/// All commands of one word.
fn commands() -> impl Iterator<Item = &'static str> {
    COMMANDS.split(' ').chain(ONLINE).chain(ORIGINS)
}

/// The names in a list of `tfoci --help`: the first words below a heading.
pub fn listed(help: &str, heading: &str) -> Vec<String> {
    let (_, list) = help.split_once(&format!("\n{heading}")).unwrap();
    let lines = list.lines().skip(1).take_while(|line| !line.is_empty());
    // A longer description goes on in a line that is indented further.
    let lines = lines.filter(|line| !line.starts_with("   "));
    let names = lines.filter_map(|line| line.split_whitespace().next());
    names.map(str::to_owned).collect()
}

/// A scene in which the examples of the help make sense: a release in `dist`, its author's key in `acme.asc`, a trust file that
/// pins it, the authority of a registry in `ca.pem`, and a configuration that requires the provider.
fn scene() -> Scene {
    let scene = Scene::new();
    crate::support::copy("testdata/release".as_ref(), &scene.path("dist"));
    fs::rename(scene.path("dist/acme.asc"), scene.path("acme.asc")).unwrap();
    let trust = "[[provider]]\nmatch = \"*/*/*\"\nkeys = [\"acme.asc\"]\n";
    scene.write("trust.toml", trust);
    scene.write("main.tf", requiring(&[("acme/demo", "")]));
    Authority::shared().write(&scene, "ca.pem");
    scene
}

#[test]
fn the_short_help_begins_with_the_purpose_of_the_command_and_fits_a_screen() {
    let scene = scene();
    for command in commands().chain(["trust"]) {
        let help = scene.tfoci([command, "-h"]).succeeds().stdout;
        let first = help.lines().next().unwrap();
        assert!(first.len() > 20 && !first.ends_with('.'), "{first}");
        fits(&help, 40);
    }
}

/// Asserts that a text fits a screen of this height.
#[track_caller]
fn fits(text: &str, height: usize) {
    assert!(text.lines().count() <= height, "{text}");
    for line in text.lines() {
        assert!(line.chars().count() <= 100, "{line}");
    }
}

#[test]
fn every_topic_that_help_lists_has_a_page_that_fits_a_terminal() {
    let scene = scene();
    let help = scene.line("--help").succeeds().stdout;
    let topics = listed(&help, "Help topics, by `tfoci help TOPIC`:");
    assert_eq!(topics.len(), 12, "{topics:?}");
    for topic in topics {
        let page = scene.tfoci(["help", &topic]).succeeds();
        assert_eq!(page.stderr, "");
        assert!(page.stdout.lines().count() >= 9, "{topic}");
        fits(&page.stdout, 60);
    }
}

#[test]
fn help_command_prints_the_help_of_the_command() {
    let scene = scene();
    for command in commands().chain(["help", "", "trust check"]) {
        let [long, page] = [format!("{command} --help"), format!("help {command}")]
            .map(|line| scene.line(line).succeeds().stdout);
        assert_eq!(page.trim_end(), long.trim_end());
    }
    scene.line("help chekc").exits(2).without_result();
}

#[test]
fn options_of_every_command_have_one_page() {
    let scene = scene();
    let page = scene.line("help options").succeeds().stdout;
    let helps = commands().map(|command| scene.line(format!("{command} --help")));
    let helps: Vec<String> = helps.map(|run| run.succeeds().stdout).collect();
    let of_all = "--format --quiet --jobs --default-host --exact-repository --ca-file --client-cert --plain-http \
        --timeout --authfile --cli-config";
    for option in of_all.split_whitespace() {
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
            let mut lines = text.lines().map(str::trim_start);
            assert!(lines.any(|line| line.starts_with(code)), "{code}");
        }
    }
    let page = scene.tfoci(["help", "environment"]).succeeds().stdout;
    let names = "TFOCI_DEFAULT_HOST TFOCI_TIMEOUT TFOCI_ALLOW_PRIVATE TF_PLUGIN_CACHE_DIR REGISTRY_AUTH_FILE \
        DOCKER_CONFIG TF_DATA_DIR TF_CLI_CONFIG_FILE TF_TOKEN_ NETRC \
        TF_REGISTRY_DISCOVERY_RETRY TF_PROVIDER_DOWNLOAD_RETRY SSL_CERT_FILE SSL_CERT_DIR HTTPS_PROXY HTTP_PROXY \
        ALL_PROXY NO_PROXY TMPDIR NO_COLOR CLICOLOR_FORCE TERM=dumb CI";
    for name in names.split_whitespace() {
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
        ("push dist --provider acme/demo --platform plan9_mips", 1),
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
        scene
            .line(format!("{arguments} --to oci-layout:mirror"))
            .exits(code);
    }
}

#[test]
fn the_version_names_the_commit_and_the_target() {
    let scene = scene();
    for run in [scene.tfoci(["--version"]), scene.oci_push(["--version"])] {
        let text = run.succeeds().stdout;
        let before = concat!(" ", env!("CARGO_PKG_VERSION"), " (");
        let (_, rest) = text.split_once(before).unwrap();
        let (rest, _) = rest.split_once(")\n").unwrap();
        let (commit, target) = rest.split_once(", ").unwrap();
        assert!(!commit.is_empty() && target.contains('-'), "{text}");
    }
}

#[test]
fn every_option_is_documented() {
    let scene = scene();
    const INDENTED: &str = "         ";
    for command in commands() {
        let help = scene.tfoci([command, "-h"]).succeeds().stdout;
        let lines: Vec<&str> = help.lines().chain([""]).collect();
        for two in lines.windows(2) {
            let [line, next] = two else { continue };
            let is_option = line.trim_start().starts_with('-') && !line.starts_with(INDENTED);
            let parts = line.split("  ").filter(|part| !part.trim().is_empty());
            let has_text = parts.count() >= 2 || next.starts_with(INDENTED);
            assert!(!is_option || has_text, "{command}: {line}");
        }
    }
}

#[test]
fn oci_push_has_the_help_of_push() {
    let scene = scene();
    let usage = "Usage: oci-push [OPTIONS] --provider";
    let example =
        "push dist --provider example.com/acme/demo --key acme.asc \\\n    --to oci-layout:mirror";
    for (option, text) in [("-h", usage), ("--help", example)] {
        let help = scene.oci_push([option]).succeeds().stdout;
        assert!(help.contains(text), "{help}");
    }
    let line = "dist --provider acme/demo --key acme.asc --to oci-layout:mirror";
    let said = scene.oci_push(line.split(' ')).succeeds().stdout;
    let reference = "oci-layout:mirror/registry.opentofu.org/acme/demo:1.0.0@sha256:";
    assert!(said.starts_with(reference), "{said}");
}

#[test]
fn help_trust_is_a_topic_and_its_commands_have_pages() {
    let scene = scene();
    let topic = scene.tfoci(["help", "trust"]).succeeds().stdout;
    for command in NESTED {
        let help = scene.line(format!("{command} -h")).succeeds().stdout;
        fits(&help, 40);
        assert!(help.ends_with("tfoci help exit-codes\n"), "{help}");
        assert!(!help.contains("--ca-file"), "{help}");
        assert!(topic.contains(&format!("tfoci {command}")), "{topic}");
    }
}
