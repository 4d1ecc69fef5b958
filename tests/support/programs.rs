//! Programs that some tests need and that not every machine has.
//!
//! A test without its program reports on stderr that it is skipped, and passes. If the variable `TFOCI_REQUIRE` names the
//! program, the test fails instead: `TFOCI_REQUIRE="strace skopeo"`. `.ci/run` names every program that it installs.

use std::env;
use std::io::Write as _;
use std::path::PathBuf;
use std::process::Command;

/// The environment variable with the names of required programs, separated by spaces.
const REQUIRE: &str = "TFOCI_REQUIRE";

/// Whether a program is on `PATH`.
#[track_caller]
pub fn has(program: &str) -> bool {
    find(program).is_some()
}

/// The path of a program.
#[track_caller]
pub fn find(program: &str) -> Option<PathBuf> {
    let path = env::var_os("PATH").unwrap_or_default();
    let mut files = env::split_paths(&path).map(|directory| directory.join(program));
    let found = files.find(|file| file.is_file());
    if found.is_none() {
        skip(program, "is not on PATH");
    }
    found
}

/// Whether a program works on this machine, which a container may prevent. Runs the command to find out.
#[track_caller]
pub fn can_run(program: &str, arguments: &[&str]) -> bool {
    if !has(program) {
        return false;
    }
    let output = Command::new(program).args(arguments).output();
    let succeeds = output.is_ok_and(|output| output.status.success());
    if !succeeds {
        skip(
            program,
            &format!("fails: {program} {}", arguments.join(" ")),
        );
    }
    succeeds
}

/// Whether `strace` is there and the system lets it trace.
#[track_caller]
pub fn can_trace() -> bool {
    can_run("strace", &["-qq", "-o", "/dev/null", "true"])
}

/// Decides about a test whose program is missing.
#[track_caller]
fn skip(program: &str, problem: &str) {
    let required = env::var(REQUIRE).unwrap_or_default();
    let thread = std::thread::current();
    match missing(program, problem, &required) {
        // Not `eprintln!`, since the test harness hides its output if a test passes.
        Ok(notice) => {
            let test = thread.name().unwrap_or("a test");
            let _unseen = writeln!(std::io::stderr(), "{test}: {notice}");
        }
        Err(failure) => panic!("{failure}"),
    }
}

/// The message about a missing program: a notice, or a failure if the program is required.
fn missing(program: &str, problem: &str, required: &str) -> Result<String, String> {
    if required.split_whitespace().any(|name| name == program) {
        Err(format!("`{program}` {problem}, and {REQUIRE} names it"))
    } else {
        Ok(format!("skipped what needs `{program}`, which {problem}"))
    }
}

#[test]
fn a_missing_program_fails_only_if_it_is_required() {
    let problem = "is not on PATH";
    for required in ["", "skopeo", "strace-log-merge my-strace"] {
        assert_eq!(
            missing("strace", problem, required).unwrap(),
            "skipped what needs `strace`, which is not on PATH"
        );
    }
    for required in ["strace", "skopeo  strace", " strace\n"] {
        assert_eq!(
            missing("strace", problem, required).unwrap_err(),
            "`strace` is not on PATH, and TFOCI_REQUIRE names it"
        );
    }
}

#[test]
fn programs_are_looked_for_on_the_path() {
    assert!(has("sh"));
    assert!(can_run("sh", &["-c", "true"]));
}
