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
    client
        .auth(&at, &secret, RegistryOperation::Push)
        .await
        .unwrap();
    client
        .store_auth_if_needed(at.resolve_registry(), &secret)
        .await;
    let told = format!("{personality:?}");
    client
        .push_blob(&at, &b"{}"[..], &digest(b"{}"))
        .await
        .expect(&told);
    let manifest = manifest(b"{}");
    let index = index(&manifest);
    // By tag, since this client panics if a registry states no location.
    for (tag, media_type, text) in [("child", MANIFEST, &manifest), ("1.0.0", INDEX, &index)] {
        let at = Reference::with_tag(at.registry().to_owned(), name.to_owned(), tag.to_owned());
        let bytes = text.clone().into_bytes();
        let pushed = client
            .push_manifest_raw(&at, bytes, media_type.parse().unwrap())
            .await;
        assert!(pushed.is_ok(), "{personality:?}: {pushed:?}");
    }
    client
        .auth(&at, &secret, RegistryOperation::Pull)
        .await
        .unwrap();
    let pulled = client
        .pull_manifest_raw(&at, &secret, &[INDEX, MANIFEST])
        .await;
    assert_eq!(pulled.expect(&told).0, index);
    let mut blob = Vec::new();
    client
        .pull_blob(&at, digest(b"{}").as_str(), &mut blob)
        .await
        .expect(&told);
    assert_eq!(blob, b"{}");
}

/// The answers of a registry to a series of requests, without what differs between runs.
async fn transcript(base: &str) -> Vec<String> {
    let raw = Raw::at(base);
    let mut said = Vec::new();
    let mut note = |what: &str, answer: &super::Said| {
        let headers = [
            "content-type",
            "content-length",
            "content-range",
            "docker-content-digest",
            "link",
            "range",
        ];
        let headers = headers.map(|name| format!("{name}={}", answer.header(name)));
        let location = answer.header("location").replace(base, "BASE");
        let location = location.split("uploads/").next().unwrap();
        let shown = if answer.status < 400 {
            headers.join(" ")
        } else {
            String::new()
        };
        said.push(format!("{what}: {} {shown} {location}", answer.error()));
    };
    let (manifest, blob) = (manifest(b"{}"), digest(b"{}"));
    let (index, at) = (index(&manifest), digest(manifest.as_bytes()));
    let ask = async |line: String| raw.ask(&line).await;
    note(
        "tags of nothing",
        &ask("GET /v2/a/b/tags/list".to_owned()).await,
    );
    note(
        "blob of nothing",
        &ask(format!("HEAD /v2/a/b/blobs/{blob}")).await,
    );
    note(
        "post with body",
        &raw.send(
            &format!("POST /v2/a/b/blobs/uploads/?digest={blob}"),
            &[],
            "{}",
        )
        .await,
    );
    let location = raw.begin("a/b").await;
    note(
        "wrong digest",
        &raw.finish(&location, &digest(b"x"), b"{}").await,
    );
    let location = raw.begin("a/b").await;
    let patched = raw
        .send(
            &format!("PATCH {location}"),
            &[("content-range", "7-7")],
            "{",
        )
        .await;
    note("wrong range", &patched);
    note(
        "status",
        &ask(format!("GET {}", patched.header("location"))).await,
    );
    note(
        "end",
        &raw.finish(patched.header("location"), &blob, b"}").await,
    );
    let location = raw.begin("a/b").await;
    note("cancel", &ask(format!("DELETE {location}")).await);
    note("cancelled", &ask(format!("GET {location}")).await);
    note("head", &ask(format!("HEAD /v2/a/b/blobs/{blob}")).await);
    let part = raw
        .send(
            &format!("GET /v2/a/b/blobs/{blob}"),
            &[("range", "bytes=1-")],
            "",
        )
        .await;
    note("part", &part);
    note(
        "mount",
        &ask(format!("POST /v2/c/blobs/uploads/?mount={blob}&from=a/b")).await,
    );
    note(
        "no mount",
        &ask(format!(
            "POST /v2/c/blobs/uploads/?mount={}&from=a/b",
            digest(b"x")
        ))
        .await,
    );
    note(
        "no child",
        &raw.push_manifest("a/b", "1.0.0", INDEX, &index).await,
    );
    note(
        "no JSON",
        &raw.push_manifest("a/b", "1.0.0", MANIFEST, "x").await,
    );
    note(
        "child",
        &raw.push_manifest("a/b", &at, MANIFEST, &manifest).await,
    );
    note(
        "tags of untagged",
        &ask("GET /v2/a/b/tags/list".to_owned()).await,
    );
    for tag in ["1.0.0", "1.1.0", "0.9.0"] {
        note(tag, &raw.push_manifest("a/b", tag, INDEX, &index).await);
    }
    note(
        "paged",
        &ask("GET /v2/a/b/tags/list?n=1&last=1.0.0".to_owned()).await,
    );
    for (line, accept) in [
        ("HEAD", ""),
        ("GET", ""),
        ("GET", MANIFEST),
        ("GET", INDEX),
        ("HEAD", INDEX),
    ] {
        let line = format!("{line} /v2/a/b/manifests/1.0.0");
        note(&line, &raw.send(&line, &[("accept", accept)], "").await);
    }
    note(
        "no tag",
        &ask("GET /v2/a/b/manifests/2.0.0".to_owned()).await,
    );
    note(
        "referrers",
        &ask(format!("GET /v2/a/b/referrers/{at}")).await,
    );
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
    for (original, double) in original.iter().zip(&double) {
        assert_eq!(double, original);
    }
    assert_eq!(original.len(), double.len());
}
