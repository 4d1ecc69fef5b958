use std::time::Duration;

use super::{DOWNLOAD, LINUX, Raw, VERSIONS};
use crate::support::origin::{Door, Fault, Origin, Provider, asks, at};

const ZIP: &str = "/files/acme/demo/1.0.0/linux_amd64/x.zip";

fn origin() -> Origin {
    Origin::of([Provider::demo(&[LINUX]).version("1.1.0", &[LINUX])])
}

#[tokio::test]
async fn a_fault_applies_to_the_requests_that_it_matches() {
    let (origin, raw) = (origin(), Raw::new());
    origin.fault(
        2,
        asks("download acme/demo 1.0.0 linux_amd64"),
        Fault::status(502),
    );
    origin.storm(2, asks("versions acme/demo"), Fault::too_many_requests("7"));
    origin.always(asks("download * 1.1.0"), Fault::status(501));
    let other = DOWNLOAD.replace("1.0.0", "1.1.0");
    for (path, status, retry_after) in [
        (VERSIONS, 429, "7"),
        (DOWNLOAD, 200, ""),
        (VERSIONS, 429, "7"),
        (DOWNLOAD, 502, ""),
        (VERSIONS, 200, ""),
        (DOWNLOAD, 200, ""),
        (&other, 501, ""),
        (&other, 501, ""),
    ] {
        let said = raw.ask(&origin, path).await;
        assert_eq!(
            (said.status, said.header("retry-after")),
            (status, retry_after),
            "{path}"
        );
    }
}

#[tokio::test]
async fn a_cut_download_can_be_resumed() {
    let (origin, raw) = (origin(), Raw::new());
    let zip = origin.zip("acme/demo", "1.0.0", LINUX);
    origin.fault(1, asks("package"), Fault::cut_body(100));
    let mut response = raw.client.get(origin.url(ZIP)).send().await.unwrap();
    assert_eq!(response.content_length(), Some(zip.len() as u64));
    assert_eq!(response.chunk().await.unwrap().unwrap(), &zip[..100]);
    assert!(response.chunk().await.is_err());
    let etag = response.headers()["etag"].to_str().unwrap().to_owned();
    let range = [("range", "bytes=100-"), ("if-range", &etag)];
    let said = raw.get(&origin.url(ZIP), &range).await;
    assert_eq!((said.status, &said.body[..]), (206, &zip[100..]));
    let whole = format!("bytes 100-{}/{}", zip.len() - 1, zip.len());
    assert_eq!(said.header("content-range"), whole);
    let head = raw.send("HEAD", &origin.url(ZIP), &[]).await.unwrap();
    assert_eq!(head.header("content-length"), zip.len().to_string());
    assert_eq!(head.header("accept-ranges"), "bytes");
    let beyond = [("range", "bytes=9999999-")];
    raw.get(&origin.url(ZIP), &beyond).await.is(416);
}

#[tokio::test]
async fn zips_can_be_altered_truncated_and_of_unknown_length() {
    let (origin, raw) = (origin(), Raw::new());
    let zip = origin.zip("acme/demo", "1.0.0", LINUX);
    origin.fault(1, asks("package"), Fault::wrong_bytes());
    origin.fault(2, asks("package"), Fault::shorter_body());
    origin.fault(3, asks("package"), Fault::longer_body());
    origin.fault(4, asks("package"), Fault::chunked());
    let altered = raw.ask(&origin, ZIP).await;
    assert!(altered.body != zip && altered.body.len() == zip.len());
    let truncated = raw.ask(&origin, ZIP).await;
    assert_eq!(truncated.body, &zip[..zip.len() / 2]);
    assert_eq!(
        truncated.header("content-length"),
        truncated.body.len().to_string()
    );
    assert_eq!(
        raw.ask(&origin, ZIP).await.body,
        [&zip[..], b"more"].concat()
    );
    let chunked = raw.ask(&origin, ZIP).await;
    assert_eq!(
        (chunked.header("content-length"), &chunked.body[..]),
        ("", &zip[..])
    );
    assert_eq!(chunked.headers["transfer-encoding"], "chunked");
    origin.fault(1, asks("package"), Fault::with("content-length", "100000"));
    assert!(raw.send("GET", &origin.url(ZIP), &[]).await.is_err());
}

#[tokio::test]
async fn ranges_can_be_ignored_or_wrong() {
    let (origin, raw) = (origin(), Raw::new());
    let zip = origin.zip("acme/demo", "1.0.0", LINUX);
    let range = [("range", "bytes=10-")];
    origin.fault(1, asks("package"), Fault::Overlook("range"));
    origin.fault(2, asks("package"), Fault::range_elsewhere(&zip));
    let whole = raw.get(&origin.url(ZIP), &range).await;
    assert_eq!((whole.status, whole.body.len()), (200, zip.len()));
    let lying = raw.get(&origin.url(ZIP), &range).await;
    assert_eq!(
        (lying.status, &lying.body[..]),
        (206, &zip[..zip.len() - 10])
    );
}

#[tokio::test]
async fn answers_can_be_reset_lost_or_stalled() {
    let (origin, raw) = (origin(), Raw::new());
    origin.fault(1, asks("package"), Fault::Reset);
    origin.fault(2, asks("package"), Fault::LostAnswer);
    origin.fault(3, asks("package"), Fault::Stall);
    origin.fault(4, asks("package"), Fault::stall_body(10));
    for _ in 0..2 {
        assert!(raw.send("GET", &origin.url(ZIP), &[]).await.is_err());
    }
    for _ in 0..2 {
        let request_limits = Duration::from_millis(500);
        let answer = tokio::time::timeout(request_limits, raw.ask(&origin, ZIP));
        assert!(answer.await.is_err());
    }
    raw.ask(&origin, ZIP).await.is(200);
    let statuses: Vec<_> = origin.seen().iter().map(|seen| seen.status).collect();
    assert_eq!(statuses, [None, None, None, Some(200), Some(200)]);
}

#[tokio::test]
async fn redirects_can_lead_to_other_doors_and_in_circles() {
    let (origin, raw) = (origin(), Raw::new());
    let zip = origin.zip("acme/demo", "1.0.0", LINUX);
    for (fault, door) in [
        (Fault::RedirectElsewhere, &origin.doors().elsewhere),
        (Fault::RedirectPlain, &origin.doors().plain),
    ] {
        origin.fault(1, at(Door::Front, asks("package")), fault);
        let said = raw.ask(&origin, ZIP).await;
        let target = said.header("location").to_owned();
        assert!(said.status == 302 && target.starts_with(door), "{target}");
        assert_eq!(raw.get(&target, &[]).await.body, zip);
    }
    let target = "https://example.com/";
    origin.fault(1, asks("discovery"), Fault::redirect(target));
    origin.storm(5, asks("versions"), Fault::RedirectLoop);
    let said = raw.ask(&origin, "/.well-known/terraform.json").await;
    assert_eq!((said.status, said.header("location")), (302, target));
    for _ in 0..5 {
        assert_eq!(
            raw.ask(&origin, VERSIONS).await.header("location"),
            VERSIONS
        );
    }
    raw.ask(&origin, VERSIONS).await.is(200);
}

#[tokio::test]
async fn unanswered_requests_are_counted() {
    let (origin, raw) = (origin(), Raw::new());
    origin.latency(asks("package"), Duration::from_millis(500));
    let ask = || raw.ask(&origin, ZIP);
    let (a, b, c) = tokio::join!(ask(), ask(), ask());
    assert_eq!([a.status, b.status, c.status], [200; 3]);
    ask().await;
    raw.ask(&origin, VERSIONS).await;
    assert_eq!(origin.most_at_once(asks("package")), 3);
    assert_eq!(origin.most_at_once(asks("versions")), 1);
    assert_eq!(origin.most_at_once(asks("download")), 0);
    assert_eq!(origin.counters(), "1 versions, 4 package");
    origin.forget();
    assert_eq!(
        (origin.counters().as_str(), origin.most_at_once(|_| true)),
        ("", 0)
    );
}

#[tokio::test]
async fn a_secret_in_the_wrong_place_is_found() {
    let (origin, raw) = (origin(), Raw::new());
    let bearer = ("authorization", "Bearer sesame");
    let version = ("x-terraform-version", "1.0.0");
    for (path, headers, leaks) in [
        ("/.well-known/terraform.json", [bearer, ("a", "b")], false),
        (VERSIONS, [bearer, version], false),
        (ZIP, [("authorization", "Basic x"), ("a", "b")], false),
        (ZIP, [bearer, ("a", "b")], true),
        (ZIP, [version, ("a", "b")], true),
        (
            "/files/acme/demo/1.0.0/SHA256SUMS",
            [bearer, ("a", "b")],
            true,
        ),
        ("/.well-known/terraform.json", [version, ("a", "b")], true),
    ] {
        origin.forget();
        raw.get(&origin.url(path), &headers).await;
        let found = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            origin.assert_no_leaks();
        }));
        assert_eq!(found.is_err(), leaks, "{path} {headers:?}");
    }
    origin.forget();
    let elsewhere = format!("{}{VERSIONS}", origin.doors().elsewhere);
    raw.get(&elsewhere, &[bearer]).await;
    assert!(origin.seen().iter().all(|seen| origin.leaks(seen)));
}
