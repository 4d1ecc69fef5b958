use tfoci::error::Category;

use super::{User, chain, start};
use crate::support::registry::{Fault, Personality, Registry, Seen, matching};

/// The zip of `linux_amd64`, the only large blob.
pub(super) fn large(registry: &Registry, user: &User) -> (String, Vec<u8>) {
    registry.repository(&user.name, |repository| {
        let blobs = repository.blobs.iter();
        let (digest, bytes) = blobs.max_by_key(|(_, bytes)| bytes.len()).unwrap();
        (digest.clone(), bytes.to_vec())
    })
}

/// A registry that requires tokens, with a release in it.
async fn pushed() -> (Registry, User) {
    let registry = Registry::with_tokens();
    let user = User::of(&registry, "acme/demo");
    user.push().await.unwrap();
    registry.forget();
    (registry, user)
}

/// The first request is refused with the challenge.
fn let_in(sort: impl Fn(&Seen) -> bool + Send + 'static) -> impl Fn(&Seen) -> bool + Send {
    move |seen| sort(seen) && seen.authorization().is_some()
}

async fn survives(sort: impl Fn(&Seen) -> bool + Send + 'static, fault: Fault) {
    let (registry, user) = pushed().await;
    registry.fault(1, let_in(sort), fault);
    user.install().await.unwrap();
    user.assert_installed();
    registry.assert_no_leaks();
}

/// Cuts the download of the large zip, and applies a fault to the request for the rest.
async fn resumes(second: impl FnOnce(&[u8]) -> Option<Fault>) {
    let (registry, user) = pushed().await;
    let (digest, bytes) = large(&registry, &user);
    registry.fault(1, matching("GET", &digest), Fault::cut_body(40_000));
    if let Some(fault) = second(&bytes) {
        registry.fault(2, matching("GET", &digest), fault);
    }
    user.install().await.unwrap();
    user.assert_installed();
    let mut seen = registry.seen().into_iter().filter(matching("GET", &digest));
    let second = seen.nth(1).unwrap();
    let range = second.header("range").unwrap_or_default();
    let is_rest = range.starts_with("bytes=") && range != "bytes=0-";
    assert!(is_rest, "{range}");
}

macro_rules! tests {
    ($with:ident: $($(#[$attribute:meta])* $test:ident: $($argument:expr),*;)*) => {$(
        #[tokio::test]
        $(#[$attribute])*
        async fn $test() {
            $with($($argument),*).await;
        }
    )*};
}

tests! {
    survives:
    a_throttled_manifest: matching("GET", "/manifests/"), Fault::too_many_requests("0");
    a_throttled_blob: matching("GET", "/blobs/"), Fault::too_many_requests("0");
    a_read_throttled_as_by_github: matching("GET", "/blobs/"), Fault::secondary_limit();
    a_manifest_that_fails: matching("GET", "/manifests/"), Fault::status(500);
    a_blob_that_fails: matching("GET", "/blobs/"), Fault::status(503);
    a_reset_manifest: matching("GET", "/manifests/"), Fault::Reset;
    a_reset_blob: matching("GET", "/blobs/"), Fault::Reset;
    a_manifest_that_is_cut: matching("GET", "/manifests/"), Fault::cut_body(10);
    a_small_blob_that_is_cut: matching("GET", "/blobs/"), Fault::cut_body(1);
    a_token_that_expires_before_a_blob: matching("GET", "/blobs/"), Fault::ExpiredToken;
    a_token_that_expires_before_a_manifest: matching("GET", "/manifests/"), Fault::ExpiredToken;
    a_token_that_is_cut: matching("GET", "/token"), Fault::cut_body(5);
}

tests! {
    resumes:
    a_cut_download_is_resumed: |_| None;
    a_download_that_is_cut_twice_is_resumed: |_| Some(Fault::cut_body(1000));
    the_range_request_fails_once: |_| Some(Fault::status(503));
    the_range_request_returns_the_whole_blob: |bytes| Some(Fault::range_ignored(bytes));
    the_range_request_returns_no_content_range: |_| Some(Fault::without("content-range"));
    the_token_expired_before_the_range_request: |_| Some(Fault::ExpiredToken);
}

/// Asserts that an installation fails with this error.
async fn refuses(sort: impl Fn(&Seen) -> bool + Send + 'static, fault: Fault, says: &str) {
    let (registry, user) = pushed().await;
    registry.always(let_in(sort), fault);
    let text = chain(&user.install().await.unwrap_err());
    assert!(text.contains(says), "{text}");
}

#[tokio::test]
async fn wrong_bytes_are_never_installed() {
    let large = |seen: &Seen| seen.path.contains("/blobs/");
    refuses(large, Fault::wrong_bytes(), "digest").await;
    refuses(large, Fault::longer_body(), "more bytes").await;
    refuses(large, Fault::shorter_body(), "fewer bytes").await;
    let manifests = matching("GET", "/manifests/sha256:");
    refuses(manifests, Fault::wrong_bytes(), "match").await;
}

#[tokio::test]
async fn a_digest_in_a_header_must_be_that_of_the_bytes() {
    let other = format!("sha256:{}", "0".repeat(64));
    let fault = Fault::with("docker-content-digest", other);
    refuses(matching("GET", "/manifests/1.0.0"), fault, "match").await;
}

#[tokio::test]
async fn missing_and_forbidden_repositories_are_distinguished() {
    let (registry, user) = pushed().await;
    registry.always(matching("GET", "/manifests/"), Fault::denied());
    let error = user.install().await.unwrap_err();
    assert!(error.to_string().contains("403 (DENIED"), "{error}");
    for personality in [
        Personality::Plain,
        Personality::Harbor,
        Personality::Ecr,
        Personality::Quay,
    ] {
        let registry = start(personality);
        let user = User::of(&registry, "acme/demo");
        let error = user.install().await.unwrap_err();
        let category = error.category();
        assert_eq!(category, Category::NotFound, "{personality:?} {error}");
    }
}

#[tokio::test]
async fn tags_that_lead_to_another_host_or_in_circles_are_refused() {
    for (link, says) in [
        (
            "<https://elsewhere.example/v2/x/tags/list>; rel=\"next\"",
            " at http://[HOST]\n  received https://elsewhere.example/",
        ),
        (
            "<//evil:pw@[HOST]/v2/acme/demo/tags/list?n=1>; rel=\"next\"",
            "\n  received …@",
        ),
        ("</v2/acme/demo/tags/list>; rel=\"next\"", " end\n"),
    ] {
        let (registry, user) = pushed().await;
        let link = link.replace("[HOST]", registry.host());
        registry.always(matching("GET", "/tags/list"), Fault::with("link", link));
        let destination = user.destination();
        let error = destination.tags().await.unwrap_err();
        let said = error.to_string().replace(registry.host(), "[HOST]");
        assert!(said.contains(says) && !said.contains("pw"), "{error}");
    }
}

#[tokio::test]
async fn malformed_and_oversized_documents_are_errors() {
    let long = format!("{{\"tags\":[\"{}\"]}}", "x".repeat(5 << 20));
    for (body, says) in [("x", "not valid JSON"), (&long, "too large")] {
        let (registry, user) = pushed().await;
        registry.always(matching("GET", "/tags/list"), Fault::body(body.to_owned()));
        let destination = user.destination();
        let error = destination.tags().await.unwrap_err();
        assert!(error.to_string().contains(says), "{error}");
    }
}
