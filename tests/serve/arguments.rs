//! Mistakes in the command line: each is reported before the server listens.

use crate::support::scene::Scene;

/// A scene with an empty layout and a certificate file without a certificate.
fn scene() -> Scene {
    let scene = Scene::new();
    scene.write("store/.keep", b"");
    scene.write("nothing.pem", b"no certificate");
    let certified = || rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
    scene.write("one.pem", certified().cert.pem());
    scene.write("other.key", certified().signing_key.serialize_pem());
    let line = format!("ci sha256:{}", "0".repeat(64));
    scene.write("pattern.txt", format!("{line} a/b/c/d"));
    scene.write("host.txt", format!("{line} hashicorp/*"));
    scene.write("one.txt", format!("{line}\n"));
    scene.write("many.txt", format!("{line}\n").repeat(10_001));
    scene.write("tokens.txt", b"ci secret\n");
    scene.write("signing.key", b"c2hvcnQ=\n");
    scene.write("hex.key", "0f".repeat(32));
    scene
}

/// The words after `serve`, the exit code, and what the message names. `PLAIN` and `FROM` stand for options that are right.
const MISTAKES: [(&str, i32, &str); 44] = [
    ("FROM", 2, "--tls-cert"),
    ("FROM --plain-http localhost:5444", 2, "--plain-http"),
    // Both at once.
    (
        "--from oci-layout:nowhere --plain-http h.example PLAIN",
        1,
        "nowhere",
    ),
    (
        "FROM --tls-cert a --tls-key b --url http://providers.example.com",
        2,
        "--url",
    ),
    (
        "FROM --plain-http --listen localhost:9443",
        2,
        "--listen <IP:PORT>",
    ),
    (
        "--from oci-layout:nowhere --url http://a.example PLAIN",
        1,
        "http://a.example/",
    ),
    ("FROM --tls-cert a --tls-key b PLAIN", 2, "--plain-http"),
    (
        "FROM --tls-cert nothing.pem --tls-key nothing.pem",
        1,
        "nothing.pem",
    ),
    (
        "FROM --fill --include */*/* --exclude acme/demo@1.0.0,2.0.0 PLAIN",
        2,
        "acme/demo@1.0.0",
    ),
    (
        "FROM --fill --include */*/* --exclude acme/demo@ PLAIN",
        2,
        "acme/demo@",
    ),
    ("FROM --fill --include hashicorp/* PLAIN", 2, "hashicorp/*"),
    (
        "FROM --fill --include */*/* --exclude hashicorp/*@1.0.0 PLAIN",
        2,
        "hashicorp/*",
    ),
    ("FROM --fill PLAIN", 2, "--include <PATTERN>"),
    ("FROM --include */*/* PLAIN", 2, "--fill"),
    ("FROM --allow-unsigned hashicorp/* PLAIN", 2, "hashicorp/*"),
    ("FROM --require-pinned PLAIN", 2, "--trust"),
    (
        "--from registry.test/tofu/${namespace}/${type} PLAIN",
        2,
        "--registry-host",
    ),
    ("FROM --exact-repository PLAIN", 2, "--exact-repository"),
    ("--from registry.test/tofu PLAIN", 2, "registry.test/tofu"),
    (
        "--from registry.test/tofu/${namespace} PLAIN",
        2,
        "registry.test/tofu/${namespace}",
    ),
    ("FROM --tokens tokens.txt PLAIN", 1, "tokens.txt"),
    ("FROM --tokens host.txt PLAIN", 1, "hashicorp/*"),
    ("FROM --tokens pattern.txt PLAIN", 1, "line 1"),
    ("FROM --tokens many.txt PLAIN", 1, "10000"),
    ("FROM --tokens none.txt PLAIN", 1, "--tokens"),
    (
        "FROM --tokens one.txt --signing-key none.key PLAIN",
        1,
        "--signing-key",
    ),
    (
        "FROM --tokens one.txt --signing-key signing.key PLAIN",
        1,
        "32 bytes",
    ),
    (
        "FROM --tokens one.txt --signing-key hex.key PLAIN",
        1,
        "hex.key",
    ),
    (
        "FROM --tokens one.txt --signing-key /dev/null PLAIN",
        1,
        "/dev/null",
    ),
    ("FROM --tls-cert one.pem --tls-key one.pem", 1, "one.pem"),
    (
        "FROM --tls-cert one.pem --tls-key other.key",
        1,
        "other.key",
    ),
    ("FROM --tls-cert one.pem --tls-key none.key", 1, "--tls-key"),
    // They are swapped.
    (
        "FROM --tls-cert other.key --tls-key one.pem",
        1,
        "other.key",
    ),
    ("--from oci-layout:nowhere PLAIN", 1, "nowhere"),
    ("FROM --plain-http --listen 192.0.2.1:1", 1, "192.0.2.1:1"),
    ("FROM --url providers.example.com PLAIN", 2, "https://HOST"),
    ("FROM --url https://localhost/mirror/ PLAIN", 2, "/mirror"),
    ("FROM --tokens one.txt --url-lifetime 1", 2, "30 to 86400"),
    ("FROM --max-age 86401", 2, "0 to 86400"),
    ("FROM --max-stale 1h", 2, "0 to 2592000"),
    ("FROM --grace 1.5", 2, "0 to 86400"),
    ("FROM --max-connections 0", 2, "1 to 1000000"),
    ("FROM --max-rate 5000000000", 2, "0 to 1000000"),
    (
        "FROM --fill --include */*/* --fill-max-size 0",
        2,
        "1 to 8589934592",
    ),
];

#[test]
fn mistakes_are_told_before_it_listens() {
    let scene = scene();
    for (words, code, named) in MISTAKES {
        let words = words.replace("FROM", "--from oci-layout:store");
        let words = words.replace("PLAIN", "--plain-http --listen 127.0.0.1:0");
        let run = scene.tfoci(["serve"].into_iter().chain(words.split(' ')));
        let run = run.exits(code);
        assert!(run.stderr.contains(named), "{words}: {}", run.stderr);
        assert_eq!(run.stdout, "", "{words}");
    }
}

/// A server that cannot start prints only the reason.
#[test]
fn a_port_that_is_taken_is_named() {
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    let serve = ["serve", "--from", "oci-layout:store", "--plain-http"];
    let listen = ["--listen", &address, "--tokens", "one.txt"];
    let run = scene().tfoci(serve.iter().chain(&listen)).exits(1);
    assert!(run.stderr.starts_with("error: "), "{}", run.stderr);
    assert!(run.stderr.contains(&address), "{}", run.stderr);
}

#[test]
fn the_page_about_deployment_names_options_that_exist() {
    let scene = Scene::new();
    let page = scene.tfoci(["help", "deployment"]).succeeds().stdout;
    let own = scene.tfoci(["serve", "--help"]).succeeds().stdout;
    let of_all = scene.tfoci(["help", "options"]).succeeds().stdout;
    let of_lock = scene.tfoci(["lock", "--help"]).succeeds().stdout;
    let help = own + &of_all + &of_lock;
    let is_of_option = |one: char| one.is_ascii_lowercase() || one == '-';
    let options: std::collections::BTreeSet<&str> = page
        .match_indices(" --")
        .map(|(at, _)| &page[at + 1..])
        .map(|rest| rest.split(|one| !is_of_option(one)).next().unwrap())
        .filter(|option| option.len() > 3)
        .collect();
    assert!(options.len() > 10, "{options:?}");
    for option in options {
        let mut places = help.match_indices(option);
        let is_known = places.any(|(at, _)| {
            let next = help[at + option.len()..].chars().next();
            next.is_some_and(|next| !is_of_option(next))
        });
        assert!(is_known, "{option}");
    }
}
