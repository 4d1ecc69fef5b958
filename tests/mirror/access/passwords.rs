use super::{introductions, with_token};
use crate::mirror::{demo, mirror, scene};
use crate::support::origin::{Door, Setup};

#[test]
fn package_requests_use_the_netrc_entry_of_their_host() {
    let origin = Setup::new([demo()])
        .token("sesame")
        .package_login("robot", "hunter2")
        .files_at(Door::Elsewhere)
        .start();
    let scene = with_token(&origin, "sesame");
    let elsewhere = origin.doors().elsewhere.strip_prefix("https://").unwrap();
    let others = "machine localhost login x password y\ndefault login x password y\n";
    scene.write(".netrc", others);
    let run = mirror(&scene, &origin, "").exits(1);
    run.says(&format!("error 401 {elsewhere}"));

    scene.write(".netrc", "machine 127.0.0.1 login robot password old\n");
    let run = mirror(&scene, &origin, "").exits(1);
    run.says("error 403 [TMP]/.netrc machine 127.0.0.1");

    origin.forget();
    let mine = "machine 127.0.0.1\n  login robot\n  password hunter2\n";
    scene.write("mine", mine);
    let scene = scene.env("NETRC", "mine");
    let run = mirror(&scene, &origin, "-v").succeeds().hides("hunter2");
    run.says(&format!("Using mine machine 127.0.0.1 {elsewhere}"));
    assert_eq!(
        introductions(&origin),
        [
            "discovery: Bearer sesame",
            "document acme/demo 1.0.0 elsewhere: anonymous",
            "download acme/demo 1.0.0 linux_amd64: Bearer sesame",
            "package acme/demo 1.0.0 linux_amd64 elsewhere: Basic cm9ib3Q6aHVudGVyMg==",
            "signature acme/demo 1.0.0 elsewhere: anonymous",
            "versions acme/demo: Bearer sesame",
        ]
    );
}

#[test]
fn a_password_is_sent_over_http_only_on_request() {
    let origin = Setup::new([demo()])
        .package_login("robot", "hunter2")
        .files_at(Door::Plain)
        .start();
    let scene = scene(&origin);
    scene.write(".netrc", "machine 127.0.0.1 login robot password hunter2");
    mirror(&scene, &origin, "").exits(1);
    assert_eq!(origin.count(|seen| seen.door == Door::Plain), 0);
    let plain = origin.doors().plain.strip_prefix("http://").unwrap();
    mirror(&scene, &origin, format!("--plain-http {plain}")).succeeds();
    assert_eq!(origin.count(|seen| seen.authorization().is_some()), 1);
}
