//! Runs that are killed, disks that are full, and two runs at once: a lock file is the old one or the new one.

use std::collections::BTreeMap;
use std::fs;

use crate::chaos::tracer::{self, ENDLESS, FDATASYNC, FSYNC, Fault, MKDIR, RENAME, Threads, WRITE};
use crate::support::author::Author;
use crate::support::judge;
use crate::support::programs::can_trace;
use crate::support::scene::Scene;

const LOCK: &str = ".terraform.lock.hcl";
const OLD: &str = "provider \"registry.opentofu.org/acme/demo\" {\n  version = \"1.0.0\"\n  hashes = [\n    \"h9:old\",\n  ]\n}\n";

/// A pushed release, and a project that requires it and has an old lock file.
fn given() -> Author {
    let author = Author::within(Scene::new().env("TOKIO_WORKER_THREADS", "1"));
    author.with_pushed();
    let required = super::any_version("acme/demo");
    author.scene.write("project/main.tf", required);
    author
}

fn line(command: &str) -> String {
    let from = "--from oci-layout:store --key acme.asc --platform linux_amd64";
    format!("{command} --chdir project {from}")
}

/// The project before a run.
fn reset(author: &Author, command: &str) {
    for directory in [".terraform", "cache"] {
        let _none = fs::remove_dir_all(author.scene.path(format!("project/{directory}")));
    }
    fs::create_dir(author.scene.path("project/cache")).unwrap();
    for (name, _) in tree(author) {
        if name.starts_with('.') {
            fs::remove_file(author.scene.path(format!("project/{name}"))).unwrap();
        }
    }
    // `install` refuses hashes that match nothing.
    let old = match command {
        "lock" => OLD.to_owned(),
        _ => OLD.replace("  hashes = [\n    \"h9:old\",\n  ]\n", ""),
    };
    author.scene.write(format!("project/{LOCK}"), old);
}

fn tree(author: &Author) -> BTreeMap<String, String> {
    judge::tree(&author.scene.path("project"))
}

/// Repeats a run and disturbs another of its system calls each time.
fn at_every_call(author: &Author, command: &str, effect: &str) {
    if !can_trace() {
        return;
    }
    reset(author, command);
    let before = tree(author);
    author.scene.line(line(command)).succeeds();
    let after = tree(author);
    let mut happened = 0;
    // A failing write to the async runtime's event file would hang it, and a full disk never causes that.
    let kills = effect.starts_with("signal");
    let all = [RENAME, FDATASYNC, FSYNC, MKDIR, WRITE];
    for calls in all.into_iter().filter(|calls| kills || *calls != WRITE) {
        for threads in [Threads::First, Threads::All] {
            for nth in 1..ENDLESS {
                reset(author, command);
                let fault = Fault {
                    calls,
                    effect,
                    nth,
                    threads,
                };
                let line = line(command);
                let arguments: Vec<String> = line.split(' ').map(str::to_owned).collect();
                let (run, log) = tracer::run(&author.scene, &fault, &arguments);
                let is_done = run.status == Some(0);
                let left = tree(author);
                let is_old_or_new = left[LOCK] == before[LOCK] || left[LOCK] == after[LOCK];
                assert!(is_old_or_new, "{fault:?}\n{log}");
                let is_package =
                    |name: &str| name.starts_with(".terraform/") || name.starts_with("cache/");
                for (name, content) in &left {
                    let is_hidden = name.contains(".tfoci-");
                    let can_stay = !is_hidden || !effect.starts_with("error");
                    assert!(can_stay, "{fault:?}: {name}\n{}", run.stderr);
                    if is_package(name) && !is_hidden {
                        assert_eq!(after.get(name), Some(content), "{fault:?}");
                    }
                }
                author.scene.line(line).succeeds();
                let now = tree(author);
                assert!(now == after, "{fault:?}: {:?}", now.keys());
                if is_done && !log.contains("INJECTED") {
                    break;
                }
                happened += 1;
                assert!(nth + 1 < ENDLESS);
            }
        }
    }
    assert!(happened > 3, "{happened}");
}

#[test]
fn killed_while_locking() {
    at_every_call(&given(), "lock", "signal=KILL");
}

#[test]
fn a_full_disk_while_locking_and_installing() {
    at_every_call(&given(), "lock", "error=ENOSPC");
    at_every_call(&given(), "install", "error=ENOSPC");
}

#[test]
fn killed_while_installing() {
    at_every_call(&given(), "install", "signal=KILL");
}

#[test]
fn two_concurrent_runs_write_what_one_writes() {
    for command in ["lock", "install"] {
        let author = given();
        reset(&author, command);
        author.scene.line(line(command)).succeeds();
        let after = tree(&author);
        reset(&author, command);
        for run in [(); 4].map(|()| author.scene.piped(line(command)).spawn().unwrap()) {
            let output = run.wait_with_output().unwrap();
            let said = String::from_utf8_lossy(&output.stderr);
            assert!(output.status.success(), "{said}");
        }
        assert!(tree(&author) == after, "{command}");
    }
}
