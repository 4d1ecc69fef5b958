//! Whether an installed module belongs to a call.

use std::collections::BTreeSet;

use super::installed::{MODULES, REMOTE, module, types};
use super::*;
use crate::configuration::modules_json::words;

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

/// Seen in the logs of OpenTofu 1.12.6 and Terraform 1.11.4.
const SEEN: [(&str, &str); 39] = [
    (
        "github.com/acme/net",
        "git::https://github.com/acme/net.git",
    ),
    (
        "github.com/acme/net?ref=v1",
        "git::https://github.com/acme/net.git?ref=v1",
    ),
    (
        "github.com/acme/net//sub",
        "git::https://github.com/acme/net.git//sub",
    ),
    (
        "github.com/acme/net//sub?ref=feature/x",
        "git::https://github.com/acme/net.git//sub?ref=feature/x",
    ),
    (
        "github.com/acme/net/sub/dir?ref=v1",
        "git::https://github.com/acme/net.git//sub/dir?ref=v1",
    ),
    (
        "github.com/acme/net.git//a//b?ref=v1",
        "git::https://github.com/acme/net.git//a/b?ref=v1",
    ),
    (
        "github.com/acme/net//./a/../b/?ref=v1",
        "git::https://github.com/acme/net.git//b?ref=v1",
    ),
    (
        "github.com/acme/net.x?ref=v1",
        "git::https://github.com/acme/net.x.git?ref=v1",
    ),
    (
        "github.com/acme/net/?ref=v1",
        "git::https://github.com/acme/net.git?ref=v1",
    ),
    (
        "github.com/acme/net?",
        "git::https://github.com/acme/net.git",
    ),
    (
        "git::github.com/acme/net//s/t?ref=v1",
        "git::https://github.com/acme/net.git//s/t?ref=v1",
    ),
    (
        "github.com/acme/net/aws",
        "git::https://github.com/acme/net.git//aws",
    ),
    (
        "bitbucket.org/acme/net",
        "git::https://bitbucket.org/acme/net.git",
    ),
    (
        "git@github.com:acme/net.git",
        "git::ssh://git@github.com/acme/net.git",
    ),
    (
        "git@github.com:/acme/net.git",
        "git::ssh://git@github.com/acme/net.git",
    ),
    (
        "git@github.com:acme/net.git//sub?ref=v1",
        "git::ssh://git@github.com/acme/net.git//sub?ref=v1",
    ),
    (
        "git@github.com:acme/net.git?ref=feature/x",
        "git::ssh://git@github.com/acme/net.git?ref=feature%2Fx",
    ),
    (
        "git@github.com:acme/net.git?ref=v1&depth=1",
        "git::ssh://git@github.com/acme/net.git?depth=1&ref=v1",
    ),
    (
        "git@github.com:acme/net//?ref=v1.2.3-x_y",
        "git::ssh://git@github.com/acme/net?ref=v1.2.3-x_y",
    ),
    (
        "git@github.com:acme/net.git?ref",
        "git::ssh://git@github.com/acme/net.git?ref=",
    ),
    (
        "git@example.com:22/acme/net.git",
        "git::ssh://git@example.com/22/acme/net.git",
    ),
    (
        "git::git@github.com:acme/net.git?ref=v1",
        "git::ssh://git@github.com/acme/net.git?ref=v1",
    ),
    (
        "git::https://example.com/net.git//sub/?ref=v1",
        "git::https://example.com/net.git//sub?ref=v1",
    ),
    (
        "git::https://example.com/net.git//?ref=v1",
        "git::https://example.com/net.git?ref=v1",
    ),
    (
        "git::https://example.com/net.git//./?ref=v1",
        "git::https://example.com/net.git//.?ref=v1",
    ),
    (
        "git::https://example.com/net.git///a?ref=v1",
        "git::https://example.com/net.git///a?ref=v1",
    ),
    (
        "git::https://example.com//net.git//a?ref=v1",
        "git::https://example.com//net.git/a?ref=v1",
    ),
    (
        "git::https://example.com/net.git?ref=v1//x",
        "git::https://example.com/net.git?ref=v1//x",
    ),
    (
        "git::https://EXAMPLE.com/a/../net.git",
        "git::https://EXAMPLE.com/a/../net.git",
    ),
    ("https://github.com/acme/net", "https://github.com/acme/net"),
    (
        "oci://example.com/x//s?tag=1",
        "oci://example.com/x//s?tag=1",
    ),
    ("/tmp/net//sub", "file:///tmp/net//sub"),
    ("acme/net/aws", "registry.opentofu.org/acme/net/aws"),
    (
        "acme/net/aws//sub/../x/",
        "registry.opentofu.org/acme/net/aws//x",
    ),
    ("Acme/ne-t_x/aws2", "registry.opentofu.org/Acme/ne-t_x/aws2"),
    ("Example.com:443/acme/net/aws", "example.com/acme/net/aws"),
    (
        "example.com:8443/acme/net/aws",
        "example.com:8443/acme/net/aws",
    ),
    (
        "b\u{fc}cher.example/acme/net/aws//",
        "b\u{fc}cher.example/acme/net/aws",
    ),
    ("localhost:80/acme/net/aws", "localhost:80/acme/net/aws"),
];

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
        ("github.com/acme/other", None, github, "", Terraform, false),
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
        ("acme/net/aws", None, terraform, "1.2.0", OpenTofu, false),
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
        ("acme/net/aws", Some("1.2.0"), tofu, "", OpenTofu, false),
        // Unlike `~> 1.0`.
        ("acme/net/aws", Some("~>1"), tofu, "2.0.0", OpenTofu, true),
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

#[test]
fn sources_have_the_words_that_clients_record() {
    let registries = [Hostname::default_origin()];
    let of = |source| words(source, &registries);
    for (source, recorded) in SEEN {
        assert_eq!(of(source), of(recorded), "{source}");
    }
    for (source, recorded) in [
        (
            "github.com/acme/net?ref=v2",
            "git::https://github.com/acme/net.git?ref=v1",
        ),
        (
            "github.com/acme/net",
            "git::https://github.com/acme/net.git?ref=v1",
        ),
        (
            "gitlab.com/acme/net",
            "git::https://github.com/acme/net.git",
        ),
        ("acme/net/aws", "registry.terraform.io/acme/net/aws"),
        ("acme/net/aws//x", "registry.opentofu.org/acme/net/aws//y"),
    ] {
        assert_ne!(of(source), of(recorded), "{source}");
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
        ("\"acme/net/aws\"", "version = \"1.0.0+b\"", registry),
    ] {
        let call = format!("module m {{\n source = {source}\n {version}\n}}\n");
        let found = not_followed(&call, recorded, "1.0.0", Client::OpenTofu);
        assert!(found.is_empty(), "{source}");
    }
}
