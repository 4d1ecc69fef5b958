//! `tfoci mirror`: from origins, network mirrors and filesystem mirrors into a store.

use crate::support::origin::{Origin, Provider};
use crate::support::scene::{Run, Scene};

/// Platforms that a source lists and does not have, or has and does not list.
mod absent;
/// Which hosts receive which credentials.
pub mod access;
/// Lists without end.
#[cfg(target_os = "linux")]
mod bounds;
/// Unmodified clients with the same origin.
mod clients;
/// Versions that are too new.
pub mod cooldown;
/// Several destinations at once.
mod destinations;
/// Package metadata and checksum documents.
mod documents;
/// Package URLs that expire.
mod expiry;
/// Faults of the connection.
mod faults;
/// Filesystem mirrors as source.
mod filesystem_mirror;
/// Signed packages that are not whole zips.
mod frames;
/// Statements of an index about zips are never trusted.
mod hints;
/// Keys that are expensive to check.
#[cfg(unix)]
mod hostile_keys;
/// What is mirrored, and how many requests a second run sends.
mod journey;
/// Service discovery, and lists of versions.
mod lists;
/// Lock files and configurations select what is mirrored.
mod locks;
/// Answers with duplicate members.
mod meanings;
/// Network mirrors as source.
mod network_mirror;
/// An origin, and a user who mirrors it.
pub mod origin_scene;
/// `--pin-new`: keys that are seen for the first time.
#[cfg(unix)]
mod pins;
/// Mirror files, and how several jobs share one.
mod plans;
/// `--recheck`: what the store has is compared again.
mod recheck;
/// How often an origin is asked that refuses, and what stays.
mod refusals;
/// Many providers with little memory.
#[cfg(target_os = "linux")]
mod scale;
/// Packages of unknown hash or size.
mod spooled;
/// Downloads that stall.
mod stalls;
/// Interrupted and killed runs: no partial version is visible, and the next run continues.
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
fn mirror(scene: &Scene, origin: &Origin, more: impl AsRef<str>) -> Run {
    let address = origin.address("acme/demo");
    let to = "--to oci-layout:store --ca-file ca.pem";
    scene.line(format!("mirror {address} {to} {}", more.as_ref()))
}
