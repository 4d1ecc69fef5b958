//! `tfoci cli-config --check`: settings that clients ignore, or take in another way than the user expects.

use serde_json::Value;

use crate::schema::follows;
use crate::support::scene::Scene;

const MIRROR: &str = "filesystem_mirror { path = \"mirror\" }";
const REGISTRY: &str =
    "oci_mirror { repository_template = \"known.example/${hostname}/${namespace}/${type}\" }";

/// The codes of the findings about a configuration. An error fails the check.
#[track_caller]
fn codes(text: &str) -> Vec<String> {
    let scene = Scene::new();
    scene.write("mirror/file", "");
    scene.write("mirror/b.example/acme/demo/index.json", "{}");
    scene.write("c.tfrc", text);
    let check = "cli-config --check --cli-config c.tfrc --format json";
    let run = scene.tfoci(check.split(' '));
    assert!(!run.stdout.contains("secret"), "{}", run.stdout);
    let document: Value = serde_json::from_str(&run.stdout).unwrap();
    follows("cli-config", &document);
    follows("doctor", &document);
    let findings = document["findings"].as_array().unwrap();
    let is_error = findings.iter().any(|one| one["severity"] == "error");
    assert_eq!(run.status, Some(i32::from(is_error)), "{text}");
    let codes = findings
        .iter()
        .map(|one| one["code"].as_str().unwrap().to_owned());
    codes.collect()
}

/// A configuration with these methods.
fn methods(methods: &str) -> String {
    format!("provider_installation {{\n{methods}\n}}\n")
}

#[test]
fn every_trap_has_its_code() {
    for (text, code) in [
        (format!("{REGISTRY}\ndirect {{}}"), "methods-overlap"),
        (
            "network_mirror { url = \"https://m.example/v1/\" include = [\"acme/*\"] }\ndirect {}"
                .to_owned(),
            "methods-overlap",
        ),
        (
            "network_mirror { url = \"https://m.example/v1/\" include = [] }\ndirect {}".to_owned(),
            "methods-overlap",
        ),
        (REGISTRY.replace("/${namespace}", ""), "template-refused"),
        (REGISTRY.replace("type", "host"), "template-refused"),
        (REGISTRY.replace("${", "{"), "template-refused"),
        ("filesystem_mirror {}".to_owned(), "block-ignored"),
        ("network_mirror { url = \"\" }".to_owned(), "block-ignored"),
        // A block that clients ignore overlaps with no other.
        (
            "network_mirror { url = \"http://m.example/\" }\ndirect {}".to_owned(),
            "mirror-url",
        ),
        (
            "network_mirror { url = \"https://m.example/v1\" }".to_owned(),
            "mirror-url",
        ),
        (
            "network_mirror { url = \"https://m.example/v1/ \" }".to_owned(),
            "mirror-url",
        ),
        ("oci_mirrors {}".to_owned(), "block-ignored"),
        (
            "dev_overrides {\n \"acme/demo\" = \"/src/demo\"\n}\ndirect {}".to_owned(),
            "dev-overrides",
        ),
        (MIRROR.replace("mirror\"", "none\""), "directory-missing"),
        (
            MIRROR.replace("mirror\"", "mirror/file\""),
            "directory-missing",
        ),
        (
            "direct { exlude = [\"acme/*\"] }".to_owned(),
            "block-ignored",
        ),
        // `oci_mirror` has no setting for retries.
        (
            REGISTRY.replace(" }", "\n download_retry_count = 3\n}"),
            "block-ignored",
        ),
        (
            "direct {}\ninclude = [\"acme/*\"]".to_owned(),
            "block-ignored",
        ),
    ] {
        assert_eq!(codes(&methods(&text)), [code], "{text}");
    }
    for (text, code) in [
        ("provider_instalation {\n direct {}\n}\n", "block-ignored"),
        ("plugin_cache_dir = \"none/cache\"\n", "directory-missing"),
        ("plugin_cache_dirr = \"mirror\"\n", "block-ignored"),
        (
            "plugin_cache_dir = \"mirror\"\nprovider_installation {\n filesystem_mirror { path = \"./mirror\" }\n}\n",
            "cache-is-mirror",
        ),
        ("\u{feff}disable_checkpoint = true\n", "byte-order-mark"),
    ] {
        assert_eq!(codes(text), [code], "{text}");
    }
    // Clients know the argument `Credentials`, and no such block.
    let text =
        "{\"Credentials\": {\"a.example\": {\"token\": \"secret\"}}, \"OCI_Credentials\": {}}";
    assert_eq!(codes(text), ["block-ignored"]);
}

#[test]
fn what_clients_accept_is_accepted() {
    let disjoint = REGISTRY.replace(" }", "\n include = [\"acme/*\", \"a.example/*/*\"]\n}");
    for text in [
        format!("{disjoint}\ndirect {{ exclude = [\"acme/*\", \"a.example/*/*\"] }}"),
        format!("{disjoint}\n{MIRROR}")
            .replace("mirror\" }", "mirror\"\n include = [\"b.example/*/*\"]\n}"),
        // Clients skip a registry that lacks a version.
        format!("direct {{}}\n{REGISTRY}"),
        format!("{disjoint}\ndirect {{ exclude = [\"*/*/*\"] }}"),
        MIRROR.to_owned(),
        // Clients do not distinguish upper and lower case here.
        "direct { Exclude = [\"acme/*\"] }".to_owned(),
    ] {
        assert_eq!(codes(&methods(&text)), Vec::<String>::new(), "{text}");
    }
    let known = "Disable_Checkpoint = true\nproviders {\n a = \"b\"\n}\nregistry_protocols {\n retry_count = 2\n}\n";
    assert_eq!(codes(known), Vec::<String>::new());
}

#[test]
fn refused_configurations_are_errors() {
    for text in [
        "provider_installation {",
        "provider_installation {}\nprovider_installation {}\n",
        "provider_installation {\n direct {\n  exclude = [\"acme\"]\n }\n}\n",
        "oci_credentials \"h.example\" {\n username = \"me\"\n}\n",
        "oci_credentials \"h.example\" {\n username = 7\n}\n",
        "{\"oci_credentials\": {\"h.example\": {\"username\": \"me\"}}}",
    ] {
        assert_eq!(codes(text), ["configuration-refused"], "{text}");
    }
}

#[test]
fn the_file_is_the_one_that_the_client_uses() {
    let scene = Scene::new();
    let place = |scene: &Scene, client: &str, step: &str| {
        let run = scene
            .tfoci(["cli-config", "--check", "--client", client])
            .succeeds();
        let mut lines = run.stdout.lines();
        let line = lines.find(|line| line.contains(step)).unwrap();
        line.split_whitespace().nth(2).unwrap().to_owned()
    };
    let file = |scene: &Scene, client: &str| place(scene, client, " configuration ");
    assert_eq!(file(&scene, "tofu"), "none,");
    let token = "credentials \"a.example\" { token = \"hunter2\" }\n";
    scene.write(".terraformrc", methods(MIRROR) + token);
    scene.write("mirror/file", "");
    assert_eq!(file(&scene, "tofu"), "[TMP]/.terraformrc");
    assert_eq!(file(&scene, "terraform"), "[TMP]/.terraformrc");
    // Only OpenTofu reads this file, and it then reads no other one.
    scene.write(".tofurc", "{}");
    assert_eq!(file(&scene, "tofu"), "[TMP]/.tofurc");
    assert_eq!(file(&scene, "terraform"), "[TMP]/.terraformrc");
    let token = place(&scene, "terraform", " credentials ");
    assert_eq!(token, "[TMP]/.terraformrc");
    // A file that a variable names takes precedence. Clients only warn if it does not exist.
    let scene = scene.env("TF_CLI_CONFIG_FILE", "own.tfrc");
    assert_eq!(file(&scene, "tofu"), "none,");
    scene.write("own.tfrc", "");
    assert_eq!(file(&scene, "tofu"), "own.tfrc");
}

/// What `cli-config` prints has no traps.
#[test]
fn the_block_that_is_printed_has_no_findings() {
    let scene = Scene::new();
    scene.write("providers/file", "");
    for arguments in [
        ["--from", "known.example/${hostname}/${namespace}/${type}"],
        ["--into", "providers"],
        ["--url", "https://mirror.example/v1/"],
    ] {
        for pattern in [[].as_slice(), &["a.example/*/*"]] {
            let print = ["cli-config"].iter().chain(&arguments).chain(pattern);
            let block = scene.tfoci(print).succeeds().stdout;
            let root = scene.path("").display().to_string();
            let block = block.replace("[TMP]", root.trim_end_matches('/'));
            scene.write("c.tfrc", &block);
            let check = "cli-config --check --cli-config c.tfrc --format json";
            let run = scene.tfoci(check.split(' ')).succeeds();
            let document: Value = serde_json::from_str(&run.stdout).unwrap();
            assert_eq!(document["findings"], serde_json::json!([]), "{block}");
        }
    }
}
