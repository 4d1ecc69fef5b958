//! `tfoci help deployment`: the unit of systemd and the manifest of Kubernetes limit what the server may do.

use std::collections::VecDeque;

use serde_json::{Map, Value, json};

use crate::support::scene::Scene;

/// How long the server lets downloads go on, by default.
const GRACE: u64 = 60;

/// The lines of the page between two others, without the indentation that all have.
fn excerpt(first: &str, end: &str) -> Vec<String> {
    let page = Scene::new().tfoci(["help", "deployment"]).succeeds().stdout;
    let lines = page.lines().skip_while(|line| line.trim() != first);
    let lines: Vec<String> = lines
        .take_while(|line| !line.trim().starts_with(end))
        .map(|line| line.strip_prefix("  ").unwrap_or_default().to_owned())
        .collect();
    assert!(lines.len() > 1, "{first}\n{page}");
    lines
}

/// A document in the part of YAML that the page uses: mappings and lists, in blocks and in brackets, without quotes.
fn yaml(lines: &[String]) -> Value {
    let lines = lines
        .iter()
        .map(|line| line.split(" #").next().unwrap().trim_end());
    let mut lines: VecDeque<(usize, &str)> = lines
        .filter(|line| !line.is_empty())
        .map(|line| (line.len() - line.trim_start().len(), line.trim_start()))
        .collect();
    let document = block(&mut lines);
    assert!(lines.is_empty(), "{lines:?}");
    document
}

fn block(lines: &mut VecDeque<(usize, &str)>) -> Value {
    let (indent, first) = lines[0];
    let is_list = first.starts_with("- ");
    let (mut list, mut mapping) = (Vec::new(), Map::new());
    while let Some(&(at, line)) = lines.front()
        && at == indent
        && line.starts_with("- ") == is_list
    {
        lines.pop_front();
        if let Some(item) = line.strip_prefix("- ") {
            let is_mapping = !item.starts_with(['{', '[']) && item.contains(": ");
            list.push(if is_mapping {
                lines.push_front((indent + "- ".len(), item));
                block(lines)
            } else {
                value(item)
            });
            continue;
        }
        let (key, rest) = line.split_once(':').unwrap();
        let value = match rest.trim() {
            "" => block(lines),
            rest => value(rest),
        };
        let former = mapping.insert(key.to_owned(), value);
        assert!(former.is_none(), "{key} is there twice");
    }
    let is_end = lines.front().is_none_or(|(at, _)| *at < indent);
    assert!(is_end, "{lines:?}");
    match is_list {
        true => list.into(),
        false => mapping.into(),
    }
}

/// A value on one line.
fn value(text: &str) -> Value {
    if !text.starts_with(['{', '[']) {
        return scalar(text);
    }
    let mut rest = text;
    let value = bracketed(&mut rest);
    assert_eq!(rest.trim(), "", "{text}");
    value
}

fn bracketed(rest: &mut &str) -> Value {
    *rest = rest.trim_start();
    let Some(open) = rest.chars().next().filter(|c| matches!(c, '{' | '[')) else {
        let end = rest.find([',', '}', ']']).unwrap();
        let (text, after) = rest.split_at(end);
        *rest = after;
        return scalar(text);
    };
    let close = if open == '{' { '}' } else { ']' };
    let (mut list, mut mapping) = (Vec::new(), Map::new());
    while !rest.starts_with(close) {
        *rest = rest[1..].trim_start();
        if rest.starts_with(close) {
            break;
        }
        if open == '[' {
            list.push(bracketed(rest));
        } else {
            let (key, after) = rest.split_once(':').unwrap();
            *rest = after;
            mapping.insert(key.to_owned(), bracketed(rest));
        }
        *rest = rest.trim_start();
        assert!(rest.starts_with([',', close]), "{rest}");
    }
    *rest = &rest[1..];
    match open {
        '[' => list.into(),
        _ => mapping.into(),
    }
}

fn scalar(text: &str) -> Value {
    let text = text.trim();
    serde_json::from_str(text).unwrap_or_else(|_| text.into())
}

#[test]
fn the_page_of_yaml_is_read_as_yaml() {
    let text = "a:\n  - b: 1 # one\n    c: [x, y]\n  - --d=${e}\nf: { g: { h: true }, i: {} }";
    let lines: Vec<String> = text.lines().map(str::to_owned).collect();
    let expected = json!({
        "a": [{ "b": 1, "c": ["x", "y"] }, "--d=${e}"],
        "f": { "g": { "h": true }, "i": {} },
    });
    assert_eq!(yaml(&lines), expected);
}

#[test]
fn pod_security_restricted_accepts_the_pod() {
    let lines = excerpt("apiVersion: apps/v1", "The pod passes");
    let documents: Vec<Value> = lines.split(|line| line == "---").map(yaml).collect();
    let kinds: Vec<&Value> = documents.iter().map(|document| &document["kind"]).collect();
    assert_eq!(kinds, ["Deployment", "Service", "Ingress"]);
    let pod = &documents[0]["spec"]["template"]["spec"];
    let [container] = &pod["containers"].as_array().unwrap()[..] else {
        panic!("{pod}");
    };
    let (of_pod, own) = (&pod["securityContext"], &container["securityContext"]);
    assert_eq!(of_pod["runAsNonRoot"], true);
    assert_eq!(
        of_pod["seccompProfile"],
        json!({ "type": "RuntimeDefault" })
    );
    assert_eq!(own["allowPrivilegeEscalation"], false);
    assert_eq!(own["capabilities"], json!({ "drop": ["ALL"] }));
    for volume in pod["volumes"].as_array().unwrap() {
        let is_allowed = ["secret", "emptyDir"]
            .iter()
            .any(|kind| !volume[kind].is_null());
        assert!(is_allowed, "{volume}");
    }
    // Beyond what `restricted` demands.
    assert_ne!(of_pod["runAsUser"], 0);
    assert_eq!(own["readOnlyRootFilesystem"], true);
    assert_eq!(pod["automountServiceAccountToken"], false);
    // The grace of Kubernetes begins before preStop.
    let before = container["lifecycle"]["preStop"]["sleep"]["seconds"].as_u64();
    let whole = pod["terminationGracePeriodSeconds"].as_u64().unwrap();
    assert!(before.is_some_and(|before| before > 0 && before + GRACE < whole));
}

#[test]
fn the_unit_of_systemd_has_few_rights() {
    let unit = excerpt("[Service]", "[Install]");
    let value = |name: &str| {
        let of_name = |line: &String| Some(line.strip_prefix(name)?.strip_prefix('=')?.to_owned());
        let values: Vec<String> = unit.iter().filter_map(of_name).collect();
        assert_eq!(values.len(), 1, "{name}: {values:?}");
        values.concat()
    };
    // To listen on port 443.
    let capability = "CAP_NET_BIND_SERVICE";
    for (name, expected) in [
        ("AmbientCapabilities", capability),
        ("CapabilityBoundingSet", capability),
        ("DynamicUser", "yes"),
        ("LockPersonality", "yes"),
        ("MemoryDenyWriteExecute", "yes"),
        ("NoNewPrivileges", "yes"),
        ("PrivateDevices", "yes"),
        ("PrivateTmp", "yes"),
        ("ProtectClock", "yes"),
        ("ProtectControlGroups", "yes"),
        ("ProtectHome", "yes"),
        ("ProtectHostname", "yes"),
        ("ProtectKernelLogs", "yes"),
        ("ProtectKernelModules", "yes"),
        ("ProtectKernelTunables", "yes"),
        ("ProtectSystem", "strict"),
        ("RestrictAddressFamilies", "AF_INET AF_INET6 AF_UNIX"),
        ("RestrictNamespaces", "yes"),
        ("RestrictRealtime", "yes"),
        ("SystemCallArchitectures", "native"),
        ("SystemCallErrorNumber", "EPERM"),
        ("SystemCallFilter", "@system-service"),
        ("UMask", "0077"),
    ] {
        assert_eq!(value(name), expected, "{name}");
    }
    let stop: u64 = value("TimeoutStopSec").parse().unwrap();
    assert!(stop > GRACE, "{stop}");
}
