//! The traces of `-v` and `-vv`, and the number of requests in JSON.

use crate::support::author::Author;
use crate::support::registry::{Fault, Registry, matching};
use crate::support::scene::Run;

/// A registry that requires tokens, and an author whose docker configuration has the password.
fn given() -> (Registry, Author) {
    let registry = Registry::with_tokens();
    let author = Author::with_release();
    let config = registry.authfile();
    author.scene.write(".docker/config.json", config);
    (registry, author)
}

/// Runs a command against a repository; ports and times are replaced.
fn run(registry: &Registry, author: &Author, arguments: &str) -> Run {
    let host = registry.host();
    let arguments = format!("{arguments} --plain-http {host} --jobs 1").replace("HOST", host);
    let mut run = author.line(arguments);
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

const VERSIONS: &str = "versions acme/demo --from HOST/acme/demo";

/// The credentials of a scene.
const USING: &str = "     Using [TMP]/.docker/config.json (HOST) for HOST\n";

#[cfg(target_os = "linux")]
#[test]
fn v_traces_decisions() {
    let (registry, author) = given();
    run(&registry, &author, PUSH).succeeds();
    let fault = Fault::too_many_requests("0");
    registry.fault(2, matching("GET", "/tags/list"), fault);
    let push = PUSH.replace("acme/demo --key", "acme/demo@1.0.0 -v --key");
    let other = push.replace("HOST/acme/demo", "HOST/other/demo");
    let said = run(&registry, &author, &other).succeeds();
    let (_, said) = said.stderr.split_once("(pinned)\n").unwrap();
    let (said, _) = said.split_once("    Copied").unwrap();
    let expected = format!(
        "{USING}  Retrying http://HOST/v2/other/demo/tags/list after 0.0s: it answered 429\n"
    );
    assert_eq!(said, expected);
    for (more, expected) in [(" -v", USING), ("", "")] {
        let said = run(&registry, &author, &format!("{VERSIONS}{more}")).succeeds();
        assert_eq!(said.stderr, expected);
        assert_eq!(said.stdout, "1.0.0\n");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn vv_traces_requests() {
    let (registry, author) = given();
    run(&registry, &author, PUSH).succeeds();
    let said = run(&registry, &author, &format!("{VERSIONS} -vv")).succeeds();
    let tags = "http://HOST/v2/acme/demo/tags/list";
    let expected = format!(
        "{USING} Requested GET {tags}: 401, 0 B out, 73
 Requested GET http://HOST/token?…: 200, 0 B out, 38
 Requested GET {tags}: 200, 0 B out, 55
"
    );
    assert_eq!(said.stderr, expected);
}

#[test]
fn blobs_shared_within_a_run_are_traced() {
    let (registry, author) = given();
    // Two packages have the same bytes: the second one needs no request.
    let said = run(&registry, &author, &format!("{PUSH} -vv")).succeeds();
    let uploads = registry.count(matching("PUT", "/uploads/"));
    let line = " Requested PUT http://HOST/v2/acme/demo/blobs/uploads/";
    assert_eq!(said.stderr.matches(line).count(), uploads);
    said.tells(": 201, 406 B out, 0");
}

#[test]
fn json_counts_requests_of_successful_and_failed_runs() {
    let count = |run: &Run| run.json()["requests"].as_u64().unwrap();
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
