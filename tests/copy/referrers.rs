use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use super::{FROM, NAME, PLAIN, PROVIDER, at, copy_demo, filled};
use crate::clients::run;
use crate::support::author::Author;
use crate::support::dice::Dice;
use crate::support::docker_registry::{Foreign, Options, Program};
use crate::support::layout::digest;
use crate::support::programs::has;
use crate::support::registry::content::{self, Manifest, Repository};
use crate::support::registry::{Personality, Registry, Setup, matching};
use crate::support::release::ReleaseFolder;
use crate::support::tamper;

pub const MANIFEST: &str = "application/vnd.oci.image.manifest.v1+json";
const INDEX: &str = "application/vnd.oci.image.index.v1+json";
pub const SPDX: &str = "application/spdx+json";
const COSIGN: &str = "application/vnd.dev.cosign.simplesigning.v1+json";
const SIGSTORE: &str = "application/vnd.dev.sigstore.bundle.v0.3+json";
const LAYOUT: &str = "oci-layout:carried";

/// A registry that lists referrers, or one that does not.
fn registry(lists: bool) -> Registry {
    let setup = Setup::of(Personality::Plain);
    setup.quirks(|quirks| quirks.referrers = lists).start()
}

/// An author, and a registry with `store`.
fn source(lists: bool) -> (Author, Registry) {
    let author = Author::pushed();
    let registry = registry(lists);
    crate::support::layout_of_registry::import(&author.repository(""), &registry, NAME);
    (author, registry)
}

/// A manifest with one layer, as `oras attach` writes it. Returns its digest.
pub fn attach(
    content: &mut Repository,
    subject: Option<&str>,
    artifact_type: &str,
    text: &str,
) -> String {
    let mut descriptor = |media_type: &str, text: &str| {
        let digest = digest(text.as_bytes());
        content.blobs.insert(digest.clone(), text.to_owned().into());
        json!({"mediaType": media_type, "digest": digest, "size": text.len()})
    };
    let mut document = json!({
        "schemaVersion": 2, "mediaType": MANIFEST, "artifactType": artifact_type,
        "config": descriptor("application/vnd.oci.empty.v1+json", "{}"),
        "layers": [descriptor(artifact_type, text)],
        "annotations": {"org.opencontainers.image.created": "2026-01-01T00:00:00Z"},
    });
    if let Some(subject) = subject {
        let size = content.manifests[subject].bytes.len();
        document["subject"] = json!({"mediaType": INDEX, "digest": subject, "size": size});
    }
    put(content, MANIFEST, &document)
}

pub fn put(content: &mut Repository, media_type: &str, document: &Value) -> String {
    let bytes = document.to_string();
    let digest = digest(bytes.as_bytes());
    let manifest = Manifest {
        media_type: media_type.to_owned(),
        bytes: bytes.into(),
    };
    content.manifests.insert(digest.clone(), manifest);
    digest
}

/// An index of these entries.
fn put_index(content: &mut Repository, entries: Value) -> String {
    let index = json!({"schemaVersion": 2, "mediaType": INDEX, "manifests": entries});
    put(content, INDEX, &index)
}

/// An index of these manifests.
pub fn index_of(content: &mut Repository, manifests: &[&str]) -> String {
    let entry = |digest: &&str| {
        let manifest = &content.manifests[*digest];
        json!({"mediaType": manifest.media_type, "digest": digest, "size": manifest.bytes.len()})
    };
    let entries = manifests.iter().map(entry).collect();
    put_index(content, entries)
}

/// The tag of a list.
pub fn list(digest: &str) -> String {
    digest.replace(':', "-")
}

/// A version with an SBOM, a signature of the SBOM, one of a platform, one of cosign 2, and something unknown.
fn furnished(registry: &Registry) -> (String, BTreeSet<String>) {
    registry.repository(NAME, |content| {
        let index = content.resolve("1.0.0").unwrap();
        let document: Value = serde_json::from_slice(&content.manifests[&index].bytes).unwrap();
        let platform = document["manifests"][0]["digest"].as_str().unwrap();
        let sbom = attach(content, Some(&index), SPDX, "an SBOM");
        let of_sbom = attach(content, Some(&sbom), SIGSTORE, "of the SBOM");
        let of_platform = attach(content, Some(platform), SIGSTORE, "of a platform");
        let cosign = attach(content, None, COSIGN, "a signature of cosign 2");
        content.tag(&format!("{}.sig", list(&index)), &cosign);
        attach(content, Some(&index), "application/x-own", "unknown");
        (index, [sbom, of_sbom, of_platform, cosign].into())
    })
}

fn holds(registry: &Registry, manifests: &BTreeSet<String>) -> bool {
    registry.repository(NAME, |content| {
        let blobs = |bytes: &[u8]| {
            let document: Value = serde_json::from_slice(bytes).unwrap();
            let layer = document["layers"][0]["digest"].as_str().unwrap().to_owned();
            content.blobs.contains_key(&layer)
        };
        let mut found = manifests.iter().map(|digest| content.manifests.get(digest));
        found.all(|found| found.is_some_and(|found| blobs(&found.bytes)))
    })
}

/// The version as it is written by default, in stores that list referrers and in those that do not; the bytes stay, and a second copy does nothing.
#[test]
fn they_travel_through_every_store_and_back() {
    let (author, from) = source(true);
    let (index, wanted) = furnished(&from);
    let run = copy_demo(&author, &at(&from), LAYOUT, "").succeeds();
    run.tells("application/x-own");
    let layout = author.path("carried").join(PROVIDER);
    let listed = tamper::document(&layout, &tamper::tagged(&layout, &list(&index)));
    let listed = &listed["manifests"].as_array().unwrap()[..];
    assert_eq!(listed.len(), 1);
    assert_eq!(listed[0]["artifactType"], SPDX);
    let created = &listed[0]["annotations"]["org.opencontainers.image.created"];
    assert_eq!(created, "2026-01-01T00:00:00Z");
    let plain = registry(false);
    copy_demo(&author, LAYOUT, &at(&plain), "").succeeds();
    assert!(holds(&plain, &wanted));
    copy_demo(&author, &at(&plain), "bundle:all.tar", "").succeeds();
    copy_demo(&author, &at(&from), "bundle:same.tar", "").succeeds();
    let bundle = |name: &str| fs::read(author.path(name)).unwrap();
    assert!(bundle("all.tar") == bundle("same.tar"));
    // Some tools note the type of what a tag refers to.
    let signature = format!("{}.sig", list(&index));
    tamper::tags(&layout, |tags| {
        let mut entries = tags.iter_mut();
        let is_it = |entry: &&mut Value| entry["annotations"].to_string().contains(&signature);
        entries.find(is_it).unwrap()["artifactType"] = COSIGN.into();
    });
    copy_demo(&author, LAYOUT, "bundle:layout.tar", "").succeeds();
    assert!(bundle("all.tar") == bundle("layout.tar"));
    let back = registry(true);
    let run = copy_demo(&author, "bundle:all.tar", &at(&back), "--format json").succeeds();
    let document = run.json();
    assert_eq!(document["providers"][0]["beside"]["blobs"], 4);
    assert!(holds(&back, &wanted));
    // It lists them itself.
    let mut tags: Vec<String> = back.tags(NAME).into_iter().map(|(tag, _)| tag).collect();
    tags.retain(|tag| tag.starts_with("sha256-"));
    assert_eq!(tags, [signature]);
    for (store, to) in [(LAYOUT, &plain), ("bundle:all.tar", &back)] {
        let writes = || to.count(|seen| seen.method != "GET" && seen.method != "HEAD");
        let before = writes();
        let run = copy_demo(&author, store, &at(to), "").succeeds();
        run.tells("already present");
        assert_eq!(writes(), before);
    }
    author.untouched(|| copy_demo(&author, &at(&plain), LAYOUT, "").succeeds());
    let verify = format!("verify acme/demo --deep --key acme.asc --from {LAYOUT}");
    author.line(verify).succeeds();
}

#[test]
fn the_option_selects_them() {
    let (author, from) = source(true);
    let (index, wanted) = furnished(&from);
    for (which, count) in [("none", 0), ("known", 4), ("all", 5)] {
        let to = registry(true);
        let more = format!("--referrers {which}");
        let run = copy_demo(&author, &at(&from), &at(&to), more).succeeds();
        let is_told = run.stderr.contains("--referrers all");
        assert_eq!(is_told, which == "known", "{}", run.stderr);
        let all = to.repository(NAME, |content| content.manifests.len());
        assert_eq!(all, 4 + count, "{which}");
        assert_eq!(holds(&to, &wanted), count > 0);
    }
    // A registry that refuses a `subject` gets the version, and the signature that has none.
    let setup = Setup::of(Personality::Plain);
    let to = setup.quirks(|quirks| quirks.subjects = false).start();
    let run = copy_demo(&author, &at(&from), &at(&to), "").succeeds();
    run.tells("405");
    assert_eq!(to.tags(NAME).len(), 3);
    let asked = from.count(matching("GET", "/referrers/"));
    copy_demo(&author, &at(&from), "oci-layout:none", "--referrers none").succeeds();
    assert_eq!(from.count(matching("GET", "/referrers/")), asked);
    // Another index is another subject.
    let options = "--rebuild-index --platform linux_amd64";
    let run = copy_demo(&author, &at(&from), "oci-layout:less", options).succeeds();
    run.tells("another index");
    let tags = author.path(format!("less/{PROVIDER}/index.json"));
    assert!(!fs::read_to_string(tags).unwrap().contains(&list(&index)));
}

/// What was attached in the destination stays.
#[test]
fn lists_are_added_to_and_signatures_are_not_replaced() {
    let (author, from) = source(false);
    let to = filled(&author);
    let attached = |registry: &Registry, text: &str| {
        registry.repository(NAME, |content| {
            let index = content.resolve("1.0.0").unwrap();
            let sbom = attach(content, Some(&index), SPDX, text);
            let entries = index_of(content, &[&sbom]);
            content.tag(&list(&index), &entries);
            let cosign = attach(content, None, COSIGN, &format!("signed: {text}"));
            content.tag(&format!("{}.sig", list(&index)), &cosign);
            (index, sbom, cosign)
        })
    };
    let (index, theirs, _) = attached(&from, "theirs");
    let (_, ours, signed) = attached(&to, "ours");
    let run = copy_demo(&author, &at(&from), &at(&to), "").succeeds();
    run.omits("Present").tells(".sig");
    to.repository(NAME, |content| {
        let entries = content.resolve(&list(&index)).unwrap();
        let entries: Value = serde_json::from_slice(&content.manifests[&entries].bytes).unwrap();
        assert_eq!(content::parts(&entries).1, [ours, theirs]);
        let signature = content.resolve(&format!("{}.sig", list(&index)));
        assert_eq!(signature, Some(signed));
    });
}

/// Attaches a layer as `oras attach` does: it adds a manifest without a tag to a layout. Returns its descriptor.
pub fn attached_to(layout: &Path, subject: &Value, layer: &Value) -> Value {
    let config = tamper::put(layout, "application/vnd.oci.empty.v1+json", b"{}");
    let manifest = json!({"schemaVersion": 2, "mediaType": MANIFEST, "artifactType": SPDX, "config": config, "layers": [layer], "subject": subject});
    let entry = tamper::put(layout, MANIFEST, manifest.to_string().as_bytes());
    tamper::tags(layout, |tags| tags.push(entry.clone()));
    entry
}

#[test]
fn manifests_without_a_tag_of_a_layout_travel_too() {
    let author = Author::pushed();
    let layout = author.repository("");
    let index = tamper::tagged(&layout, "1.0.0");
    let layer = tamper::put(&layout, SPDX, b"an SBOM");
    let entry = attached_to(&layout, &index, &layer);
    let to = registry(true);
    copy_demo(&author, FROM, &at(&to), "").succeeds();
    let sbom = entry["digest"].as_str().unwrap().to_owned();
    assert!(holds(&to, &[sbom].into()));
}

/// What never ends, or is too large, ends the copy of what is attached. The version is there.
#[test]
fn hostile_lists_end() {
    let (author, from) = source(true);
    let index = from.repository(NAME, |content| content.resolve("1.0.0").unwrap());
    let before = from.repository(NAME, |content| content.clone());
    type Attack = fn(&mut Repository, &str);
    let attacks: [(&str, Attack); 6] = [
        ("five thousand", |content, index| {
            for number in 0..5_000 {
                attach(content, Some(index), SPDX, &number.to_string());
            }
        }),
        ("deep", |content, index| {
            let mut subject = index.to_owned();
            for number in 0..20 {
                subject = attach(content, Some(&subject), SPDX, &number.to_string());
            }
        }),
        ("large", |content, index| {
            let layer = json!({"mediaType": SPDX, "digest": digest(b"x"), "size": 1_u64 << 40});
            let subject = json!({"mediaType": INDEX, "digest": index, "size": 1});
            let manifest = json!({"schemaVersion": 2, "mediaType": MANIFEST, "artifactType": SPDX, "layers": [layer], "subject": subject});
            put(content, MANIFEST, &manifest);
        }),
        ("other media types", |content, index| {
            let size = content.manifests[index].bytes.len();
            let entry = json!({"mediaType": "application/x.evil.index+json", "digest": index, "size": size});
            let evil = put_index(content, json!([entry]));
            content.tag(&format!("{}.sig", list(index)), &evil);
        }),
        ("other bytes", |content, index| {
            let sbom = attach(content, Some(index), SPDX, "an SBOM");
            content.blobs.insert(digest(b"an SBOM"), "another".into());
            assert!(content.manifests.contains_key(&sbom));
        }),
        ("no list", |content, index| {
            let bad = put_index(content, json!(5));
            content.tag(&list(index), &bad);
        }),
    ];
    for (name, attack) in attacks {
        from.repository(NAME, |content| {
            *content = before.clone();
            attack(content, &index);
        });
        let to = registry(true);
        for to in [at(&to), "bundle:bad.tar".to_owned()] {
            let run = copy_demo(&author, &at(&from), &to, "");
            assert_ne!(run.status, Some(0), "{name}: {}", run.stderr);
        }
        let mut tags = to.tags(NAME).into_iter();
        assert!(tags.any(|(tag, _)| tag == "1.0.0"), "{name}");
        copy_demo(&author, &at(&from), &at(&to), "--referrers none").succeeds();
    }
    // A list that names itself, its subject and what is not there.
    from.repository(NAME, |content| {
        *content = before.clone();
        let entry = |digest: &str, size: usize| json!({"mediaType": MANIFEST, "digest": digest, "size": size});
        let index_entry = json!({"mediaType": INDEX, "digest": index, "size": content.manifests[&index].bytes.len()});
        let absent = entry(&digest(b"absent"), 6);
        let entries = put_index(content, json!([index_entry, absent]));
        content.tag(&list(&index), &entries);
        content.tag(&list(&entries), &entries);
    });
    let to = registry(false);
    copy_demo(&author, &at(&from), &at(&to), "").succeeds();
    let mut tags = to.tags(NAME).into_iter();
    assert!(!tags.any(|(tag, _)| tag.starts_with("sha256-")));
}

/// What `oras attach` and both kinds of `cosign sign` write is found again in every store on the way from one registry to another.
#[test]
fn other_tools_find_what_was_copied() {
    let names = ["docker-registry", "oras", "cosign"];
    if !names.map(has).iter().all(|found| *found) {
        return;
    }
    let [from, to] = [(); 2].map(|()| Program::DockerRegistry.start(&Options::default()).unwrap());
    let mut author = Author::new();
    author.scene = author.scene.env("COSIGN_PASSWORD", "secret");
    author.with_pushed();
    let at = |one: &Foreign| format!("{}/{{namespace}}/{{type}}", one.host());
    copy_demo(&author, FROM, &at(&from), "").succeeds();
    let tool = |program: &str, arguments: &str| {
        let words = arguments.split(' ');
        run(&author.scene, &author.path(""), program, words).succeeds()
    };
    author.write("sbom.json", "{}");
    let named = format!("{}/{NAME}", from.host());
    let attach = format!("attach --plain-http --artifact-type {SPDX} {named}:1.0.0");
    tool("oras", &format!("{attach} sbom.json:{SPDX}"));
    tool("cosign", "generate-key-pair");
    let digest = author.tagged("1.0.0").unwrap();
    let offline = "--tlog-upload=false --use-signing-config=false --allow-http-registry";
    for form in ["true", "false"] {
        let sign = format!("sign --yes --key cosign.key {offline} --new-bundle-format={form}");
        tool("cosign", &format!("{sign} {named}@sha256:{digest}"));
    }
    copy_demo(&author, &at(&from), LAYOUT, "").succeeds();
    copy_demo(&author, LAYOUT, "bundle:all.tar", "").succeeds();
    copy_demo(&author, "bundle:all.tar", &at(&to), "").succeeds();
    let discover = |at: &str| {
        let found = tool("oras", &format!("discover --format json {at}")).stdout;
        let found: Value = serde_json::from_str(&found).unwrap();
        let all = found["referrers"].as_array().unwrap().iter();
        let digest = |one: &Value| one["digest"].as_str().unwrap().to_owned();
        all.map(digest).collect::<BTreeSet<String>>()
    };
    let wanted = discover(&format!("--plain-http {named}:1.0.0"));
    assert_eq!(wanted.len(), 2);
    let carried = format!("{}/{NAME}", to.host());
    assert_eq!(discover(&format!("--plain-http {carried}:1.0.0")), wanted);
    let in_layout = discover(&format!("--oci-layout carried/{PROVIDER}:1.0.0"));
    assert_eq!(in_layout, wanted);
    let options = "--key cosign.pub --insecure-ignore-tlog --allow-http-registry";
    for form in ["true", "false"] {
        let verify = format!("verify {options} --new-bundle-format={form}");
        tool("cosign", &format!("{verify} {carried}@sha256:{digest}"));
    }
}

/// What is attached to one version spoils neither the bundle nor the other versions, even if it has bytes of theirs.
#[test]
fn a_bundle_has_the_other_versions() {
    let author = Author::pushed();
    author.releases(ReleaseFolder::new("demo", "2.0.0").platform("linux_amd64"));
    author.push("").succeeds();
    let layout = author.repository("");
    let [first, second] = ["1.0.0", "2.0.0"].map(|tag| tamper::tagged(&layout, tag));
    let package = tamper::document(&layout, &second)["manifests"][0].clone();
    let package = tamper::document(&layout, &package)["layers"][0].clone();
    let before = fs::read(layout.join("index.json")).unwrap();
    let absent = json!({"mediaType": SPDX, "digest": digest(b"absent"), "size": 6});
    let mut shorter = package.clone();
    shorter["size"] = 5.into();
    for (layer, is_good) in [
        (package, true),
        (second, true),
        (first.clone(), true),
        (absent, false),
        (shorter, false),
    ] {
        fs::write(layout.join("index.json"), &before).unwrap();
        let layer = json!({"mediaType": SPDX, "digest": layer["digest"], "size": layer["size"]});
        attached_to(&layout, &first, &layer);
        let run = copy_demo(&author, FROM, "bundle:some.tar", "--overwrite");
        assert_eq!(run.status == Some(0), is_good, "{layer}: {}", run.stderr);
        let list = "versions acme/demo --from bundle:some.tar";
        let listed = author.line(list).succeeds().stdout;
        assert_eq!(listed.lines().count(), 1 + usize::from(is_good), "{layer}");
        let _earlier = fs::remove_dir_all(author.path("back"));
        copy_demo(&author, "bundle:some.tar", "oci-layout:back", "").succeeds();
    }
}

/// Two versions with one index, and so with one signature, in two parts.
#[test]
fn a_signature_may_be_in_several_parts() {
    let (author, from) = source(true);
    let noise = Dice::new(1).noise(700 << 10);
    let folder = ReleaseFolder::new("demo", "1.1.0");
    let files = [("terraform-provider-demo_v1.1.0", &noise[..])];
    author.releases(folder.package("linux_amd64", &files));
    let at_source = at(&from);
    author.push_to(&at_source, PLAIN).succeeds();
    from.repository(NAME, |content| {
        let index = content.resolve("1.0.0").unwrap();
        let signature = attach(content, None, COSIGN, &"s".repeat(700 << 10));
        content.tag(&format!("{}.sig", list(&index)), &signature);
        content.tag("2.0.0", &index);
    });
    copy_demo(&author, &at_source, "bundle:set.tar", "--split 1MiB").succeeds();
    assert!(author.path("set.tar.003").exists());
    let versions = "versions acme/demo --from bundle:set.tar";
    let listed = author.line(versions).succeeds().stdout;
    assert_eq!(listed.lines().count(), 3, "{listed}");
    copy_demo(&author, "bundle:set.tar", "oci-layout:whole", "").succeeds();
}
