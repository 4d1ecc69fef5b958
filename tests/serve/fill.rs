//! `serve --fill`: a version that the store lacks is mirrored from the origin when a client requests it.

/// Versions that are too new.
pub mod cooldown;
/// An origin that gives no list of versions.
pub mod hanging_origin;
/// A store that the server has filled, and that loses what it had.
pub mod lost_store;
/// An origin that keeps its places, or lists slowly.
pub mod slow_origin;

use std::io::ErrorKind;
use std::net::TcpListener;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use serde_json::{Value, json};

use super::http::Reply;
use super::redirects::over_tls;
use super::server::Server;
use crate::mirror::access::helper::helper;
use crate::support::origin::{Fault, Origin, Provider, Seen, asks, lie};
use crate::support::scene::Scene;
use crate::support::signer::Signer;

pub const PLATFORMS: [&str; 2] = ["linux_amd64", "darwin_arm64"];

/// The lists of the older version, and of both that are no candidates.
const ONE: &str = r#"{"versions":{"1.0.0":{}}}"#;
const BOTH: &str = r#"{"versions":{"1.0.0":{},"1.1.0":{}}}"#;

/// An origin with three versions, and a user who trusts its certificate.
fn origin() -> (Origin, Scene) {
    let versions = ["1.0.0", "1.1.0", "2.0.0-rc.1"].into_iter();
    let demo = versions.fold(Provider::new("acme/demo"), |demo, version| {
        demo.version(version, &PLATFORMS)
    });
    of([demo])
}

/// An origin of these providers, and a user who trusts its certificate and does not trust the author.
pub fn of(providers: impl IntoIterator<Item = Provider>) -> (Origin, Scene) {
    let (origin, scene) = (Origin::of(providers), Scene::new());
    scene.write("stranger.asc", Signer::stranger().public_armored());
    let ca = origin.write_ca(&scene);
    let scene = scene.env("SSL_CERT_FILE", ca.to_str().unwrap());
    (origin, scene)
}

fn start(scene: &Scene, origin: &Origin, more: &str) -> Server {
    filling(scene, &format!("{}/*/* {more}", origin.host()))
}

/// A server that mirrors from every host that a client names.
fn every(scene: &Scene, more: &str) -> Server {
    filling(scene, &format!("*/*/* {more}"))
}

fn filling(scene: &Scene, include: &str) -> Server {
    let own = "--from oci-layout:cache --fill --include";
    Server::plain(scene, format!("{own} {include}"))
}

fn base(origin: &Origin) -> String {
    format!("/mirror/{}", origin.address("acme/demo"))
}

fn page(origin: &Origin) -> String {
    format!("/providers/{}", origin.address("acme/demo"))
}

#[test]
fn bad_versions_of_an_origin_are_not_offered() {
    let (origin, scene) = origin();
    origin.always(asks("versions"), lie::says("versions/0/version", "v1.0.0"));
    let server = start(&scene, &origin, "--max-age 0");
    let base = base(&origin);
    for _ in 0..2 {
        let index = server.get(&format!("{base}/index.json"));
        assert_eq!(index.text(), r#"{"versions":{"1.1.0":{}}}"#);
    }
    server.get(&format!("{base}/1.1.0.json")).is(200);
    let lines = server.count_words("acme/demo 1 v1.0.0");
    assert_eq!(lines, 1, "{}", server.log());
}

/// An origin that offers any number of versions does not fill the memory.
#[test]
fn the_newest_thousand_versions_of_an_origin_are_offered() {
    let (origin, scene) = origin();
    let listed = (0..1_200).map(|minor| json!({"version": format!("3.{minor}.0")}));
    let listed = Value::Array(listed.collect());
    origin.always(asks("versions"), lie::says("versions", listed));
    let server = start(&scene, &origin, "");
    let index = server.get(&format!("{}/index.json", base(&origin))).json();
    let offered = index["versions"].as_object().unwrap();
    let has = ["3.1199.0", "3.200.0", "3.199.0"].map(|one| offered.contains_key(one));
    assert_eq!((offered.len(), has), (1_000, [true, true, false]));
}

#[test]
fn concurrent_requests_for_a_version_mirror_it_once() {
    let (origin, scene) = origin();
    let server = start(&scene, &origin, "");
    let base = base(&origin);
    let index = server.get(&format!("{base}/index.json"));
    assert_eq!(index.text(), BOTH);
    let path = format!("{base}/1.1.0.json");
    let answers: Vec<String> = std::thread::scope(|scope| {
        let ask = || server.get(&path).text();
        let asking: Vec<_> = (0..20).map(|_| scope.spawn(ask)).collect();
        asking.into_iter().map(|one| one.join().unwrap()).collect()
    });
    let document: Value = serde_json::from_str(&answers[0]).unwrap();
    assert!(answers.iter().all(|answer| *answer == answers[0]));
    for platform in PLATFORMS {
        let archive = &document["archives"][platform];
        let zip = server.get(&format!("{base}/{}", archive["url"].as_str().unwrap()));
        assert_eq!(zip.body, origin.zip("acme/demo", "1.1.0", platform));
    }
    let packages = PLATFORMS
        .map(|platform| origin.count(asks(&format!("package acme/demo 1.1.0 {platform}"))));
    assert_eq!(packages, [1, 1], "{:#?}", origin.transcript());
    let log = server.stop();
    let line = format!("Mirrored {} 1.1.0: signed ", origin.address("acme/demo"));
    assert_eq!(log.matches(&line).count(), 1, "{log}");
    assert!(!log.contains("trust file"), "{log}");

    // The store then has it, and serves it without the origin.
    drop(origin);
    let server = Server::plain(&scene, "--from oci-layout:cache");
    assert_eq!(server.get(&path).text(), answers[0]);
    let index = server.get(&format!("{base}/index.json"));
    assert_eq!(index.text(), r#"{"versions":{"1.1.0":{}}}"#);
    server.stop();
}

/// The operator wrote the CLI configuration, so its `host` blocks may name private addresses.
#[test]
fn a_host_block_of_the_operator_may_name_a_private_host() {
    let (origin, scene) = origin();
    scene.write("host.tfrc", origin.host_block("registry.corp.test"));
    let server = every(&scene, "--cli-config host.tfrc");
    let index = server.get("/mirror/registry.corp.test/acme/demo/index.json");
    assert_eq!(index.text(), BOTH, "{}", server.log());
    let version = server.get("/mirror/registry.corp.test/acme/demo/1.1.0.json");
    assert_eq!(version.status, 200, "{}", server.log());
    // That a client names the same host as that of a provider is another matter.
    let asked = origin.seen().len();
    server.get(&format!("{}/index.json", base(&origin))).is(503);
    assert_eq!(origin.seen().len(), asked);
}

#[test]
fn the_policy_applies_to_mirrored_versions() {
    let (origin, scene) = origin();
    let server = start(&scene, &origin, "--key stranger.asc");
    let base = base(&origin);
    let refused = server.get(&format!("{base}/1.1.0.json")).is(404);
    refused.tells("1.1.0 is hidden: ");
    // It is no longer listed, and the log and the page give the reason.
    let is_hidden = |reply: &Reply| reply.text() == ONE;
    server.until(&format!("{base}/index.json"), is_hidden);
    server.get(&page(&origin)).tells("Hidden versions");
    let layouts = scene.path("cache").join(origin.host().replace(':', "_"));
    assert!(!layouts.exists());
}

/// One package blocks its version on every platform.
#[test]
fn a_package_with_wrong_bytes_can_be_left_out() {
    let (origin, scene) = origin();
    let is_package = asks("package acme/demo 1.1.0 darwin_arm64");
    origin.always(is_package, Fault::wrong_bytes());
    let bad = format!("{}/1.1.0.json", base(&origin));
    let server = start(&scene, &origin, "");
    server.get(&bad).is(404);
    let demo = origin.address("acme/demo");
    server.logs(&format!("{demo} 1.1.0 darwin_arm64"));
    server.stop();
    let server = start(&scene, &origin, "--platform linux_amd64");
    server.get(&bad).is(200);
}

#[test]
fn only_wanted_providers_are_mirrored() {
    let (origin, scene) = origin();
    let base = base(&origin);
    let exclude = origin.address("acme/demo");
    let [index, version] = ["index", "1.1.0"].map(|name| format!("{base}/{name}.json"));
    let all = format!("*/*/* --exclude {exclude}");
    for include in [&all, "other.test/*/*"] {
        filling(&scene, include).get(&index).is(404);
    }
    assert_eq!(origin.transcript(), Vec::<String>::new());

    // A version that was withdrawn from the store does not come back.
    let withdrawn = format!("--exclude {exclude}@1.1.0");
    let server = start(&scene, &origin, &withdrawn);
    assert_eq!(server.get(&index).text(), ONE);
    let refused = server.get(&version).is(404);
    refused.tells(format!("{exclude} 1.1.0"));
    server.stop();

    // The newest only, for one platform.
    let server = start(&scene, &origin, "--newest 1 --platform linux_amd64");
    let listed = server.get(&index).text();
    assert_eq!(listed, r#"{"versions":{"1.1.0":{}}}"#);
    server.get(&version).tells("linux_amd64").omits("darwin");
}

#[test]
fn a_version_without_a_wanted_platform_is_not_listed() {
    let demo = Provider::new("acme/demo").version("1.0.0", &PLATFORMS);
    let (origin, scene) = of([demo.version("2.0.0", &["darwin_arm64"])]);
    let server = start(&scene, &origin, "--platform linux_amd64");
    let index = server.get(&format!("{}/index.json", base(&origin)));
    assert_eq!(index.text(), ONE);
}

/// A client names the host, so it must not lead into the server's own network, and gets no credentials.
#[test]
fn a_host_that_only_a_client_names_is_asked_at_public_addresses_and_without_credentials() {
    let (origin, scene) = origin();
    // A program that has a token for every host names none of them.
    helper(&scene, ".terraform.d/plugins", "echo '{\"token\":\"t\"}'");
    scene.write(".tofurc", "credentials_helper \"vault\" {\n}\n");
    let host = origin.host().rsplit_once(':').unwrap().0;
    scene.write(".netrc", format!("machine {host} login u password p\n"));
    let index = format!("{}/index.json", base(&origin));
    let server = every(&scene, "");
    server.get(&index).is(503);
    server.logs("private address");
    server.logs(&format!("--allow-private {}", origin.host()));
    assert_eq!(origin.transcript(), Vec::<String>::new());
    server.stop();
    // The hint in the log helps, and is no permission to send credentials.
    let server = every(&scene, &format!("--allow-private {}", origin.host()));
    server.get(&index).is(200);
    server.get(&format!("{}/1.0.0.json", base(&origin))).is(200);
    server.stop();
    assert!(!scene.path("asked").exists());
    let secrets = origin.count(|seen| seen.header("authorization").is_some());
    assert_eq!(secrets, 0);
    // A pattern that names the host is one.
    let server = start(&scene, &origin, "--max-age 0");
    server.get(&index).is(200);
    assert!(scene.path("asked").exists());
}

/// A client that takes the newest version would fail each time.
#[test]
fn a_version_that_cannot_be_mirrored_is_hidden() {
    for fault in [Fault::wrong_bytes(), Fault::status(404), Fault::status(410)] {
        let (origin, scene) = origin();
        let scene = scene.env("TF_PROVIDER_DOWNLOAD_RETRY", "1");
        origin.always(asks("package acme/demo 1.1.0"), fault);
        let server = start(&scene, &origin, "--max-age 2");
        let base = base(&origin);
        let [index, version] = ["index", "1.1.0"].map(|name| format!("{base}/{name}.json"));
        server.get(&index).is(200).tells("1.1.0");
        server.get(&version).is(404);
        server.until(&index, |reply| reply.text() == ONE);
        let downloads = origin.count(asks("package acme/demo 1.1.0"));
        server.get(&version).is(404);
        assert_eq!(origin.count(asks("package acme/demo 1.1.0")), downloads);
        server.get(&page(&origin)).tells("Hidden versions");
        assert_eq!(server.metric("versions_refused_total"), 1);
        let log = server.stop();
        let hidden = format!("Hidden {} 1.1.0: ", origin.address("acme/demo"));
        assert_eq!(log.matches(&hidden).count(), 1, "{log}");
    }
}

/// Silence, an error of the origin, and what only this server refuses, may be over soon.
#[test]
fn a_version_whose_origin_does_not_deliver_stays_listed() {
    for fault in [
        Fault::Reset,
        Fault::status(500),
        Fault::redirect("https://10.0.0.1/"),
    ] {
        let (origin, scene) = origin();
        let is_broken = Arc::new(AtomicBool::new(true));
        let seen_broken = is_broken.clone();
        let is_package = asks("package acme/demo 1.1.0");
        let spoils = move |seen: &Seen| seen_broken.load(Ordering::SeqCst) && is_package(seen);
        origin.always(spoils, fault);
        let scene = scene.env("TF_PROVIDER_DOWNLOAD_RETRY", "1");
        let server = start(&scene, &origin, "");
        let base = base(&origin);
        let version = format!("{base}/1.1.0.json");
        server.get(&version).is(503);
        let index = server.get(&format!("{base}/index.json"));
        assert_eq!(index.text(), BOTH);
        is_broken.store(false, Ordering::SeqCst);
        server.until(&version, |reply| reply.status == 200);
    }
}

#[test]
fn a_package_above_the_limit_is_not_mirrored() {
    let (origin, scene) = origin();
    let size = PLATFORMS.map(|platform| origin.zip("acme/demo", "1.0.0", platform).len());
    let [least, most] = [size[0].min(size[1]) - 1, size[0].max(size[1])].map(|one| one.to_string());
    let path = format!("{}/1.0.0.json", base(&origin));
    for (limit, status) in [(least, 404), (most, 200)] {
        let server = start(&scene, &origin, &format!("--fill-max-size {limit}"));
        server.get(&path).is(status);
        server.stop();
    }
}

pub fn a_version_that_the_policy_refused_is_tried_again() {
    let (origin, scene) = origin();
    let server = start(&scene, &origin, "--key stranger.asc --max-age 0");
    let base = base(&origin);
    server.get(&format!("{base}/1.1.0.json")).is(404);
    let index = format!("{base}/index.json");
    server.until(&index, |reply| reply.text() == BOTH);
}

/// Origins whose hosts clients name are not trusted. The store is, even if it has the same host.
#[test]
fn a_client_that_names_the_host_of_the_store_does_not_block_it() {
    let (registry, scene, from) = over_tls(false, "${namespace}/${type}", "[HOST]/acme/demo");
    let host = registry.host();
    let more = format!("--registry-host {host} --fill --include */*/* --max-age 0");
    let server = Server::plain(&scene, format!("{from} {more}"));
    for _ in 0..2 {
        let index = server.get(&format!("/mirror/{host}/acme/demo/index.json"));
        assert_eq!(index.text(), ONE);
        server.logs("private address");
    }
}

/// Made-up hosts of clients do not block other hosts.
#[test]
fn a_new_host_is_reached_after_any_number_of_made_up_hosts() {
    let (origin, scene) = origin();
    let server = every(&scene, &format!("--allow-private {}", origin.host()));
    let mut connection = server.connect();
    for number in 0..1_100 {
        let host = format!("10.0.{}.{}", number / 250, number % 250);
        let index = format!("/mirror/{host}/a/b/index.json");
        connection.get(&index).is(503);
    }
    let index = server.get(&format!("{}/index.json", base(&origin)));
    assert_eq!(index.text(), BOTH);
}

/// `--plain-http` names the host of the store, which other ports of that host are not.
#[test]
fn a_plain_host_of_the_store_is_no_origin_for_clients() {
    let (_origin, scene) = origin();
    let near = TcpListener::bind("127.0.0.1:0").unwrap();
    let server = every(&scene, "--plain-http 127.0.0.1");
    let index = format!("/mirror/{}/a/b/index.json", near.local_addr().unwrap());
    server.get(&index).is(503);
    server.logs("private address");
    near.set_nonblocking(true).unwrap();
    let met = near.accept().map_err(|error| error.kind());
    assert_eq!(met.err(), Some(ErrorKind::WouldBlock));
}

/// After 404, clients would ask the next installation method.
#[test]
fn hidden_versions_of_the_store_do_not_hide_that_the_origin_is_unreachable() {
    let (origin, scene) = origin();
    let base = base(&origin);
    let server = start(&scene, &origin, "");
    server.get(&format!("{base}/1.0.0.json")).is(200);
    server.stop();
    let server = start(&scene, &origin, "--key stranger.asc");
    drop(origin);
    let index = server.get(&format!("{base}/index.json"));
    index.is(503);
}

#[test]
fn an_unreachable_origin_leaves_the_versions_of_the_store() {
    let (origin, scene) = origin();
    let (base, page) = (base(&origin), page(&origin));
    let server = start(&scene, &origin, "--max-age 0 --max-stale 4");
    let [index, here, there] =
        ["index", "1.0.0", "1.1.0"].map(|name| format!("{base}/{name}.json"));
    server.get(&here).is(200);
    let unknown = index.replace("demo", "none");
    server.get(&unknown).is(404);
    assert_eq!(server.get(&index).text(), BOTH);
    drop(origin);
    // What it offered before is still listed for a while. Without that, clients would take an older version.
    server.until(&index, |reply| reply.header("warning").is_some());
    assert_eq!(server.get(&index).text(), BOTH);
    server.get(&there).is(503);
    server.get(&page).tells("The origin");
    server.until(&index, |reply| reply.text() == ONE);
    assert!(server.get(&index).header("warning").is_some());
    server.get(&here).is(200);
    // After 404, clients would say that there is no such version.
    server.get(&there).is(503);
    // A provider that the store does not have may exist at the origin.
    server.until(&unknown, |reply| reply.status == 503);
}
