use super::{Raw, Said};
use crate::support::layout::digest;
use crate::support::registry::access::{Access, IDENTITY, Tokens, basic};
use crate::support::registry::{Personality, Registry, Setup};

/// The parts of a challenge: the token server, the service, the scope.
fn challenge(said: &Said) -> [String; 3] {
    let header = said.header("www-authenticate");
    assert!(header.starts_with("Bearer "), "{header}");
    ["realm", "service", "scope"].map(|name| {
        let found = header
            .split(&format!("{name}=\""))
            .nth(1)
            .unwrap_or_default();
        found.split('"').next().unwrap().to_owned()
    })
}

/// Asks the token server that a challenge names.
async fn token(raw: &Raw, [realm, service, scope]: &[String; 3], user: Option<&str>) -> Said {
    let secret = user.map(basic);
    let headers: Vec<(&str, &str)> = secret
        .iter()
        .map(|s| ("authorization", s.as_str()))
        .collect();
    raw.send(
        &format!("GET {realm}?service={service}&scope={scope}"),
        &headers,
        "",
    )
    .await
}

async fn with(raw: &Raw, line: &str, token: &str) -> Said {
    raw.send(line, &[("authorization", &format!("Bearer {token}"))], "")
        .await
}

#[tokio::test]
async fn ecr_accepts_a_password_only() {
    let registry = Setup::of(Personality::Ecr).create("p").start();
    let raw = Raw::of(&registry);
    let said = raw.ask("GET /v2/").await;
    assert_eq!(said.error(), "401 UNAUTHORIZED");
    assert!(said.header("www-authenticate").starts_with("Basic "));
    for (secret, status) in [
        (basic("AWS"), 200),
        (basic("robot"), 401),
        ("Bearer x".to_owned(), 401),
    ] {
        raw.send("GET /v2/", &[("authorization", &secret)], "")
            .await
            .is(status);
    }
}

#[tokio::test]
async fn a_token_is_limited_to_its_scope() {
    let registry = Setup::of(Personality::Quay).start();
    let raw = Raw::of(&registry);
    let begin = "POST /v2/a/blobs/uploads/";
    let asked = challenge(&raw.ask(begin).await);
    assert_eq!(asked[2], "repository:a:pull,push");
    token(&raw, &asked, None).await.is(401);
    token(&raw, &asked, Some("stranger")).await.is(401);
    let given = token(&raw, &asked, Some("robot")).await.json();
    assert_eq!(given["expires_in"], 300);
    let given = given["token"].as_str().unwrap();
    with(&raw, begin, given).await.is(202);
    with(&raw, "POST /v2/b/blobs/uploads/", given)
        .await
        .fails("401 DENIED");
    let read = ["repository:a:pull".to_owned()];
    let asked = [asked[0].clone(), asked[1].clone(), read[0].clone()];
    let given = token(&raw, &asked, Some("robot")).await.json();
    with(&raw, begin, given["token"].as_str().unwrap())
        .await
        .is(401);
    registry.assert_no_leaks();
}

#[tokio::test]
async fn a_mount_needs_both_repositories() {
    let registry = Setup::of(Personality::Zot)
        .access(Access::of(Personality::Quay))
        .start();
    registry.repository("a", |a| {
        a.blobs.insert(digest(b"one"), (&b"one"[..]).into())
    });
    let raw = Raw::of(&registry);
    let mount = format!("POST /v2/b/blobs/uploads/?mount={}&from=a", digest(b"one"));
    let asked = challenge(&raw.ask(&mount).await);
    assert_eq!(asked[2], "repository:b:pull,push repository:a:pull");
    let given = token(&raw, &asked, Some("robot")).await.json();
    let given = given["token"].as_str().unwrap();
    with(&raw, &mount, given).await.is(201);
    let less = [
        asked[0].clone(),
        asked[1].clone(),
        "repository:b:pull,push".to_owned(),
    ];
    let given = token(&raw, &less, Some("robot")).await.json();
    with(&raw, &mount, given["token"].as_str().unwrap())
        .await
        .is(401);
}

#[tokio::test]
async fn public_registries_allow_anonymous_reads() {
    let registry = Setup::of(Personality::Ghcr).start();
    let raw = Raw::of(&registry);
    let asked = challenge(&raw.ask("GET /v2/a/tags/list").await);
    let given = token(&raw, &asked, None).await.json();
    assert_eq!(given.get("expires_in"), None);
    let given = given["token"].as_str().unwrap();
    with(&raw, "GET /v2/a/tags/list", given)
        .await
        .fails("404 NAME_UNKNOWN");
    with(&raw, "POST /v2/a/blobs/uploads/", given).await.is(401);
}

#[tokio::test]
async fn tokens_expire_by_time_and_by_use() {
    let spent = |alter: fn(&mut Tokens)| Setup::of(Personality::Quay).tokens(alter).start();
    for (registry, good) in [
        (spent(|tokens| tokens.expires_in = Some(0)), 0),
        (spent(|tokens| tokens.uses = Some(2)), 2),
    ] {
        let raw = Raw::of(&registry);
        let asked = challenge(&raw.ask("GET /v2/").await);
        let given = token(&raw, &asked, Some("robot")).await.json();
        let given = given["token"].as_str().unwrap();
        for turn in 0..4 {
            let wanted = if turn < good { 200 } else { 401 };
            assert_eq!(with(&raw, "GET /v2/", given).await.status, wanted, "{turn}");
        }
    }
}

async fn post_identity(registry: &Registry, identity: &str) -> Said {
    let raw = Raw::of(registry);
    let [realm, service, _] = challenge(&raw.ask("GET /v2/").await);
    let form = format!(
        "grant_type=refresh_token&refresh_token={identity}&service={service}&scope=repository:a:pull"
    );
    let typed = [("content-type", "application/x-www-form-urlencoded")];
    raw.send(&format!("POST {realm}"), &typed, form).await
}

#[tokio::test]
async fn azure_accepts_identity_tokens_and_harbor_does_not() {
    let acr = Setup::of(Personality::Acr).start();
    let said = post_identity(&acr, IDENTITY).await;
    assert_eq!(said.status, 200);
    assert_eq!(said.json().get("token"), None);
    assert!(said.json()["access_token"].is_string());
    post_identity(&acr, "another").await.is(401);
    let harbor = Setup::of(Personality::Harbor).create("a").start();
    post_identity(&harbor, IDENTITY).await.is(405);
}

#[tokio::test]
async fn harbor_gives_no_token_without_a_repository() {
    let registry = Setup::of(Personality::Harbor).create("p").start();
    let raw = Raw::of(&registry);
    let [realm, service, _] = challenge(&raw.ask("GET /v2/").await);
    for (scope, status) in [("", 401), ("repository:p/a:pull", 200)] {
        let asked = [realm.clone(), service.clone(), scope.to_owned()];
        let given = token(&raw, &asked, Some("robot")).await.json();
        with(&raw, "GET /v2/", given["token"].as_str().unwrap())
            .await
            .is(status);
    }
}

#[tokio::test]
async fn hub_has_a_separate_token_server_and_refuses_three_levels() {
    let registry = Setup::of(Personality::Hub).start();
    let raw = Raw::of(&registry);
    let asked = challenge(&raw.ask("POST /v2/a/b/c/blobs/uploads/").await);
    assert_eq!(asked[1], "registry.docker.io");
    assert!(!asked[0].starts_with(&registry.url("")), "{asked:?}");
    let given = token(&raw, &asked, Some("robot")).await.json();
    let given = given["token"].as_str().unwrap();
    with(&raw, "POST /v2/a/b/c/blobs/uploads/", given)
        .await
        .is(401);
    registry.assert_no_leaks();
}
