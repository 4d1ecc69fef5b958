use tfoci::credentials::Credential;
use tfoci::error::Category;

use super::{User, VERSION, chain, name_at, setup, start, tags};
use crate::support::registry::access::Tokens;
use crate::support::registry::content::Manifest;
use crate::support::registry::{Access, Personality, Registry, Seen, Setup, matching};

/// Pushes, checks the artifact with the independent client, installs and compares the package, and pushes again, which writes nothing.
async fn round_trip(user: User, registry: &Registry) {
    user.push().await.unwrap();
    user.assert_pushed(registry);
    user.install().await.unwrap();
    user.assert_installed();
    let writes = |seen: &Seen| {
        ["POST", "PUT", "PATCH"].contains(&seen.method.as_str()) && seen.path != "/token"
    };
    registry.forget();
    user.push().await.unwrap();
    assert_eq!(registry.count(writes), 0, "the second push writes nothing");
    registry.assert_no_leaks();
}

macro_rules! each_kind {
    ($($(#[$attribute:meta])* $test:ident: $personality:ident,)*) => {$(
        #[tokio::test]
        $(#[$attribute])*
        async fn $test() {
            let personality = Personality::$personality;
            let registry = start(personality);
            round_trip(User::of(&registry, name_at(personality)), &registry).await;
        }
    )*};
}

each_kind! {
    the_specification: Plain,
    ghcr: Ghcr,
    ecr: Ecr,
    acr: Acr,
    gar: Gar,
    hub: Hub,
    harbor: Harbor,
    quay: Quay,
    distribution_2: Distribution2,
    distribution_3: Distribution3,
    zot: Zot,
}

/// GitLab refuses evidence, see the module `manifests`.
#[tokio::test]
async fn gitlab() {
    let registry = start(Personality::Gitlab);
    let user = User::of(&registry, name_at(Personality::Gitlab));
    user.push().await.unwrap();
    user.assert_installable(&registry);
    assert_eq!(tags(&registry, &user.name), [VERSION]);
    user.install().await.unwrap();
    user.assert_installed();
    registry.assert_no_leaks();
}

#[tokio::test]
async fn an_identity_token_is_enough_if_the_token_server_accepts_it() {
    let registry = Setup::of(Personality::Acr)
        .quirks(|quirks| quirks.largest_put = None)
        .start();
    round_trip(User::of(&registry, "acme/demo").identity(), &registry).await;
}

#[tokio::test]
async fn public_repositories_need_no_password() {
    let registry = start(Personality::Ghcr);
    User::of(&registry, "acme/demo").push().await.unwrap();
    let stranger = User::at(registry.host(), "acme/demo");
    stranger.install().await.unwrap();
    let stranger = User::at(registry.host(), "acme/other");
    let error = stranger.push().await.unwrap_err().to_string();
    assert!(error.contains("answered 401"), "{error}");
}

#[tokio::test]
async fn expired_tokens_are_renewed() {
    for alter in [
        (|tokens| tokens.uses = Some(8)) as fn(&mut Tokens),
        |tokens| tokens.expires_in = None,
        |tokens| tokens.expires_in = Some(1),
        |tokens| tokens.fields = &["access_token"],
    ] {
        let setup = Setup::of(Personality::Plain).access(Access::of(Personality::Quay));
        let registry = setup.tokens(alter).start();
        let user = User::of(&registry, "acme/demo");
        user.push().await.unwrap();
        user.assert_pushed(&registry);
    }
}

#[tokio::test]
async fn concurrent_requests_share_one_token() {
    let registry = start(Personality::Quay);
    User::of(&registry, "acme/demo").push().await.unwrap();
    // One to read, one to write.
    assert_eq!(registry.count(matching("GET", "/token")), 2);
    // Only one request is refused to learn the challenge.
    assert_eq!(registry.count(|seen| seen.status == Some(401)), 1);
}

#[tokio::test]
async fn a_wrong_password_is_reported_and_tried_once() {
    for personality in [Personality::Ecr, Personality::Harbor, Personality::Hub] {
        let registry = start(personality);
        let mut user = User::of(&registry, "acme/demo");
        let name = registry.user().unwrap();
        user.credential = Some(Credential::typed(name, "a wrong one".into()));
        let text = user.push().await.unwrap_err().to_string();
        assert!(text.contains("answered 401"), "{text}");
        assert!(text.contains("auth.json"), "{text}");
        assert!(registry.count(|seen| seen.authorization().is_some()) <= 2);
        registry.assert_no_leaks();
    }
}

#[tokio::test]
async fn a_repository_that_cannot_be_created_is_named_with_the_answer() {
    for (personality, name, status) in [
        (Personality::Ecr, "acme/other", "404"),
        (Personality::Harbor, "other/demo", "404"),
        (Personality::Gar, "acme/other/demo", "404"),
        // It has two levels only.
        (Personality::Hub, "acme/demo/demo", "401"),
    ] {
        let registry = start(personality);
        let user = User::of(&registry, name);
        let text = chain(&user.push().await.unwrap_err());
        let is_named = text.contains(status) && text.contains(name);
        assert!(is_named, "{personality:?}: {text}");
    }
}

#[tokio::test]
async fn an_immutable_tag_with_the_right_digest_is_accepted() {
    let setup = Setup::of(Personality::Ecr).create("acme/demo");
    let registry = setup.quirks(|quirks| quirks.immutable = true).start();
    round_trip(User::of(&registry, "acme/demo"), &registry).await;
}

#[tokio::test]
async fn all_pages_of_tags_are_read() {
    for personality in Personality::ALL {
        let setup = setup(personality);
        let registry = setup.quirks(|quirks| quirks.page = 2).start();
        let user = User::of(&registry, name_at(personality));
        let tags: Vec<String> = (0..7).map(|patch| format!("1.0.{patch}")).collect();
        registry.repository(&user.name, |repository| {
            let manifest = Manifest {
                media_type: "text/plain".to_owned(),
                bytes: (&b"x"[..]).into(),
            };
            let digest = "sha256:00";
            repository.manifests.insert(digest.to_owned(), manifest);
            tags.iter()
                .rev()
                .for_each(|tag| repository.tag(tag, digest));
        });
        let destination = user.destination();
        let found = destination.tags().await.unwrap();
        assert_eq!(found, Some(tags), "{personality:?}");
    }
}

#[tokio::test]
async fn a_repository_without_tags_is_distinguished_from_a_missing_one() {
    for personality in Personality::ALL {
        let setup = setup(personality);
        let registry = setup.quirks(|quirks| quirks.largest_put = None).start();
        let user = User::of(&registry, name_at(personality));
        let destination = user.destination();
        let found = destination.tags().await;
        // Some have their own error code, at which clients stop (`tfoci::clients#repository-not-found`).
        match found {
            Ok(found) => assert_eq!(found, None, "{personality:?}"),
            Err(error) => assert_eq!(error.category(), Category::NotFound, "{error}"),
        }
        user.push().await.unwrap();
        registry.repository(&user.name, |repository| repository.tags.clear());
        let found = destination.tags().await;
        assert_eq!(found.unwrap(), Some(Vec::new()), "{personality:?}");
    }
}
