//! `tfoci prune`: what stays, what goes, and that nothing is lost between.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs;
use std::iter;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::process::ExitStatusExt as _;
use std::process::{Command, Stdio};
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};

use crate::support::author::Author;
use crate::support::docker_registry::{Options, Program};
use crate::support::origin::{Origin, Provider};
use crate::support::registry::content::{Manifest, Repository};
use crate::support::registry::{Fault, Personality, Registry, Setup};
use crate::support::release::{Mistake, ReleaseFolder, sha256};
use crate::support::scene::Run;
use crate::support::tamper;

const DEMO: &str = "registry.opentofu.org/acme/demo";
const SIGNATURE: &str = r#"{"schemaVersion":2,"layers":[]}"#;
const PLATFORMS: [&str; 2] = ["linux_amd64", "linux_arm64"];

/// Pushes versions of two platforms, whose packages all differ.
fn push(author: &Author, to: &str, versions: &[&str]) {
    for version in versions {
        let folder = ReleaseFolder::new("demo", version);
        let folder = PLATFORMS.iter().fold(folder, |folder, one| {
            folder.package(
                one,
                &[(
                    "terraform-provider-demo",
                    format!("{version} {one}").as_bytes(),
                )],
            )
        });
        push_folder(author, to, &folder);
    }
}

fn push_folder(author: &Author, to: &str, folder: &ReleaseFolder) {
    let name = format!("dist-{}", folder.version());
    folder.write(&author.scene.path(&name));
    let key = "--provider acme/demo --key acme.asc";
    let network = format!("--plain-http 127.0.0.1 --to {to}");
    author
        .line(format!("push {name} {key} {network}"))
        .succeeds();
}

fn prune(author: &Author, from: &str, more: &str) -> Run {
    let network = format!("prune --plain-http 127.0.0.1 --from {from}");
    author.line(format!("{network} {more}"))
}

fn versions(author: &Author, from: &str) -> Vec<String> {
    let list = "versions acme/demo --plain-http 127.0.0.1";
    let run = author.line(format!("{list} --from {from}")).succeeds();
    let mut versions: Vec<String> = run.stdout.lines().map(str::to_owned).collect();
    versions.sort();
    versions
}

/// The versions of the document that go, and those that stay because another tag names them.
fn document(run: &Run) -> (Vec<String>, Vec<String>) {
    let document = run.json();
    let removed = document["removed"].as_array().unwrap();
    let names = |kept: bool| {
        let some = removed
            .iter()
            .filter(|one| one.get("named_by").is_some() == kept);
        some.map(|one| one["version"].as_str().unwrap().to_owned())
            .collect()
    };
    (names(false), names(true))
}

fn verifies(author: &Author, from: &str) {
    let verify = "verify --plain-http 127.0.0.1 --deep";
    let trust = format!("--key acme.asc --require-pinned --from {from}");
    author
        .line(format!("{verify} {trust} acme/demo"))
        .succeeds();
}

fn lock(author: &Author, path: &str, version: &str) {
    let text = format!("provider \"{DEMO}\" {{\n  version = \"{version}\"\n}}\n");
    author
        .scene
        .write(format!("{path}/.terraform.lock.hcl"), text);
}

const ALL: [&str; 6] = ["1.0.0", "1.1.0", "1.2.0", "2.0.0", "2.1.0", "2.2.0-rc1"];

#[test]
fn the_rules_add_up_and_the_plan_is_what_happens() {
    let author = Author::new();
    let store = "oci-layout:store";
    push(&author, store, &ALL);
    lock(&author, "tree/a", "1.0.0");
    lock(&author, "tree/b", "1.1.0");
    let file =
        "[[provider]]\naddress = \"registry.opentofu.org/acme/demo\"\nconstraints = \"= 1.2.0\"\n";
    author.scene.write("keep.toml", file);
    let before = author.tree();
    for (rules, gone) in [
        ("--keep-newest 1", &["1.0.0", "1.1.0", "1.2.0", "2.0.0"][..]),
        ("--keep-newest 3", &["1.0.0", "1.1.0"]),
        ("--keep-locked tree", &["1.2.0", "2.0.0", "2.1.0"]),
        ("--keep keep.toml", &["1.0.0", "1.1.0", "2.0.0", "2.1.0"]),
        ("--keep-younger 90d", &[]),
        (
            "--keep-younger 0d",
            &["1.0.0", "1.1.0", "1.2.0", "2.0.0", "2.1.0"],
        ),
        (
            "--keep-newest 1 --keep-locked tree/a --keep keep.toml",
            &["1.1.0", "2.0.0"],
        ),
        // An argument names the provider, so the newest version may go.
        (
            "acme/demo --keep-newest 1",
            &["1.0.0", "1.1.0", "1.2.0", "2.0.0", "2.2.0-rc1"],
        ),
        ("acme/demo@2.1.0", &["2.1.0"]),
    ] {
        let planned = prune(&author, store, &format!("{rules} --format json")).succeeds();
        let gone = gone.iter().map(|&one| one.to_owned()).collect();
        assert_eq!(document(&planned), (gone, vec![]), "{rules}");
        assert_eq!(author.tree(), before, "{rules}");
    }
    // A directory whose name is not UTF-8 may have a lock file, too.
    let odd = author.scene.path("tree/b");
    fs::rename(&odd, odd.with_file_name(OsStr::from_bytes(b"b\xff"))).unwrap();
    let rules = "--keep-newest 1 --keep-locked tree --format json";
    let planned = prune(&author, store, rules).succeeds();
    let done = prune(&author, store, &format!("{rules} --yes")).succeeds();
    assert_eq!(document(&done), document(&planned));
    let kept = ["1.0.0", "1.1.0", "2.1.0", "2.2.0-rc1"];
    assert_eq!(versions(&author, store), kept);
    verifies(&author, store);
    // The layout has what these versions need, and nothing more.
    let copied = kept.map(|version| format!("acme/demo@{version}"));
    let copy = format!("copy --from {store} --to oci-layout:alone");
    let trust = "--key acme.asc --require-pinned";
    let copied = copied.each_ref().map(String::as_str);
    author
        .line(format!("{copy} {trust} {}", copied.join(" ")))
        .succeeds();
    let blobs = |name: &str| -> BTreeSet<String> {
        let blobs = format!("{name}/{DEMO}/blobs/sha256");
        let blobs = fs::read_dir(author.scene.path(blobs)).unwrap();
        blobs
            .map(|one| one.unwrap().file_name().into_string().unwrap())
            .collect()
    };
    assert_eq!(blobs("store"), blobs("alone"));
    let again = prune(&author, store, &format!("{rules} --yes")).succeeds();
    assert_eq!(document(&again), (vec![], vec![]));
}

#[test]
fn a_version_without_a_signature_is_not_old() {
    let author = Author::new();
    push(&author, "oci-layout:store", &["1.0.0", "2.0.0"]);
    let unsigned = ReleaseFolder::new("demo", "1.1.0").platform("linux_amd64");
    let unsigned = unsigned.mistake(Mistake::SignatureMissing);
    unsigned.write(&author.scene.path("unsigned"));
    let push = "push unsigned --provider acme/demo --allow-unsigned acme/demo";
    author
        .line(format!("{push} --to oci-layout:store"))
        .succeeds();
    let rules = "--keep-younger 0d --format json";
    let planned = prune(&author, "oci-layout:store", rules).succeeds();
    assert_eq!(document(&planned), (vec!["1.0.0".to_owned()], vec![]));
}

#[test]
fn what_cannot_be_decided_changes_nothing() {
    let author = Author::new();
    let store = "oci-layout:store";
    push(&author, store, &ALL[..2]);
    author
        .scene
        .write("broken/.terraform.lock.hcl", "provider {");
    author.scene.write("none/readme", "");
    author.scene.write("keep.toml", "[[provider]]\n");
    let before = author.tree();
    for rules in [
        "",
        "acme/demo",
        "--keep-locked broken",
        "--keep-locked none",
        "--keep-locked absent",
        "--keep keep.toml",
        "--keep-newest 0",
        "--keep-younger 90",
    ] {
        prune(&author, store, &format!("{rules} --yes")).exits(2);
        assert_eq!(author.tree(), before, "{rules}");
    }
    author
        .line(format!("copy acme/demo --from {store} --to bundle:all.tar"))
        .succeeds();
    let bundle = fs::read(author.scene.path("all.tar")).unwrap();
    prune(&author, "bundle:all.tar", "--keep-newest 1").exits(2);
    prune(&author, "bundle:all.tar", "--keep-newest 1 --yes").exits(2);
    assert_eq!(fs::read(author.scene.path("all.tar")).unwrap(), bundle);
}

#[test]
fn registries_keep_what_versions_share_and_what_other_tags_name() {
    let author = Author::new();
    for program in [Program::DockerRegistry, Program::Zot] {
        let Some(registry) = program.start(&Options::default()) else {
            continue;
        };
        let host = registry.host();
        let store = format!("{host}/{{hostname}}/{{namespace}}/{{type}}");
        push(&author, &store, &ALL);
        let run = prune(&author, &store, "acme/demo --keep-newest 2 --format json").succeeds();
        let gone = ["1.0.0", "1.1.0", "1.2.0", "2.2.0-rc1"]
            .map(str::to_owned)
            .to_vec();
        assert_eq!(document(&run), (gone.clone(), vec![]));
        assert_eq!(versions(&author, &store).len(), ALL.len());
        let run = prune(
            &author,
            &store,
            "acme/demo --keep-newest 2 --format json --yes",
        )
        .succeeds();
        assert_eq!(document(&run), (gone, vec![]));
        assert_eq!(versions(&author, &store), ["2.0.0", "2.1.0"]);
        verifies(&author, &store);
    }
}

/// A registry with three versions.
fn registry(author: &Author, deletes: bool) -> (Registry, String) {
    let setup = Setup::of(Personality::Plain);
    let registry = setup.quirks(|quirks| quirks.deletes = deletes).start();
    let store = format!("{}/{{hostname}}/{{namespace}}/{{type}}", registry.host());
    push(author, &store, &ALL[..3]);
    (registry, store)
}

fn content(registry: &Registry) -> (BTreeSet<String>, BTreeSet<String>) {
    registry.repository(DEMO, |content| {
        let tags = content.tags.iter().map(|(tag, _)| tag.clone());
        (tags.collect(), content.manifests.keys().cloned().collect())
    })
}

/// A run is refused or killed at each deletion; the next one leaves what an undisturbed one leaves.
#[test]
fn a_removal_that_was_cut_short_is_finished_by_the_next() {
    let author = Author::new();
    let (whole, store) = registry(&author, true);
    whole.repository(DEMO, |content| {
        let index = content.resolve("1.0.0").unwrap();
        let sbom = attach(content, &index);
        let signature = attach(content, &sbom);
        list(content, &index, &[&sbom]);
        list(content, &sbom, &[&signature]);
    });
    let before = whole.repository(DEMO, |content| content.clone());
    for (rules, left) in [
        ("acme/demo --keep-newest 1 --yes", (2, 4)),
        // No version stays.
        ("acme/demo@>=0 --yes", (0, 0)),
    ] {
        whole.repository(DEMO, |content| *content = before.clone());
        let earlier = whole.count(|seen| seen.method == "DELETE");
        prune(&author, &store, rules).succeeds();
        let wanted = content(&whole);
        assert_eq!((wanted.0.len(), wanted.1.len()), left);
        let deletions = whole.count(|seen| seen.method == "DELETE") - earlier;
        for nth in 1..=deletions {
            whole.repository(DEMO, |content| *content = before.clone());
            whole.fault(nth, |seen| seen.method == "DELETE", Fault::denied());
            prune(&author, &store, rules).exits(1);
            assert_ne!(content(&whole), wanted, "{nth}");
            prune(&author, &store, rules).succeeds();
            assert_eq!(content(&whole), wanted, "{nth}");
            whole.repository(DEMO, |content| *content = before.clone());
            kill_at(&author, &whole, &store, rules, nth);
            // After the last deletion, there may be nothing that a run could name.
            prune(&author, &store, rules);
            assert_eq!(content(&whole), wanted, "{nth}");
        }
    }
}

/// Kills a run when the registry has done the nth deletion, and not answered.
fn kill_at(author: &Author, registry: &Registry, store: &str, rules: &str, nth: usize) {
    let victim: Arc<Mutex<Option<u32>>> = Arc::default();
    let hit = Arc::clone(&victim);
    let kill = Fault::after(move || {
        let id = hit.lock().unwrap().unwrap().to_string();
        let sent = Command::new("kill").args(["-s", "KILL", &id]).status();
        assert!(sent.unwrap().success());
    });
    registry.fault(nth, |seen| seen.method == "DELETE", kill);
    // Requests wait until the process id is known.
    let mut known = victim.lock().unwrap();
    let mut command = author.scene.command(env!("CARGO_BIN_EXE_tfoci"));
    command.args(["prune", "--plain-http", "127.0.0.1", "--from", store]);
    command.args(rules.split_whitespace());
    command.stdout(Stdio::null()).stderr(Stdio::null());
    let mut killed = command.spawn().unwrap();
    *known = Some(killed.id());
    drop(known);
    assert_eq!(killed.wait().unwrap().signal(), Some(9));
}

/// Four hundred versions, of which two lock files and a rule keep some.
#[test]
fn of_four_hundred_versions_the_exact_set_stays() {
    let origin = Origin::of(Provider::many(1, 400, &["linux_amd64"]));
    let author = Author::new();
    let address = origin.address("acme/p0");
    let ca = origin.write_ca(&author.scene);
    let all = format!("{address}@>=1.0.0");
    let mirror = format!("mirror {all} --to oci-layout:all");
    let network = format!(
        "--allow-private {} --ca-file {}",
        origin.host(),
        ca.to_str().unwrap()
    );
    author.line(format!("{mirror} {network}")).succeeds();
    for (path, version) in [("tree/a", "1.365.0"), ("tree/b", "1.380.0")] {
        let text = format!("provider \"{address}\" {{\n  version = \"{version}\"\n}}\n");
        author
            .scene
            .write(format!("{path}/.terraform.lock.hcl"), text);
    }
    let wanted = ["1.365.0", "1.380.0", "1.397.0", "1.398.0", "1.399.0"];
    let programs = [Program::DockerRegistry, Program::Zot];
    let programs = programs.map(|program| program.start(&Options::default()));
    let registries = programs.iter().flatten();
    let registries = registries.map(|one| format!("{}/{{namespace}}/{{type}}", one.host()));
    // A tenth of them in registries, for the sake of time.
    let stores = registries.map(|store| (store, 40));
    for (store, count) in iter::once(("oci-layout:store".to_owned(), 400)).chain(stores) {
        let some = format!("{address}@>=1.{}.0", 400 - count);
        author
            .line(format!(
                "copy {some} --from oci-layout:all --to {store} --plain-http 127.0.0.1"
            ))
            .succeeds();
        let rules = format!("{address} --keep-newest 3 --keep-locked tree --format json");
        let plan = prune(&author, &store, &rules).succeeds();
        let plan = document(&plan);
        assert_eq!(plan.0.len(), count - wanted.len());
        let done = prune(&author, &store, &format!("{rules} --yes")).succeeds();
        assert_eq!(document(&done), plan);
        let listed = author
            .line(format!(
                "versions {address} --from {store} --plain-http 127.0.0.1"
            ))
            .succeeds()
            .stdout;
        let mut listed: Vec<&str> = listed.lines().collect();
        listed.sort_unstable();
        assert_eq!(listed, wanted);
        author
            .line(format!(
                "verify {address} --deep --from {store} --plain-http 127.0.0.1"
            ))
            .succeeds();
    }
}

#[test]
fn an_index_that_another_tag_names_stays_and_signatures_go_with_theirs() {
    let author = Author::new();
    let (registry, store) = registry(&author, true);
    let signature = registry.repository(DEMO, |content| {
        let first = content.resolve("1.0.0").unwrap();
        content.tag("latest", &first);
        let second = content.resolve("1.1.0").unwrap();
        let signature = Manifest {
            media_type: "application/vnd.oci.image.manifest.v1+json".to_owned(),
            bytes: SIGNATURE.into(),
        };
        let digest = format!("sha256:{}", sha256(SIGNATURE.as_bytes()));
        content.manifests.insert(digest.clone(), signature);
        content.tag(&format!("{}.sig", second.replace(':', "-")), &digest);
        digest
    });
    // A tag of the user for one platform of a version that goes.
    let child = registry.repository(DEMO, |content| {
        let second = content.resolve("1.1.0").unwrap();
        let mut index: Value = serde_json::from_slice(&content.manifests[&second].bytes).unwrap();
        let child = index["manifests"][0]["digest"].as_str().unwrap().to_owned();
        index["manifests"].as_array_mut().unwrap().truncate(1);
        let bytes = index.to_string();
        let digest = format!("sha256:{}", sha256(bytes.as_bytes()));
        let media_type = content.manifests[&second].media_type.clone();
        let manifest = Manifest {
            media_type,
            bytes: bytes.into(),
        };
        content.manifests.insert(digest.clone(), manifest);
        content.tag("only-linux", &digest);
        child
    });
    let rules = "acme/demo --keep-newest 1 --format json --yes";
    let run = prune(&author, &store, rules).succeeds();
    let named = |version: &str| vec![version.to_owned()];
    assert_eq!(document(&run), (named("1.1.0"), named("1.0.0")));
    let (tags, manifests) = content(&registry);
    let wanted = [
        "1.0.0",
        "1.2.0",
        "evidence-1.0.0",
        "evidence-1.2.0",
        "latest",
        "only-linux",
    ];
    assert_eq!(tags, wanted.map(str::to_owned).into());
    assert!(!manifests.contains(&signature) && manifests.contains(&child));
    assert_eq!(manifests.len(), 10);
}

/// Adds a list of what is attached to a manifest.
fn list(content: &mut Repository, subject: &str, attached: &[&str]) {
    let digest = index_of(content, attached);
    content.tag(&subject.replace(':', "-"), &digest);
}

/// Adds an index. Returns its digest.
fn index_of(content: &mut Repository, manifests: &[&str]) -> String {
    let entries = manifests.iter().map(|digest| {
        let manifest = &content.manifests[*digest];
        json!({"mediaType": manifest.media_type, "digest": digest, "size": manifest.bytes.len()})
    });
    let entries: Vec<Value> = entries.collect();
    let media_type = "application/vnd.oci.image.index.v1+json";
    let index = json!({"schemaVersion": 2, "mediaType": media_type, "manifests": entries});
    let manifest = Manifest {
        media_type: media_type.to_owned(),
        bytes: index.to_string().into(),
    };
    let digest = format!("sha256:{}", sha256(&manifest.bytes));
    content.manifests.insert(digest.clone(), manifest);
    digest
}

/// Adds a manifest that is attached to another one. Returns its digest.
fn attach(content: &mut Repository, subject: &str) -> String {
    let subject = json!({"digest": subject, "size": 1, "mediaType": "x"});
    let document = json!({"schemaVersion": 2, "layers": [], "subject": subject});
    let manifest = Manifest {
        media_type: "application/vnd.oci.image.manifest.v1+json".to_owned(),
        bytes: document.to_string().into(),
    };
    let digest = format!("sha256:{}", sha256(&manifest.bytes));
    content.manifests.insert(digest.clone(), manifest);
    digest
}

/// What a registry lists goes with its subject, however deep; so does the tag of a platform's signature.
#[test]
fn what_is_attached_goes_with_its_version() {
    let author = Author::new();
    let setup = Setup::of(Personality::Plain).quirks(|quirks| {
        (quirks.deletes, quirks.referrers) = (true, true);
    });
    let registry = setup.start();
    let store = format!("{}/{{hostname}}/{{namespace}}/{{type}}", registry.host());
    push(&author, &store, &["2.0.0"]);
    let mut kept = content(&registry);
    push(&author, &store, &["1.0.0"]);
    registry.repository(DEMO, |content| {
        let index = content.resolve("1.0.0").unwrap();
        let sbom = attach(content, &index);
        attach(content, &sbom);
        let document: Value = serde_json::from_slice(&content.manifests[&index].bytes).unwrap();
        let platform = document["manifests"][1]["digest"].as_str().unwrap();
        let signature = attach(content, platform);
        content.tag(&format!("{}.sig", platform.replace(':', "-")), &signature);
        let evidence = content.resolve("evidence-1.0.0").unwrap();
        let signature = attach(content, &evidence);
        content.tag(&format!("{}.sig", evidence.replace(':', "-")), &signature);
        let stays = content.resolve("2.0.0").unwrap();
        kept.1.insert(attach(content, &stays));
    });
    prune(&author, &store, "acme/demo@1.0.0 --yes").succeeds();
    assert_eq!(content(&registry), kept);

    // In a layout, as `oras attach` does it: without a tag.
    push(&author, "oci-layout:store", &["1.0.0", "2.0.0"]);
    let layout = author.scene.path("store").join(DEMO);
    let index = tamper::tagged(&layout, "1.0.0");
    let document = json!({"schemaVersion": 2, "layers": [], "subject": index});
    let media_type = "application/vnd.oci.image.manifest.v1+json";
    let entry = tamper::put(&layout, media_type, document.to_string().as_bytes());
    tamper::tags(&layout, |tags| tags.push(entry.clone()));
    prune(&author, "oci-layout:store", "acme/demo@1.0.0 --yes").succeeds();
    let blobs = fs::read_dir(layout.join("blobs/sha256")).unwrap();
    let blobs = blobs.map(|one| format!("sha256:{}", one.unwrap().file_name().display()));
    let blobs: BTreeSet<String> = blobs.collect();
    assert!(!blobs.contains(index["digest"].as_str().unwrap()));
    assert!(!blobs.contains(entry["digest"].as_str().unwrap()));
}

/// Whoever may push can attach what belongs to other versions to one that will go.
#[test]
fn what_stays_is_not_deleted_whatever_is_attached_to_a_version_that_goes() {
    type Attack = fn(&mut Repository, &str, &str, &str);
    let attacks: [Attack; 6] = [
        |content, goes, stays, _| content.tag(&format!("{}.sig", goes.replace(':', "-")), stays),
        |content, goes, _, evidence| {
            content.tag(&format!("{}.sig", goes.replace(':', "-")), evidence);
        },
        |content, goes, stays, evidence| {
            let both = index_of(content, &[stays, evidence]);
            content.tag(&format!("{}.att", goes.replace(':', "-")), &both);
        },
        |content, goes, stays, evidence| list(content, goes, &[stays, evidence]),
        |content, goes, stays, _| {
            let signature = attach(content, stays);
            list(content, goes, &[&signature]);
        },
        // A removal that seems to be cut short.
        |content, _, _, evidence| content.tag("evidence-1.9.0", evidence),
    ];
    let author = Author::new();
    let (registry, store) = registry(&author, true);
    let before = registry.repository(DEMO, |content| content.clone());
    for (nth, attack) in attacks.iter().enumerate() {
        let needed = registry.repository(DEMO, |content| {
            *content = before.clone();
            let [goes, stays, evidence] =
                ["1.0.0", "1.1.0", "evidence-1.1.0"].map(|tag| content.resolve(tag).unwrap());
            attack(content, &goes, &stays, &evidence);
            let is_attached = |digest: &&String| !before.manifests.contains_key(*digest);
            let signature = content.manifests.keys().find(is_attached).cloned();
            let signature = signature.filter(|_| nth == 4);
            [stays, evidence]
                .into_iter()
                .chain(signature)
                .collect::<Vec<String>>()
        });
        prune(&author, &store, "acme/demo@1.0.0 --yes").succeeds();
        let left = content(&registry).1;
        assert!(needed.iter().all(|one| left.contains(one)), "{nth}");
        verifies(&author, &store);
    }
    // What is attached to a version that stays names one that would go.
    registry.repository(DEMO, |content| {
        *content = before.clone();
        let [goes, stays] = ["1.0.0", "1.1.0"].map(|tag| content.resolve(tag).unwrap());
        list(content, &stays, &[&goes]);
    });
    let all = content(&registry);
    let run = prune(&author, &store, "acme/demo@1.0.0 --yes --format json").succeeds();
    assert_eq!(document(&run), (vec![], vec!["1.0.0".to_owned()]));
    assert_eq!(content(&registry), all);
    // A tag of the user for both versions.
    registry.repository(DEMO, |content| {
        *content = before.clone();
        let both = ["1.0.0", "1.1.0"].map(|tag| content.resolve(tag).unwrap());
        let both = index_of(content, &[&both[0], &both[1]]);
        content.tag("all", &both);
    });
    let all = content(&registry);
    let run = prune(&author, &store, "acme/demo@1.0.0 --yes --format json").succeeds();
    assert_eq!(document(&run), (vec![], vec!["1.0.0".to_owned()]));
    assert_eq!(content(&registry), all);
}

#[test]
fn what_cannot_be_known_ends_the_plan() {
    let author = Author::new();
    // Versions of another provider.
    let (registry, store) = registry(&author, true);
    let before = content(&registry);
    let shared = store.replace("{hostname}/{namespace}/{type}", DEMO);
    let arguments = "prune other/demo@1.0.0 --exact-repository --yes";
    let from = format!("--from {shared} --plain-http 127.0.0.1");
    let run = author.line(format!("{arguments} {from}"));
    assert_ne!(run.status, Some(0), "{}", run.stderr);
    let shared = store.replace(
        "{hostname}/{namespace}/{type}",
        "registry.opentofu.org/acme/{type}",
    );
    prune(&author, &shared, "other/demo@1.0.0 --yes").exits(3);
    assert_eq!(content(&registry), before);
    // A chain of lists.
    registry.repository(DEMO, |content| {
        let mut subject = content.resolve("1.0.0").unwrap();
        for _ in 0..10 {
            let next = attach(content, &subject);
            list(content, &subject, &[&next]);
            subject = next;
        }
    });
    let before = content(&registry);
    prune(&author, &store, "acme/demo@1.0.0 --yes").exits(1);
    assert_eq!(content(&registry), before);
    // A version that stays is damaged.
    push(&author, "oci-layout:store", &ALL[..2]);
    let layout = author.scene.path("store").join(DEMO);
    let index = tamper::document(&layout, &tamper::tagged(&layout, "1.1.0"));
    let child = index["manifests"][0]["digest"].as_str().unwrap();
    author
        .scene
        .write(layout.join("blobs").join(child.replace(':', "/")), "{}");
    let before = author.tree();
    let run = prune(&author, "oci-layout:store", "acme/demo@1.0.0 --yes");
    assert_ne!(run.status, Some(0), "{}", run.stderr);
    assert_eq!(author.tree(), before);
}

#[test]
fn an_index_that_a_kept_version_names_too_stays() {
    let author = Author::new();
    let (registry, store) = registry(&author, true);
    registry.repository(DEMO, |content| {
        let first = content.resolve("1.0.0").unwrap();
        content.tag("1.3.0", &first);
    });
    let before = content(&registry);
    let rules = "acme/demo@1.0.0 --format json --yes";
    let run = prune(&author, &store, rules).succeeds();
    assert_eq!(document(&run), (vec![], vec!["1.0.0".to_owned()]));
    assert_eq!(content(&registry), before);
}

#[test]
fn a_registry_that_does_not_delete_is_named() {
    let author = Author::new();
    let (registry, store) = registry(&author, false);
    let before = content(&registry);
    prune(&author, &store, "acme/demo --keep-newest 1").succeeds();
    let run = prune(&author, &store, "acme/demo --keep-newest 1 --yes").exits(1);
    assert!(run.stderr.contains(registry.host()), "{}", run.stderr);
    assert_eq!(content(&registry), before);
    assert_eq!(registry.count(|seen| seen.method == "DELETE"), 1);
}
