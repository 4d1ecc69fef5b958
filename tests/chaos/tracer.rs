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

/// More calls of one kind than any of these runs makes. A loop that reaches it would not end.
pub const ENDLESS: usize = 200;

/// The threads whose calls are counted. `strace` counts the calls of each thread separately, so both values are needed to reach every
/// call: with [`Threads::All`], the first thread that makes its Nth call hides the Nth calls of the others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Threads {
    First,
    All,
}

/// A fault of a program at a system call.
#[derive(Clone, Copy, Debug)]
pub struct Fault<'a> {
    /// The kinds of calls.
    pub calls: &'a str,
    /// The effect, in the syntax of `strace`: `signal=KILL`, `error=EIO`.
    pub effect: &'a str,
    /// The number of the call, from 1.
    pub nth: usize,
    /// The threads whose calls are counted.
    pub threads: Threads,
}

/// Runs `tfoci` with a fault. The second value is the log of the calls, one per line, with the paths of open files.
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
