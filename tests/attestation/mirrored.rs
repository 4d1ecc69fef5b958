use serde_json::Value;

use super::{ID, MirrorKey, write_keys};
use crate::mirror::origin_scene::OriginScene;
use crate::support::origin::Provider;
use crate::support::registry::{Fault, Personality, Registry, Setup};
use crate::support::signer::Signer;

const PLATFORMS: [&str; 2] = ["darwin_arm64", "linux_amd64"];

fn scene() -> OriginScene {
    let provider = Provider::demo(&PLATFORMS).version("1.1.0", &PLATFORMS);
    let scene = OriginScene::of([provider]);
    write_keys(&scene.scene);
    scene
}

fn registry(lists: bool) -> Registry {
    let setup = Setup::of(Personality::Plain);
    setup.quirks(|quirks| quirks.referrers = lists).start()
}

fn into(registry: &Registry) -> String {
    let host = registry.host();
    format!(
        "[ORIGIN]/acme/demo@>=1.0.0 --to {host}/{{namespace}}/{{type}} --plain-http {host} --jobs 1"
    )
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

fn requests(registry: &Registry) -> Vec<String> {
    let seen = registry.seen();
    registry.forget();
    let requests = seen
        .iter()
        .map(|one| format!("{} {}", one.method, one.path));
    let mut requests: Vec<String> = requests.collect();
    requests.sort();
    requests
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
        let mut more = requests(&to);
        for one in &without {
            more.remove(more.iter().position(|more| more == one).unwrap());
        }
        let listed = more
            .iter()
            .filter(|one| one.contains("/referrers/"))
            .count();
        let tags = more.iter().filter(|one| one.contains("/manifests/sha256-"));
        match lists {
            true => assert_eq!((listed, more.len()), (2, 2), "{more:?}"),
            false => assert!(
                tags.count() == 2 && listed <= 2 && more.len() <= 4,
                "{more:?}"
            ),
        }
        let asked = scene.origin.seen();
        assert!(!asked.iter().any(|one| one.path.contains("SHA256SUMS")));
        assert_eq!(statements(&to).len(), 2);
    }
}

#[test]
fn a_mirror_file_names_key_and_mirror() {
    let scene = scene();
    let to = registry(true);
    let host = to.host();
    let file = format!(
        "to = [\"{host}/{{namespace}}/{{type}}\"]\nattest = {{ key = \"../mirror.pem\", id = \"{ID}\" }}\n[[provider]]\naddress = \"{}\"\n",
        scene.named("[ORIGIN]/acme/demo")
    );
    scene.write("etc/mirror.toml", &file);
    let run = format!("--file etc/mirror.toml --plain-http {host}");
    scene.run(&run).ends(0);
    assert_eq!(statements(&to).len(), 1);
    scene.write(
        "etc/mirror.toml",
        file.replace("key = \"../mirror.pem\", ", ""),
    );
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
    let is_tag = |path: &str| path.ends_with("/manifests/1.1.0");
    to.fault(
        1,
        move |seen| seen.method == "PUT" && is_tag(&seen.path),
        Fault::status(403),
    );
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
    let run = format!(
        "{} --attest mirror.pem --attest-id {ID} --allow-unsigned {}",
        into(&to),
        scene.named("[ORIGIN]/acme/*")
    );
    scene.run(&run).ends(0);
    assert_eq!(statements(&to).len(), 2);
    to.forget();
    scene.run(&run).says(0, "Mirrored 4");
    let asked = requests(&to);
    assert!(
        !asked.iter().any(|one| one.contains("/referrers/")),
        "{asked:?}"
    );
}
