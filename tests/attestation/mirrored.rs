use serde_json::Value;

use super::{ID, MirrorKey, beyond, registry, requests, write_keys};
use crate::mirror::origin_scene::OriginScene;
use crate::support::origin::Provider;
use crate::support::registry::{Fault, Registry, Seen};
use crate::support::signer::Signer;

const PLATFORMS: [&str; 2] = ["darwin_arm64", "linux_amd64"];

fn scene() -> OriginScene {
    let provider = Provider::demo(&PLATFORMS).version("1.1.0", &PLATFORMS);
    let scene = OriginScene::of([provider]);
    write_keys(&scene.scene);
    scene
}

fn into(registry: &Registry) -> String {
    let host = registry.host();
    let to = format!("{host}/{{namespace}}/{{type}} --plain-http {host} --jobs 1");
    format!("[ORIGIN]/acme/demo@>=1.0.0 --to {to}")
}

/// The statements in a registry.
fn statements(registry: &Registry) -> Vec<Value> {
    registry.repository("acme/demo", |content| {
        let bundles = content.blobs.values();
        let bundles = bundles.filter_map(|bytes| serde_json::from_slice::<Value>(bytes).ok());
        let bundles = bundles.filter(|one| !one["dsseEnvelope"].is_null());
        bundles.map(|one| MirrorKey::new(1).opens(&one)).collect()
    })
}

/// What a store has from before is verified again, once; afterwards a run asks for one list of each version.
#[test]
fn versions_that_were_there_before_are_attested() {
    for lists in [true, false] {
        let (scene, to) = (scene(), registry(lists));
        scene.run(&into(&to)).ends(0);
        to.forget();
        scene.run(&into(&to)).ends(0);
        let without = requests(&to);
        let attest = format!("{} --attest mirror.pem --attest-id {ID}", into(&to));
        assert!(statements(&to).is_empty());
        let tags = to.tags("acme/demo");
        scene.run(&attest).says(0, "Updated Updated");
        let stated = statements(&to);
        assert_eq!(stated.len(), 2);
        for statement in &stated {
            let own = &statement["predicate"][format!("{ID}#signature")];
            assert_eq!(own["anchor"], "origin");
            assert_eq!(own["origin"], scene.origin.host());
            assert_eq!(own["signer"], Signer::acme().fingerprint());
            assert_eq!(statement["subject"].as_array().unwrap().len(), 3);
        }
        let is_own = |(tag, _): &(String, String)| !tag.starts_with("sha256-");
        let now: Vec<_> = to.tags("acme/demo").into_iter().filter(is_own).collect();
        assert_eq!(now, tags);
        to.forget();
        scene.origin.forget();
        scene.run(&attest).says(0, "Mirrored 4");
        let more = beyond(&without, requests(&to));
        let count = |path| more.iter().filter(|one| one.contains(path)).count();
        let (listed, tags) = (count("/referrers/"), count("/manifests/sha256-"));
        let is_little = match lists {
            true => listed == 2 && more.len() == 2,
            false => tags == 2 && listed <= 2 && more.len() <= 4,
        };
        assert!(is_little, "{more:?}");
        let asked = scene.origin.seen();
        assert!(!asked.iter().any(|one| one.path.contains("SHA256SUMS")));
        assert_eq!(statements(&to).len(), 2);
    }
}

#[test]
fn a_mirror_file_names_key_and_mirror() {
    let scene = scene();
    let to = registry(true);
    let (host, demo) = (to.host(), scene.origin.address("acme/demo"));
    let attest = format!("attest = {{ key = \"../mirror.pem\", id = \"{ID}\" }}");
    let file = format!(
        "to = [\"{host}/{{namespace}}/{{type}}\"]\n{attest}\n[[provider]]\naddress = \"{demo}\"\n"
    );
    scene.write("etc/mirror.toml", &file);
    let run = format!("--file etc/mirror.toml --plain-http {host}");
    scene.run(&run).ends(0);
    assert_eq!(statements(&to).len(), 1);
    let without = file.replace("key = \"../mirror.pem\", ", "");
    scene.write("etc/mirror.toml", without);
    scene.run(&run).ends(2);
    let mut command = scene.command(env!("CARGO_BIN_EXE_tfoci"));
    let words = format!("mirror {run} --ca-file ca.pem");
    let command = command.args(words.split(' '));
    let command = command.env("TFOCI_ATTEST_KEY", MirrorKey::new(1).private());
    assert!(command.status().unwrap().success());
    assert_eq!(statements(&to).len(), 1);
}

/// A run that ends between the attestation and the tag leaves nothing that a reader sees, and the next one finishes it.
#[test]
fn an_interrupted_run_is_finished_by_the_next_one() {
    let (scene, to) = (scene(), registry(false));
    let attest = format!("{} --attest mirror.pem --attest-id {ID}", into(&to));
    let is_tag = |seen: &Seen| seen.method == "PUT" && seen.path.ends_with("/manifests/1.1.0");
    to.fault(1, is_tag, Fault::status(403));
    scene.run(&attest).ends(1);
    assert!(!to.tags("acme/demo").iter().any(|(tag, _)| tag == "1.1.0"));
    assert!(!statements(&to).is_empty());
    scene.run(&attest).ends(0);
    assert_eq!(statements(&to).len(), 2);
}

/// What may be unsigned would be looked at every time.
#[test]
fn an_unsigned_mirror_asks_nothing_more() {
    let scene = scene();
    let to = registry(true);
    let attest = format!("--attest mirror.pem --attest-id {ID}");
    let run = format!("{} {attest} --allow-unsigned [ORIGIN]/acme/*", into(&to));
    scene.run(&run).ends(0);
    assert_eq!(statements(&to).len(), 2);
    to.forget();
    scene.run(&run).says(0, "Mirrored 4");
    let mut asked = requests(&to);
    asked.retain(|one| one.contains("/referrers/"));
    assert!(asked.is_empty(), "{asked:?}");
}
