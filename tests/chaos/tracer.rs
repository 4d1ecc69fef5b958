use std::fs;

use crate::support::scene::{Run, Scene};

/// Calls of one kind have one name on each machine; the others of their family are listed for the rest.
pub const WRITE: &str = "write";
pub const RENAME: &str = "?rename,renameat,?renameat2";
pub const LINK: &str = "?link,linkat";
pub const MKDIR: &str = "?mkdir,mkdirat";
pub const REMOVE: &str = "?unlink,unlinkat,?rmdir";
pub const OPEN: &str = "openat";
pub const FSYNC: &str = "fsync";
pub const FDATASYNC: &str = "fdatasync";

/// More calls of one kind than any run here makes: a loop that gets there would not end.
pub const ENDLESS: usize = 200;

/// Whose calls are counted. The system counts those of each thread apart, so to reach every call of a program both are needed: in
/// [`Threads::All`] whichever thread is the first to make its Nth call hides the others' Nth.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Threads {
    First,
    All,
}

/// Something that happens to a program at a system call.
#[derive(Clone, Copy, Debug)]
pub struct Fault<'a> {
    /// At which calls.
    pub calls: &'a str,
    /// What happens, as `strace` spells it: `signal=KILL`, `error=EIO`.
    pub effect: &'a str,
    /// At which of them, from 1.
    pub nth: usize,
    /// Counted over whom.
    pub threads: Threads,
}

/// Runs `tfoci` with a fault. The second value is the log of the calls, one in a line, with the paths of open files.
pub fn run(scene: &Scene, fault: &Fault<'_>, arguments: &[String]) -> (Run, String) {
    let Fault {
        calls,
        effect,
        nth,
        threads,
    } = fault;
    let log = scene.path("calls.log");
    let mut all: Vec<String> = ["-y", "-qq", "-o", log.to_str().unwrap()]
        .map(str::to_owned)
        .into();
    all.extend((*threads == Threads::All).then(|| "-f".to_owned()));
    all.extend([
        format!("--trace={calls}"),
        format!("--inject={calls}:{effect}:when={nth}"),
        env!("CARGO_BIN_EXE_tfoci").to_owned(),
    ]);
    all.extend_from_slice(arguments);
    let run = scene.run("strace", all);
    (run, fs::read_to_string(log).unwrap())
}
