use super::{credentials, introductions, variable, with_token};
use crate::mirror::{demo, mirror, said, scene};
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
    scene.write(
        ".terraform.d/credentials.tfrc.json",
        "{\"credentials\": sesame",
    );
    scene.write(".tofurc", credentials(&origin, "sesame"));
    scene.write(".netrc", "hunter2");
    let run = mirror(&scene, &origin, &["-v"]).succeeds().hides("hunter2");
    let text = said(&run, &origin);
    let lines: Vec<&str> = text
        .lines()
        .filter(|line| !line.contains("absent"))
        .collect();
    assert_eq!(
        lines[..6],
        [
            "   Warning [TMP]/.terraform.d/credentials.tfrc.json is not a CLI configuration, not valid JSON, at line 1, column 17; it was ignored",
            "Considered [TMP]/.terraform.d/credentials.tfrc.json: cannot be used: [TMP]/.terraform.d/credentials.tfrc.json is not a CLI configuration, not valid JSON, at line 1, column 17",
            "Considered [TMP]/.tofurc: 1 entry",
            "   Warning [TMP]/.netrc is not a .netrc, line 1: expected `machine`, `default`, `login`, `password`, `account` or `macdef`; it was ignored",
            "Considered [TMP]/.netrc: cannot be used: [TMP]/.netrc is not a .netrc, line 1: expected `machine`, `default`, `login`, `password`, `account` or `macdef`",
            "     Using [TMP]/.tofurc (credentials \"[ORIGIN]\") for [ORIGIN]",
        ]
    );
}

#[test]
fn a_refused_token_is_reported_with_its_source() {
    let origin = Setup::new([demo()]).token("sesame").start();
    let scene = with_token(&origin, "hunter2");
    let run = mirror(&scene, &origin, &["-v"]).exits(1).hides("hunter2");
    let text = said(&run, &origin);
    let error = &text[text.find("     Using").unwrap()..];
    assert_eq!(
        error,
        "     Using TF_TOKEN_[ORIGIN] for [ORIGIN]\n\
        error: [ORIGIN]/acme/demo ([ORIGIN]): the request for the list of versions was refused\n  \
        from https://[ORIGIN]/v1/providers/acme/demo/versions\n  \
        answered 403: forbidden\n  \
        tried the token from TF_TOKEN_[ORIGIN]\n\n\
        hint: the token may have expired, or may not read this provider\n"
    );
}

/// Mirrors from the origin's network mirror.
fn from_network_mirror(scene: &Scene, origin: &Origin) -> Run {
    let from = format!("network-mirror:{}", origin.mirror_url());
    scene.tfoci([
        "mirror",
        "example.com/acme/demo",
        "--from",
        &from,
        "--to",
        "oci-layout:store",
        "--ca-file",
        "ca.pem",
        "--allow-unsigned",
        "example.com/acme/demo",
    ])
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
    let text = said(&closed, &origin);
    assert!(
        text.contains(
            "\n  answered 401: unauthorized\n  tried no token, since none was found for [ORIGIN]\n"
        ),
        "{text}"
    );
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
