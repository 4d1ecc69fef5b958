use std::fs;
use std::path::Path;

use serde_json::json;

use super::{altered, check, form, hostile, words};
use crate::support::author::Author;
use crate::support::layout::{Parts, digest, store};
use crate::support::release::ReleaseFolder;
use crate::support::scene::Scene;
use crate::support::zipfile::{executable, file, zip};

/// A directory that is one layout.
const LAYOUT: &str = "layout --exact-repository";
const PUSH: &str = "push dist --provider acme/demo --key acme.asc --to oci-layout:store --jobs 1";

/// Runs every reading command on `acme/demo` of a store, each with the next output format.
fn read(scene: &Scene, store: &str, seed: usize, what: &str) {
    let commands = [
        "versions acme/demo --all",
        "inspect acme/demo@1.0.0",
        "install acme/demo@1.0.0 --platform all --unpacked --into into --dry-run",
        "copy acme/demo --to oci-layout:copied --dry-run",
    ];
    for (number, command) in commands.into_iter().enumerate() {
        let line = format!(
            "{command} --from oci-layout:{store} {}",
            form(number + seed)
        );
        check(&scene.line(&line), &format!("{what}: {line}"));
    }
}

#[test]
fn hostile_documents_of_layouts() {
    let good = Parts::good();
    type Part = fn(&mut Parts) -> &mut String;
    let parts: [(&str, Part); 4] = [
        ("manifest", |parts| &mut parts.manifest),
        ("index", |parts| &mut parts.index),
        ("tags", |parts| &mut parts.tags),
        ("marker", |parts| &mut parts.marker),
    ];
    for (name, part) in parts {
        let document = part(&mut good.clone()).clone();
        // More untrusted text: annotations, and unknown members.
        let document = document.replacen(
            '{',
            r#"{"annotations":{"org.opencontainers.image.title":"a","org.tfoci.provider":"b","org.tfoci.protocols":"c"},"unknown":"d","#,
            1,
        );
        for seed in [0, 3, 7] {
            for (number, text) in altered(&document, seed).into_iter().enumerate() {
                let mut parts = good.clone();
                *part(&mut parts) = text;
                let scene = Scene::new();
                parts.write(&scene.path("layout"));
                read(&scene, LAYOUT, seed + number, &format!("{name} {number}"));
            }
        }
    }
}

#[test]
fn hostile_evidence_and_artifacts_beside_it() {
    let author = Author::new();
    author.with_pushed();
    let index = fs::read_to_string(author.repository("index.json")).unwrap();
    let hex = author.tagged("evidence-1.0.0").unwrap();
    let document = fs::read_to_string(author.blob(&hex)).unwrap();
    for (number, text) in altered(&document, 1).into_iter().enumerate() {
        store(&author.repository(""), text.as_bytes());
        let entry = |digest: &str, size: usize| format!("\"{digest}\",\"size\":{size}");
        let old = entry(&format!("sha256:{hex}"), document.len());
        let new = entry(&digest(text.as_bytes()), text.len());
        assert!(index.contains(&old), "{index}");
        fs::write(author.repository("index.json"), index.replace(&old, &new)).unwrap();
        let what = format!("evidence {number}");
        read(&author.scene, "store", number, &what);
    }
}

#[test]
fn hostile_tags() {
    let entries = hostile().map(|tag| {
        json!({
            "mediaType": "application/vnd.oci.image.index.v1+json", "digest": digest(b""), "size": 0,
            "annotations": {"org.opencontainers.image.ref.name": tag},
        })
    });
    let scene = Scene::new();
    Parts {
        tags: json!({"schemaVersion": 2, "manifests": entries}).to_string(),
        ..Parts::good()
    }
    .write(&scene.path("layout"));
    for seed in 0..3 {
        read(&scene, LAYOUT, seed, "tags");
    }
    let line = "versions acme/demo --all --exact-repository --from oci-layout:layout";
    let run = scene.line(line).succeeds().stdout;
    assert!(run.contains("\\::error::forged\tnot a version"), "{run}");
}

#[test]
fn hostile_checksum_documents_and_manifests() {
    for (seed, text) in hostile().into_iter().enumerate() {
        for (line, manifest) in [(true, false), (false, false), (false, true)] {
            let author = Author::new();
            let name = text.clone();
            let [zero, one] = ["0", "1"].map(|digit| digit.repeat(64));
            let release = ReleaseFolder::new("demo", "1.0.0").platform("linux_amd64");
            let mut release = release.document(move |document| match line {
                true => format!("{zero}  {name}\n{one}  {name}\n{document}"),
                false => document.replace("linux_amd64", &format!("linux_{name}")),
            });
            if manifest {
                let said =
                    json!({"version": 1, "metadata": {"protocol_versions": [text]}, &text: text});
                release = release.manifest(&said.to_string()).document(str::to_owned);
            }
            release.write(&author.scene.path("dist"));
            let run = author.line(format!("{PUSH} {}", form(seed)));
            check(&run, &format!("{text:?} {line} {manifest}"));
        }
    }
}

/// Replaces characters that file names cannot have.
fn name(text: &str) -> String {
    text.replace('/', "|").chars().take(100).collect()
}

#[test]
fn hostile_names_in_release_folders() {
    for (seed, text) in hostile().into_iter().enumerate() {
        let author = Author::new();
        author.with_release_in_place();
        let text = name(&text);
        for file in [
            format!("terraform-provider-{text}_1.0.0_linux_amd64.zip"),
            format!("terraform-provider-demo_1.0.0_SHA256SUMS{text}.sig"),
            format!("terraform-provider-demo_2.0.0+{text}_SHA256SUMS"),
            text.clone(),
        ] {
            author.scene.write(Path::new("dist").join(file), "x");
        }
        let form = form(seed);
        check(&author.line(format!("{PUSH} {form}")), &text);
        let other = PUSH.replace("acme/demo", "acme/other");
        check(&author.line(format!("{other} {form}")), &text);
        // The folder, the store, and every other name on the command line are hostile too.
        fs::rename(author.scene.path("dist"), author.scene.path(&text)).unwrap();
        let push = "push [X] --provider acme/demo@1.0.0 --to oci-layout:[X]store";
        for line in [
            &format!("{push} --key acme.asc"),
            &format!("{push} --key [X]"),
            &format!("{push} --trust [X]"),
            &format!("{push} --key acme.asc --digest-file [X]"),
            "install acme/demo@1.0.0 --from oci-layout:[X]store --platform all --into [X]",
        ] {
            let line = format!("{line} {form}");
            check(&author.scene.tfoci(words(&line, &text)), &text);
        }
    }
}

#[test]
fn hostile_names_in_zips_and_in_stores() {
    for (seed, text) in hostile().into_iter().enumerate() {
        let author = Author::new();
        let bytes = zip([executable(), file(&text, "x"), file(&text, "y")]);
        Parts::of(&bytes).write(&author.scene.path("foreign"));
        let form = form(seed);
        for packing in ["--packed", "--unpacked"] {
            let install = "install acme/demo@1.0.0 --exact-repository --from oci-layout:foreign --platform linux_amd64 --into out";
            check(&author.line(format!("{install} {packing} {form}")), &text);
        }
        let text = name(&text);
        for directory in [
            format!("store/{text}/acme/demo"),
            format!("store/example.com/{text}/demo"),
            format!("store/example.com/acme/{text}"),
        ] {
            Parts::of(&bytes).write(&author.scene.path(directory));
        }
        for command in ["install --into out", "copy --to oci-layout:other"] {
            let line = format!("{command} --from oci-layout:store {form}");
            check(&author.line(line), &text);
        }
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_path_that_is_not_utf_8_still_gives_a_json_document() {
    use std::os::unix::ffi::OsStrExt as _;
    let author = Author::new();
    author.with_pushed();
    let into = std::ffi::OsStr::from_bytes(b"a\xff");
    let known = "install acme/demo --platform all --from oci-layout:store --format json --into";
    let known = known.split(' ').map(std::ffi::OsStr::new);
    let run = author.scene.tfoci(known.chain([into])).succeeds();
    run.shows("\"path\": \"a\u{fffd}/");
}

#[test]
fn hostile_files_of_a_mirror() {
    for (seed, text) in hostile().into_iter().enumerate() {
        let author = Author::new();
        let quoted = serde_json::to_string(&text).unwrap();
        let (lock, file) = ("--from-lock given", "--file given");
        let trust = "example.com/acme/demo --trust given";
        for (arguments, content) in [
            (lock, "provider [Q] {\n  version = [Q]\n}\n"),
            (
                lock,
                "provider \"example.com/acme/demo\" {\n  version = [Q]\n}\n",
            ),
            (lock, "[X]"),
            (file, "to = [Q]\n[[provider]]\naddress = [Q]\n"),
            (file, "[Q] = 1\n"),
            (file, "[X]"),
            (trust, "[[provider]]\nmatch = [Q]\n"),
            (trust, "[[provider]]\n[Q] = [Q]\n[X]"),
            (trust, "[[provider]]\nmatch = \"*/*/*\"\nkeys = [[Q]]\n"),
        ] {
            let content = content.replace("[Q]", &quoted).replace("[X]", &text);
            author.scene.write("given", content);
            let mirror = "mirror --to oci-layout:store --dry-run --from filesystem-mirror:none";
            let form = form(seed);
            check(&author.line(format!("{mirror} {arguments} {form}")), &text);
            check(&author.line(format!("trust check given {form}")), &text);
        }
    }
}
