use std::fs;
use std::os::unix::fs::symlink;

use rustix::process::Signal;
use sequoia_openpgp::types::ReasonForRevocation;
use serde_json::Value;

use super::stores::{
    BARE, DEMO, DOWNLOAD, HOST, INDEX, PAGE, Store, VERSION, VERSIONS, ZIP, package, pinned,
};
use crate::support::registry::matching;
use crate::support::release::Mistake;
use crate::support::server::gate::Gate;
use crate::support::signer::Signer;
use crate::support::tamper;
use crate::support::wait::wait;

const SIGNED: [&str; 3] = ["1.0.0", "1.2.0+build.5", "1.3.0-rc.1"];
const ALL: [&str; 4] = ["1.0.0", "1.2.0+build.5", "1.3.0-rc.1", "2.0.0"];

fn listed(reply: &super::http::Reply) -> Vec<String> {
    if reply.status == 404 {
        return Vec::new();
    }
    match &reply.json()["versions"] {
        Value::Object(versions) => versions.keys().cloned().collect(),
        versions => {
            let name = |version: &Value| version["version"].as_str().unwrap().to_owned();
            versions.as_array().unwrap().iter().map(name).collect()
        }
    }
}

#[test]
fn the_policy_decides_what_is_served() {
    let store = Store::spoiled_layout();
    let acme = Signer::acme().fingerprint();
    let (signed, unsigned) = (
        format!("[[provider]]\nmatch = \"{DEMO}\"\n"),
        format!("[[provider]]\nmatch = \"{HOST}/*/*\"\nunsigned = \"allow\"\n"),
    );
    for (name, text) in [
        ("stranger.asc", Signer::stranger().public_armored()),
        ("pinned.toml", pinned(DEMO, &acme)),
        ("signed.toml", signed),
        ("unsigned.toml", unsigned),
    ] {
        store.scene.write(name, text);
    }
    // The versions on the network mirror and in the provider registry, whether the unsigned provider is served, and the status of the first
    // version on the page.
    let everything = (&ALL[..], &SIGNED[..], true, "(embedded)");
    let signed = (&SIGNED[..], &SIGNED[..], true, "(embedded)");
    let pinned = (&SIGNED[..], &SIGNED[..], true, "(pinned)");
    let strict = (&SIGNED[..], &SIGNED[..], false, "(pinned)");
    let nothing: (&[&str], &[&str], bool, &str) = (&[], &[], false, "no version");
    let (weak, unsigned) = (
        format!("--key acme.asc --allow-unsigned {BARE}"),
        format!("--trust signed.toml --allow-unsigned {DEMO}"),
    );
    for (arguments, (mirror, registry, bare, status)) in [
        // Without a rule, a version without evidence is served.
        ("", everything),
        ("--key acme.asc", strict),
        ("--key acme.asc --require-pinned", strict),
        // It does not apply to providers with pinned keys.
        (&weak, strict),
        ("--key stranger.asc", nothing),
        // An entry applies in full, to its providers only.
        ("--trust pinned.toml", pinned),
        ("--trust pinned.toml --require-pinned", strict),
        ("--trust signed.toml", signed),
        // Unsigned versions are served again, on the network mirror only. Those with wrong evidence are not.
        (&unsigned, everything),
        ("--trust unsigned.toml", everything),
    ] {
        let server = store.serve(format!("--registry-host {HOST} {arguments}"));
        let index = server.get(INDEX);
        assert_eq!(listed(&index), mirror, "{arguments:?}\n{}", server.log());
        assert_eq!(listed(&server.get(VERSIONS)), registry, "{arguments:?}");
        let other = server.get(&INDEX.replace("demo", "bare"));
        assert_eq!(other.status == 200, bare, "{arguments:?}\n{}", other.text());
        // A version that is not listed cannot be downloaded either.
        for version in ALL {
            let zip = package(DEMO, version, "linux_amd64");
            for (path, list) in [
                (VERSION.replace("1.0.0", version), mirror),
                (ZIP.replace("1.0.0", version), mirror),
                (DOWNLOAD.replace("1.0.0", version), registry),
                (format!("/v1/providers/acme/demo/{version}/{zip}"), registry),
            ] {
                let is_sent = server.get(&path).status == 200;
                assert_eq!(is_sent, list.contains(&version), "{arguments:?} {path}");
            }
        }
        let page = server.get(PAGE).tells(status);
        let page = page.omits("version = &quot;&quot;").omits("version = \"\"");
        for (meant, explanation) in [
            ("(pinned)", "this server trusts"),
            ("(embedded)", "stored beside them"),
        ] {
            let is_explained = page.text().contains(explanation);
            assert_eq!(is_explained, status == meant, "{arguments:?}");
        }
    }
}

#[test]
fn a_page_and_the_log_mark_unsigned_versions() {
    let store = Store::empty();
    store.push(BARE, "1.0.0", Some(Mistake::SignatureMissing));
    store.push(DEMO, "1.0.0", None);
    store.push(DEMO, "2.0.0", Some(Mistake::SignatureMissing));
    let installation = "\n  network_mirror {";
    for more in ["", &format!("--allow-unsigned {BARE}")] {
        let server = store.serve(format!("--max-age 0 --registry-host {HOST} {more}"));
        let page = server.get(&PAGE.replace("demo", "bare"));
        let page = page.tells("class=\"weak\"").tells("list of checksums");
        // The provider registry does not list it, so clients need a configuration.
        let page = page.tells(installation);
        page.omits("without any configuration");
        // It has one version of the other provider.
        let page = server.get(PAGE).tells("only its signed versions");
        let page = page.tells("version = \"1.0.0\"").tells(installation);
        page.tells(" Network mirror only.");
        for _ in 0..3 {
            server.get(&INDEX.replace("demo", "bare")).is(200);
            server.get(INDEX).is(200);
        }
        assert_eq!(server.metric("versions_unsigned_total"), 2);
        let log = server.stop();
        for version in [format!("{BARE} 1.0.0"), format!("{DEMO} 2.0.0")] {
            let line = format!("Unsigned {version}: checksum;");
            assert_eq!(log.matches(&line).count(), 1, "{log}");
        }
        assert_eq!(log.matches("Unsigned").count(), 2, "{log}");
    }
    let server = store.serve("--format json");
    server.get(&INDEX.replace("demo", "bare")).is(200);
    let said = format!("\"event\":\"unsigned\",\"message\":\"Unsigned {BARE} 1.0.0: checksum;");
    server.logs(&said);
}

#[test]
fn a_page_names_a_version_without_evidence() {
    let store = Store::demo();
    tamper::untag(&store.repository(DEMO), "evidence-1.0.0");
    store.serve("").get(PAGE).is(200).tells("author is unknown");
}

/// Clients could not install such a version.
#[test]
fn a_version_without_packages_is_hidden() {
    let store = Store::demo();
    store.push(DEMO, "1.1.0", None);
    tamper::alter(&store.repository(DEMO), "1.1.0", |index| {
        for entry in index["manifests"].as_array_mut().unwrap() {
            entry["platform"]["os"] = "../..".into();
        }
    });
    let server = store.serve("");
    assert_eq!(server.get(INDEX).text(), r#"{"versions":{"1.0.0":{}}}"#);
    let hidden = server.get(&VERSION.replace("1.0.0", "1.1.0"));
    hidden.is(404).tells("1.1.0 is hidden: ");
}

#[test]
fn a_package_that_is_a_link_to_another_file_is_not_sent() {
    let store = Store::demo();
    let secret = store.scene.write("secret", [b'x'; 1_000]);
    let blob = store.blob("linux_amd64");
    fs::remove_file(&blob).unwrap();
    symlink(secret, &blob).unwrap();
    let server = store.serve("");
    server.get(VERSION).is(200);
    server.get(ZIP).is(503).omits("store/");
    server.logs("symbolic link");
}

/// Two addresses may have one repository. Where keys are required, the versions that were made for the other one are hidden.
#[test]
fn versions_of_another_provider_are_hidden_where_keys_are_required() {
    const OTHER: &str = "registry.acme.test/other/demo";
    let store = Store::demo();
    let repository = store.repository(OTHER);
    fs::create_dir_all(repository.parent().unwrap()).unwrap();
    fs::rename(store.repository(DEMO), &repository).unwrap();
    for (key, status) in [("", 200), ("--key acme.asc", 404)] {
        let server = store.serve(key);
        let index = format!("/mirror/{OTHER}/index.json");
        server.get(&index).is(status);
        assert_eq!(server.log().contains("of another provider"), status == 404);
    }
}

/// The owner's revocation may reach the operator before it reaches the store.
#[test]
fn a_copy_of_a_pinned_key_counts_from_when_it_is_there() {
    let store = Store::demo();
    let acme = Signer::acme();
    let pin = acme.fingerprint();
    store.pin(DEMO, &pin);
    let server = store.serve("--trust trust.toml --require-pinned");
    server.get(INDEX).is(200);
    let revoked = acme.armored_revoked(ReasonForRevocation::KeyCompromised);
    store.scene.write(format!("keys/{pin}.asc"), revoked);
    server.signal(Signal::HUP);
    server.until(INDEX, |reply| listed(reply).is_empty());
    server.logs("revoked");
    let stranger = Signer::stranger().public_armored();
    store.scene.write(format!("keys/{pin}.asc"), stranger);
    server.signal(Signal::HUP);
    server.logs_words(&format!("Refused trust.toml keys/{pin}.asc another key"));
}

#[test]
fn a_trust_file_and_its_keys_are_read_again_when_they_change() {
    let store = Store::demo();
    let pin = |key: &str| store.pin(DEMO, key);
    let acme = Signer::acme().public_armored();
    store.scene.write("key.asc", acme);
    pin("acme.asc");
    let server = store.serve("--trust trust.toml --require-pinned");
    let is = |served: bool| {
        server.signal(Signal::HUP);
        server.until(INDEX, |reply| listed(reply).is_empty() != served);
    };
    server.get(INDEX).is(200);
    let stranger = Signer::stranger();
    pin(&stranger.fingerprint());
    is(false);
    // The container platform sends no signal, and this file was not named at the start.
    pin("key.asc");
    server.until(INDEX, |reply| !listed(reply).is_empty());
    store.scene.write("key.asc", stranger.public_armored());
    is(false);
    pin(&Signer::acme().fingerprint());
    is(true);
    // A file that cannot be used leaves the last policy in use.
    for (text, says) in [
        (&b"[[provider"[..], "line 1"),
        (
            b"[[provider]]\nmatch = \"*/*/*\"\nkeyz = []\n",
            "line 3, column 1: `keyz` `match` `keys` `unsigned` `expired` `weak`",
        ),
        (b"\xff\xfe[\0", "UTF-8"),
    ] {
        store.scene.write("trust.toml", text);
        server.signal(Signal::HUP);
        server.logs_words(&format!("Refused trust.toml trust.toml {says}"));
        server.get(INDEX).is(200);
    }
    store.scene.write("key.asc", "nonsense");
    pin("key.asc");
    server.signal(Signal::HUP);
    server.logs_words("Refused trust.toml key.asc OpenPGP");
    server.get(INDEX).is(200);
}

#[test]
fn a_list_that_was_read_with_the_former_policy_is_not_shown() {
    let (registry, store) = Store::demo_in_registry();
    store.pin(DEMO, "acme.asc");
    let server = store.serve("--trust trust.toml");
    let is_list = || matching("GET", "/tags/list");
    let gate = Gate::default();
    registry.forget();
    registry.always(is_list(), gate.holds("list"));
    std::thread::scope(|scope| {
        let first = scope.spawn(|| server.get(INDEX));
        wait(|| registry.count(is_list()) > 0, || server.log());
        store.pin(DEMO, &Signer::stranger().fingerprint());
        server.signal(Signal::HUP);
        server.logs("Reloaded trust.toml");
        gate.open("list");
        first.join().unwrap().is(404);
    });
    server.get(INDEX).is(404);
}
