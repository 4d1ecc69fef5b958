//! Documents altered so that tfoci verifies one package and clients install another.
//!
//! If tfoci exits with 0, the zip that a client selects is the verified one. Two clients check this: the independent reader in
//! `support/tofu_client`, which decodes as Go does and shares no code with tfoci, and the real `tofu`, if it is on PATH.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;
use tfoci::platform::Platform;

use super::tree::{Swaps, Tree};
use crate::clients::{requiring, run};
use crate::support::author::{Author, REPOSITORY};
use crate::support::dice::Dice;
use crate::support::layout::{Parts, blob, digest};
use crate::support::programs::has;
use crate::support::registry::content::Manifest;
use crate::support::registry::{Personality, Registry, Setup};
use crate::support::release::ReleaseFolder;
use crate::support::tls::Authority;
use crate::support::tofu_client;

const INDEX: &str = "application/vnd.oci.image.index.v1+json";
const MANIFEST: &str = "application/vnd.oci.image.manifest.v1+json";
/// How many documents are altered.
const CASES: u64 = 120;
/// How many of them the real client reads at most: each takes a third of a second.
const PUT_TO_TOFU: usize = 12;

/// A signed artifact for this machine and another one, and an unsigned package beside it.
struct ArtifactScene {
    author: Author,
    /// The manifest of this machine's package, as it is stored.
    manifest: String,
    index: String,
    /// Texts that lead to the right bytes, each with one that leads to others.
    swaps: Swaps,
    zh: String,
}

/// One altered artifact.
struct Altered {
    manifest: String,
    index: String,
}

fn here() -> String {
    Platform::current().to_string()
}

impl ArtifactScene {
    fn new() -> Self {
        let release = ReleaseFolder::new("demo", "1.0.0").platform(&here());
        let author = Author::of(release.platform("plan9_mips"));
        author.push("").succeeds();
        let repository = author.repository("");
        let index = fs::read_to_string(author.blob(&author.tagged("1.0.0").unwrap())).unwrap();
        let document: Value = serde_json::from_str(&index).unwrap();
        let entries = document["manifests"].as_array().unwrap();
        let text = |value: &Value| value.as_str().unwrap().to_owned();
        let of = |is_ours: bool| {
            let is_it = |entry: &&Value| (entry["platform"]["os"] != "plan9") == is_ours;
            let entry = entries.iter().find(is_it).unwrap();
            let manifest = fs::read_to_string(author.described(entry)).unwrap();
            (text(&entry["digest"]), manifest)
        };
        let ((ours, manifest), (theirs, other)) = (of(true), of(false));
        let document: Value = serde_json::from_str(&manifest).unwrap();
        let layer = &document["layers"][0];
        let zip = text(&layer["digest"]);
        let evil = Parts::good().package;
        fs::write(blob(&repository, &evil), &evil).unwrap();
        let size = |size: usize| format!("\"size\":{size}");
        let own = format!("\"size\":{}", layer["size"]);
        let evil_manifest = manifest.replace(&zip, &digest(&evil));
        let evil_manifest = evil_manifest.replace(&own, &size(evil.len()));
        fs::write(blob(&repository, evil_manifest.as_bytes()), &evil_manifest).unwrap();
        let swaps = vec![
            (ours, digest(evil_manifest.as_bytes())),
            (zip.clone(), digest(&evil)),
            (own, size(evil.len())),
            (size(manifest.len()), size(evil_manifest.len())),
            (theirs, digest(other.as_bytes())),
        ];
        Self {
            zh: zip.replace("sha256:", "zh:"),
            author,
            manifest,
            index,
            swaps,
        }
    }

    /// The case of this number: the same in every run.
    fn altered(&self, number: u64) -> Altered {
        let mut dice = Dice::new(number);
        let (mut manifest, mut index) = (self.manifest.clone(), self.index.clone());
        let in_manifest = dice.roll(3) == 0;
        let rounds = 1 + dice.roll(3);
        let mut tree = Tree::parse(if in_manifest { &manifest } else { &index });
        for _ in 0..rounds {
            tree.mutate(&mut dice, &self.swaps);
        }
        if in_manifest {
            let facts = |text: &str| [digest(text.as_bytes()), format!("\"size\":{}", text.len())];
            let old = facts(&manifest);
            manifest = tree.print();
            for (old, new) in old.iter().zip(facts(&manifest)) {
                index = index.replace(old, &new);
            }
        } else {
            index = tree.print();
        }
        Altered { manifest, index }
    }

    /// Writes a case beside the store, with all that the store has.
    fn write(&self, case: &Altered, name: &str) -> PathBuf {
        let layout = self.author.scene.path(name);
        crate::support::copy(&self.author.scene.path(REPOSITORY), &layout);
        for text in [&case.manifest, &case.index] {
            fs::write(blob(&layout, text.as_bytes()), text).unwrap();
        }
        let tags = fs::read_to_string(layout.join("index.json")).unwrap();
        let pointer = |text: &str| {
            let (digest, size) = (digest(text.as_bytes()), text.len());
            format!("\"digest\":\"{digest}\",\"size\":{size}")
        };
        let moved = tags.replace(&pointer(&self.index), &pointer(&case.index));
        fs::write(layout.join("index.json"), moved).unwrap();
        layout
    }

    /// Which commands of tfoci accept a layout with a pinned key: the one that needs this machine's package, and any other.
    fn accepts(&self, name: &str) -> (bool, bool) {
        let pinned = "--exact-repository --key acme.asc --require-pinned -q";
        let run = |command: &str| {
            let from = format!("acme/demo@1.0.0 --from oci-layout:{name}");
            let run = self.author.line(format!("{command} {from} {pinned}"));
            assert!(matches!(run.status, Some(0 | 1 | 3)), "{run:?}");
            run.status == Some(0)
        };
        let installed = run(&format!("install --platform {} --into into-{name}", here()));
        let copied = run(&format!("copy --to oci-layout:copy-{name}"));
        (installed, run("inspect") || copied)
    }
}

fn judged(layout: &Path) -> Option<String> {
    let platform = here();
    let (os, arch) = platform.split_once('_').unwrap();
    let installed = tofu_client::install(layout, "1.0.0", os, arch);
    installed.ok().map(|package| package.zh)
}

#[test]
fn tfoci_verifies_the_packages_that_clients_select() {
    let scene = ArtifactScene::new();
    let (mut accepted, mut misled, mut put) = (0, 0, Vec::new());
    for number in 0..CASES {
        let (case, name) = (scene.altered(number), format!("case{number}"));
        let layout = scene.write(&case, &name);
        let selected = judged(&layout);
        let (installed, others) = scene.accepts(&name);
        if others && selected.is_some() || installed {
            accepted += 1;
            let own = Some(&scene.zh);
            assert_eq!(selected.as_ref(), own, "{}\n{}", case.index, case.manifest);
            let copied = scene.author.scene.path(format!("copy-{name}"));
            if copied.join("index.json").exists() {
                assert_eq!(judged(&copied).as_ref(), Some(&scene.zh));
            }
            put.push(case);
        } else if selected.is_some_and(|zh| zh != scene.zh) {
            misled += 1;
        }
    }
    // Without such cases the test would show nothing.
    let has_both = accepted >= 10 && misled >= 5;
    assert!(has_both, "{accepted} accepted, {misled} misleading");
    put.truncate(PUT_TO_TOFU);
    if has("tofu") {
        let tofu = Tofu::new(&scene);
        for case in &put {
            let locks = tofu.locks(case);
            assert_eq!(locks, Some(true), "{}\n{}", case.index, case.manifest);
        }
    }
}

/// The attack that the rule is for: `tofu` installs an unsigned package, and tfoci does not report it as verified.
#[test]
fn duplicate_manifest_lists_do_not_verify_an_unsigned_package() {
    let scene = ArtifactScene::new();
    // Go reads the second list into the first: the digest of the first entry stays, which the second does not repeat.
    let mut evil = scene.index.clone();
    for (from, to) in &scene.swaps {
        evil = evil.replace(from, to);
    }
    let entries = |index: &str| {
        let document: Value = serde_json::from_str(index).unwrap();
        let mut entries = document["manifests"].as_array().unwrap().clone();
        entries.retain(|entry| entry["platform"]["os"] == Platform::current().os());
        entries[0].clone()
    };
    let (good, evil) = (entries(&scene.index), entries(&evil));
    let first = Tree::List(vec![Tree::from(&evil)]).print();
    let kind = good["artifactType"].clone();
    let second = format!("[{{\"artifactType\":{kind}}}]");
    let document: Value = serde_json::from_str(&scene.index).unwrap();
    let index = format!(
        "{{\"schemaVersion\":2,\"mediaType\":{},\"artifactType\":{},\"manifests\":{first},\"MANIFESTS\":{second}}}",
        document["mediaType"], document["artifactType"]
    );
    let case = Altered {
        manifest: scene.manifest.clone(),
        index,
    };
    let layout = scene.write(&case, "attack");
    let selected = judged(&layout).unwrap();
    assert_ne!(selected, scene.zh);
    assert_eq!(scene.accepts("attack"), (false, false));
    if has("tofu") {
        assert_eq!(Tofu::new(&scene).locks(&case), Some(false));
    }
}

/// The real client, and a registry from which it mirrors.
struct Tofu<'s> {
    scene: &'s ArtifactScene,
    registry: Registry,
    count: std::cell::Cell<usize>,
}

impl<'s> Tofu<'s> {
    fn new(scene: &'s ArtifactScene) -> Self {
        let authority = Authority::shared();
        authority.write(&scene.author.scene, "ca.pem");
        let setup = Setup::of(Personality::Plain).tls(authority.server().serve(None));
        Self {
            scene,
            registry: setup.start(),
            count: std::cell::Cell::new(0),
        }
    }

    /// Lets the client install a case; whether the zip that it locks is the one that was verified. `None` if it refuses.
    fn locks(&self, case: &Altered) -> Option<bool> {
        let number = self.count.get();
        self.count.set(number + 1);
        let name = format!("case{number}/demo");
        self.fill(&name, case);
        let scene = &self.scene.author.scene;
        let host = self.registry.host();
        let template = format!("{host}/case{number}/${{type}}");
        let block = format!(
            "provider_installation {{\n  oci_mirror {{\n    repository_template = \"{template}\"\n    include = [\"registry.opentofu.org/acme/demo\"]\n  }}\n}}\n"
        );
        scene.write("client.tfrc", block);
        let project = format!("project{number}");
        let needs = requiring(&[("registry.opentofu.org/acme/demo", "")]);
        scene.write(format!("{project}/main.tf"), needs);
        let init = "SSL_CERT_FILE=../ca.pem exec tofu init -input=false -no-color";
        let run = run(scene, &scene.path(&project), "sh", ["-c", init]);
        if run.status != Some(0) {
            eprintln!("{}", run.stderr);
            return None;
        }
        let lock = scene.path(format!("{project}/.terraform.lock.hcl"));
        let lock = fs::read_to_string(lock).unwrap();
        Some(lock.contains(&format!("\"{}\"", self.scene.zh)))
    }

    fn fill(&self, name: &str, case: &Altered) {
        let blobs = self.scene.author.repository("blobs/sha256");
        self.registry.repository(name, |held| {
            for entry in fs::read_dir(blobs).unwrap() {
                let bytes = fs::read(entry.unwrap().path()).unwrap();
                let media_type = match serde_json::from_slice::<Value>(&bytes) {
                    Ok(document) if document["manifests"].is_array() => INDEX,
                    Ok(document) if document["layers"].is_array() => MANIFEST,
                    _ => {
                        held.blobs.insert(digest(&bytes), bytes.into());
                        continue;
                    }
                };
                let (digest, media_type) = (digest(&bytes), media_type.to_owned());
                held.manifests.insert(
                    digest,
                    Manifest {
                        media_type,
                        bytes: bytes.into(),
                    },
                );
            }
            for (media_type, text) in [(MANIFEST, &case.manifest), (INDEX, &case.index)] {
                let (bytes, media_type) = (text.clone().into_bytes().into(), media_type.to_owned());
                held.manifests
                    .insert(digest(text.as_bytes()), Manifest { media_type, bytes });
            }
            held.tag("1.0.0", &digest(case.index.as_bytes()));
        });
    }
}
