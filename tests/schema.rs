//! The JSON schemas that `tfoci schema` prints: results and configuration files follow them.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use crate::readme::block;
use crate::support::author::Author;
use crate::support::release::Mistake;
use crate::support::scene::{Run, Scene};

/// The commands with a schema of their result.
const RESULTS: &str = "cli-config config doctor inspect install list lock login copy logout mirror prune push resolve site trust-check \
    trust-show verify versions";

/// The schema of a command's result, or of a file.
fn schema(name: &str) -> Value {
    Scene::new().tfoci(["schema", name]).succeeds().json()
}

/// The violations of a schema in a value. Supports the keywords that the schemas use, and panics at others.
fn breaches(root: &Value, schema: &Value, value: &Value, at: &str) -> Vec<String> {
    let within = |schema: &Value, value: &Value, at: &str| breaches(root, schema, value, at);
    let mut found = Vec::new();
    for (keyword, rule) in schema.as_object().unwrap() {
        let holds = match keyword.as_str() {
            "$schema" | "$defs" | "title" | "description" => true,
            "$ref" => {
                let pointer = rule.as_str().unwrap().strip_prefix('#').unwrap();
                found.extend(within(root.pointer(pointer).unwrap(), value, at));
                true
            }
            "type" => match rule {
                Value::Array(types) => types.iter().any(|one| is_type(one, value)),
                one => is_type(one, value),
            },
            "const" => value == rule,
            "enum" => rule.as_array().unwrap().contains(value),
            "pattern" => value
                .as_str()
                .is_none_or(|text| matches(rule.as_str().unwrap(), text)),
            "minimum" => value
                .as_f64()
                .is_none_or(|number| number >= rule.as_f64().unwrap()),
            "minItems" => value
                .as_array()
                .is_none_or(|items| items.len() as u64 >= rule.as_u64().unwrap()),
            "required" => value.as_object().is_none_or(|object| {
                let mut names = rule.as_array().unwrap().iter();
                names.all(|name| object.contains_key(name.as_str().unwrap()))
            }),
            "anyOf" | "oneOf" => {
                let rules = rule.as_array().unwrap().iter();
                let fitting = rules.filter(|rule| within(rule, value, at).is_empty());
                let count = fitting.count();
                count == 1 || (count > 1 && keyword == "anyOf")
            }
            "items" => {
                for (index, item) in value.as_array().into_iter().flatten().enumerate() {
                    found.extend(within(rule, item, &format!("{at}/{index}")));
                }
                true
            }
            "properties" => {
                for (name, item) in value.as_object().into_iter().flatten() {
                    match rule.get(name) {
                        Some(rule) => found.extend(within(rule, item, &format!("{at}/{name}"))),
                        // Every member must be described, even where the schema allows others.
                        None => found.push(format!("{at}/{name} is not described")),
                    }
                }
                true
            }
            "additionalProperties" if rule.is_object() => {
                let members = value.as_object().into_iter().flatten();
                members.for_each(|(name, item)| {
                    found.extend(within(rule, item, &format!("{at}/{name}")));
                });
                true
            }
            "additionalProperties" => *rule == Value::Bool(false),
            unknown => panic!("{at}: unknown keyword {unknown}"),
        };
        if !holds {
            found.push(format!("{at}: {keyword} {rule} does not hold"));
        }
    }
    found
}

fn is_type(name: &Value, value: &Value) -> bool {
    match name.as_str().unwrap() {
        "object" => value.is_object(),
        "array" => value.is_array(),
        "string" => value.is_string(),
        "integer" => value.is_i64() || value.is_u64(),
        "boolean" => value.is_boolean(),
        "null" => value.is_null(),
        other => panic!("unknown type {other}"),
    }
}

/// Whether a text fits one of the patterns of the schemas.
fn matches(pattern: &str, text: &str) -> bool {
    let is_hex = |byte: u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
    let hashed = |kind: &str, length| {
        let hex = text.strip_prefix(kind).filter(|hex| hex.len() == length);
        hex.is_some_and(|hex| hex.bytes().all(is_hex))
    };
    let is_word = |word: &str| {
        let fits = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
        !word.is_empty() && word.bytes().all(fits)
    };
    match pattern {
        "^zh:[0-9a-f]{64}$" => hashed("zh:", 64),
        "^sha256:[0-9a-f]{64}$" => hashed("sha256:", 64),
        "^(zh:[0-9a-f]{64}|h1:.+)$" => hashed("zh:", 64) || text.starts_with("h1:"),
        "^[0-9]+d$" => text
            .strip_suffix('d')
            .is_some_and(|days| days.parse::<u32>().is_ok()),
        "^[a-z0-9]+_[a-z0-9]+$" => text.split('_').count() == 2 && text.split('_').all(is_word),
        other => panic!("unknown pattern {other}"),
    }
}

/// Checks that a document follows a schema.
#[track_caller]
pub fn follows(name: &str, document: &Value) {
    let schema = schema(name);
    let errors = breaches(&schema, &schema, document, "");
    assert!(errors.is_empty(), "{name}: {errors:#?}\n{document:#}");
}

/// Runs a command for JSON, and checks that its result follows the schema of its name.
#[track_caller]
fn result(scene: &Scene, line: &str) -> (Run, Value) {
    let run = scene.line(format!("{line} --format json"));
    let mut words = line.split(' ');
    let name = match words.next().unwrap() {
        "trust" => format!("trust-{}", words.next().unwrap()),
        name => name.to_owned(),
    };
    let document = run.json();
    follows(&name, &document);
    (run, document)
}

const PUSH: &str = "push dist --provider acme/demo --key acme.asc --to oci-layout:store";

#[test]
fn results_follow_the_schema_of_their_command() {
    let author = Author::with_release();
    let scene = &author.scene;
    let keys = format!("[\"acme.asc\", \"{}\"]", "A".repeat(40));
    scene.write(
        "trust.toml",
        format!(
            "[[provider]]\nmatch = \"*/*/*\"\nkeys = {keys}\n[[provider]]\nmatch = \"*/*/*\"\n"
        ),
    );
    for line in [
        PUSH,
        "list --from oci-layout:store",
        "list --long --from oci-layout:store",
        "list --long --from oci-layout:store --key acme.asc",
        "versions acme/demo --from oci-layout:store --all",
        "inspect acme/demo@1.0.0 --from oci-layout:store",
        "prune acme/demo@1.0.0 --from oci-layout:store",
        "copy --from oci-layout:store --to oci-layout:other",
        "copy --from oci-layout:store --to bundle:all.tar",
        "copy --from bundle:all.tar --to oci-layout:third",
        "install --from oci-layout:store --into mirror --platform all",
        "install acme/demo --from oci-layout:store --trust-store --platform linux_amd64",
        "site public --from oci-layout:store",
        "site public --from oci-layout:store --delete --dry-run",
        "lock acme/demo --from oci-layout:store --trust-store",
        "lock acme/demo --from oci-layout:store --check --platform linux_amd64",
        "resolve acme/demo --from oci-layout:store",
        "resolve acme/demo --from registry.example.com/{namespace}/{type}",
        "cli-config acme/* --into mirror",
        "cli-config --check",
        "logout registry.example.com",
        "config",
        "trust check trust.toml",
        "trust show acme/demo --trust trust.toml",
        "trust show a.example/acme/demo",
    ] {
        result(scene, line).0.succeeds();
    }
}

#[test]
fn failures_follow_the_schema_of_their_command() {
    let author = Author::with_mistake(Mistake::SignatureMissing);
    let scene = &author.scene;
    let (run, document) = result(scene, PUSH);
    run.exits(3);
    assert!(document["providers"][0]["error"].is_object());
    for line in [
        "mirror acme/demo --to oci-layout:store --from nonsense",
        "copy --from oci-layout:none --to oci-layout:other",
        "list --from oci-layout:none",
        "lock acme/demo --from oci-layout:none",
        "install acme/demo --from oci-layout:none",
        "site public --from oci-layout:none",
        "versions acme/demo --from oci-layout:none",
        "inspect acme/demo@1.0.0 --from oci-layout:none",
        "install acme/demo --from oci-layout:none --into mirror",
        "cli-config acme/demo --from oci-layout:none",
        "login registry.example.com --username me",
        "trust check none.toml",
        "trust show acme/demo --trust none.toml",
    ] {
        assert!(result(scene, line).1["error"].is_object(), "{line}");
    }
}

#[test]
fn problems_of_a_trust_file_follow_the_schema() {
    let scene = Scene::new();
    scene.write(
        "trust.toml",
        "[[provider]]\nmatch = \"*/*/*\"\nkeys = [\"none.asc\"]\n",
    );
    let (run, document) = result(&scene, "trust check trust.toml");
    run.exits(1);
    assert_eq!(document["errors"][0]["category"], "not_found");
}

#[test]
fn the_files_in_the_readme_follow_their_schemas() {
    for (name, words) in [("mirror-file", "platforms ="), ("trust-file", "acme-2026")] {
        let text = block("toml", words);
        let document: Value = toml_edit::de::from_str(&text).unwrap();
        follows(name, &document);
    }
}

#[test]
fn files_that_tfoci_refuses_violate_their_schema() {
    for (file, option, text) in [
        ("mirror", "--file", "platform = []"),
        ("mirror", "--file", "newest = 0"),
        ("mirror", "--file", "min_age = \"7\""),
        ("mirror", "--file", "platforms = []"),
        ("mirror", "--file", "[[provider]]\nconstraints = \"1\""),
        ("mirror", "--file", "to = \"oci-layout:mirror\""),
        ("trust", "acme/demo --trust", "[[provider]]\nkeys = []"),
        (
            "trust",
            "acme/demo --trust",
            "[[provider]]\nmatch = \"*/*/*\"\nunsigned = \"warn\"",
        ),
        (
            "trust",
            "acme/demo --trust",
            "[[providers]]\nmatch = \"*/*/*\"",
        ),
    ] {
        let document: Value = toml_edit::de::from_str(text).unwrap();
        let schema = schema(&format!("{file}-file"));
        let found = breaches(&schema, &schema, &document, "");
        assert!(!found.is_empty(), "{text}");
        let scene = Scene::new();
        scene.write("file.toml", text);
        let line = format!("mirror {option} file.toml --to oci-layout:store");
        scene.line(line).exits(2);
    }
}

/// The names of all properties in a schema.
fn properties(schema: &Value, names: &mut BTreeSet<String>) {
    match schema {
        Value::Object(members) => {
            if let Some(Value::Object(found)) = members.get("properties") {
                names.extend(found.keys().cloned());
            }
            members
                .values()
                .for_each(|member| properties(member, names));
        }
        Value::Array(items) => items.iter().for_each(|item| properties(item, names)),
        _ => {}
    }
}

#[test]
fn documentation_names_every_member_of_every_result() {
    let page = std::fs::read_to_string("docs/json.md").unwrap();
    let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    let words: BTreeSet<&str> = page.split(|c: char| !is_part(c)).collect();
    for name in RESULTS.split_whitespace() {
        let mut names = BTreeSet::new();
        properties(&schema(name), &mut names);
        assert!(names.len() > 2, "{name}: {names:?}");
        names.retain(|member| !words.contains(member.as_str()));
        assert!(names.is_empty(), "{name}: {names:?}\n{page}");
    }
}

/// Every schema of a result, and the help, name every category of errors.
#[test]
fn every_category_of_errors_is_documented() {
    let categories = "not_found 1, unauthorized 1, untrusted 3, conflict 1, unsupported 1, unreachable 1, malformed 1, local 1, usage 2, \
        differs 4, interrupted 130";
    let categories = categories
        .split(", ")
        .map(|one| one.split_once(' ').unwrap());
    let words: Vec<&str> = categories.clone().map(|(category, _)| category).collect();
    for name in RESULTS.split_whitespace() {
        let documented = &schema(name)["$defs"]["error"]["properties"]["category"]["enum"];
        assert_eq!(documented, &json!(words), "{name}");
    }
    let help = Scene::new().tfoci(["help", "json"]).succeeds().stdout;
    for (category, code) in categories {
        let is_about = |line: &str| {
            let mut words = line.split_whitespace();
            words.next() == Some(category) && words.next() == Some(code)
        };
        assert!(help.lines().any(is_about), "{category}: {help}");
    }
}
