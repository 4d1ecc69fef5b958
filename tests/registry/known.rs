//! Registries that tfoci knows by their host. The double plays the host behind a proxy, which the programs use.

use super::{User, length, noise};
use crate::support::docker_registry::{Options, Program};
use crate::support::registry::{Access, Fault, Personality, Registry, Seen, Setup, matching};
use crate::support::release::ReleaseFolder;
use crate::support::scene::{Run, Scene};
use crate::support::signer::Signer;

const AMAZON: &str = "123456789012.dkr.ecr.eu-west-1.amazonaws.com";

/// A registry of a kind that plays a host and asks for no credentials.
fn at(host: &str, personality: Personality) -> Setup {
    Setup::of(personality)
        .access(Access::Open)
        .quirks(|quirks| quirks.blobs_elsewhere = false)
        .create("acme/demo")
        .host(host)
}

/// Pushes the release of a user into the repository of a reference.
fn push(user: &User, registry: &Registry, reference: &str) -> Run {
    push_through(registry.proxy(), user, registry.host(), reference)
}

/// The same through the proxy of a host.
fn push_through(proxy: &str, user: &User, host: &str, reference: &str) -> Run {
    let scene = Scene::new().env("http_proxy", proxy);
    scene.write("acme.asc", Signer::acme().public_armored());
    scene.write("auth.json", user.authfile());
    let release = user.path("release").display().to_string();
    let push = format!("push {release} --provider=registry.example.net/acme/demo --to {reference}");
    let more = format!("--plain-http {host} --key acme.asc --authfile auth.json --no-progress");
    scene.line(format!("{push} {more}"))
}

fn upload(seen: &Seen) -> bool {
    seen.method == "PUT" && seen.path.contains("/uploads/")
}

/// Replaces the user's release with one that is longer than two chunks.
fn write_large_release(user: &User) {
    let files: &[(&str, &[u8])] = &[("terraform-provider-demo_v1.0.0", &noise(9 << 20))];
    let release = ReleaseFolder::new("demo", super::VERSION).platform("darwin_arm64");
    let release = release.package("linux_amd64", files);
    release.write(&user.path("release"));
}

#[test]
fn azure_gets_chunks_of_four_mebibytes_from_the_start() {
    let host = "acme.azurecr.io";
    let registry = at(host, Personality::Acr)
        .quirks(|quirks| quirks.largest_put = Some(5 << 20))
        .start();
    let user = User::of(&registry, "acme/demo");
    write_large_release(&user);
    push(&user, &registry, "acme.azurecr.io/acme/demo").succeeds();
    user.assert_pushed(&registry);
    let patches = registry.seen().into_iter().filter(matching("PATCH", ""));
    let lengths: Vec<u64> = patches.map(|seen| seen.body).collect();
    assert_eq!(lengths[..2], [4 << 20, 4 << 20]);
    assert!(lengths.len() == 3 && lengths[2] < 2 << 20, "{lengths:?}");
    let fails = |seen: &Seen| upload(seen) && seen.status != Some(201);
    assert_eq!(registry.count(fails), 0);
    assert_eq!(registry.count(|seen| seen.header("host") != Some(host)), 0);
}

#[test]
fn registries_that_corrupt_chunks_get_blobs_in_one_request() {
    for (host, personality, name) in [
        ("ghcr.io", Personality::Ghcr, "acme/demo"),
        ("europe-docker.pkg.dev", Personality::Gar, "acme/demo/demo"),
        ("gcr.io", Personality::Gar, "acme/demo/demo"),
        (AMAZON, Personality::Ecr, "acme/demo"),
        ("public.ecr.aws", Personality::Ecr, "acme/demo"),
    ] {
        let registry = at(host, personality).start();
        // For an unknown host, tfoci uses chunks after two cut uploads.
        let large = |seen: &Seen| upload(seen) && length(seen) > 64 << 10;
        registry.storm(2, large, Fault::CutRequest(1000));
        let user = User::of(&registry, name);
        push(&user, &registry, &format!("{host}/{name}")).succeeds();
        user.assert_pushed(&registry);
        assert_eq!(registry.count(|seen| seen.method == "PATCH"), 0, "{host}");
        assert_eq!(registry.count(large), 3, "{host}");
        // A cut upload starts again with a new session. An open session never receives its first byte twice.
        let uploads = registry.seen().into_iter().filter(upload);
        let mut paths: Vec<_> = uploads.map(|seen| seen.path).collect();
        let count = paths.len();
        paths.sort();
        paths.dedup();
        assert_eq!(paths.len(), count, "{host}");
    }
}

#[test]
fn amazon_needs_an_existing_repository() {
    let registry = at(AMAZON, Personality::Ecr).start();
    let user = User::of(&registry, "acme/other");
    let name = "acme/demo-other/demo";
    let run = push(&user, &registry, &format!("{AMAZON}/{name}")).exits(1);
    run.says(&format!(
        "error registry.example.net/acme/demo 1.0.0 {AMAZON}/{name} http://{AMAZON}/v2/{name}/blobs/uploads/ 404 NAME_UNKNOWN"
    ));
}

#[test]
fn docker_hub_is_reached_at_its_api_host_with_the_credentials_of_docker_io() {
    let registry = at("registry-1.docker.io", Personality::Hub)
        .access(Access::Basic { user: "me" })
        .start();
    let mut user = User::of(&registry, "acme/demo");
    "docker.io".clone_into(&mut user.host);
    push(&user, &registry, "docker.io/acme/demo").succeeds();
    user.assert_pushed(&registry);
    assert_ne!(registry.count(|seen| seen.authorization().is_some()), 0);

    registry.forget();
    push(&user, &registry, "docker.io/acme/tofu/demo").exits(2);
    assert_eq!(registry.count(matching("GET", "")), 0);
}

/// The double without TLS is its own proxy too, so that it can play a host.
#[tokio::test]
async fn other_registries_accept_the_chunks_of_tfoci() {
    for program in [Program::DockerRegistry, Program::Zot] {
        let Some(foreign) = program.start(&Options::default()) else {
            continue;
        };
        let user = User::at(&foreign.host(), "acme/demo");
        write_large_release(&user);
        let (host, reference) = ("acme.azurecr.io", "acme.azurecr.io/acme/demo");
        let proxy = format!("http://{}", foreign.host());
        push_through(&proxy, &user, host, reference).succeeds();
        user.install().await.unwrap();
        user.assert_installed();
    }
}

/// URLs leave out the port of their scheme, and options may name it.
#[test]
fn a_port_that_urls_leave_out_is_named() {
    let registry = at("registry.example.net", Personality::Plain).start();
    let user = User::of(&registry, "acme/demo");
    let host = "registry.example.net:80";
    push_through(registry.proxy(), &user, host, &format!("{host}/acme/demo")).succeeds();
}
