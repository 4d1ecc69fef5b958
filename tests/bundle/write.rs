use std::fs;
use std::os::unix::process::ExitStatusExt as _;

use super::{HOST, bundled, copy, filled, members, push, push_elsewhere, read, zips};
use crate::support::author::Author;
use crate::support::docker_registry::{Options, Program};
use crate::support::judge;
use crate::support::layout_of_registry::import;
use crate::support::registry::{Fault, Registry, Seen};
use crate::support::signal::Target;
use crate::support::{self, testdata};

/// The store of the release in `testdata`.
fn golden() -> Author {
    let author = Author::new();
    support::copy(&testdata("release"), &author.path("dist"));
    author.push_unsigned("--key dist/acme.asc").succeeds();
    author
}

#[test]
fn the_bytes_are_those_of_the_golden_bundle() {
    let author = golden();
    let path = bundled(&author, "demo.tar", "");
    let expected = testdata("golden/bundle.tar");
    assert!(fs::read(&path).unwrap() == fs::read(&expected).unwrap());
    let line = format!("{}  demo.tar\n", judge::sha256(&expected));
    let sums = author.path("demo.tar.sha256");
    assert_eq!(fs::read_to_string(sums).unwrap(), line);
    assert!(!author.path("demo.tar.part").exists());
}

#[test]
fn members_are_in_classes_sorted_by_digest_and_each_is_there_once() {
    let author = filled();
    bundled(&author, "all.tar", "");
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
    let tags = index["manifests"].as_array().unwrap().iter();
    let tags = tags.map(|one| &one["annotations"]["org.opencontainers.image.ref.name"]);
    let tags: Vec<_> = tags.map(|tag| tag.as_str().unwrap()).collect();
    let expected = "demo/1.0.0 demo/1.1.0 demo/evidence-1.0.0 demo/evidence-1.1.0 other/2.0.0_b.1 other/evidence-2.0.0_b.1";
    let expected = expected.split(' ').map(|one| format!("{HOST}/acme/{one}"));
    assert_eq!(tags, expected.collect::<Vec<_>>());
    let versions = contents["versions"].as_array().unwrap().iter();
    let versions: Vec<_> = versions.map(|one| &one["version"]).collect();
    assert_eq!(versions, ["1.0.0", "1.1.0", "2.0.0+b.1"]);
}

/// The same versions give the same file, wherever they come from.
#[test]
fn layouts_registries_bundles_and_pipes_give_the_same_file() {
    let author = filled();
    let expected = fs::read(bundled(&author, "all.tar", "")).unwrap();
    copy(&author, "bundle:all.tar bundle:again.tar --jobs 7").succeeds();
    assert!(read(&author, "again.tar") == expected);
    let mut piped = author.piped("copy --from oci-layout:store --to bundle:-");
    assert!(piped.output().unwrap().stdout == expected);
    let Some(registry) = Program::DockerRegistry.start(&Options::default()) else {
        return;
    };
    let at = format!("{}/{{hostname}}/{{namespace}}/{{type}}", registry.host());
    for (from, to) in [("bundle:all.tar", &*at), (&at, "bundle:registry.tar")] {
        copy(&author, format!("{from} {to} --plain-http 127.0.0.1")).succeeds();
    }
    assert!(read(&author, "registry.tar") == expected);
}

#[test]
fn a_package_that_versions_share_is_there_once() {
    let author = filled();
    bundled(&author, "before.tar", "");
    push_elsewhere(&author);
    bundled(&author, "after.tar", "");
    let [before, after] = ["before.tar", "after.tar"].map(|name| members(&author, name));
    after.assert_sound();
    // An index and the manifest of its evidence; the platforms and the documents are shared, too.
    let [before, after] = [before.0.len(), after.0.len()];
    assert!(after <= before + 2, "{after} {before}");
}

#[test]
fn an_existing_bundle_is_only_replaced_if_asked() {
    let author = filled();
    let path = bundled(&author, "all.tar", "");
    fs::write(&path, b"precious").unwrap();
    for more in ["", " --split 1MB --dry-run"] {
        let line = format!("oci-layout:store bundle:all.tar{more}");
        let run = author.untouched(|| copy(&author, line)).exits(1);
        run.without_result().says("error all.tar");
    }
    bundled(&author, "all.tar", "--overwrite");
    members(&author, "all.tar").assert_sound();
}

#[test]
fn a_dry_run_prints_the_size_and_writes_nothing() {
    let author = filled();
    let line = "oci-layout:store bundle:all.tar --dry-run --format json";
    let planned = author.untouched(|| copy(&author, line).succeeds()).json();
    let size = fs::metadata(bundled(&author, "all.tar", "")).unwrap().len();
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
        let run = author.line(arguments);
        assert!(matches!(run.status, Some(1 | 2)), "{arguments:?}");
    }
    let run = copy(&author, "oci-layout:store bundle:none/all.tar");
    run.exits(1).without_result();
    assert_eq!(author.tree(), before);
}

/// A package whose bytes are wrong ends the bundle. With the right ones, the same command completes it.
#[test]
fn a_damaged_package_leaves_no_bundle() {
    let author = filled();
    let expected = fs::read(bundled(&author, "all.tar", "")).unwrap();
    let hex = zips(&author, "dist-demo-1.1.0").pop().unwrap();
    let (path, sound) = (author.blob(&hex), fs::read(author.blob(&hex)).unwrap());
    let mut damaged = sound.clone();
    damaged[70_000] ^= 1;
    fs::remove_file(&path).unwrap();
    fs::write(&path, damaged).unwrap();
    let run = copy(&author, "oci-layout:store bundle:new.tar").exits(3);
    let says = format!("error {HOST}/acme/demo 1.1.0 oci-layout:store/{HOST}/acme/demo");
    run.without_result().says(&says);
    assert!(!author.path("new.tar").exists());
    fs::write(&path, sound).unwrap();
    bundled(&author, "new.tar", "");
    assert!(read(&author, "new.tar") == expected);
}

/// What an interrupted run left is kept, as far as it is right, whatever it is.
#[test]
fn any_unfinished_file_is_completed() {
    let author = filled();
    let expected = fs::read(bundled(&author, "all.tar", "")).unwrap();
    let part = author.path("new.tar.part");
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
        bundled(&author, "new.tar", "--overwrite");
        assert!(read(&author, "new.tar") == expected, "{round}");
    }
}

/// A run is killed at each request for a package. The next one fetches what is missing, and gives the same file.
#[test]
fn a_killed_run_is_completed_by_the_next() {
    let author = Author::new();
    for number in 0..10 {
        push(&author, "demo", &format!("1.{number}.0"), 80 << 10);
    }
    let expected = fs::read(bundled(&author, "all.tar", "")).unwrap();
    let registry = Registry::plain();
    import(&author.repository(""), &registry, "acme/demo");
    let from = format!("{}/{{namespace}}/{{type}}", registry.host());
    let to = "--to bundle:new.tar --plain-http 127.0.0.1 --jobs 1 --overwrite";
    let copy = format!("copy acme/demo --from {from} {to}");
    let all = (0..10).flat_map(|number| zips(&author, &format!("dist-demo-1.{number}.0")));
    let all: Vec<String> = all.map(|hex| format!("/blobs/sha256:{hex}")).collect();
    let target = Target::default();
    let is_package = move |seen: &Seen| all.iter().any(|zip| seen.path.ends_with(zip));
    for round in 0..20 {
        let kill = Fault::stall_body_after(target.hit("KILL"));
        registry.forget();
        registry.fault(round + 1, is_package.clone(), kill);
        let mut killed = target.start(&mut author.piped(&copy));
        assert_eq!(killed.wait().unwrap().signal(), Some(9));
        assert!(author.path("new.tar.part").exists());
        registry.forget();
        author.line(&copy).succeeds();
        assert_eq!(registry.count(is_package.clone()), 20 - round, "{round}");
        assert!(read(&author, "new.tar") == expected, "{round}");
    }
}

#[test]
fn a_full_disk_is_named_and_leaves_no_bundle() {
    let author = filled();
    // No file of this process may have more than 512 or 1024 bytes.
    let copy = "copy --from oci-layout:store --to bundle:all.tar";
    let limited = format!("trap '' XFSZ; ulimit -f 100; exec \"$0\" {copy}");
    let run = author.run("sh", ["-c", &limited, env!("CARGO_BIN_EXE_tfoci")]);
    run.exits(1).tells("all.tar.part");
    assert!(!author.path("all.tar").exists());
    bundled(&author, "all.tar", "");
}

#[test]
fn a_pipe_that_closes_fails() {
    let author = filled();
    let mut copy = author.piped("copy --from oci-layout:store --to bundle:-");
    let mut child = copy.spawn().unwrap();
    drop(child.stdout.take());
    let ended = child.wait_with_output().unwrap();
    assert_eq!(ended.status.code(), Some(1));
    assert!(String::from_utf8(ended.stderr).unwrap().contains("stdout"));
}
