use std::time::Duration;

use super::LINUX;
use super::origin_scene::{ARRIVED, OriginScene};
use super::team::Team;
use crate::support::origin::{Fault, Provider, asks};
use crate::support::registry::Seen;
use crate::support::server::answer::End;

/// The package that stalls after its first half.
const STALLED: &str = "package acme/demo 1.0.0 linux_amd64";
const URL: &str = "https://[ORIGIN]/files/acme/demo/1.0.0/linux_amd64/terraform-provider-demo_1.0.0_linux_amd64.zip";
/// The other provider is mirrored, and the package is not.
const COPIED: &str = "Copied [ORIGIN]/acme/other 1.0.0 1 409 signed [ACME ID] origin error [ORIGIN]/acme/demo 1.0.0 linux_amd64 [ORIGIN]";

fn two() -> Vec<Provider> {
    let addresses = ["acme/demo", "acme/other"].map(Provider::new);
    addresses.map(|one| one.version("1.0.0", &[LINUX])).into()
}

/// Half of the package arrives, and further requests for it meet the fault. The other provider is mirrored.
#[track_caller]
fn gives_up(then: Fault, asked: usize, says: &str) {
    let scene = OriginScene::of(two());
    let zip = scene.origin.zip("acme/demo", "1.0.0", LINUX);
    let half = zip.len() / 2;
    let stall = Fault::stall_body(half);
    scene.origin.fault(1, asks(STALLED), stall);
    scene.origin.always(asks(STALLED), then);
    let told = scene.mirror("[ORIGIN]/acme/demo [ORIGIN]/acme/other --timeout 1");
    told.says(1, says).gives("[ORIGIN]/acme/other:1.0.0");
    assert_eq!(scene.installs(), ["acme/other 1.0.0 linux_amd64"]);
    assert_eq!(scene.origin.count(asks(STALLED)), asked);
    let seen = scene.origin.seen();
    let again = seen.iter().filter(|seen| asks(STALLED)(seen)).skip(1);
    for seen in again {
        assert_eq!(seen.header("range"), Some(&*format!("bytes={half}-")));
    }
}

#[test]
fn a_stalled_package_is_resumed_at_its_offset() {
    let scene = OriginScene::of(two());
    scene.origin.fault(1, asks(STALLED), Fault::stall_body(100));
    let run = scene.demo("--timeout 1 -v");
    run.tells(&format!("Resuming {URL} 100"));
    assert_eq!(scene.installs(), ARRIVED);
    let seen = scene.origin.seen();
    assert_eq!(seen.last().unwrap().header("range"), Some("bytes=100-"));
}

#[test]
fn an_upload_waits_for_a_stalled_package() {
    let team = Team::of(two());
    team.origin.fault(1, asks(STALLED), Fault::stall_body(100));
    team.mirror("--timeout 1").succeeds();
    team.assert_whole();
    assert_eq!(team.tags().len(), 4);
    assert_eq!(team.origin.count(asks(STALLED)), 2);
    // The package is uploaded once.
    let zip = team.origin.zip("acme/demo", "1.0.0", LINUX).len() as u64;
    let is_sent = |seen: &Seen| seen.path.contains("/acme/demo/") && seen.body == zip;
    assert_eq!(team.registry.count(is_sent), 1);
}

#[test]
fn a_package_that_stalls_for_ever_fails() {
    let fails = format!("{COPIED} 1 {URL} Mirrored 1 1 409 [TIME] 1 2");
    gives_up(Fault::stall_body(0), 6, &fails);
    // A server that stops answering, and one that disappears.
    gives_up(Fault::Stall, 3, &fails);
    gives_up(Fault::Reset, 3, &format!("{COPIED} {URL}"));
}

#[test]
fn a_list_that_never_ends_times_out() {
    for (piece, seconds, asked) in [
        (1 << 10, 1, 2),
        // An endless answer is not requested again.
        (64 << 10, 5, 1),
    ] {
        let scene = OriginScene::of(two());
        // Eight megabytes, in pieces.
        let fault = Fault::alter(move |answer| {
            answer.body = vec![b' '; 8 << 20].into();
            answer.end = End::Drip(piece, Duration::from_millis(100));
        });
        scene.origin.always(asks("versions"), fault);
        let url = "https://[ORIGIN]/v1/providers/acme/demo/versions";
        let says = format!("error [ORIGIN]/acme/demo [ORIGIN] {seconds} {url}");
        scene.demo("--timeout 1").says(1, &says);
        assert_eq!(scene.origin.count(asks("versions")), asked);
    }
}
