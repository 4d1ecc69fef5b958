use super::{INDEX, MANIFEST, Raw, index, manifest, push_index};
use crate::support::layout::digest;
use crate::support::registry::{Registry, matching};

#[tokio::test]
async fn chunks_must_be_contiguous() {
    let registry = Registry::plain();
    let raw = Raw::of(&registry);
    let location = raw.begin("a/b").await;
    let chunk = |range: &'static str, bytes: &'static [u8]| {
        let line = format!("PATCH {location}");
        let raw = &raw;
        async move { raw.send(&line, &[("content-range", range)], bytes).await }
    };
    let said = chunk("0-4", b"hello").await;
    assert_eq!((said.status, said.header("range")), (202, "0-4"));
    let said = chunk("0-4", b"hello").await;
    assert_eq!((said.status, said.header("range")), (416, "0-4"));
    chunk("5-10", b" world").await.is(202);
    let status = raw.ask(&format!("GET {location}")).await;
    assert_eq!((status.status, status.header("range")), (204, "0-10"));
    let said = raw.finish(&location, &digest(b"hello world"), b"").await;
    assert_eq!(said.status, 201);
    let blob = format!("GET {}", said.header("location"));
    assert_eq!(raw.ask(&blob).await.text(), "hello world");
    let line = format!("GET {location}");
    raw.gets(&line, "404 BLOB_UPLOAD_UNKNOWN").await;
}

#[tokio::test]
async fn a_blob_must_match_its_digest() {
    let registry = Registry::plain();
    let raw = Raw::of(&registry);
    let location = raw.begin("a/b").await;
    let said = raw.finish(&location, &digest(b"one"), b"two").await;
    assert_eq!(said.error(), "400 DIGEST_INVALID");
    let path = format!("/v2/a/b/blobs/{}", digest(b"one"));
    raw.ask(&format!("HEAD {path}")).await.is(404);
    raw.push_blob("a/b", b"one").await.is(201);
    let head = raw.ask(&format!("HEAD {path}")).await;
    assert_eq!((head.status, head.header("content-length")), (200, "3"));
    assert_eq!(head.header("docker-content-digest"), digest(b"one"));
    let cancelled = raw.begin("a/b").await;
    raw.ask(&format!("DELETE {cancelled}")).await.is(204);
    let finished = raw.finish(&cancelled, &digest(b"one"), b"one").await;
    finished.is(404);
}

#[tokio::test]
async fn a_blob_is_read_in_parts() {
    let registry = Registry::plain();
    let raw = Raw::of(&registry);
    raw.push_blob("a", b"hello world").await;
    let line = format!("GET /v2/a/blobs/{}", digest(b"hello world"));
    for (range, status, body, content_range) in [
        ("bytes=6-", 206, "world", "bytes 6-10/11"),
        ("bytes=0-0", 206, "h", "bytes 0-0/11"),
        ("bytes=3-99", 206, "lo world", "bytes 3-10/11"),
        ("bytes=11-", 416, "", "bytes */11"),
    ] {
        let said = raw.send(&line, &[("range", range)], "").await;
        let received = (said.status, said.text(), said.header("content-range"));
        assert_eq!(
            received,
            (status, body.to_owned(), content_range),
            "{range}"
        );
    }
}

#[tokio::test]
async fn uploads_can_be_single_requests_or_mounts() {
    let registry = Registry::plain();
    let raw = Raw::of(&registry);
    let blob = digest(b"one");
    let line = format!("POST /v2/a/blobs/uploads/?digest={blob}");
    raw.send(&line, &[], &b"one"[..]).await.is(201);
    let mount = |from: &str| format!("POST /v2/b/blobs/uploads/?mount={blob}&from={from}");
    let said = raw.ask(&mount("c")).await;
    assert!(said.status == 202 && !said.header("location").is_empty());
    raw.ask(&format!("HEAD /v2/b/blobs/{blob}")).await.is(404);
    raw.ask(&mount("a")).await.is(201);
    raw.ask(&format!("HEAD /v2/b/blobs/{blob}")).await.is(200);
}

#[tokio::test]
async fn manifests_are_stored_byte_for_byte_after_their_parts() {
    let registry = Registry::plain();
    let raw = Raw::of(&registry);
    let manifest = manifest(b"{}");
    let index = index(&manifest);
    let by_tag = raw.push_manifest("a", "1.0.0", MANIFEST, &manifest).await;
    assert_eq!(by_tag.error(), "404 MANIFEST_BLOB_UNKNOWN");
    raw.push_blob("a", b"{}").await;
    for (at, media_type, text, error) in [
        ("1.0.0", INDEX, &*index, "404 MANIFEST_BLOB_UNKNOWN"),
        (&digest(b"other"), MANIFEST, &manifest, "400 DIGEST_INVALID"),
        ("1.0.0", MANIFEST, "no JSON", "400 MANIFEST_INVALID"),
        ("1.0.0", INDEX, &manifest, "400 MANIFEST_INVALID"),
    ] {
        let said = raw.push_manifest("a", at, media_type, text).await;
        assert_eq!(said.error(), error, "{text}");
    }
    assert_eq!(registry.tags("a"), []);

    push_index(&raw, "a", "1.0.0").await;
    let wanted = digest(index.as_bytes());
    for reference in ["1.0.0", &wanted] {
        let said = raw.ask(&format!("GET /v2/a/manifests/{reference}")).await;
        assert_eq!((said.status, said.text()), (200, index.clone()));
        assert_eq!(said.header("content-type"), INDEX);
        let head = raw.ask(&format!("HEAD /v2/a/manifests/{reference}")).await;
        assert_eq!(head.header("docker-content-digest"), wanted);
        assert_eq!(head.header("content-length"), index.len().to_string());
        assert_eq!((head.status, head.body.len()), (200, 0));
    }
    assert_eq!(registry.tags("a"), [("1.0.0".to_owned(), wanted)]);
}

#[tokio::test]
async fn tags_are_paged_by_the_requested_size() {
    let registry = Registry::plain();
    let raw = Raw::of(&registry);
    raw.gets("GET /v2/a/tags/list", "404 NAME_UNKNOWN").await;
    for tag in ["0.2.0", "0.1.0", "0.3.0"] {
        push_index(&raw, "a", tag).await;
    }
    let page = raw.ask("GET /v2/a/tags/list?n=2").await;
    assert_eq!(page.json()["tags"], serde_json::json!(["0.1.0", "0.2.0"]));
    let next = "</v2/a/tags/list?last=0.2.0&n=2>; rel=\"next\"";
    assert_eq!(page.header("link"), next);
    let page = raw.ask("GET /v2/a/tags/list?last=0.2.0&n=2").await;
    assert_eq!(page.json()["tags"], serde_json::json!(["0.3.0"]));
    assert_eq!(page.header("link"), "");
}

#[tokio::test]
async fn missing_content_has_the_error_codes_of_the_specification() {
    let registry = Registry::plain();
    let raw = Raw::of(&registry);
    push_index(&raw, "a", "1.0.0").await;
    for (line, said) in [
        ("GET /v2/", "200 "),
        ("GET /", "404 "),
        ("GET /v2/_catalog", "404 "),
        ("GET /v2/b/manifests/1.0.0", "404 NAME_UNKNOWN"),
        ("GET /v2/a/manifests/2.0.0", "404 MANIFEST_UNKNOWN"),
        ("GET /v2/a/blobs/sha256:00", "404 BLOB_UNKNOWN"),
        ("GET /v2/A/manifests/1.0.0", "400 NAME_INVALID"),
        ("POST /v2/a//b/blobs/uploads/", "400 NAME_INVALID"),
        ("GET /v2/a/referrers/sha256:00", "404 "),
        ("DELETE /v2/a/manifests/1.0.0", "405 UNSUPPORTED"),
    ] {
        raw.gets(line, said).await;
    }
    assert_eq!(registry.count(matching("GET", "/manifests/")), 3);
}
