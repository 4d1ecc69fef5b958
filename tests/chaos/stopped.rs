use std::fs::File;
use std::io::{BufRead as _, BufReader, Read as _};
use std::process::{Command, Stdio};

use super::layout_scene::{LayoutScene, PLATFORMS, PROVIDER, unfinished};
use super::tracer::{self, ENDLESS, Fault, RENAME, Threads, WRITE};
use super::victim::Victim;
use crate::support::programs::can_trace;
use crate::support::release::ReleaseFolder;

const SIGNALS: [&str; 2] = ["INT", "TERM"];
/// Large enough for a signal to be handled long before the end: a copy checks for signals every 8 MiB.
const LARGE: usize = 48 << 20;

#[test]
fn while_waiting_for_a_lock() {
    for signal in SIGNALS {
        let scene = LayoutScene::new(&PLATFORMS);
        scene.succeeds(&LayoutScene::push("store", &["--platform", "linux_amd64"]));
        let before = scene.tree("store");
        let path = scene.path(format!("store/{PROVIDER}/.tfoci.lock"));
        let lock = File::options().write(true).open(path).unwrap();
        lock.lock().unwrap();
        let mut push = scene.command(env!("CARGO_BIN_EXE_tfoci"));
        push.args(LayoutScene::push("store", &["--format", "json"]));
        push.stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut push = push.spawn().unwrap();
        let mut stderr = BufReader::new(push.stderr.take().unwrap());
        let mut line = String::new();
        while !line.contains("Waiting") {
            line.clear();
            assert_ne!(stderr.read_line(&mut line).unwrap(), 0);
        }
        let kill = Command::new("kill")
            .args(["-s", signal, &push.id().to_string()])
            .status();
        assert!(kill.unwrap().success());
        let mut rest = String::new();
        stderr.read_to_string(&mut rest).unwrap();
        assert!(rest.starts_with("error: interrupted\n"), "{rest}");
        let document: serde_json::Value =
            serde_json::from_reader(push.stdout.take().unwrap()).unwrap();
        assert_eq!(
            document,
            serde_json::json!({
                "schema": 1,
                "providers": [],
                "bytes": 0,
                "requests": 0,
                "error": {"category": "interrupted", "message": "interrupted"},
            })
        );
        assert_eq!(push.wait().unwrap().code(), Some(130));
        assert!(scene.tree("store") == before);
        lock.unlock().unwrap();
        scene.succeeds(&LayoutScene::push("store", &[]));
    }
}

/// A scene with one package that takes a while to copy, since it does not compress.
fn large() -> LayoutScene {
    let scene = LayoutScene::new(&[]);
    let mut state = 1_u64;
    let words = std::iter::repeat_with(|| {
        // Xorshift: each bit depends on all of those before.
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state.to_le_bytes()
    });
    let noise: Vec<u8> = words.take(LARGE / 8).flatten().collect();
    ReleaseFolder::new("demo", "1.0.0")
        .package("linux_amd64", &[("terraform-provider-demo_v1.0.0", &noise)])
        .write(&scene.path("dist"));
    scene
}

/// Sends the signal when the copy has just begun.
fn stop_a_copy(scene: &LayoutScene, signal: &str, arguments: &[String]) {
    let effect = format!("signal={signal}");
    let fault = Fault {
        calls: WRITE,
        effect: &effect,
        nth: 12,
        threads: Threads::All,
    };
    let (run, _) = tracer::run(&scene.scene, &fault, arguments);
    run.exits(130).says("error interrupted");
}

#[test]
fn while_copying_into_a_store() {
    if can_trace() {
        let scene = large();
        for signal in SIGNALS {
            scene.reset("store", None);
            stop_a_copy(&scene, signal, &LayoutScene::push("store", &[]));
            assert_eq!(scene.seen("store"), None);
            let left = scene.tree("store");
            let zip = left
                .values()
                .find(|(content, _)| content.as_ref().is_some_and(|bytes| bytes.len() > LARGE));
            assert!(zip.is_none(), "copied to the end");
            assert_eq!(unfinished(&left), Vec::<&std::path::Path>::new());
            scene.succeeds(&LayoutScene::push("store", &[]));
            assert!(scene.seen("store").is_some());
        }
    }
}

#[test]
fn while_installing() {
    if can_trace() {
        let scene = large();
        scene.succeeds(&LayoutScene::push("store", &[]));
        for form in ["--packed", "--unpacked"] {
            let install = LayoutScene::install("mirror", &[form]);
            scene.reset("mirror", None);
            stop_a_copy(&scene, "INT", &install);
            let left = scene.tree("mirror");
            assert!(
                left.values()
                    .all(|(content, _)| content.as_ref().is_none_or(Vec::is_empty))
            );
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
            Victim::pushing(LayoutScene::new(&PLATFORMS), None, &[]),
            Victim::installing(LayoutScene::new(&PLATFORMS), "--unpacked"),
        ];
        for (victim, signal) in victims.iter().zip(SIGNALS) {
            let effect = format!("signal={signal}");
            let mut nth = 1;
            loop {
                let fault = Fault {
                    calls: RENAME,
                    effect: &effect,
                    nth,
                    threads: Threads::All,
                };
                let arguments = victim.prepare();
                let (run, log) = tracer::run(victim.scene(), &fault, &arguments);
                assert!(
                    [Some(0), Some(130)].contains(&run.status),
                    "{nth}: {}",
                    run.stderr
                );
                victim.cleaned_up();
                victim.judge();
                if !log.contains(&format!("--- SIG{signal} ")) {
                    break;
                }
                nth += 1;
                assert!(nth < ENDLESS);
            }
        }
    }
}
