//! A scene to run the program in: its own home directory, an almost empty environment, and captured output.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use tempfile::TempDir;

use super::hints;
use super::registry::access::{IDENTITY, PASSWORD};

const AUTHORITY: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/testdata/authority.pem");

/// A temporary home directory, which is also the working directory. It is removed with the scene.
pub struct Scene {
    home: TempDir,
    env: Vec<(String, String)>,
}

/// The result of a program.
#[derive(Debug)]
pub struct Run {
    /// The exit code; `None` if a signal ended it.
    pub status: Option<i32>,
    /// Its stdout, with the scene's directory as `[TMP]`.
    pub stdout: String,
    /// Its stderr, with the scene's directory as `[TMP]`.
    pub stderr: String,
}

impl Scene {
    pub fn new() -> Self {
        Self {
            home: TempDir::new().unwrap(),
            // Reading the authorities of the machine takes a third of a short command. No server of the tests has their certificates.
            env: [("SSL_CERT_FILE", AUTHORITY), ("SSL_CERT_DIR", "")]
                .map(|(name, value)| (name.to_owned(), value.to_owned()))
                .into(),
        }
    }

    /// Sets a variable for the programs that run from now on.
    pub fn env(mut self, name: &str, value: &str) -> Self {
        self.env.push((name.to_owned(), value.to_owned()));
        self
    }

    /// Sets a variable, unless [`Scene::env`] does.
    pub fn env_by_default(mut self, name: &str, value: &str) -> Self {
        self.env.insert(0, (name.to_owned(), value.to_owned()));
        self
    }

    /// Removes a variable.
    pub fn remove_env(&mut self, name: &str) {
        self.env.retain(|(known, _)| known != name);
    }

    /// A path in the scene.
    pub fn path(&self, relative: impl AsRef<Path>) -> PathBuf {
        self.home.path().join(relative)
    }

    /// Writes a file, and the directories above it.
    pub fn write(&self, relative: impl AsRef<Path>, content: impl AsRef<[u8]>) -> PathBuf {
        let path = self.path(relative);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, content).unwrap();
        path
    }

    /// Runs `tfoci`.
    #[track_caller]
    pub fn tfoci<A: AsRef<OsStr>>(&self, arguments: impl IntoIterator<Item = A>) -> Run {
        let arguments: Vec<A> = arguments.into_iter().collect();
        let run = self.run(env!("CARGO_BIN_EXE_tfoci"), &arguments);
        hints::check(&arguments, &run.stderr);
        run
    }

    /// Runs `tfoci` with the words of a line.
    #[track_caller]
    pub fn line(&self, line: impl AsRef<str>) -> Run {
        self.tfoci(line.as_ref().split_whitespace())
    }

    /// Runs `oci-push`.
    pub fn oci_push<A: AsRef<OsStr>>(&self, arguments: impl IntoIterator<Item = A>) -> Run {
        self.run(env!("CARGO_BIN_EXE_oci-push"), arguments)
    }

    /// A program in the scene's environment, for tests that do more than wait until it exits.
    pub fn command(&self, program: impl AsRef<OsStr>) -> Command {
        let mut command = Command::new(self.found(program.as_ref()));
        command
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("HOME", self.home.path())
            .envs(self.env.iter().map(|(name, value)| (name, value)))
            .current_dir(self.home.path())
            .stdin(Stdio::null());
        command
    }

    /// `tfoci` with the words of a line and with pipes, for such tests.
    pub fn piped(&self, line: impl AsRef<str>) -> Command {
        let mut command = self.command(env!("CARGO_BIN_EXE_tfoci"));
        command.args(line.as_ref().split_whitespace());
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    /// The path of a program on the scene's `PATH`. The standard library copies this process (`fork`) to start a program that it has to look up
    /// in another environment, which takes longer than most programs run.
    fn found(&self, program: &OsStr) -> PathBuf {
        let own = self.env.iter().rfind(|(name, _)| name == "PATH");
        let path = own.map(|(_, value)| OsString::from(value));
        let path = path
            .or_else(|| std::env::var_os("PATH"))
            .unwrap_or_default();
        let mut files = std::env::split_paths(&path).map(|directory| directory.join(program));
        let is_path = Path::new(program).components().count() > 1;
        let found = files.find(|file| !is_path && file.is_file());
        found.unwrap_or_else(|| program.into())
    }

    /// Runs any program.
    pub fn run<A: AsRef<OsStr>>(
        &self,
        program: impl AsRef<OsStr>,
        arguments: impl IntoIterator<Item = A>,
    ) -> Run {
        let output = self.command(program).args(arguments).output().unwrap();
        Run {
            status: output.status.code(),
            stdout: self.filter(output.stdout),
            stderr: self.filter(output.stderr),
        }
    }

    /// Replaces the scene's directory, whose name is random and on some systems has a second form behind a link.
    pub fn filter(&self, bytes: Vec<u8>) -> String {
        let real = self.home.path().canonicalize().unwrap();
        let text = String::from_utf8(bytes).unwrap();
        text.replace(real.to_str().unwrap(), "[TMP]")
            .replace(self.home.path().to_str().unwrap(), "[TMP]")
    }
}

impl Run {
    /// Asserts exit code 0.
    #[track_caller]
    pub fn succeeds(self) -> Self {
        self.exits(0)
    }

    /// Asserts that no password of the tests is in the output.
    #[track_caller]
    pub fn keeps_secrets(self) -> Self {
        for secret in [PASSWORD, IDENTITY, "hunter2"] {
            assert!(!self.stdout.contains(secret), "{}", self.stdout);
            assert!(!self.stderr.contains(secret), "{}", self.stderr);
        }
        self
    }

    /// Asserts that a text stands in stderr.
    #[track_caller]
    pub fn tells(&self, text: impl AsRef<str>) -> &Self {
        let (text, stderr) = (text.as_ref(), &self.stderr);
        assert!(stderr.contains(text), "expected {text:?} in:\n{stderr}");
        self
    }

    /// Asserts that a text stands in stdout.
    #[track_caller]
    pub fn shows(&self, text: impl AsRef<str>) -> &Self {
        let (text, stdout) = (text.as_ref(), &self.stdout);
        assert!(stdout.contains(text), "expected {text:?} in:\n{stdout}");
        self
    }

    /// Asserts that a text does not stand in stderr.
    #[track_caller]
    pub fn omits(&self, text: impl AsRef<str>) -> &Self {
        let (text, stderr) = (text.as_ref(), &self.stderr);
        assert!(!stderr.contains(text), "unexpected {text:?} in:\n{stderr}");
        self
    }

    /// Asserts an exit code, and shows the output if it is another.
    #[track_caller]
    pub fn exits(self, code: i32) -> Self {
        assert_eq!(
            self.status,
            Some(code),
            "stdout:\n{}\nstderr:\n{}",
            self.stdout,
            self.stderr
        );
        self
    }
}

#[test]
fn programs_see_the_scene_and_nothing_else() {
    let scene = Scene::new().env("TFOCI_DEFAULT_HOST", "example.com");
    let note = scene.write("notes/one.txt", "text");
    assert_eq!(fs::read(scene.path("notes/one.txt")).unwrap(), b"text");
    let script = "env; echo \"at $1\" >&2; exit 3";
    let arguments = ["-c", script, "sh", note.to_str().unwrap()];
    let run = scene.run("sh", arguments).exits(3);
    assert_eq!(run.stderr, "at [TMP]/notes/one.txt\n");
    let lines = run.stdout.lines();
    let mut names: Vec<&str> = lines.filter_map(|line| line.split('=').next()).collect();
    names.retain(|name| !["_", "OLDPWD", "SHLVL"].contains(name));
    names.sort_unstable();
    let expected = [
        "HOME",
        "PATH",
        "PWD",
        "SSL_CERT_DIR",
        "SSL_CERT_FILE",
        "TFOCI_DEFAULT_HOST",
    ];
    assert_eq!(names, expected);
}
