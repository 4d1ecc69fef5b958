use std::fs;
use std::io::Read as _;

use super::{PINNING, other, pinned, table};
use crate::attestation::MirrorKey;
use crate::mirror::demo;
use crate::mirror::origin_scene::OriginScene;
use crate::support::signal::until_said;
use crate::support::signer::Signer;

#[test]
fn a_new_table_precedes_every_table_that_would_match_first() {
    let scene = OriginScene::of([demo()]);
    let general = "[[ provider ]]\nmatch = \"[ORIGIN]/*/*\"\nexpired = \"refuse\"\n";
    scene.trusts(general);
    scene.demo(&format!("{PINNING} -q")).says(0, "");
    let own = pinned("demo", "ACME");
    let expected = format!("{own}expired = \"refuse\"\n\n{general}");
    assert_eq!(scene.trust(), expected);
    let told = scene.demo(&format!("{PINNING} --recheck"));
    told.tells("Present [ORIGIN]/acme/demo 1.0.0 1 signed [ACME ID] pinned Mirrored 1 [TIME]");
}

/// The new table comes first: readers would accept any copy of the provider otherwise.
#[test]
fn a_new_table_requires_the_attestation_that_was_required_before() {
    let scene = OriginScene::of([demo()]);
    scene.write("mirror.pub", MirrorKey::new(1).public());
    let verify = "[ORIGIN]/acme/demo --from oci-layout:store --trust trust.toml";
    for required in [
        "\"mirror.pub\"",
        "{ key = \"mirror.pub\", id = \"https://mirror.example\" }",
    ] {
        let required = format!("require_attestation = {required}\n");
        let general = format!("[[provider]]\nmatch = \"[ORIGIN]/*/*\"\n{required}");
        scene.trusts(&general);
        scene.demo(&format!("{PINNING} --recheck -q")).says(0, "");
        scene.command_of("verify", verify).ends(3);
        let own = pinned("demo", "ACME");
        assert_eq!(scene.trust(), format!("{own}{required}\n{general}"));
    }
}

#[test]
fn a_trust_file_that_cannot_be_extended_is_kept_and_does_not_stop_the_run() {
    let scene = OriginScene::of([demo(), other()]);
    let error = "error [ORIGIN]/acme/demo [ACME] [ORIGIN]/acme/other [STRANGER]";
    let inline = "provider = [{ match = \"[ORIGIN]/*/*\" }]\n";
    for table in ["provider = []\n", inline] {
        scene.trusts(table);
        let run = scene.both(&format!("{PINNING} --recheck -q"));
        run.says(1, error);
        assert_eq!(scene.trust(), table);
        assert_eq!(scene.installs().len(), 2);
    }
    scene.write("trust.toml", b"# \xff\n");
    scene.demo(PINNING).says(2, "error UTF-8 --trust");
}

#[test]
fn an_unwritable_trust_file_is_reported_before_any_copy() {
    for given in ["", "no directory"] {
        let scene = OriginScene::of([demo(), other()]);
        if !given.is_empty() {
            scene.write("none", given);
        }
        let told = scene.both("--trust none/trust.toml --pin-new");
        told.says(1, "error --trust");
        assert_eq!(scene.origin.seen().len(), 0);
    }
}

/// Another run has read the trust file, and writes it after this run would have written it.
#[test]
fn two_runs_at_once_lose_no_pin() {
    let scene = OriginScene::of([demo(), other()]);
    let directory = fs::File::open(scene.path(".")).unwrap();
    directory.lock().unwrap();
    let mut run = scene.spawn("[ORIGIN]/acme/demo");
    let mut stderr = until_said(&mut run, "Waiting ");
    let key = format!("\"{}\"", Signer::stranger().fingerprint());
    scene.trusts(&table("other", &key));
    directory.unlock().unwrap();
    let mut rest = String::new();
    stderr.read_to_string(&mut rest).unwrap();
    assert!(run.wait().unwrap().success(), "{rest}");
    assert!(rest.contains("Pinned "), "{rest}");
    let both = [table("other", "\"[STRANGER]\""), pinned("demo", "ACME")];
    assert_eq!(scene.trust(), both.join("\n"));
}
