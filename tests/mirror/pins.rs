use std::fs;
use std::io::{Read as _, Write as _};
use std::process::{Child, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use serde_json::{Value, json};

use super::locks::{LOCKED, NAME, lock, zh};
use super::origin_scene::{ARRIVED, OriginScene};
use super::{LINUX, demo};
use crate::schema::follows;
use crate::support::origin::{Fault, Provider, Release, Seen, asks};
use crate::support::release::ReleaseFolder;
use crate::support::signal::{send, until_said};
use crate::support::signer::Signer;

/// Trust files: the place of new tables, unwritable files, and concurrent runs.
mod trust_files;

const PINNING: &str = "--trust trust.toml --pin-new";
const ACME: &str = "Acme Provider Signing (test key) <security@acme.example>";
const STRANGER: &str = "Another Author (test key) <else@stranger.example>";

/// The second provider, signed by another author.
fn other() -> Provider {
    let folder = ReleaseFolder::new("other", "1.0.0").platform(LINUX);
    Provider::new("acme/other").release(folder.signed_by(Signer::stranger()))
}

/// The next release of the first provider, by another author.
fn by_another() -> ReleaseFolder {
    let next = ReleaseFolder::new("demo", "1.1.0").platform(LINUX);
    next.signed_by(Signer::stranger())
}

impl OriginScene {
    /// Mirrors both providers.
    fn both(&self, more: &str) -> super::origin_scene::Told {
        self.mirror(&format!("[ORIGIN]/acme/demo [ORIGIN]/acme/other {more}"))
    }

    /// Mirrors both providers, and returns the document.
    fn document(&self, more: &str) -> Value {
        let run = self.json(&format!("[ORIGIN]/acme/demo [ORIGIN]/acme/other {more}"));
        run.succeeds().json()
    }

    /// Starts a run that pins keys.
    fn spawn(&self, providers: &str) -> Child {
        let to = "--ca-file ca.pem --to oci-layout:store";
        let line = self.named(&format!("mirror {providers} {PINNING} {to}"));
        self.piped(line).spawn().unwrap()
    }

    /// The trust file, with names for hosts and keys.
    fn trust(&self) -> String {
        let text = fs::read_to_string(self.scene.path("trust.toml")).unwrap();
        text.replace(self.origin.host(), "[ORIGIN]")
            .replace(&Signer::acme().fingerprint(), "[ACME]")
            .replace(&Signer::stranger().fingerprint(), "[STRANGER]")
    }

    /// Writes a trust file.
    fn trusts(&self, text: &str) {
        self.scene.write("trust.toml", self.named(text));
    }
}

/// A table that `--pin-new` writes for an author's key.
fn pinned(name: &str, author: &str) -> String {
    let user_id = if author == "ACME" { ACME } else { STRANGER };
    let comment = format!("# {user_id}, Ed25519, first seen with 1.0.0");
    table(name, &format!("\n  \"[{author}]\", {comment}\n"))
}

fn table(name: &str, keys: &str) -> String {
    format!(
        "[[provider]]\nmatch = \"[ORIGIN]/acme/{name}\"\nkeys = [{keys}]\nunsigned = \"refuse\"\n"
    )
}

/// A pipe can be read only once, and is in no directory of the user.
#[test]
fn a_mirror_file_from_a_pipe_names_the_trust_file() {
    let scene = OriginScene::of([demo()]);
    let file = "trust = \"trust.toml\"\n[[provider]]\naddress = \"[ORIGIN]/acme/demo\"\nto = [\"oci-layout:store\"]\n";
    let mut command = scene.piped("mirror --ca-file ca.pem --file /dev/stdin --pin-new");
    let mut run = command.stdin(Stdio::piped()).spawn().unwrap();
    let mut input = run.stdin.take().unwrap();
    input.write_all(scene.named(file).as_bytes()).unwrap();
    drop(input);
    let output = run.wait_with_output().unwrap();
    assert!(output.status.success(), "{output:?}");
    assert_eq!(scene.trust(), pinned("demo", "ACME"));
}

/// A run that a signal ended after one key was pinned, while the other provider's package was stalled.
fn stopped_by(signal: &str) -> OriginScene {
    let scene = OriginScene::of([demo(), other()]);
    let is_over = Arc::new(AtomicBool::new(false));
    let (other, over) = (asks("package acme/other"), Arc::clone(&is_over));
    let waits = move |seen: &Seen| other(seen) && !over.load(Ordering::SeqCst);
    scene.origin.always(waits, Fault::Stall);
    let mut run = scene.spawn("[ORIGIN]/acme/demo [ORIGIN]/acme/other");
    let mut stderr = until_said(&mut run, "Pinned ");
    send(signal, run.id());
    let mut rest = String::new();
    stderr.read_to_string(&mut rest).unwrap();
    run.wait().unwrap();
    // The run did not finish.
    let is_reported = rest.contains("Mirrored");
    assert_eq!(is_reported, rest.contains("interrupted\n"), "{rest}");
    is_over.store(true, Ordering::SeqCst);
    scene
}

#[test]
fn versions_mirrored_before_a_run_was_stopped_are_pinned() {
    for signal in ["INT", "KILL"] {
        let scene = stopped_by(signal);
        assert_eq!(scene.installs(), ARRIVED);
        assert_eq!(scene.trust(), pinned("demo", "ACME"));
        let told = scene.both(PINNING);
        told.tells("Copied [ORIGIN]/acme/other 1.0.0 1 409 signed [STRANGER ID] origin Pinned [ORIGIN]/acme/other [STRANGER] <else@stranger.example> Ed25519 1.0.0 Mirrored 1 1 409 1 [TIME]");
        let [first, second] = [pinned("demo", "ACME"), pinned("other", "STRANGER")];
        assert_eq!(scene.trust(), format!("{first}\n{second}"));
    }
}

#[test]
fn keys_are_pinned_with_a_lock_file_too() {
    let scene = OriginScene::of([demo()]);
    let zip = [zh(&scene.origin, "1.0.0", LINUX)];
    lock(&scene, NAME, "[ORIGIN]/acme/demo", "1.0.0", &zip);
    let pinned_one =
        "Pinned [ORIGIN]/acme/demo [ACME] <security@acme.example> Ed25519 1.0.0 Mirrored";
    let told = scene.mirror(&format!("--from-lock . {PINNING}"));
    told.tells(&LOCKED.replace("Mirrored", pinned_one));
    assert_eq!(scene.trust(), pinned("demo", "ACME"));
}

#[test]
fn unchecked_keys_are_reported_and_recheck_pins_them() {
    let scene = OriginScene::of([demo(), other()]);
    scene.both("-q").says(0, "");
    let unseen = "Warning [ORIGIN]/acme/demo [ORIGIN]/acme/other --recheck Mirrored 2 [TIME]";
    scene.both(PINNING).tells(unseen);
    assert!(!scene.path("trust.toml").exists());
    scene.trusts(&table("demo", "\"trust.asc\""));
    scene.write("trust.asc", Signer::acme().public_armored());
    let unseen = "Warning [ORIGIN]/acme/other --recheck Mirrored 2 [TIME]";
    scene.both(PINNING).tells(unseen);
    let told = scene.both(&format!("{PINNING} --recheck"));
    told.tells("Present [ORIGIN]/acme/demo 1.0.0 1 signed [ACME ID] pinned Present [ORIGIN]/acme/other 1.0.0 1 signed [STRANGER ID] origin Pinned [ORIGIN]/acme/other [STRANGER] <else@stranger.example> Ed25519 1.0.0 Mirrored 2 [TIME]");
    let [first, second] = [table("demo", "\"trust.asc\""), pinned("other", "STRANGER")];
    assert_eq!(scene.trust(), format!("{first}\n{second}"));
    scene.both(PINNING).tells("Mirrored 2 [TIME]");
}

#[test]
fn no_key_is_required_if_no_signature_is() {
    let scene = OriginScene::of([demo()]);
    scene.demo("-q").says(0, "");
    let unsigned = format!("{PINNING} --allow-unsigned [ORIGIN]/acme/*");
    scene.demo(&unsigned).tells("Mirrored 1 [TIME]");
}

#[test]
fn the_keys_of_all_versions_are_pinned() {
    let scene = OriginScene::of([demo().release(by_another())]);
    let all = format!("[ORIGIN]/acme/demo@>=1.0 {PINNING}");
    let told = scene.mirror(&format!("{all} --jobs 1"));
    told.tells("Copied [ORIGIN]/acme/demo 1.0.0 1 406 signed [ACME ID] origin Copied [ORIGIN]/acme/demo 1.1.0 1 406 signed [STRANGER ID] origin Pinned [ORIGIN]/acme/demo [ACME] <security@acme.example> Ed25519 1.0.0 Pinned [ORIGIN]/acme/demo [STRANGER] <else@stranger.example> Ed25519 1.1.0 Mirrored 2 2 812 [TIME]");
    scene.mirror(&format!("{all} --recheck -q")).says(0, "");
}

#[test]
fn a_pinned_provider_must_be_signed_afterwards() {
    let general = "[[provider]]\nmatch = \"[ORIGIN]/*/*\"\nunsigned = \"allow\"\n";
    let scene = OriginScene::of([demo()]);
    scene.trusts(general);
    scene.demo(&format!("{PINNING} -q")).says(0, "");
    let both = format!("{}\n{general}", pinned("demo", "ACME"));
    assert_eq!(scene.trust(), both);
    let unsigned = Release::from(by_another()).keys(&[]);
    scene.origin.publish(demo().release(unsigned));
    let said = "error [ORIGIN]/acme/demo 1.1.0 [ORIGIN] SHA256SUMS.sig expected [ACME] received [STRANGER]";
    for more in ["", "--allow-unsigned [ORIGIN]/acme/demo"] {
        let more = format!("--trust trust.toml {more}");
        scene.demo(&scene.named(&more)).says(3, said);
    }
}

#[test]
fn new_keys_are_pinned_and_others_refused() {
    let scene = OriginScene::of([demo()]);
    scene.demo("--pin-new").says(2, "error");
    scene.demo(PINNING).ends(0);
    let text = scene.trust();
    assert_eq!(text, pinned("demo", "ACME"));

    scene.origin.publish(demo().release(by_another()));
    let before = scene.tree();
    for more in [PINNING, "--trust trust.toml"] {
        scene.demo(more).says(3, "error [ORIGIN]/acme/demo 1.1.0 [ORIGIN] SHA256SUMS.sig expected [ACME] received [STRANGER]");
    }
    assert_eq!((scene.tree(), scene.trust()), (before, text));
    scene.demo("").tells("Copied [ORIGIN]/acme/demo 1.1.0");
}

#[test]
fn a_dry_run_prints_the_keys_and_writes_nothing() {
    let scene = OriginScene::of([demo(), other()]);
    let told = scene.both(&format!("{PINNING} --dry-run"));
    told.tells("Would [ORIGIN]/acme/demo 1.0.0 1 406 signed [ACME ID] origin Would [ORIGIN]/acme/other 1.0.0 1 409 signed [STRANGER ID] origin Would [ORIGIN]/acme/demo [ACME] <security@acme.example> Ed25519 1.0.0 Would [ORIGIN]/acme/other [STRANGER] <else@stranger.example> Ed25519 1.0.0 Would 2 2 815 [TIME]");
    assert!(!scene.path("trust.toml").exists());
    // A file that cannot be extended with a table.
    scene.trusts("provider = []\n");
    let error = "error [ORIGIN]/acme/demo [ACME] [ORIGIN]/acme/other [STRANGER]";
    let told = scene.both(&format!("{PINNING} --dry-run -q"));
    told.says(1, error);
    assert_eq!(scene.trust(), "provider = []\n");
}

/// The JSON document has the new keys, pinned or only planned.
#[test]
fn the_document_has_the_keys() {
    for (more, status) in [("--dry-run", "planned"), ("", "pinned")] {
        let scene = OriginScene::of([demo(), other()]);
        let document = scene.document(&format!("{PINNING} {more} -q"));
        follows("mirror", &document);
        let pin = |name: &str, signer: &Signer, user_id: &str| {
            json!({
                "provider": scene.origin.address(&format!("acme/{name}")),
                "fingerprint": signer.fingerprint(),
                "status": status,
                "file": "trust.toml",
                "user_id": user_id,
                "algorithm": "Ed25519",
                "version": "1.0.0",
            })
        };
        let mut pins = document["pins"].as_array().unwrap().clone();
        pins.sort_by_key(|pin| pin["provider"].to_string());
        let expected = [
            pin("demo", Signer::acme(), ACME),
            pin("other", Signer::stranger(), STRANGER),
        ];
        assert_eq!(pins, expected);
    }
    let scene = OriginScene::of([demo(), other()]);
    assert_eq!(scene.document("-q").get("pins"), None);
}

/// A user id with line ends and terminal escapes stays within its comment.
#[test]
fn a_hostile_user_id_stays_within_its_comment() {
    let folder = ReleaseFolder::new("demo", "1.0.0").platform(LINUX);
    let provider = Provider::new("acme/demo").release(folder.signed_by(Signer::hostile()));
    let scene = OriginScene::of([provider]);
    let run = scene.demo(&format!("{PINNING} --dry-run")).ends(0);
    let lines: Vec<&str> = run.lines().filter(|line| line.contains("Evil")).collect();
    assert_eq!(lines.len(), 1, "{run}");
    assert!(lines[0].starts_with(" Would pin "), "{run}");
    assert!(!run.contains(['\u{1b}', '\r', '\u{202e}']), "{run:?}");
    scene.demo(&format!("{PINNING} -q")).says(0, "");
    let fingerprint = Signer::hostile().fingerprint();
    let comment = "# Evil\u{fffd}[[provider]]\u{fffd}match = \"*/*/*\"\u{fffd}\u{fffd}[2K\u{fffd}\u{fffd}\u{fffd}unsigned = \"allow\" <x@evil.example>, Ed25519, first seen with 1.0.0";
    let expected = table("demo", &format!("\n  \"{fingerprint}\", {comment}\n"));
    assert_eq!(scene.trust(), expected);
    scene.demo(&format!("{PINNING} --recheck -q")).says(0, "");
}
