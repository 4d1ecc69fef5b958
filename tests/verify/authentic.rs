use std::time::{Duration, SystemTime};

use super::Mirrored;
use crate::support::author::two_platforms;
use crate::support::origin::{Provider, Release};
use crate::support::release::ReleaseFolder;
use crate::support::signer::Signer;

fn of(release: impl Into<Release>, more: &str) -> Mirrored {
    let provider = Provider::new("acme/demo").release(release);
    Mirrored::of(provider, &format!("@1.0.0{more}"))
}

#[test]
fn what_is_not_signed_is_a_warning_unless_it_is_allowed() {
    let unsigned = Release::from(two_platforms().signed_by(Signer::stranger())).keys(&[]);
    let mirrored = of(unsigned, " --allow-unsigned */*/*");
    let without = "verify --from oci-layout:store";
    mirrored.found(without).are(&["not-signed"], 0);
    let failing = mirrored.found(&format!("{without} --fail-on warning"));
    failing.are(&["not-signed"], 1);
    let allow = "[[provider]]\nmatch = \"*/*/*\"\nunsigned = \"allow\"\n";
    mirrored.scene.write("allow.toml", allow);
    let allowed = format!("{without} --trust allow.toml");
    mirrored.found(&allowed).are_none();
}

#[test]
fn a_key_that_is_not_pinned_is_no_proof() {
    let mirrored = of(two_platforms().signed_by(Signer::stranger()), "");
    mirrored.verify("").are(&["not-verified"], 3);
    mirrored.found("verify --from oci-layout:store").are_none();
    mirrored.scene.write("none.toml", "[[provider]]\nmatch = \"example.com/*/*\"\nkeys = [\"9C78E446E95831CCD2C594C816122978F255039A\"]\n");
    let line = "verify --from oci-layout:store --trust none.toml --require-pinned";
    mirrored.found(line).are(&["not-pinned"], 3);
    let unpinned = "verify --from oci-layout:store --require-pinned";
    mirrored.tfoci(unpinned).exits(2);
}

/// A finding about a key is one for all versions.
#[test]
fn keys_that_expire_are_found_before_they_do() {
    let day = Duration::from_secs(24 * 60 * 60);
    for (signer, code) in [
        (Signer::expired_since(), "key-expired"),
        (Signer::until(SystemTime::now() + 20 * day), "key-expires"),
    ] {
        let provider = Provider::new("acme/demo").release(two_platforms().signed_by(signer));
        let second = ReleaseFolder::new("demo", "1.1.0").platform("linux_amd64");
        let mirrored = Mirrored::of(provider.release(second.signed_by(signer)), "@>=1.0.0");
        let found = mirrored.found("verify --from oci-layout:store");
        let found = found.are(&[code], 0);
        assert_eq!(found.findings.len(), 1);
        let message = found.findings[0]["message"].as_str().unwrap();
        assert!(message.contains(&signer.fingerprint()), "{message}");
    }
    let later = Signer::until(SystemTime::now() + 60 * day);
    let mirrored = of(two_platforms().signed_by(later), "");
    mirrored.found("verify --from oci-layout:store").are_none();
}

#[test]
fn a_renewed_or_revoked_copy_beside_the_trust_file_counts() {
    let signer = Signer::expired_since();
    let mirrored = of(two_platforms().signed_by(signer), "");
    let key = signer.fingerprint();
    let host = mirrored.origin.host();
    let scene = &mirrored.scene;
    let pin = format!("[[provider]]\nmatch = \"{host}/*/*\"\nkeys = [\"{key}\"]\n");
    scene.write("trust.toml", pin);
    mirrored.verify("").are(&["key-expired"], 0);
    let copy = format!("keys/{key}.asc");
    scene.write(&copy, signer.armored_renewed());
    mirrored.verify("").are(&["key-outdated"], 0);
    let reason = sequoia_openpgp::types::ReasonForRevocation::KeyCompromised;
    scene.write(&copy, signer.armored_revoked(reason));
    mirrored.verify("").are(&["key-revoked"], 3);
}
