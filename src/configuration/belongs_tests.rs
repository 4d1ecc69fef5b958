//! Whether an installed module belongs to a call.

use std::collections::BTreeSet;

use super::installed_tests::{MODULES, REMOTE, module, types};
use super::tests::{read, read_as, tree};
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
    let how = ReadAs {
        is_strict: true,
        ..read_as(Some(client))
    };
    let found = Requirements::read(home.path(), &how).unwrap();
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

/// A gate must not believe that an entry is about a call that it cannot compare with it.
#[test]
fn a_strict_reader_refuses_what_it_cannot_compare() {
    let registry = "registry.opentofu.org/acme/net/aws";
    for (source, version, recorded, said) in [
        ("\"./${var.kind}\"", "", "./net", "\"./${var.kind}\""),
        ("var.source", "", "./net", "var.source"),
        (
            "\"b.s3.amazonaws.com/x\"",
            "",
            "s3::https://s3.amazonaws.com/b/x",
            "b.s3.amazonaws.com/x",
        ),
        (
            "\"acme/net/aws\"",
            "version = var.version",
            registry,
            "var.version",
        ),
        (
            "\"acme/net/aws\"",
            "version = \">= 1.0.0-a\"",
            registry,
            "acme/net/aws",
        ),
    ] {
        let call = format!("module m {{\n source = {source}\n {version}\n}}\n");
        let entry = format!(
            r#"{{"Modules": [{{"Key": "m", "Source": "{recorded}", "Version": "1.0.0-b", "Dir": "net"}}]}}"#
        );
        let home = tree(&[
            ("main.tf", &*call),
            ("net/main.tf", &module("net", &[])),
            (MODULES, &entry),
        ]);
        let found = read(home.path()).unwrap();
        assert_eq!(types(&found), ["net"], "{source}");
        let how = ReadAs {
            is_strict: true,
            ..read_as(None)
        };
        let error = Requirements::read(home.path(), &how).unwrap_err();
        let place = printable_path(home.path());
        let wanted = match said.contains("var.") {
            true => format!(
                "the source or version of a module is an expression, which tfoci does not compute\n  received {said}\n  in {place}/main.tf:1"
            ),
            false => format!(
                "modules.json may be about another module than the one that is called\n  source {said}\n  called in {place}"
            ),
        };
        assert_eq!(error.to_string(), wanted);
    }
}

/// The library of clients for the versions of modules has rules of its own for them.
#[test]
fn unusual_versions_of_modules_are_not_certain() {
    for (constraints, version) in [
        ("!= 1.0.0", "1.0.0+b"),
        ("= 1.0.0", "1.0.0+b"),
        ("1.0.0+b", "1.0.0"),
        ("~> 1.0", "1.0.0-b"),
        (">= 1.0.0-a", "0.9.0"),
        ("!= 1.0.0.0", "1.0.0"),
        (">= 1.0.0", "1.0.0.1"),
        (">= 0", "0.0.0"),
    ] {
        let registry = "registry.opentofu.org/acme/net/aws";
        let entry = format!(
            r#"{{"Modules": [{{"Key": "m", "Source": "{registry}", "Version": "{version}", "Dir": "net"}}]}}"#
        );
        let home = tree(&[
            ("main.tf", &called("acme/net/aws", Some(constraints))),
            ("net/main.tf", &module("net", &[])),
            (MODULES, &entry),
        ]);
        assert_eq!(types(&read(home.path()).unwrap()), ["net"], "{constraints}");
        let how = ReadAs {
            is_strict: true,
            ..read_as(None)
        };
        let error = Requirements::read(home.path(), &how).unwrap_err();
        assert!(matches!(error, Error::Uncertain { .. }), "{constraints}");
    }
}
