use std::fs;
use std::os::unix::fs::{FileExt as _, MetadataExt as _};
use std::path::Path;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use super::server::Server;
use super::stores::{DEMO, PLATFORMS, Store, ZIP, package};
use crate::support::registry::{Fault, Registry, Seen, matching};
use crate::support::release::{ReleaseFolder, sha256};
use crate::support::wait::wait;

/// Sooner than any limit on a stalled transfer.
const SOON: Duration = Duration::from_secs(5);

/// Bytes that cannot be compressed.
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

/// Requests of the server for the zip.
fn reads(store: &Store, platform: &str) -> impl Fn(&Seen) -> bool + Send + use<> {
    matching("GET", &sha256(&store.zip(platform)))
}

/// A store with the package for Linux of about this size.
fn linux(store: Store, size: usize) -> Store {
    store.push_release(DEMO, "1.0.0", &large(&[LINUX], size));
    store
}

const LINUX: &str = PLATFORMS[0];

/// Asserts that a client notices that the package is incomplete.
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
        ("plan9_amd64", Fault::denied()),
    ];
    let registry = Registry::plain();
    let store = Store::at(registry.host());
    let platforms = faults.each_ref().map(|(platform, _)| *platform);
    store.push_release(DEMO, "1.0.0", &large(&platforms, 200_000));
    for (platform, fault) in faults {
        // More often than any retry, but not for ever.
        registry.storm(60, reads(&store, platform), fault);
    }
    let server = store.serve("");
    std::thread::scope(|scope| {
        for platform in platforms {
            let server = &server;
            scope.spawn(move || never_whole(server, platform));
        }
    });
    let log = server.log();
    assert!(log.contains("closed before its end"), "{log}");
    let package = "terraform-provider-demo_1.0.0_linux_amd64.zip: ";
    assert!(log.contains(package), "{log}");
    assert!(server.count_words("openbsd_amd64.zip: 500") > 0, "{log}");
    assert!(server.count_words(" 503 plan9_amd64.zip: ") > 0, "{log}");
    let failures = server.metric("package_failures_total");
    assert!(failures >= platforms.len(), "{failures}");
    // Those whose first bytes failed have another status than 200, and are whole.
    let incomplete = server.metric("incomplete_answers_total");
    assert!((1..=failures).contains(&incomplete), "{incomplete}");
}

/// A package that was verified once is verified again when a registry sends it the next time.
#[test]
fn a_package_that_the_registry_spoils_later_never_arrives_whole() {
    let registry = Registry::plain();
    let store = linux(Store::at(registry.host()), 200_000);
    let server = store.serve("");
    assert_eq!(server.get(ZIP).body, store.zip(LINUX));
    registry.storm(60, reads(&store, LINUX), Fault::wrong_bytes());
    never_whole(&server, LINUX);
}

#[test]
fn a_lost_connection_below_is_resumed() {
    let registry = Registry::plain();
    let store = linux(Store::at(registry.host()), 400_000);
    registry.storm(2, reads(&store, LINUX), Fault::cut_body(150_000));
    let reply = store.serve("").get(ZIP).is(200);
    assert!(reply.is_whole && reply.body == store.zip(LINUX));
}

#[test]
fn a_package_that_changes_on_disk_never_arrives_whole() {
    let store = Store::empty();
    store.push_release(DEMO, "1.0.0", &large(&PLATFORMS, 200_000));
    let server = store.serve("--max-age 1");
    // Before the first download, and after it was verified once.
    server.get(&path(PLATFORMS[1])).is(200);
    for platform in PLATFORMS {
        let (good, blob) = (store.zip(platform), store.blob(platform));
        let mut spoiled = good.clone();
        spoiled[1_000] ^= 1;
        let replace = |bytes: &[u8]| {
            fs::remove_file(&blob).unwrap();
            fs::write(&blob, bytes).unwrap();
        };
        replace(&spoiled);
        never_whole(&server, platform);
        replace(&good[..good.len() / 2]);
        never_whole(&server, platform);
        fs::remove_file(&blob).unwrap();
        never_whole(&server, platform);
        fs::write(&blob, &good).unwrap();
        let back = server.until(&path(platform), |reply| reply.status == 200);
        assert!(back.is_whole && back.body == good);
    }
}

/// A program that changes a file can also restore its time.
#[test]
fn a_time_that_was_put_back_hides_no_change() {
    let store = linux(Store::empty(), 200_000);
    let server = store.serve("");
    server.get(ZIP).is(200);
    flip(&store.blob(LINUX), 1_000, true);
    never_whole(&server, LINUX);
}

pub fn a_package_that_changes_while_it_is_sent_never_arrives_whole() {
    let store = linux(Store::empty(), 20_000_000);
    let (file, length) = (store.blob(LINUX), store.zip(LINUX).len());
    let server = store.serve("");
    for keeps_time in [false, true] {
        // A file that changed a moment ago is hashed each time.
        let is_old = || {
            let changed = fs::metadata(&file).unwrap().ctime();
            let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
            now.as_secs() > u64::try_from(changed).unwrap() + 3
        };
        wait(is_old, || server.log());
        server.get(ZIP).is(200);
        let mut connection = server.connect();
        connection.request("GET", ZIP, &[]);
        connection.head().unwrap().is(200);
        let begin = connection.some(1 << 16).len();
        flip(&file, length - 1_000, keeps_time);
        let rest = connection.some(length - begin).len();
        assert!(begin + rest < length, "{keeps_time}");
        flip(&file, length - 1_000, false);
    }
    let digest = sha256(&store.zip(LINUX));
    server.logs(&format!("store/{DEMO}/blobs/sha256/{digest} changed"));
    server.logs("match their digest");
}

/// Changes a byte of a file in place.
fn flip(path: &Path, at: usize, keeps_time: bool) {
    let file = fs::File::options().read(true).write(true).open(path);
    let file = file.unwrap();
    let time = file.metadata().unwrap().modified().unwrap();
    let (mut byte, at) = ([0], u64::try_from(at).unwrap());
    file.read_exact_at(&mut byte, at).unwrap();
    file.write_all_at(&[byte[0] ^ 1], at).unwrap();
    if keeps_time {
        file.set_modified(time).unwrap();
    }
}

#[test]
fn a_reader_that_goes_away_stops_the_registry() {
    let registry = Registry::plain();
    let store = linux(Store::at(registry.host()), 20_000_000);
    let is_it = reads(&store, LINUX);
    // The registry then sends no end, so only the server can end the answer.
    registry.always(reads(&store, LINUX), Fault::stall_body(4 << 20));
    // The push has read back what it uploaded.
    registry.forget();
    let server = store.serve("");
    let mut connection = server.connect();
    connection.request("GET", ZIP, &[]);
    connection.head().unwrap().is(200);
    assert!(connection.some(1 << 20).len() >= 1 << 20);
    let answers = || {
        let seen = registry.seen().into_iter().filter(&is_it);
        seen.map(|seen| seen.ended.is_some()).collect::<Vec<_>>()
    };
    assert_eq!(answers(), [false]);
    let left = Instant::now();
    drop(connection);
    wait(|| answers() != [false], || server.log());
    assert!(left.elapsed() < SOON, "{:?}", left.elapsed());
    server.logs("closed before its end");
    server.get("/healthz").is(200);
    let line = server.log();
    let line = line.lines().find(|line| line.contains(".zip")).unwrap();
    assert!(!line.contains(" 20."), "{line}");
    // Nothing is asked for again.
    assert_eq!(answers(), [true]);
}
