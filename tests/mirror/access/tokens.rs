use super::{credentials, introductions, variable, with_token};
use crate::mirror::{demo, mirror, scene};
use crate::support::origin::{Door, Fault, Origin, Setup, asks, at};
use crate::support::scene::{Run, Scene};

#[test]
fn the_token_is_sent_only_to_the_provider_registry() {
    let origin = Setup::new([demo()])
        .token("sesame")
        .service_at(Door::Elsewhere)
        .files_at(Door::Front)
        .start();
    let scene = with_token(&origin, "sesame");
    mirror(&scene, &origin, &["-vv"]).succeeds().hides("sesame");
    assert_eq!(
        introductions(&origin),
        [
            "discovery: Bearer sesame",
            "document acme/demo 1.0.0: anonymous",
            "download acme/demo 1.0.0 linux_amd64 elsewhere: Bearer sesame",
            "package acme/demo 1.0.0 linux_amd64: anonymous",
            "signature acme/demo 1.0.0: anonymous",
            "versions acme/demo elsewhere: Bearer sesame",
        ]
    );
    origin.assert_no_leaks();
}

#[test]
fn a_redirect_does_not_carry_the_token() {
    let origin = Origin::of([demo()]);
    let scene = with_token(&origin, "sesame");
    for kind in ["versions", "download"] {
        origin.fault(1, at(Door::Front, asks(kind)), Fault::RedirectElsewhere);
    }
    mirror(&scene, &origin, &[]).succeeds();
    let introductions = introductions(&origin);
    for line in [
        "versions acme/demo: Bearer sesame",
        "versions acme/demo elsewhere: anonymous",
        "download acme/demo 1.0.0 linux_amd64: Bearer sesame",
        "download acme/demo 1.0.0 linux_amd64 elsewhere: anonymous",
    ] {
        assert!(
            introductions.iter().any(|one| one == line),
            "{introductions:#?}"
        );
    }
}

#[test]
fn sources_of_tokens_have_the_precedence_of_clients() {
    let origin = Setup::new([demo()]).token("first").start();
    let host = origin.host();
    let json = |token: &str| format!(r#"{{"credentials": {{"{host}": {{"token": "{token}"}}}}}}"#);
    let variable = variable(&origin);
    let all = |scene: Scene, tokens: [&str; 3]| {
        scene.write(".terraform.d/credentials.tfrc.json", json(tokens[1]));
        scene.write(".tofurc", credentials(&origin, tokens[2]));
        scene.env(&variable, tokens[0])
    };
    for tokens in [["first", "x", "x"], ["", "first", "x"]] {
        let scene = all(scene(&origin), tokens);
        mirror(&scene, &origin, &[]).succeeds();
    }
    // A named configuration replaces every other file, as in clients.
    let scene = all(scene(&origin), ["", "x", "x"]);
    scene.write("mine.tfrc", credentials(&origin, "first"));
    mirror(&scene, &origin, &["--cli-config", "mine.tfrc"]).succeeds();
}

#[test]
fn a_broken_source_of_tokens_does_not_hide_the_others() {
    let origin = Setup::new([demo()]).token("sesame").start();
    let scene = with_token(&origin, "line\nbreak");
    let broken = ".terraform.d/credentials.tfrc.json";
    scene.write(broken, "{\"credentials\": sesame");
    scene.write(".tofurc", credentials(&origin, "sesame"));
    scene.write(".netrc", "hunter2");
    let run = mirror(&scene, &origin, &["-v"]).succeeds().hides("hunter2");
    let host = origin.host();
    run.says(&format!(
        "Warning [TMP]/{broken} line 1 Warning [TMP]/.netrc 1 Using [TMP]/.tofurc credentials {host} {host}"
    ));
}

#[test]
fn a_refused_token_is_reported_with_its_source() {
    let origin = Setup::new([demo()]).token("sesame").start();
    let scene = with_token(&origin, "hunter2");
    let run = mirror(&scene, &origin, &["-v"]).exits(1).hides("hunter2");
    let (host, token) = (origin.host(), variable(&origin));
    run.says(&format!(
        "Using {token} {host} error {host}/acme/demo {host} https://{host}/v1/providers/acme/demo/versions 403 forbidden {token}"
    ));
}

/// Mirrors from the origin's network mirror.
fn from_network_mirror(scene: &Scene, origin: &Origin) -> Run {
    let from = format!("network-mirror:{}", origin.mirror_url());
    let more = ["--from", &from, "--allow-unsigned", "example.com/acme/demo"];
    let known = "mirror example.com/acme/demo --to oci-layout:store --ca-file ca.pem".split(' ');
    scene.tfoci(known.chain(more))
}

/// The `Authorization` of each request for a document of a network mirror.
fn introductions_of_documents(origin: &Origin) -> Vec<String> {
    let mut lines = introductions(origin);
    lines.retain(|line| !line.starts_with("package"));
    lines
}

#[test]
fn the_token_of_a_network_mirror_is_sent_only_for_its_documents() {
    let origin = Setup::new([demo()]).mirror_token("sesame").start();
    let closed = from_network_mirror(&scene(&origin), &origin).exits(1);
    closed.says(&format!("error 401 unauthorized {}", origin.host()));
    origin.forget();
    from_network_mirror(&with_token(&origin, "sesame"), &origin)
        .succeeds()
        .hides("sesame");
    assert_eq!(
        introductions_of_documents(&origin),
        [
            "mirror-index acme/demo: Bearer sesame",
            "mirror-version acme/demo 1.0.0: Bearer sesame",
        ]
    );
    origin.assert_no_leaks();
}

#[test]
fn a_redirect_does_not_carry_the_token_of_a_network_mirror() {
    let origin = Origin::of([demo()]);
    for kind in ["mirror-index", "mirror-version"] {
        origin.always(at(Door::Front, asks(kind)), Fault::RedirectElsewhere);
    }
    from_network_mirror(&with_token(&origin, "sesame"), &origin).succeeds();
    assert_eq!(
        introductions_of_documents(&origin),
        [
            "mirror-index acme/demo elsewhere: anonymous",
            "mirror-index acme/demo: Bearer sesame",
            "mirror-version acme/demo 1.0.0 elsewhere: anonymous",
            "mirror-version acme/demo 1.0.0: Bearer sesame",
        ]
    );
}
