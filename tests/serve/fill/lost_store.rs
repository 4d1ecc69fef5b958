use std::fs;

use super::{base, origin, start};
use crate::serve::store_faults::{is_fresh, never_404};

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
        server.get("/readyz").is(200);
        // Nothing is written below the place of the disk.
        let written = fs::read_dir(&store).map(Iterator::count).ok();
        assert_eq!(written, is_empty.then_some(0));
        fs::rename(&away, &store).unwrap();
        server.until(&index, is_fresh);
        server.get(&new).is(200);
    }
}
