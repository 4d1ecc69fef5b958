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

impl<'a> Fault<'a> {
    pub fn new(calls: &'a str, effect: &'a str, nth: usize, threads: Threads) -> Self {
        Self {
            calls,
            effect,
            nth,
            threads,
        }
    }
}

/// Runs `tfoci` with a fault. The second value is the log of the calls, one per line, with the paths of open files.
pub fn run<A: AsRef<str>>(scene: &Scene, fault: &Fault<'_>, arguments: &[A]) -> (Run, String) {
    let (log, calls) = (scene.path("calls.log"), fault.calls);
    let trace = format!("--trace={calls}");
    let inject = format!("--inject={calls}:{}:when={}", fault.effect, fault.nth);
    let strace = ["-y", "-qq", "-o", log.to_str().unwrap(), &trace, &inject].into_iter();
    let follow = (fault.threads == Threads::All).then_some("-f");
    let strace = strace.chain(follow).chain([env!("CARGO_BIN_EXE_tfoci")]);
    let run = scene.run("strace", strace.chain(arguments.iter().map(AsRef::as_ref)));
    (run, fs::read_to_string(log).unwrap())
}

/// The same with the words of a line.
pub fn run_line(scene: &Scene, fault: &Fault<'_>, line: &str) -> (Run, String) {
    let words: Vec<&str> = line.split_whitespace().collect();
    run(scene, fault, &words)
}
