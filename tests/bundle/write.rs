use std::fs;
use std::os::unix::process::ExitStatusExt as _;
use std::process::{Command, Stdio};
use std::sync::{Arc, Mutex};

use super::{HOST, bundled, copy, filled, members, push, push_elsewhere, zips};
use crate::support::author::Author;
use crate::support::docker_registry::{Options, Program};
use crate::support::judge;
use crate::support::layout_of_registry::import;
use crate::support::registry::{Fault, Registry, Seen};
use crate::support::testdata;

/// The store of the release in `testdata`.
fn golden() -> Author {
    let author = Author::new();
    let release = testdata("release");
    let key = testdata("release/acme.asc");
    let push = format!(
        "push {} --provider registry.opentofu.org/acme/demo",
        release.to_str().unwrap()
    );
    let to = format!("--key {} --to oci-layout:store", key.to_str().unwrap());
    author.line(format!("{push} {to}")).succeeds();
    author
}

#[test]
fn the_bytes_are_those_of_the_golden_bundle() {
    let author = golden();
    let path = bundled(&author, "demo.tar", &[]);
    let expected = testdata("golden/bundle.tar");
    assert!(fs::read(&path).unwrap() == fs::read(&expected).unwrap());
    let line = format!("{}  demo.tar\n", judge::sha256(&expected));
    let sums = author.scene.path("demo.tar.sha256");
    assert_eq!(fs::read_to_string(sums).unwrap(), line);
    assert!(!author.scene.path("demo.tar.part").exists());
}

#[test]
fn members_are_in_classes_sorted_by_digest_and_each_is_there_once() {
    let author = filled();
    bundled(&author, "all.tar", &[]);
    let tar = members(&author, "all.tar");
    tar.assert_sound();
    let contents = tar.json("tfoci-bundle.json");
    let counts = [0, 1, 2];
    let counts = counts.map(|class: usize| contents["members"][class].as_u64().unwrap() as usize);
    assert_eq!(counts[2], 6);
    let mut names = &tar.names()[3..];
    for count in counts {
        let (class, rest) = names.split_at(count);
        assert!(class.is_sorted());
        names = rest;
    }
    assert!(names.is_empty());
    let index = tar.json("index.json");
    let tags = index["manifests"].as_array().unwrap();
    let tags = tags
        .iter()
        .map(|one| &one["annotations"]["org.opencontainers.image.ref.name"]);
    let tags: Vec<_> = tags.map(|name| name.as_str().unwrap()).collect();
    assert_eq!(
        tags,
        [
            &*format!("{HOST}/acme/demo/1.0.0"),
            &format!("{HOST}/acme/demo/1.1.0"),
            &format!("{HOST}/acme/demo/evidence-1.0.0"),
            &format!("{HOST}/acme/demo/evidence-1.1.0"),
            &format!("{HOST}/acme/other/2.0.0_b.1"),
            &format!("{HOST}/acme/other/evidence-2.0.0_b.1"),
        ]
    );
    let versions = contents["versions"].as_array().unwrap();
    let versions = versions.iter().map(|one| one["version"].as_str().unwrap());
    assert_eq!(
        versions.collect::<Vec<_>>(),
        ["1.0.0", "1.1.0", "2.0.0+b.1"]
    );
}

/// The same versions give the same file, wherever they come from.
#[test]
fn layouts_registries_bundles_and_pipes_give_the_same_file() {
    let author = filled();
    let expected = fs::read(bundled(&author, "all.tar", &[])).unwrap();
    copy(
        &author,
        "bundle:all.tar",
        "bundle:again.tar",
        &["--jobs", "7"],
    )
    .succeeds();
    assert!(fs::read(author.scene.path("again.tar")).unwrap() == expected);
    let arguments = ["copy", "--from", "oci-layout:store", "--to", "bundle:-"];
    let piped = author
        .scene
        .command(env!("CARGO_BIN_EXE_tfoci"))
        .args(arguments)
        .output();
    assert!(piped.unwrap().stdout == expected);
    let Some(registry) = Program::DockerRegistry.start(&Options::default()) else {
        return;
    };
    let at = format!("{}/{{hostname}}/{{namespace}}/{{type}}", registry.host());
    let plain = ["--plain-http", "127.0.0.1"];
    copy(&author, "bundle:all.tar", &at, &plain).succeeds();
    copy(&author, &at, "bundle:registry.tar", &plain).succeeds();
    assert!(fs::read(author.scene.path("registry.tar")).unwrap() == expected);
}

#[test]
fn a_package_that_versions_share_is_there_once() {
    let author = filled();
    let before = members(author_bundle(&author), "all.tar").0.len();
    push_elsewhere(&author);
    let after = members(author_bundle(&author), "all.tar");
    after.assert_sound();
    // An index and the manifest of its evidence; the platforms and the documents are shared, too.
    assert!(after.0.len() <= before + 2, "{} {before}", after.0.len());
}

fn author_bundle(author: &Author) -> &Author {
    bundled(author, "all.tar", &["--overwrite"]);
    author
}

#[test]
fn an_existing_bundle_is_only_replaced_if_asked() {
    let author = filled();
    let path = bundled(&author, "all.tar", &[]);
    fs::write(&path, b"precious").unwrap();
    let before = author.tree();
    let run = copy(&author, "oci-layout:store", "bundle:all.tar", &[]).exits(1);
    run.says("error all.tar").without_result();
    copy(
        &author,
        "oci-layout:store",
        "bundle:all.tar",
        &["--split", "1MB", "--dry-run"],
    )
    .exits(1);
    assert_eq!(author.tree(), before);
    bundled(&author, "all.tar", &["--overwrite"]);
    members(&author, "all.tar").assert_sound();
}

#[test]
fn a_dry_run_prints_the_size_and_writes_nothing() {
    let author = filled();
    let before = author.tree();
    let run = copy(
        &author,
        "oci-layout:store",
        "bundle:all.tar",
        &["--dry-run", "--format", "json"],
    );
    let planned: serde_json::Value = serde_json::from_str(&run.succeeds().stdout).unwrap();
    assert_eq!(author.tree(), before);
    let size = fs::metadata(bundled(&author, "all.tar", &[]))
        .unwrap()
        .len();
    assert_eq!(planned["bundles"][0]["size"], size);
    assert_eq!(planned["bundles"][0]["versions"], 3);
    assert_eq!(planned["providers"][0]["status"], "planned");
}

#[test]
fn only_copy_writes_bundles() {
    let author = filled();
    let before = author.tree();
    for arguments in [
        "mirror acme/demo --to bundle:all.tar",
        "push dist-demo-1.0.0 --provider acme/demo --key acme.asc --to bundle:all.tar",
        "copy --from oci-layout:store --to oci-layout:other --overwrite",
        "copy --from oci-layout:store --to oci-layout:other --split 1GB",
        "copy --from oci-layout:store --to bundle:- --format json",
        "copy --from oci-layout:store --to bundle:",
        "copy --from oci-layout:store --to bundle:a.tar --split 0GB",
        "copy --from oci-layout:store --to bundle:a.tar --base acme.asc",
    ] {
        let arguments: Vec<_> = arguments.split(' ').collect();
        let run = author.tfoci(&arguments);
        assert!(matches!(run.status, Some(1 | 2)), "{arguments:?}");
    }
    copy(&author, "oci-layout:store", "bundle:none/all.tar", &[])
        .exits(1)
        .without_result();
    assert_eq!(author.tree(), before);
}

/// A package whose bytes are wrong ends the bundle. With the right ones, the same command completes it.
#[test]
fn a_damaged_package_leaves_no_bundle() {
    let author = filled();
    let expected = fs::read(bundled(&author, "all.tar", &[])).unwrap();
    let hex = zips(&author, "dist-demo-1.1.0").pop().unwrap();
    let (path, sound) = (author.blob(&hex), fs::read(author.blob(&hex)).unwrap());
    let mut damaged = sound.clone();
    damaged[70_000] ^= 1;
    fs::remove_file(&path).unwrap();
    fs::write(&path, damaged).unwrap();
    let run = copy(&author, "oci-layout:store", "bundle:new.tar", &[]).exits(3);
    run.says("error registry.opentofu.org/acme/demo 1.1.0 oci-layout:store/registry.opentofu.org/acme/demo").without_result();
    assert!(!author.scene.path("new.tar").exists());
    fs::write(&path, sound).unwrap();
    bundled(&author, "new.tar", &[]);
    assert!(fs::read(author.scene.path("new.tar")).unwrap() == expected);
}

/// What an interrupted run left is kept, as far as it is right, whatever it is.
#[test]
fn any_unfinished_file_is_completed() {
    let author = filled();
    let expected = fs::read(bundled(&author, "all.tar", &[])).unwrap();
    let part = author.scene.path("new.tar.part");
    for round in 0..20 {
        let end = expected.len() * round / 19;
        let mut left = expected[..end].to_vec();
        match round % 4 {
            0 => left.iter_mut().step_by(5000).for_each(|byte| *byte ^= 1),
            1 => left.resize(expected.len() + 5000, 7),
            2 => left.resize(expected.len(), 0),
            _ => {}
        }
        fs::write(&part, left).unwrap();
        bundled(&author, "new.tar", &["--overwrite"]);
        assert!(
            fs::read(author.scene.path("new.tar")).unwrap() == expected,
            "{round}"
        );
    }
}

/// A run is killed at each request for a package. The next one fetches what is missing, and gives the same file.
#[test]
fn a_killed_run_is_completed_by_the_next() {
    let author = Author::new();
    for number in 0..10 {
        push(&author, "demo", &format!("1.{number}.0"), 80 << 10);
    }
    let expected = fs::read(bundled(&author, "all.tar", &[])).unwrap();
    let registry = Registry::plain();
    import(&author.repository(""), &registry, "acme/demo");
    let from = format!("{}/{{namespace}}/{{type}}", registry.host());
    let arguments = [
        "copy",
        "acme/demo",
        "--from",
        &from,
        "--to",
        "bundle:new.tar",
    ];
    let plain = ["--plain-http", "127.0.0.1", "--jobs", "1", "--overwrite"];
    let all: Vec<String> = (0..10)
        .flat_map(|number| zips(&author, &format!("dist-demo-1.{number}.0")))
        .map(|hex| format!("/blobs/sha256:{hex}"))
        .collect();
    let victim: Arc<Mutex<Option<u32>>> = Arc::default();
    let is_package = move |seen: &Seen| all.iter().any(|zip| seen.path.ends_with(zip));
    for round in 0..20 {
        let hit = Arc::clone(&victim);
        let kill = Fault::stall_body_after(move || {
            let id = hit.lock().unwrap().unwrap().to_string();
            let sent = Command::new("kill").args(["-s", "KILL", &id]).status();
            assert!(sent.unwrap().success());
        });
        registry.forget();
        registry.fault(round + 1, is_package.clone(), kill);
        // Requests wait until the process id is known.
        let mut known = victim.lock().unwrap();
        let mut command = author.scene.command(env!("CARGO_BIN_EXE_tfoci"));
        command.args(arguments).args(plain);
        command.stdout(Stdio::null()).stderr(Stdio::null());
        let mut killed = command.spawn().unwrap();
        *known = Some(killed.id());
        drop(known);
        assert_eq!(killed.wait().unwrap().signal(), Some(9));
        assert!(author.scene.path("new.tar.part").exists());
        registry.forget();
        author
            .line(format!("{} {}", arguments.join(" "), plain.join(" ")))
            .succeeds();
        assert_eq!(registry.count(is_package.clone()), 20 - round, "{round}");
        assert!(
            fs::read(author.scene.path("new.tar")).unwrap() == expected,
            "{round}"
        );
    }
}

#[test]
fn a_full_disk_is_named_and_leaves_no_bundle() {
    let author = filled();
    // No file of this process may have more than 512 or 1024 bytes.
    let limited = "trap '' XFSZ; ulimit -f 100; exec \"$@\"";
    let mut shell = author.scene.command("sh");
    shell.args(["-c", limited, "sh", env!("CARGO_BIN_EXE_tfoci")]);
    shell.args([
        "copy",
        "--from",
        "oci-layout:store",
        "--to",
        "bundle:all.tar",
    ]);
    let output = shell.output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(said.contains("all.tar.part"), "{said}");
    assert!(!author.scene.path("all.tar").exists());
    bundled(&author, "all.tar", &[]);
}

#[test]
fn a_pipe_that_closes_fails() {
    let author = filled();
    let mut command = author.scene.command(env!("CARGO_BIN_EXE_tfoci"));
    command.args(["copy", "--from", "oci-layout:store", "--to", "bundle:-"]);
    let mut child = command
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let ended = child.wait_with_output().unwrap();
    assert_eq!(ended.status.code(), Some(1));
    assert!(String::from_utf8(ended.stderr).unwrap().contains("stdout"));
}
