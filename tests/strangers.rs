//! Hostile layouts: no content makes tfoci hang, exhausts its memory, or controls the terminal.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};

use crate::support::layout::{Parts, blob, digest};
use crate::support::scene::{Run, Scene};
use crate::support::tamper::{put, retag, tags};

const FROM: &str = "acme/demo@1.0.0 --exact-repository --from oci-layout:layout";

/// Runs a reading command with a limit on its address space.
fn read(scene: &Scene, command: &str) -> Run {
    let program = env!("CARGO_BIN_EXE_tfoci");
    let limited = ["-c", "ulimit -v 4000000; exec \"$0\" \"$@\"", program];
    let words = command.split(' ').chain(FROM.split(' '));
    scene.run("sh", limited.into_iter().chain(words))
}

fn install(scene: &Scene) -> Run {
    let line = "install --into mirror --platform linux_amd64 --quiet";
    read(scene, line)
}

/// A scene with a layout, and where its package, manifest and index are.
fn scene(parts: &Parts) -> (Scene, [std::path::PathBuf; 3]) {
    let scene = Scene::new();
    let blobs = parts.write(&scene.path("layout"));
    (scene, blobs)
}

fn make_pipe(path: &Path) {
    assert!(Command::new("mkfifo").arg(path).status().unwrap().success());
}

/// Replaces a file. Returns the error of `install`, with the kind of the file in place of its digest.
fn with_instead(of: &str, put: impl Fn(&Path)) -> Run {
    let (scene, [package, manifest, index]) = scene(&Parts::good());
    let path = match of {
        "package" => package,
        "manifest" => manifest,
        "index" => index,
        name => scene.path("layout").join(name),
    };
    fs::remove_file(&path).unwrap();
    put(&path);
    let run = install(&scene);
    let name = path.file_name().unwrap().to_str().unwrap();
    let stderr = run.stderr.replace(name, of);
    Run { stderr, ..run }
}

#[test]
fn devices_pipes_and_directories_are_not_read() {
    type Put = fn(&Path);
    let puts: [(Put, &str); 3] = [
        (|path| symlink("/dev/zero", path).unwrap(), "link"),
        (make_pipe, "regular file"),
        (|path| fs::create_dir(path).unwrap(), "regular file"),
    ];
    for (what, of) in [
        ("index", "1.0.0 oci-layout:layout index sha256:index"),
        (
            "manifest",
            "1.0.0 oci-layout:layout manifest sha256:manifest",
        ),
        (
            "package",
            "1.0.0 linux_amd64 oci-layout:layout package sha256:package",
        ),
        ("index.json", "layout/index.json"),
        ("oci-layout", "layout/oci-layout"),
    ] {
        for (put, kind) in puts {
            let facts = format!("error registry.opentofu.org/acme/demo {of} {kind}");
            with_instead(what, put).exits(1).says(&facts);
        }
    }
}

#[test]
fn links_are_refused_as_blobs_even_with_the_right_bytes() {
    for number in 0..3 {
        let (scene, blobs) = scene(&Parts::good());
        let elsewhere = scene.path("elsewhere");
        fs::rename(&blobs[number], &elsewhere).unwrap();
        symlink(elsewhere, &blobs[number]).unwrap();
        let run = install(&scene).exits(1);
        run.says("error registry.opentofu.org/acme/demo link");
    }
}

#[test]
fn the_directory_of_blobs_may_be_a_link() {
    let (scene, _) = scene(&Parts::good());
    let blobs = scene.path("layout/blobs");
    fs::rename(&blobs, scene.path("elsewhere")).unwrap();
    symlink(scene.path("elsewhere"), blobs).unwrap();
    install(&scene).succeeds();
}

#[test]
fn links_to_other_files_do_not_reveal_their_content() {
    let secret = "root:x:0:0:secret";
    for name in ["package", "oci-layout", "index.json"] {
        let run = with_instead(name, |path| {
            let elsewhere = path.with_file_name("elsewhere");
            fs::write(&elsewhere, secret.repeat(10)).unwrap();
            symlink(elsewhere, path).unwrap();
        });
        run.exits(1).says("error link").hides("secret");
    }
}

/// A directory whose entries are links to itself has endlessly many below it.
#[test]
fn links_to_the_directory_itself_end_every_command_soon() {
    let scene = Scene::new();
    fs::create_dir(scene.path("endless")).unwrap();
    for number in 0..120 {
        symlink(".", scene.path(format!("endless/h{number}.example"))).unwrap();
    }
    let run = |command: &str| {
        let program = env!("CARGO_BIN_EXE_tfoci");
        let limited = ["-s", "KILL", "60", program].into_iter();
        let from = ["--from", "oci-layout:endless"];
        scene
            .run("timeout", limited.chain(command.split(' ')).chain(from))
            .exits(1)
    };
    for command in [
        "list",
        "install --into out",
        "copy --to oci-layout:other",
        "site public",
    ] {
        run(command).says("error endless expected 100000");
    }
    for command in [
        "versions acme/demo",
        "inspect acme/demo",
        "copy acme/demo --to oci-layout:other",
        "install acme/demo --into out",
    ] {
        run(command).says("error registry.opentofu.org/acme/demo oci-layout:endless");
    }
}

#[test]
fn an_oversized_body_is_not_read_to_its_end() {
    let sparse =
        |length: u64| move |path: &Path| fs::File::create(path).unwrap().set_len(length).unwrap();
    for (name, limit, size) in [
        ("index.json", 8 << 20, (8 << 20) + 1),
        ("oci-layout", 4 << 10, 1 << 40),
    ] {
        with_instead(name, sparse(size)).exits(1).says(&format!(
            "error registry.opentofu.org/acme/demo layout/{name} expected {limit} received {size}"
        ));
    }
    for what in ["index", "manifest", "package"] {
        let run = with_instead(what, sparse(1 << 40)).exits(3);
        run.says("error oci-layout:layout more");
    }
}

#[test]
fn a_directory_with_another_marker_is_no_layout() {
    for marker in [
        "",
        "{}",
        "{\"imageLayoutVersion\":\"2.0.0\"}",
        "{\"imageLayoutVersion\":1}",
        "secret\nx",
    ] {
        let (scene, _) = scene(&Parts {
            marker: marker.to_owned(),
            ..Parts::good()
        });
        let facts =
            "error registry.opentofu.org/acme/demo layout incomplete expected oci-layout 1.0.0";
        install(&scene).exits(1).says(facts).hides("secret");
    }
}

#[test]
fn deep_nesting_does_not_overflow_the_stack() {
    let deep = format!("{{\"x\":{}", "[".repeat(1_000_000));
    let (scene, _) = scene(&Parts {
        index: deep.clone(),
        ..Parts::good()
    });
    let about = "error registry.opentofu.org/acme/demo";
    let run = install(&scene).exits(1);
    run.says(&format!("{about} 1.0.0 oci-layout:layout index 1 1000005"));
    scene.write("layout/index.json", deep);
    let run = install(&scene).exits(1);
    run.says(&format!("{about} layout/index.json 1 1000005"));
}

#[test]
fn malformed_tags_are_shown_escaped() {
    let (scene, _) = scene(&Parts::good());
    let long = "x".repeat(300);
    for tag in [
        "\u{1b}[2J1.0.0",
        "1.1.0\n9.9.9",
        "\u{202e}0.0.1",
        "a b",
        "1.2.0+x",
        "",
        &long,
    ] {
        retag(&scene.path("layout"), tag, "1.0.0");
    }
    let shown = format!("{}…", "x".repeat(200));
    let versions = "versions acme/demo --all --exact-repository --from oci-layout:layout";
    let expected = format!(
        "1.0.0\n\tnot a version\n\u{fffd}[2J1.0.0\tnot a version\n1.1.0\u{fffd}9.9.9\tnot a version\n\
         1.2.0+x\tnot canonical: clients list it as 1.2.0+x and then look for the tag of that name\n\
         a b\tnot a version\n{shown}\tnot a version\n\u{fffd}0.0.1\tnot a version\n"
    );
    assert_eq!(scene.line(versions).succeeds().stdout, expected);
}

#[test]
fn untrusted_descriptors_are_shown_safely() {
    let parts = Parts::good();
    let evil = |text: &str| text.replace("DIGEST", "sha256:\\u001b[2J\\u202e");
    let (scene, _) = scene(&Parts {
        index: evil(&parts.index),
        ..parts
    });
    let facts = "error registry.opentofu.org/acme/demo 1.0.0 oci-layout:layout expected 64 received sha256:\u{fffd}[2J\u{fffd}";
    let run = install(&scene).exits(1).says(facts);
    run.hides("\u{1b}").hides("\u{202e}");
}

/// Puts evidence of one layer beside the version.
fn with_evidence(media_type: &str, layer: Value) -> Scene {
    let (scene, _) = scene(&Parts::good());
    let manifest = "application/vnd.oci.image.manifest.v1+json";
    let body = json!({
        "schemaVersion": 2, "mediaType": manifest, "artifactType": "application/vnd.tfoci.evidence.v1",
        "config": {}, "layers": [layer],
    });
    let layout = scene.path("layout");
    let mut entry = put(&layout, media_type, body.to_string().as_bytes());
    entry["annotations"] = json!({"org.opencontainers.image.ref.name": "evidence-1.0.0"});
    tags(&layout, |tags| tags.push(entry));
    scene
}

#[test]
fn oversized_evidence_is_not_read() {
    let manifest = "application/vnd.oci.image.manifest.v1+json";
    let claims =
        |size: u64| json!({"mediaType": "text/plain", "digest": digest(b""), "size": size});
    let about = "error registry.opentofu.org/acme/demo 1.0.0 oci-layout:layout";
    let refused = |scene: &Scene, facts: &str| {
        let facts = format!("{about} {facts}");
        install(scene).exits(3).says(&facts);
        let inspected = read(scene, "inspect").exits(3).says(&facts);
        inspected.shows("package         linux_amd64");
    };
    let scene = with_evidence(manifest, claims(5 << 30));
    refused(&scene, "expected 4194304 received 5368709120");

    let scene = with_evidence(manifest, claims(7));
    symlink("/dev/zero", blob(&scene.path("layout"), b"")).unwrap();
    refused(&scene, "link");

    let scene = with_evidence("text/plain", claims(7));
    refused(&scene, &format!("expected {manifest} received text/plain"));
}
