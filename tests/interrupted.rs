//! An interrupted run reports the finished versions.

use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};

use crate::support::origin::{Origin, Provider};
use crate::support::registry::{Fault, Registry, Seen};
use crate::support::release::ReleaseFolder;
use crate::support::scene::Scene;
use crate::support::signer::Signer;

const SIGNALS: [&str; 2] = ["INT", "TERM"];

const LINUX: &str = "linux_amd64";

/// A home with an empty registry, the releases `demo` 1.0.0 and 1.1.0, and their author's key.
struct Fixture {
    scene: Scene,
    registry: Registry,
}

/// How an interrupted run ended.
struct Interrupted {
    stdout: String,
    stderr: String,
}

impl Fixture {
    fn new() -> Self {
        let registry = Registry::plain();
        let scene = Scene::new();
        scene.write("acme.asc", Signer::acme().public_armored());
        scene.write(".docker/config.json", registry.authfile());
        for version in ["1.0.0", "1.1.0"] {
            let release = ReleaseFolder::new("demo", version).platform(LINUX);
            release.write(&scene.path(version));
        }
        Self { scene, registry }
    }

    /// The command, with words in place of `[REGISTRY]`.
    fn command(&self, arguments: &str) -> Command {
        let arguments = arguments.replace("[REGISTRY]", self.registry.host());
        let mut command = self.scene.command(env!("CARGO_BIN_EXE_tfoci"));
        command.args(arguments.split(' '));
        command.args(["--plain-http", self.registry.host()]);
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    fn succeeds(&self, arguments: &str) {
        let output = self.command(arguments).output().unwrap();
        let stderr = String::from_utf8(output.stderr).unwrap();
        assert!(output.status.success(), "{stderr}");
    }

    /// Runs a command. The first request for which `sees` holds sends the signal. Its body and later answers never arrive.
    fn interrupt(
        &self,
        signal: &'static str,
        sees: impl Fn(&Seen) -> bool + Send + 'static,
        arguments: &str,
    ) -> Interrupted {
        let (victim, is_sent) = (Arc::new(Mutex::new(0)), Arc::new(AtomicBool::new(false)));
        let (pid, sent, later) = (Arc::clone(&victim), Arc::clone(&is_sent), is_sent);
        let send = move || {
            let pid = pid.lock().unwrap().to_string();
            let kill = Command::new("kill").args(["-s", signal, &pid]).status();
            assert!(kill.unwrap().success());
        };
        let is_first = move |seen: &Seen| sees(seen) && !sent.swap(true, Ordering::SeqCst);
        self.registry
            .always(is_first, Fault::stall_body_after(send));
        let stalls = move |_: &Seen| later.load(Ordering::SeqCst);
        self.registry.always(stalls, Fault::Stall);
        // The lock is held until the process is known.
        let mut pid = victim.lock().unwrap();
        let child = self.command(arguments).spawn().unwrap();
        *pid = child.id();
        drop(pid);
        let output = child.wait_with_output().unwrap();
        let shown = |bytes| {
            let text = String::from_utf8(bytes).unwrap();
            text.replace(self.registry.host(), "HOST")
        };
        let (stdout, stderr) = (shown(output.stdout), shown(output.stderr));
        assert_eq!(output.status.code(), Some(130), "{stderr}");
        Interrupted { stdout, stderr }
    }
}

impl Interrupted {
    /// Asserts the references or paths on stdout, without their digests, and the last lines of stderr.
    #[track_caller]
    fn reports(&self, results: &[&str], summary: &str) {
        let lines = self.stdout.lines();
        let found: Vec<&str> = lines.map(|line| line.split('@').next().unwrap()).collect();
        assert_eq!(found, results);
        let (before, last) = self.stderr.rsplit_once(summary).expect(&self.stderr);
        assert!(before.ends_with(' ') || before.ends_with('\n'));
        let (time, end) = last.split_once("s ").expect(last);
        assert!(time.parse::<f64>().is_ok(), "{time}");
        let (_, hint) = end.split_once("\nerror: interrupted\n").expect(end);
        let numbers = hint.split(' ').map(|word| word.trim_start_matches('~'));
        let numbers: Vec<usize> = numbers.filter_map(|word| word.parse().ok()).collect();
        assert!(numbers.len() == 2 && numbers[0] < numbers[1], "{hint}");
    }

    /// The document has these provider versions with their states, and the error.
    #[track_caller]
    fn document(&self, providers: &[[&str; 2]]) -> Value {
        let document: Value = serde_json::from_str(&self.stdout).expect(&self.stdout);
        assert_eq!(document["schema"], 1);
        assert_eq!(
            document["error"],
            json!({"category": "interrupted", "message": "interrupted"})
        );
        let found: Vec<_> = document["providers"].as_array().unwrap().iter().collect();
        let found: Vec<[&str; 2]> = found
            .iter()
            .map(|one| ["provider", "version"].map(|name| one[name].as_str().unwrap()))
            .collect();
        assert_eq!(found, providers);
        document
    }
}

fn is_write(seen: &Seen) -> bool {
    ["PATCH", "POST", "PUT"].contains(&&*seen.method)
}

/// The first write after this version was tagged: the next one has begun.
fn after_tagging(version: &str) -> impl Fn(&Seen) -> bool + Send + use<> {
    let (tag, is_tagged) = (format!("/manifests/{version}"), AtomicBool::new(false));
    move |seen| {
        let is_next = is_tagged.load(Ordering::SeqCst) && is_write(seen);
        if seen.method == "PUT" && seen.path.ends_with(&tag) {
            is_tagged.store(true, Ordering::SeqCst);
        }
        is_next
    }
}

#[test]
fn an_interrupted_push_reports_nothing_as_finished() {
    const PUSH: &str =
        "push 1.0.0 --provider acme/demo --key acme.asc --to [REGISTRY]/{namespace}/{type}";
    for signal in SIGNALS {
        let fixture = Fixture::new();
        let run = fixture.interrupt(signal, is_write, PUSH);
        assert_eq!(run.stdout, "");
        assert!(run.stderr.contains("error: interrupted\n"));
        assert!(!run.stderr.contains("Pushed"), "{}", run.stderr);

        let fixture = Fixture::new();
        let run = fixture.interrupt(signal, is_write, &format!("{PUSH} --format json"));
        let document = run.document(&[]);
        assert_eq!(document["bytes"], 0);
        assert_ne!(document["requests"], 0);
    }
}

#[test]
fn an_interrupted_mirror_reports_the_finished_version() {
    let demo = Provider::new("acme/demo")
        .version("1.0.0", &[LINUX])
        .version("1.1.0", &[LINUX]);
    let origin = Origin::of([demo]);
    let address = origin.address("acme/demo");
    let arguments = format!(
        "mirror {address}@>=1 --ca-file ca.pem --jobs 1 --to [REGISTRY]/{{namespace}}/{{type}}"
    );
    for signal in SIGNALS {
        let interrupt = |more: &str| {
            let fixture = Fixture::new();
            origin.write_ca(&fixture.scene);
            fixture.interrupt(
                signal,
                after_tagging("1.1.0"),
                &format!("{arguments}{more}"),
            )
        };
        interrupt("").reports(
            &["HOST/acme/demo:1.1.0"],
            "Mirrored 1 version, 1 package (406 B copied) in ",
        );
        let document = interrupt(" --format json").document(&[[&address, "1.1.0"]]);
        assert_eq!(document["bytes"], 406);
        assert_eq!(document["providers"][0]["status"], "copied");
    }
}

#[test]
fn an_interrupted_copy_reports_the_finished_version() {
    for signal in SIGNALS {
        let interrupt = |more: &str| {
            let fixture = Fixture::new();
            for version in ["1.0.0", "1.1.0"] {
                fixture.succeeds(&format!(
                    "push {version} --provider acme/demo --key acme.asc --to oci-layout:store"
                ));
            }
            let copy = "copy --from oci-layout:store --jobs 1 --to [REGISTRY]/{namespace}/{type}";
            fixture.interrupt(signal, after_tagging("1.0.0"), &format!("{copy}{more}"))
        };
        interrupt("").reports(
            &["HOST/acme/demo:1.0.0"],
            "Copied 1 version, 1 package (406 B copied) in ",
        );
        let document =
            interrupt(" --format json").document(&[["registry.opentofu.org/acme/demo", "1.0.0"]]);
        assert_eq!(document["bytes"], 406);
    }
}

/// The provider that was first of two that are installed concurrently.
fn first(stdout: &str) -> &'static str {
    match stdout.contains("other/demo") {
        true => "registry.opentofu.org/other/demo",
        false => "registry.opentofu.org/acme/demo",
    }
}

#[test]
fn an_interrupted_installation_reports_the_finished_provider() {
    for signal in SIGNALS {
        let interrupt = |more: &str| {
            let fixture = Fixture::new();
            for provider in ["acme/demo", "other/demo"] {
                fixture.succeeds(&format!(
                    "push 1.0.0 --provider {provider} --key acme.asc --to [REGISTRY]/{{namespace}}/{{type}}"
                ));
            }
            let install = "install acme/demo other/demo --from [REGISTRY]/{namespace}/{type} --into mirror --platform linux_amd64 --jobs 1";
            // Each provider has three layers of evidence and a package, and one package is read at a time. So the eighth blob is the
            // package of the second provider.
            let blobs = AtomicUsize::new(0);
            let is_second = move |seen: &Seen| {
                seen.path.contains("/blobs/") && blobs.fetch_add(1, Ordering::SeqCst) == 7
            };
            fixture.interrupt(signal, is_second, &format!("{install}{more}"))
        };
        let run = interrupt("");
        let first = first(&run.stdout);
        run.reports(
            &[&format!(
                "mirror/{first}/terraform-provider-demo_1.0.0_linux_amd64.zip"
            )],
            "Installed 1 version, 1 package (406 B copied) in ",
        );
        let run = interrupt(" --format json");
        let document = run.document(&[[self::first(&run.stdout), "1.0.0"]]);
        assert_eq!(document["providers"][0]["packages"][0]["platform"], LINUX);
        assert_eq!(document.get("bytes"), None);
    }
}

#[test]
fn install_has_finished_nothing() {
    for signal in SIGNALS {
        let fixture = Fixture::new();
        fixture.succeeds(
            "push 1.0.0 --provider acme/demo --key acme.asc --to [REGISTRY]/{namespace}/{type}",
        );
        let run = fixture.interrupt(
            signal,
            |seen| seen.path.contains("/blobs/"),
            "install acme/demo --from [REGISTRY]/{namespace}/{type} --into mirror --platform linux_amd64",
        );
        assert_eq!(run.stdout, "");
        assert!(run.stderr.contains("error: interrupted\n"));
    }
}
