use std::fs;

use super::noise;
use super::pusher::{NAME, Pusher};
use crate::support::programs;
use crate::support::registry::{Fault, Registry, matching};
use crate::support::release::ReleaseFolder;

const PLATFORMS: [&str; 2] = ["darwin_arm64", "linux_amd64"];
/// How many bytes reading the central directory of such a zip takes at most.
const DIRECTORY: u64 = 128 << 10;

/// A release with zips of a megabyte.
fn pusher() -> Pusher {
    let pusher = Pusher::new(&[]);
    let binary = noise(1 << 20);
    let files: &[(&str, &[u8])] = &[("terraform-provider-demo_v1.0.0", &binary)];
    let release = ReleaseFolder::new("demo", "1.0.0");
    let [one, other] = PLATFORMS;
    let release = release.package(one, files).package(other, files);
    release.write(&pusher.scene.path("dist"));
    pusher
}

fn zip(platform: &str) -> String {
    format!("dist/terraform-provider-demo_1.0.0_{platform}.zip")
}

/// Changes a byte in the middle of a zip, where no directory is.
fn alter(pusher: &Pusher, platform: &str) {
    let path = pusher.scene.path(zip(platform));
    let mut bytes = fs::read(&path).unwrap();
    bytes[500 << 10] ^= 1;
    fs::write(path, bytes).unwrap();
}

/// Pushes. Returns how many bytes of each zip were read.
fn read(pusher: &Pusher, registry: &Registry, more: &str) -> [u64; 2] {
    // Each thread has its own log, since calls of threads would mix in one.
    let logs = pusher.scene.path("calls");
    let _none = fs::remove_dir_all(&logs);
    fs::create_dir(&logs).unwrap();
    let program = env!("CARGO_BIN_EXE_tfoci");
    let trace = format!("-ff -y -qq -e trace=read,pread64,readv -o calls/thread {program}");
    let to = format!("{}/{{namespace}}/{{type}}", registry.host());
    let push = format!("push dist --key acme.asc --provider {NAME} --to {to}");
    let line = format!("{trace} {push} --plain-http 127.0.0.1 {more}");
    let run = pusher.scene.run("strace", line.split_whitespace());
    run.succeeds();
    let logs = fs::read_dir(logs).unwrap();
    let logs = logs.map(|log| fs::read_to_string(log.unwrap().path()).unwrap());
    let log: String = logs.collect();
    PLATFORMS.map(|platform| {
        let zip = zip(platform);
        let of_zip = log.lines().filter(|line| line.contains(&zip));
        let lengths = of_zip.filter_map(|line| line.rsplit_once(" = ")?.1.parse::<u64>().ok());
        lengths.sum()
    })
}

#[test]
fn each_zip_is_read_once() {
    if !programs::can_trace() {
        return;
    }
    let (registry, pusher) = (Registry::plain(), pusher());
    let sizes = PLATFORMS.map(|platform| {
        let zip = fs::metadata(pusher.scene.path(zip(platform)));
        zip.unwrap().len()
    });
    // The zips are uploaded, then present, then compared only.
    for more in ["", "", "--dry-run"] {
        let read = read(&pusher, &registry, more);
        for (read, size) in read.into_iter().zip(sizes) {
            let is_once = (size..size + DIRECTORY).contains(&read);
            assert!(is_once, "{read} of {size} bytes, {more:?}");
        }
    }
}

/// The central directory of the zip is intact, so only the hash shows the damage.
#[test]
fn a_zip_that_changes_during_the_upload_leaves_no_tag() {
    let (registry, pusher) = (Registry::plain(), pusher());
    alter(&pusher, "linux_amd64");
    let run = pusher.push(&registry, "").exits(3);
    run.without_result().says("error registry.opentofu.org/acme/demo 1.0.0 dist terraform-provider-demo_1.0.0_linux_amd64.zip expected");
    assert_eq!(registry.tags(NAME), []);
    assert_eq!(registry.count(matching("PUT", "/manifests/1.0.0")), 0);
}

/// The store has the right zip and the folder a wrong one. The release is refused nevertheless.
#[test]
fn a_bad_zip_is_found_although_the_store_has_the_right_one() {
    let (registry, pusher) = (Registry::plain(), pusher());
    pusher.push(&registry, "").succeeds();
    let tags = registry.tags(NAME);
    alter(&pusher, "linux_amd64");
    for more in ["", "--dry-run", "--existing replace"] {
        let run = pusher.push(&registry, more).exits(3);
        run.says("error registry.opentofu.org/acme/demo 1.0.0 terraform-provider-demo_1.0.0_linux_amd64.zip checksum");
        assert_eq!(registry.tags(NAME), tags, "{more:?}");
    }
}

/// An upload whose answer is lost counts as complete if the registry has the blob. The zip must still match its hash.
#[test]
fn a_zip_is_checked_although_another_writer_uploaded_it() {
    let (registry, pusher) = (Registry::plain(), pusher());
    pusher.push(&registry, "").succeeds();
    registry.repository(NAME, |repository| repository.tags.clear());
    alter(&pusher, "linux_amd64");
    registry.fault(1, matching("PUT", "/uploads/"), Fault::CutRequest(1000));
    pusher.push(&registry, "").exits(3);
    assert_eq!(registry.tags(NAME), []);
}
