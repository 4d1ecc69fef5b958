use super::{Mirrored, PLATFORMS, demo};
use crate::support::author::two_platforms;
use crate::support::origin::{Fault, Provider, asks};
use crate::support::release::ReleaseFolder;
use crate::support::signer::Signer;

const COMPARED: &str = "--against-origin";

#[test]
fn a_store_that_has_what_its_origin_has_has_no_findings() {
    Mirrored::new().verify(COMPARED).are_none();
}

#[test]
fn what_only_the_origin_has_is_a_difference_and_the_fix_mirrors_it() {
    let mirrored = Mirrored::new();
    mirrored.origin.publish(demo().version("1.2.0", &PLATFORMS));
    let found = mirrored.verify(COMPARED).are(&["version-not-mirrored"], 4);
    let lenient = mirrored.verify(&format!("{COMPARED} --fail-on error"));
    lenient.are(&["version-not-mirrored"], 0);
    // Nothing is compared without the option.
    mirrored.verify("").are_none();
    mirrored.fix(&found.findings[0]);
    mirrored.verify(COMPARED).are_none();
}

/// Another version of the store has the platform, so it is wanted.
#[test]
fn a_platform_that_only_the_origin_has_is_a_difference() {
    let provider = Provider::demo(&["linux_amd64"]).version("1.1.0", &PLATFORMS);
    let mirrored = Mirrored::of(provider, "@>=1.0.0");
    mirrored.origin.publish(demo());
    let found = mirrored.verify(COMPARED).are(&["platform-not-mirrored"], 4);
    assert_eq!(found.findings[0]["platform"], "darwin_arm64");
    assert_eq!(found.findings[0]["version"], "1.0.0");
    mirrored.fix(&found.findings[0]);
    mirrored.verify(COMPARED).are_none();
    // No version has it.
    let mirrored = Mirrored::of(demo(), "@>=1.0.0 --platform linux_amd64");
    mirrored.verify(COMPARED).are_none();
}

#[test]
fn a_version_that_is_withdrawn_or_released_again_is_a_difference() {
    let mirrored = Mirrored::new();
    let newer = Provider::new("acme/demo").version("1.1.0", &PLATFORMS);
    mirrored.origin.publish(newer);
    mirrored.verify(COMPARED).are(&["version-withdrawn"], 4);
    let again: &[(&str, &[u8])] = &[("terraform-provider-demo_v1.0.0", b"again\n")];
    let [one, other] = PLATFORMS;
    let again = ReleaseFolder::new("demo", "1.0.0")
        .package(one, again)
        .package(other, again);
    let provider = Provider::new("acme/demo").release(again);
    mirrored
        .origin
        .publish(provider.version("1.1.0", &PLATFORMS));
    let found = mirrored.verify(COMPARED).are(&["release-changed"], 4);
    assert_eq!(found.findings.len(), 2);
}

#[test]
fn a_new_key_of_the_origin_is_a_difference() {
    let mirrored = Mirrored::of(demo(), "@1.0.0");
    let folder = two_platforms().signed_by(Signer::stranger());
    let provider = Provider::new("acme/demo").release(folder);
    mirrored.origin.publish(provider);
    let line = format!("verify [DEMO]@1.0.0 --from oci-layout:store {COMPARED}");
    let found = mirrored.found(&line).are(&["key-new"], 4);
    let (message, key) = (
        &found.findings[0]["message"],
        Signer::stranger().fingerprint(),
    );
    assert!(message.as_str().unwrap().contains(&key), "{message}");
    // The trust file does not pin it.
    mirrored.verify(COMPARED).are(&["origin-unreadable"], 1);
}

#[test]
fn an_origin_that_fails_is_no_difference() {
    let mirrored = Mirrored::new();
    mirrored.origin.always(asks("versions"), Fault::status(404));
    mirrored.verify(COMPARED).are(&["origin-unreadable"], 1);
}
