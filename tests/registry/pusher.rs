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
        let release = platforms
            .iter()
            .fold(release, |release, platform| release.platform(platform));
        release.write(&self.scene.path(folder));
    }

    /// Pushes `dist`.
    pub fn push(&self, registry: &Registry, more: &[&str]) -> Run {
        self.push_from("dist", registry, more)
    }

    pub fn push_from(&self, folder: &str, registry: &Registry, more: &[&str]) -> Run {
        let arguments = ["push", folder, "--key", "acme.asc", "--provider", NAME];
        self.run(registry, &[&arguments, more].concat(), "--to")
    }

    /// Runs any command that knows a store by `option`.
    pub fn run(&self, registry: &Registry, arguments: &[&str], option: &str) -> Run {
        let place = self.place(registry, option);
        let arguments = arguments.iter().map(|text| (*text).to_owned());
        let run = self.scene.tfoci(arguments.chain(place));
        // Each registry has another port.
        let shown = |text: String| text.replace(registry.host(), "HOST");
        Run {
            stdout: shown(run.stdout),
            stderr: shown(run.stderr),
            ..run
        }
    }

    /// A push of `dist` that is not waited for.
    pub fn command(&self, registry: &Registry, more: &[&str]) -> Command {
        self.command_from("dist", registry, more)
    }

    pub fn command_from(&self, folder: &str, registry: &Registry, more: &[&str]) -> Command {
        let mut command = self.scene.command(env!("CARGO_BIN_EXE_tfoci"));
        command
            .args(["push", folder, "--key", "acme.asc", "--provider", NAME])
            .args(self.place(registry, "--to"))
            .args(more)
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        command
    }

    /// The arguments that name a registry, and the password for it. Its token server and its storage have ports of their own.
    fn place(&self, registry: &Registry, option: &str) -> Vec<String> {
        self.scene.write("auth.json", registry.authfile());
        let store = format!("{}/{{namespace}}/{{type}}", registry.host());
        let place = [
            option,
            &store,
            "--plain-http",
            "127.0.0.1",
            "--authfile",
            "auth.json",
        ];
        place.map(str::to_owned).to_vec()
    }
}
