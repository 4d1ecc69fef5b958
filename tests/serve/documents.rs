use std::fs;

use super::server::Server;
use super::stores::{BARE, DEMO, Store};
use crate::support::release::Mistake;
use crate::support::scene::Run;
use crate::support::signer::Signer;
use crate::support::tls::Authority;

const TOKEN: &str = "open-sesame";

/// A store with a signed provider and one without a signature, behind a server that wants a token.
struct Mirror {
    store: Store,
    server: Server,
    from: String,
}

impl Mirror {
    fn start() -> Self {
        let mut store = Store::demo();
        store.push(BARE, "1.0.0", Some(Mistake::SignatureMissing));
        Authority::shared().write(&store.scene, "ca.pem");
        store.tokens(&[("all", TOKEN, "")]);
        let options = format!("--tokens tokens.txt --allow-unsigned {BARE}");
        let server = store.serve_tls(&options);
        let host = format!("localhost:{}", server.address.port());
        let client = format!("credentials \"{host}\" {{ token = \"{TOKEN}\" }}\n");
        let client = store.scene.write("client.tfrc", client);
        store.scene = (store.scene).env("TF_CLI_CONFIG_FILE", client.to_str().unwrap());
        store.pin("*/*/*", &Signer::acme().fingerprint());
        Self {
            store,
            server,
            from: format!("network-mirror:https://{host}/mirror/"),
        }
    }

    /// Runs `tfoci`; `[MIRROR]` stands for the mirror.
    fn tfoci(&self, arguments: &str) -> Run {
        let arguments = format!("{arguments} --ca-file ca.pem");
        let arguments = arguments.replace("[MIRROR]", &self.from);
        self.store.scene.line(arguments)
    }
}

const PINNED: &str = "--trust trust.toml --require-pinned";

#[test]
fn a_lock_file_by_the_mirror_equals_that_by_the_store() {
    let mirror = Mirror::start();
    let lock = |from: &str, at: &str| {
        let directory = mirror.store.scene.path(at);
        fs::create_dir(&directory).unwrap();
        let lock = format!("lock {DEMO} --from {from} {PINNED} --chdir {at}");
        mirror.tfoci(&lock).succeeds();
        fs::read_to_string(directory.join(".terraform.lock.hcl")).unwrap()
    };
    let by_mirror = lock("[MIRROR]", "ours");
    assert_eq!(by_mirror, lock("oci-layout:store", "theirs"));
    assert!(by_mirror.contains("zh:"), "{by_mirror}");
}

#[test]
fn the_authors_signature_goes_from_mirror_to_store() {
    let mirror = Mirror::start();
    let copy = |provider: &str| {
        let to = "--from [MIRROR] --to oci-layout:far";
        mirror.tfoci(&format!("mirror {provider} {PINNED} {to}"))
    };
    copy(BARE).exits(3);
    let pin = |signer: &Signer| mirror.store.pin("*/*/*", &signer.fingerprint());
    pin(Signer::stranger());
    copy(DEMO).exits(3);
    assert!(!mirror.store.scene.path("far").exists());
    pin(Signer::acme());
    copy(DEMO).succeeds();
    let inspect = |from: &str| {
        let arguments = format!("inspect {DEMO}@1.0.0 --from {from} {PINNED} --format json");
        mirror.tfoci(&arguments).succeeds().json()["authentication"].clone()
    };
    let own = inspect("oci-layout:store");
    assert_eq!(own["anchor"], "pinned");
    assert_eq!(inspect("oci-layout:far"), own);
    assert_eq!(inspect("[MIRROR]"), own);
}

/// Whoever runs a mirror chooses the key that it hands out.
#[test]
fn without_a_pinned_key_nothing_is_asked_for_and_nothing_believed() {
    let mirror = Mirror::start();
    for command in ["mirror --to oci-layout:far", "lock"] {
        let line = format!("{command} {DEMO} --from [MIRROR]");
        mirror.tfoci(&line).exits(3);
    }
    let log = mirror.server.stop();
    assert!(log.contains("1.0.0.json"), "{log}");
    assert!(!log.contains("signed.json"), "{log}");
}

#[test]
fn the_documents_need_the_token_and_a_signature() {
    let mirror = Mirror::start();
    let path = |provider: &str| format!("/mirror/{provider}/1.0.0/signed.json");
    let bearer = format!("Bearer {TOKEN}");
    let ask = |path: &str, headers: &[(&str, &str)]| mirror.server.ask("GET", path, headers);
    let token = [("Authorization", &*bearer)];
    ask(&path(DEMO), &[]).is(401);
    ask(&path(BARE), &token).is(404);
    let archives = ask(&format!("/mirror/{BARE}/1.0.0.json"), &token).json();
    assert_eq!(archives.get("signed"), None);
    let signed = ask(&path(DEMO), &token).is(200).json();
    assert!(signed["keys"].as_str().unwrap().contains("PUBLIC KEY"));
}
