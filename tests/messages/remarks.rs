//! A key that its registry does not serve any more, a trust file that matches no provider, and a host with a port.

use super::{Case, check};
use crate::mirror::origin_scene::{OriginScene, folder};
use crate::support::origin::Release;
use crate::support::signer::Signer;

/// An origin of `acme/demo`, whose key a trust file pins by its fingerprint.
fn pinned(release: impl Into<Release>) -> OriginScene {
    let stage = OriginScene::release(release);
    let pin = format!(
        "[[provider]]\nmatch = \"{}/acme/*\"\nkeys = [\"{}\"]\n",
        stage.origin.host(),
        Signer::acme().fingerprint()
    );
    stage.scene.write("trust.toml", pin);
    stage
}

/// A registry that drops its key does what an attacker would do. No allowance voids the pin.
#[test]
fn a_pin_holds_although_the_origin_serves_less() {
    let without_key = || Release::from(folder()).keys(&[]);
    for allowance in ["", "--allow-unsigned [ORIGIN]/*/*"] {
        let more = format!("--trust trust.toml {allowance}");
        let stage = pinned(without_key());
        stage
            .demo(&stage.named(&more))
            .says(
                3,
                "
error: [ORIGIN]/acme/demo 1.0.0 ([ORIGIN]): the signature of the checksum document cannot be checked without the pinned key
  expected [ACME] (named by trust.toml, line 3)
  received no such key

hint: nothing of this version was written. The origin does not serve the pinned key, which may be an attack: ask the author. If you have the key, name its file with `--key FILE`
",
            )
            .gives(&[]);
        assert!(stage.installs().is_empty());
    }
    // The file of the key stands in for the origin's.
    let stage = pinned(without_key());
    stage
        .scene
        .write("acme.asc", Signer::acme().public_armored());
    stage
        .demo("--trust trust.toml --key acme.asc -q")
        .says(0, "");
}

/// A misspelt `match` is not taken for a check.
#[test]
fn a_trust_file_that_covers_no_provider_of_the_run_is_a_warning() {
    let stage = OriginScene::release(folder());
    let entry = "[[provider]]\nmatch = \"other.example/acme/*\"\nkeys = [\"acme.asc\"]\n";
    stage.scene.write("trust.toml", entry);
    stage
        .scene
        .write("acme.asc", Signer::acme().public_armored());
    let said = stage.demo("--trust trust.toml").ends(0);
    let warning = "   Warning no entry of trust.toml matches [ORIGIN]/acme/demo: ";
    assert_eq!(said.matches(warning).count(), 1, "{said}");
}

#[test]
fn a_template_that_a_host_with_a_port_does_not_fit() {
    check(&[Case {
        label: "a host with a port in the name of a repository",
        given: |author| author.with_release_in_place(),
        arguments: "push dist --provider h.example:8443/acme/demo --key acme.asc --to registry.example.net/{hostname}/{namespace}/{type}",
        exit: 1,
        says: r"
error: the repository template `registry.example.net/{hostname}/{namespace}/{type}` has no repository for `h.example:8443/acme/demo`
  `registry.example.net/h.example:8443/acme/demo` is not a repository: only the registry may have a port, and neither tag nor digest is allowed: `:8443/acme/demo`

hint: the name of a repository has no port. Give such a host a template of its own, such as `'registry.example.net/local/${namespace}/${type}'`, and read it with `--default-host h.example:8443`
",
    }]);
}
