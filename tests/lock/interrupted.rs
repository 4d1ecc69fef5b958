//! Ctrl-C while a large package is compared with its lock file, and while a large configuration is read.

use std::fs;
use std::process::Child;
use std::time::Instant;

use rustix::process::{Pid, Signal, kill_process};

use super::installs::given;
use super::platforms;
use crate::support::scene::Scene;

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

/// Starts a run in `ours`, and waits for a moment of it.
fn start(scene: &Scene, line: &str, is_there: impl Fn(&Child) -> bool) -> Child {
    let mut child = scene.piped(format!("{line} --chdir ours")).spawn().unwrap();
    while !is_there(&child) {
        assert!(child.try_wait().unwrap().is_none(), "it has ended");
    }
    child
}

/// Asserts that Ctrl-C ends a run with its code.
fn interrupt(mut child: Child) {
    kill_process(Pid::from_child(&child), Signal::INT).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(130));
}

#[test]
fn a_run_that_hashes_ends_at_once() {
    let (origin, scene) = given();
    let scene = scene.env("TOKIO_WORKER_THREADS", "1");
    scene.line("install --chdir ours").succeeds();
    let (here, host) = (&platforms()[0], origin.host());
    let package = format!("ours/.terraform/providers/{host}/acme/demo/1.2.0/{here}");
    let large = fs::File::create(scene.path(package).join("large")).unwrap();
    large.set_len(512 << 20).unwrap();
    let install = || {
        let child = start(&scene, "install", |child| is_reading(child, "large"));
        (child, Instant::now())
    };
    // How long the run takes to its end, where the package is refused.
    let (mut child, begun) = install();
    assert_eq!(child.wait().unwrap().code(), Some(3));
    let whole = begun.elapsed();
    let (child, begun) = install();
    interrupt(child);
    let (interrupted, longest) = (begun.elapsed(), whole / 2);
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
    let (_origin, scene) = given();
    // Seconds of work, and the end of an honest run has another code.
    let text = format!("locals {{\n  x = \"{}\"\n}}\n", "x".repeat((4 << 20) - 64));
    for number in 0..3 {
        scene.write(format!("ours/large{number}.tf"), &text);
    }
    interrupt(start(&scene, "lock --check", handles_interruptions));
}
