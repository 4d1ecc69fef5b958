//! Registries that answer what tfoci cannot use, and servers that it does not contact.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::support::author::Author;
use crate::support::registry::answer::Answer;
use crate::support::registry::{Access, Fault, Personality, Registry, Setup, matching};
use crate::support::release::sha256;
use crate::support::scene::{Run, Scene};
use crate::support::server::seen::Seen;
use crate::support::tls::Authority;

/// The provider's repository in a registry.
const NAME: &str = "acme/demo";

/// An author with a release in `dist`, whose programs have these variables.
fn author(variables: &[(&str, &str)]) -> Author {
    let scene = variables
        .iter()
        .fold(Scene::new(), |scene, (name, value)| scene.env(name, value));
    let author = Author::within(scene);
    author.with_release_in_place();
    author
}

/// Runs a command with `[HOST]` in the place of a registry's host, in its arguments and in all that it prints.
fn run(author: &Author, host: &str, arguments: &str) -> Run {
    let arguments = arguments.replace("[HOST]", host);
    let words: Vec<&str> = arguments.split_whitespace().collect();
    let mut run = author.tfoci(&words);
    run.stderr = run.stderr.replace(host, "[HOST]");
    run
}

/// Pushes the release to `[HOST]/acme/demo`.
fn push(author: &Author, host: &str, more: &str) -> Run {
    let arguments = "push dist --provider acme/demo --key acme.asc --exact-repository --to";
    run(
        author,
        host,
        &format!("{arguments} [HOST]/{NAME} -q {more}"),
    )
}

/// Installs the release from `[HOST]/acme/demo`.
fn install(author: &Author, host: &str, more: &str) -> Run {
    let arguments = "install acme/demo --platform linux_amd64 --into out --exact-repository --from";
    run(author, host, &format!("{arguments} [HOST]/{NAME} {more}"))
}

/// A registry without TLS that has the release.
fn filled(author: &Author) -> Registry {
    let registry = Registry::plain();
    push(author, registry.host(), PLAIN).succeeds();
    registry
}

const PLAIN: &str = "--plain-http [HOST]";

#[test]
fn an_unexpected_status_is_reported_with_its_request() {
    let author = author(&[]);
    let registry = filled(&author);
    let teapot = Fault::Answer(Answer::new(418).body("short and stout\n"));
    registry.always(matching("GET", "/tags/list"), teapot);
    install(&author, registry.host(), PLAIN)
        .exits(1)
        .without_result()
        .says(
            r"
error: registry.opentofu.org/acme/demo ([HOST]/acme/demo): the registry answered 418 to a request for the list of tags (short and stout)
  from http://[HOST]/v2/acme/demo/tags/list
",
        );
    registry.always(
        matching("GET", "/v2/_catalog"),
        Fault::Answer(Answer::new(418).body("short and stout\n")),
    );
    let from = format!("{}/{{namespace}}/{{type}}", registry.host());
    let list = ["list", "--from", &from, "--plain-http", registry.host()];
    let run = author.scene.tfoci(list).exits(1);
    let says =
        ": the registry answered 418 to a request for the list of repositories (short and stout)\n";
    assert!(run.stderr.contains(says), "{}", run.stderr);
}

#[test]
fn a_blob_that_the_registry_does_not_send_is_reported_with_the_reason() {
    let author = author(&[]);
    let registry = filled(&author);
    let teapot = Fault::Answer(Answer::new(418).body("short and stout\n"));
    registry.always(matching("GET", "/blobs/"), teapot);
    install(&author, registry.host(), PLAIN)
        .exits(1)
        .without_result()
        .says(
            r"
  Selected registry.opentofu.org/acme/demo 1.0.0 (the only match)
error: registry.opentofu.org/acme/demo 1.0.0 ([HOST]/acme/demo): the registry answered 418 to a request for the blob (short and stout)
  from http://[HOST]/v2/acme/demo/blobs/sha256:b1e4d9aff3bc4beab52656488f156b655eab9316967f12b950807128debaf209
",
        );
}

#[test]
fn a_redirect_to_something_that_is_no_url_is_refused() {
    let author = author(&[]);
    let registry = filled(&author);
    registry.always(matching("GET", "/blobs/"), Fault::redirect("https://[/x"));
    install(&author, registry.host(), PLAIN)
        .exits(1)
        .without_result()
        .says(
            r"
  Selected registry.opentofu.org/acme/demo 1.0.0 (the only match)
error: registry.opentofu.org/acme/demo 1.0.0 ([HOST]/acme/demo): the evidence sha256:b1e4d9aff3bc4beab52656488f156b655eab9316967f12b950807128debaf209 cannot be used
  the server refers to a URL that cannot be used
    received https://[/x
",
        );
}

#[test]
fn a_redirect_from_https_to_http_is_refused() {
    let authority = Authority::new("tests");
    let registry = Setup::of(Personality::Plain)
        .tls(authority.server().serve(None))
        .start();
    let author = author(&[]);
    authority.write(&author.scene, "ca.pem");
    push(&author, registry.host(), "--ca-file ca.pem").succeeds();
    let target = "http://example.com/blob";
    registry.always(matching("GET", "/blobs/"), Fault::redirect(target));
    install(
        &author,
        registry.host(),
        "--ca-file ca.pem --plain-http example.com",
    )
    .exits(1)
    .without_result()
    .says(
            r"
  Selected registry.opentofu.org/acme/demo 1.0.0 (the only match)
error: registry.opentofu.org/acme/demo 1.0.0 ([HOST]/acme/demo): the evidence sha256:b1e4d9aff3bc4beab52656488f156b655eab9316967f12b950807128debaf209 cannot be used
  the server redirects from https to http
    received http://example.com/blob
    from https://[HOST]/v2/acme/demo/blobs/sha256:b1e4d9aff3bc4beab52656488f156b655eab9316967f12b950807128debaf209
",
        );
}

/// A proxy with TLS before a registry without, which does not know the outer address.
#[test]
fn an_upload_that_would_leave_tls_is_refused() {
    let authority = Authority::new("tests");
    let registry = Setup::of(Personality::Plain)
        .tls(authority.server().serve(None))
        .start();
    let author = author(&[]);
    authority.write(&author.scene, "ca.pem");
    let location = format!("http://{}/v2/{NAME}/blobs/uploads/1", registry.host());
    let posts = matching("POST", "/uploads/");
    registry.always(posts, Fault::with("location", location));
    push(&author, registry.host(), "--ca-file ca.pem")
        .exits(1)
        .says(
            r"
error: registry.opentofu.org/acme/demo 1.0.0 ([HOST]/acme/demo): refusing to use http
  received http://[HOST]/v2/acme/demo/blobs/uploads/1?…

hint: the registry's proxy does not pass on the outer address: it has to send `X-Forwarded-Proto` and `Host`, or the registry's settings have to name that address
",
        );
}

#[test]
fn a_token_that_no_header_can_hold_is_refused() {
    let author = author(&[]);
    let access = Access::of(Personality::Quay);
    let registry = Setup::of(Personality::Plain).access(access).start();
    let login = serde_json::json!({"auths": {registry.host(): {"registrytoken": "one\ntwo"}}});
    author.scene.write("auth.json", login.to_string());
    let more = format!("{PLAIN} --authfile auth.json");
    install(&author, registry.host(), &more)
        .exits(1)
        .without_result()
        .says(
            r"
error: registry.opentofu.org/acme/demo ([HOST]/acme/demo): the credentials hold characters that cannot be sent
  to http://[HOST]/v2/acme/demo/tags/list
  expected no line breaks and no control characters
",
        )
        .hides("two");
}

/// The registry has a public name, as far as tfoci can tell: only the proxy knows its address.
#[test]
fn a_public_registry_cannot_refer_to_a_name_with_private_addresses() {
    let host = "registry.invalid";
    let registry = Setup::of(Personality::Plain).host(host).start();
    let author = author(&[("HTTP_PROXY", registry.proxy()), ("NO_PROXY", "localhost")]);
    push(&author, host, PLAIN).succeeds();
    let target = "http://localhost:9/blob";
    registry.always(matching("GET", "/blobs/"), Fault::redirect(target));
    install(
        &author,
        host,
        "--plain-http [HOST] --plain-http localhost:9",
    )
    .exits(1)
    .without_result()
    .says(
            r"
  Selected registry.opentofu.org/acme/demo 1.0.0 (the only match)
error: registry.opentofu.org/acme/demo 1.0.0 ([HOST]/acme/demo): the evidence sha256:b1e4d9aff3bc4beab52656488f156b655eab9316967f12b950807128debaf209 cannot be used
  refusing to connect to http://localhost:9/blob
    only a file or a server names this host, and it has only private addresses

hint: if you know this host, `--allow-private localhost:9`, or TFOCI_ALLOW_PRIVATE=localhost:9
",
        );
}

#[test]
fn a_registry_in_which_repositories_are_created_first() {
    let author = author(&[]);
    let registry = Setup::of(Personality::Ecr).access(Access::Open).start();
    let said = push(&author, registry.host(), PLAIN).exits(1).stderr;
    let hint =
        "hint: create the repository, or the project that it belongs to, before the first push\n";
    assert!(said.ends_with(hint), "{said}");
}

/// The release process is not done: it writes a zip again while tfoci uploads it.
#[test]
fn a_registry_that_may_only_be_read() {
    let author = author(&[]);
    let registry = Registry::plain();
    registry.always(matching("POST", "/blobs/uploads/"), Fault::status(405));
    let said = push(&author, registry.host(), PLAIN).exits(1).stderr;
    let hint = "hint: the registry refuses this kind of request: if it is a cache of another one, or may only be read, write to one that takes uploads\n";
    assert!(said.ends_with(hint), "{said}");
}

#[test]
fn a_zip_that_changes_after_its_verification() {
    let author = author(&[]);
    let registry = Registry::plain();
    let zip = author
        .scene
        .path("dist/terraform-provider-demo_1.0.0_linux_amd64.zip");
    let bytes = std::fs::read(&zip).unwrap();
    let digest = sha256(&bytes);
    let has_failed = Arc::new(AtomicBool::new(false));
    let failed = has_failed.clone();
    let first = move |seen: &Seen| {
        let is_zip = seen.method == "PUT" && seen.target.contains(&digest);
        failed.fetch_or(is_zip, Ordering::Relaxed);
        is_zip
    };
    registry.fault(1, first, Fault::status(503));
    let change = move || {
        if has_failed.load(Ordering::Relaxed) {
            std::fs::write(&zip, &bytes[1..]).unwrap();
        }
    };
    registry.always(matching("POST", "/blobs/uploads/"), Fault::after(change));
    let said = push(&author, registry.host(), PLAIN).exits(3).stderr;
    let hint = "hint: the zip has changed since it was verified. Push again once the release process is done\n";
    assert!(said.ends_with(hint), "{said}");
    assert!(registry.tags(NAME).is_empty());
}
