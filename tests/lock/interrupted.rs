//! Ctrl-C while a large package is compared with its lock file, and while a large configuration is read.

use std::fs;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use super::installs::project;
use super::{origin, platforms, scene};

/// Whether a process has this file open, and has read some of it.
fn is_reading(child: &Child, file: &str) -> bool {
    let of = |what: &str| format!("/proc/{}/{what}", child.id());
    let Ok(open) = fs::read_dir(of("fd")) else {
        return false;
    };
    open.flatten().any(|one| {
        let is_file = fs::read_link(one.path()).is_ok_and(|path| path.ends_with(file));
        let number = one.file_name().into_string().unwrap();
        let info = fs::read_to_string(of(&format!("fdinfo/{number}"))).unwrap_or_default();
        is_file && !info.starts_with("pos:\t0\n")
    })
}

#[test]
fn a_run_that_hashes_ends_at_once() {
    let origin = origin();
    let scene = scene(&origin).env("TOKIO_WORKER_THREADS", "1");
    project(&scene, &origin, "ours");
    scene.line("install --chdir ours").succeeds();
    let (here, host) = (&platforms()[0], origin.host());
    let package = format!("ours/.terraform/providers/{host}/acme/demo/1.2.0/{here}");
    let large = fs::File::create(scene.path(package).join("large")).unwrap();
    large.set_len(512 << 20).unwrap();
    let install = || {
        let mut command = scene.command(env!("CARGO_BIN_EXE_tfoci"));
        let command = command.args(["install", "--chdir", "ours"]);
        let mut child = command
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        while !is_reading(&child, "large") {
            assert!(child.try_wait().unwrap().is_none(), "it has ended");
        }
        (child, Instant::now())
    };
    // How long the run takes to its end, where the package is refused.
    let (mut child, start) = install();
    assert_eq!(child.wait().unwrap().code(), Some(3));
    let whole: Duration = start.elapsed();
    let (mut child, start) = install();
    let kill = Command::new("kill")
        .args(["-s", "INT", &child.id().to_string()])
        .status();
    assert!(kill.unwrap().success());
    assert_eq!(child.wait().unwrap().code(), Some(130));
    let (interrupted, longest) = (start.elapsed(), whole / 2);
    assert!(interrupted < longest, "{interrupted:?} of {whole:?}");
}

/// Whether a process handles SIGINT, so that the signal does not end it at once.
fn handles_interruptions(child: &Child) -> bool {
    let status = fs::read_to_string(format!("/proc/{}/status", child.id())).unwrap();
    let caught = status.lines().find_map(|line| line.strip_prefix("SigCgt:"));
    u64::from_str_radix(caught.unwrap().trim(), 16).unwrap() & 2 != 0
}

#[test]
fn a_run_that_reads_a_large_configuration_is_interrupted() {
    let origin = origin();
    let scene = scene(&origin);
    project(&scene, &origin, "ours");
    // Seconds of work, and the end of an honest run has another code.
    let text = format!("locals {{\n  x = \"{}\"\n}}\n", "x".repeat((4 << 20) - 64));
    for number in 0..3 {
        scene.write(format!("ours/large{number}.tf"), &text);
    }
    let mut command = scene.command(env!("CARGO_BIN_EXE_tfoci"));
    let command = command.args(["lock", "--check", "--chdir", "ours"]);
    let mut child = command
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    while !handles_interruptions(&child) {
        assert!(child.try_wait().unwrap().is_none(), "it has ended");
    }
    let kill = Command::new("kill")
        .args(["-s", "INT", &child.id().to_string()])
        .status();
    assert!(kill.unwrap().success());
    assert_eq!(child.wait().unwrap().code(), Some(130));
}
