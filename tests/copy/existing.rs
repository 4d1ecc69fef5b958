use std::fs;

use super::{FROM, TO, assert_same, copy, other, status};
use crate::support::author::{Author, another_build, two_platforms};
use crate::support::judge;
use crate::support::release::ReleaseFolder;
use crate::support::tamper;

/// `store` has both platforms of 1.0.0, `other` one.
fn with_one_there() -> Author {
    let author = Author::with_release();
    author.push_to(TO, "--platform linux_amd64").succeeds();
    author.push("").succeeds();
    author
}

/// The same, but the version in `other` was built again with another zip.
fn with_another_there() -> Author {
    let author = Author::of(another_build());
    author.push("").succeeds();
    fs::rename(author.path("store"), author.path("other")).unwrap();
    author.releases(two_platforms());
    author.push("").succeeds();
    author
}

#[test]
fn missing_platforms_are_added() {
    let author = with_one_there();
    copy(&author, FROM, TO, "").succeeds().says(
        "Updated registry.opentofu.org/acme/demo 1.0.0 2 signed [ACME ID] embedded Copied 1 1 0 1 1 [TIME]",
    );
    assert_eq!(judge::installs(&author.path("other")).len(), 2);
    assert_eq!(status(&author, ""), "present");
}

#[test]
fn a_version_with_more_platforms_stays() {
    let author = with_one_there();
    let again = author.untouched(|| copy(&author, TO, FROM, "--format json").succeeds());
    assert_eq!(again.json()["providers"][0]["status"], "present");
}

#[test]
fn another_zip_is_refused() {
    let author = with_another_there();
    let run = author.untouched(|| copy(&author, FROM, TO, "").exits(3).without_result());
    run.says("error registry.opentofu.org/acme/demo 1.0.0 linux_amd64 oci-layout:other/registry.opentofu.org/acme/demo expected zh:4cea9670a9fc157739282a94a32b9926252c4fc9a21df6b9dba4709d9ef4c662 received zh:4fa7e60d506416362ae4a4933f2da2a5c755191e68c2d41fb7c13d5c8e023bec");
}

#[test]
fn fail_refuses_every_existing_version() {
    let author = with_one_there();
    let fail = "--existing fail";
    let run = author.untouched(|| copy(&author, FROM, TO, fail));
    run.exits(1).without_result();
    copy(&author, FROM, "oci-layout:third", fail).succeeds();
}

#[test]
fn replace_stores_the_bytes_of_the_source() {
    for author in [with_one_there(), with_another_there()] {
        assert_eq!(status(&author, "--existing replace"), "updated");
        assert_same(&author);
        assert_eq!(status(&author, "--existing replace"), "present");
    }
}

/// A blob has the right size and wrong bytes. Only a replacement reads the bytes.
#[test]
fn replace_repairs_damaged_bytes() {
    let author = Author::pushed();
    copy(&author, FROM, TO, "").succeeds();
    let zip = author.zip("linux_amd64");
    let blob = other(&author)
        .join("blobs/sha256")
        .join(judge::sha256(&zip));
    let damaged = vec![0; fs::read(&zip).unwrap().len()];
    fs::remove_file(&blob).unwrap();
    fs::write(&blob, damaged).unwrap();
    assert_eq!(status(&author, ""), "present");
    assert_eq!(status(&author, "--existing replace"), "updated");
    assert_same(&author);
}

#[test]
fn lost_evidence_is_restored() {
    let author = Author::pushed();
    copy(&author, FROM, TO, "").succeeds();
    let evidence = || tamper::tagged(&other(&author), "evidence-1.0.0");
    let whole = evidence();
    tamper::untag(&other(&author), "evidence-1.0.0");
    assert_eq!(status(&author, ""), "updated");
    assert_eq!(evidence(), whole);
}

/// Evidence at the destination must cover platforms that are added without any.
#[test]
fn a_platform_without_evidence_is_refused_beside_evidence_that_does_not_cover_it() {
    let linux = ReleaseFolder::new("demo", "1.0.0").platform("linux_amd64");
    let author = Author::of(linux.clone());
    author.push("").succeeds();
    fs::rename(author.path("store"), author.path("other")).unwrap();
    author.releases(linux.platform("linux_arm64"));
    author.push("").succeeds();
    tamper::untag(&author.repository(""), "evidence-1.0.0");
    let run = author.untouched(|| copy(&author, FROM, TO, ""));
    run.exits(3).without_result().says("Warning registry.opentofu.org/acme/demo 1.0.0 error registry.opentofu.org/acme/demo 1.0.0 oci-layout:other/registry.opentofu.org/acme/demo linux_arm64 received sha256:2e475748dca15aaa266b98fb54ab3c03962ed565d5a7eb8ffb59d9b2b5bdecc4");
}

#[test]
fn other_versions_and_tags_are_left_alone() {
    let author = Author::new();
    for version in ["1.0.0", "2.0.0"] {
        author.releases(ReleaseFolder::new("demo", version).platform("linux_amd64"));
        author.push("").succeeds();
    }
    copy(&author, FROM, TO, "acme/demo@1.0.0").succeeds();
    copy(&author, FROM, TO, "acme/demo@2.0.0 --existing replace").succeeds();
    assert_same(&author);
}
