//! Answers with a duplicate member. Clients decode the second into the first, so they might download another package than the one
//! that tfoci verified.

use super::demo;
use super::origin_scene::{OriginScene, arrives, refused, told};
use crate::support::author::REPOSITORY;
use crate::support::origin::Fault;
use crate::support::tamper::rewrite;

/// Replaces a text of the answer.
fn instead(from: &str, to: &str) -> Fault {
    let (from, to) = (from.to_owned(), to.to_owned());
    Fault::alter(move |answer| {
        let text = String::from_utf8(answer.body.to_vec()).unwrap();
        assert!(text.contains(&from), "{from} in {text}");
        answer.body = text.replacen(&from, &to, 1).into();
    })
}

/// Writes a member twice: with this value, and then as it was.
fn twice(first: &str, value: &str, second: &str) -> Fault {
    let name = format!("\"{}\":", second.to_lowercase());
    instead(&name, &format!("\"{first}\":{value},\"{second}\":"))
}

#[test]
fn duplicate_members_are_refused_in_every_answer_of_an_origin() {
    const VERSIONS: &str = "v1/providers/acme/demo/versions";
    const DOWNLOAD: &str = "v1/providers/acme/demo/1.0.0/download/linux/amd64";
    #[rustfmt::skip] // A table.
    let cases = [
        ("discovery", "providers.v1", "\"https://example.net/\"", "providers.v1", ""),
        ("versions", "VERSIONS", "null", "versions", ""),
        ("versions", "version", "\"9.9.9\"", "Version", "versions 1"),
        ("versions", "PROTOCOLS", "[]", "protocols", "versions 1"),
        ("versions", "Platforms", "[]", "platforms", "versions 1"),
        ("download", "SHASUM", "\"00\"", "shasum", ""),
        ("download", "download_url", "null", "download_url", ""),
        ("download", "a\u{17f}cii_armor", "\"\"", "ascii_armor", "signing_keys gpg_public_keys 1"),
        ("download", "Signing_Keys", "{}", "signing_keys", ""),
        ("download", "linux_amd64", "{}", "linux_amd64", "packages"),
        ("download", "PACKAGE_SIZE", "1", "package_size", "packages linux_amd64"),
    ];
    for (sort, first, value, second, object) in cases {
        let (about, path) = match sort {
            "discovery" => ("", ".well-known/terraform.json"),
            "versions" => ("", VERSIONS),
            _ => (" 1.0.0 linux_amd64", DOWNLOAD),
        };
        let says = format!(
            "error [ORIGIN]/acme/demo{about} [ORIGIN] https://[ORIGIN]/{path} {object} {first} {second}"
        );
        refused(sort, twice(first, value, second), 3, &says);
    }
}

#[test]
fn duplicate_members_are_refused_in_every_answer_of_a_network_mirror() {
    #[rustfmt::skip] // A table.
    let cases = [
        ("mirror-index", "Versions", "{}", "versions", ""),
        ("mirror-index", "1.0.0", "{}", "1.0.0", "versions"),
        ("mirror-version", "archives", "{}", "ARCHIVES", ""),
        ("mirror-version", "linux_amd64", "null", "linux_amd64", "archives"),
        ("mirror-version", "URL", "\"x.zip\"", "url", "archives linux_amd64"),
    ];
    for (sort, first, value, second, object) in cases {
        let scene = told(sort, twice(first, value, second));
        let url = scene.origin.mirror_url();
        scene
            .mirror(&format!("example.com/acme/demo --from network-mirror:{url} --allow-unsigned example.com/acme/*"))
            .says(3, &format!("error example.com/acme/demo {object} {first} {second}"));
        assert!(scene.installs().is_empty());
    }
}

#[test]
fn unknown_members_may_repeat_and_letter_case_is_ignored() {
    let odd = "\"x\":1,\"x\":2,";
    for (sort, from, to) in [
        ("versions", "\"versions\":[", "\"Versions\":["),
        ("download", "\"shasum\":", "\"ShaSum\":"),
    ] {
        arrives(&told(sort, instead(from, &format!("{odd}{to}"))));
    }
    let other = "{\"other.v1\":1,\"other.v1\":2,\"";
    arrives(&told("discovery", instead("{\"", other)));
}

#[test]
fn an_index_with_a_duplicate_member_is_not_merged() {
    let scene = OriginScene::of([demo()]);
    scene.demo("").ends(0);
    let host = scene.origin.host().replace(':', "_");
    let repository = REPOSITORY.replace("registry.opentofu.org", &host);
    let spoiled = "\"platform\":{\"os\":\"plan9\"},\"Platform\":{";
    let spoil = |text: &str| text.replacen("\"platform\":{", spoiled, 1);
    let path = scene.path(repository);
    assert!(rewrite(&path, |text, _| text.to_owned(), spoil));
    let before = scene.tree();
    for more in ["", "--recheck"] {
        scene.demo(more).says(3, "error [ORIGIN]/acme/demo 1.0.0 oci-layout:store/[ORIGIN]/acme/demo manifests 1 platform Platform");
        assert_eq!(scene.tree(), before);
    }
}
