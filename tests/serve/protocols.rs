use std::fs;

use serde_json::{Value, json};
use url::Url;

use super::http::Reply;
use super::server::Server;
use super::stores::{
    BARE, DEMO, DOWNLOAD, HOST, IDN, INDEX, PAGE, PLATFORMS, Store, VERSION, VERSIONS, WRONG, ZIP,
    document, package,
};
use crate::support::docker_registry::Program;
use crate::support::release::sha256;
use crate::support::signer::Signer;

/// Packages: whole, in parts, and only if they changed.
mod packages;
/// Paths in every spelling.
mod paths;

const MIRROR: &str = "/mirror/registry.acme.test/acme/demo";
const REGISTRY: &str = "/v1/providers/acme/demo";
/// The versions with a good signature.
const SIGNED: [&str; 3] = ["1.0.0", "1.2.0+build.5", "1.3.0-rc.1"];
/// The version without a signature.
const UNSIGNED: &str = "2.0.0";

/// A store and its server.
struct Served {
    store: Store,
    server: Server,
}

impl Served {
    fn of(store: Store) -> Self {
        let server = store.serve(format!("--registry-host {HOST}"));
        Self { store, server }
    }

    /// The file that a link in a document leads to.
    fn follow(&self, document: &str, link: &Value) -> Reply {
        let base = format!("http://server.test{document}");
        let url = Url::parse(&base).unwrap().join(link.as_str().unwrap());
        let url = url.unwrap();
        assert_eq!(url.host_str(), Some("server.test"), "{link}");
        self.server.get(url.path()).is(200)
    }
}

#[test]
fn every_kind_of_store_is_served_by_both_protocols() {
    let registries = [Program::DockerRegistry, Program::Zot];
    let registries = registries.into_iter().filter_map(Store::spoiled_registry);
    for store in [Store::spoiled_layout()].into_iter().chain(registries) {
        let served = Served::of(store);
        discovery(&served);
        mirror(&served);
        registry(&served);
        documents(&served);
        absent(&served);
        methods(&served);
        hosts(&served);
        hidden(&served);
        packages::all(&served);
        paths::all(&served);
        served.server.stop();
    }
}

fn discovery(served: &Served) {
    let path = "/.well-known/terraform.json";
    let reply = served.server.get(path);
    assert_eq!(reply.json(), json!({ "providers.v1": "/v1/providers/" }));
    lists(&reply);
    let head = served.server.ask("HEAD", path, &[]);
    assert_eq!((head.status, head.body.len()), (200, 0));
    assert_eq!(head.header("etag"), reply.header("etag"));
    assert_eq!(
        head.header("content-length"),
        reply.header("content-length")
    );
}

/// A list may be cached for a minute at most, and is not sent again to a client that has it.
#[track_caller]
fn lists(reply: &Reply) {
    let caching = reply.header("cache-control").unwrap();
    let (_, age) = caching.split_once("max-age=").unwrap();
    assert!(age.parse::<u64>().unwrap() <= 60, "{caching}");
    assert_eq!(
        reply.header("etag").unwrap(),
        format!("\"sha256:{}\"", sha256(&reply.body))
    );
    assert!(reply.header("date").is_some());
}

fn mirror(served: &Served) {
    let Served { store, server } = served;
    let index = server.get(INDEX);
    lists(&index);
    let versions = SIGNED.iter().chain([&UNSIGNED]);
    let listed = versions.clone().map(|version| (*version).to_owned());
    let expected: serde_json::Map<_, _> = listed.map(|version| (version, json!({}))).collect();
    assert_eq!(index.json(), json!({ "versions": expected }));
    let etag = index.header("etag").unwrap();
    let again = server.ask("GET", INDEX, &[("If-None-Match", etag)]);
    assert_eq!((again.status, again.header("etag")), (304, Some(etag)));
    // Every listed package can be downloaded.
    for version in versions {
        let path = format!("{MIRROR}/{version}.json");
        let reply = server.get(&path);
        lists(&reply);
        let archives = reply.json();
        let expected = PLATFORMS.map(|platform| {
            let name = package(DEMO, version, platform);
            let zip = store.file(DEMO, version, &name);
            let archive = json!({ "url": name, "hashes": [format!("zh:{}", sha256(&zip))] });
            assert_eq!(served.follow(&path, &archive["url"]).body, zip);
            (platform.to_owned(), archive)
        });
        let expected: serde_json::Map<_, _> = expected.into_iter().collect();
        let mut expected = json!({ "archives": expected });
        if *version != UNSIGNED {
            expected["signed"] = json!(true);
        }
        assert_eq!(archives, expected);
    }
    server.get(&VERSION.replace("demo", "bare")).json();
}

fn registry(served: &Served) {
    let listed = served.server.get(VERSIONS);
    lists(&listed);
    let expected = SIGNED.map(|version| {
        json!({
            "version": version,
            "protocols": ["5.0", "6.0"],
            "platforms": [{ "os": "linux", "arch": "amd64" }, { "os": "windows", "arch": "arm64" }],
        })
    });
    assert_eq!(listed.json()["versions"], json!(expected));
    let bare = served.server.get(&VERSIONS.replace("demo", "bare")).json();
    assert_eq!(bare["versions"], json!([]), "{BARE}");
}

/// The provider registry serves the author's own documents of each package, byte for byte.
fn documents(served: &Served) {
    let Served { store, server } = served;
    let fingerprint = Signer::acme().fingerprint();
    // The evidence has no comments, which differ between the programs that export a key.
    let exported = Signer::acme().public_armored();
    let lines = exported.split_inclusive('\n');
    let armor: String = lines
        .filter(|line| !line.starts_with("Comment: "))
        .collect();
    for version in SIGNED {
        for platform in PLATFORMS {
            let (os, arch) = platform.split_once('_').unwrap();
            let path = format!("{REGISTRY}/{version}/download/{os}/{arch}");
            let reply = server.get(&path);
            lists(&reply);
            let said = reply.json();
            let name = package(DEMO, version, platform);
            let file = |name: &str| store.file(DEMO, version, name);
            let zip = file(&name);
            for (member, expected) in [
                ("os", json!(os)),
                ("arch", json!(arch)),
                ("filename", json!(name)),
                ("shasum", json!(sha256(&zip))),
                ("protocols", json!(["5.0", "6.0"])),
            ] {
                assert_eq!(said[member], expected, "{member}");
            }
            let keys = said["signing_keys"]["gpg_public_keys"].as_array().unwrap();
            assert_eq!(keys.len(), 1);
            assert_eq!(keys[0]["key_id"], fingerprint[24..]);
            assert_eq!(keys[0]["ascii_armor"], armor);
            for empty in ["trust_signature", "source", "source_url"] {
                assert_eq!(keys[0][empty].as_str().unwrap_or_default(), "", "{empty}");
                assert!(keys[0].get(empty).is_some(), "{empty}");
            }
            let packages = said["packages"].as_object().unwrap();
            assert_eq!(packages.len(), PLATFORMS.len());
            let expected =
                json!({ "hashes": [format!("zh:{}", sha256(&zip))], "package_size": zip.len() });
            assert_eq!(packages[platform], expected);
            let sums = document(DEMO, version);
            for (link, bytes) in [
                ("download_url", &zip),
                ("shasums_url", &file(&sums)),
                ("shasums_signature_url", &file(&format!("{sums}.sig"))),
            ] {
                assert!(served.follow(&path, &said[link]).body == *bytes, "{link}");
            }
        }
    }
}

/// A missing version or file is 404, and the body gives the reason.
fn absent(served: &Served) {
    let none = "registry.acme.test/acme/none";
    let bare = document(BARE, "1.0.0");
    for (path, says) in [
        (&*INDEX.replace("demo", "none"), none),
        (&VERSION.replace("demo", "none"), none),
        (&VERSIONS.replace("demo", "none"), none),
        (&DOWNLOAD.replace("demo", "none"), none),
        (&VERSION.replace("1.0.0", "9.9.9"), DEMO),
        (&DOWNLOAD.replace("linux/amd64", "plan9/mips"), "plan9_mips"),
        (&DOWNLOAD.replace("1.0.0", "2.0.0"), "no signature"),
        (&DOWNLOAD.replace("demo", "bare"), "no signature"),
        ("/v1/providers/acme/demo/1.0.0/other.zip", "this file"),
        (&format!("{MIRROR}/other_1.0.0_linux_amd64.zip"), ""),
        (&ZIP.replace("linux_amd64", "plan9_mips"), "this file"),
        (&format!("/v1/providers/acme/bare/1.0.0/{bare}"), ""),
        ("/v1/providers/-acme/demo/versions", ""),
        ("/nothing", "nothing is here"),
    ] {
        let reply = served.server.get(path).is(404).tells(says);
        let caching = reply.header("cache-control").unwrap();
        if let Some((_, age)) = caching.split_once("max-age=") {
            assert!(age.parse::<u64>().unwrap() <= 60, "{path}: {age}");
        }
    }
}

fn methods(served: &Served) {
    for method in ["POST", "PUT", "DELETE", "PATCH", "OPTIONS", "PROPFIND"] {
        for path in ["/", "/healthz", INDEX, ZIP, "/nothing"] {
            let reply = served.server.ask(method, path, &[]).is(405);
            assert_eq!(reply.header("allow"), Some("GET, HEAD"), "{method} {path}");
        }
    }
    for path in ["/healthz", "/readyz", "/metrics", "/"] {
        served.server.get(path).is(200);
        assert_eq!(served.server.ask("HEAD", path, &[]).is(200).body, b"");
    }
}

/// The `Host` header of a request never appears in an answer.
fn hosts(served: &Served) {
    let host = [("Host", "evil.example.net")];
    for path in [
        "/.well-known/terraform.json",
        INDEX,
        VERSION,
        VERSIONS,
        DOWNLOAD,
        "/",
        PAGE,
    ] {
        let reply = served.server.ask("GET", path, &host).is(200).omits("evil");
        for (name, value) in &reply.headers {
            assert!(!value.contains("evil"), "{path}: {name}: {value}");
        }
    }
}

/// A version with wrong evidence is served nowhere, and the log and the page give the reason.
fn hidden(served: &Served) {
    let Served { server, .. } = served;
    for path in [
        format!("{MIRROR}/{WRONG}.json"),
        format!("{MIRROR}/{}", package(DEMO, WRONG, "linux_amd64")),
        format!("{REGISTRY}/{WRONG}/download/linux/amd64"),
        format!("{REGISTRY}/{WRONG}/{}", document(DEMO, WRONG)),
    ] {
        let said = format!("{DEMO} {WRONG} is hidden: ");
        server.get(&path).is(404).tells(said);
    }
    let log = server.log();
    let lines = log.lines();
    let mut lines = lines.filter(|line| line.contains("Hidden") && line.contains(WRONG));
    let line = lines.next().unwrap();
    assert!(line.contains(&format!("{DEMO} {WRONG}: ")), "{line}");
    assert_eq!(lines.next(), None, "{log}");
    let page = server.get(PAGE).tells(format!("<h3>{WRONG}</h3>"));
    // The reason is the same in the log and on the page.
    let (_, reason) = line.split_once(&format!("{WRONG}: ")).unwrap();
    page.tells(reason.split('`').next().unwrap());
}

#[test]
fn both_spellings_of_a_host_are_answered_alike() {
    let store = Store::empty();
    store.push(IDN, "1.0.0", None);
    store.push("registry.acme.test:8443/acme/demo", "1.0.0", None);
    let server = store.serve("");
    let zip = package(IDN, "1.0.0", PLATFORMS[0]);
    for file in ["index.json", "1.0.0.json", &zip] {
        let ask = |host: &str| server.get(&format!("/mirror/{host}/acme/demo/{file}"));
        let get = |host: &str| ask(host).is(200).body;
        let in_punycode = get("xn--bcher-kva.example");
        assert_eq!(get("b%C3%BCcher.example"), in_punycode);
        assert_eq!(get("b%c3%bccher.example"), in_punycode);
        // Clients cannot request a host with a port, but other programs can.
        get("registry.acme.test:8443");
        get("registry.acme.test%3A8443");
        // The name of a directory in a layout is not an address.
        ask("registry.acme.test_8443").is(404);
    }
    assert!(fs::exists(store.scene.path("store/registry.acme.test_8443/acme/demo")).unwrap());
}

#[test]
fn the_url_decides_about_links_and_about_the_host_of_the_registry() {
    let store = Store::empty();
    store.push(DEMO, "1.0.0", None);
    store.push("localhost:8443/acme/demo", "1.0.0", None);
    let of_any = format!("https://any.test --registry-host {HOST}");
    let [acme, local] = ["https://registry.acme.test", "https://localhost:8443/tofu"];
    for (url, base, host) in [
        (acme, acme, "any.test"),
        (&format!("{acme}:443/"), acme, "any.test"),
        (&format!("{local}/"), local, "any.test"),
        (&of_any, "https://any.test", "any.test"),
        // Without both, the host is the one that the client requests, with its port.
        ("", "", "localhost:8443"),
        ("", "", HOST),
    ] {
        let option = if url.is_empty() { "" } else { "--url" };
        let server = store.serve(format!("{option} {url}"));
        let ask = |path: &str| server.ask("GET", path, &[("Host", host)]);
        let services = json!({ "providers.v1": format!("{base}/v1/providers/") });
        assert_eq!(ask("/.well-known/terraform.json").json(), services);
        let listed = &ask(VERSIONS).json()["versions"][0]["version"];
        assert_eq!(listed, "1.0.0", "{url:?}");
    }
    // The port is part of the host.
    let server = store.serve("--url https://localhost");
    server.get(VERSIONS).is(404);
    // A host that is none.
    let host = [("Host", "registry..test")];
    store.serve("").ask("GET", VERSIONS, &host).is(404);
}
