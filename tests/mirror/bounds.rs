//! Origins and mirrors with lists without end. Limits keep memory and requests small.

use super::origin_scene::OriginScene;
use super::{LINUX, demo};
use crate::bounds::bounded;
use crate::support::origin::{Fault, Provider, asks, lie};
use crate::support::scene::Run;
use crate::support::server::answer::End;

/// A little below the size limit of a JSON document.
const LARGE: usize = 8_000_000;

fn mirror(scene: &OriginScene, more: &str) -> Run {
    let line = scene.named(&format!(
        "mirror --ca-file ca.pem --to oci-layout:store {more}"
    ));
    bounded(
        &scene.scene,
        line.split(' ').filter(|word| !word.is_empty()),
    )
}

/// Mirrors from an origin that gives this answer to every request of a kind.
#[track_caller]
fn refused(sort: &'static str, body: String, more: &str, says: [&str; 2]) {
    let scene = OriginScene::of([demo()]);
    scene.origin.always(asks(sort), Fault::body(body));
    let url = scene.origin.mirror_url();
    let run = mirror(&scene, &more.replace("[MIRROR]", &url)).exits(1);
    assert!(
        says.iter().all(|text| run.stderr.contains(text)),
        "{}",
        run.stderr
    );
    assert!(scene.installs().is_empty());
    assert!(scene.origin.count(|_| true) < 12);
}

fn repeated(item: &str, size: usize) -> String {
    vec![item; size / (item.len() + 1)].join(",")
}

fn numbered(count: usize, item: impl Fn(usize) -> String) -> String {
    (0..count).map(item).collect::<Vec<_>>().join(",")
}

#[test]
fn oversized_lists_of_versions_are_refused() {
    let long = ": the list of versions lists too much\n";
    let list = |versions: String| format!(r#"{{"versions":[{versions}]}}"#);
    let platforms = |count: usize| numbered(count, |n| format!(r#"{{"os":"o{n}","arch":"a"}}"#));
    for (versions, fact) in [
        (
            repeated(r#"{"version":"1.0.0"}"#, LARGE),
            "expected at most 20000 items in versions of the list of versions",
        ),
        (repeated("{}", 9), "`version` is missing"),
        (
            format!(
                r#"{{"version":"1.0.0","platforms":[{}]}}"#,
                platforms(300_000)
            ),
            "expected at most 200 items in platforms of item 1 of `versions` of the list of versions",
        ),
        (
            numbered(1_500, |n| {
                format!(
                    r#"{{"version":"1.0.{n}","platforms":[{}]}}"#,
                    platforms(180)
                )
            }),
            "expected at most 100000 packages in item 556 of `versions` of the list of versions",
        ),
    ] {
        let headline = if fact.ends_with("is missing") {
            ": the list of versions cannot be understood\n"
        } else {
            long
        };
        refused(
            "versions",
            list(versions),
            "[ORIGIN]/acme/demo",
            [headline, fact],
        );
    }
    let members = format!("{{{}}}", repeated(r#""a":0"#, LARGE));
    refused(
        "versions",
        members,
        "[ORIGIN]/acme/demo",
        [
            long,
            "expected at most 1000 members in the list of versions",
        ],
    );
    let warnings = format!(
        r#"{{"versions":[],"warnings":[{}]}}"#,
        repeated(r#""x""#, LARGE)
    );
    refused(
        "versions",
        warnings,
        "[ORIGIN]/acme/demo",
        [
            long,
            "expected at most 100 items in warnings of the list of versions",
        ],
    );
}

#[test]
fn oversized_package_metadata_is_refused() {
    let metadata = |more: String| {
        format!(
            r#"{{"os":"linux","arch":"amd64","filename":"x","download_url":"x","shasum":"x",{more}}}"#
        )
    };
    let headline = ": the package metadata lists too much\n";
    let keys = repeated("{}", 450_000);
    let packages = numbered(201, |n| format!(r#""o{n}_a":{{}}"#));
    for (more, fact) in [
        (
            format!(r#""signing_keys":{{"gpg_public_keys":[{keys}]}}"#),
            "expected at most 256 items in gpg_public_keys of signing_keys of the package metadata",
        ),
        (
            format!(r#""packages":{{{packages}}}"#),
            "expected at most 200 members in packages of the package metadata",
        ),
    ] {
        refused(
            "download",
            metadata(more),
            "[ORIGIN]/acme/demo",
            [headline, fact],
        );
    }
    let long = metadata(format!(r#""x":"{}""#, "x".repeat(LARGE)));
    refused(
        "download",
        long,
        "[ORIGIN]/acme/demo",
        [
            ": the answer is too large\n",
            "expected at most 524288 bytes",
        ],
    );
}

/// The stated size of a package is untrusted, and must not fill the disk.
#[test]
fn a_package_of_impossible_size_is_not_downloaded() {
    const HUGE: u64 = 9 << 30;
    for is_in_metadata in [false, true] {
        let scene = OriginScene::of([demo()]);
        let metadata = match is_in_metadata {
            true => lie::says("packages/linux_amd64/package_size", HUGE),
            false => lie::says("packages", serde_json::Value::Null),
        };
        scene.origin.always(asks("download"), metadata);
        let announced = Fault::alter(|answer| {
            answer.set("content-length", &HUGE.to_string());
            answer.end = End::Stall(100);
        });
        scene.origin.always(asks("package"), announced);
        let run = mirror(&scene, "[ORIGIN]/acme/demo").exits(1);
        let says = ": the answer is too large\n  expected at most 8589934592 bytes\n  received more\n  from https://";
        assert!(run.stderr.contains(says), "{}", run.stderr);
        assert!(scene.installs().is_empty());
        let requests = scene.origin.count(asks("package"));
        assert_eq!(requests, usize::from(!is_in_metadata));
    }
}

#[test]
fn oversized_documents_of_network_mirrors_are_refused() {
    let from =
        "example.com/acme/demo --from network-mirror:[MIRROR] --allow-unsigned example.com/acme/*";
    let versions = format!(
        r#"{{"versions":{{{}}}}}"#,
        numbered(500_000, |n| format!(r#""1.0.{n}":{{}}"#))
    );
    refused(
        "mirror-index",
        versions,
        from,
        [
            ": the list of versions lists too much\n",
            "expected at most 20000 members in versions of the list of versions",
        ],
    );
    let archives = |members: String| format!(r#"{{"archives":{{{members}}}}}"#);
    let headline = ": the list of packages lists too much\n";
    for (members, fact) in [
        (
            numbered(200_000, |n| format!(r#""o{n}_a":{{"url":"x"}}"#)),
            "expected at most 200 members in archives of the list of packages",
        ),
        (
            format!(
                r#""linux_amd64":{{"url":"x","hashes":[{}]}}"#,
                repeated(r#""zh:0""#, LARGE - 100)
            ),
            "expected at most 100 items in hashes of linux_amd64 of archives of the list of packages",
        ),
    ] {
        refused("mirror-version", archives(members), from, [headline, fact]);
    }
}

/// The origin does not list its platforms, so tfoci would request every platform in the checksum document.
#[test]
fn oversized_checksum_documents_are_refused() {
    let hex = "0".repeat(64);
    let lines = |count: usize| {
        let line = |n: usize| format!("{hex}  terraform-provider-demo_1.0.0_o{n}_a.zip\n");
        (0..count).map(line).collect::<String>()
    };
    for (document, facts) in [
        (
            lines(201),
            [
                ": the checksum document lists too much\n",
                "expected at most 200 packages in the checksum document",
            ],
        ),
        (
            "a b\n".repeat(2)
                + &(0..450_000)
                    .map(|n| format!("a {n:x}\n"))
                    .collect::<String>(),
            [
                ": the checksum document names too many files\n",
                "expected at most 10000",
            ],
        ),
    ] {
        let scene = OriginScene::of([demo()]);
        scene
            .origin
            .always(asks("versions"), lie::lacks("versions/0/platforms"));
        scene
            .origin
            .always(asks("download"), lie::lacks("packages"));
        scene.origin.always(asks("document"), Fault::body(document));
        let run = mirror(&scene, "[ORIGIN]/acme/demo");
        assert!(
            facts.iter().all(|text| run.stderr.contains(text)),
            "{}",
            run.stderr
        );
        assert!(matches!(run.status, Some(1 | 3)) && scene.origin.count(|_| true) < 12);
    }
}

/// Every answer of a version repeats its keys.
#[test]
fn repeated_keys_are_kept_in_memory_once() {
    let platforms: Vec<String> = (0..40)
        .map(|n| format!("os{n}_amd64"))
        .chain([LINUX.to_owned()])
        .collect();
    let platforms: Vec<&str> = platforms.iter().map(String::as_str).collect();
    let scene = OriginScene::of([Provider::new("acme/demo").version("1.0.0", &platforms)]);
    let padding = "x".repeat(450_000);
    scene.origin.always(
        asks("download"),
        lie::json(move |document| {
            let keys = document["signing_keys"]["gpg_public_keys"]
                .as_array_mut()
                .unwrap();
            keys.push(serde_json::json!({"key_id": "", "ascii_armor": padding}));
        }),
    );
    mirror(&scene, "[ORIGIN]/acme/demo").succeeds();
    assert_eq!(scene.installs().len(), 41);
}
