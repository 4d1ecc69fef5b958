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
fn mirror(scene: &Scene, more: &[&str]) -> Run {
    let known = "mirror --ca-file ca.pem --file mirror.toml";
    let platforms = "--platform linux_arm64 --platform darwin_arm64";
    scene.line(format!(
        "{known} {platforms} --to oci-layout:store {}",
        more.join(" ")
    ))
}

/// `NAME VERSION STATUS PLATFORM…` of each version in a document.
fn versions(run: &Run) -> Vec<String> {
    let document: Value = serde_json::from_str(&run.stdout).expect(&run.stderr);
    let text = |value: &Value| value.as_str().unwrap_or("none").to_owned();
    let line = |one: &Value| {
        let provider = text(&one["provider"]);
        let (_, name) = provider.rsplit_once('/').unwrap();
        let packages = one["packages"].as_array().unwrap().iter();
        let platforms = packages.map(|package| text(&package["platform"]));
        let words = [name.to_owned(), text(&one["version"]), text(&one["status"])];
        let words: Vec<String> = words.into_iter().chain(platforms).collect();
        words.join(" ")
    };
    document["providers"]
        .as_array()
        .unwrap()
        .iter()
        .map(line)
        .collect()
}

/// `NAME:TAG` of each reference.
fn references(run: &Run) -> Vec<String> {
    let lines = run.stdout.lines();
    let name = |line: &str| {
        let (reference, _) = line.split_once('@').unwrap();
        reference.rsplit_once('/').unwrap().1.to_owned()
    };
    lines.map(name).collect()
}

/// Versions are mirrored newest first, and several providers at once.
#[test]
fn results_are_sorted_in_any_order_of_completion() {
    let scene = Scene::new();
    let origin = origin(&scene);
    let run = mirror(&scene, &["--dry-run", "--format", "json"]).succeeds();
    let all = ["a", "b"].map(|name| {
        VERSIONS.map(|version| format!("{name} {version} planned darwin_arm64 linux_arm64"))
    });
    assert_eq!(versions(&run), all.concat());
    let all = ["a", "b"].map(|name| VERSIONS.map(|version| format!("{name}:{version}")));
    assert_eq!(references(&mirror(&scene, &[]).succeeds()), all.concat());
    assert_eq!(
        references(
            &scene
                .line("copy --from oci-layout:store --to oci-layout:other")
                .succeeds()
        ),
        all.concat()
    );
    let [a, b] =
        ["a", "b"].map(|name| format!("{}@1.10.0", origin.address(&format!("acme/{name}"))));
    let install = format!("install {b} {a} --from oci-layout:store --into out");
    let platforms = "--platform linux_arm64 --platform darwin_arm64";
    let run = scene.line(format!("{install} {platforms}")).succeeds();
    let names: Vec<&str> = run
        .stdout
        .lines()
        .map(|path| path.rsplit_once('/').unwrap().1)
        .collect();
    let expected = ["a", "b"].map(|name| {
        ["darwin_arm64", "linux_arm64"]
            .map(|platform| format!("terraform-provider-{name}_1.10.0_{platform}.zip"))
    });
    assert_eq!(names, expected.concat());
}

#[test]
fn changed_prints_only_changed_versions() {
    let scene = Scene::new();
    let origin = origin(&scene);
    let first = mirror(&scene, &["--newest", "2", "--changed"]).succeeds();
    let newest = [
        "a:2.0.0-rc.2",
        "a:2.0.0-rc.10",
        "b:2.0.0-rc.2",
        "b:2.0.0-rc.10",
    ];
    assert_eq!(references(&first), newest);
    let again = mirror(&scene, &["--newest", "2", "--changed"]).succeeds();
    assert_eq!(again.stdout, "");
    again.says("Mirrored nothing 8");
    let json = mirror(&scene, &["--newest", "2", "--changed", "--format", "json"]);
    assert_eq!(versions(&json.succeeds()), [""; 0]);
    // Without `--changed`, present versions are results too.
    assert_eq!(
        references(&mirror(&scene, &["--newest", "2"]).succeeds()),
        newest
    );
    // A failed version is a result, and the summary counts all versions.
    origin.always(asks("package acme/a 1.10.0"), Fault::status(404));
    let run = mirror(&scene, &["--changed", "--format", "json"]).exits(1);
    let platforms = "darwin_arm64 linux_arm64";
    assert_eq!(
        versions(&run),
        [
            format!("a 1.2.0 copied {platforms}"),
            format!("b 1.2.0 copied {platforms}"),
            format!("b 1.10.0 copied {platforms}"),
            "a 1.10.0 failed".to_owned(),
        ]
    );
    assert!(run.stderr.contains(" 8 already"), "{}", run.stderr);
    assert!(run.stderr.contains("; 1 of 8 failed"), "{}", run.stderr);
}

/// A nightly run would otherwise repeat these warnings for ever.
#[test]
fn changed_warns_of_lacking_platforms_only_while_a_version_changes() {
    let scene = Scene::new();
    let origin = origin(&scene);
    let more = ["--newest", "1", "--platform", "windows_amd64"];
    let run = |changed: &[&str]| mirror(&scene, &[&more, changed].concat()).succeeds();
    let host = origin.host();
    let warning = |name: &str| format!("{host}/acme/{name} 2.0.0-rc.10: {host} has no package");
    let count = |run: &Run| {
        let names = ["a", "b"].map(warning);
        names.map(|text| run.stderr.matches(&text).count())
    };
    assert_eq!(count(&run(&["--changed"])), [1, 1]);
    let again = run(&["--changed"]);
    assert!(
        again.stderr.starts_with("  Mirrored nothing: "),
        "{}",
        again.stderr
    );
    assert_eq!(count(&run(&[])), [1, 1]);
}

#[test]
fn changed_works_for_copy_too() {
    let scene = Scene::new();
    let origin = origin(&scene);
    mirror(&scene, &["-q"]).succeeds();
    let copy = [
        "copy",
        "--from",
        "oci-layout:store",
        "--to",
        "oci-layout:other",
    ];
    let copy = |more: &[&str]| {
        scene
            .line(format!("{} {}", copy.join(" "), more.join(" ")))
            .succeeds()
    };
    let tables =
        ["a", "b"].map(|name| format!("{}@2.0.0-rc.10", origin.address(&format!("acme/{name}"))));
    copy(&[&tables[0], &tables[1]]);
    assert_eq!(
        references(&copy(&["--changed"])),
        [
            "a:1.2.0",
            "a:1.10.0",
            "a:2.0.0-rc.2",
            "b:1.2.0",
            "b:1.10.0",
            "b:2.0.0-rc.2"
        ]
    );
    assert_eq!(copy(&["--changed"]).stdout, "");
    // A present version has no line on stderr either, even if it was verified again.
    let address = origin.address("acme/a");
    let again = [
        &["--changed", "-v", "--trust", "trust.toml", &address][..],
        &["--changed", &address],
        &["--changed", "--trust", "trust.toml", &address],
    ];
    scene.write("acme.asc", Signer::acme().public_armored());
    let table = "[[provider]]\nmatch = \"*/*/*\"\nkeys = [\"acme.asc\"]\n";
    scene.write("trust.toml", table);
    for more in again {
        let run = copy(more);
        let lines = run.stderr.lines();
        let versions: Vec<&str> = lines.filter(|line| line.contains("Present ")).collect();
        let is_package = |line: &&str| line.contains("_amd64") || line.contains("_arm64");
        assert!(versions.iter().all(is_package), "{}", run.stderr);
        assert!(run.stderr.contains("Copied nothing"), "{}", run.stderr);
    }
    let run = copy(&["--trust", "trust.toml", &address]);
    assert!(run.stderr.contains("   Present "), "{}", run.stderr);
}
