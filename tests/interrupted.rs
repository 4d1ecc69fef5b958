//! An interrupted run reports the finished versions.

use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use serde_json::{Value, json};

use crate::support::origin::{Origin, Provider};
use crate::support::registry::{Fault, Registry, Seen};
use crate::support::release::ReleaseFolder;
use crate::support::scene::Scene;
use crate::support::signal::Target;
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
        let host = self.registry.host();
        self.scene.piped(format!("{arguments} --plain-http {host}"))
    }

    fn succeeds(&self, arguments: &str) {
        let output = self.command(arguments).output().unwrap();
        assert!(output.status.success(), "{output:?}");
    }

    /// Runs a command. The first request for which `sees` holds sends the signal. Its body and later answers never arrive.
    fn interrupt(
        &self,
        signal: &'static str,
        sees: impl Fn(&Seen) -> bool + Send + 'static,
        arguments: &str,
    ) -> Interrupted {
        let (target, is_sent) = (Target::default(), Arc::new(AtomicBool::new(false)));
        let (sent, later) = (Arc::clone(&is_sent), is_sent);
        let is_first = move |seen: &Seen| sees(seen) && !sent.swap(true, Ordering::SeqCst);
        let send = Fault::stall_body_after(target.hit(signal));
        self.registry.always(is_first, send);
        let stalls = move |_: &Seen| later.load(Ordering::SeqCst);
        self.registry.always(stalls, Fault::Stall);
        let child = target.start(&mut self.command(arguments));
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
    /// Asserts the reference or path on stdout, without its digest, and the last lines of stderr.
    #[track_caller]
    fn reports(&self, result: &str, done: &str) {
        let summary = format!("{done} 1 version, 1 package (406 B copied) in ");
        let lines = self.stdout.lines();
        let found: Vec<&str> = lines.map(|line| line.split('@').next().unwrap()).collect();
        assert_eq!(found, [result]);
        let (before, last) = self.stderr.rsplit_once(&summary).expect(&self.stderr);
        assert!(before.ends_with(' ') || before.ends_with('\n'));
        let (time, end) = last.split_once("s ").expect(last);
        assert!(time.parse::<f64>().is_ok(), "{time}");
        let (_, hint) = end.split_once("\nerror: interrupted\n").expect(end);
        assert!(hint.starts_with("\nhint: "), "{hint}");
    }

    /// Asserts that nothing was finished.
    #[track_caller]
    fn reports_nothing(&self) {
        assert_eq!(self.stdout, "");
        assert!(
            self.stderr.contains("error: interrupted\n"),
            "{}",
            self.stderr
        );
    }

    /// The document has these provider versions, and the error.
    #[track_caller]
    fn document(&self, versions: &[String]) -> Value {
        let document: Value = serde_json::from_str(&self.stdout).expect(&self.stdout);
        assert_eq!(document["schema"], 1);
        let error = json!({"category": "interrupted", "message": "interrupted"});
        assert_eq!(document["error"], error);
        let text = |value: &Value| value.as_str().unwrap().to_owned();
        let found = document["providers"].as_array().unwrap().iter();
        let found = found.map(|one| text(&one["provider"]) + " " + &text(&one["version"]));
        assert_eq!(found.collect::<Vec<_>>(), versions);
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

const PUSH: &str =
    "push 1.0.0 --provider acme/demo --key acme.asc --to [REGISTRY]/{namespace}/{type}";

#[test]
fn an_interrupted_push_reports_nothing_as_finished() {
    for signal in SIGNALS {
        let run = Fixture::new().interrupt(signal, is_write, PUSH);
        run.reports_nothing();
        assert!(!run.stderr.contains("Pushed"), "{}", run.stderr);

        let json = format!("{PUSH} --format json");
        let document = Fixture::new()
            .interrupt(signal, is_write, &json)
            .document(&[]);
        assert_eq!(document["bytes"], 0);
        assert_ne!(document["requests"], 0);
    }
}

#[test]
fn an_interrupted_mirror_reports_the_finished_version() {
    let demo = Provider::demo(&[LINUX]).version("1.1.0", &[LINUX]);
    let origin = Origin::of([demo]);
    let address = origin.address("acme/demo");
    let to = "--ca-file ca.pem --jobs 1 --to [REGISTRY]/{namespace}/{type}";
    for signal in SIGNALS {
        let interrupt = |more: &str| {
            let fixture = Fixture::new();
            origin.write_ca(&fixture.scene);
            let mirror = format!("mirror {address}@>=1 {to}{more}");
            fixture.interrupt(signal, after_tagging("1.1.0"), &mirror)
        };
        interrupt("").reports("HOST/acme/demo:1.1.0", "Mirrored");
        let document = interrupt(" --format json").document(&[format!("{address} 1.1.0")]);
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
                let push = format!("push {version} --provider acme/demo --key acme.asc");
                fixture.succeeds(&format!("{push} --to oci-layout:store"));
            }
            let copy = "copy --from oci-layout:store --jobs 1 --to [REGISTRY]/{namespace}/{type}";
            fixture.interrupt(signal, after_tagging("1.0.0"), &format!("{copy}{more}"))
        };
        interrupt("").reports("HOST/acme/demo:1.0.0", "Copied");
        let first = "registry.opentofu.org/acme/demo 1.0.0".to_owned();
        let document = interrupt(" --format json").document(&[first]);
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

const INSTALL: &str = "install acme/demo --from [REGISTRY]/{namespace}/{type} --into mirror --platform linux_amd64 --jobs 1";

#[test]
fn an_interrupted_installation_reports_the_finished_provider() {
    for signal in SIGNALS {
        let interrupt = |more: &str| {
            let fixture = Fixture::new();
            for provider in ["acme/demo", "other/demo"] {
                fixture.succeeds(&PUSH.replace("acme/demo", provider));
            }
            // Each provider has three layers of evidence and a package, and one package is read at a time. So the eighth blob is the
            // package of the second provider.
            let blobs = AtomicUsize::new(0);
            let is_second = move |seen: &Seen| {
                seen.path.contains("/blobs/") && blobs.fetch_add(1, Ordering::SeqCst) == 7
            };
            fixture.interrupt(signal, is_second, &format!("{INSTALL} other/demo{more}"))
        };
        let run = interrupt("");
        let zip = "terraform-provider-demo_1.0.0_linux_amd64.zip";
        run.reports(&format!("mirror/{}/{zip}", first(&run.stdout)), "Installed");
        let run = interrupt(" --format json");
        let document = run.document(&[format!("{} 1.0.0", first(&run.stdout))]);
        assert_eq!(document["providers"][0]["packages"][0]["platform"], LINUX);
        assert_eq!(document.get("bytes"), None);
    }
}

#[test]
fn install_has_finished_nothing() {
    for signal in SIGNALS {
        let fixture = Fixture::new();
        fixture.succeeds(PUSH);
        let is_blob = |seen: &Seen| seen.path.contains("/blobs/");
        fixture
            .interrupt(signal, is_blob, INSTALL)
            .reports_nothing();
    }
}
