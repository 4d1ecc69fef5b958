//! What the options of `push` do.

use std::fs;

use super::installed;
use crate::support::author::{Author, two_platforms};
use crate::support::judge;
use crate::support::release::ReleaseFolder;
use crate::support::scene::Scene;
use crate::support::signer::Signer;
use crate::support::tamper;

#[test]
fn a_dry_run_verifies_everything_and_creates_nothing() {
    let author = Author::with_release();
    let planned = author.untouched(|| author.push("--dry-run --digest-file digest").succeeds());
    let pushed = author.push("--digest-file digest").succeeds();
    assert_eq!(pushed.stdout, planned.stdout);
    planned.says("Would registry.opentofu.org/acme/demo 1.0.0 2 813 signed [ACME ID] pinned Would 1 2 813 [TIME]");

    fs::write(author.zip("linux_amd64"), "x").unwrap();
    author.push("--dry-run").exits(3).without_result();
}

#[test]
fn a_digest_file_that_cannot_be_written_stops_the_push() {
    for dry_run in ["", "--dry-run"] {
        let author = Author::with_release();
        let run = author.push(format!("--digest-file none/digest {dry_run}"));
        run.exits(1).tells("\n  named by --digest-file\n");
        assert!(!author.path("store").exists());
    }
}

#[test]
fn the_digest_file_holds_the_digest_and_a_newline() {
    let author = Author::with_release();
    let read = || fs::read_to_string(author.path("digest")).unwrap();
    author.push("--digest-file digest").succeeds();
    let digest = format!("sha256:{}\n", author.tagged("1.0.0").unwrap());
    assert_eq!(read(), digest);
    author.write("digest", "old");
    author.push("--digest-file digest").succeeds();
    assert_eq!(read(), digest);

    author.write("digest", "old");
    author.push("--digest-file digest --existing fail").exits(1);
    author.push("--digest-file digest --dry-run").succeeds();
    assert_eq!(read(), "old");
    author.installs();
}

#[test]
fn annotations_are_set_where_an_index_is_written() {
    const SOURCE: &str = "org.opencontainers.image.source=https://example.com/a=b";
    let author = Author::with_release();
    let two = format!("--annotation {SOURCE} --annotation empty=");
    author
        .push(format!("--platform linux_amd64 {two}"))
        .succeeds();
    let annotation = |name: &str| author.document("1.0.0")["annotations"][name].clone();
    let source = || annotation("org.opencontainers.image.source");
    assert_eq!(source(), "https://example.com/a=b");
    assert_eq!(annotation("empty"), "");
    let title = annotation("org.opencontainers.image.title");
    assert_eq!(title, "registry.opentofu.org/acme/demo");

    // An annotation is no reason to write.
    let late = "--platform linux_amd64 --annotation late=1";
    author.untouched(|| author.push(late).succeeds());

    author.push("--annotation late=1").succeeds();
    assert_eq!(annotation("late"), "1");
    assert_eq!(source(), "https://example.com/a=b");
    author.installs();
}

#[test]
fn annotations_of_the_artifact_are_its_own() {
    let author = Author::with_release();
    for own in [
        "org.opencontainers.image.title=x",
        "org.opencontainers.image.version=x",
        "org.tfoci.package=x",
        "org.tfoci.anything=x",
        "=x",
        "x",
    ] {
        let run = author.untouched(|| author.push(format!("--annotation {own}")));
        run.exits(2).without_result();
    }
}

#[test]
fn platforms_are_chosen_in_either_spelling() {
    let author = Author::with_release();
    author.push("--platform linux/amd64").succeeds();
    assert_eq!(author.installs(), installed("1.0.0", &["linux_amd64"]));
    let both = "--platform linux_amd64 --platform darwin_arm64";
    author.push(both).succeeds();
    assert_eq!(author.installs().len(), 2);
}

#[test]
fn a_version_is_chosen_where_there_are_several() {
    let author = Author::with_release();
    for (name, version) in [("demo", "1.1.0"), ("more", "3.0.0")] {
        let folder = ReleaseFolder::new(name, version).platform("linux_amd64");
        folder.write(&author.path("dist"));
    }
    author.push("").exits(2).without_result();
    author.push("--provider acme/demo@1.1.0").succeeds();
    author.push("--provider acme/more").succeeds();
    let found = judge::installs(&author.path("store"));
    assert_eq!(found.len(), 2);
    for (line, wanted) in found.iter().zip(["demo 1.1.0", "more 3.0.0"]) {
        let begin = format!("registry.opentofu.org/acme/{wanted} linux_amd64 ");
        assert!(line.starts_with(&begin), "{line}");
    }
}

#[test]
fn a_trust_file_names_keys_by_file_or_fingerprint() {
    let author = Author::with_release();
    let trust = |keys: &str| {
        let pattern = "[[provider]]\nmatch = \"registry.opentofu.org/acme/*\"\n";
        author.write("trust/trust.toml", format!("{pattern}keys = [{keys}]\n"));
    };
    author.write("trust/keys/acme.asc", Signer::acme().public_armored());
    trust("\"keys/acme.asc\"");
    let run = author.push_unsigned("--trust trust/trust.toml").succeeds();
    run.says("Copied registry.opentofu.org/acme/demo 1.0.0 2 813 signed [ACME ID] pinned Pushed 1 2 813 [TIME]");
    trust(&format!("\"{}\"", Signer::acme().fingerprint()));
    author.push_unsigned("--trust trust/trust.toml").exits(3);
    author.push("--trust trust/trust.toml").succeeds();
    trust(&format!("\"{}\"", Signer::stranger().fingerprint()));
    author.push("--trust trust/trust.toml").exits(3);
    author.installs();
}

#[test]
fn default_host_applies_to_addresses_of_two_parts() {
    let author = Author::within(Scene::new().env("TFOCI_DEFAULT_HOST", "example.com:8443"));
    two_platforms().write(&author.path("dist"));
    let run = author.push("").succeeds();
    let begin = "oci-layout:store/example.com_8443/acme/demo:1.0.0@sha256:";
    assert!(run.stdout.starts_with(begin), "{}", run.stdout);
    author.push("--default-host bücher.example").succeeds();
    let installed = judge::installs(&author.path("store")).join("\n");
    for host in ["example.com_8443", "xn--bcher-kva.example"] {
        let begin = format!("{host}/acme/demo ");
        assert!(installed.contains(&begin), "{installed}");
    }
}

#[test]
fn hosts_are_spelled_in_punycode_in_the_artifact() {
    let author = Author::with_release();
    let books = "--provider bücher.example/acme/demo";
    author.push(books).succeeds();
    let layout = author.path("store/xn--bcher-kva.example/acme/demo");
    let index = tamper::document(&layout, &tamper::tagged(&layout, "1.0.0"));
    let title = &index["annotations"]["org.opencontainers.image.title"];
    assert_eq!(title, "xn--bcher-kva.example/acme/demo");
    judge::installs(&author.path("store"));
}

#[test]
fn names_and_versions_that_oci_cannot_express_are_refused() {
    let author = Author::with_release();
    for provider in ["bücher/demo", "acme/dé"] {
        let run = author.untouched(|| author.push(format!("--provider {provider}")));
        run.exits(1).without_result();
    }
    let long = |length: usize| {
        let version = format!("1.0.0-{}", "a".repeat(length - 6));
        Author::of(ReleaseFolder::new("demo", &version).platform("linux_amd64"))
    };
    let author = long(120);
    author.untouched(|| author.push("").exits(1));
    let author = long(119);
    author.push("").succeeds();
    assert_eq!(author.installs().len(), 1);
}

#[test]
fn oci_push_works_by_name_and_by_link() {
    let author = Author::with_release();
    let line = "dist --provider acme/demo --key acme.asc --to oci-layout:store --jobs 1";
    let named = author.oci_push(line.split(' ')).succeeds();
    author.installs();
    let other = Author::with_release();
    let signature = "dist/terraform-provider-demo_1.0.0_SHA256SUMS.sig";
    fs::copy(author.path(signature), other.path(signature)).unwrap();
    let link = other.path("oci-push");
    std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_tfoci"), &link).unwrap();
    let linked = other.run(link, line.split(' ')).succeeds();
    assert_eq!(linked.stdout, named.stdout);
    assert_eq!(author.tree_of("store"), other.tree_of("store"));
}

#[test]
fn oci_push_runs_the_program_beside_it() {
    let scene = Scene::new();
    // By another process: a file that this one has open for writing cannot be run, nor while a sibling inherits it.
    let own = env!("CARGO_BIN_EXE_oci-push");
    scene.run("cp", [own, "oci-push"]).succeeds();
    scene.run("./oci-push", ["--version"]).exits(1);
    std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_tfoci"), scene.path("tfoci")).unwrap();
    let run = scene.run("./oci-push", ["--version"]).succeeds();
    assert!(run.stdout.starts_with("oci-push "), "{}", run.stdout);
    scene.run("./oci-push", ["--no-such-option"]).exits(2);
}

#[test]
fn require_pinned_refuses_a_provider_without_keys_before_any_write() {
    let author = Author::with_release();
    let allowed = "--require-pinned --allow-unsigned */*/*";
    let run = author.untouched(|| author.push_unsigned(allowed));
    let run = run.exits(2).without_result();
    run.says("error registry.opentofu.org/acme/demo");
    author.push("--require-pinned").succeeds();
    author.installs();
}
