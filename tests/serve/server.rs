//! `tfoci serve` as a process, until it is stopped or dropped.

use std::cell::Cell;
use std::fs::{self, File};
use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::{Child, ExitStatus};
use std::time::Instant;

use rustix::process::{Pid, Signal, kill_process};

use super::http::{Connection, Reply};
use crate::support::port;
use crate::support::scene::Scene;
use crate::support::tls::{Authority, Identity};
use crate::support::wait::{PATIENCE, glance, wait};

/// How often another process may take a free port before the server listens on it.
const ATTEMPTS: usize = 5;

/// A running server.
pub struct Server {
    child: Child,
    pub address: SocketAddr,
    log: PathBuf,
    has_tls: bool,
}

impl Server {
    /// Starts a server of a store that speaks plain HTTP, and waits until it listens.
    #[track_caller]
    pub fn plain(scene: &Scene, more: impl AsRef<str>) -> Self {
        Self::start(scene, more.as_ref(), false)
    }

    /// Starts a server that speaks TLS, with a certificate that [`Authority::shared`] signed.
    #[track_caller]
    pub fn tls(scene: &Scene, more: impl AsRef<str>) -> Self {
        Self::with_identity(scene, &Authority::shared().server(), more)
    }

    /// Starts a server that speaks TLS with this certificate.
    #[track_caller]
    pub fn with_identity(scene: &Scene, identity: &Identity, more: impl AsRef<str>) -> Self {
        let files: [PathBuf; 2] = identity.write(scene, "server").into();
        let [certificate, key] = files.each_ref().map(|path| path.display());
        let tls = format!("--tls-cert {certificate} --tls-key {key}");
        Self::start(scene, &format!("{} {tls}", more.as_ref()), true)
    }

    #[track_caller]
    fn start(scene: &Scene, more: &str, has_tls: bool) -> Self {
        for _ in 0..ATTEMPTS {
            if let Some(server) = Self::attempt(scene, free(), &[], more, has_tls) {
                return server;
            }
        }
        panic!("{more:?} does not start");
    }

    /// Starts a server that speaks plain HTTP at the former address of another one.
    #[track_caller]
    pub fn plain_at(scene: &Scene, address: SocketAddr, more: impl AsRef<str>) -> Self {
        let server = Self::attempt(scene, address, &[], more.as_ref(), false);
        server.unwrap_or_else(|| panic!("{address} is not free"))
    }

    /// Starts a server that speaks plain HTTP by another program, which executes it.
    #[track_caller]
    pub fn wrapped(scene: &Scene, wrapper: &[&str], more: &str) -> Self {
        let server = Self::attempt(scene, free(), wrapper, more, false);
        server.unwrap_or_else(|| panic!("{wrapper:?} {more:?} does not start"))
    }

    fn attempt(
        scene: &Scene,
        address: SocketAddr,
        wrapper: &[&str],
        more: &str,
        has_tls: bool,
    ) -> Option<Self> {
        let log = scene.path(format!("serve-{}.log", address.port()));
        let file = File::create(&log).unwrap();
        let listen = address.to_string();
        let more = more.replace("[SERVER]", &listen);
        let more = more.replace("[PORT]", &address.port().to_string());
        let tfoci = env!("CARGO_BIN_EXE_tfoci");
        let words = [wrapper, &[tfoci]].concat();
        let mut command = scene.command(words[0]);
        command
            .args(&words[1..])
            .args(["serve", "--listen", &listen])
            .args(more.split_whitespace().map(|w| w.replace("[SPACE]", " ")))
            .args((!has_tls).then_some("--plain-http"))
            .stdout(file.try_clone().unwrap())
            .stderr(file);
        let mut server = Self {
            child: command.spawn().unwrap(),
            address,
            log,
            has_tls,
        };
        let begun = Instant::now();
        while begun.elapsed() < PATIENCE {
            let log = server.log();
            if log.contains("Listening on") || log.contains("\"listening\"") {
                return Some(server);
            }
            if server.child.try_wait().unwrap().is_some() {
                assert!(server.log().contains("cannot listen"), "{}", server.log());
                return None;
            }
            glance(begun);
        }
        panic!("{}", server.log());
    }

    /// A new connection.
    pub fn connect(&self) -> Connection {
        match self.has_tls {
            true => Connection::tls(self.address),
            false => Connection::plain(self.address),
        }
    }

    /// `GET` on a new connection.
    #[track_caller]
    pub fn get(&self, target: &str) -> Reply {
        self.ask("GET", target, &[])
    }

    /// A request on a new connection.
    #[track_caller]
    pub fn ask(&self, method: &str, target: &str, headers: &[(&str, &str)]) -> Reply {
        let mut connection = self.connect();
        let close = ("Connection", "close");
        connection.request(method, target, &[headers, &[close]].concat());
        let reply = connection.reply(method);
        reply.unwrap_or_else(|| panic!("{method} {target} has no answer\n{}", self.log()))
    }

    /// Repeats a request until the answer is as expected.
    #[track_caller]
    pub fn until(&self, target: &str, is_expected: impl Fn(&Reply) -> bool) -> Reply {
        let last = Cell::new(None);
        wait(
            || {
                let reply = self.get(target);
                let is_there = is_expected(&reply);
                last.set(Some(reply));
                is_there
            },
            || format!("{target}\n{}", self.log()),
        );
        last.take().unwrap()
    }

    /// The output so far.
    pub fn log(&self) -> String {
        String::from_utf8(fs::read(&self.log).unwrap()).unwrap()
    }

    /// Waits until a text was printed.
    #[track_caller]
    pub fn logs(&self, text: &str) {
        let otherwise = || format!("{text}\n{}", self.log());
        wait(|| self.log().contains(text), otherwise);
    }

    /// Waits until a line of the log has these words in their order, and any others between them.
    #[track_caller]
    pub fn logs_words(&self, words: &str) {
        let otherwise = || format!("{words}\n{}", self.log());
        wait(|| self.count_words(words) > 0, otherwise);
    }

    /// The number of lines of the log that have these words in their order.
    pub fn count_words(&self, words: &str) -> usize {
        lines_with(&self.log(), words)
    }

    /// The value of a metric without labels.
    #[track_caller]
    pub fn metric(&self, name: &str) -> usize {
        let metrics = self.get("/metrics").is(200).text();
        let start = format!("tfoci_{name} ");
        let value = metrics.lines().find_map(|line| line.strip_prefix(&start));
        value.expect(&metrics).parse().unwrap()
    }

    /// A file of the process in `/proc`.
    pub fn proc(&self, name: &str) -> PathBuf {
        PathBuf::from(format!("/proc/{}/{name}", self.child.id()))
    }

    /// Sends a signal.
    pub fn signal(&self, signal: Signal) {
        kill_process(Pid::from_child(&self.child), signal).unwrap();
    }

    /// Waits for the end of the process.
    #[track_caller]
    pub fn wait(&mut self) -> ExitStatus {
        let mut status = None;
        let (child, log) = (&mut self.child, &self.log);
        wait(
            || {
                status = child.try_wait().unwrap();
                status.is_some()
            },
            || fs::read_to_string(log).unwrap(),
        );
        status.unwrap()
    }

    /// Stops it by SIGTERM, which exits with 0, and returns its output.
    #[track_caller]
    pub fn stop(mut self) -> String {
        self.signal(Signal::TERM);
        let status = self.wait();
        assert_eq!(status.code(), Some(0), "{}", self.log());
        self.log()
    }
}

/// The number of lines that have these words in their order, and any others between them.
pub fn lines_with(text: &str, words: &str) -> usize {
    text.lines().filter(|line| has_words(line, words)).count()
}

/// Whether a text has these words in their order, and any others between them.
pub fn has_words(text: &str, words: &str) -> bool {
    let mut rest = text;
    words.split(' ').all(|word| {
        let found = rest.split_once(word);
        rest = found.map_or("", |(_, after)| after);
        found.is_some()
    })
}

/// An address without a listener.
fn free() -> SocketAddr {
    SocketAddr::from(([127, 0, 0, 1], port::unused()))
}

impl Drop for Server {
    fn drop(&mut self) {
        let _gone = self.child.kill();
        let _status = self.child.wait();
    }
}
