use std::fs;

use super::server::Server;
use super::stores::{DEMO, HOST, IDN, PAGE, Store, package};
use crate::clients::{clients, hashes, init, requiring, said};
use crate::support::origin::{Origin, Provider};
use crate::support::release::{Mistake, ReleaseFolder, sha256};
use crate::support::scene::Run;
use crate::support::signer::Signer;
use crate::support::tls::Authority;
use tfoci::platform::Platform;

const TOKEN: &str = "open-sesame";
const PLUS: &str = "1.2.0+build.5";
const OTHER: &str = "plan9_mips";

/// A store with releases for this machine, and clients that trust the certificate of the server.
fn store() -> Store {
    let mut store = Store::empty();
    for (address, version, mistake) in [
        (DEMO, "1.0.0", None),
        (DEMO, PLUS, None),
        (DEMO, "2.0.0", Some(Mistake::SignatureMissing)),
        (IDN, "1.0.0", None),
    ] {
        let here = Platform::current().to_string();
        let release = ReleaseFolder::new("demo", version).platform(&here);
        let release = release.platform(OTHER);
        let release = mistake.map_or(release.clone(), |mistake| release.mistake(mistake));
        store.push_release(address, version, &release);
    }
    let ca = Authority::shared().write(&store.scene, "ca.pem");
    store.scene = store.scene.env("SSL_CERT_FILE", ca.to_str().unwrap());
    store
}

/// One attempt to install.
struct Attempt<'a> {
    store: &'a Store,
    server: &'a Server,
    client: &'a str,
    through_mirror: bool,
}

impl<'a> Attempt<'a> {
    fn of(store: &'a Store, server: &'a Server, client: &'a str, through_mirror: bool) -> Self {
        Self {
            store,
            server,
            client,
            through_mirror,
        }
    }

    /// `localhost:PORT`, by which clients reach the server.
    fn host(&self) -> String {
        format!("localhost:{}", self.server.address.port())
    }

    /// The address by which a project requires [`DEMO`].
    fn source(&self) -> String {
        match self.through_mirror {
            true => DEMO.to_owned(),
            false => format!("{}/acme/demo", self.host()),
        }
    }

    /// Installs one version of a provider into a new project.
    fn init(&self, source: &str, version: &str, token: Option<&str>) -> Run {
        let host = self.host();
        let mirror = format!(
            "provider_installation {{\n  network_mirror {{\n    url = \"https://{host}/mirror/\"\n  }}\n}}\n"
        );
        let credentials = |token| format!("credentials \"{host}\" {{ token = \"{token}\" }}\n");
        let mut text = token.map(credentials).unwrap_or_default();
        if self.through_mirror {
            text += &mirror;
        }
        self.init_with(&text, source, version)
    }

    /// Installs one version of a provider into a new project, with this configuration of the client.
    fn init_with(&self, configuration: &str, source: &str, version: &str) -> Run {
        let scene = &self.store.scene;
        let _new = fs::remove_dir_all(scene.path("project"));
        scene.write("client.tfrc", configuration);
        scene.write("project/main.tf", requiring(&[(source, version)]));
        init(scene, "project", self.client)
    }

    fn lock(&self) -> String {
        fs::read_to_string(self.store.scene.path("project/.terraform.lock.hcl")).unwrap()
    }
}

#[test]
fn clients_install_through_both_protocols() {
    install_through_both_protocols(&store());
}

/// What `prune` leaves installs as before.
#[test]
fn clients_install_what_a_prune_leaves() {
    let store = store();
    let release = ReleaseFolder::new("demo", "0.9.0").platform(OTHER);
    store.push_release(DEMO, "0.9.0", &release);
    let address = format!("{DEMO}@0.9.0");
    let prune = format!("prune {address} --from oci-layout:store --yes");
    store.scene.line(prune).succeeds().tells("0.9.0");
    install_through_both_protocols(&store);
}

#[test]
fn clients_install_from_a_bundle() {
    let store = store().bundled();
    install_through_both_protocols(&store);
}

fn install_through_both_protocols(store: &Store) {
    store.tokens(&[("team", TOKEN, &format!("{HOST}/acme/*"))]);
    let key = Signer::acme().fingerprint();
    let key = format!("signed, key ID {}", &key[24..]);
    for token in [None, Some(TOKEN)] {
        let guard = token.map_or("", |_| "--tokens tokens.txt");
        let server = store.serve_tls(format!("{guard} --registry-host {HOST}"));
        for client in clients() {
            for through_mirror in [true, false] {
                let attempt = Attempt::of(store, &server, client, through_mirror);
                let source = attempt.source();
                for version in ["1.0.0", PLUS] {
                    let run = attempt.init(&source, version, token).succeeds();
                    assert_eq!(run.stdout.contains(&key), !through_mirror, "{}", run.stdout);
                    let here = Platform::current().to_string();
                    let zh = |platform: &str| {
                        let zip = store.file(DEMO, version, &package(DEMO, version, platform));
                        format!("zh:{}", sha256(&zip))
                    };
                    let lock = attempt.lock();
                    assert!(lock.contains("\"h1:"), "{lock}");
                    // terraform keeps only its own hash of a package from a mirror.
                    let has_zh = !through_mirror || client == "tofu";
                    let has = [&here, OTHER].map(|platform| lock.contains(&zh(platform)));
                    assert_eq!(has, [has_zh, !through_mirror], "{client} {lock}");
                }
                // The network mirror has unsigned versions, and the provider registry does not.
                let run = attempt.init(&source, "2.0.0", token);
                let is_installed = run.status == Some(0);
                assert_eq!(is_installed, through_mirror, "{client} {}", said(&run));
            }
        }
        let log = server.stop();
        assert!(!log.contains(TOKEN), "{log}");
        assert!(!log.contains("closed before its end"), "{log}");
        assert!(!log.contains(" 500 ") && !log.contains(" 403 "), "{log}");
    }
}

#[test]
fn clients_say_that_they_need_a_token() {
    let store = store();
    store.tokens(&[("team", TOKEN, &format!("{HOST}/other/*"))]);
    let arguments = format!("--tokens tokens.txt --registry-host {HOST}");
    let server = store.serve_tls(&arguments);
    for client in clients() {
        for (through_mirror, token) in [
            (true, None),
            (true, Some("wrong")),
            (true, Some(TOKEN)),
            (false, None),
        ] {
            let attempt = Attempt::of(&store, &server, client, through_mirror);
            let run = attempt.init(&attempt.source(), "1.0.0", token).exits(1);
            let said = said(&run);
            let is_about_tokens = said.contains("authentication credentials");
            assert!(is_about_tokens, "{client}: {said}");
        }
    }
}

#[test]
fn clients_find_hosts_in_any_script_through_the_mirror() {
    let store = store();
    let server = store.serve_tls("");
    for client in clients() {
        let attempt = Attempt::of(&store, &server, client, true);
        attempt.init(IDN, "1.0.0", None).succeeds();
    }
    server.logs("/mirror/xn--bcher-kva.example/acme/demo/1.0.0.json");
}

#[test]
fn clients_install_while_the_store_is_away() {
    let store = store();
    let server = store.serve_tls("--max-age 0");
    for client in clients() {
        let attempt = Attempt::of(&store, &server, client, true);
        attempt.init(DEMO, "1.0.0", None).succeeds();
        // The tags are deleted, and the packages are not.
        let index = store.repository(DEMO).join("index.json");
        let away = store.scene.path("index.json");
        fs::rename(&index, &away).unwrap();
        fs::create_dir(&index).unwrap();
        let run = attempt.init(DEMO, "1.0.0", None);
        fs::remove_dir(&index).unwrap();
        fs::rename(&away, &index).unwrap();
        run.succeeds();
    }
    server.logs("older than --max-age");
}

/// The configuration that the pages show, as clients read it. The registry of the server needs none.
#[test]
fn clients_use_the_configuration_of_the_page() {
    let store = store();
    let server = store.serve_tls("--url https://localhost:[PORT] --max-age 0");
    let address = format!("localhost:{}/acme/demo", server.address.port());
    let release = ReleaseFolder::new("demo", "1.0.0").platform(&Platform::current().to_string());
    store.push_release(&address, "1.0.0", &release);
    for path in ["/", PAGE] {
        let page = server.get(path).is(200).text();
        let begin = page.find("provider_installation {").unwrap();
        let block = page[begin..].split("</pre>").next().unwrap().to_owned();
        for client in clients() {
            let attempt = Attempt::of(&store, &server, client, true);
            attempt.init_with(&block, DEMO, "1.0.0").succeeds();
        }
    }
    let page = server.get(&format!("/providers/{address}")).is(200);
    let page = page.tells("without any configuration.");
    page.omits("provider_installation");
}

/// A client waits while the server mirrors the version into an empty store. The second server has no origin.
#[test]
fn clients_install_what_the_server_mirrors_from_the_origin() {
    let here = Platform::current().to_string();
    for client in clients() {
        for through_mirror in [true, false] {
            let origin = Origin::of([Provider::demo(&[&here, OTHER])]);
            let mut store = Store::empty();
            store.scene.write("origin.tfrc", origin.host_block(HOST));
            let ca = origin.write_ca(&store.scene);
            for (name, path) in [
                ("SSL_CERT_FILE", ca),
                ("TF_CLI_CONFIG_FILE", store.scene.path("origin.tfrc")),
            ] {
                store.scene = store.scene.env(name, path.to_str().unwrap());
            }
            let registry = format!("--registry-host {HOST}");
            let private = format!("--allow-private {}", origin.host());
            let fill = format!("--fill --include {DEMO} {private}");
            let server = store.serve_tls(format!("{registry} {fill}"));
            assert_eq!(origin.counters(), "");
            let install = |server: &Server| {
                let attempt = Attempt::of(&store, server, client, through_mirror);
                let run = attempt.init(&attempt.source(), "1.0.0", None).succeeds();
                assert_eq!(run.stdout.contains("signed, key ID"), !through_mirror);
                attempt.lock()
            };
            let lock = install(&server);
            assert!(lock.contains("h1:"), "{lock}");
            let counters = origin.counters();
            assert!(counters.ends_with(" 2 package"), "{counters}");
            let log = server.stop();
            let line = format!("Mirrored {DEMO} 1.0.0: signed ");
            assert_eq!(log.matches(&line).count(), 1, "{log}");
            drop(origin);
            let server = store.serve_tls(&registry);
            // The lock file names the address of the server, whose port is another one.
            assert_eq!(hashes(&install(&server)), hashes(&lock));
        }
    }
}
