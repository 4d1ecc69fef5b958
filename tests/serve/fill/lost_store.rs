use std::fs;

use super::{PLATFORMS, base, origin, start};
use crate::support::release::sha256;

/// An older list comes back, as a backup does. What was mirrored a moment ago then has to be mirrored again.
#[test]
fn a_version_that_the_store_lost_after_its_fill_is_mirrored_again() {
    let (origin, scene) = origin();
    let base = base(&origin);
    let server = start(&scene, &origin, &[]);
    server.get(&format!("{base}/1.0.0.json")).is(200);
    let address = origin.address("acme/demo").replace(':', "_");
    let layout = scene.path("cache").join(address);
    let backup = fs::read(layout.join("index.json")).unwrap();
    let version = format!("{base}/1.1.0.json");
    let document = server.get(&version).is(200).json();
    let url = document["archives"][PLATFORMS[0]]["url"].as_str().unwrap();
    let blob = sha256(&origin.zip("acme/demo", "1.1.0", PLATFORMS[0]));
    fs::write(layout.join("index.json"), backup).unwrap();
    fs::remove_file(layout.join("blobs/sha256").join(blob)).unwrap();
    // The server then notices that the tag is gone.
    server.get(&format!("{base}/{url}")).is(502);
    let says = "the store does not have this version now; the next request mirrors it\n";
    let lost = server.get(&version).is(503);
    assert_eq!(lost.text(), says);
    server.until(&version, |reply| {
        assert!(matches!(reply.status, 200 | 503), "{reply:?}");
        reply.status == 200
    });
    server.get(&format!("{base}/{url}")).is(200);
    server.stop();
}
