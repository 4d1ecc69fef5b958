//! `tfoci cli-config --check`: settings that clients accept and that do not do what the user expects.

use serde_json::Value;

use crate::schema::follows;
use crate::support::scene::{Run, Scene};

/// Checks a configuration. Its methods begin in line 2.
fn check(methods: &str, arguments: &[&str]) -> Run {
    let scene = Scene::new();
    scene.write("mirror/file", "");
    scene.write("mirror/b.example/acme/demo/index.json", "{}");
    let auth = r#"{"auths": {"known.example": {"auth": "bWU6c2VjcmV0"}}}"#;
    scene.write(".docker/config.json", auth);
    scene.write("unseen/config.json", auth.replace("known", "unseen"));
    scene.write(
        "c.tfrc",
        format!("provider_installation {{\n{methods}\n}}\n"),
    );
    let scene = scene.env("DOCKER_CONFIG", "unseen");
    let command = ["cli-config", "--check", "--cli-config", "c.tfrc"];
    scene.tfoci(command.iter().chain(arguments))
}

const MIRROR: &str = "filesystem_mirror { path = \"mirror\" }";
const REGISTRY: &str =
    "oci_mirror { repository_template = \"known.example/${hostname}/${namespace}/${type}\" }";

/// Each trap: its methods, its kind, and the message.
const PROBLEMS: [(&str, &str, &str); 18] = [
    (
        "oci_mirror {\n repository_template = \"known.example/${hostname}/${namespace}/${type}\"\n}\ndirect {}",
        "overlap",
        "line 2: problem: `oci_mirror` and `direct` (line 5) both install */*/*: clients take the newest version of both, and fail if the first lacks it; name them in `exclude` of one",
    ),
    (
        "network_mirror {\n url = \"https://m.example/v1/\"\n include = [\"acme/*\", \"b.example/*/*\", \"c.example/x/y\"]\n}\ndirect { exclude = [\"b.example/*/*\"] }",
        "overlap",
        "line 2: problem: `network_mirror` and `direct` (line 6) both install registry.opentofu.org/acme/*, c.example/x/y: clients take",
    ),
    (
        "network_mirror { url = \"https://m.example/v1/\" include = [\"a.example/a/a\", \"a.example/a/b\", \"a.example/a/c\", \"a.example/a/d\", \"a.example/a/e\", \"a.example/a/f\"] }\nfilesystem_mirror { path = \"mirror\" }",
        "overlap",
        "line 2: problem: `network_mirror` and `filesystem_mirror` (line 3) both install a.example/a/a, a.example/a/b, a.example/a/c, a.example/a/d and 2 more: clients",
    ),
    (
        "oci_mirror { repository_template = \"known.example/${hostname}/${type}\" }",
        "template",
        "line 2: problem: the repository template is wrong: it does not refer to `namespace`, in which the providers can differ",
    ),
    (
        "oci_mirror {\n repository_template = \"known.example/x\"\n include = [\"*/*/*\", \"a.example/acme/demo\"]\n}",
        "template",
        "line 2: problem: the repository template is wrong: it does not refer to `hostname`, in which the providers can",
    ),
    (
        "oci_mirror { repository_template = \"known.example/${host}\" }",
        "template",
        "line 2: problem: the repository template is wrong: the symbol `host` is not available",
    ),
    (
        "oci_mirror {\n repository_template = \"known.example/${hostname}/demo\"\n include = [\"a.example:8443/acme/demo\"]\n}",
        "template",
        "line 2: problem: the repository template `known.example/${hostname}/demo` has no repository for `a.example:8443/acme/demo`: `known.example/a.example:8443/demo` is not",
    ),
    (
        "oci_mirror { repository_template = \"known.example/{hostname}/{namespace}/{type}\" }",
        "template_spelling",
        "line 2: problem: clients do not replace `{hostname}`, `{namespace}` and `{type}`; write known.example/${hostname}/${namespace}/${type}",
    ),
    (
        "# a comment\n\nfilesystem_mirror {}",
        "missing_argument",
        "line 4: problem: `filesystem_mirror` has no `path`: clients ignore the block",
    ),
    (
        "network_mirror { url = \"\" }",
        "missing_argument",
        "line 2: problem: `network_mirror` has no `url`: clients ignore the block",
    ),
    // A block that clients ignore overlaps with no other.
    (
        "network_mirror { url = \"http://m.example/\" }\ndirect {}",
        "url",
        "line 2: problem: `http://m.example/` is not the https URL of a network mirror: clients ignore the block",
    ),
    (
        "network_mirror { url = \"m.example\" }",
        "url",
        "line 2: problem: `m.example` is not the https URL",
    ),
    (
        "network_mirror { url = \"https://m.example/v1\" }",
        "url_without_slash",
        "line 2: problem: `https://m.example/v1` has no slash at its end: clients drop what follows the last one",
    ),
    (
        "oci_mirrors {}\ndirect {}",
        "unknown_method",
        "line 2: problem: there is no installation method `oci_mirrors`: clients ignore the block",
    ),
    (
        "dev_overrides {\n \"acme/demo\" = \"/src/demo\"\n}\ndirect {}",
        "dev_overrides",
        "line 2: problem: `dev_overrides` replaces acme/demo: clients ignore versions and the lock file for it",
    ),
    (
        "filesystem_mirror { path = \"none\" }",
        "missing_directory",
        "line 2: problem: there is no directory none: clients fail for every provider of this mirror",
    ),
    (
        "filesystem_mirror { path = \"mirror/file\" }",
        "missing_directory",
        "line 2: problem: there is no directory mirror/file",
    ),
    (
        "network_mirror { url = \"https://m.example/v1/\" include = [] }\ndirect {}",
        "overlap",
        "line 2: problem: `network_mirror` and `direct` (line 3) both install */*/*",
    ),
];

#[test]
fn every_trap_is_named_with_its_line() {
    for (methods, kind, says) in PROBLEMS {
        let run = check(methods, &[]).exits(1);
        assert!(
            run.stdout.starts_with(&format!("c.tfrc, {says}")),
            "{methods}\n{}",
            run.stdout
        );
        let run = check(methods, &["--format", "json"]).exits(1);
        let document: Value = serde_json::from_str(&run.stdout).unwrap();
        follows("cli-config", &document);
        let problems = document["problems"].as_array().unwrap();
        assert!(
            problems.iter().all(|problem| problem["kind"] == kind),
            "{document:#}"
        );
        assert_eq!(
            (&document["notes"], &document["file"]),
            (&Value::Array(vec![]), &"c.tfrc".into())
        );
    }
}

/// Clients ignore unknown settings.
#[test]
fn top_level_traps_are_named() {
    for (text, kind, says) in [
        (
            "plugin_cache_dir = \"cache\"\nprovider_instalation {\n direct {}\n}\n",
            "unknown_block",
            "c.tfrc, line 2: problem: unknown block `provider_instalation`: clients ignore it; did you mean `provider_installation`?\n",
        ),
        (
            "plugin_cache_dir = \"none/cache\"\n",
            "missing_cache",
            "c.tfrc: problem: there is no directory none/cache: clients do not start without the plugin cache that `plugin_cache_dir` names\n",
        ),
        (
            "provider_installation {\n network_mirror {\n url = \"https://a.example/v1/\"\n include = [\"b.example:8443/acme/*\", \"a.example/*/*\"]\n }\n}\n",
            "ports",
            "c.tfrc, line 2: problem: clients refuse to ask a network mirror for b.example:8443/acme/*: the host has a port; name it in `exclude`, and leave it to `direct`\n",
        ),
        (
            "host \"a.example\" {\n services = {}\n}\n\nmirror \"a.example\" {}\n",
            "unknown_block",
            "c.tfrc, line 5: problem: unknown block `mirror`: clients ignore it\n",
        ),
        (
            "{\"Provider_Installation\": [{\"direct\": [{}]}], \"registry_protocols\": {}}",
            "unknown_block",
            "c.tfrc: problem: unknown block `Provider_Installation`: clients ignore it; did you mean `provider_installation`?\n",
        ),
        (
            "\nprovider_installation {}\n",
            "no_methods",
            "c.tfrc, line 2: problem: `provider_installation` has no installation method: clients find no provider\n",
        ),
    ] {
        let scene = Scene::new();
        scene.write("c.tfrc", text);
        std::fs::create_dir(scene.path("cache")).unwrap();
        let check = ["cli-config", "--check", "--cli-config", "c.tfrc"];
        assert_eq!(scene.tfoci(check).exits(1).stdout, says);
        let json = check.iter().chain(&["--format", "json"]);
        let run = scene.tfoci(json).exits(1);
        let document: Value = serde_json::from_str(&run.stdout).unwrap();
        follows("cli-config", &document);
        assert_eq!(document["problems"][0]["kind"], kind, "{document:#}");
    }
}

#[test]
fn notes_do_not_fail_the_check() {
    for (methods, kind, says) in [
        (
            format!("{MIRROR}\ndirect {{ include = [\"acme/*\"] }}"),
            "two_sources",
            "line 2: note: `filesystem_mirror` and `direct` (line 3) both install registry.opentofu.org/acme/*: clients ask both for versions, and take the newest",
        ),
        (
            REGISTRY.replace("${type}", "%{ for x in [type] }${x}%{ endfor }"),
            "unchecked_template",
            "line 2: note: the repository template is not checked: tfoci does not evaluate `for` in a template",
        ),
        (
            "network_mirror { url = \"https://m.example\" }".to_owned(),
            "url_without_path",
            "line 2: note: `https://m.example/` is right for a site that `tfoci site` wrote: the network mirror of `tfoci serve` is at `https://m.example/mirror/`",
        ),
        // tfoci reads these credentials, and clients do not.
        (
            REGISTRY.replace("known", "unseen"),
            "no_credentials",
            "line 2: note: clients find no credentials for repositories such as unseen.example/example.com/example-namespace/example-type: they can pull only if it is public; they do not read unseen/config.json; name the file in `docker_style_config_files` of a block `oci_default_credentials`",
        ),
        (
            REGISTRY.replace("known", "none"),
            "no_credentials",
            "line 2: note: clients find no credentials for repositories such as none.example/example.com/example-namespace/example-type: they can pull only if it is public; `tfoci login none.example` stores some",
        ),
    ] {
        let run = check(&methods, &[]).succeeds();
        let expected = format!(
            "c.tfrc, {says}\nno problems found in c.tfrc; it was only read, and no server was asked\n"
        );
        assert_eq!(run.stdout, expected);
        let run = check(&methods, &["--format", "json"]).succeeds();
        let document: Value = serde_json::from_str(&run.stdout).unwrap();
        follows("cli-config", &document);
        let note = &document["notes"][0];
        assert_eq!(note["kind"], kind);
        let parts = ["message", "hint"].map(|part| note[part].as_str());
        let parts: Vec<_> = parts.into_iter().flatten().collect();
        assert_eq!(says, format!("line 2: note: {}", parts.join("; ")));
        assert_eq!(document["problems"], Value::Array(vec![]));
    }
}

#[test]
fn patterns_without_a_host_are_on_the_default_host_of_the_client() {
    let methods = format!("{MIRROR}\ndirect {{ include = [\"acme/*\"] }}");
    for (client, host) in [
        ("tofu", "registry.opentofu.org"),
        ("terraform", "registry.terraform.io"),
    ] {
        let run = check(&methods, &["--client", client]).succeeds();
        let says = format!("both install {host}/acme/*: clients ask");
        assert!(run.stdout.contains(&says), "{}", run.stdout);
    }
}

#[test]
fn disjoint_installation_methods_are_accepted() {
    let disjoint = REGISTRY.replace(" }", "\n include = [\"acme/*\", \"a.example/*/*\"]\n}");
    for methods in [
        format!("{disjoint}\ndirect {{ exclude = [\"acme/*\", \"a.example/*/*\"] }}"),
        format!("{disjoint}\n{MIRROR}")
            .replace("mirror\" }", "mirror\"\n include = [\"b.example/*/*\"]\n}"),
        // Clients skip a registry that lacks a version.
        format!("direct {{}}\n{REGISTRY}"),
        format!("{disjoint}\ndirect {{ exclude = [\"*/*/*\"] }}"),
        MIRROR.to_owned(),
    ] {
        let run = check(&methods, &[]).succeeds();
        let expected = "no problems found in c.tfrc; it was only read, and no server was asked\n";
        assert_eq!(run.stdout, expected, "{methods}");
    }
}

#[test]
fn the_file_is_the_one_that_the_client_uses() {
    let scene = Scene::new();
    let check = ["cli-config", "--check", "--client"];
    let of = |client: &str| scene.tfoci(check.iter().chain(&[client]));
    let none = "there is no CLI configuration: clients install from the providers' origins\n";
    assert_eq!(of("tofu").succeeds().stdout, none);
    let oci = format!(
        "provider_installation {{\n{}\n}}\n",
        REGISTRY.replace("known", "a")
    );
    scene.write(".terraformrc", &oci);
    let run = of("tofu").succeeds();
    assert!(run.stdout.contains("[TMP]/.terraformrc, line 2: note: terraform reads this file too: it does not know `oci_mirror`, prints an error about the block, and goes on without it\n"), "{}", run.stdout);
    let run = of("terraform").exits(1);
    assert_eq!(
        run.stdout,
        "[TMP]/.terraformrc, line 2: problem: terraform does not know `oci_mirror`: it prints an error about the block, and goes on without it; `tfoci install --into DIR` writes a directory for `filesystem_mirror`\n"
    );
    // Only OpenTofu reads this file, and it then reads no other one.
    scene.write(".tofurc", "{\"provider_installation\": {\"foo\": {}}}");
    assert_eq!(
        of("tofu").exits(1).stdout,
        "[TMP]/.tofurc: problem: there is no installation method `foo`: clients ignore the block\n"
    );
    assert!(
        of("terraform")
            .exits(1)
            .stdout
            .starts_with("[TMP]/.terraformrc, line 2")
    );
    // A file that a variable names takes precedence, and must exist.
    let scene = scene.env("TF_CLI_CONFIG_FILE", "own.tfrc");
    let run = scene.tfoci(check.iter().chain(&["terraform"])).exits(1);
    assert!(
        run.stderr.starts_with("error: cannot read own.tfrc"),
        "{}",
        run.stderr
    );
    scene.write("own.tfrc", "provider_installation {");
    let run = scene
        .tfoci(check.iter().chain(&["terraform", "--format", "json"]))
        .exits(1);
    let document: Value = serde_json::from_str(&run.stdout).unwrap();
    follows("cli-config", &document);
    assert!(
        run.stderr
            .starts_with("error: own.tfrc is not a CLI configuration"),
        "{}",
        run.stderr
    );
}
