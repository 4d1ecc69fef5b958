use super::{Raw, Said};
use crate::support::layout::digest;
use crate::support::registry::access::{Access, Tokens, basic};
use crate::support::registry::{Personality, Setup};

/// The parts of a challenge: the token server, the service, the scope.
fn challenge(said: &Said) -> [String; 3] {
    let header = said.header("www-authenticate");
    assert!(header.starts_with("Bearer "), "{header}");
    ["realm", "service", "scope"].map(|name| {
        let (_, found) = header.split_once(&format!("{name}=\"")).unwrap_or_default();
        found.split('"').next().unwrap().to_owned()
    })
}

/// Asks the token server that a challenge names.
async fn token(raw: &Raw, [realm, service, scope]: &[String; 3], user: &str) -> Said {
    let line = format!("GET {realm}?service={service}&scope={scope}");
    raw.with(&line, &basic(user)).await
}

/// The token that `robot` gets for a scope, as it is sent.
async fn given(raw: &Raw, asked: &[String; 3], scope: &str) -> String {
    let asked = [&asked[0], &asked[1], scope].map(str::to_owned);
    let given = token(raw, &asked, "robot").await.json();
    format!("Bearer {}", given["token"].as_str().unwrap())
}

#[tokio::test]
async fn a_token_is_limited_to_its_scope() {
    let registry = Setup::of(Personality::Quay).start();
    let raw = Raw::of(&registry);
    let begin = "POST /v2/a/blobs/uploads/";
    let asked = challenge(&raw.ask(begin).await);
    assert_eq!(asked[2], "repository:a:pull,push");
    token(&raw, &asked, "stranger").await.is(401);
    let good = given(&raw, &asked, &asked[2]).await;
    raw.with(begin, &good).await.is(202);
    let other = raw.with("POST /v2/b/blobs/uploads/", &good).await;
    assert_eq!(other.error(), "401 DENIED");
    let reads = given(&raw, &asked, "repository:a:pull").await;
    raw.with(begin, &reads).await.is(401);
    registry.assert_no_leaks();
}

#[tokio::test]
async fn a_mount_needs_both_repositories() {
    let setup = Setup::of(Personality::Zot).access(Access::of(Personality::Quay));
    let registry = setup.start();
    let one = digest(b"one");
    registry.repository("a", |a| a.blobs.insert(one.clone(), (&b"one"[..]).into()));
    let raw = Raw::of(&registry);
    let mount = format!("POST /v2/b/blobs/uploads/?mount={one}&from=a");
    let asked = challenge(&raw.ask(&mount).await);
    assert_eq!(asked[2], "repository:b:pull,push repository:a:pull");
    for (scope, status) in [(&*asked[2], 201), ("repository:b:pull,push", 401)] {
        let token = given(&raw, &asked, scope).await;
        raw.with(&mount, &token).await.is(status);
    }
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
        let token = given(&raw, &asked, "").await;
        for turn in 0..4 {
            let wanted = if turn < good { 200 } else { 401 };
            raw.with("GET /v2/", &token).await.is(wanted);
        }
    }
}

#[tokio::test]
async fn harbor_gives_no_token_without_a_repository() {
    let registry = Setup::of(Personality::Harbor).create("p").start();
    let raw = Raw::of(&registry);
    let asked = challenge(&raw.ask("GET /v2/").await);
    for (scope, status) in [("", 401), ("repository:p/a:pull", 200)] {
        let token = given(&raw, &asked, scope).await;
        raw.with("GET /v2/", &token).await.is(status);
    }
}
