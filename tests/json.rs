//! Output for scripts: JSON, exit codes, and the use of stdout and stderr.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use crate::support::author::{Author, two_platforms};
use crate::support::release::{Mistake, ReleaseFolder};
use crate::support::scene::{Run, Scene};

const PROVIDER: &str = "registry.opentofu.org/acme/demo";

const PUSH: &str = "push dist --provider acme/demo --key acme.asc --to oci-layout:store";

fn push(author: &Author, more: &str) -> Run {
    author.push(format!("--format json {more}"))
}

/// The report of `push` about a whole release, without the digest of the index: the status of the version and of both packages.
fn expected(author: &Author, statuses: [&str; 3], bytes: u64) -> Value {
    let digest = format!("sha256:{}", author.tagged("1.0.0").unwrap());
    let package = |platform: &str, status: &str, size: u64| {
        let zh = format!("zh:{}", author.zip_hex(platform));
        json!({"platform": platform, "status": status, "size": size, "zh": zh})
    };
    let [status, first, second] = statuses;
    json!({
        "schema": 1,
        "providers": [{
            "provider": PROVIDER,
            "version": "1.0.0",
            "reference": format!("oci-layout:store/{PROVIDER}:1.0.0@{digest}"),
            "digest": digest,
            "status": status,
            "authentication": {"status": "signed", "anchor": "pinned", "fingerprint": "[ACME]", "notes": []},
            "packages": [package("darwin_arm64", first, 407), package("linux_amd64", second, 406)],
        }],
        "bytes": bytes,
        "requests": 0,
    })
}

#[test]
fn a_first_push_is_planned_then_copied_and_a_second_is_present() {
    let author = Author::with_release();
    let [dry, first, again, second] =
        ["--dry-run", "", "--dry-run", ""].map(|more| push(&author, more).succeeds().json());
    assert_eq!(dry, expected(&author, ["planned"; 3], 0));
    assert_eq!(first, expected(&author, ["copied"; 3], 813));
    let present = expected(&author, ["present"; 3], 0);
    assert_eq!([again, second], [present.clone(), present]);
    author.installs();
}

#[test]
fn an_added_platform_has_the_status_updated() {
    let author = Author::with_release();
    push(&author, "--platform darwin_arm64").succeeds();
    let found = push(&author, "").succeeds().json();
    let statuses = ["updated", "present", "copied"];
    assert_eq!(found, expected(&author, statuses, 406));
    author.installs();
}

#[test]
fn a_release_without_signature_and_documents() {
    let author = Author::with_mistake(Mistake::SignatureMissing);
    let run = author.push_unsigned("--allow-unsigned */*/* --format json");
    let authentication = json!({"status": "checksum", "notes": []});
    let found = &run.succeeds().json()["providers"][0]["authentication"];
    assert_eq!(*found, authentication);
}

#[test]
fn a_version_that_failed() {
    let author = Author::with_mistake(Mistake::SignatureMissing);
    let run = push(&author, "").exits(3);
    let mut found = run.json();
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
    run.says(&format!("error {PROVIDER} 1.0.0 expected acme.asc --key"));
}

#[test]
fn a_failure_before_any_version_is_known() {
    let author = Author::new();
    two_platforms().write(&author.scene.path("dist"));
    ReleaseFolder::new("demo", "1.1.0").write(&author.scene.path("dist"));
    let run = push(&author, "").exits(2);
    let mut found = run.json();
    let error = found["error"].as_object_mut().unwrap();
    assert!(error.remove("message").unwrap().is_string() && error.remove("hint").is_some());
    assert_eq!(
        found,
        json!({"schema": 1, "error": {"category": "usage", "provider": PROVIDER, "place": "dist"}})
    );
    run.says(&format!("error {PROVIDER} dist has 1.0.0 1.1.0"));
    let run = push(&author, "--annotation x").exits(2);
    assert_eq!(run.json()["error"]["category"], "usage");
    assert_eq!(run.json().as_object().unwrap().len(), 2);
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
        let document = run.json();
        let nested = &document["providers"][0]["error"];
        let error = document.get("error").unwrap_or(nested);
        assert_eq!(error["category"], category, "{arguments:?}");
        assert_ne!(run.stderr, "", "{arguments:?}");
    }
}

#[test]
fn text_has_a_result_or_nothing_on_stdout_and_quiet_nothing_else() {
    for quiet in ["", "--quiet", "-q"] {
        let author = Author::with_release();
        let push = || author.push(format!("--existing fail {quiet}"));
        let run = push().succeeds();
        assert_eq!(run.stdout.lines().count(), 1);
        assert!(run.stdout.starts_with("oci-layout:store/"));
        assert_eq!(run.stderr.is_empty(), !quiet.is_empty(), "{}", run.stderr);
        let run = push().exits(1).without_result();
        run.says(&format!("error {PROVIDER} 1.0.0"));
    }
}

#[test]
fn colour_is_used_on_stderr_only_can_be_disabled_and_changes_no_text() {
    let mut texts = BTreeSet::new();
    for (variables, more, is_colourful) in [
        ("", "", false),
        ("", "--color always", true),
        ("CLICOLOR_FORCE=1", "", true),
        ("CLICOLOR_FORCE=1 NO_COLOR=1", "", false),
        ("CLICOLOR_FORCE=1", "--color never", false),
        ("TERM=dumb", "", false),
        ("TERM=dumb NO_COLOR=1", "", false),
        ("CI=true", "--no-progress", false),
    ] {
        let variables = variables.split_whitespace();
        let variables = variables.filter_map(|one| one.split_once('='));
        let scene = variables.fold(Scene::new(), |scene, (name, value)| scene.env(name, value));
        let author = Author::within(scene);
        author.with_release_in_place();
        let good = author.push(more).succeeds();
        let bad = author.push(format!("{more} --existing fail")).exits(1);
        for run in [&good, &bad] {
            assert!(!run.stdout.contains('\x1b'), "{}", run.stdout);
            assert_eq!(run.stderr.contains('\x1b'), is_colourful, "{}", run.stderr);
        }
        let parts = good.stderr.split_inclusive('\x1b');
        let plain = parts.enumerate().map(|(number, part)| match number {
            0 => part,
            _ => part.split_once('m').unwrap().1,
        });
        texts.insert(plain.collect::<String>().replace('\x1b', ""));
    }
    assert_eq!(texts.len(), 1, "{texts:#?}");
}

/// A reader that closes the pipe needs no more output.
#[test]
fn a_closed_pipe_is_success() {
    for format in ["text", "json"] {
        let author = Author::with_release();
        let mut child = author
            .scene
            .piped(format!("{PUSH} --format {format}"))
            .spawn()
            .unwrap();
        drop(child.stdout.take());
        let output = child.wait_with_output().unwrap();
        let said = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(0), "{said}");
        assert!(!said.contains("error"), "{said}");
        assert_eq!(author.installs().len(), 2);
    }
}

#[test]
fn a_closed_stderr_stops_nothing() {
    let author = Author::with_release();
    let mut child = author.scene.piped(PUSH).spawn().unwrap();
    drop(child.stderr.take());
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(0));
    assert!(output.stdout.starts_with(b"oci-layout:store/"));
}
