use super::{BOTH, base, of, start};
use crate::mirror::cooldown::{changed, signed};
use crate::support::origin::{Fault, Origin, Provider, asks};
use crate::support::scene::Scene;

/// An origin with three versions, signed 30, 9 and 2 days ago, and a user who trusts its certificate.
fn origin() -> (Origin, Scene) {
    let demo = Provider::new("acme/demo")
        .release(signed("1.0.0", 30))
        .release(signed("1.1.0", 9))
        .release(signed("1.2.0", 2));
    of([demo])
}

#[test]
fn young_versions_are_not_listed_and_not_served() {
    let (origin, scene) = origin();
    let server = start(&scene, &origin, "--min-age 7d --max-age 0");
    let base = base(&origin);
    for _ in 0..2 {
        let index = server.get(&format!("{base}/index.json"));
        assert_eq!(index.text(), BOTH);
    }
    // The dates are requested once.
    assert_eq!(origin.count(asks("signature")), 3);
    server.get(&format!("{base}/1.2.0.json")).is(404);
    server.get(&format!("{base}/1.1.0.json")).is(200);
    assert_eq!(origin.count(asks("package")), 1);
}

/// The dates that the list was made from were not those of the release that is copied.
#[test]
fn what_turns_out_to_be_young_is_not_served() {
    let (origin, scene) = origin();
    let server = start(&scene, &origin, "--min-age 7d --newest 1 --max-age 0");
    let base = base(&origin);
    let index = server.get(&format!("{base}/index.json"));
    assert_eq!(index.text(), r#"{"versions":{"1.1.0":{}}}"#);
    origin.always(asks("document"), changed(1));
    server.get(&format!("{base}/1.1.0.json")).is(404);
    assert_eq!(origin.count(asks("package")), 0);
}

#[test]
fn a_version_whose_date_cannot_be_read_is_not_listed() {
    let (origin, scene) = origin();
    origin.always(asks("signature acme/demo 1.1.0"), Fault::status(404));
    origin.always(asks("signature acme/demo 1.0.0"), Fault::wrong_bytes());
    let index = format!("{}/index.json", base(&origin));
    let server = start(&scene, &origin, "--min-age 0d");
    server.get(&index).tells("1.1.0");
    let server = start(&scene, &origin, "--min-age 1d --max-age 0");
    for _ in 0..3 {
        let listed = server.get(&index).text();
        assert_eq!(listed, r#"{"versions":{"1.2.0":{}}}"#);
    }
    assert_eq!(origin.count(asks("signature")), 3);
}
