//! Into a store, from where providers are published.

use crate::support::origin::{Origin, Provider};
use crate::support::scene::{Run, Scene};

/// Platforms that a source lists and does not have, or has and does not list.
mod absent;
/// Which hosts receive which credentials.
mod access;
/// Lists that do not end.
#[cfg(target_os = "linux")]
mod bounds;
/// What unmodified clients make of the same origin.
mod clients;
/// Several destinations at once.
mod destinations;
/// What is said about packages, and what checksum documents may look like.
mod documents;
/// Package URLs that do not last.
mod expiry;
/// What goes wrong on the wire.
mod faults;
/// Other people's mirrors in a directory.
mod filesystem_mirror;
/// Packages that are signed, and are no zips.
mod frames;
/// Statements of an index about zips are never trusted.
mod hints;
/// Keys that were made to keep readers busy.
#[cfg(unix)]
mod hostile_keys;
/// What is mirrored, and what it costs to do so again.
mod journey;
/// Service discovery, and lists of versions.
mod lists;
/// Lock files and configurations: what is needed, and nothing else.
mod locks;
/// Answers with two meanings.
mod meanings;
/// Other people's mirrors behind a URL.
mod network_mirror;
/// An origin, and a user who mirrors it.
pub mod origin_scene;
/// Keys that are seen for the first time, and written down.
#[cfg(unix)]
mod pins;
/// Mirror files, and how several jobs share one.
mod plans;
/// What every refusal of an origin is called, and what to do about it.
mod refusals;
/// Many providers: everything arrives, in little memory.
#[cfg(target_os = "linux")]
mod scale;
/// Packages of unknown hash or size.
mod spooled;
/// Packages that stand still in the middle.
mod stalls;
/// Stopped and killed: nothing half done is visible, and nothing is done twice.
#[cfg(unix)]
mod stopped;
/// Secrets, and hosts that must not receive them.
mod taint;
/// A user who mirrors from an origin into a registry.
mod team;
/// Which keys are trusted because the origin serves them.
mod transport;
/// Trust rules.
mod trust;
/// Origins that cannot be reached.
mod unreachable;
/// How many requests a mirror takes.
mod wire;
/// Versions that are locked and no longer published, and other requirements that no version meets.
mod withdrawn;

const DARWIN: &str = "darwin_arm64";
/// Usage errors and their messages.
mod words;

const LINUX: &str = "linux_amd64";

fn demo() -> Provider {
    Provider::demo(&[LINUX])
}

/// A scene that trusts the origin's certificate and retries every request once.
fn scene(origin: &Origin) -> Scene {
    let scene = Scene::new()
        .env("TF_REGISTRY_DISCOVERY_RETRY", "1")
        .env("TF_PROVIDER_DOWNLOAD_RETRY", "1")
        // Lock files and configurations name it, too: see tests/lock/private.rs.
        .env("TFOCI_ALLOW_PRIVATE", origin.host());
    origin.write_ca(&scene);
    scene
}

/// Mirrors `acme/demo` into a layout.
fn mirror(scene: &Scene, origin: &Origin, more: &[&str]) -> Run {
    let address = origin.address("acme/demo");
    let known = [
        "mirror",
        &address,
        "--to",
        "oci-layout:store",
        "--ca-file",
        "ca.pem",
    ];
    scene.tfoci(known.into_iter().chain(more.iter().copied()))
}

/// What a run said before its summary, with names for hosts that have another port each time.
fn said(run: &Run, origin: &Origin) -> String {
    let host = |door: &str| door.split_once("://").unwrap().1.to_owned();
    let doors = origin.doors();
    let text = run.stderr.split("  Mirrored ").next().unwrap();
    text.replace(&host(&doors.front), "[ORIGIN]")
        .replace(&host(&doors.elsewhere), "[ELSEWHERE]")
        .replace(&host(&doors.plain), "[PLAIN]")
}
