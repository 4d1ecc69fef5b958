use tfoci::credentials::{Credential, CredentialKind, FoundIn};
use tfoci::http::Pem;

use super::{User, start};
use crate::support::docker_registry::{self, Foreign, Options, Program};
use crate::support::registry::{Door, Fault, Personality, Setup, matching};
use crate::support::tls::Authority;

fn pem(name: &str, text: &str) -> Pem {
    Pem {
        name: name.to_owned(),
        named_by: "the test",
        bytes: text.as_bytes().to_vec().into(),
    }
}

/// A user of a registry that speaks TLS, who knows its authority.
fn trusting(user: User, authority: &Authority) -> User {
    let mut user = user;
    user.settings.plain.clear();
    user.settings
        .authorities
        .push(pem("the test", &authority.pem));
    user
}

#[tokio::test]
async fn a_private_certificate_authority_must_be_named() {
    let authority = Authority::new("tests");
    let setup = Setup::of(Personality::Quay).tls(authority.server().serve(None));
    let registry = setup.start();
    let user = trusting(User::of(&registry, "acme/demo"), &authority);
    user.push().await.unwrap();
    user.install().await.unwrap();
    user.assert_installed();
    registry.assert_no_leaks();

    registry.forget();
    let stranger = Authority::new("another authority");
    let user = trusting(User::of(&registry, "acme/demo"), &stranger);
    assert!(user.install().await.is_err());
    assert_eq!(registry.seen().len(), 0);
    let mut user = trusting(User::of(&registry, "acme/demo"), &stranger);
    user.settings.insecure.insert("127.0.0.1".to_owned());
    user.install().await.unwrap();
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
    registry.always(
        matching("GET", "/v2/acme/demo/blobs/"),
        Fault::RedirectElsewhere,
    );
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
        let error = user.install().await.unwrap_err();
        let mut text = error.to_string();
        let mut cause = std::error::Error::source(&error);
        while let Some(error) = cause {
            text += &format!(" {error}");
            cause = error.source();
        }
        assert!(text.contains("redirects"), "{text}");
        assert_eq!(registry.count(|seen| seen.door == Door::Plain), 0);
    }
}

#[tokio::test]
async fn a_realm_without_tls_or_with_a_user_is_never_asked() {
    for (realm, shown) in [
        ("http://127.0.0.1:1/token", "http://127.0.0.1:1/token"),
        // It would take the place of the configured user.
        (
            "https://evil:pw@127.0.0.1:1/token",
            "https://…@127.0.0.1:1/token",
        ),
    ] {
        realm_is_never_asked(realm, shown).await;
    }
}

async fn realm_is_never_asked(realm: &str, shown: &str) {
    let authority = Authority::new("tests");
    let setup = Setup::of(Personality::Quay).tls(authority.server().serve(None));
    let registry = setup.start();
    let header = format!("Bearer realm=\"{realm}\",service=\"registry\"");
    let refusal =
        crate::support::registry::answer::Answer::new(401).header("www-authenticate", &header);
    registry.always(matching("GET", "/v2/"), Fault::Answer(refusal.clone()));
    registry.always(matching("HEAD", "/v2/"), Fault::Answer(refusal));
    let user = trusting(User::of(&registry, "acme/demo"), &authority);
    let text = user.push().await.unwrap_err().to_string();
    let facts = format!("\n  received {shown}");
    assert!(
        text.contains("token server") && text.ends_with(&facts),
        "{text}"
    );
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

/// Pushes to a real registry, and installs from it.
async fn round_trip(foreign: &Foreign, password: bool, authority: Option<&Authority>) {
    let mut user = User::at(&foreign.host(), "acme/demo");
    user.credential = password.then(|| Credential {
        kind: CredentialKind::Password {
            username: docker_registry::USER.to_owned(),
            password: docker_registry::PASSWORD.into(),
        },
        found_in: FoundIn::CommandLine,
    });
    if let Some(authority) = authority {
        user = trusting(user, authority);
    }
    user.push().await.unwrap();
    assert!(foreign.storage().is_dir());
    user.install().await.unwrap();
    user.assert_installed();
    let again = user.push().await.unwrap();
    assert_eq!(again.status, tfoci::outcome::Change::Present);
}

#[tokio::test]
async fn other_registries_store_and_return_what_tfoci_pushes() {
    for program in [Program::DockerRegistry, Program::Zot] {
        let authority = Authority::new("tests");
        let identity = authority.server();
        for (tls, password) in [(false, false), (true, true)] {
            let options = Options {
                open: None,
                tls: tls.then_some(&identity),
                password,
                tokens: None,
            };
            let Some(foreign) = program.start(&options) else {
                continue;
            };
            round_trip(&foreign, password, tls.then_some(&authority)).await;
        }
    }
}
