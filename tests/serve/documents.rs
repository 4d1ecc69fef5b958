use std::fs;

use serde_json::Value;

use super::server::Server;
use super::stores::{BARE, DEMO, Store};
use crate::support::release::{Mistake, sha256};
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
        let tokens = format!("all sha256:{}\n", sha256(TOKEN.as_bytes()));
        store.scene.write("tokens.txt", tokens);
        let options = format!("--tokens tokens.txt --allow-unsigned {BARE}");
        let server = store.serve_tls(&options);
        let host = format!("localhost:{}", server.address.port());
        let client = format!("credentials \"{host}\" {{ token = \"{TOKEN}\" }}\n");
        let client = store.scene.write("client.tfrc", client);
        store.scene = (store.scene).env("TF_CLI_CONFIG_FILE", client.to_str().unwrap());
        pin(&store, Signer::acme());
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

    fn read(&self, path: &str) -> String {
        fs::read_to_string(self.store.scene.path(path)).unwrap()
    }
}

/// Pins a key by its fingerprint only.
fn pin(store: &Store, signer: &Signer) {
    let key = signer.fingerprint();
    let entry = format!("[[provider]]\nmatch = \"*/*/*\"\nkeys = [\"{key}\"]\n");
    store.scene.write("trust.toml", entry);
}

const PINNED: &str = "--trust trust.toml --require-pinned";

#[test]
fn a_lock_file_by_the_mirror_equals_that_by_the_store() {
    let mirror = Mirror::start();
    let lock = |from: &str, at: &str| {
        fs::create_dir(mirror.store.scene.path(at)).unwrap();
        mirror
            .tfoci(&format!("lock {DEMO} --from {from} {PINNED} --chdir {at}"))
            .succeeds();
        mirror.read(&format!("{at}/.terraform.lock.hcl"))
    };
    let by_mirror = lock("[MIRROR]", "ours");
    assert_eq!(by_mirror, lock("oci-layout:store", "theirs"));
    assert!(by_mirror.contains("zh:"), "{by_mirror}");
    mirror.server.stop();
}

#[test]
fn the_authors_signature_goes_from_mirror_to_store() {
    let mirror = Mirror::start();
    let copy = |more: &str| {
        mirror.tfoci(&format!(
            "mirror {more} --from [MIRROR] --to oci-layout:far"
        ))
    };
    copy(&format!("{BARE} {PINNED}")).exits(3);
    pin(&mirror.store, Signer::stranger());
    copy(&format!("{DEMO} {PINNED}")).exits(3);
    assert!(!mirror.store.scene.path("far").exists());
    pin(&mirror.store, Signer::acme());
    copy(&format!("{DEMO} {PINNED}")).succeeds();
    let inspect = |from: &str| {
        let arguments = format!("inspect {DEMO}@1.0.0 --from {from} {PINNED} --format json");
        let document: Value =
            serde_json::from_str(&mirror.tfoci(&arguments).succeeds().stdout).unwrap();
        document["authentication"].clone()
    };
    let own = inspect("oci-layout:store");
    assert_eq!(own["anchor"], "pinned");
    assert_eq!(inspect("oci-layout:far"), own);
    assert_eq!(inspect("[MIRROR]"), own);
    mirror.server.stop();
}

/// Whoever runs a mirror chooses the key that it hands out.
#[test]
fn without_a_pinned_key_nothing_is_asked_for_and_nothing_believed() {
    let mirror = Mirror::start();
    mirror
        .tfoci(&format!(
            "mirror {DEMO} --from [MIRROR] --to oci-layout:far"
        ))
        .exits(3);
    mirror
        .tfoci(&format!("lock {DEMO} --from [MIRROR]"))
        .exits(3);
    let log = mirror.server.stop();
    assert!(
        log.contains("1.0.0.json") && !log.contains("signed.json"),
        "{log}"
    );
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
    mirror.server.stop();
}
