use serde_json::json;

use super::{ID, MirrorKey, NAME, Site, trust, write_keys};
use crate::serve::stores::Store;
use crate::support::release::ReleaseFolder;

/// What `verify` finds.
#[track_caller]
fn refuses(site: &Site, more: &str, says: &str) {
    let run = site.verify(&format!("--format json {more}")).exits(3);
    let document = run.json();
    let finding = &document["findings"][0];
    assert_eq!(finding["code"], "not-attested", "{finding}");
    let message = finding["message"].as_str().unwrap();
    assert!(message.contains(says), "{message}");
}

#[test]
fn only_this_statement_by_this_key_counts() {
    let site = Site::attested();
    let key = MirrorKey::new(1);
    let good = site.statement("1.0.0");
    let bundle = site.attached("1.0.0")[0].1.clone();
    let altered = |pointer: &str, value: &str| {
        let mut statement = good.clone();
        *statement.pointer_mut(pointer).unwrap() = value.into();
        key.seals(&statement)
    };
    let (name, index) = ("/subject/0/name", "/subject/0/digest/sha256");
    let input = "/predicate/inputAttestations/0/digest/sha256";
    let mut changed = bundle.clone();
    let forged = MirrorKey::new(2).seals(&good);
    let other = altered("/predicate/resourceUri", "x");
    changed["dsseEnvelope"]["payload"] = other["dsseEnvelope"]["payload"].clone();
    for (bundle, says) in [
        (forged, "another key"),
        (changed, "another key"),
        (json!({}), "no Sigstore bundle"),
        (
            altered("/predicateType", "https://spdx.dev/Document"),
            "type of predicate",
        ),
        (altered("/_type", "https://in-toto.io/Statement/v0.1"), ""),
        (
            altered(name, "registry.opentofu.org/acme/other@1.0.0"),
            "subject",
        ),
        (
            altered(name, "registry.opentofu.org/acme/demo@1.0.1"),
            "subject",
        ),
        (altered(index, &"0".repeat(64)), "subject"),
        (altered(input, "00"), "checksum document"),
        (altered("/predicate/verifier/id", ""), "verifier"),
        (altered("/predicate/verificationResult", "FAILED"), "result"),
    ] {
        site.replace("1.0.0", &bundle);
        refuses(&site, "", says);
    }
    // Others do not hide the good one.
    site.replace("1.0.0", &bundle);
    let digest = site.index("1.0.0");
    site.registry.repository(NAME, |content| {
        let forged = MirrorKey::new(2).seals(&good).to_string();
        super::attach(content, &digest, "{}");
        super::attach(content, &digest, &forged);
    });
    let document = site.verify("--format json").succeeds().json();
    assert_eq!(document["checked"]["attested"][0]["key"], key.id());
    let run = site.verify("").succeeds();
    run.shows(format!("attested {}", key.id()));
    refuses(
        &site,
        "--attestation-id https://another.example",
        "verifier",
    );
    site.verify("--attestation-key acme.asc").exits(2);
    let large = "x".repeat(300 << 10);
    let mut statement = good.clone();
    statement["large"] = json!(large);
    site.replace("1.0.0", &key.seals(&statement));
    refuses(&site, "", "received none");
}

/// The attestation of one version says nothing about another.
#[test]
fn the_attestation_of_another_version_does_not_count() {
    let site = Site::attested();
    ReleaseFolder::new("demo", "1.1.0")
        .platform("linux_amd64")
        .write(&site.author.scene.path("next"));
    let push = format!("push next --provider {NAME} --key acme.asc --to [REG]");
    site.tfoci(&push).succeeds();
    refuses(&site, "", "received none");
    let bundle = site.attached("1.0.0")[0].1.clone();
    let index = site.index("1.1.0");
    site.registry.repository(NAME, |content| {
        super::attach(content, &index, &bundle.to_string());
    });
    refuses(&site, "", "subject");
    site.tfoci(format!("{push} [ATTEST]")).succeeds();
    site.verify("").succeeds();
}

/// Whoever can write to the store can write everything but the attestation.
#[test]
fn every_reader_requires_it_besides_the_signature() {
    let site = Site::attested();
    let required = format!("require_attestation = {{ key = \"mirror.pub\", id = \"{ID}\" }}");
    let scene = &site.author.scene;
    let readers = [
        "verify acme/demo --from [REG]",
        "inspect acme/demo@1.0.0 --from [REG]",
        "install acme/demo@1.0.0 --from [REG] --platform all --into out",
        "lock acme/demo@1.0.0 --from [REG]",
        "copy acme/demo --from [REG] --to oci-layout:copied",
        "copy acme/demo --from [REG] --to oci-layout:rebuilt --rebuild-index",
        "copy acme/demo --from [REG] --to bundle:copied.tar",
        "site made acme/demo --from [REG]",
    ];
    trust(scene, &required);
    for reader in readers {
        let run = site.tfoci(format!("{reader} --trust trust.toml"));
        run.succeeds();
    }
    for made in ["out", "copied", "rebuilt", "made"] {
        std::fs::remove_dir_all(scene.path(made)).unwrap();
    }
    for made in ["copied.tar", "copied.tar.sha256", ".terraform.lock.hcl"] {
        std::fs::remove_file(scene.path(made)).unwrap();
    }
    site.replace("1.0.0", &json!({}));
    for reader in readers {
        site.tfoci(format!("{reader} --trust trust.toml")).exits(3);
    }
    let left = [".terraform.lock.hcl", "copied.tar"].map(|made| scene.path(made).is_file());
    assert_eq!(left, [false; 2]);
    // A good attestation is not enough.
    let site = Site::attested();
    let scene = &site.author.scene;
    let stranger = crate::support::signer::Signer::stranger().fingerprint();
    scene.write(
        "trust.toml",
        format!("[[provider]]\nmatch = \"*/*/*\"\nkeys = [\"{stranger}\"]\n{required}\n"),
    );
    for reader in readers {
        site.tfoci(format!("{reader} --trust trust.toml")).exits(3);
    }
}

#[test]
fn a_trust_file_names_a_key_that_exists() {
    let site = Site::attested();
    let scene = &site.author.scene;
    scene.write("bad.pub", "nothing");
    for (required, code) in [
        ("\"mirror.pub\"", 0),
        ("\"none.pub\"", 1),
        ("\"bad.pub\"", 2),
        ("\"acme.asc\"", 2),
        ("{ id = \"x\" }", 2),
        (
            "{ key = \"mirror.pub\", id = \"https://another.example\" }",
            3,
        ),
    ] {
        trust(scene, &format!("require_attestation = {required}"));
        let run = site.tfoci("verify acme/demo --from [REG] --trust trust.toml");
        assert_eq!(run.status, Some(code), "{required}: {}", run.stderr);
        let check = site.tfoci("trust check trust.toml");
        let code = if code == 3 { 0 } else { code };
        assert_eq!(check.status, Some(code), "{required}: {}", check.stderr);
    }
    trust(scene, "require_attestation = \"mirror.pub\"");
    let run = site.tfoci("trust show acme/demo --trust trust.toml");
    run.succeeds().shows(MirrorKey::new(1).id());
}

/// A server drops a version whose attestation is not there, when its trust file asks for one.
#[test]
fn serve_hides_what_is_not_attested() {
    let store = Store::demo();
    write_keys(&store.scene);
    trust(&store.scene, "");
    let server = store.serve("--trust trust.toml --max-age 1");
    let index = format!("/mirror/{}/index.json", crate::serve::stores::DEMO);
    let before = server.get(&index).is(200).text();
    assert!(before.contains("\"1.0.0\""), "{before}");
    let text = std::fs::read_to_string(store.scene.path("trust.toml")).unwrap();
    let required = format!("{text}require_attestation = \"mirror.pub\"\n");
    let new = store.scene.write("trust.new", required);
    std::fs::rename(new, store.scene.path("trust.toml")).unwrap();
    server.until(&index, |reply| !reply.text().contains("\"1.0.0\""));
    let copy = "copy --from oci-layout:store --to oci-layout:store2 --key acme.asc";
    let copy = format!("{copy} --attest mirror.pem --attest-id {ID}");
    store.scene.tfoci(copy.split(' ')).succeeds();
    std::fs::remove_dir_all(store.scene.path("store")).unwrap();
    std::fs::rename(store.scene.path("store2"), store.scene.path("store")).unwrap();
    server.until(&index, |reply| reply.text().contains("\"1.0.0\""));
    server.stop();
}

/// Attests the version that is there, by this key and in this name.
fn attest(site: &Site, key: &str, id: &str) {
    let push = format!("push dist --provider {NAME} --key acme.asc --to [REG]");
    let run = site.tfoci(format!("{push} --attest {key} --attest-id {id}"));
    run.succeeds();
}

/// The option and the trust file require an attestation each.
#[test]
fn every_required_attestation_counts() {
    let site = Site::attested();
    trust(&site.author.scene, "require_attestation = \"other.pub\"");
    site.verify("--trust trust.toml").exits(3);
    attest(&site, "other.pem", ID);
    site.verify("--trust trust.toml").succeeds();
}

/// A mirror attests anew whenever its rule, key or name changes.
#[test]
fn the_newest_attestations_are_read() {
    for lists in [true, false] {
        let site = Site::new(lists);
        for at in 0..17 {
            attest(&site, "mirror.pem", &format!("{ID}/{at}"));
        }
        attest(&site, "other.pem", ID);
        let verify = "verify acme/demo --from [REG] --key acme.asc --attestation-key other.pub";
        site.tfoci(verify).succeeds();
    }
}
