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
    let download = asks("download acme/demo 1.0.0 linux_amd64");
    origin.fault(2, download, Fault::status(502));
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
        let received = (said.status, said.header("retry-after"));
        assert_eq!(received, (status, retry_after), "{path}");
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
async fn zips_can_be_of_unknown_or_wrong_length() {
    let (origin, raw) = (origin(), Raw::new());
    let zip = origin.zip("acme/demo", "1.0.0", LINUX);
    origin.fault(1, asks("package"), Fault::chunked());
    let chunked = raw.ask(&origin, ZIP).await;
    let received = (chunked.header("content-length"), &chunked.body);
    assert_eq!(received, ("", &zip));
    assert_eq!(chunked.headers["transfer-encoding"], "chunked");
    origin.fault(1, asks("package"), Fault::with("content-length", "100000"));
    assert!(raw.send("GET", &origin.url(ZIP), &[]).await.is_err());
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
        let said = raw.ask(&origin, VERSIONS).await;
        assert_eq!(said.header("location"), VERSIONS);
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
    assert_eq!(origin.counters(), "");
    assert_eq!(origin.most_at_once(|_| true), 0);
}

#[tokio::test]
async fn a_secret_in_the_wrong_place_is_found() {
    let (origin, raw) = (origin(), Raw::new());
    let bearer = ("authorization", "Bearer sesame");
    let version = ("x-terraform-version", "1.0.0");
    let basic = ("authorization", "Basic x");
    for (path, headers, leaks) in [
        ("/.well-known/terraform.json", &[bearer][..], false),
        (VERSIONS, &[bearer, version], false),
        (ZIP, &[basic], false),
        (ZIP, &[bearer], true),
        (ZIP, &[version], true),
        ("/files/acme/demo/1.0.0/SHA256SUMS", &[bearer], true),
        ("/.well-known/terraform.json", &[version], true),
    ] {
        origin.forget();
        raw.get(&origin.url(path), headers).await;
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
