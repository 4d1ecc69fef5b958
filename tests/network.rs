//! Connections to registries: certificates, proxies, limits.

use std::io::{BufRead as _, BufReader, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use crate::support::author::Author;
use crate::support::port;
use crate::support::registry::answer::Answer;
use crate::support::registry::{Door, Fault, Personality, Registry, Seen, Setup, matching};
use crate::support::scene::{Run, Scene};
use crate::support::tls::Authority;

const STORE: &str = "acme/demo";

/// Pushes the release of an author to a registry.
fn push(author: &Author, host: &str, more: impl AsRef<str>) -> Run {
    let store = format!("{host}/{STORE}");
    author.push_to(&store, format!("--exact-repository {}", more.as_ref()))
}

fn registry(authority: &Authority, clients: Option<&Authority>) -> Registry {
    Setup::of(Personality::Plain)
        .tls(authority.server().serve(clients))
        .start()
}

/// An author, and the certificate of the registry's authority in `ca.pem`.
fn author(scene: Scene, authority: &Authority) -> Author {
    authority.write(&scene, "ca.pem");
    let author = Author::within(scene);
    author.with_release_in_place();
    author
}

#[test]
fn a_client_certificate_is_sent_to_its_host_only() {
    let authority = Authority::new("tests");
    let registry = registry(&authority, Some(&authority));
    let author = author(Scene::new(), &authority);
    let identity = authority.client("robot");
    identity.write(&author.scene, "robot");
    let both = format!("{}{}", identity.certificate, identity.key);
    author.scene.write("both.pem", both);
    let host = registry.host();
    let with = |option: &str, file: &str| format!("--client-{option}={host}={file}");
    let ca = "--ca-file=ca.pem";

    push(&author, host, ca).exits(1);
    assert_eq!(registry.seen().len(), 0);
    push(&author, host, format!("{ca} {}", with("cert", "both.pem"))).succeeds();
    let (cert, key) = (with("cert", "robot.crt"), with("key", "robot.key"));
    let two = format!("{ca} {cert} {key}");
    push(&author, host, &two).succeeds();

    // Another port is another host, which requires a certificate too.
    let install = format!("install acme/demo --from {host}/{STORE}");
    let more = "--into into --exact-repository --platform all";
    registry.always(matching("GET", "/blobs/"), Fault::RedirectElsewhere);
    author.line(format!("{install} {more} {two}")).exits(1);
    assert_eq!(registry.count(|seen| seen.door == Door::Elsewhere), 0);
}

#[test]
fn no_request_is_sent_with_certificates_that_cannot_be_used() {
    let authority = Authority::new("tests");
    let registry = registry(&authority, Some(&authority));
    let author = author(Scene::new(), &authority);
    authority.client("robot").write(&author.scene, "robot");
    authority.client("other").write(&author.scene, "other");
    author.scene.write("empty.pem", "nothing");
    let pem = "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n";
    author.scene.write("broken.pem", pem);
    let host = registry.host();
    let unlike = "--client-cert=HOST=robot.crt --client-key=HOST=other.key --ca-file=ca.pem";
    for (options, exit) in [
        ("--client-cert=robot.crt", 2),
        ("--client-key=HOST=robot.key", 2),
        ("--client-cert=HOST=none.crt", 1),
        ("--client-cert=HOST=robot.crt --ca-file=ca.pem", 1),
        (unlike, 1),
        ("--ca-file=empty.pem", 1),
        ("--ca-file=broken.pem", 1),
        ("--ca-file=none.pem", 1),
    ] {
        let options = options.replace("HOST", host);
        push(&author, host, options).exits(exit).without_result();
    }
    assert_eq!(registry.seen().len(), 0);
}

#[test]
fn certificate_authorities_are_required_for_tls_only() {
    let scene = Scene::new()
        .env("SSL_CERT_FILE", "none.pem")
        .env("SSL_CERT_DIR", "none");
    let authority = Authority::new("tests");
    let author = author(scene, &authority);
    let registry = registry(&authority, None);
    push(&author, registry.host(), "").exits(1);
    assert_eq!(registry.seen().len(), 0);
    push(&author, registry.host(), "--ca-file=ca.pem").succeeds();
    let insecure = format!("--insecure-skip-tls-verify {}", registry.host());
    push(&author, registry.host(), insecure).succeeds();
    let plain = Registry::plain();
    let known = format!("--plain-http {}", plain.host());
    push(&author, plain.host(), known).succeeds();
}

/// A proxy that connects every host to the same address.
struct Proxy {
    host: String,
    heard: Arc<Mutex<Vec<String>>>,
}

impl Proxy {
    fn to(target: &str) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let host = format!("localhost:{}", listener.local_addr().unwrap().port());
        let heard = Arc::new(Mutex::new(Vec::new()));
        let (lines, target) = (Arc::clone(&heard), target.to_owned());
        std::thread::spawn(move || {
            for client in listener.incoming() {
                let (lines, target) = (Arc::clone(&lines), target.clone());
                std::thread::spawn(move || tunnel(client.unwrap(), &target, &lines));
            }
        });
        Self { host, heard }
    }

    fn heard(&self) -> Vec<String> {
        self.heard.lock().unwrap().clone()
    }
}

/// Accepts requests with the password.
fn tunnel(mut client: TcpStream, target: &str, heard: &Mutex<Vec<String>>) {
    let mut head = String::new();
    let mut lines = BufReader::new(client.try_clone().unwrap());
    while !head.ends_with("\r\n\r\n") {
        if lines.read_line(&mut head).unwrap_or_default() == 0 {
            return;
        }
    }
    let head = head.to_lowercase();
    let first = head.lines().next().unwrap_or_default().to_owned();
    heard.lock().unwrap().push(first);
    // `me:hunter2`
    if !head.contains("proxy-authorization: basic bwu6ahvudgvymg==") {
        let refusal = b"HTTP/1.1 407 Proxy Authentication Required\r\ncontent-length: 0\r\n\r\n";
        let _gone = client.write_all(refusal);
        return;
    }
    let server = TcpStream::connect(target).unwrap();
    client.write_all(b"HTTP/1.1 200 OK\r\n\r\n").unwrap();
    let (mut from, mut to) = (client.try_clone().unwrap(), server.try_clone().unwrap());
    std::thread::spawn(move || {
        let _ended = std::io::copy(&mut from, &mut to);
        let _gone = to.shutdown(std::net::Shutdown::Write);
    });
    let (mut from, mut to) = (server, client);
    let _ended = std::io::copy(&mut from, &mut to);
}

#[test]
fn proxies_of_the_environment_are_used_and_their_passwords_hidden() {
    let authority = Authority::new("tests");
    let registry = registry(&authority, None);
    let proxy = Proxy::to(registry.host());
    let port = registry.host().rsplit_once(':').unwrap().1;
    let host = format!("localhost:{port}");
    for (name, password, works) in [
        ("HTTPS_PROXY", "hunter2", true),
        ("https_proxy", "hunter2", true),
        ("HTTPS_PROXY", "hunter3", false),
    ] {
        let url = format!("http://me:{password}@{}", proxy.host);
        let author = author(Scene::new().env(name, &url), &authority);
        let exit = if works { 0 } else { 1 };
        let run = push(&author, &host, "--ca-file=ca.pem -vv --format=json").exits(exit);
        run.hides("hunter").hides("bWU6aHVudGVy");
    }
    let wanted = format!("connect {host} http/1.1");
    assert!(proxy.heard().contains(&wanted), "{:?}", proxy.heard());

    let heard = proxy.heard().len();
    let url = format!("http://me:hunter2@{}", proxy.host);
    let scene = Scene::new().env("HTTPS_PROXY", &url);
    let scene = scene.env("NO_PROXY", "localhost");
    push(&author(scene, &authority), &host, "--ca-file=ca.pem").succeeds();
    assert_eq!(proxy.heard().len(), heard);
}

#[test]
fn redirects_to_other_hosts_use_the_proxy_and_never_private_addresses() {
    let authority = Authority::new("tests");
    let registry = registry(&authority, None);
    let proxy = Proxy::to(registry.host());
    let scene = Scene::new().env("HTTPS_PROXY", &format!("http://me:hunter2@{}", proxy.host));
    let author = author(scene, &authority);
    // Only the proxy resolves these names, so the registry is not a private host and private hosts are refused.
    let trust = "--insecure-skip-tls-verify=mirror.invalid --insecure-skip-tls-verify=storage.invalid --insecure-skip-tls-verify=localhost --insecure-skip-tls-verify=127.0.0.1";
    push(&author, "mirror.invalid", trust).succeeds();
    let install = |to: &str| {
        let into = format!("--into={to}").replace([':', '/'], "_");
        let place = |seen: &Seen| {
            let host = seen.header("host").unwrap_or_default();
            seen.method == "GET" && seen.path.contains("/blobs/") && host == "mirror.invalid"
        };
        let leads = Answer::new(307).header("location", to);
        registry.fault(1, place, Fault::although_done(leads));
        let from = "install acme/demo --from mirror.invalid/acme/demo";
        let more = format!("--exact-repository --platform=all {into}");
        author.line(format!("{from} {more} {trust}"))
    };
    let evidence = registry.repository(STORE, |repository| {
        let mut blobs = repository.blobs.iter();
        let key = blobs.find(|(_, bytes)| bytes.starts_with(b"-----BEGIN PGP"));
        key.unwrap().0.clone()
    });
    let path = format!("/v2/{STORE}/blobs/{evidence}");
    // Only the request counts: the host has no answer for it.
    install(&format!("https://storage.invalid{path}"));
    let asked = "connect storage.invalid:443 http/1.1".to_owned();
    assert!(proxy.heard().contains(&asked), "{:?}", proxy.heard());
    let (name, _) = proxy.host.split_once(':').unwrap();
    for private in ["127.0.0.1:8443", "[::1]:8443", &format!("{name}:8443")] {
        install(&format!("https://{private}{path}")).exits(1);
        assert!(!proxy.heard().iter().any(|line| line.contains(private)));
    }
}

#[test]
fn the_timeout_is_set_by_variable_and_option() {
    let registry = Registry::plain();
    registry.always(|_| true, Fault::Stall);
    let scene = Scene::new().env("TFOCI_TIMEOUT", "1");
    let author = author(scene, &Authority::new("tests"));
    author.line("logout example.com --timeout 0").exits(2);
    let host = registry.host();
    registry.fault(6, |_| true, Fault::denied());
    let begun = Instant::now();
    push(&author, host, format!("--plain-http {host}")).exits(1);
    assert!(begun.elapsed() < Duration::from_secs(30));
}

/// A host without an address, a port without a server, and a server that never answers.
#[test]
fn a_failed_connection_is_tried_three_times_and_not_waited_for() {
    // Connections wait in the queue of the socket, and no process accepts them.
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let silent = listener.local_addr().unwrap().to_string();
    let absent = format!("127.0.0.1:{}", port::unused());
    for (host, longest) in [("registry.invalid", 6), (&absent, 6), (&silent, 9)] {
        let begun = Instant::now();
        let from = format!("{host}/acme/demo");
        let run = Scene::new().line(format!("versions acme/demo -v --timeout=1 --from {from}"));
        assert!(begun.elapsed() < Duration::from_secs(longest), "{host}");
        // `-v` has a line for each further attempt.
        let attempts = run.exits(1).stderr.matches("/tags/list").count();
        assert_eq!(attempts, 3, "{host}");
    }
}
