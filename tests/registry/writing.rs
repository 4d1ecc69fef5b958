use tfoci::outcome::Change;
use tfoci::trust::Rule;
use tfoci::trust::rule::Unsigned;

use super::{User, VERSION, start};
use crate::support::registry::answer::Answer;
use crate::support::registry::{Fault, Personality, Registry, Seen, matching};

fn by_tag(seen: &Seen) -> bool {
    seen.method == "PUT" && seen.path.ends_with("/manifests/1.0.0")
}

fn upload(seen: &Seen) -> bool {
    seen.method == "PUT" && seen.path.contains("/uploads/")
}

/// A push with one fault succeeds nevertheless.
async fn survives(sort: impl Fn(&Seen) -> bool + Send + 'static, fault: Fault) {
    let registry = Registry::with_tokens();
    registry.fault(1, sort, fault);
    let user = User::of(&registry, "acme/demo");
    user.push().await.unwrap();
    user.assert_pushed(&registry);
    registry.assert_no_leaks();
}

macro_rules! survives {
    ($($(#[$attribute:meta])* $test:ident: $sort:expr, $fault:expr;)*) => {$(
        #[tokio::test]
        $(#[$attribute])*
        async fn $test() {
            survives($sort, $fault).await;
        }
    )*};
}

survives! {
    a_throttled_head: matching("HEAD", "/blobs/"), Fault::too_many_requests("0");
    a_throttled_post: matching("POST", "/uploads/"), Fault::too_many_requests("0");
    a_throttled_put: upload, Fault::too_many_requests("0");
    a_throttled_manifest: matching("PUT", "/manifests/"), Fault::too_many_requests("0");
    a_throttled_token: matching("GET", "/token"), Fault::too_many_requests("0");
    a_post_throttled_as_by_github: matching("POST", "/uploads/"), Fault::secondary_limit();
    a_put_throttled_as_by_github: upload, Fault::secondary_limit();
    a_manifest_throttled_as_by_github: matching("PUT", "/manifests/"), Fault::secondary_limit();
    a_post_that_fails: matching("POST", "/uploads/"), Fault::status(500);
    a_put_that_fails: upload, Fault::status(502);
    a_manifest_that_fails: matching("PUT", "/manifests/"), Fault::status(503);
    a_token_that_fails: matching("GET", "/token"), Fault::status(500);
    a_head_that_fails: matching("HEAD", "/blobs/"), Fault::status(503);
    a_reset_post: matching("POST", "/uploads/"), Fault::Reset;
    a_reset_put: upload, Fault::Reset;
    a_reset_manifest: matching("PUT", "/manifests/"), Fault::Reset;
    a_reset_tag: by_tag, Fault::Reset;
    an_upload_that_is_cut: upload, Fault::CutRequest(1000);
    a_lost_answer_to_a_post: matching("POST", "/uploads/"), Fault::LostAnswer;
    a_lost_answer_to_an_upload: upload, Fault::LostAnswer;
    a_lost_answer_to_a_manifest: matching("PUT", "/manifests/sha256:"), Fault::LostAnswer;
    a_lost_answer_to_the_tag: by_tag, Fault::LostAnswer;
    a_token_that_expires_before_a_post: matching("POST", "/uploads/"), Fault::ExpiredToken;
    a_token_that_expires_before_an_upload: upload, Fault::ExpiredToken;
    a_token_that_expires_before_a_manifest: matching("PUT", "/manifests/"), Fault::ExpiredToken;
    an_upload_session_that_is_lost: upload, Fault::Answer(Answer::error(404, "BLOB_UPLOAD_UNKNOWN", "gone"));
    a_manifest_without_its_digest: matching("PUT", "/manifests/"), Fault::without("docker-content-digest");
    a_head_without_its_digest: matching("HEAD", "/manifests/"), Fault::without("docker-content-digest");
}

#[tokio::test]
async fn blobs_of_a_stopped_first_push_are_not_sent_again() {
    let registry = start(Personality::Plain);
    registry.fault(1, matching("PUT", "/manifests/"), Fault::denied());
    let user = User::of(&registry, "acme/demo");
    assert!(user.push().await.is_err());
    assert_eq!(registry.tags("acme/demo"), []);
    assert!(registry.count(matching("PUT", "/uploads/")) > 0);
    registry.forget();
    let published = user.push().await.unwrap();
    assert_eq!(registry.count(matching("PUT", "/uploads/")), 0);
    assert_eq!(published.bytes, 0);
}

#[tokio::test]
async fn a_permanent_refusal_is_not_retried_and_moves_no_tag() {
    for (sort, path) in [
        ("POST", "/uploads/"),
        ("PUT", "/uploads/"),
        ("PUT", "/manifests/"),
    ] {
        for (is_denied, fault) in [(true, Fault::denied()), (false, Fault::status(400))] {
            let registry = start(Personality::Plain);
            registry.always(matching(sort, path), fault);
            let user = User::of(&registry, "acme/demo");
            assert!(user.push().await.is_err());
            // A push uploads two packages, the config and three documents, and then two manifests. Each request is refused at most
            // once, except a POST that may be refused because of its mount: tfoci repeats it without the mount.
            let most = match sort {
                "POST" if !is_denied => 12,
                _ if path == "/uploads/" => 6,
                _ => 2,
            };
            let count = registry.count(matching(sort, path));
            assert!(count <= most, "{sort} {path}: {count}");
            assert_eq!(registry.tags("acme/demo"), []);
        }
    }
}

#[tokio::test]
async fn an_upload_without_location_is_an_error_that_says_so() {
    let registry = start(Personality::Plain);
    registry.always(matching("POST", "/uploads/"), Fault::without("location"));
    let error = User::of(&registry, "acme/demo").push().await.unwrap_err();
    let text = error.to_string();
    assert!(text.contains(" upload"), "{text}");
}

#[tokio::test]
async fn evidence_that_cannot_be_read_now_is_not_replaced_by_weaker_evidence() {
    for fault in [Fault::denied(), Fault::status(400)] {
        let registry = start(Personality::Plain);
        let user = User::of(&registry, "acme/demo");
        user.push().await.unwrap();
        let before = registry.tags("acme/demo");
        let name = format!("release/terraform-provider-demo_{VERSION}_SHA256SUMS.sig");
        std::fs::remove_file(user.path(&name)).unwrap();
        registry.always(matching("GET", "/blobs/"), fault);
        let unsigned = Rule {
            unsigned: Unsigned::Allow,
            ..Rule::default()
        };
        // The zips are present, so nothing is written, and the evidence stays as it was.
        let pushed = user.push_as(unsigned, &user.destination()).await;
        assert_eq!(pushed.unwrap().status, Change::Present);
        assert_eq!(registry.tags("acme/demo"), before);
    }
}
