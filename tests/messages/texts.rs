//! Addresses, versions, constraints and hashes that are none.

use std::error::Error;
use std::fmt::Debug;
use std::str::FromStr;

use tfoci::address::Hostname;
use tfoci::fingerprint::Fingerprint;
use tfoci::hash::PackageHash;
use tfoci::version::Version;

use crate::support::author::Author;

/// Runs `tfoci`, which refuses its arguments with this sentence.
#[track_caller]
fn refused(arguments: &[&str], sentence: &str) {
    let author = Author::new();
    let run = author.tfoci(arguments).exits(2).without_result();
    run.says(&format!("error: {sentence}\n"));
}

/// Reads texts, each of which is refused with its sentence.
#[track_caller]
fn unreadable<T: FromStr<Err: Error> + Debug>(cases: &[(&str, &str)]) {
    for (text, sentence) in cases {
        assert_eq!(text.parse::<T>().unwrap_err().to_string(), *sentence);
    }
}

#[test]
fn hosts() {
    let long = "a".repeat(64);
    for (host, problem) in [
        (":80", "it is empty"),
        (
            "example.com:99999",
            "its port is not valid\n  expected a number of at most 65535",
        ),
        (
            &long,
            "it is longer than DNS allows\n  expected at most 63 characters a label and 253 in all",
        ),
    ] {
        let address = format!("{host}/acme/demo");
        refused(
            &["versions", &address, "--from", "oci-layout:store"],
            &format!("`{host}` is not a host name: {problem}"),
        );
    }
    unreadable::<Hostname>(&[(
        "https://example.com",
        "`https://example.com` is not a host name: it is a URL\n  expected the host alone, with a port if need be",
    )]);
    // Directories of a store that are named otherwise hold no provider, and are passed over.
    assert_eq!(
        Hostname::from_path_segment("Example.com")
            .unwrap_err()
            .to_string(),
        "`Example.com` is not a host name: it is not the form of a path\n  expected punycode, lower case, with `_` before a port other than 443"
    );
}

#[test]
fn names() {
    let long = "a".repeat(256);
    let shown = format!("{}…", "a".repeat(200));
    for (namespace, shown, problem) in [
        ("", "", "it is empty"),
        (
            &long,
            &shown,
            "it is too long\n  expected at most 255 bytes",
        ),
        (
            "a.b",
            "a.b",
            "it has a dot\n  expected letters, digits and inner dashes\n\nhint: an address with a host has three parts: `a.b/NAMESPACE/TYPE`",
        ),
        (
            "ac--me",
            "ac--me",
            "it has two dashes in a row\n  expected single ones",
        ),
    ] {
        let address = format!("{namespace}/demo");
        refused(
            &["versions", &address, "--from", "oci-layout:store"],
            &format!("`{shown}` is not a namespace: {problem}"),
        );
    }
}

#[test]
fn selections() {
    refused(
        &[
            "install",
            "me:hunter2@acme/demo@1.0.0",
            "--from",
            "oci-layout:store",
            "--into",
            "out",
        ],
        "`…@1.0.0` has the name and password of a user\n  expected ADDR or ADDR@CONSTRAINTS",
    );
}

/// The name of a repository with a port, and a version as an address has it.
#[test]
fn references() {
    for (repository, version) in [
        ("localhost:5000/tofu/a.example/acme/demo", "@1.0.0"),
        ("ghcr.io/acme/a.example/acme/demo", ""),
    ] {
        refused(
            &[
                "install",
                &format!("{repository}{version}"),
                "--into",
                "out",
            ],
            &format!(
                "`{repository}` is not a provider address\n  expected HOSTNAME/NAMESPACE/TYPE\n\nhint: a version in a repository is `{repository}:VERSION`, as `push` prints it"
            ),
        );
    }
}

#[test]
fn constraints() {
    for (constraint, part, problem) in [
        ("1.0.0,,2", "", "there is nothing beside a comma"),
        (
            "~1",
            "~1",
            "its operator is not `~>`\n  expected `~> 1.2.3` for at least 1.2.3 and below 1.3",
        ),
        (
            "?1",
            "?1",
            "its operator is unknown\n  expected `=`, `!=`, `>`, `>=`, `<`, `<=` or `~>`",
        ),
        (">=", ">=", "there is no version after the operator"),
        (
            ">=  1",
            ">=  1",
            "it has too much space\n  expected one space at most, after the operator",
        ),
        (
            "1||2",
            "1||2",
            "it offers a choice, and all parts must hold\n  expected a single range, such as `>= 1.2.0, < 3.0.0`",
        ),
        (
            "1 - 2",
            "1 - 2",
            "it is a range with a dash\n  expected `>= 1.2.0, <= 2.0.0`",
        ),
        (
            "[1,2)",
            "[1,2)",
            "it is an interval in brackets\n  expected `>= 1.2.0, < 2.0.0`",
        ),
        (
            "1.x",
            "1.x",
            "it has a wildcard\n  expected `~> 1.2.0` for any 1.2, `~> 1.0` for any 1, or no constraint",
        ),
        (
            "1.2.3.4",
            "1.2.3.4",
            "its version has too many numbers\n  expected at most three",
        ),
        (
            ">18446744073709551616",
            ">18446744073709551616",
            "its version has a number that is too large\n  expected at most 18446744073709551615",
        ),
        (
            "0.0.0",
            "0.0.0",
            "0.0.0 stands for no version and cannot be installed",
        ),
        (
            "newest",
            "newest",
            "its form is unknown\n  expected an operator and a version, such as `>= 1.2.0`",
        ),
    ] {
        let address = format!("acme/demo@{constraint}");
        refused(
            &[
                "install",
                &address,
                "--from",
                "oci-layout:store",
                "--into",
                "out",
            ],
            &format!("`{part}` is not a version constraint: {problem}"),
        );
    }
}

#[test]
fn versions() {
    unreadable::<Version>(&[
        ("", "`` is not a version: it is empty"),
        (
            "1,2",
            "`1,2` is not a version: it is a list\n  expected one version",
        ),
        (
            ">1",
            "`>1` is not a version: it is a constraint\n  expected a version without an operator",
        ),
        ("1 ", "`1 ` is not a version: it has white space"),
        (
            "1.2.3.4",
            "`1.2.3.4` is not a version: it has too many numbers\n  expected at most three",
        ),
        (
            "1.x",
            "`1.x` is not a version: it has a wildcard\n  expected numbers",
        ),
        (
            "18446744073709551616.0.0",
            "`18446744073709551616.0.0` is not a version: it has a number that is too large\n  expected at most 18446744073709551615",
        ),
    ]);
}

#[test]
fn hashes() {
    unreadable::<PackageHash>(&[(
        "zh:0",
        "`zh:0` is not a package hash: expected SCHEME:VALUE, such as `zh:` and 64 hex digits",
    )]);
    unreadable::<Fingerprint>(&[(
        "16122978F255039A",
        "`16122978F255039A` is not a fingerprint: expected 40 or 64 hex digits",
    )]);
}

#[test]
fn lock_files() {
    let deep = format!("a = {}", "(".repeat(300));
    let blocks = "a {\n".repeat(70);
    let many = "a {}\n".repeat(200_001);
    for (text, problem, line) in [
        ("= 1", "neither an attribute nor a block begins here", 1),
        (
            "a b = 1",
            "a name is followed by none of `=`, `{` and a label",
            1,
        ),
        ("a \"${b}\" {\n}\n", "a label is not plain text", 1),
        ("a = 1\na = 2\n", "the attribute `a` is defined twice", 2),
        (
            "a {} b {}\n",
            "an attribute or block is followed by something in the same line",
            1,
        ),
        (
            "a { b { c = 1 } }\n",
            "a block on one line holds one attribute at most, and no block",
            1,
        ),
        ("a = (1\n]\n", "`]` closes nothing", 2),
        (&deep, "nested more than 256 levels deep", 1),
        (&blocks, "nested more than 64 levels deep", 65),
        (
            &many,
            "more than 200000 blocks, labels and attributes",
            200_001,
        ),
    ] {
        let author = Author::new();
        author.scene.write("lock.hcl", text);
        let arguments = "mirror --from-lock lock.hcl --to oci-layout:store";
        let arguments: Vec<&str> = arguments.split(' ').collect();
        author.tfoci(&arguments).exits(2).without_result().says(&format!(
            "error: lock.hcl is not a lock file\n  not valid HCL: {problem}\n    at line {line}\n"
        ));
    }
}

/// The parser has limits of its own, for parentheses and for operators, and this template keeps to both.
#[test]
fn templates_that_nest_too_deep() {
    let operators = " && true".repeat(110);
    let (open, close) = ("(".repeat(60), " ? true : true)".repeat(60));
    let template = format!("x/${{{open}true{operators}{close}}}");
    let shown: String = template.chars().take(200).collect();
    refused(
        &["resolve", "acme/demo", "--from", &template],
        &format!(
            "the repository template `{shown}…` is wrong\n  the template nests deeper than 200 levels"
        ),
    );
}
