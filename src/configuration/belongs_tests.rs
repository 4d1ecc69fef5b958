//! Whether an installed module belongs to a call.

use std::collections::BTreeSet;

use super::installed_tests::{MODULES, REMOTE, module, types};
use super::tests::{read_as, tree};
use super::*;

fn called(source: &str, version: Option<&str>) -> String {
    let version = version.map(|version| format!(" version = \"{version}\"\n"));
    let version = version.unwrap_or_default();
    format!("module m {{\n source = \"{source}\"\n{version}}}\n")
}

/// What is not followed, of a project with one call and one entry.
fn not_followed(call: &str, source: &str, version: &str, client: Client) -> BTreeSet<String> {
    let entry = format!(
        r#"{{"Modules": [{{"Key": "m", "Source": "{source}", "Version": "{version}", "Dir": "net"}}]}}"#
    );
    let home = tree(&[
        ("main.tf", call),
        ("net/main.tf", &module("net", &[])),
        (MODULES, &entry),
    ]);
    let found = Requirements::read(home.path(), &read_as(Some(client))).unwrap();
    let is_read = types(&found) == ["net"];
    assert_eq!(is_read, found.not_followed.is_empty());
    found.not_followed
}

#[test]
fn an_installed_module_belongs_to_the_call_as_it_is_written_now() {
    use Client::{OpenTofu, Terraform};
    let github = "git::https://github.com/acme/net.git";
    let (tofu, terraform) = (
        "registry.opentofu.org/acme/net/aws",
        "registry.terraform.io/acme/net/aws",
    );
    for (source, constraints, recorded, version, client, belongs) in [
        (REMOTE, None, REMOTE, "", OpenTofu, true),
        (
            "git::https://example.com/net.git?ref=v2",
            None,
            REMOTE,
            "",
            OpenTofu,
            false,
        ),
        ("github.com/acme/net", None, github, "", Terraform, true),
        // As versions of clients before normalisation wrote it.
        (
            "github.com/acme/net",
            None,
            "github.com/acme/net",
            "",
            OpenTofu,
            true,
        ),
        // A form that tfoci does not know, but the same text.
        (
            "b.s3.amazonaws.com/x",
            None,
            "b.s3.amazonaws.com/x",
            "",
            OpenTofu,
            true,
        ),
        ("acme/net/aws", None, tofu, "1.2.0", OpenTofu, true),
        ("acme/net/aws", None, terraform, "1.2.0", Terraform, true),
        (
            "acme/net/aws",
            Some(">=   1.0,< 2"),
            tofu,
            "1.2.0",
            OpenTofu,
            true,
        ),
        ("acme/net/aws", Some("1.2.0"), tofu, "1.2.0", OpenTofu, true),
        (
            "acme/net/aws",
            Some("~> 1.3"),
            tofu,
            "1.2.0",
            OpenTofu,
            false,
        ),
        ("acme/net/aws", Some("~> 2"), tofu, "1.2.0", OpenTofu, false),
        (
            "acme/net/aws",
            Some("~> 1.0"),
            tofu,
            "2.0.0",
            OpenTofu,
            false,
        ),
        (
            "acme/net/aws",
            Some("v1.2.0"),
            tofu,
            "1.2.0",
            OpenTofu,
            true,
        ),
        (
            "acme/net/aws",
            Some(" >=v1,!= v1.3 "),
            tofu,
            "1.2.0",
            OpenTofu,
            true,
        ),
    ] {
        let found = not_followed(&called(source, constraints), recorded, version, client);
        let wanted: BTreeSet<String> = (!belongs).then(|| source.to_owned()).into_iter().collect();
        assert_eq!(found, wanted, "{source} {constraints:?}");
    }
}

/// Only the client computes or compares them.
#[test]
fn a_call_that_cannot_be_compared_has_its_entry() {
    let registry = "registry.opentofu.org/acme/net/aws";
    for (source, version, recorded) in [
        ("\"./${var.kind}\"", "", "./net"),
        ("var.source", "", "./net"),
        ("\"acme/net/aws\"", "version = var.version", registry),
        ("\"acme/net/aws\"", "version = \">= 1.0.0-a\"", registry),
    ] {
        let call = format!("module m {{\n source = {source}\n {version}\n}}\n");
        let found = not_followed(&call, recorded, "1.0.0", Client::OpenTofu);
        assert!(found.is_empty(), "{source}");
    }
}
