//! A package that is unpacked while it arrives becomes the same directory as one that is unpacked from a file.

use std::collections::BTreeMap;
use std::fs;
use std::io::Cursor;
use std::path::Path;

use proptest::prelude::*;

use super::{Error, unpack, unpack_arriving};
use crate::archive::hostile::cases;
use crate::archive::pieces::{Pieces, any_file, squeezed};
use crate::archive::zipfile::{EXECUTABLE, File, directory, executable, file, zip};
use crate::archive::{Archive, Hashes, Limits, Stream};
use crate::disk;

/// What is below a directory: paths, modes and contents.
type Tree = BTreeMap<String, (u32, Option<Vec<u8>>)>;

fn add(directory: &Path, prefix: &str, tree: &mut Tree) {
    for entry in fs::read_dir(directory).unwrap() {
        let (path, name) = {
            let entry = entry.unwrap();
            (entry.path(), entry.file_name().into_string().unwrap())
        };
        let name = format!("{prefix}{name}");
        let found = fs::symlink_metadata(&path).unwrap();
        #[cfg(unix)]
        let mode = std::os::unix::fs::PermissionsExt::mode(&found.permissions());
        #[cfg(not(unix))]
        let mode = 0;
        let content = found.is_file().then(|| fs::read(&path).unwrap());
        if found.is_dir() {
            add(&path, &format!("{name}/"), tree);
        }
        tree.insert(name, (mode, content));
    }
}

/// Unpacks into `x/into` in a temporary directory, which must have nothing else afterwards.
fn made(work: impl FnOnce(&Path) -> Result<Option<Hashes>, Error>) -> Made {
    let scene = tempfile::tempdir().unwrap();
    let into = scene.path().join("x/into");
    fs::create_dir_all(&into).unwrap();
    let hashes = work(&into);
    let mut tree = Tree::new();
    add(&into, "", &mut tree);
    let mut all = Tree::new();
    add(scene.path(), "", &mut all);
    assert_eq!(all.len(), tree.len() + 2);
    hashes.map(|hashes| hashes.map(|hashes| (hashes, tree)))
}

type Made = Result<Option<(Hashes, Tree)>, Error>;

fn by_file(zip: &[u8]) -> Made {
    made(|into| {
        let mut archive = Archive::open(Cursor::new(zip), &Limits::default())?;
        unpack(archive.members(), "demo", into).map(Some)
    })
}

fn by_stream(zip: &[u8], size: usize) -> Made {
    made(|into| {
        let pieces = Pieces::of(zip, &[size]);
        let stream = Stream::new(pieces, zip.len() as u64, &Limits::default());
        unpack_arriving(stream, "demo", into)
    })
}

/// Compares both ways. Returns whether the zip was unpacked while it arrived.
#[track_caller]
fn compare(label: &str, zip: &[u8], size: usize) -> bool {
    match (by_stream(zip, size), by_file(zip)) {
        (Ok(None), _) => false,
        (Ok(arrived), Ok(opened)) => {
            assert!(arrived == opened, "{label}");
            true
        }
        (Err(error), Err(expected)) => {
            assert_eq!(error.to_string(), expected.to_string(), "{label}");
            false
        }
        (Ok(_), Err(error)) | (Err(error), Ok(_)) => panic!("{label}: {error}"),
    }
}

#[test]
fn the_tree_is_that_of_a_file() {
    let script = |mode| squeezed("docs/script", b"#!").mode(mode);
    for (label, files) in [
        (
            "modes",
            vec![
                executable(),
                script(0o100755),
                file("none", "").mode(0o100000),
            ],
        ),
        (
            "dangerous modes",
            vec![executable().mode(0o106777), script(0o100070)],
        ),
        (
            "no modes",
            vec![executable().without_mode(), script(0).without_mode()],
        ),
        (
            "directories",
            vec![
                directory("docs/"),
                directory("a/b/").mode(0o041777),
                script(0o100644),
                executable(),
            ],
        ),
        (
            "descriptors",
            vec![script(0o100700).streamed(), executable()],
        ),
        (
            "two executables",
            vec![
                file("terraform-provider-demo", "").without_mode(),
                executable().without_mode(),
            ],
        ),
    ] {
        assert!(compare(label, &zip(files), 99), "{label}");
    }
}

#[test]
fn hostile_zips_are_refused_with_their_sentence_or_left_to_the_file() {
    let mut refused = 0;
    for case in cases() {
        assert!(!compare(case.label, &case.zip, 33), "{}", case.label);
        refused += usize::from(by_stream(&case.zip, 33).is_err());
    }
    // Of the others, nothing is known before the file is there.
    assert!(refused >= 30, "{refused}");
}

#[test]
fn what_only_the_directory_tells_is_told_before_anything_is_returned() {
    let link = |mode| zip([executable(), squeezed("x", b"/etc/passwd").mode(mode)]);
    for (label, zip, said) in [
        (
            "link",
            link(0o120777),
            Some("the entry `x` is a link, a special file"),
        ),
        (
            "device",
            link(0o060666),
            Some("the entry `x` is a link, a special file"),
        ),
        (
            "twice",
            zip([executable(), file("x", "1"), file("x", "2")]),
            None,
        ),
        (
            "below a file",
            zip([executable(), file("x", "1"), file("x/y", "2")]),
            None,
        ),
        (
            "above a file",
            zip([executable(), file("x/y", "1"), file("x", "2")]),
            None,
        ),
        (
            "case",
            zip([executable(), file("X", "1"), file("x", "2")]),
            Some("`X`"),
        ),
        ("no executable", zip([file("x", "1")]), Some("executable")),
    ] {
        let received = by_stream(&zip, 5).map(|made| assert!(made.is_none(), "{label}"));
        let received = received.err().map(|error| error.to_string());
        match (&received, said) {
            (Some(received), Some(said)) => assert!(received.contains(said), "{received}"),
            _ => assert_eq!((received, said), (None, None), "{label}"),
        }
    }
}

#[test]
fn a_directory_with_something_in_it_is_left_alone() {
    let scene = tempfile::tempdir().unwrap();
    let there = scene.path().join(EXECUTABLE);
    fs::write(&there, "mine").unwrap();
    let zip = zip([executable()]);
    let stream = Stream::new(Cursor::new(&zip), zip.len() as u64, &Limits::default());
    let error = unpack_arriving(stream, "demo", scene.path()).unwrap_err();
    assert!(matches!(error, Error::Disk(disk::Error::Io { .. })));
    assert_eq!(fs::read(there).unwrap(), b"mine");
}

proptest! {
    #[test]
    fn both_ways_make_the_same_tree(
        files in prop::collection::vec(any_file(), 0..5),
        size in 1..50_000usize,
    ) {
        let bytes = zip(files.into_iter().chain([executable()]));
        let is_sound = by_file(&bytes).is_ok();
        prop_assert_eq!(compare("generated", &bytes, size), is_sound);
    }

    #[test]
    fn names_of_any_kind_stay_inside(names in prop::collection::vec("[a./\\\\A]{1,6}", 1..4)) {
        let files = names.iter().map(|name| file(name, "x"));
        let files: Vec<File> = files.chain([executable()]).collect();
        compare("names", &zip(files), 20);
    }
}
