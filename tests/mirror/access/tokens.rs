use super::{credentials, introductions, variable, with_token};
use crate::mirror::{demo, mirror, scene};
use crate::support::origin::{Door, Origin, Setup};
use crate::support::scene::{Run, Scene};

#[test]
fn the_token_is_sent_only_to_the_provider_registry() {
    let origin = Setup::new([demo()])
        .token("sesame")
        .service_at(Door::Elsewhere)
        .files_at(Door::Front)
        .start();
    let scene = with_token(&origin, "sesame");
    mirror(&scene, &origin, "-vv").succeeds().hides("sesame");
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
        mirror(&scene, &origin, "").succeeds();
    }
    // A named configuration replaces every other file, as in clients.
    let scene = all(scene(&origin), ["", "x", "x"]);
    scene.write("mine.tfrc", credentials(&origin, "first"));
    mirror(&scene, &origin, "--cli-config mine.tfrc").succeeds();
}

#[test]
fn a_broken_source_of_tokens_does_not_hide_the_others() {
    let origin = Setup::new([demo()]).token("sesame").start();
    let scene = with_token(&origin, "line\nbreak");
    let broken = ".terraform.d/credentials.tfrc.json";
    scene.write(broken, "{\"credentials\": sesame");
    scene.write(".tofurc", credentials(&origin, "sesame"));
    scene.write(".netrc", "hunter2");
    let run = mirror(&scene, &origin, "-v").succeeds().hides("hunter2");
    let host = origin.host();
    run.says(&format!(
        "Warning [TMP]/{broken} line 1 Warning [TMP]/.netrc 1 Using [TMP]/.tofurc credentials {host} {host}"
    ));
}

#[test]
fn a_refused_token_is_reported_with_its_source() {
    let origin = Setup::new([demo()]).token("sesame").start();
    let scene = with_token(&origin, "hunter2");
    let run = mirror(&scene, &origin, "-v").exits(1).hides("hunter2");
    let (host, token) = (origin.host(), variable(&origin));
    run.says(&format!(
        "Using {token} {host} error {host}/acme/demo {host} https://{host}/v1/providers/acme/demo/versions 403 {token}"
    ));
}

/// Mirrors from the origin's network mirror.
fn from_network_mirror(scene: &Scene, origin: &Origin) -> Run {
    let mirror = "mirror example.com/acme/demo --to oci-layout:store --ca-file ca.pem";
    let from = format!("--from network-mirror:{}", origin.mirror_url());
    scene.line(format!(
        "{mirror} {from} --allow-unsigned example.com/acme/demo"
    ))
}

#[test]
fn the_token_of_a_network_mirror_is_sent_only_for_its_documents() {
    let origin = Setup::new([demo()]).mirror_token("sesame").start();
    let closed = from_network_mirror(&scene(&origin), &origin).exits(1);
    closed.says(&format!("error 401 {}", origin.host()));
    origin.forget();
    let run = from_network_mirror(&with_token(&origin, "sesame"), &origin);
    run.succeeds().hides("sesame");
    let mut documents = introductions(&origin);
    documents.retain(|line| !line.starts_with("package"));
    let both = ["mirror-index acme/demo", "mirror-version acme/demo 1.0.0"];
    assert_eq!(documents, both.map(|one| format!("{one}: Bearer sesame")));
    origin.assert_no_leaks();
}
