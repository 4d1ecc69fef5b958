use super::{MANIFEST, Raw, manifest, open, push_index};
use crate::support::layout::digest;
use crate::support::registry::quirks::Location;
use crate::support::registry::{Door, Personality, Registry};

/// Uploads by PATCHes and one empty PUT.
async fn push_chunks(raw: &Raw, name: &str, chunks: &[&'static [u8]]) -> Vec<u16> {
    let mut location = raw.begin(name).await;
    let mut statuses = Vec::new();
    let mut all = Vec::new();
    for chunk in chunks {
        let said = raw.send(&format!("PATCH {location}"), &[], *chunk).await;
        statuses.push(said.status);
        if said.status != 202 {
            return statuses;
        }
        said.header("location").clone_into(&mut location);
        all.extend_from_slice(chunk);
    }
    statuses.push(raw.finish(&location, &digest(&all), b"").await.status);
    statuses
}

fn start(personality: Personality) -> (Registry, Raw) {
    let registry = open(personality).create("p").start();
    let raw = Raw::of(&registry);
    (registry, raw)
}

#[tokio::test]
async fn ghcr_keeps_only_the_last_chunk_and_refuses_chunks_above_four_mebibytes() {
    let (_registry, raw) = start(Personality::Ghcr);
    assert_eq!(push_chunks(&raw, "a/b", &[b"one"]).await, [202, 201]);
    assert_eq!(
        push_chunks(&raw, "a/b", &[b"one", b"two"]).await,
        [202, 202, 400]
    );
    static LARGE: [u8; (4 << 20) + 1] = [0; (4 << 20) + 1];
    assert_eq!(push_chunks(&raw, "a/b", &[&LARGE[1..]]).await, [202, 201]);
    assert_eq!(push_chunks(&raw, "a/b", &[&LARGE]).await, [416]);
    raw.push_blob("a/b", &LARGE).await.is(201);
    raw.ask("GET /v2/a/b/referrers/sha256:00").await.is(404);
}

#[tokio::test]
async fn ecr_needs_a_repository_refuses_subjects_and_omits_locations() {
    let (_registry, raw) = start(Personality::Ecr);
    let other = "POST /v2/other/blobs/uploads/";
    raw.gets(other, "404 NAME_UNKNOWN").await;
    push_index(&raw, "p", "1.0.0").await;
    let plain = manifest(b"{}");
    let at = digest(plain.as_bytes());
    let said = raw.push_manifest("p", &at, MANIFEST, &plain).await;
    assert_eq!((said.status, said.header("location")), (201, ""));
    let subject = plain.replacen('{', r#"{"subject":{},"#, 1);
    let said = raw.push_manifest("p", "x", MANIFEST, &subject).await;
    assert_eq!(said.error(), "405 UNSUPPORTED");
    let typed = format!("{MANIFEST}; charset=utf-8");
    raw.push_manifest("p", "x", &typed, &plain).await.is(400);
}

#[tokio::test]
async fn acr_cuts_long_single_uploads_and_requires_the_latest_location() {
    let (_registry, raw) = start(Personality::Acr);
    static LONG: [u8; 80 << 10] = [0; 80 << 10];
    let location = raw.begin("a").await;
    let line = format!("PUT {location}&digest={}", digest(&LONG));
    assert!(raw.try_send(&line, &[], &LONG[..]).await.is_err());
    let (one, two) = LONG.split_at(70 << 10);
    assert_eq!(push_chunks(&raw, "a", &[one, two]).await, [202, 202, 201]);
    let line = format!("PATCH {}", raw.begin("a").await);
    raw.send(&line, &[], "one").await.is(202);
    let said = raw.send(&line, &[], "two").await;
    assert_eq!(said.error(), "400 BLOB_UPLOAD_INVALID");
}

#[tokio::test]
async fn harbor_needs_a_project_and_has_its_own_error_code() {
    let (_registry, raw) = start(Personality::Harbor);
    push_index(&raw, "p/a", "1.0.0").await;
    for line in [
        "POST /v2/x/a/blobs/uploads/",
        "GET /v2/p/b/tags/list",
        "GET /v2/p/a/manifests/2",
    ] {
        raw.gets(line, "404 NOT_FOUND").await;
    }
}

#[tokio::test]
async fn quay_and_gar_have_their_own_links_to_the_next_page() {
    for (personality, name) in [(Personality::Quay, "a"), (Personality::Gar, "p/q/a")] {
        let registry = open(personality)
            .create("p/q")
            .quirks(|quirks| quirks.page = 2)
            .start();
        let raw = Raw::of(&registry);
        for tag in ["1.0.1", "1.0.2", "1.0.3", "1.0.4", "1.0.5"] {
            push_index(&raw, name, tag).await;
        }
        let mut found = Vec::new();
        let mut next = Some(format!("/v2/{name}/tags/list"));
        while let Some(url) = next {
            let said = raw.ask(&format!("GET {url}")).await;
            found.push(said.json()["tags"].as_array().unwrap().len());
            let link = said.header("link");
            let form = match personality {
                Personality::Quay => "next_page=",
                _ => "http://",
            };
            assert!(link.is_empty() || link.contains(form), "{link}");
            next = link.split(['<', '>']).nth(1).map(str::to_owned);
        }
        assert_eq!(found, [2, 2, 1]);
    }
    let (_registry, raw) = start(Personality::Quay);
    push_index(&raw, "a", "1.0.0").await;
    let said = raw.ask("GET /v2/a/tags/list?last=1.0.0").await;
    assert_eq!(said.json()["tags"].as_array().unwrap().len(), 1);
}

#[tokio::test]
async fn locations_have_three_forms() {
    for (location, wanted) in [
        (Location::Absolute, "http://127.0.0.1:"),
        (Location::Path, "/v2/a/b/blobs/uploads/upload-"),
        (Location::Relative, "../../../../../v2/a/b/blobs/uploads/"),
    ] {
        let setup = open(Personality::Plain);
        let registry = setup.quirks(|quirks| quirks.location = location).start();
        let raw = Raw::of(&registry);
        let said = raw.begin("a/b").await;
        assert!(said.starts_with(wanted), "{said}");
        let url = reqwest::Url::parse(&registry.url("/v2/a/b/blobs/uploads/")).unwrap();
        let url = url.join(&said).unwrap();
        raw.finish(url.as_str(), &digest(b"x"), b"x").await.is(201);
    }
}

#[tokio::test]
async fn blobs_can_be_stored_on_another_host() {
    let registry = open(Personality::Quay)
        .quirks(|quirks| quirks.uploads_elsewhere = true)
        .start();
    let raw = Raw::of(&registry);
    raw.push_blob("a", b"one").await.is(201);
    let line = format!("GET /v2/a/blobs/{}", digest(b"one"));
    let said = raw.ask(&line).await;
    assert_eq!(said.status, 307);
    let target = said.header("location");
    assert_eq!(raw.ask(&format!("GET {target}")).await.text(), "one");
    let bare = target.split('?').next().unwrap();
    raw.ask(&format!("GET {bare}")).await.is(403);
    let line = format!("GET {target}");
    raw.with(&line, "Bearer token-1").await.is(400);
    let doors: Vec<Door> = registry.seen().iter().map(|seen| seen.door).collect();
    let (here, there) = (Door::Front, Door::Elsewhere);
    assert_eq!(doors, [here, there, here, there, there, there]);
    assert_eq!(registry.count(crate::support::registry::leaks), 1);
}

#[tokio::test]
async fn chunks_but_the_last_can_have_a_minimum_length() {
    let registry = open(Personality::Plain)
        .quirks(|quirks| quirks.smallest_chunk = Some(3))
        .start();
    let raw = Raw::of(&registry);
    let said = raw.ask("POST /v2/a/blobs/uploads/").await;
    assert_eq!(said.header("oci-chunk-min-length"), "3");
    assert_eq!(
        push_chunks(&raw, "a", &[b"one", b"2"]).await,
        [202, 202, 201]
    );
    assert_eq!(push_chunks(&raw, "a", &[b"1", b"two"]).await, [202, 416]);
}
