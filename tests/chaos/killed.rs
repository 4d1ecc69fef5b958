use std::collections::BTreeSet;

use super::layout_scene::{LayoutScene, PLATFORMS, PROVIDER, copy, push};
use super::tracer::{
    self, ENDLESS, FDATASYNC, FSYNC, Fault, LINK, MKDIR, REMOVE, RENAME, Threads, WRITE,
};
use super::victim::{PLACE, Victim};
use crate::support::author::another_build;
use crate::support::dice::Dice;
use crate::support::programs::can_trace;
use crate::support::release::ReleaseFolder;
use crate::support::tofu_client;

/// Repeats a run and kills it before another of its system calls each time. Calls that open files are left out: after a kill there, the
/// disk is as it is before the next write.
fn kill_at_every(calls: &[&str], victim: &Victim) {
    for calls in calls {
        for threads in [Threads::First, Threads::All] {
            let effect = "signal=KILL";
            let killed = (1..ENDLESS).take_while(|&nth| {
                let fault = Fault::new(calls, effect, nth, threads);
                is_killed(victim, &fault)
            });
            let count = killed.count();
            assert_ne!(count, ENDLESS - 1, "{calls} {threads:?}");
            assert!(count > 0 || threads == Threads::First, "no {calls} at all");
        }
    }
}

/// Whether the run made its Nth call and was killed there. What it left behind is then checked.
fn is_killed(victim: &Victim, fault: &Fault<'_>) -> bool {
    let line = victim.prepare();
    let (run, log) = tracer::run_line(victim.scene(), fault, &line);
    if run.status == Some(0) {
        return false;
    }
    assert_eq!(run.status, None, "{}", run.stderr);
    let last: Vec<_> = log.lines().rev().take(4).collect();
    eprintln!("{fault:?}\n{}", last.join("\n"));
    victim.judge();
    true
}

#[test]
fn while_pushing() {
    if can_trace() {
        let victim = Victim::pushing(LayoutScene::new(&PLATFORMS), None, "");
        kill_at_every(&[WRITE, RENAME, FDATASYNC, FSYNC, MKDIR], &victim);
    }
}

#[test]
fn while_adding_a_platform() {
    if can_trace() {
        let scene = LayoutScene::new(&PLATFORMS);
        scene.succeeds(push("before", "--platform linux_amd64"));
        let victim = Victim::pushing(scene, Some("before"), "");
        kill_at_every(&[WRITE, RENAME, FDATASYNC, FSYNC], &victim);
    }
}

#[test]
fn while_replacing() {
    if can_trace() {
        let scene = LayoutScene::new(&PLATFORMS);
        another_build().write(&scene.path("other"));
        scene.succeeds(push("before", "").replace("push dist", "push other"));
        let victim = Victim::pushing(scene, Some("before"), "--existing replace");
        kill_at_every(&[WRITE, RENAME, FSYNC, REMOVE], &victim);
    }
}

#[test]
fn while_copying() {
    if can_trace() {
        let victim = Victim::copying(LayoutScene::new(&PLATFORMS), None);
        kill_at_every(&[WRITE, RENAME, LINK, FDATASYNC, FSYNC, MKDIR], &victim);
    }
}

#[test]
fn while_copying_a_platform_more() {
    if can_trace() {
        let scene = LayoutScene::new(&PLATFORMS);
        scene.succeeds(push("before", "--platform linux_amd64"));
        let victim = Victim::copying(scene, Some("before"));
        kill_at_every(&[WRITE, RENAME, LINK, FSYNC], &victim);
    }
}

#[test]
fn while_copying_many_versions() {
    const VERSIONS: usize = 20;
    if !can_trace() {
        return;
    }
    let scene = LayoutScene::new(&PLATFORMS);
    for minor in 0..VERSIONS {
        scene.reset("dist", None);
        let release = ReleaseFolder::new("demo", &format!("1.{minor}.0"));
        release.platform("linux_amd64").write(&scene.path("dist"));
        scene.succeeds(push("store", ""));
    }
    let (calls, effect, threads) = (RENAME, "signal=KILL", Threads::All);
    let run = |to, nth| {
        let fault = Fault::new(calls, effect, nth, threads);
        let copy = copy(to).replace("--jobs 1", "--jobs 4");
        tracer::run_line(&scene, &fault, &copy)
    };
    let (_, renames) = run("undisturbed", 100 * VERSIONS);
    // Versions that are ready at the same time are one write.
    let writes = renames.matches("/index.json\"").count();
    assert!((1..VERSIONS / 2).contains(&writes), "{writes}");
    let whole = scene.tree("undisturbed");
    let layout = scene.path(PLACE).join(PROVIDER);
    let mut counts = BTreeSet::new();
    let mut dice = Dice::new(37);
    for _ in 0..12 {
        scene.reset(PLACE, None);
        let nth = dice.roll(4 * VERSIONS) + 1;
        run(PLACE, nth);
        let versions = tofu_client::versions(&layout).unwrap_or_default();
        let others = tofu_client::ignored(&layout).unwrap_or_default();
        counts.insert(versions.len());
        for version in versions {
            tofu_client::install(&layout, &version, "linux", "amd64").unwrap();
            let evidence = format!("evidence-{version}");
            assert!(others.iter().any(|(tag, _)| *tag == evidence), "{nth}");
        }
        scene.succeeds(copy(PLACE));
        assert!(scene.tree(PLACE) == whole, "{nth}");
    }
    let mut some = counts.iter().filter(|count| (1..VERSIONS).contains(*count));
    assert!(some.next().is_some(), "{counts:?}");
}

#[test]
fn while_installing_zips() {
    if can_trace() {
        let victim = Victim::installing(LayoutScene::new(&PLATFORMS), "--packed");
        kill_at_every(&[WRITE, RENAME, MKDIR], &victim);
    }
}

#[test]
fn while_writing_a_site() {
    if can_trace() {
        let victim = Victim::writing_a_site(LayoutScene::new(&PLATFORMS));
        kill_at_every(&[WRITE, RENAME, LINK, MKDIR], &victim);
    }
}

#[test]
fn while_installing_directories() {
    if can_trace() {
        let victim = Victim::installing(LayoutScene::new(&PLATFORMS), "--unpacked");
        kill_at_every(&[WRITE, RENAME, MKDIR, REMOVE], &victim);
    }
}
