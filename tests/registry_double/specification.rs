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
    raw.ask(&format!("GET {location}"))
        .await
        .fails("404 BLOB_UPLOAD_UNKNOWN");
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
    raw.finish(&cancelled, &digest(b"one"), b"one")
        .await
        .is(404);
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
        assert_eq!(
            (said.status, said.text().as_str()),
            (status, body),
            "{range}"
        );
        assert_eq!(said.header("content-range"), content_range, "{range}");
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
    assert_eq!(
        (said.status, said.header("location").is_empty()),
        (202, false)
    );
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
    let said = raw.push_manifest("a", "1.0.0", INDEX, &index).await;
    assert_eq!(said.error(), "404 MANIFEST_BLOB_UNKNOWN");
    let said = raw
        .push_manifest("a", &digest(b"other"), MANIFEST, &manifest)
        .await;
    assert_eq!(said.error(), "400 DIGEST_INVALID");
    let said = raw.push_manifest("a", "1.0.0", MANIFEST, "no JSON").await;
    assert_eq!(said.error(), "400 MANIFEST_INVALID");
    let said = raw.push_manifest("a", "1.0.0", INDEX, &manifest).await;
    assert_eq!(said.error(), "400 MANIFEST_INVALID");
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
async fn a_manifest_of_more_than_four_mebibytes_is_refused() {
    let registry = Registry::plain();
    let raw = Raw::of(&registry);
    let text = |length: usize| "{}".to_owned() + &" ".repeat(length - 2);
    let said = raw.push_manifest("a", "1", MANIFEST, &text(4 << 20)).await;
    assert_eq!(said.status, 201);
    let said = raw
        .push_manifest("a", "1", MANIFEST, &text((4 << 20) + 1))
        .await;
    assert_eq!(said.status, 413);
}

#[tokio::test]
async fn tags_are_paged_by_the_requested_size() {
    let registry = Registry::plain();
    let raw = Raw::of(&registry);
    raw.ask("GET /v2/a/tags/list")
        .await
        .fails("404 NAME_UNKNOWN");
    for tag in ["0.2.0", "0.1.0", "0.3.0"] {
        push_index(&raw, "a", tag).await;
    }
    let page = raw.ask("GET /v2/a/tags/list?n=2").await;
    assert_eq!(page.json()["tags"], serde_json::json!(["0.1.0", "0.2.0"]));
    assert_eq!(
        page.header("link"),
        "</v2/a/tags/list?last=0.2.0&n=2>; rel=\"next\""
    );
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
        assert_eq!(raw.ask(line).await.error(), said, "{line}");
    }
    assert_eq!(registry.count(matching("GET", "/manifests/")), 3);
}

#[tokio::test]
async fn every_request_is_remembered() {
    let registry = Registry::plain();
    let raw = Raw::of(&registry);
    raw.push_blob("a", b"one").await;
    raw.send(
        "GET /v2/a/tags/list?n=5",
        &[("authorization", "Basic x")],
        "",
    )
    .await;
    let seen = registry.seen();
    let lines: Vec<String> = seen.iter().map(|seen| seen.to_string()).collect();
    assert_eq!(lines[0], "POST /v2/a/blobs/uploads/ 202");
    assert_eq!(lines[2], "GET /v2/a/tags/list 404");
    assert_eq!(
        (seen[1].method.as_str(), seen[1].body, seen[1].status),
        ("PUT", 3, Some(201))
    );
    assert_eq!(seen[1].parameter("digest"), Some(digest(b"one").as_str()));
    assert_eq!(seen[2].parameter("n"), Some("5"));
    assert_eq!(seen[2].authorization(), Some("Basic x"));
    assert_eq!(seen[0].connection, seen[2].connection);
    Raw::of(&registry).ask("GET /v2/").await;
    assert_ne!(registry.seen()[3].connection, seen[0].connection);
}
