use std::fs::{self, File};
use std::path::PathBuf;
use std::process::Command;

use super::layout_scene::{LayoutScene, PLATFORMS, push};
use super::tracer::{self, ENDLESS, FDATASYNC, FSYNC, Fault, MKDIR, OPEN, RENAME, Threads};
use super::victim::{PLACE, Victim};
use crate::support::programs::{can_run, can_trace};
use crate::support::scene::Run;

/// Without `write`: the async runtime fails if it cannot write to its own pipes.
const FULL: [(&str, &str); 3] = [
    (OPEN, "error=ENOSPC"),
    (MKDIR, "error=ENOSPC"),
    (RENAME, "error=ENOSPC"),
];
const BROKEN: [(&str, &str); 2] = [(FDATASYNC, "error=EIO"), (FSYNC, "error=EIO")];

/// Repeats a run and lets another of its system calls fail each time.
fn fail_at_every(faults: &[(&str, &str)], victim: &Victim) {
    for (calls, effect) in faults {
        for threads in [Threads::First, Threads::All] {
            let failed = (1..ENDLESS).take_while(|&nth| {
                let fault = Fault::new(calls, effect, nth, threads);
                has_failed(victim, &fault)
            });
            assert_ne!(failed.count(), ENDLESS - 1, "{calls} {threads:?}");
        }
    }
}

/// Whether the run made its Nth call, which failed. If the call would have changed the victim's directory, the result is checked.
fn has_failed(victim: &Victim, fault: &Fault<'_>) -> bool {
    let line = victim.prepare();
    let (run, log) = tracer::run_line(victim.scene(), fault, &line);
    let hits = log.lines().filter(|line| line.contains("(INJECTED)"));
    let hits: Vec<&str> = hits.collect();
    let changes = |line: &&str| {
        line.contains(&format!("{PLACE}/")) && (fault.calls != OPEN || line.contains("O_CREAT"))
    };
    if !hits.iter().any(changes) {
        return !hits.is_empty();
    }
    eprintln!("{fault:?}\n{}\n{}", hits.join("\n"), run.stderr);
    // A failing `mkdir` is how the program finds out that a directory exists.
    if run.status != Some(0) {
        says_why(run);
    }
    victim.cleaned_up();
    victim.judge();
    true
}

#[track_caller]
fn says_why(run: Run) {
    let run = run.exits(1);
    let error = run.stderr.split_once("error: ").unwrap().1;
    let error = error.split_once(": cannot ").unwrap().1;
    let (what, cause) = error.split_once("\n  ").unwrap();
    assert!(what.contains(PLACE), "names the file");
    let cause = cause.lines().next().unwrap();
    let causes = ["(os error 28)", "(os error 5)"];
    assert!(causes.iter().any(|code| cause.contains(code)), "says why");
    assert_eq!(run.stdout, "");
}

/// A file system in memory, mounted while this lives.
struct Mounted(PathBuf);

impl Mounted {
    /// Returns `None` if the system does not permit mounts.
    #[track_caller]
    fn over(path: PathBuf) -> Option<Self> {
        let options = ["-t", "tmpfs", "-o", "mode=755", "tmpfs"];
        let mount = [&options[..], &[path.to_str().unwrap()]].concat();
        can_run("mount", &mount).then_some(Self(path))
    }

    /// Limits it to some pages of content, and some files and directories.
    fn limit(&self, pages: usize, files: usize) {
        let options = format!("remount,size={},nr_inodes={files}", pages * 4096);
        let mut mount = Command::new("mount");
        let mounted = mount.args(["-o", &options]).arg(&self.0).status();
        assert!(mounted.unwrap().success());
    }
}

impl Drop for Mounted {
    fn drop(&mut self) {
        // Unmounts lazily: a process that another test has just started may still hold an inherited file open.
        let unmounted = Command::new("umount").arg("--lazy").arg(&self.0).status();
        assert!(unmounted.unwrap().success() || std::thread::panicking());
    }
}

/// Runs on larger and larger disks until one is large enough. After each failure, the limit is lifted and the next run finishes.
fn fill(victim: &Victim, limit: impl Fn(&Mounted, usize)) {
    for size in 1..ENDLESS {
        let line = victim.prepare();
        let scene = victim.scene();
        fs::create_dir_all(scene.path(PLACE)).unwrap();
        let Some(disk) = Mounted::over(scene.path(PLACE)) else {
            return;
        };
        limit(&disk, size);
        let run = scene.line(&line);
        if run.status == Some(0) {
            assert!(size > 1, "nothing was too small");
            return;
        }
        says_why(run);
        victim.shows_nothing_half_done();
        victim.cleaned_up();
        disk.limit(ENDLESS, ENDLESS);
        victim.finishes();
    }
    panic!("never enough");
}

#[test]
fn a_full_disk_leaves_whole_versions_only() {
    let victims = [
        Victim::pushing(LayoutScene::new(&PLATFORMS), None, ""),
        Victim::installing(LayoutScene::new(&PLATFORMS), "--packed"),
        Victim::installing(LayoutScene::new(&PLATFORMS), "--unpacked"),
    ];
    for victim in &victims {
        // Every file takes at least one page, and each of these runs needs more than one.
        fill(victim, |disk, pages| disk.limit(pages, ENDLESS));
        fill(victim, |disk, files| disk.limit(ENDLESS, files + 1));
    }
}

#[test]
fn while_pushing() {
    if can_trace() {
        let victim = Victim::pushing(LayoutScene::new(&PLATFORMS), None, "");
        fail_at_every(&FULL, &victim);
        fail_at_every(&BROKEN, &victim);
    }
}

#[test]
fn while_adding_a_platform() {
    if can_trace() {
        let scene = LayoutScene::new(&PLATFORMS);
        scene.succeeds(push("before", "--platform linux_amd64"));
        let victim = Victim::pushing(scene, Some("before"), "");
        fail_at_every(&[FULL[2], BROKEN[0]], &victim);
    }
}

#[test]
fn while_installing() {
    if can_trace() {
        for form in ["--packed", "--unpacked"] {
            let victim = Victim::installing(LayoutScene::new(&PLATFORMS), form);
            fail_at_every(&FULL, &victim);
        }
    }
}

/// If stdout is full, the command fails although its work is done.
#[test]
fn a_full_stdout_fails_the_command_after_its_work() {
    let scene = LayoutScene::new(&PLATFORMS);
    for format in ["text", "json"] {
        let mut push = scene.piped(push("store", &format!("--format {format}")));
        push.stdout(File::create("/dev/full").unwrap());
        let output = push.output().unwrap();
        let stderr = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(1), "{stderr}");
        assert!(stderr.contains("stdout"), "{stderr}");
        assert!(stderr.contains("(os error 28)"), "{stderr}");
        assert!(scene.seen("store").is_some());
    }
}
