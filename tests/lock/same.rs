//! `lock --platform same`: the platforms that a lock file has stay when the version changes.

use crate::support::origin::{Origin, asks};
use crate::support::scene::Scene;

use super::{LOCK, lock, platforms, project, read};

/// A project that requires `acme/demo`, which has 1.0.0 and 1.2.0.
fn given() -> (Origin, Scene) {
    project("~> 1.0")
}

/// The lock file for 1.0.0 and these options, then the one that `--upgrade --platform same` makes of it.
fn upgraded(origin: &Origin, scene: &Scene, before: &str, same: &str) -> String {
    let _ = std::fs::remove_file(scene.path(LOCK));
    let address = origin.address("acme/demo");
    lock(scene, &format!("{address}@1.0.0 {before}")).succeeds();
    assert!(read(scene, LOCK).contains("\"1.0.0\""));
    origin.forget();
    let options = format!("--upgrade --platform same {same}");
    lock(scene, &options).succeeds();
    let now = read(scene, LOCK);
    lock(scene, &format!("{options} --check")).succeeds();
    assert_eq!(read(scene, LOCK), now);
    now
}

/// The lock file for 1.2.0 and these options.
fn fresh(scene: &Scene, options: &str) -> String {
    let _ = std::fs::remove_file(scene.path(LOCK));
    lock(scene, options).succeeds();
    read(scene, LOCK)
}

#[test]
fn an_h1_is_recorded_of_each_platform_that_had_one() {
    let (origin, scene) = given();
    let [here, other] = platforms();
    for named in ["all", &here, &other] {
        let options = format!("--h1 --platform {named}");
        let same = upgraded(&origin, &scene, &options, "--h1");
        assert_eq!(same, fresh(&scene, &options), "{named}");
    }
}

/// A signed checksum document has every platform.
#[test]
fn nothing_is_downloaded_if_the_zh_tell_the_platforms() {
    let (origin, scene) = given();
    for before in ["", "--h1"] {
        let same = upgraded(&origin, &scene, before, "");
        assert_eq!(origin.count(asks("package")), 0);
        assert_eq!(same, fresh(&scene, ""));
    }
    // A provider without an entry is locked as without the option.
    let plain = fresh(&scene, "--h1");
    assert_eq!(fresh(&scene, "--h1 --platform same"), plain);
}

/// Packages that no known signature covers.
#[test]
fn the_platforms_of_an_unsigned_entry_stay() {
    let (origin, scene) = given();
    let address = origin.address("acme/demo");
    let mirror = format!("mirror {address}@1.0.0 {address}@1.2.0 --to oci-layout:store");
    scene.line(mirror).succeeds();
    let [here, other] = platforms();
    let both = format!("--platform {here} --platform {other}");
    for named in [both, format!("--platform {other}")] {
        for h1 in ["", "--h1"] {
            let options = format!("{named} --from oci-layout:store {h1}");
            let same = format!("--from oci-layout:store {h1}");
            let same = upgraded(&origin, &scene, &options, &same);
            assert_eq!(same, fresh(&scene, &options), "{options}");
        }
    }
}

/// As clients lock what is unpacked in a filesystem mirror.
#[test]
fn packages_tell_the_platforms_of_an_entry_without_zh() {
    let (origin, scene) = given();
    let [here, other] = platforms();
    for named in ["all", &here, &other] {
        let options = format!("--h1 --platform {named}");
        let expected = fresh(&scene, &options);
        let address = origin.address("acme/demo");
        let _ = std::fs::remove_file(scene.path(LOCK));
        lock(&scene, &format!("{address}@1.0.0 {options}")).succeeds();
        let lines = read(&scene, LOCK);
        let lines = lines.lines().filter(|line| !line.contains("\"zh:"));
        let lines: Vec<&str> = lines.collect();
        scene.write(LOCK, lines.join("\n") + "\n");
        lock(&scene, "--upgrade --platform same --h1").succeeds();
        assert_eq!(read(&scene, LOCK), expected, "{named}");
    }
}

#[test]
fn an_entry_that_matches_no_package_is_an_error() {
    let (_origin, scene) = given();
    lock(&scene, "").succeeds();
    let text = read(&scene, LOCK);
    let withdrawn = text.replace("\"1.2.0\"", "\"1.1.9\"");
    scene.write(LOCK, &withdrawn);
    lock(&scene, "--upgrade --platform same").exits(1);
    assert_eq!(read(&scene, LOCK), withdrawn);
    lock(&scene, "--upgrade --platform all").succeeds();
    assert_eq!(read(&scene, LOCK), text);
}
