use std::process::{Command, Stdio};

use crate::support::registry::Registry;
use crate::support::release::ReleaseFolder;
use crate::support::scene::{Run, Scene};
use crate::support::signer::Signer;

/// The repository that is pushed to, and the provider.
pub const NAME: &str = "acme/demo";

/// A home with the release `demo` 1.0.0 in `dist`, and its author's key.
pub struct Pusher {
    pub scene: Scene,
}

impl Pusher {
    pub fn new(platforms: &[&str]) -> Self {
        let scene = Scene::new().env("TOKIO_WORKER_THREADS", "1");
        scene.write("acme.asc", Signer::acme().public_armored());
        let pusher = Self { scene };
        pusher.release("dist", "1.0.0", platforms);
        pusher
    }

    /// Writes a release of `demo`.
    pub fn release(&self, folder: &str, version: &str, platforms: &[&str]) {
        let release = ReleaseFolder::new("demo", version);
        let release = platforms.iter().fold(release, |all, one| all.platform(one));
        release.write(&self.scene.path(folder));
    }

    /// Pushes `dist`.
    pub fn push(&self, registry: &Registry, more: &str) -> Run {
        self.push_from("dist", registry, more)
    }

    pub fn push_from(&self, folder: &str, registry: &Registry, more: &str) -> Run {
        self.run(registry, &push(folder, more))
    }

    /// Runs a command, in which `STORE` stands for a registry.
    pub fn run(&self, registry: &Registry, line: &str) -> Run {
        let run = self.scene.line(self.words(registry, line));
        // Each registry has another port.
        let shown = |text: String| text.replace(registry.host(), "HOST");
        Run {
            stdout: shown(run.stdout),
            stderr: shown(run.stderr),
            ..run
        }
    }

    /// A push that is not waited for.
    pub fn command(&self, folder: &str, registry: &Registry, more: &str) -> Command {
        let words = self.words(registry, &push(folder, more));
        let mut command = self.scene.command(env!("CARGO_BIN_EXE_tfoci"));
        command.args(words.split_whitespace());
        command.stdout(Stdio::null()).stderr(Stdio::null());
        command
    }

    /// A command with the password of a registry. Its token server and its storage have ports of their own.
    fn words(&self, registry: &Registry, line: &str) -> String {
        self.scene.write("auth.json", registry.authfile());
        let store = format!("{}/{{namespace}}/{{type}}", registry.host());
        let line = line.replace("STORE", &store);
        format!("{line} --plain-http 127.0.0.1 --authfile auth.json")
    }
}

fn push(folder: &str, more: &str) -> String {
    format!("push {folder} --key acme.asc --provider {NAME} --to STORE {more}")
}
