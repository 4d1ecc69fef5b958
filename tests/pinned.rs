//! Versions that are named by a reference as `push` prints it, with the digest of their index.

use crate::support::author::Author;
use crate::support::layout_of_registry::import;
use crate::support::registry::Registry;
use crate::support::release::ReleaseFolder;
use crate::support::scene::Run;
use crate::support::tamper;

const PROVIDER: &str = "registry.opentofu.org/acme/demo";
const REPOSITORY: &str = "oci-layout:store/registry.opentofu.org/acme/demo";

/// Pushes a version with one platform, and returns the reference that `push` prints.
fn push(author: &Author, version: &str) -> String {
    author.releases(ReleaseFolder::new("demo", version).platform("linux_amd64"));
    let run = author.push("--existing replace");
    run.succeeds().stdout.trim().to_owned()
}

/// 1.0.0 and 1.1.0, with the reference of each.
fn two_versions() -> (Author, [String; 2]) {
    let author = Author::new();
    let references = ["1.0.0", "1.1.0"].map(|version| push(&author, version));
    (author, references)
}

fn digest(reference: &str) -> &str {
    reference.rsplit_once('@').unwrap().1
}

/// The reference that `inspect` shows.
fn shown(run: Run) -> [String; 2] {
    let run = run.succeeds();
    let line = |start: &str| {
        let line = run.stdout.lines().find_map(|line| line.strip_prefix(start));
        line.unwrap().trim().to_owned()
    };
    [line("provider "), line("reference ")]
}

#[test]
fn inspect_takes_a_reference() {
    let (author, references) = two_versions();
    for (version, reference) in ["1.0.0", "1.1.0"].iter().zip(references) {
        let run = author.line(format!("inspect {reference}"));
        assert_eq!(shown(run), [format!("{PROVIDER} {version}"), reference]);
    }
}

#[test]
fn install_and_copy_take_references() {
    let (author, [first, second]) = two_versions();
    let install = format!("install {first} --into out --platform linux_amd64");
    author.line(install).succeeds();
    let zip = "out/registry.opentofu.org/acme/demo/terraform-provider-demo_1.0.0_linux_amd64.zip";
    assert!(author.path(zip).exists());
    for (store, option, reference) in [("one", "", first), ("two", "--from", second)] {
        let to = format!("oci-layout:{store}");
        let run = author.line(format!("copy {option} {reference} --to {to}"));
        let copied = reference.replace("oci-layout:store", &to);
        assert_eq!(run.succeeds().stdout, format!("{copied}\n"));
    }
}

#[test]
fn references_of_registries_name_the_provider_in_the_index() {
    let (author, [first, _]) = two_versions();
    let registry = Registry::plain();
    import(&author.repository(""), &registry, "elsewhere");
    let reference = format!("{}/elsewhere:1.0.0@{}", registry.host(), digest(&first));
    let plain = "--plain-http 127.0.0.1";
    let run = author.line(format!("inspect {reference} {plain}"));
    assert_eq!(shown(run), [format!("{PROVIDER} 1.0.0"), reference.clone()]);
    let arguments = format!("copy --from {reference} --to oci-layout:other");
    author.line(format!("{arguments} {plain}")).succeeds();
    let arguments = "versions acme/demo --from oci-layout:other";
    assert_eq!(author.line(arguments).succeeds().stdout, "1.0.0\n");
}

#[test]
fn a_tag_that_moved_is_refused() {
    let author = Author::new();
    let first = push(&author, "1.0.0");
    author.releases(ReleaseFolder::new("demo", "1.0.0").platform("linux_arm64"));
    author.push("--existing replace").succeeds();
    let (expected, received) = (digest(&first), author.tagged("1.0.0").unwrap());
    let facts = format!("1.0.0 expected {expected} received sha256:{received}");
    let before = author.tree_of("store");
    for line in [
        format!("inspect {first}"),
        format!("install {first} --into out"),
        format!("copy {first} --to oci-layout:other"),
    ] {
        let run = author.line(line).exits(3).without_result();
        run.says(&format!("error {REPOSITORY} {facts}"));
    }
    assert!(!author.path("other").exists() || author.path("out").read_dir().is_err());
    assert_eq!(author.tree_of("store"), before);
}

#[test]
fn arguments_without_a_version_are_refused() {
    let (author, [first, _]) = two_versions();
    let without = first.split('@').next().unwrap();
    let by_digest = format!("acme/demo@{}", digest(&first));
    let evidence = first.replace(":1.0.0@", ":evidence-1.0.0@");
    let absent = first.replace(":1.0.0@", ":9.9.9@");
    let from = "--from oci-layout:store";
    #[rustfmt::skip] // A table.
    let cases = [
        (format!("inspect {by_digest} {from}"), 2, &*format!("{by_digest} expected REPOSITORY:VERSION@DIGEST")),
        (format!("inspect {without} {from}"), 2, ""),
        (format!("inspect {evidence}"), 2, &format!("{evidence} expected REPOSITORY:VERSION@DIGEST")),
        (format!("inspect {absent}"), 1, &format!("{REPOSITORY} 9.9.9 has none")),
        (format!("inspect {without}@sha256:12"), 2, "sha256:12 expected 64"),
        ("inspect acme/demo".to_owned(), 2, ""),
        ("install --into out".to_owned(), 2, "--from"),
        (format!("inspect {first} {from}"), 2, "--from"),
    ];
    for (line, exit, facts) in cases {
        let run = author.line(line).exits(exit);
        run.says(&format!("error {facts}"));
    }
}

#[test]
fn an_index_without_a_title_names_no_provider() {
    let (author, _) = two_versions();
    let layout = author.repository("");
    tamper::alter(&layout, "1.0.0", |index| {
        let index = index.as_object_mut().unwrap();
        index.remove("annotations").unwrap();
    });
    let untitled = author.tagged("1.0.0").unwrap();
    let reference = format!("{REPOSITORY}:1.0.0@sha256:{untitled}");
    let run = author.line(format!("inspect {reference}")).exits(1);
    run.says(&format!("error {reference}"));
}

#[test]
fn inspect_without_a_version_shows_the_newest_and_lists_the_others() {
    let (author, _) = two_versions();
    let second = push(&author, "1.2.0-rc.1");
    let inspect = "inspect acme/demo --from oci-layout:store";
    let run = author.line(inspect).succeeds().stdout;
    let first = format!("provider        {PROVIDER} 1.1.0\n");
    assert!(run.starts_with(&first), "{run}");
    let others = "\nother versions  1.2.0-rc.1, 1.0.0\n";
    assert!(run.contains(others), "{run}");
    let json = |line: &str| author.line(format!("{line} --format json")).json();
    let document = json(inspect);
    assert_eq!(document["version"], "1.1.0");
    let others = serde_json::json!(["1.2.0-rc.1", "1.0.0"]);
    assert_eq!(document["other_versions"], others);
    let document = json(&format!("inspect {second}"));
    assert_eq!(document.get("other_versions"), None);
}
