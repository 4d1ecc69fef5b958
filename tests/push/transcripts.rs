//! The complete output of successful pushes.

use crate::support::author::Author;

const REFERENCE: &str = "oci-layout:store/registry.opentofu.org/acme/demo:1.0.0@sha256:";

#[test]
fn a_first_push() {
    let author = Author::with_release();
    let run = author.push(&[]).succeeds();
    let digest = author.tagged("1.0.0").unwrap();
    assert_eq!(run.stdout, format!("{REFERENCE}{digest}\n"));
    run.says(
        "Copied registry.opentofu.org/acme/demo 1.0.0 2 813 signed [ACME ID] pinned Pushed 1 2 813 [TIME]",
    );
    author.installs();
}

#[test]
fn verbose_prints_a_line_for_every_package() {
    let author = Author::with_release();
    let run = author.push(&["-v"]).succeeds();
    run.says(
        "Verified registry.opentofu.org/acme/demo 1.0.0 signed [ACME ID] pinned Copied registry.opentofu.org/acme/demo 1.0.0 darwin_arm64 407 signed [ACME ID] pinned Copied registry.opentofu.org/acme/demo 1.0.0 linux_amd64 406 signed [ACME ID] pinned Pushed 1 2 813 [TIME]",
    );
}

#[test]
fn a_second_push_has_nothing_to_do() {
    let author = Author::with_release();
    let first = author.push(&[]).succeeds();
    let before = author.tree();
    let second = author.push(&[]).succeeds();
    assert_eq!(second.stdout, first.stdout);
    assert_eq!(author.tree(), before);
    second.says(
        "Present registry.opentofu.org/acme/demo 1.0.0 2 signed [ACME ID] pinned Pushed 2 [TIME]",
    );
}

#[test]
fn a_push_that_adds_a_platform() {
    let author = Author::with_release();
    author.push(&["--platform", "linux_amd64"]).succeeds();
    author.push(&[]).succeeds().says(
        "Updated registry.opentofu.org/acme/demo 1.0.0 1 407 signed [ACME ID] pinned Pushed 1 1 407 1 [TIME]",
    );
    author.installs();
}

#[test]
fn an_unsigned_release_that_is_allowed() {
    let author = Author::with_release();
    let run = author.push_unsigned(&["--allow-unsigned", "acme/*"]);
    run.succeeds()
        .says("Copied registry.opentofu.org/acme/demo 1.0.0 2 813 checksum Pushed 1 2 813 [TIME]");
    author.installs();
}
