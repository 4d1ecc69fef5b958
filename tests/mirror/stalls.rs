use std::time::Duration;

use super::origin_scene::OriginScene;
use super::team::Team;
use super::{LINUX, mirror, said};
use crate::support::origin::{Fault, Provider, asks};
use crate::support::registry::Seen;
use crate::support::server::answer::End;

/// The package that stalls after its first half.
const STALLED: &str = "package acme/demo 1.0.0 linux_amd64";

fn two() -> Vec<Provider> {
    let provider = |address| Provider::new(address).version("1.0.0", &[LINUX]);
    vec![provider("acme/demo"), provider("acme/other")]
}

/// Half of the package arrives, and further requests for it meet the fault. The other provider is mirrored.
#[track_caller]
fn gives_up(then: Fault, asked: usize, says: &str) {
    let scene = OriginScene::of(two());
    let zip = scene.origin.zip("acme/demo", "1.0.0", LINUX);
    let half = zip.len() / 2;
    scene
        .origin
        .fault(1, asks(STALLED), Fault::stall_body(half));
    scene.origin.always(asks(STALLED), then);
    let addresses = "[ORIGIN]/acme/demo [ORIGIN]/acme/other";
    scene
        .mirror(&format!("{addresses} --timeout 1"))
        .says(1, says)
        .gives(&["oci-layout:store/[ORIGIN]/acme/other:1.0.0"]);
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
    let run = mirror(&scene.scene, &scene.origin, &["--timeout", "1", "-v"]).succeeds();
    let resumed = "  Resuming https://[ORIGIN]/files/acme/demo/1.0.0/linux_amd64/terraform-provider-demo_1.0.0_linux_amd64.zip after 100 B\n";
    assert!(
        said(&run, &scene.origin).contains(resumed),
        "{}",
        run.stderr
    );
    assert_eq!(scene.installs(), ["acme/demo 1.0.0 linux_amd64"]);
    let seen = scene.origin.seen();
    assert_eq!(seen.last().unwrap().header("range"), Some("bytes=100-"));
}

#[test]
fn an_upload_waits_for_a_stalled_package() {
    let team = Team::of(two());
    team.origin.fault(1, asks(STALLED), Fault::stall_body(100));
    team.mirror(&["--timeout", "1"]).succeeds();
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
    gives_up(Fault::stall_body(0), 6, "
    Copied [ORIGIN]/acme/other 1.0.0   1 package, 409 B   signed [ACME ID] (origin)
error: [ORIGIN]/acme/demo 1.0.0 linux_amd64 ([ORIGIN]): cannot download the package
  nothing more of the answer within 1 seconds
    at https://[ORIGIN]/files/acme/demo/1.0.0/linux_amd64/terraform-provider-demo_1.0.0_linux_amd64.zip

hint: `--timeout SECONDS` waits longer; `-vv` shows every request
  Mirrored 1 version, 1 package (409 B copied) in [TIME]
    Failed 1 of 2: [ORIGIN]/acme/demo 1.0.0 linux_amd64
");
}

#[test]
fn a_server_that_stops_answering_fails_the_package() {
    gives_up(Fault::Stall, 3, "
    Copied [ORIGIN]/acme/other 1.0.0   1 package, 409 B   signed [ACME ID] (origin)
error: [ORIGIN]/acme/demo 1.0.0 linux_amd64 ([ORIGIN]): cannot download the package
  no answer within 1 seconds
    at https://[ORIGIN]/files/acme/demo/1.0.0/linux_amd64/terraform-provider-demo_1.0.0_linux_amd64.zip

hint: `--timeout SECONDS` waits longer; `-vv` shows every request
  Mirrored 1 version, 1 package (409 B copied) in [TIME]
    Failed 1 of 2: [ORIGIN]/acme/demo 1.0.0 linux_amd64
");
}

#[test]
fn a_server_that_disappears_fails_the_package() {
    gives_up(
        Fault::Reset,
        3,
        "Copied [ORIGIN]/acme/other 1.0.0 1 409 signed [ACME ID] origin error [ORIGIN]/acme/demo 1.0.0 linux_amd64 [ORIGIN] https://[ORIGIN]/files/acme/demo/1.0.0/linux_amd64/terraform-provider-demo_1.0.0_linux_amd64.zip",
    );
}

/// A list of versions of 8 MiB, which comes in pieces of so many bytes.
fn dripping(piece: usize) -> OriginScene {
    let scene = OriginScene::of(two());
    let fault = Fault::alter(move |answer| {
        answer.body = vec![b' '; 8 << 20].into();
        answer.end = End::Drip(piece, Duration::from_millis(100));
    });
    scene.origin.always(asks("versions"), fault);
    scene
}

#[test]
fn a_list_that_never_ends_times_out() {
    let expected = |what: &str| {
        format!(
            "
error: [ORIGIN]/acme/demo ([ORIGIN]): {what} https://[ORIGIN]/v1/providers/acme/demo/versions

hint: `--timeout SECONDS` waits longer; `-vv` shows every request
"
        )
    };
    let in_crumbs = "less than 64 KiB more of the answer within 1 seconds\n  at";
    let scene = dripping(1 << 10);
    scene.demo("--timeout 1").says(1, &expected(in_crumbs));
    assert_eq!(scene.origin.count(asks("versions")), 2);
    let too_long = "the answer does not end within 5 seconds\n  from";
    let scene = dripping(64 << 10);
    scene.demo("--timeout 1").says(1, &expected(too_long));
    // An endless answer is not requested again.
    assert_eq!(scene.origin.count(asks("versions")), 1);
}
