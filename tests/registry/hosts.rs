use tfoci::http::Pem;

use super::{User, chain, start};
use crate::support::registry::answer::Answer;
use crate::support::registry::{Door, Fault, Personality, Setup, matching};
use crate::support::tls::Authority;

/// A user of a registry that speaks TLS, who knows its authority.
fn trusting(mut user: User, authority: &Authority) -> User {
    user.settings.plain.clear();
    let pem = Pem {
        name: "the test".to_owned(),
        named_by: "the test",
        bytes: authority.pem.clone().into_bytes().into(),
    };
    user.settings.authorities.push(pem);
    user
}

#[tokio::test]
async fn redirected_blobs_are_read_over_tls_without_credentials() {
    let authority = Authority::new("tests");
    let setup = Setup::of(Personality::Harbor)
        .create("acme")
        .tls(authority.server().serve(None));
    let registry = setup.start();
    let user = trusting(User::of(&registry, "acme/demo"), &authority);
    user.push().await.unwrap();
    let blobs = matching("GET", "/v2/acme/demo/blobs/");
    registry.always(blobs, Fault::RedirectElsewhere);
    user.install().await.unwrap();
    user.assert_installed();
    assert_ne!(registry.count(|seen| seen.door == Door::Elsewhere), 0);
    registry.assert_no_leaks();
}

#[tokio::test]
async fn redirects_to_http_and_in_circles_are_refused() {
    for fault in [Fault::RedirectPlain, Fault::RedirectLoop] {
        let authority = Authority::new("tests");
        let setup = Setup::of(Personality::Quay)
            .quirks(|quirks| quirks.blobs_elsewhere = false)
            .tls(authority.server().serve(None));
        let registry = setup.start();
        let user = trusting(User::of(&registry, "acme/demo"), &authority);
        user.push().await.unwrap();
        registry.always(matching("GET", "/v2/acme/demo/blobs/"), fault);
        let text = chain(&user.install().await.unwrap_err());
        assert!(text.contains("redirects"), "{text}");
        assert_eq!(registry.count(|seen| seen.door == Door::Plain), 0);
    }
}

#[tokio::test]
async fn a_realm_without_tls_or_with_a_user_is_never_asked() {
    for (realm, shown) in [
        ("http://127.0.0.1:1/", "http://127.0.0.1:1/"),
        // It would take the place of the configured user.
        ("https://evil:pw@127.0.0.1:1/", "https://…@127.0.0.1:1/"),
    ] {
        let authority = Authority::new("tests");
        let setup = Setup::of(Personality::Quay).tls(authority.server().serve(None));
        let registry = setup.start();
        let header = format!("Bearer realm=\"{realm}\",service=\"registry\"");
        let refusal = Answer::new(401).header("www-authenticate", &header);
        registry.always(|_| true, Fault::Answer(refusal));
        let user = trusting(User::of(&registry, "acme/demo"), &authority);
        let text = user.push().await.unwrap_err().to_string();
        let is_named = text.ends_with(&format!("\n  received {shown}"));
        assert!(text.contains("token server") && is_named, "{text}");
    }
}

#[tokio::test]
async fn plain_http_is_used_only_where_it_is_allowed() {
    let registry = start(Personality::Plain);
    let mut user = User::of(&registry, "acme/demo");
    user.settings.plain.clear();
    assert!(user.push().await.is_err());
    assert_eq!(registry.seen().len(), 0);
}

#[tokio::test]
async fn plain_http_applies_to_its_port_only() {
    let registry = Setup::of(Personality::Plain)
        .quirks(|quirks| quirks.blobs_elsewhere = true)
        .start();
    let mut user = User::of(&registry, "acme/demo");
    user.settings.plain = [registry.host().to_owned()].into();
    user.push().await.unwrap();
    assert!(user.install().await.is_err());
    assert_eq!(registry.count(|seen| seen.door == Door::Elsewhere), 0);
}
