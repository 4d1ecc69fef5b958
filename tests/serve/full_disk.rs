//! A cache of `serve --fill` whose disk is full: a file system of a few pages in a namespace of its own, where the system allows one.

use super::fill::{PLATFORMS, of};
use super::server::Server;
use crate::support::origin::Provider;
use crate::support::programs::can_run;

/// Mounts a small disk with a file that leaves no room, and removes that file as soon as another one appears outside.
const SCRIPT: &str = "mount -t tmpfs -o size=256k tmpfs cache
touch cache/.keep
head -c 258048 /dev/zero > cache/filler
(until [ -e room ]; do sleep 0.05; done; rm cache/filler) &
exec \"$@\"";

#[test]
fn a_full_cache_is_503_and_heals_when_there_is_room() {
    if !can_run("unshare", &["-rm", "mount", "-t", "tmpfs", "tmpfs", "/mnt"]) {
        return;
    }
    let demo = Provider::new("acme/demo").version("1.0.0", &PLATFORMS);
    let (origin, scene) = of([demo]);
    scene.write("cache/.keep", b"");
    let pattern = format!("{}/*/*", origin.host());
    let fill = format!("--from oci-layout:cache --fill --include {pattern} --max-age 0");
    let wrapper = ["unshare", "-rm", "sh", "-c", SCRIPT, "sh"];
    let server = Server::wrapped(&scene, &wrapper, &fill);
    let base = format!("/mirror/{}", origin.address("acme/demo"));
    let zip = "terraform-provider-demo_1.0.0_linux_amd64.zip";
    for path in [format!("{base}/1.0.0.json"), format!("{base}/{zip}")] {
        // Never a 404, which would send clients to another method.
        let reply = server.get(&path).is(503);
        assert!(reply.header("retry-after").is_some(), "{path}");
    }
    // The log says so once, before the system has to.
    let log = server.log();
    assert_eq!(log.matches("bytes are free").count(), 1, "{log}");
    let metrics = server.get("/metrics").is(200);
    metrics.tells("tfoci_fills_without_room_total ");
    server.get("/healthz").is(200);
    server.get("/").is(200);
    scene.write("room", b"");
    let version = server.until(&format!("{base}/1.0.0.json"), |reply| reply.status == 200);
    version.tells(zip);
    let package = server.get(&format!("{base}/{zip}")).is(200);
    assert_eq!(package.body, origin.zip("acme/demo", "1.0.0", PLATFORMS[0]));
}
