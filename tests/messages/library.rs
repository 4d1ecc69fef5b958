//! Errors that no command provokes, because an earlier check of the terminal refuses what leads to them.

use std::fs;
use std::io::Cursor;
use std::path::Path;

use tfoci::archive::{Archive, Limits};
use tfoci::disk::{directory_h1, unpack};
use tfoci::event::Subject;
use tfoci::oci::{Repository, Tag};
use tfoci::outcome::{At, Problem};
use tfoci::place::Place;
use tfoci::trust::Checksums;

use crate::support::scene::Scene;
use crate::support::zipfile::{executable, zip};

#[test]
fn directories_without_a_hash() {
    let scene = Scene::new();
    let file = scene.write("package/file", "content");
    let message = |directory: &Path, limits: &Limits| {
        let error = directory_h1(directory, limits).unwrap_err().to_string();
        error.replace(scene.path("").to_str().unwrap(), "[TMP]/")
    };
    let (package, limits) = (scene.path("package"), Limits::default());
    assert_eq!(
        message(&scene.path("none"), &limits),
        "cannot read [TMP]/none"
    );
    let few = Limits {
        entries: 0,
        ..limits
    };
    assert_eq!(
        message(&package, &few),
        "the directory of `[TMP]/package/file` has too many entries\n  expected at most 0\n  received more"
    );
    let small = Limits {
        unpacked: 6,
        ..limits
    };
    assert_eq!(
        message(&package, &small),
        "the directory of `[TMP]/package/file` is too large\n  expected at most 6 bytes\n  received more"
    );
    #[cfg(unix)]
    {
        std::os::unix::fs::symlink(scene.path(""), package.join("link")).unwrap();
        fs::remove_file(file).unwrap();
        assert_eq!(
            message(&package, &limits),
            "[TMP]/package/link is a symbolic link, which is not followed"
        );
    }
}

#[test]
fn a_package_is_unpacked_into_an_empty_directory() {
    let scene = Scene::new();
    scene.write("into/file", "content");
    let bytes = zip([executable()]);
    let mut archive = Archive::open(Cursor::new(bytes), &Limits::default()).unwrap();
    let into = scene.path("into");
    let error = unpack::unpack(&mut archive, "demo", &into).unwrap_err();
    assert_eq!(
        error.to_string(),
        format!("the directory `{}` is not empty", into.display())
    );
}

#[test]
fn names_in_a_store() {
    assert_eq!(
        Tag::parse("-").unwrap_err().to_string(),
        "`-` is not a tag: expected up to 128 letters, digits, `_`, `.` and `-`, the first no `.` or `-`"
    );
    let long = format!("example.com/{}", "a".repeat(512));
    let message = Repository::in_registry(&long).unwrap_err().to_string();
    assert!(
        message.ends_with("…` is not a repository: it is longer than 512 bytes"),
        "{message}"
    );
}

#[test]
fn checksum_documents() {
    let document = vec![b'\n'; (4 << 20) + 1];
    assert_eq!(
        Checksums::parse(&document).unwrap_err().to_string(),
        "the checksum document is too long\n  expected at most 4194304 bytes\n  received 4194305 bytes"
    );
}

/// The pauses between the attempts are too long for a test that runs the program.
#[test]
fn tags_that_other_writers_keep_moving() {
    let provider = "example.com/acme/demo".parse().unwrap();
    let subject = Subject::version(&provider, &"1.0.0".parse().unwrap());
    let failure = Problem::Contended { attempts: 8 }.of(
        subject,
        At::written(Place::Registry("registry.example.com/acme/demo".into())),
    );
    assert_eq!(
        failure.to_string(),
        "example.com/acme/demo 1.0.0 (registry.example.com/acme/demo): another writer moved the tag, 8 times"
    );
}
