use std::collections::BTreeSet;
use std::time::{SystemTime, UNIX_EPOCH};

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use ring::hmac;
use rustix::process::Signal;
use serde_json::Value;
use url::Url;

use super::server::Server;
use super::stores::{BARE, DEMO, HOST, Store, document, package};
use crate::support::release::{Mistake, sha256};

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
    write_tokens(&store, &[("all", TOKEN, ""), ("team", DEMO_ONLY, DEMO)]);
    write_keys(&store, "signing.key", &[0]);
    store
}

fn write_tokens(store: &Store, tokens: &[(&str, &str, &str)]) {
    let lines = tokens.iter().map(|(name, token, patterns)| {
        format!("{name} sha256:{} {patterns}\n", sha256(token.as_bytes()))
    });
    let text: String = lines.collect();
    store
        .scene
        .write("tokens.new", format!("# clients\n\n{text}"));
    std::fs::rename(
        store.scene.path("tokens.new"),
        store.scene.path("tokens.txt"),
    )
    .unwrap();
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

/// The paths of the links in the documents of [`DEMO`] 1.0.0: packages, and the author's documents.
fn links(server: &Server) -> Vec<(String, String)> {
    let token = bearer(TOKEN);
    let zip = package(DEMO, "1.0.0", "linux_amd64");
    let sums = document(DEMO, "1.0.0");
    let mut links = Vec::new();
    for (path, members) in [
        (
            format!("/mirror/{DEMO}/1.0.0.json"),
            vec![("/archives/linux_amd64/url", zip.clone())],
        ),
        (
            "/v1/providers/acme/demo/1.0.0/download/linux/amd64".to_owned(),
            vec![
                ("/download_url", zip),
                ("/shasums_url", sums.clone()),
                ("/shasums_signature_url", format!("{sums}.sig")),
            ],
        ),
    ] {
        let reply = server.ask("GET", &path, &[("Authorization", &token)]);
        let said: Value = reply.json();
        // A document must not be cached for longer than its links are valid.
        let caching = reply.header("cache-control").unwrap();
        let age = caching.strip_prefix("private, max-age=").unwrap();
        assert!(age.parse::<u64>().unwrap() <= 60, "{caching}");
        let base = Url::parse("http://server.test")
            .unwrap()
            .join(&path)
            .unwrap();
        links.extend(members.into_iter().map(|(member, name)| {
            let link = said.pointer(member).unwrap().as_str().unwrap();
            assert!(!link.contains('?'), "{link}");
            (base.join(link).unwrap().path().to_owned(), name)
        }));
    }
    links
}

/// A link as the server makes it, computed from its keys.
fn link(path: &str, key: usize, expires: u64) -> String {
    // The path of a mirror names the host.
    let host = if path.starts_with("/v1/") { HOST } else { "" };
    let key_id = &sha256(&KEYS[key])[..8];
    let hmac = hmac::Key::new(hmac::HMAC_SHA256, &KEYS[key]);
    let mac = hmac::sign(&hmac, format!("read\n{host}\n{path}\n{expires}").as_bytes());
    format!(
        "/signed/{expires}.{key_id}.{}{path}",
        URL_SAFE_NO_PAD.encode(mac)
    )
}

fn now() -> u64 {
    SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap()
        .as_secs()
}

#[test]
fn without_a_token_nothing_is_revealed() {
    let store = store();
    let server = guarded(&store, "");
    let zip = format!("/mirror/{DEMO}/{}", package(DEMO, "1.0.0", "linux_amd64"));
    for path in "/healthz /readyz /metrics /.well-known/terraform.json /".split(' ') {
        let said = server.get(path).is(200).text();
        assert!(!said.contains("acme/demo"), "{path}: {said}");
    }
    let closed = [
        &format!("/mirror/{DEMO}/index.json"),
        &format!("/mirror/{DEMO}/1.0.0.json"),
        &zip,
        "/v1/providers/acme/demo/versions",
        "/v1/providers/acme/demo/1.0.0/download/linux/amd64",
        &format!("/v1/providers/acme/demo/1.0.0/{}", document(DEMO, "1.0.0")),
        &format!("/providers/{DEMO}"),
    ];
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
        let headers: Vec<_> = wrong
            .iter()
            .map(|text| ("Authorization", text.as_str()))
            .collect();
        for path in closed.iter().copied().chain(absent) {
            let reply = server.ask("GET", path, &headers).is(401);
            assert_eq!(reply.header("www-authenticate"), Some("Bearer"), "{path}");
            assert_eq!(reply.header("cache-control"), Some("no-store"), "{path}");
        }
    }
    let token = bearer(TOKEN);
    let with = |path: &str| server.ask("GET", path, &[("Authorization", &token)]);
    for path in closed {
        with(path).is(200);
    }
    for (path, status) in absent.iter().zip([404, 404, 404, 400]) {
        with(path).is(status);
    }
    let page = with("/").text();
    assert!(
        page.contains(DEMO) && page.contains("needs a token"),
        "{page}"
    );
    // The configuration for users. The host of the page is that of the provider registry here.
    let block = format!(
        "<pre tabindex=\"0\">credentials \"{HOST}\" {{\n  token = \"the token that you were given\"\n}}\n</pre>"
    );
    for page in [page, with(&format!("/providers/{DEMO}")).text()] {
        assert!(page.contains(&block) && !page.contains(TOKEN), "{page}");
    }
    let text = with(&format!("/providers/{DEMO}")).text();
    assert!(text.contains("only the token below"), "{text}");
    assert!(!text.contains("without any configuration"), "{text}");
    let text = with("/").text();
    assert!(text.contains("need only the token: <code>source"), "{text}");
    let text = server.get("/").text();
    assert!(!text.contains(DEMO), "{text}");
    let command = "curl -H \"Authorization: Bearer TOKEN\" https://";
    assert!(text.contains(command), "{text}");
    assert!(server.log().contains("(all)"), "{}", server.log());
}

#[test]
fn a_token_is_for_its_providers_only() {
    let store = store();
    let server = guarded(&store, "");
    let tokens = [bearer(DEMO_ONLY), bearer(TOKEN)];
    let ask = |token: &str, path: &str| server.ask("GET", path, &[("Authorization", token)]);
    for (path, status) in [
        (format!("/mirror/{DEMO}/index.json"), 200),
        ("/v1/providers/acme/demo/versions".to_owned(), 200),
        (format!("/providers/{DEMO}"), 200),
        (format!("/mirror/{BARE}/index.json"), 403),
        (format!("/mirror/{BARE}/1.0.0.json"), 403),
        (
            format!("/mirror/{BARE}/{}", package(BARE, "1.0.0", "linux_amd64")),
            403,
        ),
        ("/v1/providers/acme/bare/versions".to_owned(), 403),
        (
            "/v1/providers/acme/bare/1.0.0/download/linux/amd64".to_owned(),
            403,
        ),
        // The answer does not reveal whether it exists either.
        ("/v1/providers/acme/none/versions".to_owned(), 403),
        (format!("/providers/{BARE}"), 403),
    ] {
        ask(&tokens[0], &path).is(status);
        assert_ne!(ask(&tokens[1], &path).status, 403, "{path}");
    }
    let [limited, open] = tokens.each_ref().map(|token| ask(token, "/").text());
    assert!(
        limited.contains(DEMO) && !limited.contains(BARE),
        "{limited}"
    );
    assert!(open.contains(BARE), "{open}");
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
        assert!(
            caching.starts_with("private, ") || caching == "no-store",
            "{caching}"
        );
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
            let reply = server
                .ask("GET", path, &[("Authorization", foreign)])
                .is(200);
            assert!(reply.body == expected, "{path}");
        }
        server.ask("HEAD", path, &[]).is(200);
        // A proxy may encode more of the path.
        let (directory, file) = path.rsplit_once('/').unwrap();
        for escape in ["%5F", "%5f"] {
            let encoded = format!("{directory}/{}", file.replacen('_', escape, 1));
            server.get(&encoded).is(200);
        }
        if name.ends_with(".zip") {
            let part = server.ask("GET", path, &[("Range", "bytes=2-5")]).is(206);
            assert_eq!(part.body, expected[2..6]);
        }
        server.ask("POST", path, &[]).is(405);
        let (proof, file) = path
            .strip_prefix("/signed/")
            .unwrap()
            .split_once('/')
            .unwrap();
        let (expires, rest) = proof.split_once('.').unwrap();
        let expires: u64 = expires.parse().unwrap();
        assert!((now() + 800..=now() + 900).contains(&expires), "{expires}");
        let (key, mac) = rest.split_once('.').unwrap();
        let other = if mac.starts_with('A') { "B" } else { "A" };
        for altered in [
            format!("/signed/{}.{rest}/{file}", expires + 1),
            format!("/signed/{expires}.{key}.{other}{}/{file}", &mac[1..]),
            format!("/signed/{expires}.{key}.{}/{file}", &mac[1..]),
            format!("/signed/{expires}.00000000.{mac}/{file}"),
            format!("/signed/{expires}/{file}"),
            format!("/signed/x/{file}"),
            format!(
                "/signed/{proof}/{}",
                file.replace("linux_amd64", "windows_arm64")
            ) + "?",
            format!(
                "/signed/{proof}/{}",
                file.replace("SHA256SUMS", "SHA256SUMS.sig")
            ) + "?",
            format!("/signed/{proof}/mirror/{DEMO}/index.json"),
            format!("/signed/{proof}/mirror/{DEMO}/1.0.0.json"),
            format!("/signed/{proof}/nothing"),
        ] {
            let same = altered.strip_suffix('?').is_some_and(|bare| bare == path);
            let status = if same { 200 } else { 403 };
            server.get(&altered).is(status);
        }
    }
    // A link to a list is not valid, although the keys are right.
    let list = format!("/mirror/{DEMO}/index.json");
    server.get(&link(&list, 0, now() + 60)).is(403);
}

#[test]
fn a_link_is_valid_until_its_expiry() {
    let store = store();
    let server = guarded(&store, "");
    let path = format!("/mirror/{DEMO}/{}", package(DEMO, "1.0.0", "linux_amd64"));
    for (key, expires, status) in [
        (0, now() + 600, 200),
        // The clock of the replica that signed is behind, or far ahead.
        (0, now() - 10, 200),
        (0, now() + 900 + 3_600, 200),
        (0, now() - 120, 403),
        (0, 0, 403),
        (1, now() + 600, 403),
    ] {
        server.get(&link(&path, key, expires)).is(status);
    }
    // For another provider, although the file does not exist.
    server
        .get(&link(
            "/mirror/registry.acme.test/acme/none/terraform-provider-none_1.0.0_linux_amd64.zip",
            0,
            now() + 60,
        ))
        .is(404);
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
        servers
            .each_ref()
            .map(|server| server.get(&path).status == 200)
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
                crate::support::wait::wait(
                    || replica.log().matches(&reloaded).count() > reloads,
                    || replica.log(),
                );
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
    let path = format!("/mirror/{DEMO}/index.json");
    let ask = |token: &str| {
        server
            .ask("GET", &path, &[("Authorization", &bearer(token))])
            .status
    };
    let (old, _) = links(&server).remove(0);
    // A container platform replaces files without sending a signal.
    write_tokens(&store, &[("all", TOKEN, ""), ("other", "another", "")]);
    server.logs("Reloaded");
    assert_eq!([TOKEN, "another", DEMO_ONLY].map(ask), [200, 200, 401]);
    // An invalid file leaves the last valid content in use, and is reported once.
    store.scene.write("tokens.txt", "no tokens\n");
    server.signal(Signal::HUP);
    server.logs_words("Refused tokens.txt line 1 token");
    assert_eq!([TOKEN, "another"].map(ask), [200, 200]);
    // The file is again as it was. The end of the error is reported, too.
    let reloaded = |log: String| log.matches("Reloaded tokens.txt").count();
    let before = reloaded(server.log());
    write_tokens(&store, &[("all", TOKEN, ""), ("other", "another", "")]);
    server.signal(Signal::HUP);
    server.until("/healthz", |_| reloaded(server.log()) == before + 1);
    // Without tokens nobody is authorized, which may be a mistake.
    store.scene.write("tokens.txt", "# nobody\n");
    server.signal(Signal::HUP);
    server.logs_words("Warning tokens.txt no token");
    assert_eq!([TOKEN, "another"].map(ask), [401, 401]);
    write_tokens(&store, &[("all", TOKEN, "")]);
    write_keys(&store, "signing.key", &[1]);
    server.signal(Signal::HUP);
    server.until(&old, |reply| reply.status == 403);
    assert_eq!([TOKEN, "another"].map(ask), [200, 401]);
    let (new, _) = links(&server).remove(0);
    server.get(&new).is(200);
    assert_eq!(
        server.log().matches("stays in use").count(),
        1,
        "{}",
        server.log()
    );
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
            let header = ("Authorization", bearer(token));
            let header = [(header.0, header.1.as_str())];
            for path in ["/", "/metrics", "/nothing", &format!("/providers/{DEMO}")] {
                let reply = server.ask("GET", path, &header);
                for secret in [TOKEN, DEMO_ONLY, &sha256(TOKEN.as_bytes())] {
                    assert!(!reply.text().contains(secret), "{path}");
                }
            }
        }
        let log = server.stop();
        assert!(
            log.contains(&package(DEMO, "1.0.0", "linux_amd64")),
            "{log}"
        );
        for secret in [
            TOKEN,
            DEMO_ONLY,
            "wrong-but-secret",
            &sha256(TOKEN.as_bytes()),
        ] {
            assert!(!log.contains(secret), "{log}");
        }
        for key in KEYS {
            assert!(!log.contains(&STANDARD.encode(key)), "{log}");
        }
        for (path, _) in links {
            let proof = path.split('/').nth(2).unwrap();
            let mac = proof.rsplit('.').next().unwrap();
            assert!(!log.contains(mac), "{log}");
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
        let bare = format!("/mirror/{BARE}/index.json");
        let zip = format!("/mirror/{DEMO}/{}", package(DEMO, "1.0.0", "linux_amd64"));
        let cases = [
            (bare.clone(), None, "no-token"),
            (bare.clone(), Some("Basic YTpi".to_owned()), "no-token"),
            (
                bare.clone(),
                Some(bearer("hunter2-secret")),
                "unknown-token",
            ),
            (bare, Some(bearer(DEMO_ONLY)), "other-provider"),
            (link(&zip, 0, now() - 600), None, "invalid-link"),
        ];
        let said = cases.each_ref().map(|(path, token, _)| {
            let headers: Vec<_> = token
                .iter()
                .map(|text| ("Authorization", &**text))
                .collect();
            let text = server.ask("GET", path, &headers).text();
            text.lines().next().unwrap().to_owned()
        });
        assert_eq!(BTreeSet::from(said.clone()).len(), 4, "{said:?}");
        let log = server.stop();
        let lines: Vec<&str> = log
            .lines()
            .filter(|line| line.contains("/mirror/"))
            .collect();
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
    let path = "/v1/providers/acme/demo/1.0.0/download/linux/amd64";
    let ask = |path: &str, host: &str, token: Option<&str>| {
        let token = token.map(bearer).unwrap_or_default();
        let headers = [("Host", host), ("Authorization", token.as_str())];
        let count = if token.is_empty() { 1 } else { 2 };
        server.ask("GET", path, &headers[..count])
    };
    ask(path, "other.acme.test", Some(DEMO_ONLY)).is(403);
    let said: Value = ask(path, HOST, Some(DEMO_ONLY)).is(200).json();
    let link = said["download_url"].as_str().unwrap();
    let base = Url::parse("http://server.test")
        .unwrap()
        .join(path)
        .unwrap();
    let link = base.join(link).unwrap().path().to_owned();
    ask(&link, "other.acme.test", None).is(403);
    ask(&link, HOST, None).is(200);
    server.stop();
}
