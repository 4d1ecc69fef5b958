//! Answers with a duplicate member. Clients decode the second into the first, so they might download another package than the one
//! that tfoci verified.

use super::demo;
use super::origin_scene::{OriginScene, arrives, refused, told};
use crate::support::author::REPOSITORY;
use crate::support::origin::Fault;
use crate::support::rewrite::rewrite;

const HINT: &str = "hint: nothing of this version was written. Such a document can show one package to tfoci and another to the client that installs it: its owner has to fix it\n";

/// Replaces a text of the answer.
fn instead(from: &'static str, to: &'static str) -> Fault {
    Fault::alter(move |answer| {
        let text = String::from_utf8(answer.body.to_vec()).unwrap();
        assert!(text.contains(from), "{from} in {text}");
        answer.body = text.replacen(from, to, 1).into();
    })
}

/// The lines of the error about the document, the object and the members, with the URL.
fn says(document: &str, facts: &str, about: &str, path: &str) -> String {
    format!(
        "
error: [ORIGIN]/acme/demo{about} ([ORIGIN]): the {document} repeats a member
{facts}
  from https://[ORIGIN]/{path}

{HINT}"
    )
}

#[test]
fn duplicate_members_are_refused_in_every_answer_of_an_origin() {
    let facts = |member: &str, object: &str, second: &str| {
        format!("  expected one `{member}` in {object}\n  received `{member}` and `{second}`")
    };
    let discovery = "service discovery document";
    refused(
        "discovery",
        instead(
            "{\"",
            "{\"providers.v1\":\"https://example.net/\",\"providers.v1\":\"/\",\"",
        ),
        3,
        &says(
            discovery,
            &facts("providers.v1", &format!("the {discovery}"), "providers.v1"),
            "",
            ".well-known/terraform.json",
        ),
    );
    let list = "list of versions";
    let versions = "v1/providers/acme/demo/versions";
    for (from, to, member, second, object) in [
        (
            "\"versions\":[",
            "\"VERSIONS\":null,\"versions\":[",
            "VERSIONS",
            "versions",
            "the list of versions",
        ),
        (
            "\"version\":",
            "\"version\":\"9.9.9\",\"Version\":",
            "version",
            "Version",
            "item 1 of `versions` of the list of versions",
        ),
        (
            "\"protocols\":",
            "\"PROTOCOLS\":[],\"protocols\":",
            "PROTOCOLS",
            "protocols",
            "item 1 of `versions` of the list of versions",
        ),
        (
            "\"os\":",
            "\"OS\":\"plan9\",\"os\":",
            "OS",
            "os",
            "item 1 of `platforms` of item 1 of `versions` of the list of versions",
        ),
    ] {
        refused(
            "versions",
            instead(from, to),
            3,
            &says(list, &facts(member, object, second), "", versions),
        );
    }
    let metadata = "package metadata";
    let at = "v1/providers/acme/demo/1.0.0/download/linux/amd64";
    for (from, to, member, second, object) in [
        (
            "\"shasum\":",
            "\"SHASUM\":\"00\",\"shasum\":",
            "SHASUM",
            "shasum",
            "the package metadata",
        ),
        (
            "\"download_url\":",
            "\"download_url\":null,\"download_url\":",
            "download_url",
            "download_url",
            "the package metadata",
        ),
        (
            "\"ascii_armor\":",
            "\"a\u{17f}cii_armor\":\"\",\"ascii_armor\":",
            "a\u{17f}cii_armor",
            "ascii_armor",
            "item 1 of `gpg_public_keys` of signing_keys of the package metadata",
        ),
        (
            "\"signing_keys\":",
            "\"Signing_Keys\":{},\"signing_keys\":",
            "Signing_Keys",
            "signing_keys",
            "the package metadata",
        ),
        (
            "\"linux_amd64\":{",
            "\"linux_amd64\":{},\"linux_amd64\":{",
            "linux_amd64",
            "linux_amd64",
            "packages of the package metadata",
        ),
        (
            "\"package_size\":",
            "\"PACKAGE_SIZE\":1,\"package_size\":",
            "PACKAGE_SIZE",
            "package_size",
            "linux_amd64 of packages of the package metadata",
        ),
    ] {
        refused(
            "download",
            instead(from, to),
            3,
            &says(
                metadata,
                &facts(member, object, second),
                " 1.0.0 linux_amd64",
                at,
            ),
        );
    }
}

#[test]
fn duplicate_members_are_refused_in_every_answer_of_a_network_mirror() {
    for (sort, from, to, fact) in [
        (
            "mirror-index",
            "\"versions\":{",
            "\"Versions\":{},\"versions\":{",
            "  expected one `Versions` in the list of versions\n",
        ),
        (
            "mirror-index",
            "\"1.0.0\":",
            "\"1.0.0\":{},\"1.0.0\":",
            "  expected one `1.0.0` in versions of the list of versions\n",
        ),
        (
            "mirror-version",
            "\"archives\":{",
            "\"archives\":{},\"ARCHIVES\":{",
            "  expected one `archives` in the list of packages\n",
        ),
        (
            "mirror-version",
            "\"linux_amd64\":{",
            "\"linux_amd64\":null,\"linux_amd64\":{",
            "  expected one `linux_amd64` in archives of the list of packages\n",
        ),
        (
            "mirror-version",
            "\"url\":",
            "\"URL\":\"x.zip\",\"url\":",
            "  expected one `URL` in linux_amd64 of archives of the list of packages\n",
        ),
    ] {
        let scene = told(sort, instead(from, to));
        let url = scene.origin.mirror_url();
        let told = scene
            .mirror(&format!("example.com/acme/demo --from network-mirror:{url} --allow-unsigned example.com/acme/*"))
            .ends(3);
        assert!(
            told.contains(" repeats a member\n") && told.contains(fact) && told.contains(HINT),
            "{told}"
        );
        assert!(scene.installs().is_empty());
    }
}

#[test]
fn unknown_members_may_repeat_and_letter_case_is_ignored() {
    arrives(&told(
        "versions",
        instead("\"versions\":[", "\"x\":1,\"x\":2,\"Versions\":["),
    ));
    arrives(&told(
        "download",
        instead("\"shasum\":", "\"x\":1,\"x\":2,\"ShaSum\":"),
    ));
    arrives(&told(
        "discovery",
        instead("{\"", "{\"other.v1\":1,\"other.v1\":2,\""),
    ));
}

#[test]
fn an_index_with_a_duplicate_member_is_not_merged() {
    let scene = OriginScene::of([demo()]);
    scene.demo("").ends(0);
    let host = scene.origin.host().replace(':', "_");
    let repository = REPOSITORY.replace("registry.opentofu.org", &host);
    let repository = scene.path(repository);
    assert!(rewrite(
        &repository,
        |text, _| text.to_owned(),
        |text| text.replacen(
            "\"platform\":{",
            "\"platform\":{\"os\":\"plan9\"},\"Platform\":{",
            1
        ),
    ));
    let before = scene.tree();
    for more in ["", "--recheck"] {
        let told = scene.demo(more).ends(3);
        assert!(
            told.contains("error: [ORIGIN]/acme/demo 1.0.0 (oci-layout:store/[ORIGIN]/acme/demo): the index repeats a member\n")
                && told.contains("\n  expected one `platform` in entry 1 of the index\n  received `platform` and `Platform`\n"),
            "{told}"
        );
        assert_eq!(scene.tree(), before);
    }
}
