use std::fs;
use std::os::unix::fs::symlink;

use rustix::process::Signal;
use sequoia_openpgp::types::ReasonForRevocation;
use serde_json::Value;

use super::stores::{BARE, DEMO, HOST, PLATFORMS, Store, package};
use crate::support::registry::{Registry, matching};
use crate::support::release::{Mistake, sha256};
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
            let versions = versions.as_array().unwrap().iter();
            versions
                .map(|version| version["version"].as_str().unwrap().to_owned())
                .collect()
        }
    }
}

#[test]
fn the_policy_decides_what_is_served() {
    let store = Store::spoiled_layout();
    let acme = Signer::acme().fingerprint();
    store
        .scene
        .write("stranger.asc", Signer::stranger().public_armored());
    let trust = |name: &str, text: &str| {
        store.scene.write(name, text);
    };
    trust(
        "pinned.toml",
        &format!("[[provider]]\nmatch = \"{DEMO}\"\nkeys = [\"{acme}\"]\n"),
    );
    trust(
        "signed.toml",
        &format!("[[provider]]\nmatch = \"{DEMO}\"\n"),
    );
    trust(
        "unsigned.toml",
        &format!("[[provider]]\nmatch = \"{HOST}/*/*\"\nunsigned = \"allow\"\n"),
    );
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
        let index = server.get(&format!("/mirror/{DEMO}/index.json"));
        assert_eq!(listed(&index), mirror, "{arguments:?}\n{}", server.log());
        let versions = server.get("/v1/providers/acme/demo/versions");
        assert_eq!(listed(&versions), registry, "{arguments:?}");
        let other = server.get(&format!("/mirror/{BARE}/index.json"));
        assert_eq!(other.status == 200, bare, "{arguments:?}\n{}", other.text());
        // A version that is not listed cannot be downloaded either.
        for version in ALL {
            let status = |path: &str| server.get(path).status;
            let is_listed = |list: &[&str]| if list.contains(&version) { 200 } else { 404 };
            let zip = package(DEMO, version, "linux_amd64");
            for (path, list) in [
                (format!("/mirror/{DEMO}/{version}.json"), mirror),
                (format!("/mirror/{DEMO}/{zip}"), mirror),
                (
                    format!("/v1/providers/acme/demo/{version}/download/linux/amd64"),
                    registry,
                ),
                (format!("/v1/providers/acme/demo/{version}/{zip}"), registry),
            ] {
                assert_eq!(status(&path), is_listed(list), "{arguments:?} {path}");
            }
        }
        let page = server.get(&format!("/providers/{DEMO}")).text();
        assert!(page.contains(status), "{arguments:?} {page}");
        for (meant, explanation) in [
            ("(pinned)", "this server trusts"),
            ("(embedded)", "stored beside them"),
        ] {
            assert_eq!(page.contains(explanation), status == meant, "{page}");
        }
        assert!(
            !page.contains("version = &quot;&quot;") && !page.contains("version = \"\""),
            "{page}"
        );
        if mirror.is_empty() {
            let said = index.text();
            assert!(said.contains("5 versions"), "{said}");
        }
        server.stop();
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
        let page = server.get(&format!("/providers/{BARE}")).text();
        assert!(page.contains("class=\"weak\""), "{page}");
        assert!(page.contains("list of checksums"), "{page}");
        // The provider registry does not list it, so clients need a configuration.
        assert!(page.contains("Network mirror only:"), "{page}");
        assert!(page.contains(installation), "{page}");
        assert!(!page.contains("without any configuration"), "{page}");
        // It has one version of the other provider.
        let page = server.get(&format!("/providers/{DEMO}")).text();
        for text in [
            "only its signed versions",
            "version = &quot;1.0.0&quot;",
            " Network mirror only.",
            installation,
        ] {
            let text = text.replace("&quot;", "\"");
            assert!(page.contains(&text), "{text}\n{page}");
        }
        for _ in 0..3 {
            server.get(&format!("/mirror/{BARE}/index.json")).is(200);
            server.get(&format!("/mirror/{DEMO}/index.json")).is(200);
        }
        let metrics = server.get("/metrics").text();
        assert!(
            metrics.contains("\ntfoci_versions_unsigned_total 2\n"),
            "{metrics}"
        );
        let log = server.stop();
        for version in [format!("{BARE} 1.0.0"), format!("{DEMO} 2.0.0")] {
            let line = format!("Unsigned {version}: checksum;");
            assert_eq!(log.matches(&line).count(), 1, "{log}");
        }
        assert_eq!(log.matches("Unsigned").count(), 2, "{log}");
    }
    let server = store.serve("--format json");
    server.get(&format!("/mirror/{BARE}/index.json")).is(200);
    let log = server.stop();
    let lines = log.lines().map(|line| serde_json::from_str(line).unwrap());
    let lines: Vec<Value> = lines.collect();
    let unsigned = lines
        .iter()
        .find(|line| line["event"] == "unsigned")
        .unwrap();
    let said = unsigned["message"].as_str().unwrap();
    assert!(
        said.starts_with(&format!("{BARE} 1.0.0: checksum;")),
        "{log}"
    );
}

#[test]
fn a_page_names_a_version_without_evidence() {
    let store = Store::demo();
    tamper::tags(&store.repository(DEMO), |tags| {
        let name = |tag: &Value| tag["annotations"]["org.opencontainers.image.ref.name"].clone();
        tags.retain(|tag| name(tag) != "evidence-1.0.0");
    });
    let server = store.serve("");
    let page = server.get(&format!("/providers/{DEMO}")).is(200).text();
    assert!(page.contains("author is unknown"), "{page}");
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
    let index = server.get(&format!("/mirror/{DEMO}/index.json")).is(200);
    assert_eq!(index.text(), r#"{"versions":{"1.0.0":{}}}"#);
    let hidden = server.get(&format!("/mirror/{DEMO}/1.1.0.json")).is(404);
    assert!(
        hidden.text().contains("1.1.0 is hidden: "),
        "{}",
        hidden.text()
    );
    server.stop();
}

#[test]
fn a_version_whose_package_is_a_link_to_another_file_is_hidden() {
    let store = Store::demo();
    let secret = store.scene.write("secret", [b'x'; 1_000]);
    let demo = store.repository(DEMO);
    let zip = store.file(DEMO, "1.0.0", &package(DEMO, "1.0.0", PLATFORMS[0]));
    let blob = demo.join("blobs/sha256").join(sha256(&zip));
    fs::remove_file(&blob).unwrap();
    symlink(secret, &blob).unwrap();
    let server = store.serve("");
    let hidden = server.get(&format!("/mirror/{DEMO}/1.0.0.json")).is(404);
    let answer = hidden.text();
    assert!(
        answer.contains("1.0.0 is hidden: the blob sha256:"),
        "{answer}"
    );
    assert!(!answer.contains("store/"), "{answer}");
    server.logs("symbolic link");
    server.stop();
}

/// Two addresses may have one repository: the policy of one provider then admits versions that were made for the other.
#[test]
fn versions_of_another_provider_are_served_with_a_warning() {
    const OTHER: &str = "registry.acme.test/other/demo";
    let store = Store::demo();
    let push = |version| store.push(DEMO, version, None);
    push("1.1.0");
    let repository = store.repository(OTHER);
    fs::create_dir_all(repository.parent().unwrap()).unwrap();
    fs::rename(store.repository(DEMO), &repository).unwrap();
    let server = store.serve("--max-age 0");
    let warnings = |expected: &[&str]| {
        let index = format!("/mirror/{OTHER}/index.json");
        for _ in 0..2 {
            server.get(&index).is(200);
        }
        let log = server.log();
        let lines = log.lines().filter(|line| line.contains("made for"));
        let expected = expected
            .iter()
            .map(|version| format!("   Warning {OTHER} {version}: made for {DEMO}"));
        let lines = lines.map(|line| line.split(',').next().unwrap());
        assert_eq!(lines.collect::<Vec<_>>(), expected.collect::<Vec<_>>());
    };
    warnings(&["1.1.0"]);
    fs::rename(&repository, store.repository(DEMO)).unwrap();
    push("1.2.0");
    fs::rename(store.repository(DEMO), &repository).unwrap();
    warnings(&["1.1.0", "1.2.0"]);
    server.stop();
    // Where keys are required, such versions are hidden.
    let server = store.serve("--key acme.asc");
    server.get(&format!("/mirror/{OTHER}/index.json")).is(404);
    server.logs("of another provider");
    server.stop();
}

/// The owner's revocation may reach the operator before it reaches the store.
#[test]
fn a_copy_of_a_pinned_key_counts_from_when_it_is_there() {
    let store = Store::demo();
    let acme = Signer::acme();
    let pin = acme.fingerprint();
    let text = format!("[[provider]]\nmatch = \"{DEMO}\"\nkeys = [\"{pin}\"]\n");
    store.scene.write("trust.toml", text);
    let server = store.serve("--trust trust.toml --require-pinned");
    let index = format!("/mirror/{DEMO}/index.json");
    server.get(&index).is(200);
    let revoked = acme.armored_revoked(ReasonForRevocation::KeyCompromised);
    store.scene.write(format!("keys/{pin}.asc"), revoked);
    server.signal(Signal::HUP);
    server.until(&index, |reply| listed(reply).is_empty());
    server.logs("revoked");
    let stranger = Signer::stranger().public_armored();
    store.scene.write(format!("keys/{pin}.asc"), stranger);
    server.signal(Signal::HUP);
    server.logs_words(&format!("Refused trust.toml keys/{pin}.asc another key"));
    server.stop();
}

#[test]
fn a_trust_file_and_its_keys_are_read_again_when_they_change() {
    let store = Store::demo();
    let index = format!("/mirror/{DEMO}/index.json");
    let pin = |keys: &str| {
        let text = format!("[[provider]]\nmatch = \"{DEMO}\"\nkeys = [\"{keys}\"]\n");
        store.scene.write("trust.toml", text);
    };
    let keys = [("acme.asc", Signer::acme()), ("key.asc", Signer::acme())];
    for (name, signer) in keys {
        store.scene.write(name, signer.public_armored());
    }
    pin("acme.asc");
    let server = store.serve("--trust trust.toml --require-pinned");
    let is = |served: bool| {
        server.signal(Signal::HUP);
        server.until(&index, |reply| listed(reply).is_empty() != served);
    };
    server.get(&index).is(200);
    let stranger = Signer::stranger();
    pin(&stranger.fingerprint());
    is(false);
    // The container platform sends no signal, and this file was not named at the start.
    pin("key.asc");
    server.until(&index, |reply| !listed(reply).is_empty());
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
        server.get(&index).is(200);
    }
    store.scene.write("key.asc", "nonsense");
    pin("key.asc");
    server.signal(Signal::HUP);
    server.logs_words("Refused trust.toml key.asc OpenPGP");
    server.get(&index).is(200);
    server.stop();
}

/// Nothing of a provider has to be read again because of the entry of another one.
#[test]
fn a_change_of_another_entry_drops_no_list() {
    let store = Store::demo();
    let index = format!("/mirror/{DEMO}/index.json");
    let entry = |keys: &str| format!("[[provider]]\nmatch = \"{DEMO}\"\nkeys = [\"{keys}\"]\n");
    store.scene.write("trust.toml", entry("acme.asc"));
    let server = store.serve("--trust trust.toml --max-age 0");
    server.get(&index).is(200);
    let [here, away] = ["store", "away"].map(|name| store.scene.path(name));
    fs::rename(here, away).unwrap();
    server.until(&index, |reply| reply.header("warning").is_some());
    let other = format!("# Others\n[[provider]]\nmatch = \"{BARE}\"\nunsigned = \"allow\"\n");
    for (own, status) in [("acme.asc", 200), (&Signer::stranger().fingerprint(), 503)] {
        let reloads = || server.log().matches("Reloaded trust.toml").count();
        let before = reloads();
        store.scene.write("trust.toml", other.clone() + &entry(own));
        server.signal(Signal::HUP);
        wait(|| reloads() > before, || server.log());
        server.get(&index).is(status);
    }
    server.stop();
}

#[test]
fn a_list_that_was_read_with_the_former_policy_is_not_shown() {
    let registry = Registry::plain();
    let store = Store::at(registry.host());
    store.push(DEMO, "1.0.0", None);
    let index = format!("/mirror/{DEMO}/index.json");
    let pin = |signer: &Signer| {
        let key = signer.fingerprint();
        let text = format!("[[provider]]\nmatch = \"{DEMO}\"\nkeys = [\"{key}\"]\n");
        store.scene.write("trust.toml", text);
    };
    pin(Signer::acme());
    let server = store.serve("--trust trust.toml");
    let is_list = || matching("GET", "/tags/list");
    let gate = Gate::default();
    registry.forget();
    registry.always(is_list(), gate.holds("list"));
    std::thread::scope(|scope| {
        let first = scope.spawn(|| server.get(&index));
        wait(|| registry.count(is_list()) > 0, || server.log());
        pin(Signer::stranger());
        server.signal(Signal::HUP);
        server.logs("Reloaded trust.toml");
        gate.open("list");
        first.join().unwrap().is(404);
    });
    server.get(&index).is(404);
    server.stop();
}
