use std::time::Duration;

use super::{MANIFEST, Raw, open};
use crate::support::layout::digest;
use crate::support::registry::{Fault, Personality, Registry, Setup, matching};
use crate::support::tls::Authority;

const BYTES: &[u8] = b"hello world";

/// A registry with one blob, and the request for it.
async fn one_blob() -> (Registry, Raw, String) {
    let registry = Registry::plain();
    let raw = Raw::of(&registry);
    raw.push_blob("a", BYTES).await;
    registry.forget();
    (registry, raw, format!("GET /v2/a/blobs/{}", digest(BYTES)))
}

#[tokio::test]
async fn a_fault_applies_to_the_requests_that_it_matches() {
    let (registry, raw, get) = one_blob().await;
    registry.fault(2, matching("GET", "/blobs/"), Fault::status(503));
    registry.fault(3, matching("GET", "/blobs/"), Fault::too_many_requests("7"));
    for (status, retry_after) in [(200, ""), (503, ""), (429, "7"), (200, "")] {
        let said = raw.ask(&get).await;
        assert_eq!(
            (said.status, said.header("retry-after")),
            (status, retry_after)
        );
        raw.ask("GET /v2/").await.is(200);
    }
    registry.always(matching("GET", "/v2/"), Fault::secondary_limit());
    for _ in 0..3 {
        let said = raw.ask("GET /v2/").await;
        assert_eq!(said.status, 403);
        assert!(said.text().contains("secondary rate limit"));
    }
}

#[tokio::test]
async fn an_answer_can_be_cut_lost_or_stalled() {
    let (registry, raw, get) = one_blob().await;
    registry.fault(1, matching("GET", "/blobs/"), Fault::cut_body(5));
    registry.fault(2, matching("GET", "/blobs/"), Fault::Reset);
    registry.fault(3, matching("GET", "/blobs/"), Fault::LostAnswer);
    for _ in 0..3 {
        assert!(raw.try_send(&get, &[], "").await.is_err());
    }
    let statuses: Vec<_> = registry.seen().iter().map(|seen| seen.status).collect();
    assert_eq!(statuses, [Some(200), None, None]);
    registry.fault(1, matching("GET", "/blobs/"), Fault::Stall);
    registry.fault(2, matching("GET", "/blobs/"), Fault::stall_body(5));
    for _ in 0..2 {
        let request_limits = Duration::from_millis(50);
        assert!(
            tokio::time::timeout(request_limits, raw.ask(&get))
                .await
                .is_err()
        );
    }
    assert_eq!(raw.ask(&get).await.body, BYTES);
}

#[tokio::test]
async fn a_cut_body_begins_with_the_right_bytes() {
    let (registry, raw, get) = one_blob().await;
    registry.fault(1, matching("GET", "/blobs/"), Fault::cut_body(5));
    let url = registry.url(get.split_once(' ').unwrap().1);
    let mut response = raw.client.get(url).send().await.unwrap();
    assert_eq!(response.content_length(), Some(11));
    assert_eq!(response.chunk().await.unwrap().unwrap(), &BYTES[..5]);
    assert!(response.chunk().await.is_err());
}

#[tokio::test]
async fn a_request_with_a_lost_answer_takes_effect() {
    let registry = Registry::plain();
    let raw = Raw::of(&registry);
    registry.fault(1, matching("PUT", "/manifests/"), Fault::LostAnswer);
    registry.fault(2, matching("PUT", "/manifests/"), Fault::status(500));
    for (tag, done) in [("1", true), ("2", false)] {
        let line = format!("PUT /v2/a/manifests/{tag}");
        let typed = [("content-type", MANIFEST)];
        let _lost = raw.try_send(&line, &typed, "{}").await;
        assert_eq!(
            registry.tags("a").iter().any(|(found, _)| found == tag),
            done
        );
    }
}

#[tokio::test]
async fn a_cut_upload_can_be_resumed() {
    for (personality, kept) in [(Personality::Zot, "0-4"), (Personality::Plain, "0-0")] {
        let registry = open(personality).start();
        let raw = Raw::of(&registry);
        registry.fault(1, matching("PATCH", "/uploads/"), Fault::CutRequest(5));
        let location = raw.begin("a").await;
        assert!(
            raw.try_send(&format!("PATCH {location}"), &[], BYTES)
                .await
                .is_err()
        );
        let status = raw.ask(&format!("GET {location}")).await;
        assert_eq!(status.header("range"), kept);
        let rest = if kept == "0-4" { &BYTES[5..] } else { BYTES };
        raw.finish(&location, &digest(BYTES), rest).await.is(201);
    }
}

#[tokio::test]
async fn answers_can_be_altered() {
    let (registry, raw, get) = one_blob().await;
    let range = [("range", "bytes=6-")];
    for (fault, status, body, content_range) in [
        (Fault::wrong_bytes(), 206, "wosld", "bytes 6-10/11"),
        (Fault::longer_body(), 206, "worldmore", "bytes 6-10/11"),
        (Fault::shorter_body(), 206, "wo", "bytes 6-10/11"),
        (Fault::range_elsewhere(BYTES), 206, "hello", "bytes 0-4/11"),
        (Fault::range_ignored(BYTES), 200, "hello world", ""),
        (Fault::range_refused(), 416, "", ""),
        (Fault::without("content-range"), 206, "world", ""),
        (Fault::with("content-range", "x"), 206, "world", "x"),
        (Fault::body("other"), 206, "other", "bytes 6-10/11"),
    ] {
        registry.fault(1, matching("GET", "/blobs/"), fault);
        let said = raw.send(&get, &range, "").await;
        assert_eq!((said.status, said.text().as_str()), (status, body));
        assert_eq!(said.header("content-range"), content_range);
    }
}

#[tokio::test]
async fn redirects_can_lead_elsewhere_to_http_and_in_circles() {
    let authority = Authority::new("tests");
    let tls = authority.server().serve(None);
    let registry = open(Personality::Plain).tls(tls).start();
    let certificate = reqwest::Certificate::from_pem(authority.pem.as_bytes()).unwrap();
    let client = reqwest::Client::builder()
        .no_proxy()
        .redirect(reqwest::redirect::Policy::none())
        .tls_certs_only([certificate]);
    let raw = Raw {
        client: client.build().unwrap(),
        base: registry.url(""),
    };
    raw.push_blob("a", BYTES).await;
    let get = format!("GET /v2/a/blobs/{}", digest(BYTES));
    for (fault, scheme) in [
        (Fault::RedirectElsewhere, "https://"),
        (Fault::RedirectPlain, "http://"),
    ] {
        registry.fault(1, matching("GET", "/v2/a/blobs/"), fault);
        let said = raw.ask(&get).await;
        let target = said.header("location");
        assert_eq!(said.status, 307);
        assert!(
            target.starts_with(scheme) && !target.starts_with(&registry.url("")),
            "{target}"
        );
        assert_eq!(raw.ask(&format!("GET {target}")).await.body, BYTES);
    }
    registry.fault(1, matching("GET", "/v2/a/blobs/"), Fault::RedirectLoop);
    assert_eq!(
        raw.ask(&get).await.header("location"),
        get.split_once(' ').unwrap().1
    );
}

#[tokio::test]
async fn a_token_can_be_withdrawn() {
    let registry = Setup::of(Personality::Quay).start();
    let raw = Raw::of(&registry);
    let user = crate::support::registry::access::basic("robot");
    let secret = [("authorization", user.as_str())];
    let given = raw
        .send("GET /token?service=registry&scope=", &secret, "")
        .await
        .json();
    let token = format!("Bearer {}", given["token"].as_str().unwrap());
    let secret = [("authorization", token.as_str())];
    raw.send("GET /v2/", &secret, "").await.is(200);
    registry.fault(1, matching("GET", "/v2/"), Fault::ExpiredToken);
    for _ in 0..2 {
        raw.send("GET /v2/", &secret, "").await.is(401);
    }
}

#[tokio::test]
async fn client_certificates_can_be_required() {
    let authority = Authority::new("tests");
    let tls = authority.server().serve(Some(&authority));
    let registry = open(Personality::Plain).tls(tls).start();
    let stranger = Authority::new("another authority").client("robot");
    let friend = authority.client("robot");
    for (identity, good) in [(None, false), (Some(stranger), false), (Some(friend), true)] {
        let certificate = reqwest::Certificate::from_pem(authority.pem.as_bytes()).unwrap();
        let mut client = reqwest::Client::builder()
            .no_proxy()
            .tls_certs_only([certificate]);
        if let Some(identity) = identity {
            let pem = identity.certificate + &identity.key;
            client = client.identity(reqwest::Identity::from_pem(pem.as_bytes()).unwrap());
        }
        let answer = client
            .build()
            .unwrap()
            .get(registry.url("/v2/"))
            .send()
            .await;
        assert_eq!(answer.is_ok(), good);
    }
}
