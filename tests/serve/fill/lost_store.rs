use std::fs;

use super::{PLATFORMS, base, origin, start};
use crate::serve::store_faults::{is_fresh, never_404};
use crate::support::release::sha256;

pub fn a_filled_store_that_is_away_is_not_begun_again() {
    // Where a disk is not mounted, there may be an empty directory.
    for is_empty in [false, true] {
        let (origin, scene) = origin();
        let base = base(&origin);
        let server = start(&scene, &origin, "--max-age 1 --max-stale 4");
        server.get(&format!("{base}/1.0.0.json")).is(200);
        let [index, new] = ["index", "1.1.0"].map(|name| format!("{base}/{name}.json"));
        let fresh = server.get(&index).is(200).text();
        let [store, away] = ["cache", "away"].map(|name| scene.path(name));
        fs::rename(&store, &away).unwrap();
        if is_empty {
            fs::create_dir(&store).unwrap();
        }
        // First the last list, then none.
        let stale = server.until(&index, |reply| {
            never_404(reply);
            reply.header("warning").is_some()
        });
        assert_eq!(stale.is(200).text(), fresh);
        server.get(&new).is(503);
        server.until(&index, |reply| {
            never_404(reply);
            reply.status == 503
        });
        server.get(&new).is(503);
        server.get("/readyz").is(200).tells("failed");
        // Nothing is written below the place of the disk.
        let written = fs::read_dir(&store).map(Iterator::count).ok();
        assert_eq!(written, is_empty.then_some(0));
        fs::rename(&away, &store).unwrap();
        server.until(&index, is_fresh);
        server.get(&new).is(200);
    }
}

/// An older list comes back, as a backup does. What was mirrored a moment ago then has to be mirrored again.
#[test]
fn a_version_that_the_store_lost_after_its_fill_is_mirrored_again() {
    let (origin, scene) = origin();
    let base = base(&origin);
    let server = start(&scene, &origin, "");
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
    server.until(&version, |reply| {
        never_404(reply);
        reply.status == 200
    });
    server.get(&format!("{base}/{url}")).is(200);
}
