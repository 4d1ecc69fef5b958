//! Packages of unknown hash or size, which tfoci downloads once before it copies them.

use super::origin_scene::{ARRIVED, OriginScene, Told, spoiled, told};
use super::{LINUX, demo};
use crate::support::origin::{Fault, Provider, Seen, Setup, asks, lie};
use crate::support::server::answer::End;

/// Temporary files: their number and their removal.
#[cfg(target_os = "linux")]
mod room;

const ALLOW: &str = "--allow-unsigned example.com/acme/*";
const DEMO: &str = "example.com/acme/demo --allow-unsigned example.com/acme/*";
const FAILED: &str = "error example.com/acme/demo 1.0.0 network-mirror:https://[ORIGIN]/mirror/";
/// The output if the package is mirrored.
const COPIED: &str = "Copied example.com/acme/demo 1.0.0 1 406 unverified Mirrored 1 1 406 [TIME]";
const URL: &str =
    "https://[ORIGIN]/mirror/example.com/acme/demo/terraform-provider-demo_1.0.0_linux_amd64.zip";

/// A mirror as clients write it, which lists `h1:` hashes only.
fn mirror_of(providers: impl IntoIterator<Item = Provider>) -> OriginScene {
    let setup = Setup::new(providers).mirror_schemes(&["h1:"]);
    OriginScene::new(setup.start())
}

fn from(scene: &OriginScene, more: &str) -> Told {
    let url = scene.origin.mirror_url();
    scene.mirror(&format!("{more} --from network-mirror:{url}"))
}

/// Asserts that the package is mirrored although its first answer is altered. Returns the ranges of the further requests.
#[track_caller]
fn survives(fault: Fault) -> Vec<Option<String>> {
    let scene = mirror_of([demo()]);
    scene.origin.fault(1, asks("package"), fault);
    from(&scene, DEMO).tells(COPIED);
    assert_eq!(scene.installs(), ARRIVED);
    let seen = scene.origin.seen().into_iter();
    let packages = seen.filter(|seen| asks("package")(seen)).skip(1);
    let range = |seen: Seen| seen.header("range").map(str::to_owned);
    packages.map(range).collect()
}

#[test]
fn a_cut_package_of_a_mirror_is_downloaded_again_from_its_beginning() {
    // Once more for its hash, and then for the store.
    assert_eq!(survives(Fault::cut_body(100)), [None, None]);
    let chunked = Fault::alter(|answer| {
        answer.sized = false;
        answer.end = End::Cut(100);
    });
    assert_eq!(survives(chunked), [None, None]);
    assert_eq!(survives(Fault::Reset), [None, None]);
}

#[test]
fn a_download_without_progress_fails() {
    let scene = mirror_of([demo()]);
    scene.origin.fault(1, asks("package"), Fault::cut_body(100));
    scene.origin.always(asks("package"), Fault::cut_body(0));
    from(&scene, DEMO).says(1, &format!("{FAILED} {URL}"));
    // The scene retries every request once.
    assert_eq!(scene.origin.count(asks("package")), 2);
    assert!(scene.installs().is_empty());
}

#[test]
fn a_cut_package_of_an_origin_is_downloaded_again() {
    let scene = OriginScene::of([demo()]);
    scene
        .origin
        .always(asks("download"), lie::lacks("packages"));
    // No answer states the length either.
    let cut = Fault::alter(|answer| {
        answer.sized = false;
        answer.end = End::Cut(100);
    });
    scene.origin.fault(1, asks("package"), unsized_answer(b""));
    scene.origin.fault(2, asks("package"), cut);
    scene.demo("-q").says(0, "");
    assert_eq!(scene.installs(), ARRIVED);
    let seen = scene.origin.seen();
    assert_eq!(scene.origin.count(asks("package")), 4);
    assert_eq!(seen.last().unwrap().header("range"), None);
}

#[test]
fn an_oversized_download_is_not_started() {
    let scene = mirror_of([demo()]);
    let announced = Fault::alter(|answer| {
        answer.set("content-length", &(9_u64 << 30).to_string());
        answer.end = End::Stall(100);
    });
    scene.origin.always(asks("package"), announced);
    let told = from(&scene, &format!("{DEMO} --timeout 1"));
    told.says(1, &format!("{FAILED} expected 8589934591 received {URL}"));
    assert_eq!(scene.origin.count(asks("package")), 1);
    assert!(scene.installs().is_empty());
}

/// An origin that states neither the size of a package nor the length of the answer.
fn silent() -> OriginScene {
    let scene = OriginScene::of([demo()]);
    scene
        .origin
        .always(asks("download"), lie::lacks("packages"));
    let zip = scene.origin.zip("acme/demo", "1.0.0", LINUX);
    scene.origin.always(asks("package"), unsized_answer(&zip));
    scene
}

/// An answer that ignores the range, and does not state its length.
fn unsized_answer(whole: &[u8]) -> Fault {
    let whole = whole.to_vec();
    Fault::alter(move |answer| {
        answer.status = 200;
        answer.remove("content-range");
        answer.body = whole.clone().into();
        answer.sized = false;
    })
}

#[test]
fn no_package_is_downloaded_before_the_signature_is_checked() {
    for more in ["-q", "-q --dry-run"] {
        let scene = silent();
        let altered = Fault::alter(|answer| {
            answer.body = [&answer.body[..], b"\n"].concat().into();
        });
        scene.origin.always(asks("document"), altered);
        let says = "error [ORIGIN]/acme/demo 1.0.0 [ORIGIN] SHA256SUMS.sig";
        scene.demo(more).says(3, says).gives("");
        assert_eq!(scene.origin.count(asks("package")), 0);
        let scene = mirror_of([demo()]);
        from(&scene, &format!("example.com/acme/demo {more}")).says(3, FAILED);
        assert_eq!(scene.origin.counters(), "1 mirror-index");
    }
    let scene = silent();
    scene.demo("-q").says(0, "");
    assert_eq!(scene.installs(), ARRIVED);
    assert_eq!(scene.origin.count(asks("package")), 3);
}

/// The member with the size of the package.
const SIZE: &str = "packages/linux_amd64/package_size";

#[test]
fn a_wrong_size_is_reported_at_once() {
    for (size, received) in [("407", "406"), ("405", "more")] {
        let scene = told("download", lie::says(SIZE, size.parse::<u64>().unwrap()));
        scene.demo("").says(3, &spoiled(size, received)).gives("");
        assert_eq!(scene.origin.count(asks("package")), 1);
        assert!(scene.installs().is_empty());
    }
}

#[test]
fn a_complete_but_shorter_package_is_not_requested_again() {
    let scene = told("download", lie::says(SIZE, 407));
    scene.origin.always(asks("package"), Fault::chunked());
    scene.demo("").says(3, &spoiled("407", "406"));
    assert_eq!(scene.origin.count(asks("package")), 1);
    // The rest of another file.
    let scene = OriginScene::of([demo()]);
    scene.origin.fault(1, asks("package"), Fault::cut_body(100));
    let range = Fault::with("content-range", "bytes 100-299/300");
    scene.origin.fault(2, asks("package"), range);
    scene.demo("").says(3, &spoiled("406", "300"));
    assert_eq!(scene.origin.count(asks("package")), 2);
}

#[test]
fn a_missing_temporary_directory_is_an_error() {
    let mut scene = mirror_of([demo()]);
    scene.scene = scene.scene.env("TMPDIR", "/nowhere");
    from(&scene, DEMO).says(1, "error example.com/acme/demo 1.0.0 /nowhere No 2");
}
