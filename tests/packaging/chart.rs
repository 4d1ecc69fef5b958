use std::fs;

use serde_json::Value;

use super::{read, root};
use crate::support::scene::Scene;

/// How long the server lets downloads go on, by default, and how long the pod waits before.
const GRACE: u64 = 60;

fn template(name: &str) -> String {
    read(&format!("packaging/chart/templates/{name}"))
}

/// The number behind a word.
fn number(text: &str, word: &str) -> u64 {
    let (_, rest) = text.split_once(word).unwrap();
    let digits = rest.trim_start().split(|c: char| !c.is_ascii_digit());
    digits.into_iter().next().unwrap().parse().unwrap()
}

#[test]
fn pods_may_do_what_pod_security_restricted_allows() {
    let helpers = template("_helpers.tpl");
    for line in [
        "automountServiceAccountToken: false",
        "runAsNonRoot: true",
        "seccompProfile: {type: RuntimeDefault}",
        "readOnlyRootFilesystem: true",
        "allowPrivilegeEscalation: false",
        "capabilities: {drop: [ALL]}",
    ] {
        assert!(helpers.contains(line), "{line}");
    }
    for name in ["deployment.yaml", "jobs.yaml"] {
        let text = template(name);
        let pods = text.matches("containers:").count();
        for part in ["tfoci.pod", "tfoci.container"] {
            let included = text.matches(&format!("include \"{part}\"")).count();
            assert_eq!(included, pods, "{name}: {part}");
        }
    }
    // The grace of Kubernetes begins before preStop.
    let deployment = template("deployment.yaml");
    let before = number(&deployment, "sleep: {seconds:");
    let whole = number(&deployment, "terminationGracePeriodSeconds:");
    assert!(before > 0 && before + GRACE < whole);
}

/// Values that no template reads are refused by the schema, and the schema knows each of `values.yaml`.
#[test]
fn the_schema_has_the_values() {
    let schema: Value = serde_json::from_str(&read("packaging/chart/values.schema.json")).unwrap();
    assert_eq!(schema["additionalProperties"], false);
    let known = schema["properties"].as_object().unwrap();
    for line in read("packaging/chart/values.yaml").lines() {
        let Some((name, _)) = line.split_once(':') else {
            continue;
        };
        if name.starts_with(|c: char| c.is_ascii_lowercase()) {
            assert!(known.contains_key(name), "{name}");
        }
    }
    let templates = fs::read_dir(root().join("packaging/chart/templates")).unwrap();
    assert!(templates.count() <= 12);
}

/// The mirror file in the values is one that `mirror` takes.
#[test]
fn the_mirror_file_in_the_values_is_valid() {
    let values = read("packaging/chart/values.yaml");
    let (_, file) = values.split_once("  file: |\n").unwrap();
    let lines = file.lines().map_while(|line| line.strip_prefix("    "));
    let scene = Scene::new();
    scene.write("mirror.toml", lines.collect::<Vec<_>>().join("\n"));
    let from = "--from=filesystem-mirror:none";
    // There is no such directory: the file was read before.
    let mirror = format!("mirror --file mirror.toml --to=oci-layout:store {from}");
    scene.line(mirror).exits(1);
}
