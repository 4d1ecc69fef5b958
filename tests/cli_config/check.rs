//! `tfoci cli-config --check`: settings that clients ignore, or take in another way than the user expects.

use serde_json::Value;

use crate::schema::follows;
use crate::support::scene::Scene;

const CHECK: &str = "cli-config --check --cli-config c.tfrc --format json";
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
    let run = scene.line(CHECK);
    assert!(!run.stdout.contains("secret"), "{}", run.stdout);
    let document = run.json();
    follows("cli-config", &document);
    follows("doctor", &document);
    let findings = document["findings"].as_array().unwrap();
    let is_error = findings.iter().any(|one| one["severity"] == "error");
    assert_eq!(run.status, Some(i32::from(is_error)), "{text}");
    let code = |one: &Value| one["code"].as_str().unwrap().to_owned();
    findings.iter().map(code).collect()
}

/// A configuration with these methods.
fn methods(methods: &str) -> String {
    format!("provider_installation {{\n{methods}\n}}\n")
}

#[test]
fn every_trap_has_its_code() {
    // A block that clients ignore overlaps with no other, and `oci_mirror` has no setting for retries.
    for line in r#"
methods-overlap: network_mirror { url = "https://m.example/v1/" include = ["acme/*"] };direct {}
methods-overlap: network_mirror { url = "https://m.example/v1/" include = [] };direct {}
methods-overlap: REGISTRY;direct {}
block-ignored: filesystem_mirror {}
block-ignored: network_mirror { url = "" }
mirror-url: network_mirror { url = "http://m.example/" };direct {}
mirror-url: network_mirror { url = "https://m.example/v1" }
mirror-url: network_mirror { url = "https://m.example/v1/ " }
block-ignored: oci_mirrors {}
dev-overrides: dev_overrides {; "acme/demo" = "/src/demo";};direct {}
directory-missing: filesystem_mirror { path = "none" }
directory-missing: filesystem_mirror { path = "mirror/file" }
block-ignored: direct { exlude = ["acme/*"] }
block-ignored: direct {};include = ["acme/*"]"#
        .trim()
        .lines()
    {
        let (code, text) = line.split_once(": ").unwrap();
        let text = text.replace(';', "\n").replace("REGISTRY", REGISTRY);
        assert_eq!(codes(&methods(&text)), [code], "{text}");
    }
    for (from, to, code) in [
        ("/${namespace}", "", "template-refused"),
        ("type", "host", "template-refused"),
        ("${", "{", "template-refused"),
        (" }", "\n download_retry_count = 3\n}", "block-ignored"),
    ] {
        let text = REGISTRY.replace(from, to);
        assert_eq!(codes(&methods(&text)), [code], "{text}");
    }
    let cache = "plugin_cache_dir = \"./mirror\"\n".to_owned();
    for (text, code) in [
        ("provider_instalation {\n direct {}\n}\n", "block-ignored"),
        ("plugin_cache_dir = \"none/cache\"\n", "directory-missing"),
        ("plugin_cache_dirr = \"mirror\"\n", "block-ignored"),
        (&(cache + &methods(MIRROR)), "cache-is-mirror"),
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
        let run = scene.line(format!("cli-config --check --client {client}"));
        let said = run.succeeds().stdout;
        let line = said.lines().find(|line| line.contains(step)).unwrap();
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
        "--from known.example/${hostname}/${namespace}/${type}",
        "--into providers",
        "--url https://mirror.example/v1/",
    ] {
        for pattern in ["", "a.example/*/*"] {
            let print = format!("cli-config {arguments} {pattern}");
            let block = scene.line(print).succeeds().stdout;
            let root = scene.path("").display().to_string();
            let block = block.replace("[TMP]", root.trim_end_matches('/'));
            scene.write("c.tfrc", &block);
            let document = scene.line(CHECK).succeeds().json();
            assert_eq!(document["findings"], serde_json::json!([]), "{block}");
        }
    }
}
