//! `tfoci prune`: what stays, what goes, and that nothing is lost between.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs;
use std::iter;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::process::ExitStatusExt as _;

use serde_json::Value;

use crate::copy::referrers;
use crate::support::author::Author;
use crate::support::docker_registry::{Options, Program};
use crate::support::origin::{Origin, Provider};
use crate::support::registry::content::{Repository, parts};
use crate::support::registry::{Fault, Personality, Registry, Setup};
use crate::support::release::{Mistake, ReleaseFolder};
use crate::support::scene::Run;
use crate::support::signal::Target;
use crate::support::tamper;

const DEMO: &str = "registry.opentofu.org/acme/demo";
const PLAIN: &str = "--plain-http 127.0.0.1";
const PLATFORMS: [&str; 2] = ["linux_amd64", "linux_arm64"];

/// Pushes versions of two platforms, whose packages all differ.
fn push(author: &Author, to: &str, versions: &[&str]) {
    for version in versions {
        let mut folder = ReleaseFolder::new("demo", version);
        for platform in PLATFORMS {
            let text = format!("{version} {platform}");
            let files = [("terraform-provider-demo", text.as_bytes())];
            folder = folder.package(platform, &files);
        }
        author.releases(folder);
        author.push_to(to, PLAIN).succeeds();
    }
}

fn prune(author: &Author, from: &str, more: &str) -> Run {
    author.line(format!("prune {PLAIN} --from {from} {more}"))
}

fn versions(author: &Author, from: &str) -> Vec<String> {
    let run = author.line(format!("versions acme/demo {PLAIN} --from {from}"));
    let run = run.succeeds();
    let mut versions: Vec<String> = run.stdout.lines().map(str::to_owned).collect();
    versions.sort();
    versions
}

/// The versions of the document that go, and those that stay because another tag names them.
fn document(run: &Run) -> (Vec<String>, Vec<String>) {
    let document = run.json();
    let removed = document["removed"].as_array().unwrap();
    let is_kept = |one: &Value| one.get("named_by").is_some();
    let (kept, gone): (Vec<Value>, Vec<Value>) = removed.iter().cloned().partition(is_kept);
    let names = |some: Vec<Value>| {
        let versions = some.iter().map(|one| one["version"].as_str().unwrap());
        versions.map(str::to_owned).collect()
    };
    (names(gone), names(kept))
}

fn verifies(author: &Author, from: &str) {
    let verify = format!("verify acme/demo {PLAIN} --deep --from {from}");
    let run = author.line(format!("{verify} --key acme.asc --require-pinned"));
    run.succeeds();
}

fn lock(author: &Author, address: &str, path: &str, version: &str) {
    let text = format!("provider \"{address}\" {{\n  version = \"{version}\"\n}}\n");
    author.write(format!("{path}/.terraform.lock.hcl"), text);
}

const ALL: [&str; 6] = ["1.0.0", "1.1.0", "1.2.0", "2.0.0", "2.1.0", "2.2.0-rc1"];

#[test]
fn the_rules_add_up_and_the_plan_is_what_happens() {
    let author = Author::new();
    let store = "oci-layout:store";
    push(&author, store, &ALL);
    lock(&author, DEMO, "tree/a", "1.0.0");
    lock(&author, DEMO, "tree/b", "1.1.0");
    let file = format!("[[provider]]\naddress = \"{DEMO}\"\nconstraints = \"= 1.2.0\"\n");
    author.write("keep.toml", file);
    let before = author.tree();
    #[rustfmt::skip] // A table.
    let cases = [
        ("--keep-newest 1", "1.0.0 1.1.0 1.2.0 2.0.0"),
        ("--keep-newest 3", "1.0.0 1.1.0"),
        ("--keep-locked tree", "1.2.0 2.0.0 2.1.0"),
        ("--keep keep.toml", "1.0.0 1.1.0 2.0.0 2.1.0"),
        ("--keep-younger 90d", ""),
        ("--keep-younger 0d", "1.0.0 1.1.0 1.2.0 2.0.0 2.1.0"),
        ("--keep-newest 1 --keep-locked tree/a --keep keep.toml", "1.1.0 2.0.0"),
        // An argument names the provider, so the newest version may go.
        ("acme/demo --keep-newest 1", "1.0.0 1.1.0 1.2.0 2.0.0 2.2.0-rc1"),
        ("acme/demo@2.1.0", "2.1.0"),
    ];
    for (rules, gone) in cases {
        let planned = prune(&author, store, &format!("{rules} --format json")).succeeds();
        let gone = gone.split_whitespace().map(str::to_owned).collect();
        assert_eq!(document(&planned), (gone, vec![]), "{rules}");
        assert_eq!(author.tree(), before, "{rules}");
    }
    // A directory whose name is not UTF-8 may have a lock file, too.
    let odd = author.path("tree/b");
    fs::rename(&odd, odd.with_file_name(OsStr::from_bytes(b"b\xff"))).unwrap();
    let rules = "--keep-newest 1 --keep-locked tree --format json";
    let planned = prune(&author, store, rules).succeeds();
    let done = prune(&author, store, &format!("{rules} --yes")).succeeds();
    assert_eq!(document(&done), document(&planned));
    let kept = ["1.0.0", "1.1.0", "2.1.0", "2.2.0-rc1"];
    assert_eq!(versions(&author, store), kept);
    verifies(&author, store);
    // The layout has what these versions need, and nothing more.
    let copied = kept.map(|version| format!("acme/demo@{version}")).join(" ");
    let copy = format!("copy {copied} --from {store} --to oci-layout:alone");
    let trust = "--key acme.asc --require-pinned";
    author.line(format!("{copy} {trust}")).succeeds();
    let blobs = |name: &str| author.tree_of(format!("{name}/{DEMO}/blobs"));
    assert_eq!(blobs("store"), blobs("alone"));
    let again = prune(&author, store, &format!("{rules} --yes")).succeeds();
    assert_eq!(document(&again), (vec![], vec![]));
}

#[test]
fn a_version_without_a_signature_is_not_old() {
    let author = Author::new();
    push(&author, "oci-layout:store", &["1.0.0", "2.0.0"]);
    let unsigned = ReleaseFolder::new("demo", "1.1.0").platform("linux_amd64");
    author.releases(unsigned.mistake(Mistake::SignatureMissing));
    author
        .push_unsigned("--allow-unsigned acme/demo")
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
    author.write("broken/.terraform.lock.hcl", "provider {");
    author.write("none/readme", "");
    author.write("keep.toml", "[[provider]]\n");
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
    let copy = format!("copy acme/demo --from {store} --to bundle:all.tar");
    author.line(copy).succeeds();
    let bundle = fs::read(author.path("all.tar")).unwrap();
    prune(&author, "bundle:all.tar", "--keep-newest 1").exits(2);
    prune(&author, "bundle:all.tar", "--keep-newest 1 --yes").exits(2);
    assert_eq!(fs::read(author.path("all.tar")).unwrap(), bundle);
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
        let rules = "acme/demo --keep-newest 2 --format json";
        let gone = ["1.0.0", "1.1.0", "1.2.0", "2.2.0-rc1"].map(str::to_owned);
        let run = prune(&author, &store, rules).succeeds();
        assert_eq!(document(&run), (gone.to_vec(), vec![]));
        assert_eq!(versions(&author, &store).len(), ALL.len());
        let run = prune(&author, &store, &format!("{rules} --yes")).succeeds();
        assert_eq!(document(&run), (gone.to_vec(), vec![]));
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
        tag_list(content, &index, &[&sbom]);
        tag_list(content, &sbom, &[&signature]);
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
    let target = Target::default();
    let kill = Fault::after(target.hit("KILL"));
    registry.fault(nth, |seen| seen.method == "DELETE", kill);
    let mut killed =
        target.start(&mut author.piped(format!("prune {PLAIN} --from {store} {rules}")));
    assert_eq!(killed.wait().unwrap().signal(), Some(9));
}

/// Four hundred versions, of which two lock files and a rule keep some.
#[test]
fn of_four_hundred_versions_the_exact_set_stays() {
    let origin = Origin::of(Provider::many(1, 400, &["linux_amd64"]));
    let author = Author::new();
    let address = origin.address("acme/p0");
    origin.write_ca(&author.scene);
    let network = format!("--allow-private {} --ca-file ca.pem", origin.host());
    let mirror = format!("mirror {address}@>=1.0.0 --to oci-layout:all");
    author.line(format!("{mirror} {network}")).succeeds();
    lock(&author, &address, "tree/a", "1.365.0");
    lock(&author, &address, "tree/b", "1.380.0");
    let wanted = ["1.365.0", "1.380.0", "1.397.0", "1.398.0", "1.399.0"];
    let programs = [Program::DockerRegistry, Program::Zot];
    let programs = programs.map(|program| program.start(&Options::default()));
    let registries = programs.iter().flatten();
    let registries = registries.map(|one| format!("{}/{{namespace}}/{{type}}", one.host()));
    // A tenth of them in registries, for the sake of time.
    let stores = registries.map(|store| (store, 40));
    for (store, count) in iter::once(("oci-layout:store".to_owned(), 400)).chain(stores) {
        let run = |line: String| author.line(format!("{line} {PLAIN}")).succeeds();
        let some = format!("{address}@>=1.{}.0", 400 - count);
        run(format!("copy {some} --from oci-layout:all --to {store}"));
        let rules = format!("{address} --keep-newest 3 --keep-locked tree --format json");
        let plan = prune(&author, &store, &rules).succeeds();
        let plan = document(&plan);
        assert_eq!(plan.0.len(), count - wanted.len());
        let done = prune(&author, &store, &format!("{rules} --yes")).succeeds();
        assert_eq!(document(&done), plan);
        let listed = run(format!("versions {address} --from {store}")).stdout;
        let mut listed: Vec<&str> = listed.lines().collect();
        listed.sort_unstable();
        assert_eq!(listed, wanted);
        run(format!("verify {address} --deep --from {store}"));
    }
}

#[test]
fn an_index_that_another_tag_names_stays_and_signatures_go_with_theirs() {
    let author = Author::new();
    let (registry, store) = registry(&author, true);
    let (signature, child) = registry.repository(DEMO, |content| {
        let [first, second] = ["1.0.0", "1.1.0"].map(|tag| content.resolve(tag).unwrap());
        content.tag("latest", &first);
        let signature = attach(content, &second);
        content.tag(&format!("{}.sig", referrers::list(&second)), &signature);
        // A tag of the user for one platform of a version that goes.
        let (_, children) =
            parts(&serde_json::from_slice(&content.manifests[&second].bytes).unwrap());
        let one = referrers::index_of(content, &[&children[0]]);
        content.tag("only-linux", &one);
        (signature, children[0].clone())
    });
    let rules = "acme/demo --keep-newest 1 --format json --yes";
    let run = prune(&author, &store, rules).succeeds();
    let named = |version: &str| vec![version.to_owned()];
    assert_eq!(document(&run), (named("1.1.0"), named("1.0.0")));
    let (tags, manifests) = content(&registry);
    let wanted = "1.0.0 1.2.0 evidence-1.0.0 evidence-1.2.0 latest only-linux";
    assert_eq!(tags, wanted.split(' ').map(str::to_owned).collect());
    assert!(!manifests.contains(&signature) && manifests.contains(&child));
    assert_eq!(manifests.len(), 10);
}

/// Adds a list of what is attached to a manifest.
fn tag_list(content: &mut Repository, subject: &str, attached: &[&str]) {
    let digest = referrers::index_of(content, attached);
    content.tag(&referrers::list(subject), &digest);
}

/// Adds a manifest that is attached to another one. Returns its digest.
fn attach(content: &mut Repository, subject: &str) -> String {
    referrers::attach(content, Some(subject), referrers::SPDX, "attached")
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
        let [index, evidence] =
            ["1.0.0", "evidence-1.0.0"].map(|tag| content.resolve(tag).unwrap());
        let sbom = attach(content, &index);
        attach(content, &sbom);
        let (_, children) =
            parts(&serde_json::from_slice(&content.manifests[&index].bytes).unwrap());
        for subject in [&children[1], &evidence] {
            let signature = attach(content, subject);
            content.tag(&format!("{}.sig", referrers::list(subject)), &signature);
        }
        let stays = content.resolve("2.0.0").unwrap();
        kept.1.insert(attach(content, &stays));
    });
    prune(&author, &store, "acme/demo@1.0.0 --yes").succeeds();
    assert_eq!(content(&registry), kept);

    // In a layout, as `oras attach` does it: without a tag.
    push(&author, "oci-layout:store", &["1.0.0", "2.0.0"]);
    let layout = author.path("store").join(DEMO);
    let index = tamper::tagged(&layout, "1.0.0");
    let layer = tamper::put(&layout, referrers::SPDX, b"an SBOM");
    let entry = referrers::attached_to(&layout, &index, &layer);
    prune(&author, "oci-layout:store", "acme/demo@1.0.0 --yes").succeeds();
    for gone in [&index, &entry] {
        let digest = gone["digest"].as_str().unwrap().replace(':', "/");
        assert!(!layout.join("blobs").join(digest).exists());
    }
}

/// Whoever may push can attach what belongs to other versions to one that will go.
#[test]
fn what_stays_is_not_deleted_whatever_is_attached_to_a_version_that_goes() {
    type Attack = fn(&mut Repository, &str, &str, &str);
    let attacks: [Attack; 6] = [
        |content, goes, stays, _| content.tag(&format!("{}.sig", referrers::list(goes)), stays),
        |content, goes, _, evidence| {
            content.tag(&format!("{}.sig", referrers::list(goes)), evidence);
        },
        |content, goes, stays, evidence| {
            let both = referrers::index_of(content, &[stays, evidence]);
            content.tag(&format!("{}.att", referrers::list(goes)), &both);
        },
        |content, goes, stays, evidence| tag_list(content, goes, &[stays, evidence]),
        |content, goes, stays, _| {
            let signature = attach(content, stays);
            tag_list(content, goes, &[&signature]);
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
            let mut needed = vec![stays, evidence];
            // The signature of the version that stays.
            let attached = content.manifests.iter().filter(|(digest, one)| {
                let is_new = !before.manifests.contains_key(*digest);
                nth == 4 && is_new && one.media_type == referrers::MANIFEST
            });
            needed.extend(attached.map(|(digest, _)| digest.clone()));
            needed
        });
        prune(&author, &store, "acme/demo@1.0.0 --yes").succeeds();
        let left = content(&registry).1;
        assert!(needed.iter().all(|one| left.contains(one)), "{nth}");
        verifies(&author, &store);
    }
    type Change = fn(&mut Repository, &str, &str);
    let changes: [Change; 3] = [
        // What is attached to a version that stays names one that would go.
        |content, goes, stays| tag_list(content, stays, &[goes]),
        // A tag of the user for both versions.
        |content, goes, stays| {
            let both = referrers::index_of(content, &[goes, stays]);
            content.tag("all", &both);
        },
        // A version of the same index.
        |content, goes, _| content.tag("1.3.0", goes),
    ];
    for change in changes {
        registry.repository(DEMO, |content| {
            *content = before.clone();
            let [goes, stays] = ["1.0.0", "1.1.0"].map(|tag| content.resolve(tag).unwrap());
            change(content, &goes, &stays);
        });
        let all = content(&registry);
        let run = prune(&author, &store, "acme/demo@1.0.0 --yes --format json").succeeds();
        assert_eq!(document(&run), (vec![], vec!["1.0.0".to_owned()]));
        assert_eq!(content(&registry), all);
    }
}

#[test]
fn what_cannot_be_known_ends_the_plan() {
    let author = Author::new();
    // Versions of another provider.
    let (registry, store) = registry(&author, true);
    let before = content(&registry);
    let shared = store.replace("{hostname}/{namespace}/{type}", DEMO);
    let other = "other/demo@1.0.0 --exact-repository --yes";
    let run = prune(&author, &shared, other);
    assert_ne!(run.status, Some(0), "{}", run.stderr);
    let shared = store.replace("{hostname}/{namespace}", "registry.opentofu.org/acme");
    prune(&author, &shared, "other/demo@1.0.0 --yes").exits(3);
    assert_eq!(content(&registry), before);
    // A chain of lists.
    registry.repository(DEMO, |content| {
        let mut subject = content.resolve("1.0.0").unwrap();
        for _ in 0..10 {
            let next = attach(content, &subject);
            tag_list(content, &subject, &[&next]);
            subject = next;
        }
    });
    let before = content(&registry);
    prune(&author, &store, "acme/demo@1.0.0 --yes").exits(1);
    assert_eq!(content(&registry), before);
    // A version that stays is damaged.
    push(&author, "oci-layout:store", &ALL[..2]);
    let layout = author.path("store").join(DEMO);
    let index = tamper::document(&layout, &tamper::tagged(&layout, "1.1.0"));
    let child = index["manifests"][0]["digest"].as_str().unwrap();
    author.write(layout.join("blobs").join(child.replace(':', "/")), "{}");
    let before = author.tree();
    let run = prune(&author, "oci-layout:store", "acme/demo@1.0.0 --yes");
    assert_ne!(run.status, Some(0), "{}", run.stderr);
    assert_eq!(author.tree(), before);
}

#[test]
fn a_registry_that_does_not_delete_is_named() {
    let author = Author::new();
    let (registry, store) = registry(&author, false);
    let before = content(&registry);
    prune(&author, &store, "acme/demo --keep-newest 1").succeeds();
    let run = prune(&author, &store, "acme/demo --keep-newest 1 --yes").exits(1);
    run.tells(registry.host());
    assert_eq!(content(&registry), before);
    assert_eq!(registry.count(|seen| seen.method == "DELETE"), 1);
}
