//! The results on stdout: their order, and which of them `--changed` leaves out.

use serde_json::Value;

use crate::support::origin::{Fault, Origin, Provider, asks};
use crate::support::scene::{Run, Scene};
use crate::support::signer::Signer;

const PLATFORMS: [&str; 3] = ["darwin_arm64", "linux_amd64", "linux_arm64"];
const VERSIONS: [&str; 4] = ["1.2.0", "1.10.0", "2.0.0-rc.2", "2.0.0-rc.10"];

/// An origin with `acme/a` and `acme/b` in these versions, and a mirror file with both.
fn origin(scene: &Scene) -> Origin {
    let provider = |address: &str| {
        VERSIONS
            .into_iter()
            .fold(Provider::new(address), |provider, version| {
                provider.version(version, &PLATFORMS)
            })
    };
    let origin = Origin::of([provider("acme/b"), provider("acme/a")]);
    origin.write_ca(scene);
    let tables = ["acme/b", "acme/a"].map(|address| {
        let address = origin.address(address);
        format!(
            "[[provider]]\naddress = \"{address}\"\nconstraints = \">= 1\"\nprereleases = true\n"
        )
    });
    scene.write("mirror.toml", tables.concat());
    origin
}

/// Mirrors with platforms that are not in sorted order.
fn mirror(scene: &Scene, more: &str) -> Run {
    let known = "mirror --ca-file ca.pem --file mirror.toml --to oci-layout:store";
    let platforms = "--platform linux_arm64 --platform darwin_arm64";
    scene.line(format!("{known} {platforms} {more}"))
}

/// `NAME VERSION STATUS PLATFORM…` of each version in a document.
fn versions(run: &Run) -> Vec<String> {
    let document = run.json();
    let line = |one: &Value| {
        let packages = one["packages"].as_array().unwrap().iter();
        let words = [&one["provider"], &one["version"], &one["status"]].into_iter();
        let words = words.chain(packages.map(|package| &package["platform"]));
        let words: Vec<&str> = words.map(|word| word.as_str().unwrap_or("none")).collect();
        words.join(" ").rsplit('/').next().unwrap().to_owned()
    };
    let versions = document["providers"].as_array().unwrap();
    versions.iter().map(line).collect()
}

/// `NAME:TAG` of each reference.
fn references(run: &Run) -> String {
    let name = |line: &str| {
        let (reference, _) = line.split_once('@').unwrap();
        reference.rsplit_once('/').unwrap().1.to_owned()
    };
    let names: Vec<String> = run.stdout.lines().map(name).collect();
    names.join(" ")
}

/// Versions are mirrored newest first, and several providers at once.
#[test]
fn results_are_sorted_in_any_order_of_completion() {
    let scene = Scene::new();
    let origin = origin(&scene);
    let run = mirror(&scene, "--dry-run --format json").succeeds();
    let all = ["a", "b"].map(|name| {
        VERSIONS.map(|version| format!("{name} {version} planned darwin_arm64 linux_arm64"))
    });
    assert_eq!(versions(&run), all.concat());
    let copy = "copy --from oci-layout:store --to oci-layout:other";
    let all =
        "a:1.2.0 a:1.10.0 a:2.0.0-rc.2 a:2.0.0-rc.10 b:1.2.0 b:1.10.0 b:2.0.0-rc.2 b:2.0.0-rc.10";
    for run in [mirror(&scene, ""), scene.line(copy)] {
        assert_eq!(references(&run.succeeds()), all);
    }
    let [a, b] =
        ["a", "b"].map(|name| format!("{}@1.10.0", origin.address(&format!("acme/{name}"))));
    let install = format!("install {b} {a} --from oci-layout:store --into out");
    let platforms = "--platform linux_arm64 --platform darwin_arm64";
    let run = scene.line(format!("{install} {platforms}")).succeeds();
    let paths = run.stdout.lines();
    let names = paths.map(|path| path.rsplit_once("provider-").unwrap().1);
    let expected = ["a", "b"].map(|name| {
        ["darwin_arm64", "linux_arm64"].map(|platform| format!("{name}_1.10.0_{platform}.zip"))
    });
    assert_eq!(names.collect::<Vec<_>>(), expected.concat());
}

#[test]
fn changed_prints_only_changed_versions() {
    let scene = Scene::new();
    let origin = origin(&scene);
    let newest = "a:2.0.0-rc.2 a:2.0.0-rc.10 b:2.0.0-rc.2 b:2.0.0-rc.10";
    let [first, again, json, all] = ["--changed", "--changed", "--changed --format json", ""]
        .map(|more| mirror(&scene, &format!("--newest 2 {more}")).succeeds());
    assert_eq!(references(&first), newest);
    assert_eq!(again.stdout, "");
    again.says("Mirrored nothing 8");
    assert_eq!(versions(&json), [""; 0]);
    // Without `--changed`, present versions are results too.
    assert_eq!(references(&all), newest);
    // A failed version is a result, and the summary counts all versions.
    origin.always(asks("package acme/a 1.10.0"), Fault::status(404));
    let run = mirror(&scene, "--changed --format json").exits(1);
    let found = [
        "a 1.2.0 copied darwin_arm64 linux_arm64",
        "b 1.2.0 copied darwin_arm64 linux_arm64",
        "b 1.10.0 copied darwin_arm64 linux_arm64",
        "a 1.10.0 failed",
    ];
    assert_eq!(versions(&run), found);
    run.tells(" 8 already").tells("; 1 of 8 failed");
}

/// A nightly run would otherwise repeat these warnings for ever.
#[test]
fn changed_tells_of_lacking_platforms_with_v_only() {
    let scene = Scene::new();
    let origin = origin(&scene);
    let run = |changed: &str| {
        let more = format!("--newest 1 --platform windows_amd64 {changed}");
        mirror(&scene, &more).succeeds()
    };
    let host = origin.host();
    let count = |run: &Run| {
        ["a", "b"].map(|name| {
            let text = format!("{host}/acme/{name} 2.0.0-rc.10: {host} has no package");
            run.stderr.matches(&text).count()
        })
    };
    assert_eq!(count(&run("--changed -v")), [1, 1]);
    let again = run("--changed").stderr;
    assert!(again.starts_with("  Mirrored nothing: "), "{again}");
    assert_eq!(count(&run("")), [1, 1]);
}

#[test]
fn changed_works_for_copy_too() {
    let scene = Scene::new();
    let origin = origin(&scene);
    mirror(&scene, "-q").succeeds();
    let copy = |more: &str| {
        let known = "copy --from oci-layout:store --to oci-layout:other";
        scene.line(format!("{known} {more}")).succeeds()
    };
    let [a, b] = ["acme/a", "acme/b"].map(|name| origin.address(name));
    copy(&format!("{a}@2.0.0-rc.10 {b}@2.0.0-rc.10"));
    let others = "a:1.2.0 a:1.10.0 a:2.0.0-rc.2 b:1.2.0 b:1.10.0 b:2.0.0-rc.2";
    assert_eq!(references(&copy("--changed")), others);
    assert_eq!(copy("--changed").stdout, "");
    // A present version has no line on stderr either, even if it was verified again.
    scene.write("acme.asc", Signer::acme().public_armored());
    let table = "[[provider]]\nmatch = \"*/*/*\"\nkeys = [\"acme.asc\"]\n";
    scene.write("trust.toml", table);
    for more in [
        "--changed -v --trust trust.toml",
        "--changed",
        "--changed --trust trust.toml",
    ] {
        let run = copy(&format!("{more} {a}"));
        let mut versions = run.stderr.lines().filter(|line| line.contains("Present "));
        let is_package = |line: &str| line.contains("_amd64") || line.contains("_arm64");
        assert!(versions.all(is_package), "{}", run.stderr);
        run.tells("Copied nothing");
    }
    copy(&format!("--trust trust.toml {a}")).tells("   Present ");
}
