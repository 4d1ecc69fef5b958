use serde_json::Value;

use super::{Mirrored, PLATFORMS};
use crate::support::origin::{Origin, Provider};
use crate::support::tamper::{retag, untag};
use crate::support::trusting;

#[test]
fn constraints_and_lock_files_limit_what_is_verified() {
    let mirrored = Mirrored::new();
    let layout = mirrored.layout("store");
    untag(&layout, "evidence-1.0.0");
    let from = "--from oci-layout:store";
    for (version, codes, exit) in [
        ("1.1.0", [].as_slice(), 0),
        ("1.0.0", &["evidence-missing"], 1),
        ("9.9.9", &["version-missing"], 1),
    ] {
        let found = mirrored.found(&format!("verify [DEMO]@{version} {from}"));
        found.are(codes, exit);
    }
    let provider = mirrored.origin.address("acme/demo");
    for (version, codes) in [("1.1.0", [].as_slice()), ("1.0.0", &["evidence-missing"])] {
        let lock = format!(
            "provider \"{provider}\" {{\n  version = \"{version}\"\n  hashes = [\n    \"zh:00\",\n  ]\n}}\n"
        );
        mirrored.scene.write("project/.terraform.lock.hcl", lock);
        let found = mirrored.found(&format!("verify {from} --from-lock project"));
        assert_eq!(found.codes(), codes, "{:#?}", found.findings);
    }
}

/// It names its stores, and all versions of its providers are verified: clients may install each of them.
#[test]
fn a_mirror_file_names_stores_and_providers() {
    let mirrored = Mirrored::new();
    let provider = mirrored.origin.address("acme/demo");
    let file = format!(
        "to = [\"oci-layout:store\"]\ntrust = \"trust.toml\"\nnewest = 1\n\n[[provider]]\naddress = \"{provider}\"\n"
    );
    mirrored.scene.write("mirror.toml", &file);
    let verify = "verify --file mirror.toml --require-pinned";
    mirrored.found(verify).are_none();
    let compared = format!("{verify} --against-origin");
    mirrored.found(&compared).are_none();
    untag(&mirrored.layout("store"), "evidence-1.0.0");
    let found = mirrored.found(verify).are(&["evidence-missing"], 1);
    mirrored.fix(&found.findings[0]);
    // A platform that it names is wanted, though no version has it.
    let named = format!("{file}platforms = [\"linux_amd64\", \"windows_amd64\"]\n");
    mirrored.scene.write("mirror.toml", named);
    let platforms = ["darwin_arm64", "linux_amd64", "windows_amd64"];
    let all = Provider::demo(&PLATFORMS).version("1.1.0", &platforms);
    mirrored.origin.publish(all);
    let found = mirrored.found("verify --file mirror.toml --against-origin");
    let found = found.are(&["platform-not-mirrored"], 4);
    assert_eq!(found.findings[0]["platform"], "windows_amd64");
    let nowhere = file.replace("to = [\"oci-layout:store\"]\n", "");
    mirrored.scene.write("nowhere.toml", nowhere);
    mirrored.tfoci("verify --file nowhere.toml").exits(2);
}

#[test]
fn all_providers_of_a_store_are_verified() {
    let mirrored = Mirrored::new();
    let run = mirrored.tfoci("verify --from oci-layout:store").succeeds();
    run.shows("2 versions of 1 provider");
    mirrored.tfoci("verify --from oci-layout:none").exits(1);
    mirrored.tfoci("verify").exits(2);
    // A provider that the store does not have.
    let found = mirrored.found("verify acme/other --from oci-layout:store");
    found.are(&["version-missing"], 1);
}

#[test]
fn the_gravest_findings_come_first() {
    let mirrored = Mirrored {
        scene: trusting(),
        origin: Origin::of(Provider::many(3, 2, &["linux_amd64"])),
    };
    for number in 0..3 {
        let provider = mirrored.origin.address(&format!("acme/p{number}"));
        let mirror = format!("mirror {provider}@>=1.0.0 --to oci-layout:many");
        mirrored.tfoci(&mirror).succeeds();
    }
    let host = mirrored.origin.host().replace(':', "_");
    let layout = |name: &str| mirrored.scene.path(format!("many/{host}/acme/{name}"));
    untag(&layout("p0"), "1.0.0");
    untag(&layout("p1"), "evidence-1.0.0");
    retag(&layout("p1"), "0.5", "1.1.0");
    let found = mirrored.found("verify --from oci-layout:many");
    let order: Vec<&Value> = found.findings.iter().map(|one| &one["code"]).collect();
    let expected = ["evidence-missing", "evidence-orphan", "tag-not-canonical"];
    assert_eq!(order, expected);
}
