use std::fs;

use super::{FROM, PROVIDER, TO, assert_same, copy, status};
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
    fs::rename(author.scene.path("store"), author.scene.path("other")).unwrap();
    author.releases(two_platforms());
    author.push("").succeeds();
    author
}

#[test]
fn missing_platforms_are_added() {
    let author = with_one_there();
    copy(&author, FROM, TO, "").succeeds().says(
        "Updated registry.opentofu.org/acme/demo 1.0.0 1 signed [ACME ID] embedded Copied 1 1 0 1 1 [TIME]",
    );
    assert_eq!(judge::installs(&author.scene.path("other")).len(), 2);
    assert_eq!(status(&author, ""), "present");
}

#[test]
fn a_version_with_more_platforms_stays() {
    let author = with_one_there();
    let before = author.tree_of("store");
    let document = copy(&author, TO, FROM, "--format json").succeeds().json();
    assert_eq!(document["providers"][0]["status"], "present");
    assert_eq!(author.tree_of("store"), before);
}

#[test]
fn another_zip_is_refused() {
    let author = with_another_there();
    let run = author.untouched(|| copy(&author, FROM, TO, "").exits(3).without_result());
    run.says("error registry.opentofu.org/acme/demo 1.0.0 linux_amd64 oci-layout:other/registry.opentofu.org/acme/demo oci-layout:store/registry.opentofu.org/acme/demo expected zh:4cea9670a9fc157739282a94a32b9926252c4fc9a21df6b9dba4709d9ef4c662 received zh:4fa7e60d506416362ae4a4933f2da2a5c755191e68c2d41fb7c13d5c8e023bec");
}

#[test]
fn fail_refuses_every_existing_version() {
    let author = with_one_there();
    author.untouched(|| {
        copy(&author, FROM, TO, "--existing fail")
            .exits(1)
            .without_result()
    });
    copy(&author, FROM, "oci-layout:third", "--existing fail").succeeds();
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
    let blob = format!("other/{PROVIDER}/blobs/sha256/{}", judge::sha256(&zip));
    let damaged = vec![0; fs::read(&zip).unwrap().len()];
    fs::remove_file(author.scene.path(&blob)).unwrap();
    author.scene.write(&blob, damaged);
    assert_eq!(status(&author, ""), "present");
    assert_eq!(status(&author, "--existing replace"), "updated");
    assert_same(&author);
}

#[test]
fn lost_evidence_is_restored() {
    let author = Author::pushed();
    copy(&author, FROM, TO, "").succeeds();
    let layout = author.scene.path(format!("other/{PROVIDER}"));
    let tags = || {
        let mut all = Vec::new();
        tamper::tags(&layout, |tags| all = tags.clone());
        all
    };
    let whole = tags();
    tamper::untag(&layout, "evidence-1.0.0");
    assert_eq!(status(&author, ""), "updated");
    assert_eq!(tags(), whole);
}

/// Evidence at the destination must cover a version that is copied without any.
#[test]
fn a_version_without_evidence_is_refused_beside_evidence_that_does_not_cover_it() {
    let author = with_another_there();
    tamper::untag(&author.repository(""), "evidence-1.0.0");
    let before = author.tree();
    for how in ["merge", "replace"] {
        copy(&author, FROM, TO, format!("--existing {how}"))
            .exits(3)
            .without_result();
        assert_eq!(author.tree(), before);
    }
}

/// The same for platforms that are added to a version with the same zips.
#[test]
fn a_platform_without_evidence_is_refused_beside_evidence_that_does_not_cover_it() {
    let linux = ReleaseFolder::new("demo", "1.0.0").platform("linux_amd64");
    let author = Author::of(linux.clone());
    author.push("").succeeds();
    fs::rename(author.scene.path("store"), author.scene.path("other")).unwrap();
    author.releases(linux.platform("linux_arm64"));
    author.push("").succeeds();
    tamper::untag(&author.repository(""), "evidence-1.0.0");
    let before = author.tree();
    let run = copy(&author, FROM, TO, "").exits(3).without_result();
    run.says("Warning registry.opentofu.org/acme/demo 1.0.0 error registry.opentofu.org/acme/demo 1.0.0 oci-layout:other/registry.opentofu.org/acme/demo oci-layout:store/registry.opentofu.org/acme/demo linux_arm64 received sha256:2e475748dca15aaa266b98fb54ab3c03962ed565d5a7eb8ffb59d9b2b5bdecc4");
    assert_eq!(author.tree(), before);
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
