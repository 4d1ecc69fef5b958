use std::fs::File;
use std::io::Read as _;

use serde_json::json;

use super::layout_scene::{LayoutScene, PLATFORMS, PROVIDER, install, push, unfinished};
use super::tracer::{self, ENDLESS, Fault, RENAME, Threads, WRITE};
use super::victim::Victim;
use crate::support::dice::Dice;
use crate::support::programs::can_trace;
use crate::support::release::ReleaseFolder;
use crate::support::signal::{send, until_said};

const SIGNALS: [&str; 2] = ["INT", "TERM"];
/// Large enough for a signal to be handled long before the end: a copy checks for signals every 8 MiB.
const LARGE: usize = 48 << 20;

#[test]
fn while_waiting_for_a_lock() {
    for signal in SIGNALS {
        let scene = LayoutScene::new(&PLATFORMS);
        scene.succeeds(push("store", "--platform linux_amd64"));
        let before = scene.tree("store");
        let path = scene.path(format!("store/{PROVIDER}/.tfoci.lock"));
        let lock = File::options().write(true).open(path).unwrap();
        lock.lock().unwrap();
        let mut run = scene.piped(push("store", "--format json")).spawn().unwrap();
        let mut stderr = until_said(&mut run, "Waiting");
        send(signal, run.id());
        let mut rest = String::new();
        stderr.read_to_string(&mut rest).unwrap();
        assert!(rest.starts_with("error: interrupted\n"), "{rest}");
        let stdout = run.stdout.take().unwrap();
        let document: serde_json::Value = serde_json::from_reader(stdout).unwrap();
        let error = json!({"category": "interrupted", "message": "interrupted"});
        let expected =
            json!({"schema": 1, "providers": [], "bytes": 0, "requests": 0, "error": error});
        assert_eq!(document, expected);
        assert_eq!(run.wait().unwrap().code(), Some(130));
        assert!(scene.tree("store") == before);
        lock.unlock().unwrap();
        scene.succeeds(push("store", ""));
    }
}

/// A scene with one package that takes a while to copy, since it does not compress.
fn large() -> LayoutScene {
    let scene = LayoutScene::new(&[]);
    let noise = Dice::new(1).noise(LARGE);
    let files = [("terraform-provider-demo_v1.0.0", &noise[..])];
    let folder = ReleaseFolder::new("demo", "1.0.0").package("linux_amd64", &files);
    folder.write(&scene.path("dist"));
    scene
}

/// Sends the signal when the copy has just begun.
fn stop_a_copy(scene: &LayoutScene, signal: &str, line: &str) {
    let (calls, effect, nth) = (WRITE, &*format!("signal={signal}"), 12);
    let fault = Fault::new(calls, effect, nth, Threads::All);
    let (run, _) = tracer::run_line(scene, &fault, line);
    run.exits(130).says("error interrupted");
}

#[test]
fn while_copying_into_a_store() {
    if can_trace() {
        let scene = large();
        for signal in SIGNALS {
            scene.reset("store", None);
            stop_a_copy(&scene, signal, &push("store", ""));
            assert_eq!(scene.seen("store"), None);
            let left = scene.tree("store");
            let zip = left
                .values()
                .find(|(content, _)| content.as_ref().is_some_and(|bytes| bytes.len() > LARGE));
            assert!(zip.is_none(), "copied to the end");
            assert_eq!(unfinished(&left), Vec::<&std::path::Path>::new());
            scene.succeeds(push("store", ""));
            assert!(scene.seen("store").is_some());
        }
    }
}

#[test]
fn while_installing() {
    if can_trace() {
        let scene = large();
        scene.succeeds(push("store", ""));
        for form in ["--packed", "--unpacked"] {
            let install = install("mirror", form);
            scene.reset("mirror", None);
            stop_a_copy(&scene, "INT", &install);
            let left = scene.tree("mirror");
            let mut nodes = left.values();
            assert!(nodes.all(|(content, _)| content.as_ref().is_none_or(Vec::is_empty)));
            assert_eq!(unfinished(&left), Vec::<&std::path::Path>::new());
            scene.succeeds(&install);
        }
    }
}

/// Repeats a run and sends a signal at another of its renames each time. Signals at the last renames come too late, and the run finishes.
#[test]
fn signals_at_every_rename_leave_whole_versions_only() {
    if can_trace() {
        let victims = [
            Victim::pushing(LayoutScene::new(&PLATFORMS), None, ""),
            Victim::installing(LayoutScene::new(&PLATFORMS), "--unpacked"),
        ];
        for (victim, signal) in victims.iter().zip(SIGNALS) {
            let effect = &*format!("signal={signal}");
            for nth in 1.. {
                let (calls, threads) = (RENAME, Threads::All);
                let fault = Fault::new(calls, effect, nth, threads);
                let line = victim.prepare();
                let (run, log) = tracer::run_line(victim.scene(), &fault, &line);
                let ended = [Some(0), Some(130)].contains(&run.status);
                assert!(ended, "{nth}: {}", run.stderr);
                victim.cleaned_up();
                victim.judge();
                if !log.contains(&format!("--- SIG{signal} ")) {
                    break;
                }
                assert!(nth < ENDLESS);
            }
        }
    }
}
