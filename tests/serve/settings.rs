use super::stores::{HOST, Store};
use crate::support::docker_registry::Program;
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
    let server = super::server::Server::plain(&store.scene, &[&from[..], &plain].concat());
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

#[test]
fn a_certificate_is_read_again_when_its_files_change() {
    let store = Store::demo();
    let server = store.serve_tls(&[]);
    server.get("/healthz").is(200);
    Authority::shared().server().write(&store.scene, "server");
    server.signal(rustix::process::Signal::HUP);
    server.logs("Reloaded");
    server.get("/healthz").is(200);
    store.scene.write("server.crt", "nonsense");
    server.signal(rustix::process::Signal::HUP);
    server.logs("stays in use as it was: the file has no certificate in PEM");
    server.get("/healthz").is(200);
}
