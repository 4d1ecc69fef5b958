//! The traces of `-v` and `-vv`, and the number of requests in JSON.

use crate::support::author::Author;
use crate::support::registry::{Access, Fault, Personality, Registry, Setup, matching};
use crate::support::scene::Run;

/// A registry that requires tokens, and an author whose docker configuration has the password.
fn given() -> (Registry, Author) {
    let registry = Setup::of(Personality::Plain)
        .access(Access::of(Personality::Quay))
        .start();
    let author = Author::with_release();
    let config = registry.authfile();
    author.scene.write(".docker/config.json", config);
    (registry, author)
}

/// Runs a command against a repository; ports and times are replaced.
fn run(registry: &Registry, author: &Author, arguments: &str) -> Run {
    let host = registry.host();
    let arguments = format!("{arguments} --plain-http {host} --jobs 1").replace("HOST", host);
    let mut run = author.tfoci(&arguments.split(' ').collect::<Vec<_>>());
    let lines = run.stderr.replace(host, "HOST");
    let lines = lines.lines().map(|line| {
        let (line, _) = line.split_once(" B in, ").unwrap_or((line, ""));
        match line.split_once(" after ") {
            Some((before, after)) => match after.split_once("s: ") {
                Some((_, reason)) => format!("{before} after 0.0s: {reason}\n"),
                None => format!("{line}\n"),
            },
            None => format!("{line}\n"),
        }
    });
    run.stderr = lines.collect();
    run
}

const PUSH: &str = "push dist --provider acme/demo --key acme.asc --to HOST/acme/demo";

/// The credentials of a scene.
const USING: &str = "     Using [TMP]/.docker/config.json (HOST) for HOST\n";

#[cfg(target_os = "linux")]
#[test]
fn v_traces_decisions() {
    let (registry, author) = given();
    run(&registry, &author, PUSH).succeeds();
    let fault = Fault::too_many_requests("0");
    registry.fault(2, matching("GET", "/tags/list"), fault);
    let other = format!(
        "{} -v",
        PUSH.replace("acme/demo --key", "acme/demo@1.0.0 --key")
    );
    let said = run(
        &registry,
        &author,
        &other.replace("HOST/acme/demo", "HOST/other/demo"),
    )
    .succeeds();
    let (_, said) = said.stderr.split_once("(pinned)\n").unwrap();
    let (said, _) = said.split_once("    Copied").unwrap();
    let expected = format!(
        "{USING}  Retrying http://HOST/v2/other/demo/tags/list after 0.0s: it answered 429\n"
    );
    assert_eq!(said, expected);
    let said = run(
        &registry,
        &author,
        "versions acme/demo --from HOST/acme/demo -v",
    )
    .succeeds();
    assert_eq!(said.stderr, USING);
    assert_eq!(said.stdout, "1.0.0\n");
    let said = run(
        &registry,
        &author,
        "versions acme/demo --from HOST/acme/demo",
    )
    .succeeds();
    assert_eq!(said.stderr, "");
}

#[cfg(target_os = "linux")]
#[test]
fn vv_traces_requests() {
    let (registry, author) = given();
    run(&registry, &author, PUSH).succeeds();
    let said = run(
        &registry,
        &author,
        "versions acme/demo --from HOST/acme/demo -vv",
    )
    .succeeds();
    let tags = "http://HOST/v2/acme/demo/tags/list";
    assert_eq!(
        said.stderr,
        format!(
            "{USING} Requested GET {tags}: 401, 0 B out, 73
 Requested GET http://HOST/token?…: 200, 0 B out, 38
 Requested GET {tags}: 200, 0 B out, 55
"
        )
    );
}

#[test]
fn blobs_shared_within_a_run_are_traced() {
    let (registry, author) = given();
    // Two packages have the same bytes: the second one needs no request.
    let said = run(&registry, &author, &format!("{PUSH} -vv")).succeeds();
    let uploads = registry.count(matching("PUT", "/uploads/"));
    let told = said
        .stderr
        .matches(" Requested PUT http://HOST/v2/acme/demo/blobs/uploads/")
        .count();
    assert_eq!(told, uploads);
    assert!(
        said.stderr.contains(": 201, 406 B out, 0"),
        "{}",
        said.stderr
    );
}

#[test]
fn json_counts_requests_of_successful_and_failed_runs() {
    let count = |run: &Run| {
        let document: serde_json::Value = serde_json::from_str(&run.stdout).unwrap();
        document["requests"].as_u64().unwrap()
    };
    let (registry, author) = given();
    let sent = || {
        let all = registry.count(|seen| seen.path != "/token");
        registry.forget();
        all as u64
    };
    let push = format!("{PUSH} --format json");
    let first = run(&registry, &author, &push).succeeds();
    assert_eq!(count(&first), sent());
    // The challenge, the list of tags, the index, the manifests of two platforms, and the digest of the evidence.
    let second = run(&registry, &author, &push).succeeds();
    assert_eq!((count(&second), sent()), (6, 6));
    let to = push.replace("HOST/acme/demo", "HOST/other/demo");
    // The tag of the version is the last request, so no other request is open when it fails.
    registry.always(matching("PUT", "/manifests/1.0.0"), Fault::denied());
    let failed = run(&registry, &author, &to).exits(1);
    assert_eq!(count(&failed), sent());
}
