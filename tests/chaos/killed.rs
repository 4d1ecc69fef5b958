use super::layout_scene::{LayoutScene, PLATFORMS};
use super::tracer::{
    self, ENDLESS, FDATASYNC, FSYNC, Fault, LINK, MKDIR, REMOVE, RENAME, Threads, WRITE,
};
use super::victim::Victim;
use crate::support::programs::can_trace;
use crate::support::release::ReleaseFolder;

/// Repeats a run and kills it before another of its system calls each time. Calls that open files are left out: after a kill there, the
/// disk is as it is before the next write.
fn kill_at_every(calls: &[&str], victim: &Victim) {
    for calls in calls {
        for threads in [Threads::First, Threads::All] {
            let effect = "signal=KILL";
            let killed = (1..ENDLESS).take_while(|&nth| {
                is_killed(
                    victim,
                    &Fault {
                        calls,
                        effect,
                        nth,
                        threads,
                    },
                )
            });
            let count = killed.count();
            assert_ne!(count, ENDLESS - 1, "{calls} {threads:?}");
            assert!(count > 0 || threads == Threads::First, "no {calls} at all");
        }
    }
}

/// Whether the run made its Nth call and was killed there. What it left behind is then checked.
fn is_killed(victim: &Victim, fault: &Fault<'_>) -> bool {
    let arguments = victim.prepare();
    let (run, log) = tracer::run(victim.scene(), fault, &arguments);
    if run.status == Some(0) {
        return false;
    }
    assert_eq!(run.status, None, "{}", run.stderr);
    eprintln!(
        "{fault:?}\n{}",
        log.lines().rev().take(4).collect::<Vec<_>>().join("\n")
    );
    victim.judge();
    true
}

#[test]
fn while_pushing() {
    if can_trace() {
        let victim = Victim::pushing(LayoutScene::new(&PLATFORMS), None, &[]);
        kill_at_every(&[WRITE, RENAME, FDATASYNC, FSYNC, MKDIR], &victim);
    }
}

#[test]
fn while_adding_a_platform() {
    if can_trace() {
        let scene = LayoutScene::new(&PLATFORMS);
        scene.succeeds(&LayoutScene::push("before", &["--platform", "linux_amd64"]));
        let victim = Victim::pushing(scene, Some("before"), &[]);
        kill_at_every(&[WRITE, RENAME, FDATASYNC, FSYNC], &victim);
    }
}

#[test]
fn while_replacing() {
    if can_trace() {
        let scene = LayoutScene::new(&PLATFORMS);
        let executable = (
            "terraform-provider-demo_v1.0.0",
            b"another build".as_slice(),
        );
        ReleaseFolder::new("demo", "1.0.0")
            .package("linux_amd64", &[executable])
            .write(&scene.path("other"));
        scene
            .tfoci(
                LayoutScene::push("before", &[])
                    .iter()
                    .map(|argument| match &**argument {
                        "dist" => "other",
                        argument => argument,
                    }),
            )
            .succeeds();
        let victim = Victim::pushing(scene, Some("before"), &["--existing", "replace"]);
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
        scene.succeeds(&LayoutScene::push("before", &["--platform", "linux_amd64"]));
        let victim = Victim::copying(scene, Some("before"));
        kill_at_every(&[WRITE, RENAME, LINK, FSYNC], &victim);
    }
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
