use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use super::root;
use crate::support::files::Files;
use crate::support::programs::has;
use crate::support::release::sha256;
use crate::support::scene::{Run, Scene};
use crate::support::server::Running;

const TARGET: &str = "x86_64-unknown-linux-musl";
const LATEST: &str = "files/latest/download";

/// A machine, and a server with a release.
struct House {
    scene: Scene,
    files: Running<Files>,
}

impl House {
    /// The programs of the test, and those of this machine where no cosign is.
    fn path(&self) -> String {
        let path = std::env::var_os("PATH").unwrap();
        let others = std::env::split_paths(&path).filter(|one| !one.join("cosign").exists());
        let all = std::iter::once(self.scene.path("bin")).chain(others);
        format!("PATH={}", std::env::join_paths(all).unwrap().display())
    }

    fn new() -> Option<Self> {
        if !has("curl") {
            return None;
        }
        let scene = Scene::new();
        let directory = format!("tfoci-{TARGET}");
        for program in ["tfoci", "oci-push"] {
            program_at(
                &scene,
                &format!("{directory}/{program}"),
                "echo tfoci 9.9.9",
            );
        }
        let archive = format!("{LATEST}/{directory}.tar.gz");
        scene.write(&archive, "");
        scene.run("tar", ["-czf", &archive, &directory]).succeeds();
        let sum = sha256(&fs::read(scene.path(&archive)).unwrap());
        let sums = format!("{sum}  tfoci-{TARGET}.tar.gz\n");
        scene.write(format!("{LATEST}/SHA256SUMS"), sums);
        let house = Self {
            files: Files::plain(&scene.path("files")),
            scene,
        };
        // The same machine everywhere.
        let machine = "case $1 in -s) echo Linux ;; -m) echo x86_64 ;; esac";
        house.program("uname", machine);
        Some(house)
    }

    /// A program that comes before those of this machine.
    fn program(&self, name: &str, script: &str) {
        program_at(&self.scene, &format!("bin/{name}"), script);
    }

    fn install(&self, from: &str, more: &[&str]) -> Run {
        let script = root().join("packaging/install.sh");
        let path = self.path();
        let from = format!("TFOCI_DOWNLOAD={from}");
        let words = [&path, &from, "sh", script.to_str().unwrap()];
        self.scene.run("env", words.iter().chain(more))
    }

    fn here(&self) -> String {
        self.files.url("")
    }

    /// Asserts that the installer refuses, and has installed nothing.
    #[track_caller]
    fn refuses(&self, from: &str, says: &str) {
        let run = self.install(from, &["--prefix", "out"]);
        run.exits(1).tells(says);
        let out = fs::read_dir(self.scene.path("out"));
        assert_eq!(out.into_iter().flatten().count(), 0);
    }
}

/// Writes a script of a shell that can be executed.
fn program_at(scene: &Scene, path: &str, script: &str) {
    let path = scene.write(path, format!("#!/bin/sh\n{script}\n"));
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
}

#[test]
fn it_installs_the_right_file() {
    let Some(house) = House::new() else { return };
    let run = house.install(&house.here(), &[]).succeeds();
    let installed = house.scene.path(".local/bin/tfoci");
    house.scene.run(installed, ["--version"]).succeeds();
    assert!(run.stdout.contains("tfoci 9.9.9"), "{}", run.stdout);
    assert!(run.stdout.contains("PATH"), "{}", run.stdout);
    // A version is below `download`, and there is none.
    let run = house.install(&house.here(), &["--version", "1.2.3", "--prefix", "out"]);
    run.exits(1).tells("/download/v1.2.3/SHA256SUMS");
    for wrong in [["--version", "../x"], ["--verison", "1"]] {
        house.install(&house.here(), &wrong).exits(1);
    }
}

#[test]
fn it_refuses_what_it_cannot_check() {
    let Some(house) = House::new() else { return };
    let sums = house.scene.path(format!("{LATEST}/SHA256SUMS"));
    let good = fs::read_to_string(&sums).unwrap();
    // Another archive of the same name.
    fs::write(&sums, good.replace(&good[..4], "0000")).unwrap();
    house.refuses(&house.here(), "expected 0000");
    // The release does not have this platform.
    fs::write(&sums, good.replace(TARGET, "other")).unwrap();
    house.refuses(&house.here(), "does not name");
    fs::write(&sums, &good).unwrap();
    house.program("uname", "echo Plan9");
    house.refuses(&house.here(), "Plan9");
    // Without TLS, anybody on the way could answer.
    house.refuses("http://downloads.example", "https");
    house.refuses("ftp://downloads.example", "https");
}

#[test]
fn the_signature_is_checked_if_cosign_is_there() {
    let Some(house) = House::new() else { return };
    house.program("cosign", "exit 0");
    house.refuses(&house.here(), "SHA256SUMS.sigstore.json");
    let bundle = format!("{LATEST}/SHA256SUMS.sigstore.json");
    house.scene.write(bundle, "{}");
    house.program("cosign", "echo \"$@\" >asked; exit 1");
    house.refuses(&house.here(), "signature");
    let asked = fs::read_to_string(house.scene.path("asked")).unwrap();
    for word in "verify-blob --certificate-identity-regexp --certificate-oidc-issuer".split(' ') {
        assert!(asked.contains(word), "{asked}");
    }
    house.program("cosign", "exit 0");
    let run = house.install(&house.here(), &["--prefix", "out"]);
    run.succeeds();
}

/// The script of a step of the action.
fn step(name: &str) -> String {
    let action = fs::read_to_string(root().join(".github/actions/setup-tfoci/action.yml")).unwrap();
    let (_, step) = action.split_once(&format!("- name: {name}\n")).unwrap();
    let (_, script) = step.split_once("run: ").unwrap();
    let script = script.split("\n    - name:").next().unwrap();
    // A block begins with `|` and perhaps a comment.
    match script.strip_prefix('|') {
        Some(block) => block.split_once('\n').unwrap().1.to_owned(),
        None => script.to_owned(),
    }
}

#[test]
fn the_action_installs_it_and_logs_in() {
    let Some(house) = House::new() else { return };
    house.scene.write("path", "");
    let action = root().join(".github/actions/setup-tfoci");
    let run = |name: &str, more: &[&str]| {
        let path = house.path();
        let from = format!("TFOCI_DOWNLOAD={}", house.here());
        let action = format!("GITHUB_ACTION_PATH={}", action.display());
        let temp = format!("RUNNER_TEMP={}", house.scene.path("temp").display());
        let script = step(name);
        let words = [
            &*path,
            &from,
            &action,
            &temp,
            "GITHUB_PATH=path",
            "VERSION=",
        ];
        let bash = ["bash", "-euo", "pipefail", "-c", &script];
        let words = words.iter().chain(more).chain(&bash);
        house.scene.run("env", words)
    };
    run("Install tfoci", &[]).succeeds();
    let added = fs::read_to_string(house.scene.path("path")).unwrap();
    let installed = house.scene.path("temp/tfoci");
    assert_eq!(added.trim_end(), installed.to_str().unwrap());
    // What the program is asked, and what it reads.
    let tfoci = "#!/bin/sh\necho \"$@\" >asked\ncat >>asked\n";
    fs::write(installed.join("tfoci"), tfoci).unwrap();
    let login = ["REGISTRY=ghcr.io", "USERNAME=robot", "PASSWORD=hunter2"];
    let run = run("Log in to the registry", &login).succeeds();
    assert!(!run.stdout.contains("hunter2") && !run.stderr.contains("hunter2"));
    let asked = fs::read_to_string(house.scene.path("asked")).unwrap();
    let expected = "login ghcr.io --username robot --password-stdin\nhunter2";
    assert_eq!(asked, expected);
}
