use super::Raw;
use crate::support::layout::digest;
use crate::support::registry::access::basic;
use crate::support::registry::{Fault, Personality, Registry, Setup, matching};

const BYTES: &[u8] = b"hello world";

#[tokio::test]
async fn answers_can_be_altered() {
    let registry = Registry::plain();
    let raw = Raw::of(&registry);
    raw.push_blob("a", BYTES).await;
    let get = format!("GET /v2/a/blobs/{}", digest(BYTES));
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
async fn a_token_can_be_withdrawn() {
    let registry = Setup::of(Personality::Quay).start();
    let raw = Raw::of(&registry);
    let asked = "GET /token?service=registry&scope=";
    let given = raw.with(asked, &basic("robot")).await.json();
    let token = format!("Bearer {}", given["token"].as_str().unwrap());
    raw.with("GET /v2/", &token).await.is(200);
    registry.fault(1, matching("GET", "/v2/"), Fault::ExpiredToken);
    for _ in 0..2 {
        raw.with("GET /v2/", &token).await.is(401);
    }
}
