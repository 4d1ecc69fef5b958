//! `tfoci cli-config --check`: settings that clients ignore silently, and the lines of those that they refuse.

use serde_json::Value;

use crate::schema::follows;
use crate::support::scene::{Run, Scene};

const CHECK: [&str; 4] = ["cli-config", "--check", "--cli-config", "c.tfrc"];

fn check(text: &str) -> Run {
    let scene = Scene::new();
    scene.write("c.tfrc", text);
    scene.write("mirror/a.example/acme/demo/index.json", "{}");
    scene.tfoci(CHECK)
}

/// Each configuration, the kind of its only problem, and the message.
const IGNORED: [(&str, &str, &str); 16] = [
    (
        "provider_installation {\n direct {\n  exlude = [\"acme/*\"]\n }\n}",
        "unknown_argument",
        "c.tfrc, line 3: problem: unknown argument `exlude` of `direct`: clients ignore it; did you mean `exclude`?\n",
    ),
    (
        "provider_installation {\n network_mirror {\n  url = \"https://m.example/v1/\"\n  download_retry_count = 3\n  includes = [\"acme/*\"]\n }\n}",
        "unknown_argument",
        "c.tfrc, line 5: problem: unknown argument `includes` of `network_mirror`: clients ignore it; did you mean `include`?\n",
    ),
    (
        "provider_installation {\n filesystem_mirror {\n  path = \"mirror\"\n  url = \"https://m.example/\"\n }\n}",
        "unknown_argument",
        "c.tfrc, line 4: problem: unknown argument `url` of `filesystem_mirror`: clients ignore it\n",
    ),
    // `oci_mirror` has no setting for retries.
    (
        "oci_credentials \"h.example\" {\n username = \"a\"\n password = \"b\"\n}\nprovider_installation {\n oci_mirror {\n  repository_template = \"h.example/${hostname}/${namespace}/${type}\"\n  download_retry_count = 3\n }\n}",
        "unknown_argument",
        "c.tfrc, line 8: problem: unknown argument `download_retry_count` of `oci_mirror`: clients ignore it\n",
    ),
    (
        "provider_installation {\n direct {}\n include = [\"acme/*\"]\n}",
        "unknown_argument",
        "c.tfrc, line 3: problem: unknown argument `include` of `provider_installation`: clients ignore it\n",
    ),
    (
        "provider_installation {\n network_miror {}\n}",
        "unknown_method",
        "c.tfrc, line 2: problem: there is no installation method `network_miror`: clients ignore the block; did you mean `network_mirror`?\n",
    ),
    (
        "\nplugin_cache_dirr = \"cache\"\n",
        "unknown_argument",
        "c.tfrc, line 2: problem: unknown argument `plugin_cache_dirr`: clients ignore it; did you mean `plugin_cache_dir`?\n",
    ),
    (
        "credentials \"a.example\" {\n token = \"secret\"\n tokn = \"secret\"\n}",
        "unknown_argument",
        "c.tfrc, line 3: problem: unknown argument `tokn` of `credentials \"a.example\"`: clients ignore it; did you mean `token`?\n",
    ),
    (
        "{\"credentials\": {\"a.example\": {}}}",
        "no_token",
        "c.tfrc: problem: `credentials` for a.example has no `token`: clients send the host no token\n",
    ),
    (
        "credentials \"a.example\" {\n token = \"\"\n}",
        "no_token",
        "c.tfrc, line 1: problem: `credentials` for a.example has an empty `token`: clients send no token, and ask no helper\n",
    ),
    (
        "oci_credentials \"h.example\" {\n username = \"a\"\n password = \"b\"\n pasword = \"secret\"\n}",
        "unknown_argument",
        "c.tfrc, line 4: problem: unknown argument `pasword` of `oci_credentials \"h.example\"`: clients ignore it; did you mean `password`?\n",
    ),
    (
        "oci_default_credentials {\n discover_ambient = false\n}",
        "unknown_argument",
        "c.tfrc, line 2: problem: unknown argument `discover_ambient` of `oci_default_credentials`: clients ignore it; did you mean `discover_ambient_credentials`?\n",
    ),
    (
        "host \"a.example\" {\n service = {}\n}",
        "unknown_argument",
        "c.tfrc, line 2: problem: unknown argument `service` of `host \"a.example\"`: clients ignore it; did you mean `services`?\n",
    ),
    // Clients read this argument, but not this block.
    (
        "{\"//\": \"comment\", \"Credentials\": {\"a.example\": {\"token\": \"secret\"}}, \"OCI_Credentials\": {}}",
        "unknown_block",
        "c.tfrc: problem: unknown block `OCI_Credentials`: clients ignore it; did you mean `oci_credentials`?\n",
    ),
    (
        "provider_installation {\n filesystem_mirror {\n  path = \"mirror\"\n  include = [\"a.example/*/*\", \"a.example/acme/demo\", \"acme/*\", \"a.example/acme/other\"]\n }\n}",
        "nothing_included",
        "c.tfrc, line 2: problem: mirror has no provider of registry.opentofu.org/acme/*, a.example/acme/other: clients find none of them there, and expect mirror/HOSTNAME/NAMESPACE/TYPE\n",
    ),
    // The directory is one level too deep.
    (
        "provider_installation {\n filesystem_mirror {\n  path = \"mirror/a.example\"\n  include = [\"*/*/*\"]\n }\n}",
        "nothing_included",
        "c.tfrc, line 2: problem: mirror/a.example has no provider of */*/*: clients find none",
    ),
];

#[test]
fn settings_that_clients_ignore_are_reported_with_their_line() {
    for (text, kind, says) in IGNORED {
        let run = check(text).exits(1);
        assert!(run.stdout.starts_with(says), "{says}\n{}", run.stdout);
        assert!(!run.stdout.contains("secret"), "{}", run.stdout);
        let scene = Scene::new();
        scene.write("c.tfrc", text);
        scene.write("mirror/a.example/acme/demo/index.json", "{}");
        let json = scene.tfoci(CHECK.iter().chain(&["--format", "json"]));
        let document: Value = serde_json::from_str(&json.exits(1).stdout).unwrap();
        follows("cli-config", &document);
        let problems = document["problems"].as_array().unwrap();
        assert_eq!(problems.len(), 1, "{document:#}");
        assert_eq!(problems[0]["kind"], kind, "{document:#}");
    }
}

/// Clients do not distinguish upper and lower case in these.
#[test]
fn settings_that_clients_know_are_accepted() {
    let run = check(
        "Disable_Checkpoint = true\nproviders {\n a = \"b\"\n}\nregistry_protocols {\n retry_count = 2\n}\nprovider_installation {\n direct {\n  Exclude = [\"acme/*\"]\n }\n}\n",
    );
    assert_eq!(
        run.succeeds().stdout,
        "no problems found in c.tfrc; it was only read, and no server was asked\n"
    );
}

#[test]
fn refused_configurations_are_reported_with_their_line() {
    for (text, says) in [
        (
            "provider_installation {}\n\nprovider_installation {}\n",
            "error: c.tfrc is not a CLI configuration\n  more than one `provider_installation` block\n  at line 3\n",
        ),
        (
            "provider_installation {\n direct {\n  include = [\"a.example/*/*\"]\n  exclude = [\"acme\"]\n }\n}\n",
            "error: c.tfrc is not a CLI configuration\n  `exclude` of a `direct` block has something that is not a pattern\n  at line 4\n  `acme` is not a pattern of providers\n",
        ),
        (
            "\noci_credentials \"h.example\" {\n username = \"me\"\n}\n",
            "error: c.tfrc is not a CLI configuration\n  the `oci_credentials` block for `h.example` has `username` without `password`\n  at line 2\n",
        ),
        (
            "oci_credentials \"h.example\" {\n username = 7\n}\n",
            "error: c.tfrc is not a CLI configuration\n  the argument `username` is not text\n  received a number\n  at line 1\n",
        ),
        // Problems in JSON have no line.
        (
            "{\"oci_credentials\": {\"h.example\": {\"username\": \"me\"}}}",
            "error: c.tfrc is not a CLI configuration\n  the `oci_credentials` block for `h.example` has `username` without `password`\n  named by --cli-config\n",
        ),
    ] {
        let run = check(text).exits(1);
        assert!(run.stderr.starts_with(says), "{says}\n{}", run.stderr);
    }
}

#[test]
fn a_variable_that_names_the_file_is_named() {
    let scene = Scene::new().env("TF_CLI_CONFIG_FILE", "nosuch.tfrc");
    let run = scene.tfoci(["cli-config", "--check"]).exits(1);
    assert!(
        run.stderr.contains("nosuch.tfrc")
            && run.stderr.contains("\n  named by TF_CLI_CONFIG_FILE\n"),
        "{}",
        run.stderr
    );
}

/// Clients read the names of directories as addresses, in any spelling of a host.
#[test]
fn a_mirror_has_the_providers_of_a_host_in_any_spelling() {
    let scene = Scene::new();
    scene.write("mirror/Bücher.example:8443/acme/demo/1.0.0/x", "");
    for (pattern, is_there) in [
        ("bücher.example:8443/acme/*", true),
        ("bücher.example:8443/*/*", true),
        ("bücher.example/acme/*", false),
        ("bücher.example:8443/other/*", false),
    ] {
        scene.write(
            "c.tfrc",
            format!("provider_installation {{\n filesystem_mirror {{\n  path = \"mirror\"\n  include = [\"{pattern}\"]\n }}\n direct {{\n  exclude = [\"{pattern}\"]\n }}\n}}\n"),
        );
        let run = scene.tfoci(CHECK);
        let lacks = run.stdout.contains("mirror has no provider of");
        assert_eq!(lacks, !is_there, "{pattern}: {}", run.stdout);
    }
}
