//! Registries that refuse, and servers that are no registries.

use super::connections::{REPOSITORY, ask};
use crate::support::author::Author;
use crate::support::registry::answer::Answer;
use crate::support::registry::{Access, Fault, Personality, Registry, Setup, matching};
use crate::support::scene::{Run, Scene};

/// Asks a registry that answers every request for tags in this way.
fn answered(access: Access, fault: Fault) -> Run {
    let registry = Setup::of(Personality::Plain).access(access).start();
    registry.always(matching("GET", "/tags/list"), fault);
    let scene = Scene::new();
    let login = serde_json::json!({"auths": {registry.host(): {"auth": "cm9ib3Q6c2VjcmV0"}}});
    scene.write("auth.json", login.to_string());
    ask(
        &scene,
        registry.host(),
        "--plain-http [HOST] --authfile auth.json",
    )
}

#[test]
fn a_user_without_permission_needs_no_other_password() {
    answered(Access::Open, Fault::denied()).says(&format!(
        "error: registry.opentofu.org/acme/demo ([HOST]/{REPOSITORY}): `robot` may not pull from [HOST]/{REPOSITORY} (403: DENIED: requested access to the resource is denied)
  tried auth.json ([HOST])

hint: ask the registry's operator for this permission, or `tfoci login [HOST]` as a user who has it. Some registries answer like this for a repository that they do not have
"
    ));
}

#[test]
fn credentials_that_are_refused_and_those_that_are_missing() {
    let access = || Access::Basic { user: "robot" };
    let refusal = || {
        Fault::Answer(Answer::error(
            401,
            "UNAUTHORIZED",
            "authentication required",
        ))
    };
    answered(access(), refusal()).says(&format!(
        "error: registry.opentofu.org/acme/demo ([HOST]/{REPOSITORY}): the registry refused the credentials
  registry [HOST]
  answered 401 (UNAUTHORIZED: authentication required)
  tried auth.json ([HOST])

hint: they may be wrong or expired, or not authorize this. `tfoci login [HOST]` stores others; in CI, REGISTRY_AUTH_FILE names a file that has them. Some registries answer like this for a repository that they do not have
"
    ));
    let registry = Setup::of(Personality::Plain).access(access()).start();
    registry.always(matching("GET", "/tags/list"), refusal());
    ask(&Scene::new(), registry.host(), "--plain-http [HOST]").says(&format!(
        "error: registry.opentofu.org/acme/demo ([HOST]/{REPOSITORY}): the registry requires credentials
  registry [HOST]
  answered 401 (UNAUTHORIZED: authentication required)
  tried no credentials, since there are none that can be used

hint: `tfoci login [HOST]` stores them, with the same `--authfile` if you give one; in CI, REGISTRY_AUTH_FILE names a file that has them. Some registries answer like this for a repository that they do not have
"
    ));
}

#[test]
fn a_repository_that_is_not_there_is_named() {
    let registry = Registry::plain();
    ask(&Scene::new(), registry.host(), "--plain-http [HOST]").says(&format!(
        "error: registry.opentofu.org/acme/demo ([HOST]/{REPOSITORY}): the store has no such repository

hint: perhaps it was not mirrored or pushed there yet; `tfoci list --from STORE` lists the providers. Without a host, `acme/demo` means registry.opentofu.org/acme/demo: for another host write HOST/acme/demo, or `--default-host HOST`
"
    ));
}

#[test]
fn a_server_that_is_no_registry_is_recognised() {
    let registry = Registry::plain();
    let page = || Fault::Answer(Answer::new(404).body("<html>not found</html>"));
    registry.always(matching("GET", ""), page());
    ask(&Scene::new(), registry.host(), "--plain-http [HOST]").says(&format!(
        "error: registry.opentofu.org/acme/demo ([HOST]/{REPOSITORY}): [HOST] is not an OCI registry (/v2/ answered 404)

hint: name the host and port of a registry; its API begins at /v2/. `tfoci serve` is a network mirror, which `--from network-mirror:URL` reads
"
    ));
}

/// Web sites, network mirrors and pages of a login answer in many ways.
#[test]
fn servers_that_are_no_registry_are_recognised_by_other_answers_too() {
    const HTML: &str = "text/html; charset=utf-8";
    let page = |status: u16| {
        let answer = Answer::new(status).header("content-type", HTML);
        Fault::Answer(answer.body("<html>welcome</html>"))
    };
    let text = |status: u16| Fault::Answer(Answer::new(status).body("no such path"));
    for (label, fault, says) in [
        ("a page", page(200), "it answers with a web page"),
        ("a page of errors", page(400), "it answers with a web page"),
        ("a network mirror", text(400), "/v2/ answered 400"),
        ("a file server", text(405), "/v2/ answered 405"),
    ] {
        let registry = Registry::plain();
        registry.always(matching("GET", ""), fault);
        let run = ask(&Scene::new(), registry.host(), "--plain-http [HOST]");
        let first = run.stderr.lines().next().unwrap_or_default();
        let expected = format!("[HOST] is not an OCI registry ({says})");
        assert!(first.ends_with(&expected), "{label}: {}", run.stderr);
    }
}

/// A proxy in front of a registry answers with pages of its own.
#[test]
fn a_registry_behind_a_proxy_stays_one() {
    for (status, says) in [(401, "401"), (403, "403"), (502, "502")] {
        let registry = Registry::plain();
        let answer = Answer::new(status).header("content-type", "text/html");
        let page = Fault::Answer(answer.body("<html>no</html>"));
        registry.always(matching("GET", ""), page);
        let run = ask(&Scene::new(), registry.host(), "--plain-http [HOST]");
        let said = &run.stderr;
        assert!(
            said.contains(says) && !said.contains("is not an OCI registry"),
            "{said}"
        );
    }
}

#[test]
fn pages_and_lone_objects_in_errors_are_not_quoted_raw() {
    for (body, says) in [
        ("<html><title>Forbidden</title></html>", "(a web page)"),
        (
            r#"{"code":"UNAUTHORIZED","message":"authentication required","detail":{"x":1}}"#,
            "(UNAUTHORIZED: authentication required)",
        ),
    ] {
        let registry = Registry::plain();
        registry.always(
            matching("GET", ""),
            Fault::Answer(Answer::new(403).body(body)),
        );
        let run = ask(&Scene::new(), registry.host(), "--plain-http [HOST]");
        assert!(run.stderr.contains(says), "{}", run.stderr);
    }
}

/// Pushes a release to a registry.
fn push(registry: &Registry) -> Run {
    let author = Author::with_release();
    let host = registry.host();
    let login = serde_json::json!({"auths": {host: {"auth": "cm9ib3Q6c2VjcmV0"}}});
    author.scene.write("auth.json", login.to_string());
    let arguments = format!(
        "push dist --provider acme/demo --key acme.asc -q --exact-repository --to {host}/acme/demo --plain-http {host} --authfile auth.json"
    );
    let arguments: Vec<&str> = arguments.split(' ').collect();
    let mut run = author.tfoci(&arguments);
    run.stderr = run.stderr.replace(host, "[HOST]");
    run.exits(1).without_result()
}

#[test]
fn a_user_who_may_only_read() {
    let registry = Registry::plain();
    registry.always(matching("POST", "/uploads/"), Fault::denied());
    push(&registry).says(
        "error: registry.opentofu.org/acme/demo 1.0.0 ([HOST]/acme/demo): `robot` may not push to [HOST]/acme/demo (403: DENIED: requested access to the resource is denied)
  tried auth.json ([HOST])

hint: ask the registry's operator for this permission, or `tfoci login [HOST]` as a user who has it. Some registries answer like this for a repository that they do not have
",
    );
}

#[test]
fn a_push_to_a_server_that_is_no_registry() {
    let registry = Registry::plain();
    for method in ["GET", "HEAD", "POST", "PUT"] {
        let page = Fault::Answer(Answer::new(404).body("<html>not found</html>"));
        registry.always(matching(method, ""), page);
    }
    push(&registry).says(
        "error: registry.opentofu.org/acme/demo 1.0.0 ([HOST]/acme/demo): [HOST] is not an OCI registry (/v2/ answered 404)

hint: name the host and port of a registry; its API begins at /v2/. `tfoci serve` is a network mirror, which `--from network-mirror:URL` reads
",
    );
}
