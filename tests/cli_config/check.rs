//! `tfoci cli-config --check`: settings that clients ignore, or take in another way than the user expects.

use serde_json::Value;

use crate::schema::follows;
use crate::support::scene::Scene;

const MIRROR: &str = "filesystem_mirror { path = \"mirror\" }";
const REGISTRY: &str =
    "oci_mirror { repository_template = \"known.example/${hostname}/${namespace}/${type}\" }";

/// The kinds of the problems and notes of a configuration. A problem fails the check.
#[track_caller]
fn kinds(text: &str) -> [Vec<String>; 2] {
    let scene = Scene::new();
    scene.write("mirror/file", "");
    scene.write("mirror/b.example/acme/demo/index.json", "{}");
    let auth = r#"{"auths": {"known.example": {"auth": "bWU6c2VjcmV0"}}}"#;
    scene.write(".docker/config.json", auth);
    scene.write("c.tfrc", text);
    let check = "cli-config --check --cli-config c.tfrc --format json";
    let run = scene.tfoci(check.split(' '));
    assert!(!run.stdout.contains("secret"), "{}", run.stdout);
    let document: Value = serde_json::from_str(&run.stdout).unwrap();
    follows("cli-config", &document);
    assert_eq!(document["file"], "c.tfrc");
    let kinds = ["problems", "notes"].map(|list| {
        let found = document[list].as_array().unwrap().iter();
        let kinds = found.map(|one| one["kind"].as_str().unwrap().to_owned());
        kinds.collect::<Vec<_>>()
    });
    assert_eq!(run.status, Some(i32::from(!kinds[0].is_empty())), "{text}");
    kinds
}

/// A configuration with these methods.
fn methods(methods: &str) -> String {
    format!("provider_installation {{\n{methods}\n}}\n")
}

#[test]
fn every_problem_has_its_kind() {
    for (text, kind) in [
        (format!("{REGISTRY}\ndirect {{}}"), "overlap"),
        (
            "network_mirror { url = \"https://m.example/v1/\" include = [\"acme/*\"] }\ndirect {}"
                .to_owned(),
            "overlap",
        ),
        (
            "network_mirror { url = \"https://m.example/v1/\" include = [] }\ndirect {}".to_owned(),
            "overlap",
        ),
        (REGISTRY.replace("/${namespace}", ""), "template"),
        (REGISTRY.replace("type", "host"), "template"),
        (REGISTRY.replace("${", "{"), "template_spelling"),
        ("filesystem_mirror {}".to_owned(), "missing_argument"),
        ("network_mirror { url = \"\" }".to_owned(), "missing_argument"),
        // A block that clients ignore overlaps with no other.
        (
            "network_mirror { url = \"http://m.example/\" }\ndirect {}".to_owned(),
            "url",
        ),
        (
            "network_mirror { url = \"https://m.example/v1\" }".to_owned(),
            "url_without_slash",
        ),
        ("oci_mirrors {}\ndirect {}".to_owned(), "unknown_method"),
        (
            "dev_overrides {\n \"acme/demo\" = \"/src/demo\"\n}\ndirect {}".to_owned(),
            "dev_overrides",
        ),
        (MIRROR.replace("mirror\"", "none\""), "missing_directory"),
        (
            MIRROR.replace("mirror\"", "mirror/file\""),
            "missing_directory",
        ),
        (
            MIRROR.replace(" }", " include = [\"acme/*\"] }"),
            "nothing_included",
        ),
        // The directory is one level too deep.
        (
            MIRROR.replace("mirror\"", "mirror/b.example\" include = [\"*/*/*\"]"),
            "nothing_included",
        ),
        (
            "network_mirror { url = \"https://m.example/v1/\" include = [\"b.example:8443/acme/*\"] }"
                .to_owned(),
            "ports",
        ),
        ("direct { exlude = [\"acme/*\"] }".to_owned(), "unknown_argument"),
        // `oci_mirror` has no setting for retries.
        (
            REGISTRY.replace(" }", "\n download_retry_count = 3\n}"),
            "unknown_argument",
        ),
        ("direct {}\ninclude = [\"acme/*\"]".to_owned(), "unknown_argument"),
        (String::new(), "no_methods"),
    ] {
        assert_eq!(kinds(&methods(&text)), [vec![kind.to_owned()], vec![]], "{text}");
    }
    for (text, kind) in [
        ("provider_instalation {\n direct {}\n}\n", "unknown_block"),
        // Clients know the argument `Credentials`, and no such block.
        (
            "{\"Credentials\": {\"a.example\": {\"token\": \"secret\"}}, \"OCI_Credentials\": {}}",
            "unknown_block",
        ),
        ("plugin_cache_dir = \"none/cache\"\n", "missing_cache"),
        ("plugin_cache_dirr = \"mirror\"\n", "unknown_argument"),
        ("{\"credentials\": {\"a.example\": {}}}", "no_token"),
        ("credentials \"a.example\" {\n token = \"\"\n}", "no_token"),
        (
            "oci_credentials \"h.example\" {\n username = \"a\"\n password = \"b\"\n pasword = \"secret\"\n}",
            "unknown_argument",
        ),
    ] {
        assert_eq!(kinds(text), [vec![kind.to_owned()], vec![]], "{text}");
    }
}

#[test]
fn notes_do_not_fail_the_check() {
    for (text, kind) in [
        (
            format!("{MIRROR}\ndirect {{ include = [\"acme/*\"] }}"),
            "two_sources",
        ),
        (
            REGISTRY.replace("${type}", "%{ for x in [type] }${x}%{ endfor }"),
            "unchecked_template",
        ),
        (
            "network_mirror { url = \"https://m.example\" }".to_owned(),
            "url_without_path",
        ),
        (REGISTRY.replace("known", "none"), "no_credentials"),
    ] {
        assert_eq!(
            kinds(&methods(&text)),
            [vec![], vec![kind.to_owned()]],
            "{text}"
        );
    }
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
        assert_eq!(
            kinds(&methods(&text)),
            [const { Vec::<String>::new() }; 2],
            "{text}"
        );
    }
    let known = "Disable_Checkpoint = true\nproviders {\n a = \"b\"\n}\nregistry_protocols {\n retry_count = 2\n}\n";
    assert_eq!(kinds(known), [const { Vec::<String>::new() }; 2]);
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
        let scene = Scene::new();
        scene.write("c.tfrc", text);
        let check = ["cli-config", "--check", "--cli-config", "c.tfrc"];
        scene.tfoci(check).exits(1).without_result();
    }
}

#[test]
fn the_file_is_the_one_that_the_client_uses() {
    let scene = Scene::new();
    let check = ["cli-config", "--check", "--format", "json", "--client"];
    let file = |scene: &Scene, client: &str| {
        let run = scene.tfoci(check.iter().chain(&[client]));
        let document: Value = serde_json::from_str(&run.stdout).unwrap();
        follows("cli-config", &document);
        document["file"].as_str().map(str::to_owned)
    };
    assert_eq!(file(&scene, "tofu"), None);
    scene.write(".terraformrc", methods(REGISTRY));
    let shared = Some("[TMP]/.terraformrc".to_owned());
    assert_eq!(file(&scene, "tofu"), shared);
    assert_eq!(file(&scene, "terraform"), shared);
    // Only OpenTofu reads this file, and it then reads no other one.
    scene.write(".tofurc", "{}");
    let own = Some("[TMP]/.tofurc".to_owned());
    assert_eq!(file(&scene, "tofu"), own);
    assert_eq!(file(&scene, "terraform"), shared);
    // A file that a variable names takes precedence, and must exist.
    let scene = scene.env("TF_CLI_CONFIG_FILE", "own.tfrc");
    scene.tfoci(["cli-config", "--check"]).exits(1);
    scene.write("own.tfrc", "");
    assert_eq!(file(&scene, "tofu").as_deref(), Some("own.tfrc"));
}

/// Clients read the names of directories as addresses, in any spelling of a host.
#[test]
fn a_mirror_has_the_providers_of_a_host_in_any_spelling() {
    let scene = Scene::new();
    scene.write("mirror/Bücher.example:8443/acme/demo/1.0.0/x", "");
    for (pattern, status) in [
        ("bücher.example:8443/acme/*", 0),
        ("bücher.example:8443/*/*", 0),
        ("bücher.example/acme/*", 1),
        ("bücher.example:8443/other/*", 1),
    ] {
        let text = format!(
            "filesystem_mirror {{\n path = \"mirror\"\n include = [\"{pattern}\"]\n}}\ndirect {{\n exclude = [\"{pattern}\"]\n}}"
        );
        scene.write("c.tfrc", methods(&text));
        let check = ["cli-config", "--check", "--cli-config", "c.tfrc"];
        scene.tfoci(check).exits(status);
    }
}
