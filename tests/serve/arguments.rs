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

/// A line for each mistake: the exit code, the words after `serve`, and what the message names. `PLAIN` and `FROM` stand for options that are
/// right.
const MISTAKES: &str = "
2 FROM => --tls-cert
2 FROM --plain-http localhost:5444 => --plain-http
1 --from oci-layout:nowhere --plain-http h.example PLAIN => nowhere
2 FROM --plain-http --listen localhost:9443 => --listen <IP:PORT>
1 --from oci-layout:nowhere --url http://a.example PLAIN => http://a.example/
2 FROM --tls-cert a --tls-key b PLAIN => --plain-http
1 FROM --tls-cert nothing.pem --tls-key nothing.pem => nothing.pem
2 FROM --fill --include */*/* --exclude acme/demo@1.0.0,2.0.0 PLAIN => acme/demo@1.0.0
2 FROM --fill --include */*/* --exclude acme/demo@ PLAIN => acme/demo@
2 FROM --fill PLAIN => --include <PATTERN>
2 FROM --include */*/* PLAIN => --fill
2 FROM --require-pinned PLAIN => --trust
2 --from registry.test/tofu/${namespace}/${type} PLAIN => --registry-host
2 FROM --exact-repository PLAIN => --exact-repository
2 --from registry.test/tofu PLAIN => registry.test/tofu
2 --from registry.test/tofu/${namespace} PLAIN => registry.test/tofu/${namespace}
1 FROM --tokens tokens.txt PLAIN => tokens.txt
1 FROM --tokens host.txt PLAIN => hashicorp/*
1 FROM --tokens pattern.txt PLAIN => line 1
1 FROM --tokens many.txt PLAIN => 10000
1 FROM --tokens none.txt PLAIN => none.txt
1 FROM --tokens one.txt --signing-key none.key PLAIN => none.key
1 FROM --tokens one.txt --signing-key signing.key PLAIN => 32 bytes
1 FROM --tokens one.txt --signing-key hex.key PLAIN => hex.key
1 FROM --tokens one.txt --signing-key /dev/null PLAIN => /dev/null
1 FROM --tls-cert one.pem --tls-key one.pem => one.pem
1 FROM --tls-cert one.pem --tls-key other.key => other.key
1 FROM --tls-cert one.pem --tls-key none.key => none.key
1 FROM --tls-cert other.key --tls-key one.pem => other.key
1 --from oci-layout:nowhere PLAIN => nowhere
1 FROM --plain-http --listen 192.0.2.1:1 => 192.0.2.1:1
2 FROM --url providers.example.com PLAIN => https://HOST
2 FROM --url https://localhost/mirror/ PLAIN => /mirror
2 FROM --tokens one.txt --url-lifetime 1 => 30..=86400
2 FROM --max-age 86401 => 0..=86400
2 FROM --max-stale 1h => invalid digit
2 FROM --grace 1.5 => invalid digit
2 FROM --max-connections 0 => 1..=1000000
2 FROM --max-rate 5000000000 => 0..=1000000
2 FROM --fill --include */*/* --fill-max-size 0 => 1..=8589934591
";

#[test]
fn mistakes_are_told_before_it_listens() {
    let scene = scene();
    for line in MISTAKES.trim().lines() {
        let (words, named) = line.split_once(" => ").unwrap();
        let (code, words) = words.split_once(' ').unwrap();
        let words = words.replace("FROM", "--from oci-layout:store");
        let words = words.replace("PLAIN", "--plain-http --listen 127.0.0.1:0");
        let run = scene.line(format!("serve {words}"));
        let run = run.exits(code.parse().unwrap());
        assert!(run.stderr.contains(named), "{words}: {}", run.stderr);
        assert_eq!(run.stdout, "", "{words}");
    }
}

/// A server that cannot start prints only the reason.
#[test]
fn a_port_that_is_taken_is_named() {
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    let serve = "serve --from oci-layout:store --plain-http";
    let listen = format!("--listen {address} --tokens one.txt");
    let run = scene().line(format!("{serve} {listen}")).exits(1);
    assert!(run.stderr.starts_with("error: "), "{}", run.stderr);
    run.tells(&address);
}
