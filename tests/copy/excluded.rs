//! Tags that lead to no provider, and what `--exclude` leaves out.

use super::{FROM, NAME, PLAIN, TO, at, copy};
use crate::support::author::Author;
use crate::support::registry::Registry;
use crate::support::registry::content::{Manifest, digest_like};
use crate::support::release::ReleaseFolder;

/// A registry whose tag 2.0.0 is that of a container image, and whose tag 3.0.0 is gone when it is asked for.
fn registry_with_broken_tags(author: &Author) -> Registry {
    let registry = Registry::plain();
    author.push_to(&at(&registry), PLAIN).succeeds();
    let image = br#"{"schemaVersion":2,"mediaType":"application/vnd.oci.image.manifest.v1+json","config":{"mediaType":"application/vnd.oci.image.config.v1+json","digest":"sha256:44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a","size":2},"layers":[]}"#;
    registry.repository(NAME, |held| {
        let digest = digest_like("sha256:", image);
        let manifest = Manifest {
            media_type: "application/vnd.oci.image.manifest.v1+json".to_owned(),
            bytes: image.to_vec().into(),
        };
        held.manifests.insert(digest.clone(), manifest);
        held.tag("2.0.0", &digest);
        held.tag("3.0.0", &format!("sha256:{}", "0".repeat(64)));
    });
    registry
}

#[test]
fn versions_names_the_tags_that_lead_to_no_provider() {
    let author = Author::with_release();
    let registry = registry_with_broken_tags(&author);
    let from = at(&registry);
    let versions = format!("versions acme/demo {PLAIN} --from {from}");
    let printed = author.line(versions).succeeds().stdout;
    assert_eq!(printed, "1.0.0\n2.0.0\n3.0.0\n");
}

#[test]
fn a_copy_leaves_out_excluded_versions_and_their_broken_tags() {
    let author = Author::with_release();
    let registry = registry_with_broken_tags(&author);
    let from = at(&registry);
    let copy = format!("copy acme/demo {PLAIN} --from {from} --to {TO} -q");
    author.line(&copy).exits(1);
    let both = "--exclude acme/*@2.0.0 --exclude acme/demo@>=3.0";
    let run = author.line(format!("{copy} {both}")).succeeds();
    assert_eq!(run.stderr, "");
    // A provider of which nothing is left is no failure.
    for all in ["acme/demo", "registry.opentofu.org/*/*", "acme/demo@>=1.0"] {
        let run = author.line(format!("{copy} --exclude {all}")).succeeds();
        assert_eq!(run.stdout + &run.stderr, "", "{all}");
    }
    let run = author.line(format!("{copy} --exclude acme/demo@1.0.0,2.0.0"));
    run.exits(2).says("error --exclude acme/demo@1.0.0,2.0.0");
}

#[test]
fn excluded_providers_are_left_out_of_a_copy() {
    let author = Author::pushed();
    let other = ReleaseFolder::new("other", "1.0.0").platform("linux_amd64");
    other.write(&author.path("other"));
    let push = "push other --provider acme/other --key acme.asc --to oci-layout:store";
    author.line(push).succeeds();
    let told = copy(&author, FROM, "oci-layout:new", "--exclude acme/other").succeeds();
    assert_eq!(told.stdout.lines().count(), 1, "{}", told.stdout);
    let other = author.path("new/registry.opentofu.org/acme/other");
    assert!(!other.exists());
}
