use serde_json::{Value, json};

use super::{check, form, hostile};
use crate::support::author::Author;
use crate::support::origin::{Origin, Provider, asks, lie};
use crate::support::registry::answer::Answer;
use crate::support::registry::{Fault, Personality, Registry, Setup, matching};
use crate::support::scene::Scene;

const LINUX: &str = "linux_amd64";

/// The part of a text that a header can hold.
fn header(text: &str) -> String {
    let printable = text.chars().filter(|c| (' '..='~').contains(c));
    printable.take(3000).collect()
}

/// An error with hostile text in every place that can have text.
fn failure(status: u16, text: &str) -> Fault {
    let line = header(text);
    let errors = json!({"errors": [{"code": text, "message": text, "detail": text}], "message": text, text: text});
    let answer = Answer::json(status, &errors)
        .header("www-authenticate", &format!("Bearer realm=\"http://h.example/{line}\",service=\"{line}\",scope=\"{line}\",error=\"{line}\""))
        .header("location", &format!("https://h.example/{line}"))
        .header("link", &format!("<{line}>; rel=\"next\""))
        .header("warning", &line)
        .header("retry-after", "0");
    Fault::Answer(answer)
}

fn registry_says(sort: (&'static str, &'static str), fault: Fault, form: &str) {
    let author = Author::with_release();
    let registry = Registry::plain();
    let to = format!("{}/acme/demo", registry.host());
    let run = |line: &str| author.line(format!("{line} --plain-http 127.0.0.1"));
    let push = format!("push dist --provider acme/demo --key acme.asc --to {to}");
    run(&push).succeeds();
    registry.always(matching(sort.0, sort.1), fault);
    let what = format!("{sort:?}");
    let again = format!("{push} {form} --existing replace --annotation a=b");
    check(&run(&again), &what);
    for command in [
        "versions acme/demo --all",
        "inspect acme/demo@1.0.0",
        "install acme/demo@1.0.0 --platform all --into out",
        "copy acme/demo --to oci-layout:copied",
    ] {
        check(&run(&format!("{command} --from {to} {form}")), &what);
    }
}

#[test]
fn hostile_errors_of_registries() {
    let requests = [
        ("GET", "/v2/"),
        ("GET", "/tags/list"),
        ("GET", "/manifests/"),
        ("GET", "/blobs/"),
        ("POST", "/blobs/uploads/"),
        ("PUT", "/manifests/"),
    ];
    for (seed, text) in hostile().into_iter().enumerate() {
        let status = [400, 401, 403, 404, 405, 409, 413, 422][seed % 8];
        let sort = requests[seed % requests.len()];
        registry_says(sort, failure(status, &text), form(seed));
    }
}

#[test]
fn hostile_documents_of_registries() {
    for (seed, text) in hostile().into_iter().enumerate() {
        let form = form(seed);
        let tags = [&*text, "1.0.0", &format!("1.0.0-{text}")];
        let tags = json!({"name": text, "tags": tags, &text: text});
        registry_says(("GET", "/tags/list"), Fault::body(tags.to_string()), form);
        let name = match seed % 5 {
            0 => "docker-content-digest",
            1 => "content-type",
            2 => "location",
            3 => "link",
            _ => "etag",
        };
        registry_says(("", "/"), Fault::with(name, header(&text)), form);
    }
}

#[test]
fn hostile_errors_of_token_servers() {
    for (seed, text) in hostile().into_iter().enumerate() {
        let registry = Setup::of(Personality::Harbor).create("acme").start();
        let scene = Scene::new();
        scene.write("auth.json", registry.authfile());
        let status = [400, 401, 403, 404, 200][seed % 5];
        registry.always(matching("", "/token"), failure(status, &text));
        let from = format!("{}/acme/demo {}", registry.host(), form(seed));
        let known = "versions acme/demo --authfile auth.json --plain-http 127.0.0.1 --from";
        check(&scene.line(format!("{known} {from}")), &text);
    }
}

/// The path of every text and of every member name in a JSON document.
fn places(document: &Value, path: &str, found: &mut Vec<String>) {
    let below = |name: &str| match path {
        "" => name.to_owned(),
        path => format!("{path}/{name}"),
    };
    match document {
        Value::Object(members) => {
            for (name, member) in members {
                places(member, &below(name), found);
            }
        }
        Value::Array(items) => {
            for (number, item) in items.iter().enumerate() {
                places(item, &below(&number.to_string()), found);
            }
        }
        _ => found.push(path.to_owned()),
    }
}

fn origin_says(sort: &'static str, fault: Fault, more: &str, what: &str) {
    let provider = Provider::demo(&[LINUX]).warning("a warning");
    let origin = Origin::of([provider]);
    let scene = Scene::new()
        .env("TF_REGISTRY_DISCOVERY_RETRY", "0")
        .env("TF_PROVIDER_DOWNLOAD_RETRY", "0");
    origin.write_ca(&scene);
    origin.always(asks(sort), fault);
    let address = origin.address("acme/demo");
    let url = format!("network-mirror:{}", origin.mirror_url());
    let from = match sort.starts_with("mirror") {
        true => format!("example.com/acme/demo --from {url} --allow-unsigned example.com/acme/*"),
        false => address,
    };
    let line = format!("mirror --to oci-layout:store --ca-file ca.pem {from} {more}");
    check(&scene.line(line), &format!("{sort} {what}"));
}

/// The answers of an origin, which the tests alter.
fn answers() -> [(&'static str, Value); 5] {
    let packages = json!({"linux_amd64": {"hashes": ["zh:"], "package_size": 1}});
    let download = json!({
        "protocols": ["5.0"], "os": "", "arch": "", "filename": "", "download_url": "", "shasums_url": "",
        "shasums_signature_url": "", "shasum": "", "packages": packages,
        "signing_keys": {"gpg_public_keys": [{"key_id": "", "ascii_armor": "", "trust_signature": "", "source": "", "source_url": ""}]},
    });
    let platforms = json!([{"os": "", "arch": ""}]);
    let versions = json!([{"version": "", "protocols": [""], "platforms": platforms}]);
    let archives = json!({"linux_amd64": {"url": "", "hashes": [""]}});
    [
        ("discovery", json!({"providers.v1": ""})),
        (
            "versions",
            json!({"id": "", "warnings": [""], "versions": versions}),
        ),
        ("download", download),
        ("mirror-index", json!({"versions": {"1.0.0": {}}})),
        ("mirror-version", json!({"archives": archives})),
    ]
}

#[test]
fn hostile_documents_of_origins() {
    let hostile = hostile();
    let mut seed = 0;
    for (sort, document) in answers() {
        let mut found = Vec::new();
        places(&document, "", &mut found);
        for path in found {
            for _ in 0..2 {
                seed += 3;
                let text = &hostile[seed % hostile.len()];
                let fault = lie::says(&path, text.as_str());
                let what = format!("{path} {text:?}");
                origin_says(sort, fault, form(seed), &what);
            }
        }
        for text in &hostile {
            seed += 1;
            let name = text.clone();
            let fault = lie::json(move |document| {
                // A member with this name in every object.
                fn add(document: &mut Value, name: &str) {
                    match document {
                        Value::Object(members) => {
                            members.values_mut().for_each(|member| add(member, name));
                            let like = members.values().next().cloned();
                            members.insert(name.to_owned(), like.unwrap_or_default());
                        }
                        Value::Array(items) => items.iter_mut().for_each(|item| add(item, name)),
                        _ => {}
                    }
                }
                add(document, &name);
            });
            origin_says(sort, fault, form(seed), text);
        }
    }
}

#[test]
fn hostile_errors_of_origins() {
    let sorts = [
        "discovery",
        "versions",
        "download",
        "document",
        "signature",
        "package",
        "mirror-index",
        "mirror-version",
    ];
    for (seed, text) in hostile().into_iter().enumerate() {
        let fails = failure([400, 401, 403, 404, 422, 410][seed % 6], &text);
        for sort in [sorts[seed % sorts.len()], sorts[(seed + 4) % sorts.len()]] {
            origin_says(sort, fails.clone(), form(seed), &text);
            let fault = Fault::body(text.clone());
            origin_says(sort, fault, form(seed + 1), &text);
        }
    }
}
