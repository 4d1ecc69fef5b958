//! The JSON schemas that `tfoci schema` prints: results and configuration files follow them.

use std::collections::BTreeSet;

use serde_json::Value;

use tfoci::error::Category;

use crate::readme::block;
use crate::support::author::Author;
use crate::support::release::Mistake;
use crate::support::scene::{Run, Scene};

/// The commands with a schema of their result.
const RESULTS: [&str; 19] = [
    "cli-config",
    "config",
    "doctor",
    "inspect",
    "install",
    "list",
    "lock",
    "login",
    "copy",
    "logout",
    "mirror",
    "prune",
    "push",
    "resolve",
    "site",
    "trust-check",
    "trust-show",
    "verify",
    "versions",
];

/// The schema of a command's result, or of a file.
fn schema(name: &str) -> Value {
    let text = Scene::new().tfoci(["schema", name]).succeeds().stdout;
    serde_json::from_str(&text).unwrap()
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
    let is_hex = |text: &str, length| {
        text.len() == length
            && text
                .bytes()
                .all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
    };
    let hashed = |prefix: &str, length| {
        text.strip_prefix(prefix)
            .is_some_and(|hex| is_hex(hex, length))
    };
    match pattern {
        "^zh:[0-9a-f]{64}$" => hashed("zh:", 64),
        "^sha256:[0-9a-f]{64}$" => hashed("sha256:", 64),
        "^(sha256:[0-9a-f]{64}|sha512:[0-9a-f]{128})$" => {
            hashed("sha256:", 64) || hashed("sha512:", 128)
        }
        "^(zh:[0-9a-f]{64}|h1:.+)$" => hashed("zh:", 64) || text.starts_with("h1:"),
        "^[0-9]+d$" => text
            .strip_suffix('d')
            .is_some_and(|days| days.parse::<u32>().is_ok()),
        "^[a-z0-9]+_[a-z0-9]+$" => text.split_once('_').is_some_and(|(os, arch)| {
            let is_word = |word: &str| {
                !word.is_empty()
                    && word
                        .bytes()
                        .all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit())
            };
            is_word(os) && is_word(arch)
        }),
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
    result("push", &author.push("--format json").succeeds());
    let scene = &author.scene;
    let keys = format!("[\"acme.asc\", \"{}\"]", "A".repeat(40));
    scene.write(
        "trust.toml",
        format!(
            "[[provider]]\nmatch = \"*/*/*\"\nkeys = {keys}\n[[provider]]\nmatch = \"*/*/*\"\n"
        ),
    );
    for (name, arguments) in [
        ("list", "list --from oci-layout:store"),
        ("list", "list --long --from oci-layout:store"),
        ("list", "list --long --from oci-layout:store --key acme.asc"),
        (
            "versions",
            "versions acme/demo --from oci-layout:store --all",
        ),
        ("inspect", "inspect acme/demo@1.0.0 --from oci-layout:store"),
        ("prune", "prune acme/demo@1.0.0 --from oci-layout:store"),
        ("copy", "copy --from oci-layout:store --to oci-layout:other"),
        ("copy", "copy --from oci-layout:store --to bundle:all.tar"),
        ("copy", "copy --from bundle:all.tar --to oci-layout:third"),
        (
            "install",
            "install --from oci-layout:store --into mirror --platform all",
        ),
        (
            "install",
            "install acme/demo --from oci-layout:store --trust-store --platform linux_amd64",
        ),
        ("site", "site public --from oci-layout:store"),
        (
            "site",
            "site public --from oci-layout:store --delete --dry-run",
        ),
        (
            "lock",
            "lock acme/demo --from oci-layout:store --trust-store",
        ),
        (
            "lock",
            "lock acme/demo --from oci-layout:store --check --platform linux_amd64",
        ),
        ("resolve", "resolve acme/demo --from oci-layout:store"),
        (
            "resolve",
            "resolve acme/demo --from registry.example.com/{namespace}/{type}",
        ),
        ("cli-config", "cli-config acme/* --into mirror"),
        ("cli-config", "cli-config --check"),
        ("logout", "logout registry.example.com"),
        ("config", "config"),
        ("trust-check", "trust check trust.toml"),
        ("trust-show", "trust show acme/demo --trust trust.toml"),
        ("trust-show", "trust show a.example/acme/demo"),
    ] {
        let run = scene.tfoci(arguments.split(' ').chain(JSON)).succeeds();
        result(name, &run);
    }
}

#[test]
fn failures_follow_the_schema_of_their_command() {
    let author = Author::with_mistake(Mistake::SignatureMissing);
    let document = result("push", &author.push("--format json").exits(3));
    assert!(document["providers"][0]["error"].is_object());
    let scene = &author.scene;
    for (name, arguments) in [
        (
            "mirror",
            "mirror acme/demo --to oci-layout:store --from nonsense",
        ),
        ("copy", "copy --from oci-layout:none --to oci-layout:other"),
        ("list", "list --from oci-layout:none"),
        ("lock", "lock acme/demo --from oci-layout:none"),
        ("install", "install acme/demo --from oci-layout:none"),
        ("site", "site public --from oci-layout:none"),
        ("versions", "versions acme/demo --from oci-layout:none"),
        ("inspect", "inspect acme/demo@1.0.0 --from oci-layout:none"),
        (
            "install",
            "install acme/demo --from oci-layout:none --into mirror",
        ),
        ("cli-config", "cli-config acme/demo --from oci-layout:none"),
        ("login", "login registry.example.com --username me"),
        ("trust-check", "trust check none.toml"),
        ("trust-show", "trust show acme/demo --trust none.toml"),
    ] {
        let run = scene.tfoci(arguments.split(' ').chain(JSON));
        let document = result(name, &run);
        assert!(document["error"].is_object(), "{arguments}");
    }
}

#[test]
fn problems_of_a_trust_file_follow_the_schema() {
    let scene = Scene::new();
    scene.write(
        "trust.toml",
        "[[provider]]\nmatch = \"*/*/*\"\nkeys = [\"none.asc\"]\n",
    );
    let arguments = ["trust", "check", "trust.toml"];
    let run = scene.tfoci(arguments.iter().chain(&JSON)).exits(1);
    let document = result("trust-check", &run);
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
    for (name, text) in [
        ("mirror-file", "platform = []"),
        ("mirror-file", "newest = 0"),
        ("mirror-file", "min_age = \"7\""),
        ("mirror-file", "platforms = []"),
        ("mirror-file", "[[provider]]\nconstraints = \"1\""),
        ("mirror-file", "to = \"oci-layout:mirror\""),
        ("trust-file", "[[provider]]\nkeys = []"),
        (
            "trust-file",
            "[[provider]]\nmatch = \"*/*/*\"\nunsigned = \"warn\"",
        ),
        ("trust-file", "[[providers]]\nmatch = \"*/*/*\""),
    ] {
        let document: Value = toml_edit::de::from_str(text).unwrap();
        let schema = schema(name);
        let found = breaches(&schema, &schema, &document, "");
        assert!(!found.is_empty(), "{name}: {text}");
        let scene = Scene::new();
        scene.write("file.toml", text);
        let option = if name == "mirror-file" {
            "--file"
        } else {
            "--trust"
        };
        let mut arguments = vec!["mirror", option, "file.toml", "--to", "oci-layout:store"];
        if option == "--trust" {
            arguments.push("acme/demo");
        }
        scene.tfoci(arguments).exits(2);
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
    for name in RESULTS {
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
    let categories = [
        (Category::NotFound, "1"),
        (Category::Unauthorized, "1"),
        (Category::Untrusted, "3"),
        (Category::Conflict, "1"),
        (Category::Unsupported, "1"),
        (Category::Unreachable, "1"),
        (Category::Malformed, "1"),
        (Category::Local, "1"),
        (Category::Usage, "2"),
        (Category::Differs, "4"),
        (Category::Interrupted, "130"),
    ];
    let words = categories.map(|(category, _)| Value::from(category.as_str()));
    for name in RESULTS {
        let documented = &schema(name)["$defs"]["error"]["properties"]["category"]["enum"];
        assert_eq!(documented, &Value::from(words.to_vec()), "{name}");
    }
    let help = Scene::new().tfoci(["help", "json"]).succeeds().stdout;
    for (category, code) in categories {
        let is_about = |line: &str| {
            let mut words = line.split_whitespace();
            words.next() == Some(category.as_str()) && words.next() == Some(code)
        };
        assert!(help.lines().any(is_about), "{category}: {help}");
    }
}
