//! Stores and CLI configurations in which `lock` does not find a provider.

use super::{Case, check};
use crate::support::author::Author;

#[test]
fn a_store_without_the_provider() {
    check(&[Case {
        label: "an address of two parts",
        given: |author| drop(author.scene.write("store/.keep", "")),
        arguments: "lock acme/demo --from oci-layout:store",
        exit: 1,
        says: r"
error: registry.opentofu.org/acme/demo (oci-layout:store): the store has no such repository

hint: `acme/demo` means registry.opentofu.org/acme/demo; with `--client terraform`, registry.terraform.io/acme/demo. `tfoci list --from STORE` lists the providers
Not written .terraform.lock.hcl, because not every provider could be locked
",
    }]);
}

/// The store behind `oci_mirror` would have the provider. Terraform ignores the block, so tfoci does not look there either.
#[test]
fn installation_methods_that_the_client_does_not_have() {
    let author = Author::new();
    let mut text = "provider_installation {\n".to_owned();
    text += "  oci_mirror {\n    repository_template = \"localhost:1/${namespace}/${type}\"\n    include = [\"*/*\"]\n  }\n";
    text += "  other_mirror {}\n";
    text += "  filesystem_mirror {\n    path = \"mirror\"\n  }\n}\n";
    author.scene.write("client.tfrc", text);
    author.scene.write("mirror/.keep", "");
    let lock = "lock acme/demo --client terraform --cli-config client.tfrc";
    let run = author.tfoci(&lock.split(' ').collect::<Vec<_>>()).exits(1);
    let warnings = "   Warning client.tfrc: Terraform has no `oci_mirror`, so tfoci skips it; `--from` names a store
   Warning client.tfrc: tfoci skips the installation method `other_mirror`
";
    assert!(run.stderr.starts_with(warnings), "{}", run.stderr);
}

/// The host of the author's own providers need not exist.
#[test]
fn a_provider_of_a_host_that_does_not_exist() {
    let author = Author::new();
    let hint = ". If a store has the provider, `--from STORE` names it, or the client's configuration does (`tfoci cli-config`)\n";
    for command in ["lock", "install"] {
        let run = author.tfoci(&[command, "own.invalid/acme/demo"]).exits(1);
        assert!(run.stderr.contains(hint), "{}", run.stderr);
    }
}
