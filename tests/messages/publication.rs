//! Versions that cannot be published, because of what is there.

use std::fs;

use super::{Case, check};
use crate::support::author::{Author, two_platforms};
use crate::support::release::ReleaseFolder;
use crate::support::{copy, testdata};

/// The store has 1.0.0; then the release is made again, with another executable.
fn made_again(author: &Author) {
    author.with_pushed();
    let again = ReleaseFolder::new("demo", "1.0.0").package(
        "linux_amd64",
        &[("terraform-provider-demo_v1.0.0", b"another\n")],
    );
    fs::remove_dir_all(author.scene.path("dist")).unwrap();
    again.write(&author.scene.path("dist"));
}

/// The same, for a platform that the store does not have.
fn made_again_for_another_platform(author: &Author) {
    author.with_pushed();
    fs::remove_dir_all(author.scene.path("dist")).unwrap();
    let again = ReleaseFolder::new("demo", "1.0.0").platform("linux_arm64");
    again.write(&author.scene.path("dist"));
}

/// The store has the release, signed; then another platform of it is pushed without a signature.
fn less_firm(author: &Author) {
    made_again_for_another_platform(author);
    let signature = author
        .scene
        .path("dist/terraform-provider-demo_1.0.0_SHA256SUMS.sig");
    fs::remove_file(signature).unwrap();
}

fn foreign(author: &Author, layout: &str) {
    copy(
        &testdata("layouts").join(layout),
        &author.scene.path("store"),
    );
    two_platforms().write(&author.scene.path("dist"));
}

fn long(author: &Author) {
    let version = format!("1.0.0-{}", "a".repeat(114));
    let release = ReleaseFolder::new("demo", &version).platform("linux_amd64");
    release.write(&author.scene.path("dist"));
}

#[test]
fn what_is_there() {
    check(&[
        Case {
            label: "it exists",
            given: |author| author.with_pushed(),
            arguments: "push dist --provider acme/demo --key acme.asc --existing fail --to oci-layout:store",
            exit: 1,
            says: r"
error: registry.opentofu.org/acme/demo 1.0.0 (oci-layout:store/registry.opentofu.org/acme/demo): the store already has this version

hint: without `--existing fail`, missing platforms are added, the same zips are left alone, and different zips are refused
",
        },
        Case {
            label: "another zip",
            given: made_again,
            arguments: "push dist --provider acme/demo --key acme.asc --to oci-layout:store",
            exit: 3,
            says: r"
error: registry.opentofu.org/acme/demo 1.0.0 linux_amd64 (oci-layout:store/registry.opentofu.org/acme/demo): the store has another zip
  expected zh:4fa7e60d506416362ae4a4933f2da2a5c755191e68c2d41fb7c13d5c8e023bec (in the store)
  received zh:4cea9670a9fc157739282a94a32b9926252c4fc9a21df6b9dba4709d9ef4c662 (in this release)

hint: nothing of this version was changed. Versions are immutable, since lock files pin their zips. Release a new version; or, if no configuration uses this one, `--existing replace`
",
        },
        Case {
            label: "made again for another platform",
            given: made_again_for_another_platform,
            arguments: "push dist --provider acme/demo --key acme.asc --to oci-layout:store",
            exit: 3,
            says: r"
error: registry.opentofu.org/acme/demo 1.0.0 (oci-layout:store/registry.opentofu.org/acme/demo): the store has packages of another release of this version
  no line of the checksum document covers the zip for darwin_arm64
    received sha256:f63237d1fd1003ffd38efd8a93e846cf69bd47b10e91d503971b8696b973580a

hint: nothing of this version was changed. To add a platform, let SHA256SUMS list the published zips too, with their hashes, and sign it. If the other zips were built again, release a new version, since lock files pin zips; or, if no configuration uses this one, `--existing replace`, which removes its other platforms
",
        },
        Case {
            label: "less firm than what is there",
            given: less_firm,
            arguments: "push dist --provider acme/demo --allow-unsigned acme/demo --to oci-layout:store",
            exit: 3,
            says: r#"
error: registry.opentofu.org/acme/demo 1.0.0 (oci-layout:store/registry.opentofu.org/acme/demo): the release proves less than the stored version
  expected signed (in the store)
  received checksum (in this release)

hint: nothing of this version was changed. Push the release with its signature and key. Only `--existing replace` makes evidence weaker, where a policy accepts that: `unsigned = "allow"` for `registry.opentofu.org/acme/demo` in a trust file
"#,
        },
        Case {
            label: "a container image has the tag",
            given: |author| foreign(author, "tag-is-image-manifest"),
            arguments: "push dist --provider acme/demo --key acme.asc --exact-repository --to oci-layout:store",
            exit: 3,
            says: r"
error: registry.opentofu.org/acme/demo 1.0.0 (oci-layout:store): the tag refers to something other than a provider
  the tag leads to an image manifest
    expected a provider's index

hint: nothing of this version was changed. `--existing replace` puts the provider in its place
",
        },
        Case {
            label: "an index that clients refuse has the tag",
            given: |author| foreign(author, "platform-ambiguous-identical"),
            arguments: "push dist --provider acme/demo --key acme.asc --exact-repository --to oci-layout:store",
            exit: 3,
            says: r"
error: registry.opentofu.org/acme/demo 1.0.0 (oci-layout:store): the tag refers to something other than a provider
  the platform linux_amd64 has several entries
    received sha256:c652b8ee0e8e0fe1742335dedee2e8706bc47fdeabfb02d6dcd6cc1ee6380d4e
    and sha256:c652b8ee0e8e0fe1742335dedee2e8706bc47fdeabfb02d6dcd6cc1ee6380d4e

hint: nothing of this version was changed. `--existing replace` puts the provider in its place
",
        },
        Case {
            label: "another release has the tag",
            given: |author| foreign(author, "good-oras"),
            arguments: "push dist --provider acme/demo --key acme.asc --exact-repository --to oci-layout:store",
            exit: 3,
            says: r"
error: registry.opentofu.org/acme/demo 1.0.0 darwin_arm64 (oci-layout:store): the store has another zip
  expected zh:1a03a5f27c51a50f57fcbe845656276b5f9fa345c9fea8bc795745ea219e07ca (in the store)
  received zh:f63237d1fd1003ffd38efd8a93e846cf69bd47b10e91d503971b8696b973580a (in this release)

hint: nothing of this version was changed. Versions are immutable, since lock files pin their zips. Release a new version; or, if no configuration uses this one, `--existing replace`
",
        },
        Case {
            label: "the index under the tag is damaged",
            given: |author| foreign(author, "index-tampered"),
            arguments: "push dist --provider acme/demo --key acme.asc --exact-repository --to oci-layout:store",
            exit: 3,
            says: r"
error: registry.opentofu.org/acme/demo 1.0.0 (oci-layout:store): the index sha256:d84e5f47ec5c1908570c469cad7a5b4cfe2e25330596c0e3a4f079d8f3a43dad cannot be used
  the bytes do not match their digest
    expected sha256:d84e5f47ec5c1908570c469cad7a5b4cfe2e25330596c0e3a4f079d8f3a43dad
    received sha256:b88af63c57de8c17b35bfee9de994cc02b450e04dd366d4f6bdf5dfca40746e6

hint: the store is damaged. `--existing replace` of `tfoci push`, or of `tfoci copy` from a store that is whole, writes the version again; so does `tfoci mirror --recheck`
",
        },
        Case {
            label: "the index under the tag is missing",
            given: |author| foreign(author, "index-missing"),
            arguments: "push dist --provider acme/demo --key acme.asc --exact-repository --to oci-layout:store",
            exit: 1,
            says: r"
error: registry.opentofu.org/acme/demo 1.0.0 (oci-layout:store): the index sha256:d84e5f47ec5c1908570c469cad7a5b4cfe2e25330596c0e3a4f079d8f3a43dad is missing

hint: the store is damaged. `--existing replace` of `tfoci push`, or of `tfoci copy` from a store that is whole, writes the version again; so does `tfoci mirror --recheck`
",
        },
    ]);
}

#[test]
fn what_cannot_be_written() {
    check(&[
        Case {
            label: "a version too long for a tag",
            given: long,
            arguments: "push dist --provider acme/demo --key acme.asc --to oci-layout:store",
            exit: 1,
            says: r"
error: registry.opentofu.org/acme/demo 1.0.0-aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa (oci-layout:store/registry.opentofu.org/acme/demo): the version is too long to be a tag
  expected at most 119 characters
  received 120
",
        },
        Case {
            label: "a file in the store's place",
            given: |author| {
                two_platforms().write(&author.scene.path("dist"));
                author.scene.write("store", "");
            },
            arguments: "push dist --provider acme/demo --key acme.asc --to oci-layout:store",
            exit: 1,
            says: r"
error: registry.opentofu.org/acme/demo 1.0.0: store is a file, expected a directory
",
        },
        Case {
            label: "a layout whose index is text",
            given: |author| {
                author.with_pushed();
                fs::write(author.repository("index.json"), "none").unwrap();
            },
            arguments: "push dist --provider acme/demo --key acme.asc --to oci-layout:store",
            exit: 1,
            says: r"
error: registry.opentofu.org/acme/demo 1.0.0: store/registry.opentofu.org/acme/demo/index.json is not the index of an OCI image layout
  line 1, column 2: this is not JSON

hint: restore the file, or delete the directory of this layout and copy, mirror or push its versions again
",
        },
    ]);
}

/// It is tried before anything is published.
#[test]
fn a_digest_that_cannot_be_written() {
    let author = Author::with_release();
    let run = author.push(&["--digest-file", "missing/digest"]).exits(1);
    assert_eq!(run.stdout, "");
    assert!(!author.scene.path("store").exists());
    let (_, error) = run.stderr.split_once("error: ").unwrap();
    assert_eq!(
        error,
        "cannot create a file in missing\n  No such file or directory (os error 2)\n  named by --digest-file\n"
    );
}

#[test]
fn an_index_that_registries_do_not_accept() {
    let author = Author::with_release();
    // Each character takes six in JSON.
    let large = "\u{1}".repeat(120_000);
    let annotations: Vec<String> = (0..6)
        .map(|number| format!("--annotation={number}={large}"))
        .collect();
    let annotations: Vec<&str> = annotations.iter().map(String::as_str).collect();
    let run = author.push(&annotations).exits(1).without_result();
    let (_, error) = run.stderr.split_once("error: ").unwrap();
    assert_eq!(
        error,
        "registry.opentofu.org/acme/demo 1.0.0 (oci-layout:store/registry.opentofu.org/acme/demo): the manifest is too large for a registry\n  expected at most 4194304 bytes\n  received 4321047\n"
    );
    assert!(!author.repository("index.json").exists());
}
