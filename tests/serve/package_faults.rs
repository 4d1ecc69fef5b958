use std::fs;

use super::server::Server;
use super::stores::{DEMO, Store, package};
use crate::support::registry::{Fault, Registry};
use crate::support::release::{ReleaseFolder, sha256};

/// Bytes that do not become smaller.
pub fn noise(length: usize) -> Vec<u8> {
    let mut state = 0x2545_f491_4f6c_dd1d_u64;
    let mut bytes = Vec::with_capacity(length);
    while bytes.len() < length {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        bytes.extend_from_slice(&state.to_le_bytes());
    }
    bytes
}

/// A release of `demo` 1.0.0 with packages of about this size.
pub fn large(platforms: &[&str], size: usize) -> ReleaseFolder {
    let mut release = ReleaseFolder::new("demo", "1.0.0");
    let noise = noise(size);
    for platform in platforms {
        let files: [(&str, &[u8]); 3] = [
            ("LICENSE", platform.as_bytes()),
            ("data", &noise),
            ("terraform-provider-demo_v1.0.0", b"#!/bin/sh\n"),
        ];
        release = release.package(platform, &files);
    }
    release
}

fn path(platform: &str) -> String {
    format!("/mirror/{DEMO}/{}", package(DEMO, "1.0.0", platform))
}

fn zip(store: &Store, platform: &str) -> Vec<u8> {
    store.file(DEMO, "1.0.0", &package(DEMO, "1.0.0", platform))
}

/// Asserts that a client notices that it did not get the package.
#[track_caller]
fn never_whole(server: &Server, platform: &str) {
    let reply = server.get(&path(platform));
    let is_error = matches!(reply.status, 500..=599);
    assert!(
        is_error || !reply.is_whole,
        "{platform}: {} {:?}",
        reply.status,
        reply.headers
    );
    if reply.status == 503 {
        assert!(reply.header("retry-after").is_some());
    }
}

pub fn a_package_that_the_registry_spoils_never_arrives_whole() {
    let faults = [
        ("linux_amd64", Fault::wrong_bytes()),
        ("linux_arm64", Fault::shorter_body()),
        ("darwin_amd64", Fault::longer_body()),
        ("darwin_arm64", Fault::cut_body(100)),
        ("freebsd_amd64", Fault::status(404)),
        ("openbsd_amd64", Fault::status(500)),
        ("windows_amd64", Fault::body("not a zip")),
        ("windows_arm64", Fault::Reset),
    ];
    let registry = Registry::plain();
    let store = Store::at(registry.host());
    let platforms = faults.each_ref().map(|(platform, _)| *platform);
    store.push_release(DEMO, "1.0.0", &large(&platforms, 200_000));
    for (platform, fault) in faults {
        let digest = sha256(&zip(&store, platform));
        let is_it = move |seen: &crate::support::registry::Seen| {
            seen.method == "GET" && seen.path.contains(&digest)
        };
        // As often as any retry, and not for ever.
        registry.storm(60, is_it, fault);
    }
    let server = store.serve(&[]);
    std::thread::scope(|scope| {
        for platform in platforms {
            let server = &server;
            scope.spawn(move || never_whole(server, platform));
        }
    });
    let log = server.log();
    assert!(log.contains("cut before its end"), "{log}");
    assert!(
        log.contains("terraform-provider-demo_1.0.0_linux_amd64.zip: "),
        "{log}"
    );
    // The parts of a package that never passed are not told either.
    server.stop();
}

/// What passed once is no proof of what a registry gives the next time.
#[test]
fn a_package_that_the_registry_spoils_later_never_arrives_whole() {
    let registry = Registry::plain();
    let store = Store::at(registry.host());
    let platform = "linux_amd64";
    store.push_release(DEMO, "1.0.0", &large(&[platform], 200_000));
    let server = store.serve(&[]);
    assert_eq!(server.get(&path(platform)).body, zip(&store, platform));
    let digest = sha256(&zip(&store, platform));
    let is_it = move |seen: &crate::support::registry::Seen| {
        seen.method == "GET" && seen.path.contains(&digest)
    };
    registry.storm(60, is_it, Fault::wrong_bytes());
    never_whole(&server, platform);
    server.stop();
}

#[test]
fn a_lost_connection_below_is_resumed() {
    let registry = Registry::plain();
    let store = Store::at(registry.host());
    store.push_release(DEMO, "1.0.0", &large(&["linux_amd64"], 400_000));
    let bytes = zip(&store, "linux_amd64");
    let digest = sha256(&bytes);
    let is_it = move |seen: &crate::support::registry::Seen| {
        seen.method == "GET" && seen.path.contains(&digest)
    };
    registry.storm(2, is_it, Fault::cut_body(150_000));
    let server = store.serve(&[]);
    let reply = server.get(&path("linux_amd64")).is(200);
    assert!(reply.is_whole && reply.body == bytes);
}

#[test]
fn a_package_that_changes_on_disk_never_arrives_whole() {
    let store = Store::empty();
    store.push_release(
        DEMO,
        "1.0.0",
        &large(&["linux_amd64", "linux_arm64"], 200_000),
    );
    let server = store.serve(&["--max-age", "1"]);
    let blob = |platform: &str| {
        let digest = sha256(&zip(&store, platform));
        store.repository(DEMO).join("blobs/sha256").join(digest)
    };
    // Before anybody read it, and after it passed once.
    server.get(&path("linux_arm64")).is(200);
    for platform in ["linux_amd64", "linux_arm64"] {
        let good = zip(&store, platform);
        let mut spoiled = good.clone();
        spoiled[1_000] ^= 1;
        let replace = |bytes: &[u8]| {
            fs::remove_file(blob(platform)).unwrap();
            fs::write(blob(platform), bytes).unwrap();
        };
        replace(&spoiled);
        never_whole(&server, platform);
        // Parts of it neither: only the end proves them.
        let end = format!("bytes={}-", good.len() - 10);
        let part = server.ask("GET", &path(platform), &[("Range", &end)]);
        assert!(part.status >= 500 || !part.is_whole, "{part:?}");
        replace(&good[..good.len() / 2]);
        never_whole(&server, platform);
        fs::remove_file(blob(platform)).unwrap();
        never_whole(&server, platform);
        fs::write(blob(platform), &good).unwrap();
        let back = server.until(&path(platform), |reply| reply.status == 200);
        assert!(back.is_whole && back.body == good);
    }
}

#[test]
fn two_hundred_readers_get_the_same_package() {
    let registry = Registry::plain();
    for store in [Store::empty(), Store::at(registry.host())] {
        store.push_release(DEMO, "1.0.0", &large(&["linux_amd64"], 300_000));
        let (server, bytes) = (store.serve(&[]), zip(&store, "linux_amd64"));
        std::thread::scope(|scope| {
            for _ in 0..200 {
                scope.spawn(|| {
                    let reply = server.get(&path("linux_amd64")).is(200);
                    assert!(reply.is_whole && reply.body == bytes);
                });
            }
        });
        server.stop();
    }
}

#[test]
fn a_reader_that_goes_away_stops_the_registry() {
    let registry = Registry::plain();
    let store = Store::at(registry.host());
    store.push_release(DEMO, "1.0.0", &large(&["linux_amd64"], 20_000_000));
    let server = store.serve(&[]);
    registry.forget();
    let mut connection = server.connect();
    connection.request("GET", &path("linux_amd64"), &[]);
    connection.head().unwrap().is(200);
    assert!(connection.some(1 << 20).len() >= 1 << 20);
    drop(connection);
    server.logs("cut before its end");
    server.get("/healthz").is(200);
    let line = server.log();
    let line = line.lines().find(|line| line.contains(".zip")).unwrap();
    assert!(!line.contains(" 20."), "{line}");
}
