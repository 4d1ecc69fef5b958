use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, symlink};
use std::path::PathBuf;

use super::{assert_names_what_is_there, listed, names, of_demo, site, with_two, zip};
use crate::install::{DEMO, blob, released, tree};
use crate::support::scene::Scene;

/// Each file of the site with its inode and the time of its last change.
fn files(scene: &Scene) -> BTreeMap<String, (u64, i64, i64)> {
    let identity = |name: String| {
        let found = fs::metadata(scene.path("public").join(&name)).unwrap();
        (name, (found.ino(), found.mtime(), found.mtime_nsec()))
    };
    let names = tree(&scene.path("public")).into_keys();
    names.map(identity).collect()
}

#[test]
fn a_second_run_changes_nothing() {
    let scene = with_two();
    site(&scene, "").succeeds();
    let before = files(&scene);
    assert_eq!(before.len(), 8);
    for more in ["", "--delete", DEMO] {
        let run = site(&scene, more).succeeds();
        run.says("Wrote nothing 4");
        assert_eq!(files(&scene), before, "{more:?}");
    }
}

#[test]
fn only_wrong_files_are_written_again() {
    let scene = with_two();
    site(&scene, "").succeeds();
    let before = files(&scene);
    let package = zip("1.0.0", "linux_amd64");
    let size = fs::metadata(of_demo(&scene, &package)).unwrap().len();
    for name in [package.as_str(), "1.1.0.json", "index.json"] {
        // Not written in place, since a package may be a hard link to the store.
        fs::remove_file(of_demo(&scene, name)).unwrap();
        let other = vec![b'x'; usize::try_from(size).unwrap()];
        fs::write(of_demo(&scene, name), other).unwrap();
        site(&scene, "").succeeds();
        let original = released(&scene, DEMO, "1.0.0").join(&package);
        let [written, original] = [of_demo(&scene, &package), original].map(fs::read);
        assert_eq!(written.unwrap(), original.unwrap());
        assert_eq!(listed(&scene), ["1.0.0", "1.1.0"]);
        assert_names_what_is_there(&scene.path("public"));
    }
    let again = files(&scene);
    let again = again.iter().filter(|(name, file)| before[*name] != **file);
    let again: Vec<&String> = again.map(|(name, _)| name).collect();
    // The package is again the same file as in the store.
    let documents = ["1.1.0.json", "index.json"].map(|name| format!("{DEMO}/{name}"));
    assert_eq!(again, documents.iter().collect::<Vec<_>>());
}

#[test]
fn unfinished_files_of_a_killed_run_are_removed() {
    let scene = with_two();
    scene.write("public/.tfoci-tmp-abc", b"half");
    site(&scene, "").succeeds();
    assert!(!scene.path("public/.tfoci-tmp-abc").exists());
}

#[test]
fn documents_that_name_nothing_are_not_listed() {
    let scene = with_two();
    site(&scene, "").succeeds();
    let archives = |url: &str| {
        format!("{{\"archives\": {{\"linux_amd64\": {{\"url\": \"{url}\", \"hashes\": []}}}}}}")
    };
    let outside = scene.write("public/outside.zip", b"x");
    for (version, text) in [
        ("3.0.0", "{"),
        ("3.1.0", "{\"archives\": {}}"),
        ("3.2.0", &archives("none.zip")),
        ("3.3.0", &archives("../../../outside.zip")),
        ("3.4.0", &archives(outside.to_str().unwrap())),
        ("3.5.0", &archives("https://example.com/x.zip")),
        ("3.6.0", "{\"archives\": {\"linux_amd64\": null}}"),
    ] {
        fs::write(of_demo(&scene, &format!("{version}.json")), text).unwrap();
    }
    site(&scene, "").succeeds();
    assert_eq!(listed(&scene), ["1.0.0", "1.1.0"]);
    assert!(names(&scene).contains(&"3.0.0.json".to_owned()));
}

/// The targets of links, and their names in the site.
#[test]
fn links_are_not_followed() {
    let names = [
        "public/example.com".to_owned(),
        "public/example.com/acme".to_owned(),
        format!("public/{DEMO}"),
        format!("public/{DEMO}/{}", zip("1.0.0", "linux_amd64")),
        format!("public/{DEMO}/1.0.0.json"),
        format!("public/{DEMO}/index.json"),
        "public/index.html".to_owned(),
    ];
    for name in names {
        for is_written in [false, true] {
            let scene = with_two();
            if is_written {
                site(&scene, "").succeeds();
            }
            let link = scene.path(&name);
            let elsewhere = scene.path("elsewhere");
            if link.is_dir() || (!is_written && !name.contains('.')) {
                let _moved = fs::rename(&link, &elsewhere);
            }
            if link.is_file() {
                fs::rename(&link, &elsewhere).unwrap();
            }
            fs::create_dir_all(link.parent().unwrap()).unwrap();
            if !elsewhere.exists() {
                fs::create_dir(&elsewhere).unwrap();
            }
            let before = content(&elsewhere);
            symlink(&elsewhere, &link).unwrap();
            let run = site(&scene, "--delete").exits(1);
            let (_, cause) = run.stderr.split_once(&format!(" {name}\n")).unwrap();
            assert!(cause.lines().next().unwrap().contains(" link"), "{cause}");
            assert_eq!(content(&elsewhere), before, "{name}");
            assert!(fs::symlink_metadata(&link).unwrap().is_symlink(), "{name}");
        }
    }
}

/// The file, or all files below the directory.
fn content(path: &PathBuf) -> BTreeMap<String, Vec<u8>> {
    match path.is_file() {
        true => BTreeMap::from([(String::new(), fs::read(path).unwrap())]),
        false => tree(path),
    }
}

#[test]
fn a_directory_or_pipe_at_the_place_of_a_file_is_an_error() {
    for name in [zip("1.0.0", "linux_amd64"), "1.0.0.json".to_owned()] {
        let scene = with_two();
        fs::create_dir_all(of_demo(&scene, &name)).unwrap();
        site(&scene, "").exits(1).tells(&name);
    }
}

/// A web server runs as another user than the owner of the store.
#[test]
fn a_package_that_only_its_owner_may_read_is_copied() {
    let scene = with_two();
    let blob = blob(&scene, "linux_amd64");
    fs::set_permissions(&blob, fs::Permissions::from_mode(0o600)).unwrap();
    site(&scene, "").succeeds().tells(" copied, 3 reused) in ");
    let package = fs::metadata(of_demo(&scene, &zip("1.0.0", "linux_amd64"))).unwrap();
    assert_eq!(package.mode() & 0o7777, 0o644);
    assert_ne!(package.ino(), fs::metadata(blob).unwrap().ino());
}
