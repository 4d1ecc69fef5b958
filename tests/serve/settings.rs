use rustix::process::Signal;
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject as _;

use super::http::certificate;
use super::server::Server;
use super::stores::{HOST, INDEX, Store, VERSIONS, ZIP};
use crate::support::docker_registry::Program;
use crate::support::registry::Access;
use crate::support::registry::access::Tokens;
use crate::support::registry::quirks::Personality;
use crate::support::tls::Authority;

#[test]
fn a_store_without_host_names_has_one_host() {
    let store = Store::demo();
    let Some(registry) = Program::DockerRegistry.start(&Default::default()) else {
        return;
    };
    let to = format!("{}/tofu/${{namespace}}/${{type}}", registry.host());
    let plain = "--plain-http 127.0.0.1";
    let copy = format!("copy --from oci-layout:store --to {to} -q");
    store.scene.line(format!("{copy} {plain}")).succeeds();
    let from = format!("--from {to} --registry-host {HOST}");
    let server = Server::plain(&store.scene, format!("{from} {plain}"));
    server.get(INDEX).json();
    server.get(VERSIONS).json();
    for other in ["other.example", "registry.opentofu.org"] {
        server.get(&INDEX.replace(HOST, other)).is(404);
    }
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
    let server = store.serve_tls("");
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
    // Why a file cannot be read is in the log, and a pipe in its place does not keep the server waiting.
    let path = store.scene.path("server.crt");
    std::fs::remove_file(&path).unwrap();
    server.signal(Signal::HUP);
    let name = path.display();
    server.logs_words(&format!("Refused {name} {name} No such file"));
    store.scene.run("mkfifo", [&path]).succeeds();
    // A program that opened the pipe and writes nothing.
    let mut writer = std::fs::OpenOptions::new();
    let _writer = writer.read(true).write(true).open(&path).unwrap();
    server.signal(Signal::HUP);
    server.logs_words(&format!("Refused {name} {name} is not a regular file"));
    assert!(certificate(server.address) == second);
}

pub fn a_certificate_is_read_again_when_its_files_change() {
    let store = Store::demo();
    let server = store.serve_tls("");
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
        let (registry, store) = Store::demo_in_registry();
        let requires = |user| {
            registry.require(access(user));
            store.scene.write("auth.json", registry.authfile());
        };
        requires("robot");
        let server = store.serve("--authfile auth.json --max-age 1");
        server.get(ZIP).is(200);
        requires("successor");
        server.until(ZIP, |reply| reply.status == 200);
    }
}
