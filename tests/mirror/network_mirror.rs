use serde_json::json;

use super::origin_scene::{ARRIVED, OriginScene, Told, told};
use super::{LINUX, demo};
use crate::support::origin::{Fault, Provider, Setup, asks, lie};

/// URLs of documents and packages.
mod urls;

/// Network mirrors cannot serve hosts with a port, so these providers have another host.
const ADDRESS: &str = "example.com/acme/demo";
const ALLOW: &str = "--allow-unsigned example.com/acme/*";

fn from(scene: &OriginScene, more: &str) -> Told {
    let url = scene.origin.mirror_url();
    scene.mirror(&format!("{ADDRESS} --from network-mirror:{url} {more}"))
}

/// Asserts that a mirror with this fault is refused.
#[track_caller]
fn refused(sort: &'static str, fault: Fault, code: i32, says: &str) {
    let scene = told(sort, fault);
    from(&scene, ALLOW).says(code, says).gives("");
    assert!(scene.installs().is_empty());
}

/// The error about the package, and its URL.
const FAILED: &str =
    "error example.com/acme/demo 1.0.0 linux_amd64 network-mirror:https://[ORIGIN]/mirror/";
const ZIP: &str =
    "https://[ORIGIN]/mirror/example.com/acme/demo/terraform-provider-demo_1.0.0_linux_amd64.zip";

#[track_caller]
fn arrives(scene: &OriginScene) {
    from(scene, &format!("{ALLOW} -q"))
        .says(0, "")
        .gives("example.com/acme/demo:1.0.0");
    assert_eq!(scene.installs(), ARRIVED);
}

#[test]
fn packages_of_a_network_mirror_are_unverified() {
    let scene = OriginScene::of([demo()]);
    let says = "error example.com/acme/demo 1.0.0 network-mirror:https://[ORIGIN]/mirror/";
    from(&scene, "").says(3, says);
    from(&scene, ALLOW)
        .tells("Copied example.com/acme/demo 1.0.0 1 406 unverified Mirrored 1 1 406 [TIME]");
    assert_eq!(scene.installs(), ARRIVED);
    scene.origin.forget();
    from(&scene, ALLOW).tells("Mirrored 1 [TIME]");
    assert_eq!(scene.origin.counters(), "1 mirror-index, 1 mirror-version");
}

/// A mirror that lists hashes of these schemes.
fn listing(schemes: &[&'static str]) -> OriginScene {
    OriginScene::new(Setup::new([demo()]).mirror_schemes(schemes).start())
}

#[test]
fn packages_must_match_the_listed_hashes() {
    for schemes in [&["zh:"][..], &["h1:"], &["h1:", "zh:"], &[]] {
        arrives(&listing(schemes));
    }
    let wrong = "expected sha256:4fa7e60d506416362ae4a4933f2da2a5c755191e68c2d41fb7c13d5c8e023bec received sha256:234b09bc565e76f0a9aa2aad92ba0fc66cb4757024344035e63444f8c0fe82a5";
    for (schemes, code, facts) in [(&["zh:"][..], 3, wrong), (&["h1:"], 1, ZIP)] {
        let scene = listing(schemes);
        scene.origin.always(asks("package"), Fault::wrong_bytes());
        from(&scene, ALLOW).says(code, &format!("{FAILED} {facts}"));
        assert!(scene.installs().is_empty());
    }
}

/// Replaces the hashes that the mirror lists for the package.
fn hashes(says: serde_json::Value) -> Fault {
    lie::says("archives/linux_amd64/hashes", says)
}

/// The hashes of the package.
const RIGHT: &str = "zh:4fa7e60d506416362ae4a4933f2da2a5c755191e68c2d41fb7c13d5c8e023bec";
const RIGHT_CONTENT: &str = "h1:ULN8yrUQyE37mEmIPGSTmDzhSWVvAN2Ohh481yZGusE=";

#[test]
fn one_matching_hash_is_enough() {
    // Hashes of an unknown scheme, of another package, and no hash at all.
    let other = "h1:47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=";
    for wrong in ["h9:x", other, "h1:x", "zh:x"] {
        for right in [RIGHT, RIGHT_CONTENT] {
            arrives(&told("mirror-version", hashes(json!([wrong, right]))));
        }
    }
    let wrong = format!("zh:{}", "0".repeat(64));
    arrives(&told("mirror-version", hashes(json!([wrong, RIGHT]))));
    // A zip with the author's files that is not the author's zip.
    for hashes in [json!([wrong]), json!([wrong, RIGHT_CONTENT])] {
        let (zeros, right) = (&wrong[3..], &RIGHT[3..]);
        let says = format!("{FAILED} expected sha256:{zeros} received sha256:{right}");
        refused("mirror-version", self::hashes(hashes), 3, &says);
    }
    let unknown = format!("{FAILED} expected h9:x received {RIGHT} {RIGHT_CONTENT} {ZIP}");
    refused("mirror-version", hashes(json!(["h9:x"])), 3, &unknown);
}

#[test]
fn documents_of_mirrors_follow_their_rules() {
    const MIRROR: &str = "https://[ORIGIN]/mirror/";
    let plain = || Fault::with("content-type", "text/plain");
    let index = &*format!("{MIRROR}example.com/acme/demo/index.json");
    let versions = lie::says("versions", json!(null));
    let no_json = format!("{index} text/plain application/json");
    for (fault, facts) in [
        (plain(), &*no_json),
        (Fault::status(404), index),
        (versions, "no version"),
        (lie::lacks("versions"), "no version"),
    ] {
        let says = format!("error example.com/acme/demo network-mirror:{MIRROR} {facts}");
        refused("mirror-index", fault, 1, &says);
    }
    let list = &*format!("{MIRROR}example.com/acme/demo/1.0.0.json");
    let archive = |value| lie::says("archives/linux_amd64", value);
    let url = lie::says("archives/linux_amd64/url", "ftp://example.com/x");
    #[rustfmt::skip] // A table.
    let cases = [
        (plain(), 1, &*format!("{list} text/plain application/json")),
        (Fault::status(404), 1, &format!("{list} 404")),
        (archive(json!(null)), 1, ""),
        (lie::says("archives", json!({})), 1, ""),
        (lie::lacks("archives"), 1, ""),
        (lie::renames_in("archives", LINUX, "x"), 1, &format!("{list} x")),
        (url, 3, &format!("url expected https received ftp://example.com/x {list}")),
        (hashes(json!(["x"])), 3, &format!("expected SCHEME:VALUE received x {list}")),
    ];
    for (fault, code, facts) in cases {
        let says = format!("error example.com/acme/demo 1.0.0 network-mirror:{MIRROR} {facts}");
        refused("mirror-version", fault, code, &says);
    }
    let says = format!("{FAILED} {ZIP} 404");
    refused("package", Fault::status(404), 1, &says);
}

#[test]
fn documents_of_mirrors_may_have_additional_or_missing_members() {
    let json = Fault::with("content-type", "application/json; charset=utf-8");
    for (sort, says) in [
        ("mirror-index", json),
        ("mirror-index", lie::says("versions/latest", json!({}))),
        ("mirror-index", lie::says("versions/1.0.0", json!(null))),
        ("mirror-version", lie::lacks("archives/linux_amd64/hashes")),
        ("mirror-version", hashes(json!(null))),
    ] {
        arrives(&told(sort, says));
    }
    for sort in ["mirror-index", "mirror-version"] {
        let trailing = Fault::alter(|answer| {
            answer.body = [&answer.body[..], b"\n<!-- cached -->"].concat().into();
        });
        arrives(&told(sort, trailing));
    }
}

/// A mirror that lists two platforms and lacks one of them.
fn half(absence: Fault) -> OriginScene {
    let scene = OriginScene::of([Provider::demo(&["darwin_arm64", LINUX])]);
    scene.origin.always(asks("mirror-version"), absence);
    scene
}

#[test]
fn a_mirror_without_the_platform_is_reported() {
    for absence in [
        lie::says("archives/darwin_arm64", json!(null)),
        lie::lacks("archives/darwin_arm64"),
    ] {
        arrives(&half(absence.clone()));
        let scene = half(absence);
        let darwin = format!("{ALLOW} --platform darwin_arm64");
        from(&scene, &darwin).says(1, "error example.com/acme/demo 1.0.0 network-mirror:https://[ORIGIN]/mirror/ expected darwin_arm64");
        assert!(scene.installs().is_empty());
        from(&scene, &format!("{darwin} --platform {LINUX}")).tells("Copied example.com/acme/demo 1.0.0 1 406 unverified Warning example.com/acme/demo 1.0.0 network-mirror:https://[ORIGIN]/mirror/ darwin_arm64 Mirrored 1 1 406 [TIME]");
    }
}

#[test]
fn urls_of_mirrors_are_checked() {
    let scene = OriginScene::of([demo()]);
    let run = |from: &str, address: &str| scene.mirror(&format!("{address} --from {from} {ALLOW}"));
    run("network-mirror:mirror", ADDRESS).says(2, "error expected https://HOST/PATH/");
    run("oci-layout:other", ADDRESS).says(2, "error expected");
}

#[test]
fn a_password_in_the_url_of_a_mirror_is_refused_and_not_repeated() {
    let scene = OriginScene::of([demo()]);
    for (from, facts) in [
        (
            "network-mirror:https://bob:hunter2@m/path",
            "https://…@m/path",
        ),
        ("network-mirror:https://bob@m/path", "https://…@m/path"),
        ("network-mirror:https://:hunter2@m/path", "https://…@m/path"),
        (
            "network-mirror:https://bob:hunter2@m/?a=b",
            "https://…@m/?…",
        ),
        ("network-mirror:ftp://bob:hunter2@m", "ftp://…@m/"),
        ("network-mirror://bob:hunter2@m", "…@m"),
        ("network-mirror:https://bob:hunt?er2@m", "…"),
        ("https://bob:hunter2@m/", "https://…@m/"),
    ] {
        let told = scene.mirror(&format!("{ADDRESS} --from {from} {ALLOW}"));
        let forms = match from.strip_prefix("network-mirror:") {
            Some(_) => "https://HOST/PATH/",
            None => "network-mirror:URL filesystem-mirror:DIR",
        };
        let says = format!("error {facts} expected {forms}");
        told.hides("hunt").says(2, &says);
    }
}
