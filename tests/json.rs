//! Output for scripts: JSON, exit codes, and the use of stdout and stderr.

use std::io::Read as _;
use std::process::Stdio;

use serde_json::{Value, json};

use crate::support::author::{Author, two_platforms};
use crate::support::release::{Mistake, ReleaseFolder};
use crate::support::scene::{Run, Scene};

const PROVIDER: &str = "registry.opentofu.org/acme/demo";

const PUSH: &str = "push dist --provider acme/demo --key acme.asc --to oci-layout:store";

/// The one document on stdout.
#[track_caller]
fn document(run: &Run) -> Value {
    serde_json::from_str(&run.stdout).expect(&run.stdout)
}

fn push(author: &Author, more: &str) -> Run {
    author.push(format!("--format json {more}"))
}

/// The report of `push` about a whole release, without the digest of the index.
fn expected(author: &Author, status: &str, packages: [&str; 2], bytes: u64) -> Value {
    let digest = format!("sha256:{}", author.tagged("1.0.0").unwrap());
    let package = |platform: &str, status: &str, size: u64| {
        let name = format!("dist/terraform-provider-demo_1.0.0_{platform}.zip");
        let zh = crate::support::judge::sha256(&author.scene.path(name));
        json!({"platform": platform, "status": status, "size": size, "zh": format!("zh:{zh}")})
    };
    json!({
        "schema": 1,
        "providers": [{
            "provider": PROVIDER,
            "version": "1.0.0",
            "reference": format!("oci-layout:store/{PROVIDER}:1.0.0@{digest}"),
            "digest": digest,
            "status": status,
            "authentication": {"status": "signed", "anchor": "pinned", "fingerprint": "[ACME]", "notes": []},
            "packages": [package("darwin_arm64", packages[0], 407), package("linux_amd64", packages[1], 406)],
        }],
        "bytes": bytes,
        "requests": 0,
    })
}

#[test]
fn a_first_push_is_copied_and_a_second_is_present() {
    let author = Author::with_release();
    let first = push(&author, "").succeeds();
    assert_eq!(
        document(&first),
        expected(&author, "copied", ["copied", "copied"], 813)
    );
    let second = push(&author, "").succeeds();
    assert_eq!(
        document(&second),
        expected(&author, "present", ["present", "present"], 0)
    );
    author.installs();
}

#[test]
fn an_added_platform_has_the_status_updated() {
    let author = Author::with_release();
    push(&author, "--platform darwin_arm64").succeeds();
    let run = push(&author, "").succeeds();
    assert_eq!(
        document(&run),
        expected(&author, "updated", ["present", "copied"], 406)
    );
    author.installs();
}

#[test]
fn a_dry_run_has_the_status_planned() {
    let author = Author::with_release();
    let dry = push(&author, "--dry-run").succeeds();
    push(&author, "").succeeds();
    assert_eq!(
        document(&dry),
        expected(&author, "planned", ["planned", "planned"], 0)
    );
    let dry = push(&author, "--dry-run").succeeds();
    assert_eq!(
        document(&dry),
        expected(&author, "present", ["present", "present"], 0)
    );
}

#[test]
fn a_release_without_signature_and_documents() {
    let author = Author::with_mistake(Mistake::SignatureMissing);
    let run = author
        .push_unsigned("--allow-unsigned */*/* --format json")
        .succeeds();
    let authentication = &document(&run)["providers"][0]["authentication"];
    assert_eq!(*authentication, json!({"status": "checksum", "notes": []}));
}

#[test]
fn a_version_that_failed() {
    let author = Author::with_mistake(Mistake::SignatureMissing);
    let run = push(&author, "").exits(3);
    let mut found = document(&run);
    let error = found["providers"][0]["error"].as_object_mut().unwrap();
    assert!(error.remove("message").unwrap().is_string() && error.remove("hint").is_some());
    assert_eq!(
        found,
        json!({
            "schema": 1,
            "providers": [{
                "provider": PROVIDER,
                "version": "1.0.0",
                "status": "failed",
                "packages": [],
                "error": {"category": "untrusted", "kind": "not-signed", "expected": ["acme.asc"]},
            }],
            "bytes": 0,
            "requests": 0,
        })
    );
    run.says(&format!("error {PROVIDER} 1.0.0 expected --key received"));
}

#[test]
fn a_failure_before_any_version_is_known() {
    let author = Author::new();
    two_platforms().write(&author.scene.path("dist"));
    ReleaseFolder::new("demo", "1.1.0").write(&author.scene.path("dist"));
    let run = push(&author, "").exits(2);
    let mut found = document(&run);
    let error = found["error"].as_object_mut().unwrap();
    assert!(error.remove("message").unwrap().is_string() && error.remove("hint").is_some());
    assert_eq!(
        found,
        json!({"schema": 1, "error": {"category": "usage", "provider": PROVIDER, "place": "dist"}})
    );
    run.says(&format!("error {PROVIDER} dist has 1.0.0 1.1.0"));
    let run = push(&author, "--annotation x").exits(2);
    assert_eq!(document(&run)["error"]["category"], "usage");
    assert_eq!(document(&run).as_object().unwrap().len(), 2);
}

#[test]
fn each_kind_of_failure_has_its_category_and_exit_code() {
    let author = Author::with_release();
    push(&author, "").succeeds();
    for (arguments, category, exit) in [
        ("--existing fail", "conflict", 1),
        ("--platform plan9_mips", "not_found", 1),
        ("--provider acme/demo@9.0.0", "not_found", 1),
        ("--provider acme/dé", "unsupported", 1),
        ("--key missing.asc", "not_found", 1),
        ("--provider acme/other", "usage", 2),
        ("--provider demo", "usage", 2),
    ] {
        let run = push(&author, arguments).exits(exit);
        let document = document(&run);
        let error = document
            .get("error")
            .unwrap_or(&document["providers"][0]["error"]);
        assert_eq!(error["category"], category, "{arguments:?}");
        assert_ne!(run.stderr, "", "{arguments:?}");
    }
}

#[test]
fn text_has_a_result_or_nothing_on_stdout() {
    let author = Author::with_release();
    author.push("--existing fail").succeeds();
    author.push("--existing fail").exits(1).without_result();
    let run = author.push("").succeeds();
    assert_eq!(run.stdout.lines().count(), 1);
    assert!(run.stdout.starts_with("oci-layout:store/"));
}

#[test]
fn quiet_prints_only_the_result_and_errors() {
    let author = Author::with_release();
    let run = author.push("--quiet").succeeds();
    assert_eq!((run.stderr.as_str(), run.stdout.lines().count()), ("", 1));
    let run = author.push("-q --existing fail").exits(1);
    run.says(&format!("error {PROVIDER} 1.0.0"));
}

#[test]
fn colour_is_used_on_stderr_only_and_can_be_disabled() {
    let colourful = |scene: Scene, more: &str| {
        let author = Author::within(scene);
        two_platforms().write(&author.scene.path("dist"));
        let good = author.push(more).succeeds();
        let bad = author.push(format!("{more} --existing fail")).exits(1);
        for run in [&good, &bad] {
            assert!(!run.stdout.contains('\x1b'), "{}", run.stdout);
        }
        let stderr = [good.stderr.contains('\x1b'), bad.stderr.contains('\x1b')];
        assert_eq!(stderr[0], stderr[1]);
        stderr[0]
    };
    assert!(!colourful(Scene::new(), ""), "no terminal");
    assert!(colourful(Scene::new(), "--color always"));
    assert!(colourful(Scene::new().env("CLICOLOR_FORCE", "1"), ""));
    assert!(!colourful(
        Scene::new().env("CLICOLOR_FORCE", "1").env("NO_COLOR", "1"),
        ""
    ));
    assert!(!colourful(
        Scene::new().env("CLICOLOR_FORCE", "1"),
        "--color never"
    ));
    assert!(!colourful(Scene::new().env("TERM", "dumb"), ""));
}

#[test]
fn the_text_is_the_same_without_colour() {
    let said = |scene: Scene, more: &str| {
        let author = Author::within(scene);
        two_platforms().write(&author.scene.path("dist"));
        let stderr = author.push(more).succeeds().stderr;
        let mut plain = String::new();
        let mut parts = stderr.split('\x1b');
        plain.push_str(parts.next().unwrap());
        for part in parts {
            plain.push_str(part.split_once('m').unwrap().1);
        }
        plain
    };
    let plain = said(Scene::new(), "");
    assert_eq!(said(Scene::new(), "--color always"), plain);
    assert_eq!(
        said(Scene::new().env("TERM", "dumb").env("NO_COLOR", "1"), ""),
        plain
    );
    assert_eq!(said(Scene::new().env("CI", "true"), "--no-progress"), plain);
}

/// A reader that closes the pipe needs no more output.
#[test]
fn a_closed_pipe_is_success() {
    for format in ["text", "json"] {
        let author = Author::with_release();
        let mut child = author
            .scene
            .command(env!("CARGO_BIN_EXE_tfoci"))
            .args(PUSH.split(' '))
            .args(["--format", format])
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        drop(child.stdout.take());
        let mut said = String::new();
        child
            .stderr
            .take()
            .unwrap()
            .read_to_string(&mut said)
            .unwrap();
        assert_eq!(child.wait().unwrap().code(), Some(0), "{said}");
        assert!(!said.contains("error"), "{said}");
        assert_eq!(author.installs().len(), 2);
    }
}

#[test]
fn a_closed_stderr_stops_nothing() {
    let author = Author::with_release();
    let mut child = author
        .scene
        .command(env!("CARGO_BIN_EXE_tfoci"))
        .args(PUSH.split(' '))
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stderr.take());
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(0));
    assert!(output.stdout.starts_with(b"oci-layout:store/"));
}
