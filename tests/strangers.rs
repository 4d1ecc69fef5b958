//! Hostile layouts: no content makes tfoci hang, exhausts its memory, or controls the terminal.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};

use crate::support::layout::{Parts, blob, digest};
use crate::support::scene::{Run, Scene};

const FROM: [&str; 4] = [
    "acme/demo@1.0.0",
    "--exact-repository",
    "--from",
    "oci-layout:layout",
];

/// Runs a reading command with a limit on its address space.
fn read(scene: &Scene, command: &[&str]) -> Run {
    let program = env!("CARGO_BIN_EXE_tfoci");
    let limited = ["-c", "ulimit -v 4000000; exec \"$0\" \"$@\"", program];
    let arguments = limited.iter().chain(command).chain(&FROM);
    let output = scene.command("sh").args(arguments).output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    Run {
        status: output.status.code(),
        stdout: text(output.stdout),
        stderr: text(output.stderr),
    }
}

fn install(scene: &Scene) -> Run {
    read(
        scene,
        &[
            "install",
            "--into",
            "mirror",
            "--platform",
            "linux_amd64",
            "--quiet",
        ],
    )
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
    let endless = |path: &Path| symlink("/dev/zero", path).unwrap();
    let directory = |path: &Path| fs::create_dir(path).unwrap();
    let at = "registry.opentofu.org/acme/demo";
    let told = |of: &str, put: fn(&Path)| with_instead(of, put).exits(1).stderr;
    for (what, path) in [
        ("index", "blobs/sha256/index"),
        ("manifest", "blobs/sha256/manifest"),
        ("package", "blobs/sha256/package"),
    ] {
        let kind = if what == "manifest" {
            "platform manifest"
        } else {
            what
        };
        let of = if what == "package" {
            " linux_amd64"
        } else {
            ""
        };
        let expected = |received: &str| {
            format!(
                "error: {at} 1.0.0{of} (oci-layout:layout): the {kind} sha256:{what} cannot be used\n  layout/{path} is not a regular file\n    received {received}\n\n\
             hint: the store is damaged. `--existing replace` of `tfoci push`, or of `tfoci copy` from a store that is whole, writes the version again; so does `tfoci mirror --recheck`\n"
            )
        };
        let link = expected("").replace(
            "is not a regular file\n    received ",
            "is a symbolic link, which is not followed",
        );
        assert_eq!(told(what, endless), link);
        assert_eq!(told(what, make_pipe), expected("a pipe"));
        assert_eq!(told(what, directory), expected("a directory"));
    }
    for name in ["index.json", "oci-layout"] {
        let expected = |received: &str| {
            format!("error: {at}: layout/{name} is not a regular file\n  received {received}\n")
        };
        let link = expected("").replace(
            "is not a regular file\n  received ",
            "is a symbolic link, which is not followed",
        );
        assert_eq!(told(name, endless), link);
        assert_eq!(told(name, make_pipe), expected("a pipe"));
        assert_eq!(told(name, directory), expected("a directory"));
    }
}

#[test]
fn links_are_refused_as_blobs_even_with_the_right_bytes() {
    for number in 0..3 {
        let (scene, blobs) = scene(&Parts::good());
        let elsewhere = scene.path("elsewhere");
        fs::rename(&blobs[number], &elsewhere).unwrap();
        symlink(elsewhere, &blobs[number]).unwrap();
        let told = install(&scene).exits(1).stderr;
        assert!(
            told.contains(" is a symbolic link, which is not followed"),
            "{told}"
        );
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
        let run = run.exits(1).stderr;
        assert!(
            run.contains("is a symbolic link, which is not followed") && !run.contains("secret"),
            "{run}"
        );
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
        assert_eq!(
            run(command).stderr,
            "error: the directory endless has too many entries\n  expected at most 100000 in the three levels HOSTNAME/NAMESPACE/TYPE\n  received more\n",
            "{command}"
        );
    }
    for command in [
        "versions acme/demo",
        "inspect acme/demo",
        "copy acme/demo --to oci-layout:other",
        "install acme/demo --into out",
    ] {
        let said = run(command).stderr;
        assert!(
            said.contains("(oci-layout:endless): the store has no such repository"),
            "{said}"
        );
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
        assert_eq!(
            with_instead(name, sparse(size)).exits(1).stderr,
            format!(
                "error: registry.opentofu.org/acme/demo: cannot read layout/{name}\n  \
                 expected at most {limit} bytes\n  received {size} bytes\n"
            )
        );
    }
    for what in ["index", "manifest", "package"] {
        let (scene, [package, manifest, index]) = scene(&Parts::good());
        let path = [
            ("index", index),
            ("manifest", manifest),
            ("package", package),
        ];
        let path = path
            .into_iter()
            .find_map(|(name, path)| (name == what).then_some(path));
        sparse(1 << 40)(&path.unwrap());
        let run = install(&scene).exits(3);
        assert!(
            run.stderr.contains("there are more bytes than expected"),
            "{}",
            run.stderr
        );
    }
}

#[test]
fn a_directory_with_another_marker_is_no_layout() {
    for (marker, received) in [
        ("", "an empty file"),
        ("{}", "a file of 2 bytes without a version"),
        ("{\"imageLayoutVersion\":\"2.0.0\"}", "the version `2.0.0`"),
        (
            "{\"imageLayoutVersion\":\"\\u001b[31m\"}",
            "the version `\u{fffd}[31m`",
        ),
        (
            "{\"imageLayoutVersion\":1}",
            "a file of 24 bytes without a version",
        ),
        ("secret\nx", "a file of 8 bytes without a version"),
    ] {
        let (scene, _) = scene(&Parts {
            marker: marker.to_owned(),
            ..Parts::good()
        });
        assert_eq!(
            install(&scene).exits(1).stderr,
            "error: registry.opentofu.org/acme/demo: layout/oci-layout is not the `oci-layout` file of an OCI image layout\n  \
             expected {\"imageLayoutVersion\":\"1.0.0\"}\n  received ".to_owned()
                + received
                + "\n\nhint: restore the file, or write what is expected into it, if the rest of the layout is whole\n"
        );
    }
}

#[test]
fn deep_nesting_does_not_overflow_the_stack() {
    let deep = format!("{{\"x\":{}", "[".repeat(1_000_000));
    let (scene, _) = scene(&Parts {
        index: deep.clone(),
        ..Parts::good()
    });
    assert_eq!(
        install(&scene).exits(1).stderr,
        "error: registry.opentofu.org/acme/demo 1.0.0 (oci-layout:layout): the index is not valid JSON of its kind\n  \
         more than 100 levels\n"
    );
    scene.write("layout/index.json", deep);
    assert_eq!(
        install(&scene).exits(1).stderr,
        "error: registry.opentofu.org/acme/demo: layout/index.json is not the index of an OCI image layout\n  \
         more than 100 levels\n\nhint: restore the file, or delete the directory of this layout and copy, mirror or push its versions again\n"
    );
}

/// Adds tags to `index.json` for the version that is tagged there.
fn tag(scene: &Scene, names: &[&str]) {
    let path = scene.path("layout/index.json");
    let mut index: Value = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
    for name in names {
        let mut entry = index["manifests"][0].clone();
        entry["annotations"]["org.opencontainers.image.ref.name"] = json!(name);
        index["manifests"].as_array_mut().unwrap().push(entry);
    }
    fs::write(path, index.to_string()).unwrap();
}

#[test]
fn malformed_tags_are_shown_escaped() {
    let (scene, _) = scene(&Parts::good());
    let long = "x".repeat(300);
    tag(
        &scene,
        &[
            "\u{1b}[2J1.0.0",
            "1.1.0\n9.9.9",
            "\u{202e}0.0.1",
            "a b",
            "1.2.0+x",
            "",
            &long,
        ],
    );
    let arguments = [
        "versions",
        "acme/demo",
        "--all",
        "--exact-repository",
        "--from",
        "oci-layout:layout",
    ];
    let shown = format!("{}…", "x".repeat(200));
    assert_eq!(
        scene.tfoci(arguments).succeeds().stdout,
        format!(
            "1.0.0\n\tnot a version\n\u{fffd}[2J1.0.0\tnot a version\n1.1.0\u{fffd}9.9.9\tnot a version\n\
             1.2.0+x\tnot canonical: clients list it as 1.2.0+x and then look for the tag of that name\n\
             a b\tnot a version\n{shown}\tnot a version\n\u{fffd}0.0.1\tnot a version\n"
        )
    );
}

#[test]
fn untrusted_descriptors_are_shown_safely() {
    let parts = Parts::good();
    let evil = |text: &str| text.replace("DIGEST", "sha256:\\u001b[2J\\u202e");
    let (scene, _) = scene(&Parts {
        index: evil(&parts.index),
        ..parts
    });
    assert_eq!(
        install(&scene).exits(1).stderr,
        "error: registry.opentofu.org/acme/demo 1.0.0 (oci-layout:layout): the index entry describes nothing that can be fetched\n  \
         `sha256:\u{fffd}[2J\u{fffd}` is not a digest: expected 64 lower-case hex digits after `sha256:`, or 128 after `sha512:`\n"
    );
}

/// Puts evidence of one layer beside the version.
fn with_evidence(media_type: &str, layer: Value) -> Scene {
    let (scene, _) = scene(&Parts::good());
    let manifest = "application/vnd.oci.image.manifest.v1+json";
    let body = json!({
        "schemaVersion": 2, "mediaType": manifest, "artifactType": "application/vnd.tfoci.evidence.v1",
        "config": {}, "layers": [layer],
    });
    let body = body.to_string();
    fs::write(blob(&scene.path("layout"), body.as_bytes()), &body).unwrap();
    let path = scene.path("layout/index.json");
    let mut index: Value = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
    index["manifests"].as_array_mut().unwrap().push(json!({
        "mediaType": media_type, "digest": digest(body.as_bytes()), "size": body.len(),
        "annotations": {"org.opencontainers.image.ref.name": "evidence-1.0.0"},
    }));
    fs::write(path, index.to_string()).unwrap();
    scene
}

#[test]
fn oversized_evidence_is_not_read() {
    let manifest = "application/vnd.oci.image.manifest.v1+json";
    let claims =
        |size: u64| json!({"mediaType": "text/plain", "digest": digest(b""), "size": size});
    let about = "registry.opentofu.org/acme/demo 1.0.0 (oci-layout:layout)";
    let scene = with_evidence(manifest, claims(5 << 30));
    let told = format!(
        "error: {about}: the evidence is too large\n  expected at most 4194304 bytes\n  received 5368709120 bytes\n"
    );
    let hint = "\nhint: evidence that cannot be read proves nothing. `tfoci mirror --recheck` writes it anew, and so does pushing the release again, or `tfoci copy` from a store that is whole\n";
    assert_eq!(install(&scene).exits(3).stderr, format!("{told}{hint}"));
    let inspected = read(&scene, &["inspect"]).exits(3);
    assert_eq!(inspected.stderr, format!("{told}{hint}"));
    assert!(
        inspected.stdout.contains("package         linux_amd64"),
        "{}",
        inspected.stdout
    );

    let scene = with_evidence(manifest, claims(7));
    symlink("/dev/zero", blob(&scene.path("layout"), b"")).unwrap();
    let told = install(&scene).exits(3).stderr;
    assert!(
        told.ends_with(&format!(
            " is a symbolic link, which is not followed\n{hint}"
        )),
        "{told}"
    );
    assert_eq!(read(&scene, &["inspect"]).exits(3).stderr, told);

    let scene = with_evidence("text/plain", claims(7));
    assert_eq!(
        install(&scene).exits(3).stderr,
        format!(
            "error: {about}: the evidence is not an image manifest\n  expected {manifest}\n  received text/plain\n{hint}"
        )
    );
}
