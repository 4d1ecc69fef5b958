//! Signals to a run of the program: when a server has received a request, or when a line was printed.

use std::io::{BufRead as _, BufReader};
use std::process::{Child, ChildStderr, Command};
use std::sync::{Arc, Mutex};

/// A process that gets a signal from a server. Before it starts, it is unknown.
#[derive(Clone, Default)]
pub struct Target(Arc<Mutex<Option<u32>>>);

impl Target {
    /// Starts it. Signals wait until its id is known.
    pub fn start(&self, command: &mut Command) -> Child {
        let mut known = self.0.lock().unwrap();
        let child = command.spawn().unwrap();
        *known = Some(child.id());
        child
    }

    /// A function that sends it a signal.
    pub fn hit(&self, signal: &'static str) -> impl Fn() + Send + Sync + use<> {
        let target = self.clone();
        move || send(signal, target.0.lock().unwrap().unwrap())
    }
}

/// Sends a signal to a process.
pub fn send(signal: &str, process: u32) {
    let process = process.to_string();
    let sent = Command::new("kill").args(["-s", signal, &process]).status();
    assert!(sent.unwrap().success());
}

/// Waits until a process prints a text to stderr. Returns the lines after that.
#[track_caller]
pub fn until_said(child: &mut Child, text: &str) -> BufReader<ChildStderr> {
    let mut stderr = BufReader::new(child.stderr.take().unwrap());
    let mut line = String::new();
    while !line.contains(text) {
        line.clear();
        assert_ne!(stderr.read_line(&mut line).unwrap(), 0, "without {text:?}");
    }
    stderr
}
