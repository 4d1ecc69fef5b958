use std::path::PathBuf;

use rustix::process::Signal;
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject as _;

use super::http::certificate;
use super::server::Server;
use super::stores::{DEMO, HOST, Store, package};
use crate::support::docker_registry::Program;
use crate::support::registry::access::Tokens;
use crate::support::registry::quirks::Personality;
use crate::support::registry::{Access, Registry};
use crate::support::signer::Signer;
use crate::support::tls::Authority;

#[test]
fn a_store_without_host_names_has_one_host() {
    let store = Store::demo();
    let Some(registry) = Program::DockerRegistry.start(&Default::default()) else {
        return;
    };
    let to = format!("{}/tofu/${{namespace}}/${{type}}", registry.host());
    let plain = ["--plain-http", "127.0.0.1"];
    let copy = ["copy", "--from", "oci-layout:store", "--to", &to, "-q"];
    store.scene.tfoci(copy.into_iter().chain(plain)).succeeds();
    let from = ["--from", &to, "--registry-host", HOST];
    let server = Server::plain(&store.scene, &[&from[..], &plain].concat());
    server
        .get("/mirror/registry.acme.test/acme/demo/index.json")
        .json();
    server.get("/v1/providers/acme/demo/versions").json();
    server
        .get("/mirror/other.example/acme/demo/index.json")
        .is(404);
    server
        .get("/mirror/registry.opentofu.org/acme/demo/index.json")
        .is(404);
}

/// Replaces the certificate of a server, and returns the new one.
fn replace(store: &Store) -> CertificateDer<'static> {
    let identity = Authority::shared().server();
    identity.write(&store.scene, "server");
    CertificateDer::from_pem_slice(identity.certificate.as_bytes()).unwrap()
}

#[test]
fn a_certificate_is_read_again_after_a_signal() {
    let store = Store::demo();
    let server = store.serve_tls(&[]);
    let first = certificate(server.address);
    let second = replace(&store);
    assert!(first != second);
    server.signal(Signal::HUP);
    server.logs("Reloaded");
    assert!(certificate(server.address) == second);
    store.scene.write("server.crt", "nonsense");
    server.signal(Signal::HUP);
    server.logs_words("Refused PEM");
    assert!(certificate(server.address) == second);
}

/// Why a file cannot be read again is in the log, and a pipe in its place does not keep the server waiting.
#[cfg(unix)]
#[test]
fn a_file_that_cannot_be_read_again_is_named_with_the_reason() {
    let store = Store::demo();
    let server = store.serve_tls(&[]);
    let path = store.scene.path("server.crt");
    std::fs::remove_file(&path).unwrap();
    server.signal(Signal::HUP);
    let name = path.display();
    server.logs_words(&format!("Refused {name} {name} No such file"));
    let made = store.scene.command("mkfifo").arg(&path).status();
    assert!(made.unwrap().success());
    // A program that opened the pipe and writes nothing.
    let mut writer = std::fs::OpenOptions::new();
    let _writer = writer.read(true).write(true).open(&path).unwrap();
    server.signal(Signal::HUP);
    server.logs_words(&format!("Refused {name} {name} pipe"));
    server.stop();
}

pub fn a_certificate_is_read_again_when_its_files_change() {
    let store = Store::demo();
    let server = store.serve_tls(&[]);
    let second = replace(&store);
    server.logs("Reloaded");
    assert!(certificate(server.address) == second);
}

/// Passwords of cloud registries are valid for some hours, and their programs write new ones into the file.
pub fn the_registry_accepts_what_replaced_its_password() {
    let tokens = |user| match Access::of(Personality::Harbor) {
        // Every request needs a new one, and so the password.
        Access::Bearer(tokens) => Access::Bearer(Tokens {
            user,
            expires_in: Some(1),
            ..tokens
        }),
        other => other,
    };
    let passwords: fn(&'static str) -> Access = |user| Access::Basic { user };
    for access in [passwords, tokens] {
        let registry = Registry::plain();
        let store = Store::at(registry.host());
        store.push(DEMO, "1.0.0", None);
        let requires = |user| {
            registry.require(access(user));
            store.scene.write("auth.json", registry.authfile());
        };
        requires("robot");
        let server = store.serve(&["--authfile", "auth.json", "--max-age", "1"]);
        let zip = format!("/mirror/{DEMO}/{}", package(DEMO, "1.0.0", "linux_amd64"));
        server.get(&zip).is(200);
        requires("successor");
        server.until(&zip, |reply| reply.status == 200);
        server.stop();
    }
}

/// A pipe with this content for the first program that reads it, as `<(cat FILE)` is.
#[cfg(unix)]
fn pipe(store: &Store, name: &str, content: String) -> PathBuf {
    let path = store.scene.path(name);
    let made = store.scene.command("mkfifo").arg(&path).status();
    assert!(made.unwrap().success());
    let to = path.clone();
    std::thread::spawn(move || std::fs::write(to, content));
    path
}

/// What is not read again is in the log at the start, and each time that an operator asks for it.
#[cfg(unix)]
fn is_kept(server: &Server, line: &str) {
    server.logs(line);
    server.signal(Signal::HUP);
    server.logs("Reloaded nothing");
    assert_eq!(server.log().matches(line).count(), 2, "{}", server.log());
}

#[cfg(unix)]
#[test]
fn a_certificate_whose_key_is_a_pipe_is_kept_and_the_log_says_so() {
    let store = Store::demo();
    let identity = Authority::shared().server();
    let (certificate_file, key_file) = identity.write(&store.scene, "server");
    let key = pipe(
        &store,
        "key.pipe",
        std::fs::read_to_string(key_file).unwrap(),
    );
    let from = ["--from", "oci-layout:store"];
    let server = Server::with_files(&store.scene, &certificate_file, &key, &from);
    let first = certificate(server.address);
    std::fs::write(&certificate_file, "nonsense").unwrap();
    let (path, key) = (certificate_file.display(), key.display());
    is_kept(
        &server,
        &format!("Keeping {path} until a restart: {key} is"),
    );
    assert!(certificate(server.address) == first);
    server.stop();
}

/// The options name files that can be read only once.
#[cfg(unix)]
#[test]
fn trust_and_keys_may_be_pipes() {
    let store = Store::demo();
    let acme = Signer::acme();
    let trust = format!(
        "[[provider]]\nmatch = \"{DEMO}\"\nkeys = [\"{}\"]\n",
        acme.fingerprint()
    );
    store.scene.write("trust.toml", &trust);
    for is_trust in [true, false] {
        let content = match is_trust {
            true => trust.clone(),
            false => acme.public_armored(),
        };
        let pipe = pipe(&store, &format!("{is_trust}.pipe"), content);
        let name = pipe.to_str().unwrap();
        let (arguments, line) = match is_trust {
            true => (
                vec!["--trust", name],
                format!("Keeping {name} until a restart: {name} is"),
            ),
            false => (
                vec!["--trust", "trust.toml", "--key", name],
                format!("Keeping trust.toml until a restart: {name} is"),
            ),
        };
        let server = store.serve(&[&arguments[..], &["--require-pinned"]].concat());
        let page = server.get(&format!("/providers/{DEMO}")).is(200).text();
        assert!(page.contains("(pinned)"), "{page}");
        is_kept(&server, &line);
        server.stop();
    }
}
