//! The JSON schemas that `tfoci schema` prints: results and configuration files follow them.

use serde_json::Value;

use crate::readme::block;
use crate::support::author::Author;
use crate::support::release::Mistake;
use crate::support::scene::{Run, Scene};

/// The schema of a command's result, or of a file.
fn schema(name: &str) -> jsonschema::Validator {
    let text = Scene::new().tfoci(["schema", name]).succeeds().stdout;
    let schema: Value = serde_json::from_str(&text).unwrap();
    jsonschema::validator_for(&schema).unwrap()
}

/// Checks that a document follows a schema.
#[track_caller]
fn follows(name: &str, document: &Value) {
    let schema = schema(name);
    let errors: Vec<_> = schema
        .iter_errors(document)
        .map(|error| format!("{}: {error}", error.instance_path()))
        .collect();
    assert!(errors.is_empty(), "{name}: {errors:#?}\n{document:#}");
}

#[track_caller]
fn result(name: &str, run: &Run) -> Value {
    let document = serde_json::from_str(&run.stdout).expect(&run.stdout);
    follows(name, &document);
    document
}

const JSON: [&str; 2] = ["--format", "json"];

#[test]
fn results_follow_the_schema_of_their_command() {
    let author = Author::with_release();
    result("push", &author.push(&JSON).succeeds());
    let scene = &author.scene;
    for (name, arguments) in [
        ("versions", "versions acme/demo --from oci-layout:store --all"),
        ("inspect", "inspect acme/demo@1.0.0 --from oci-layout:store"),
        ("copy", "copy --from oci-layout:store --to oci-layout:other"),
        ("copy", "copy --from oci-layout:store --to oci-layout:other"),
        ("install", "install --from oci-layout:store --into mirror --platform all"),
        ("resolve", "resolve acme/demo --from oci-layout:store"),
        ("resolve", "resolve acme/demo --from registry.example.com/{namespace}/{type}"),
        ("logout", "logout registry.example.com"),
    ] {
        let run = scene.tfoci(arguments.split(' ').chain(JSON)).succeeds();
        result(name, &run);
    }
}

#[test]
fn failures_follow_the_schema_of_their_command() {
    let author = Author::with_mistake(Mistake::SignatureMissing);
    let document = result("push", &author.push(&JSON).exits(3));
    assert!(document["providers"][0]["error"].is_object());
    let scene = &author.scene;
    for (name, arguments) in [
        ("mirror", "mirror acme/demo --to oci-layout:store --from nonsense"),
        ("copy", "copy --from oci-layout:none --to oci-layout:other"),
        ("versions", "versions acme/demo --from oci-layout:none"),
        ("inspect", "inspect acme/demo@1.0.0 --from oci-layout:none"),
        ("install", "install acme/demo --from oci-layout:none --into mirror"),
        ("login", "login registry.example.com --username me"),
    ] {
        let run = scene.tfoci(arguments.split(' ').chain(JSON));
        let document = result(name, &run);
        assert!(document["error"].is_object(), "{arguments}");
    }
}

#[test]
fn the_files_in_the_readme_follow_their_schemas() {
    for (name, words) in [("mirror-file", "platforms ="), ("trust-file", "match =")] {
        let text = block("toml", words);
        let document: Value = toml_edit::de::from_str(&text).unwrap();
        follows(name, &document);
    }
}

#[test]
fn what_tfoci_refuses_in_a_file_breaks_its_schema() {
    for (name, text) in [
        ("mirror-file", "platform = []"),
        ("mirror-file", "newest = 0"),
        ("mirror-file", "platforms = []"),
        ("mirror-file", "[[provider]]\nconstraints = \"1\""),
        ("mirror-file", "to = \"oci-layout:mirror\""),
        ("trust-file", "[[provider]]\nkeys = []"),
        ("trust-file", "[[provider]]\nmatch = \"*/*/*\"\nunsigned = \"warn\""),
        ("trust-file", "[[providers]]\nmatch = \"*/*/*\""),
    ] {
        let document: Value = toml_edit::de::from_str(text).unwrap();
        assert!(!schema(name).is_valid(&document), "{name}: {text}");
        let scene = Scene::new();
        scene.write("file.toml", text);
        let option = if name == "mirror-file" { "--file" } else { "--trust" };
        let mut arguments = vec!["mirror", option, "file.toml", "--to", "oci-layout:store"];
        if option == "--trust" {
            arguments.push("acme/demo");
        }
        scene.tfoci(arguments).exits(2);
    }
}
