use serde_json::Value;

use super::{ID, MirrorKey, Site, trust};
use crate::schema::follows;
use crate::support::signer::Signer;

#[test]
fn inspect_shows_who_attests_what() {
    let site = Site::attested();
    let inspect = "inspect acme/demo@1.0.0 --from [REG]";
    let run = site.tfoci(inspect).succeeds();
    run.shows(ID).shows("not checked");
    trust(&site.author.scene, "require_attestation = \"mirror.pub\"");
    let checked = format!("{inspect} --trust trust.toml");
    let key = MirrorKey::new(1).id();
    site.tfoci(&checked).succeeds().shows(&key);
    let run = site.tfoci(format!("{checked} --format json")).succeeds();
    let document = run.json();
    follows("inspect", &document);
    let attestation = &document["attestations"][0];
    assert_eq!(attestation["mirror"], ID);
    assert_eq!(attestation["origin"], "release folder");
    assert_eq!(attestation["key"], key);
    assert_eq!(attestation["rule"]["unsigned"], "refuse");
    assert_eq!(attestation["time"].as_str().unwrap().len(), 24);
}

/// For a KMS or a keyless signer, only if this run has verified the version.
#[test]
fn the_predicate_is_for_other_signers() {
    let site = Site::attested();
    let predicate =
        format!("inspect acme/demo@1.0.0 --from [REG] --attestation-predicate --attest-id {ID}");
    let run = site.tfoci(format!("{predicate} --key acme.asc")).succeeds();
    let printed = run.stdout.replace("[ACME]", &Signer::acme().fingerprint());
    let printed: Value = serde_json::from_str(&printed).unwrap();
    let mut stated = site.statement("1.0.0")["predicate"].clone();
    let own = &*format!("{ID}#signature");
    stated["timeVerified"] = printed["timeVerified"].clone();
    stated[own]["origin"] = printed[own]["origin"].clone();
    assert_eq!(printed, stated);
    site.tfoci(predicate).exits(3).without_result();
    let nameless = "inspect acme/demo@1.0.0 --from [REG] --attestation-predicate";
    site.tfoci(nameless).exits(2);
}
