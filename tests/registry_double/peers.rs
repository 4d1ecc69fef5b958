use oci_client::client::{ClientConfig, ClientProtocol};
use oci_client::secrets::RegistryAuth;
use oci_client::{Client, Reference, RegistryOperation};

use super::{INDEX, MANIFEST, Raw, index, manifest, open};
use crate::support::docker_registry::{Options, Program};
use crate::support::layout::digest;
use crate::support::registry::access::PASSWORD;
use crate::support::registry::{Personality, Registry, Setup};

#[tokio::test]
async fn an_independent_client_pushes_to_every_kind_and_pulls_the_same() {
    for personality in Personality::ALL {
        let registry = Setup::of(personality).create("p").create("p/q").start();
        let name = match personality {
            Personality::Ecr => "p/q",
            Personality::Gar => "p/q/r",
            _ => "p/x",
        };
        push_and_pull(&registry, personality, name).await;
        registry.assert_no_leaks();
    }
}

async fn push_and_pull(registry: &Registry, personality: Personality, name: &str) {
    let config = ClientConfig {
        protocol: ClientProtocol::Http,
        use_monolithic_push: true,
        ..ClientConfig::default()
    };
    let client = Client::try_from(config).unwrap();
    let at: Reference = format!("{}/{name}:1.0.0", registry.host()).parse().unwrap();
    let secret = match registry.user() {
        None => RegistryAuth::Anonymous,
        Some(user) => RegistryAuth::Basic(user.to_owned(), PASSWORD.to_owned()),
    };
    let told = format!("{personality:?}");
    let allowed = client.auth(&at, &secret, RegistryOperation::Push);
    allowed.await.expect(&told);
    let host = at.resolve_registry();
    client.store_auth_if_needed(host, &secret).await;
    let blob = digest(b"{}");
    let pushed = client.push_blob(&at, &b"{}"[..], &blob);
    pushed.await.expect(&told);
    let manifest = manifest(b"{}");
    let index = index(&manifest);
    // By tag, since this client panics if a registry states no location.
    for (tag, media_type, text) in [("child", MANIFEST, &manifest), ("1.0.0", INDEX, &index)] {
        let at = Reference::with_tag(at.registry().to_owned(), name.to_owned(), tag.to_owned());
        let (bytes, media_type) = (text.clone().into_bytes(), media_type.parse().unwrap());
        let pushed = client.push_manifest_raw(&at, bytes, media_type);
        pushed.await.expect(&told);
    }
    let allowed = client.auth(&at, &secret, RegistryOperation::Pull);
    allowed.await.expect(&told);
    let pulled = client.pull_manifest_raw(&at, &secret, &[INDEX, MANIFEST]);
    assert_eq!(pulled.await.expect(&told).0, index);
    let mut bytes = Vec::new();
    let pulled = client.pull_blob(&at, blob.as_str(), &mut bytes);
    pulled.await.expect(&told);
    assert_eq!(bytes, b"{}");
}

/// The answers of a registry to a series of requests, without what differs between runs.
async fn transcript(base: &str) -> Vec<String> {
    const HEADERS: [&str; 6] = [
        "content-type",
        "content-length",
        "content-range",
        "docker-content-digest",
        "link",
        "range",
    ];
    let raw = Raw::at(base);
    let mut said = Vec::new();
    let mut note = |what: &str, answer: &super::Said| {
        let headers = HEADERS.map(|name| format!("{name}={}", answer.header(name)));
        let location = answer.header("location").replace(base, "BASE");
        let location = location.split("uploads/").next().unwrap();
        let shown = match answer.status {
            ..400 => headers.join(" "),
            _ => String::new(),
        };
        said.push(format!("{what}: {} {shown} {location}", answer.error()));
    };
    let (manifest, blob) = (manifest(b"{}"), digest(b"{}"));
    let (index, at) = (index(&manifest), digest(manifest.as_bytes()));
    for line in [
        "GET /v2/a/b/tags/list",
        &format!("HEAD /v2/a/b/blobs/{blob}"),
    ] {
        note(line, &raw.ask(line).await);
    }
    let line = format!("POST /v2/a/b/blobs/uploads/?digest={blob}");
    note(&line, &raw.send(&line, &[], "{}").await);
    let location = raw.begin("a/b").await;
    let finished = raw.finish(&location, &digest(b"x"), b"{}").await;
    note("wrong digest", &finished);
    let line = format!("PATCH {}", raw.begin("a/b").await);
    let patched = raw.send(&line, &[("content-range", "7-7")], "{").await;
    note("wrong range", &patched);
    let location = patched.header("location");
    note("status", &raw.ask(&format!("GET {location}")).await);
    note("end", &raw.finish(location, &blob, b"}").await);
    let location = raw.begin("a/b").await;
    note("cancel", &raw.ask(&format!("DELETE {location}")).await);
    note("cancelled", &raw.ask(&format!("GET {location}")).await);
    for line in [
        format!("HEAD /v2/a/b/blobs/{blob}"),
        format!("POST /v2/c/blobs/uploads/?mount={blob}&from=a/b"),
        format!("POST /v2/c/blobs/uploads/?mount={at}&from=a/b"),
    ] {
        note(&line, &raw.ask(&line).await);
    }
    let line = format!("GET /v2/a/b/blobs/{blob}");
    note(&line, &raw.send(&line, &[("range", "bytes=1-")], "").await);
    for (tag, media_type, text) in [
        ("1.0.0", INDEX, &*index),
        ("1.0.0", MANIFEST, "x"),
        (&at, MANIFEST, &manifest),
    ] {
        let pushed = raw.push_manifest("a/b", tag, media_type, text).await;
        note(text, &pushed);
    }
    let line = "GET /v2/a/b/tags/list";
    note(line, &raw.ask(line).await);
    for tag in ["1.0.0", "1.1.0", "0.9.0"] {
        note(tag, &raw.push_manifest("a/b", tag, INDEX, &index).await);
    }
    for (method, accept) in [
        ("HEAD", ""),
        ("GET", ""),
        ("GET", MANIFEST),
        ("GET", INDEX),
        ("HEAD", INDEX),
    ] {
        let line = format!("{method} /v2/a/b/manifests/1.0.0");
        note(&line, &raw.send(&line, &[("accept", accept)], "").await);
    }
    for line in [
        "GET /v2/a/b/tags/list?n=1&last=1.0.0",
        "GET /v2/a/b/manifests/2.0.0",
        &format!("GET /v2/a/b/referrers/{at}"),
    ] {
        note(line, &raw.ask(line).await);
    }
    said
}

#[tokio::test]
async fn the_double_of_distribution_answers_as_the_original() {
    let Some(original) = Program::DockerRegistry.start(&Options::default()) else {
        return;
    };
    let double = open(Personality::Distribution2).start();
    let original = transcript(&format!("http://{}", original.host())).await;
    let double = transcript(&double.url("")).await;
    assert_eq!(double, original);
}
