use super::origin_scene::{ARRIVED, COPIED, OriginScene, refused, spoiled, told};
use super::{LINUX, demo};
use crate::support::origin::{Fault, Origin, Provider, asks, lie};

/// The digest of the package, and that of the package with one wrong bit.
const RIGHT: &str = "sha256:4fa7e60d506416362ae4a4933f2da2a5c755191e68c2d41fb7c13d5c8e023bec";
const ONE_BIT_WRONG: &str =
    "sha256:234b09bc565e76f0a9aa2aad92ba0fc66cb4757024344035e63444f8c0fe82a5";

/// Mirrors although the first request for the package meets a fault.
#[track_caller]
fn survives(fault: Fault, packages: usize) -> OriginScene {
    let scene = OriginScene::of([demo()]);
    scene.origin.fault(1, asks("package"), fault);
    scene.demo("-q").says(0, "");
    assert_eq!(scene.installs(), ARRIVED);
    assert_eq!(scene.origin.count(asks("package")), packages);
    scene
}

/// The cause below it has the words of the operating system.
const UNREACHABLE: &str = "error [ORIGIN]/acme/demo 1.0.0 linux_amd64 [ORIGIN] https://[ORIGIN]/files/acme/demo/1.0.0/linux_amd64/terraform-provider-demo_1.0.0_linux_amd64.zip";

fn zip(origin: &Origin) -> bytes::Bytes {
    origin.zip("acme/demo", "1.0.0", LINUX)
}

#[test]
fn a_cut_download_is_resumed_at_its_offset() {
    let scene = survives(Fault::cut_body(100), 2);
    let seen = scene.origin.seen();
    assert_eq!(seen.last().unwrap().header("range"), Some("bytes=100-"));
    refused("package", Fault::cut_body(0), 1, UNREACHABLE);
}

#[test]
fn a_server_without_range_requests_sends_everything_again() {
    type Spoil = fn(&[u8]) -> Fault;
    let faults: [(Spoil, usize); 3] = [
        (|whole| Fault::range_ignored(whole), 2),
        (|whole| Fault::range_elsewhere(whole), 3),
        (|_| Fault::range_refused(), 3),
    ];
    for (fault, packages) in faults {
        let scene = OriginScene::of([demo()]);
        let again = fault(&zip(&scene.origin));
        scene.origin.fault(1, asks("package"), Fault::cut_body(100));
        scene.origin.fault(2, asks("package"), again);
        scene.demo("-q").says(0, "");
        assert_eq!(scene.installs(), ARRIVED);
        assert_eq!(scene.origin.count(asks("package")), packages);
    }
}

#[test]
fn a_package_that_changes_during_the_download_is_refused() {
    let scene = OriginScene::of([demo()]);
    scene.origin.fault(1, asks("package"), Fault::cut_body(100));
    let other = vec![0; zip(&scene.origin).len() - 100];
    scene.origin.fault(2, asks("package"), Fault::body(other));
    let mixed = "sha256:071b9bb6c5f8df9a978555db46f332fa6997a05cef9ade96906a27edd5a17cbe";
    scene.demo("").says(3, &spoiled(RIGHT, mixed));
    assert!(scene.installs().is_empty());
}

#[test]
fn reset_connections_are_retried() {
    survives(Fault::Reset, 2);
    refused("package", Fault::Reset, 1, UNREACHABLE);
}

#[test]
fn wrong_bytes_are_refused() {
    let log_in = Fault::body("<html>log in</html>");
    for (fault, expected, received) in [
        (Fault::wrong_bytes(), RIGHT, ONE_BIT_WRONG),
        (Fault::shorter_body(), "406", "203"),
        (Fault::longer_body(), "406", "more"),
        (log_in, "406", "19"),
    ] {
        refused("package", fault, 3, &spoiled(expected, received));
    }
}

#[test]
fn chunked_and_redirected_packages_are_mirrored() {
    survives(Fault::chunked(), 1);
    survives(Fault::RedirectElsewhere, 2);
    let looped = UNREACHABLE.replace(" https", " 10 https");
    refused("package", Fault::RedirectLoop, 1, &looped);
}

#[test]
fn a_package_of_unknown_length_is_downloaded_to_disk_first() {
    let unsaid = || told("download", lie::lacks("packages"));
    for is_chunked in [false, true] {
        let scene = unsaid();
        if is_chunked {
            scene.origin.always(asks("package"), Fault::chunked());
        }
        scene.demo("").tells(COPIED);
        assert_eq!(scene.installs(), ARRIVED);
    }
    let scene = unsaid();
    scene.origin.always(asks("package"), Fault::wrong_bytes());
    scene.demo("").says(3, &spoiled(RIGHT, ONE_BIT_WRONG));
    assert!(scene.installs().is_empty());
}

#[test]
fn a_package_that_fails_leaves_the_version_as_it_was() {
    let scene = OriginScene::of([Provider::demo(&["darwin_arm64", LINUX])]);
    scene.demo("--platform linux_amd64 -q").says(0, "");
    scene.origin.always(asks("package"), Fault::wrong_bytes());
    scene.demo("").says(3, "error [ORIGIN]/acme/demo 1.0.0 darwin_arm64 [ORIGIN] expected sha256:f63237d1fd1003ffd38efd8a93e846cf69bd47b10e91d503971b8696b973580a received sha256:9a04b5167303d03a1af68b46144b5da2d253d994d6e989b863f8fb03b26af79a");
    assert_eq!(scene.installs(), ARRIVED);
}
