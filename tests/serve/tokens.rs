use std::collections::BTreeSet;
use std::time::{SystemTime, UNIX_EPOCH};

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use ring::hmac;
use rustix::process::Signal;
use serde_json::Value;
use url::Url;

use super::http::Reply;
use super::server::Server;
use super::stores::{
    BARE, DEMO, DOWNLOAD, HOST, INDEX, PAGE, Store, VERSION, VERSIONS, ZIP, document, package,
};
use crate::support::release::{Mistake, sha256};
use crate::support::wait::wait;

/// A token for every provider, and one for a single provider.
const TOKEN: &str = "open-sesame";
const DEMO_ONLY: &str = "only-for-demo";
const KEYS: [[u8; 32]; 2] = [[1; 32], [2; 32]];
const ROUTE: &str = "--registry-host registry.acme.test";
const GUARD: &str = "--tokens tokens.txt --signing-key signing.key";

/// A store with two providers, and the files of tokens and keys.
fn store() -> Store {
    let store = Store::demo();
    store.push(BARE, "1.0.0", Some(Mistake::SignatureMissing));
    store.tokens(&[("all", TOKEN, ""), ("team", DEMO_ONLY, DEMO)]);
    write_keys(&store, "signing.key", &[0]);
    store
}

fn write_keys(store: &Store, name: &str, keys: &[usize]) {
    let keys = keys.iter().map(|at| STANDARD.encode(KEYS[*at]) + "\n");
    store.scene.write(name, keys.collect::<String>());
}

fn guarded(store: &Store, more: &str) -> Server {
    store.serve(format!("{ROUTE} {GUARD} {more}"))
}

fn bearer(token: &str) -> String {
    format!("Bearer {token}")
}

/// `GET` with a token.
#[track_caller]
fn ask(server: &Server, token: &str, path: &str) -> Reply {
    server.ask("GET", path, &[("Authorization", &bearer(token))])
}

/// The path that a link in a document leads to.
fn followed(document: &str, link: &Value) -> String {
    let (base, link) = (Url::parse("http://server.test"), link.as_str().unwrap());
    assert!(!link.contains('?'), "{link}");
    let url = base.unwrap().join(document).unwrap().join(link);
    url.unwrap().path().to_owned()
}

/// The paths of the links in the documents of [`DEMO`] 1.0.0: packages, and the author's documents.
fn links(server: &Server) -> Vec<(String, String)> {
    let zip = package(DEMO, "1.0.0", "linux_amd64");
    let sums = document(DEMO, "1.0.0");
    let link = |(path, member, name): (&str, &str, &str)| {
        let reply = ask(server, TOKEN, path);
        // A document must not be cached for longer than its links are valid.
        let caching = reply.header("cache-control").unwrap();
        let age = caching.strip_prefix("private, max-age=").unwrap();
        assert!(age.parse::<u64>().unwrap() <= 60, "{caching}");
        let said = reply.json();
        let link = followed(path, said.pointer(member).unwrap());
        (link, name.to_owned())
    };
    let links = [
        (VERSION, "/archives/linux_amd64/url", &*zip),
        (DOWNLOAD, "/download_url", &zip),
        (DOWNLOAD, "/shasums_url", &sums),
        (DOWNLOAD, "/shasums_signature_url", &format!("{sums}.sig")),
    ];
    links.map(link).into()
}

/// A link as the server makes it, computed from its keys.
fn link(path: &str, key: usize, expires: u64) -> String {
    // The path of a mirror names the host.
    let host = if path.starts_with("/v1/") { HOST } else { "" };
    let key_id = &sha256(&KEYS[key])[..8];
    let hmac = hmac::Key::new(hmac::HMAC_SHA256, &KEYS[key]);
    let mac = hmac::sign(&hmac, format!("read\n{host}\n{path}\n{expires}").as_bytes());
    let mac = URL_SAFE_NO_PAD.encode(mac);
    format!("/signed/{expires}.{key_id}.{mac}{path}")
}

fn now() -> u64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    now.unwrap().as_secs()
}

#[test]
fn without_a_token_nothing_is_revealed() {
    let store = store();
    let server = guarded(&store, "");
    for path in "/healthz /readyz /metrics /.well-known/terraform.json /".split(' ') {
        server.get(path).is(200).omits("acme/demo");
    }
    let sums = format!("/v1/providers/acme/demo/1.0.0/{}", document(DEMO, "1.0.0"));
    let closed = [INDEX, VERSION, ZIP, VERSIONS, DOWNLOAD, PAGE, &sums];
    // The answer does not reveal whether a provider exists.
    let absent = [
        "/mirror/registry.acme.test/acme/none/index.json",
        "/v1/providers/acme/none/versions",
        "/nothing",
        "/mirror/registry.acme.test//acme/none",
    ];
    let digest = sha256(TOKEN.as_bytes());
    for wrong in [
        None,
        Some(bearer("wrong")),
        Some(bearer("")),
        Some(bearer(&digest)),
        Some(bearer(&format!("sha256:{digest}"))),
        Some(format!("Basic {}", STANDARD.encode(format!("all:{TOKEN}")))),
        Some(TOKEN.to_owned()),
        Some(bearer(&"x".repeat(8_000))),
    ] {
        let headers = wrong.as_ref().map(|text| ("Authorization", &**text));
        let headers: Vec<_> = headers.into_iter().collect();
        for path in closed.iter().copied().chain(absent) {
            let reply = server.ask("GET", path, &headers).is(401);
            assert_eq!(reply.header("www-authenticate"), Some("Bearer"), "{path}");
            assert_eq!(reply.header("cache-control"), Some("no-store"), "{path}");
        }
    }
    let with = |path: &str| ask(&server, TOKEN, path);
    for path in closed {
        with(path).is(200);
    }
    for path in absent {
        with(path).is(404);
    }
    // The configuration for users. The host of the page is that of the provider registry here.
    let block = format!(
        "<pre tabindex=\"0\">credentials \"{HOST}\" {{\n  token = \"the token that you were given\"\n}}\n</pre>"
    );
    let [home, page] = ["/", PAGE].map(|path| with(path).tells(&block).omits(TOKEN));
    let home = home.tells(DEMO).tells("needs a token");
    home.tells("need only the token: <code>source");
    let page = page.tells("only the token below");
    page.omits("without any configuration");
    let command = "curl -H \"Authorization: Bearer TOKEN\" https://";
    server.get("/").omits(DEMO).tells(command);
    server.logs("(all)");
}

#[test]
fn a_token_is_for_its_providers_only() {
    let store = store();
    let server = guarded(&store, "");
    let may = |path: &str, status: u16| {
        ask(&server, DEMO_ONLY, path).is(status);
        assert_ne!(ask(&server, TOKEN, path).status, 403, "{path}");
    };
    for path in [INDEX, VERSIONS, PAGE] {
        may(path, 200);
    }
    for path in [INDEX, VERSION, ZIP, VERSIONS, DOWNLOAD, PAGE] {
        may(&path.replace("demo", "bare"), 403);
    }
    // The answer does not reveal whether it exists either.
    may(&VERSIONS.replace("demo", "none"), 403);
    ask(&server, DEMO_ONLY, "/").tells(DEMO).omits(BARE);
    ask(&server, TOKEN, "/").tells(BARE);
}

#[test]
fn a_link_is_valid_for_its_file_and_nothing_else() {
    let store = store();
    let server = guarded(&store, "");
    let links = links(&server);
    assert_eq!(links.len(), 4);
    for (path, name) in &links {
        let expected = store.file(DEMO, "1.0.0", name);
        let reply = server.get(path).is(200);
        assert!(reply.body == expected, "{path}");
        // For the lifetime of the link, and by the client only.
        let caching = reply.header("cache-control").unwrap();
        let is_private = caching.starts_with("private, ") || caching == "no-store";
        assert!(is_private, "{caching}");
        if let Some((_, age)) = caching.split_once("max-age=") {
            let age = age.split(',').next().unwrap();
            assert!(age.parse::<u64>().unwrap() <= 900, "{path}: {caching}");
        }
        // An `Authorization` header of another program does not matter.
        for foreign in [
            "Basic bmV0cmM6c2VjcmV0",
            "Bearer wrong",
            "Bearer only-for-demo",
        ] {
            let reply = server.ask("GET", path, &[("Authorization", foreign)]);
            assert!(reply.is(200).body == expected, "{path}");
        }
        server.ask("HEAD", path, &[]).is(200);
        // A proxy may encode more of the path.
        let (directory, file) = path.rsplit_once('/').unwrap();
        for escape in ["%5F", "%5f"] {
            let encoded = format!("{directory}/{}", file.replacen('_', escape, 1));
            server.get(&encoded).is(200);
        }
        server.ask("POST", path, &[]).is(405);
        let signed = path.strip_prefix("/signed/").unwrap();
        let (proof, file) = signed.split_once('/').unwrap();
        let (expires, rest) = proof.split_once('.').unwrap();
        let expires: u64 = expires.parse().unwrap();
        assert!((now() + 800..=now() + 900).contains(&expires), "{expires}");
        let (key, mac) = rest.split_once('.').unwrap();
        let other = if mac.starts_with('A') { "B" } else { "A" };
        let another = match name.ends_with(".zip") {
            true => file.replace("linux_amd64", "windows_arm64"),
            false => file.replace("SHA256SUMS", "SHA256SUMS.sig"),
        };
        for altered in [
            format!("{}.{rest}/{file}", expires + 1),
            format!("{expires}.{key}.{other}{}/{file}", &mac[1..]),
            format!("{expires}.{key}.{}/{file}", &mac[1..]),
            format!("{expires}.00000000.{mac}/{file}"),
            format!("{expires}/{file}"),
            format!("x/{file}"),
            format!("{proof}/{another}"),
            format!("{proof}{INDEX}"),
            format!("{proof}{VERSION}"),
            format!("{proof}/nothing"),
        ] {
            server.get(&format!("/signed/{altered}")).is(403);
        }
    }
    // A link to a list is not valid, although the keys are right.
    server.get(&link(INDEX, 0, now() + 60)).is(403);
}

#[test]
fn a_link_is_valid_until_its_expiry() {
    let store = store();
    let server = guarded(&store, "");
    for (key, expires, status) in [
        (0, now() + 600, 200),
        // The clock of the replica that signed is behind, or far ahead.
        (0, now() - 10, 200),
        (0, now() + 900 + 3_600, 200),
        (0, now() - 120, 403),
        (0, 0, 403),
        (1, now() + 600, 403),
    ] {
        server.get(&link(ZIP, key, expires)).is(status);
    }
    // For another provider, although the file does not exist.
    let none = ZIP.replace("demo", "none");
    server.get(&link(&none, 0, now() + 60)).is(404);
}

#[test]
fn replicas_share_keys_and_keys_are_replaced_one_after_the_other() {
    let store = store();
    for (name, keys) in [("old", &[0][..]), ("both", &[1, 0]), ("new", &[1])] {
        write_keys(&store, name, keys);
    }
    let with = |key: &str| store.serve(format!("{ROUTE} --tokens tokens.txt --signing-key {key}"));
    let servers = ["old", "old", "both", "new"].map(with);
    let opens = |made_by: usize| {
        let (path, _) = links(&servers[made_by]).remove(0);
        let opens = |server: &Server| server.get(&path).status == 200;
        servers.each_ref().map(opens)
    };
    assert_eq!(opens(0), [true, true, true, false]);
    assert_eq!(opens(2), [false, false, true, true]);
    assert_eq!(opens(3), [false, false, true, true]);
}

/// Two replicas whose keys are replaced one after the other, while clients hold links of both.
#[test]
fn a_key_is_replaced_without_a_refused_link() {
    let store = store();
    for name in ["first.key", "second.key"] {
        write_keys(&store, name, &[0]);
    }
    let replicas = ["first.key", "second.key"].map(|key| {
        let guard = format!("--tokens tokens.txt --signing-key {key}");
        store.serve(format!("{ROUTE} {guard}"))
    });
    let mut old = Vec::new();
    // Links of the new key are valid on every replica before it signs on any, and links of the old one until they have expired.
    for keys in [&[0][..], &[0, 1], &[1, 0]] {
        for (replica, name) in replicas.iter().zip(["first.key", "second.key"]) {
            let reloaded = format!("Reloaded {name}");
            let reloads = replica.log().matches(&reloaded).count();
            if keys != [0] {
                write_keys(&store, name, keys);
                replica.signal(Signal::HUP);
                let is_reloaded = || replica.log().matches(&reloaded).count() > reloads;
                wait(is_reloaded, || replica.log());
            }
            old.extend(replicas.iter().flat_map(links).map(|(path, _)| path));
            for replica in &replicas {
                for path in &old {
                    replica.get(path).is(200);
                }
            }
        }
    }
    let by_key = |key: usize| {
        let id = format!(".{}.", &sha256(&KEYS[key])[..8]);
        old.iter().filter(|path| path.contains(&id)).count()
    };
    assert!(by_key(0) > 0 && by_key(1) > 0, "{old:?}");
}

#[test]
fn files_are_read_again_when_they_change() {
    let store = store();
    let server = guarded(&store, "");
    let ask = |token: &str| ask(&server, token, INDEX).status;
    let (old, _) = links(&server).remove(0);
    // A container platform replaces files without sending a signal.
    store.tokens(&[("all", TOKEN, ""), ("other", "another", "")]);
    server.logs("Reloaded");
    assert_eq!([TOKEN, "another", DEMO_ONLY].map(ask), [200, 200, 401]);
    // An invalid file leaves the last valid content in use, and is reported once.
    store.scene.write("tokens.txt", "no tokens\n");
    server.signal(Signal::HUP);
    server.logs_words("Refused tokens.txt line 1 token");
    assert_eq!([TOKEN, "another"].map(ask), [200, 200]);
    let reloaded = |log: String| log.matches("Reloaded tokens.txt").count();
    let before = reloaded(server.log());
    // Without tokens nobody is authorized.
    store.scene.write("tokens.txt", "# nobody\n");
    server.signal(Signal::HUP);
    server.until("/healthz", |_| reloaded(server.log()) == before + 1);
    assert_eq!([TOKEN, "another"].map(ask), [401, 401]);
    store.tokens(&[("all", TOKEN, "")]);
    write_keys(&store, "signing.key", &[1]);
    server.signal(Signal::HUP);
    server.until(&old, |reply| reply.status == 403);
    assert_eq!([TOKEN, "another"].map(ask), [200, 401]);
    let (new, _) = links(&server).remove(0);
    server.get(&new).is(200);
    let log = server.log();
    assert_eq!(log.matches("stays in use").count(), 1, "{log}");
}

#[test]
fn no_secret_is_ever_printed() {
    let store = store();
    for more in ["-vv", "--format json -vv"] {
        let server = guarded(&store, more);
        let links = links(&server);
        for (path, _) in &links {
            server.get(path).is(200);
            server.get(&path.replace("linux", "other"));
            server.ask("POST", path, &[]).is(405);
        }
        for token in [TOKEN, DEMO_ONLY, "wrong-but-secret"] {
            for path in ["/", "/metrics", "/nothing", PAGE] {
                let reply = ask(&server, token, path).omits(TOKEN).omits(DEMO_ONLY);
                reply.omits(sha256(TOKEN.as_bytes()));
            }
        }
        let log = server.stop();
        assert!(log.contains("_1.0.0_linux_amd64.zip"), "{log}");
        let secrets = [TOKEN, DEMO_ONLY, "wrong-but-secret"].map(str::to_owned);
        let keys = KEYS.map(|key| STANDARD.encode(key));
        let macs = links.iter().map(|(path, _)| {
            let proof = path.split('/').nth(2).unwrap();
            proof.rsplit('.').next().unwrap().to_owned()
        });
        let secrets = secrets.into_iter().chain(keys).chain(macs);
        for secret in secrets.chain([sha256(TOKEN.as_bytes())]) {
            assert!(!log.contains(&secret), "{log}");
        }
    }
}

/// A user with a mistyped token must not look for a missing one.
#[test]
fn reasons_of_refusals_are_told_apart() {
    let store = store();
    for is_json in [false, true] {
        let more = if is_json { "--format json" } else { "" };
        let server = guarded(&store, more);
        let bare = INDEX.replace("demo", "bare");
        let expired = link(ZIP, 0, now() - 600);
        let cases = [
            (&bare, "", "no-token"),
            (&bare, "Basic YTpi", "no-token"),
            (&bare, "Bearer hunter2-secret", "unknown-token"),
            (&bare, &bearer(DEMO_ONLY), "other-provider"),
            (&expired, "", "invalid-link"),
        ];
        let said = cases.map(|(path, token, _)| {
            let header = ("Authorization", token);
            let count = usize::from(!token.is_empty());
            let text = server.ask("GET", path, &[header][..count]).text();
            text.lines().next().unwrap().to_owned()
        });
        assert_eq!(BTreeSet::from(said.clone()).len(), 4, "{said:?}");
        let log = server.stop();
        let lines = log.lines().filter(|line| line.contains("/mirror/"));
        let lines: Vec<&str> = lines.collect();
        assert_eq!(lines.len(), cases.len(), "{log}");
        for ((line, said), (_, _, code)) in lines.iter().zip(said).zip(cases) {
            let expected = match is_json {
                true => format!("\"denied\":\"{code}\""),
                false => format!(": {said}"),
            };
            assert!(line.contains(&expected), "{expected}\n{line}");
        }
        assert!(!log.contains("hunter2"), "{log}");
    }
}

/// Without `--registry-host`, the requested host is that of the providers. A link is valid for files of that host only.
#[test]
fn a_link_of_one_host_is_not_valid_for_another_one() {
    let other = "other.acme.test/acme/demo";
    let store = store();
    store.push(other, "1.0.0", None);
    let server = store.serve(GUARD);
    let hosts = ["other.acme.test", HOST].map(|host| ("Host", host));
    let token = bearer(DEMO_ONLY);
    let [refused, said] = hosts.map(|host| {
        let headers = [host, ("Authorization", &token)];
        server.ask("GET", DOWNLOAD, &headers)
    });
    refused.is(403);
    let link = followed(DOWNLOAD, &said.json()["download_url"]);
    let [refused, sent] = hosts.map(|host| server.ask("GET", &link, &[host]));
    refused.is(403);
    sent.is(200);
}
