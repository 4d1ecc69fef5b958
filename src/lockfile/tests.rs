use proptest::prelude::*;

use super::*;

const TERRAFORM: &str = include_str!("../../testdata/locks/terraform.hcl");
const TOFU: &str = include_str!("../../testdata/locks/tofu.hcl");

fn parse(text: &str) -> LockFile {
    LockFile::parse(text.as_bytes()).unwrap()
}

fn entry(version: &str, constraints: &str, hashes: &[&str]) -> LockedProvider {
    LockedProvider {
        version: version.parse().unwrap(),
        constraints: constraints.parse().unwrap(),
        hashes: hashes.iter().map(|hash| hash.parse().unwrap()).collect(),
    }
}

fn zh(digit: char) -> String {
    format!("zh:{}", digit.to_string().repeat(64))
}

#[test]
fn what_clients_write_is_printed_as_they_write_it() {
    for (text, client, host) in [
        (TERRAFORM, Client::Terraform, "registry.terraform.io"),
        (TOFU, Client::OpenTofu, "registry.opentofu.org"),
    ] {
        let file = parse(text);
        assert_eq!(file.to_string(), text);
        assert_eq!(file.written_by, Some(client));
        assert_eq!(client.default_host().as_ascii(), host);
        assert_eq!(file.entries.len(), 6);
        let grown = &file.entries[&"example.com/acme/grown".parse().unwrap()];
        assert_eq!(grown.version.to_string(), "2.0.0-beta.1+build.5");
        assert_eq!(grown.constraints.as_exact(), Some(&grown.version));
        assert_eq!(grown.hashes.len(), 4);
        let unlike = PackageHash::Other {
            scheme: "zh".into(),
            value: "short".into(),
        };
        assert!(grown.hashes.contains(&unlike));
    }
}

#[test]
fn what_people_write_is_put_in_order() {
    let text = r#"// Theirs
provider "b.example/a/b" {
hashes=["h9:a b", "h9:a b","h1:"]
version="1.0.0"
}
module "x" {
  anything = 1
}
provider "a.example/a/b" {
  version = "2.0.0"
  constraints = ""
}"#;
    let file = parse(text);
    assert_eq!(file.written_by, None);
    assert_eq!(
        file.to_string(),
        r#"# This file is maintained automatically by "tofu init".
# Manual edits may be lost in future updates.

provider "a.example/a/b" {
  version = "2.0.0"
}

provider "b.example/a/b" {
  version = "1.0.0"
  hashes = [
    "h1:",
    "h9:a b",
  ]
}
"#
    );
    assert_eq!(parse(""), LockFile::default());
}

/// The message for a file.
fn refused(text: &str) -> String {
    LockFile::parse(text.as_bytes()).unwrap_err().to_string()
}

/// The inside of an entry, the line of the mistake, and what is said.
const ENTRIES: &[(&str, usize, &str)] = &[
    ("", 2, "an entry has no `version`"),
    ("version = 1", 3, "`version` is not text in quotes"),
    (
        "version = \"${1}.0.0\"",
        3,
        "`version` is not text in quotes",
    ),
    (
        "version = \"1.0\"",
        3,
        "a version is not in its normal form\n  expected 1.0.0\n  received 1.0",
    ),
    (
        "version = \"v1.0.0\"",
        3,
        "`v1.0.0` is not a version\n  expected MAJOR.MINOR.PATCH, optionally with -PRE and +META",
    ),
    (
        "version = \"1.0.0\"\nconstraints = \">= 1\"",
        4,
        "version constraints are not in their normal form\n  expected >= 1.0.0\n  received >= 1",
    ),
    (
        "version = \"1.0.0\"\nconstraints = \"^1\"",
        4,
        "`^1` is not a version constraint\n  expected comparisons such as `>= 1.2.0, < 2.0.0`, `~> 1.2` or `1.2.0`",
    ),
    (
        "version = \"1.0.0\"\nhashes = []",
        4,
        "`hashes` is not a list of text in quotes, with at least one",
    ),
    (
        "version = \"1.0.0\"\nhashes = \"zh:\"",
        4,
        "`hashes` is not a list of text in quotes, with at least one",
    ),
    (
        "version = \"1.0.0\"\nhashes = [\n\"a:b\",\n1]",
        6,
        "`hashes` is not a list of text in quotes, with at least one",
    ),
    (
        "version = \"1.0.0\"\nhashes = [\n\"a:b\",\n,]",
        6,
        "not valid HCL: an attribute or block is malformed, repeated, or does not end",
    ),
    (
        "version = \"1.0.0\"\nhashes = [\":b\"]",
        4,
        "`:b` is not a package hash\n  expected SCHEME:VALUE",
    ),
    (
        "version = \"1.0.0\"\nhashes = [\"b\"]",
        4,
        "`b` is not a package hash\n  expected SCHEME:VALUE",
    ),
    (
        "version = \"1.0.0\"\nhash = []",
        4,
        "a lock file has no `hash` here",
    ),
    (
        "version = \"1.0.0\"\nhashes {}",
        4,
        "`hashes` is not a list of text in quotes, with at least one",
    ),
];

#[test]
fn each_refusal_of_an_entry_has_its_own_message() {
    let provider =
        |inside: &str| format!("\nprovider \"example.com/acme/demo\" {{\n{inside}\n}}\n");
    let in_entry =
        |line: usize| format!("\n  at line {line}, in the entry of example.com/acme/demo");
    for (inside, line, message) in ENTRIES.iter().copied() {
        assert_eq!(
            refused(&provider(inside)),
            message.to_owned() + &in_entry(line),
            "{inside}"
        );
    }
}

#[test]
fn each_refusal_of_a_block_has_its_own_message() {
    let twice = "provider \"example.com/acme/demo\" {\nversion = \"1.0.0\"\n}\n".repeat(2);
    assert_eq!(
        refused(&twice),
        "one provider has two entries\n  the first at line 1\n  at line 4, in the entry of example.com/acme/demo"
    );
    for (text, message) in [
        (
            "\nversion = 1",
            "a lock file has no `version` here\n  at line 2",
        ),
        (
            "\nresource \"x\" {}",
            "a lock file has no `resource` here\n  at line 2",
        ),
        (
            "\nprovider {}",
            "`provider` is not a block with 1 label\n  at line 2",
        ),
        (
            "\nmodule a b {}",
            "`module` is not a block with 1 label\n  at line 2",
        ),
        (
            "\nprovider acme {}",
            "`acme` is not a provider address\n  expected HOSTNAME/NAMESPACE/TYPE\n  at line 2",
        ),
        (
            "\nprovider \"acme/demo\" {}",
            "`acme/demo` is not a provider address\n  expected HOSTNAME/NAMESPACE/TYPE\n  at line 2",
        ),
        (
            "\nprovider \"example.com/Acme/demo\" {}",
            "an address is not in its normal form\n  expected example.com/acme/demo\n  received example.com/Acme/demo\n  at line 2",
        ),
        (
            "\nprovider \"registry.terraform.io/-/demo\" {}",
            "`-` is not a namespace\n  expected letters, digits and single inner dashes, at most 255 bytes\n  at line 2",
        ),
        (
            "\nprovider \"terraform.io/builtin/terraform\" {}",
            "`terraform.io/builtin/terraform` is built into the client and never installed\n  at line 2",
        ),
        (
            "\nprovider \"a\" {",
            "not valid HCL: an attribute or block is malformed, repeated, or does not end\n  at line 2",
        ),
    ] {
        assert_eq!(refused(text), message, "{text}");
    }
}

#[test]
fn there_are_limits() {
    let large = format!("#{}", "x".repeat(LARGEST));
    assert_eq!(refused(&large), "more than 8388608 bytes\n  at line 1");
    assert_eq!(
        refused(&"module \"x\" {}\n".repeat(MOST + 1)),
        "more than 10000 entries\n  at line 1"
    );
    let hashes: String = (0..=MOST).map(|n| format!("\"a:{n}\",")).collect();
    let many = format!(
        "provider \"example.com/acme/demo\" {{\nversion = \"1.0.0\"\nhashes = [{hashes}]\n}}"
    );
    assert_eq!(
        refused(&many),
        "more than 10000 hashes\n  at line 3, in the entry of example.com/acme/demo"
    );
}

#[test]
fn an_entry_grows_until_its_version_changes() {
    let provider: ProviderAddr = "example.com/acme/demo".parse().unwrap();
    let [a, b] = ['a', 'b'].map(zh);
    let mut file = LockFile::default();
    let mut add = |version, constraints, hashes: &[&str]| {
        file.add(provider.clone(), entry(version, constraints, hashes));
        file.entries[&provider].clone()
    };
    let first = entry("1.0.0", "~> 1.0", &[&a]);
    assert_eq!(add("1.0.0", "~> 1.0", &[&a]), first);
    assert_eq!(add("1.0.0", "", &[]), entry("1.0.0", "", &[&a]));
    let both = entry("1.0.0", ">= 1", &[&a, &b]);
    assert_eq!(add("1.0.0", ">= 1", &[&b]), both);
    assert_eq!(add("1.1.0", "", &[&b]), entry("1.1.0", "", &[&b]));
}

fn any_entry() -> impl Strategy<Value = LockedProvider> {
    let hash = prop_oneof![
        any::<[u8; 32]>().prop_map(PackageHash::Zh),
        any::<[u8; 32]>().prop_map(PackageHash::H1),
        ("[a-z0-9]{1,3}", "[^\\p{C}\"\\\\$%]{0,8}")
            .prop_map(|(scheme, value)| PackageHash::Other { scheme, value }),
    ];
    let version = "[0-9]{1,3}\\.[0-9]\\.[0-9](-rc\\.[0-9])?(\\+b[0-9])?";
    (
        version,
        "(~> 1\\.[0-9])?|>= [1-9]\\.0, < 9",
        prop::collection::btree_set(hash, 0..5),
    )
        .prop_map(|(version, constraints, hashes)| LockedProvider {
            hashes,
            ..entry(&version, &constraints, &[])
        })
}

proptest! {
    #[test]
    fn hashes_are_added_in_any_order_and_never_lost(one in any_entry(), other in any_entry()) {
        let provider: ProviderAddr = "example.com/acme/demo".parse().unwrap();
        let other = LockedProvider { version: one.version.clone(), constraints: one.constraints.clone(), ..other };
        let all = |entries: &[&LockedProvider]| {
            let mut file = LockFile::default();
            entries.iter().for_each(|entry| file.add(provider.clone(), (*entry).clone()));
            file.entries
        };
        let both = all(&[&one, &other]);
        prop_assert_eq!(&all(&[&other, &one]), &both);
        prop_assert_eq!(&all(&[&one, &other, &one, &other]), &both);
        let hashes = &both[&provider].hashes;
        prop_assert!(hashes.is_superset(&one.hashes) && hashes.is_superset(&other.hashes));
    }

    #[test]
    fn what_is_printed_is_read_again(
        entries in prop::collection::btree_map("(bücher|[a-z]{1,3})\\.example(:8443)?/[a-z]{1,3}/[a-zä]{1,3}", any_entry(), 0..4),
    ) {
        let entries = entries.into_iter().map(|(provider, entry)| (provider.parse().unwrap(), entry)).collect();
        let file = LockFile { written_by: Some(Client::Terraform), entries };
        prop_assert_eq!(LockFile::parse(file.to_string().as_bytes()), Ok(file));
    }

    #[test]
    fn never_panics(
        inside in "((version|hashes|constraints|x) ?= ?(\\[?\"[a-z0-9:.]{0,6}\",?\\]?|1|\\[\\]){1,2}\n){0,3}",
        outside in "(provider|module)? ?(\"?[a-z./]{0,12}\"?)? ?",
    ) {
        let _ = LockFile::parse(format!("{outside}{{\n{inside}}}\n").as_bytes());
    }
}

#[test]
fn a_byte_order_mark_hides_no_header() {
    for client in [Client::OpenTofu, Client::Terraform] {
        let text = format!("\u{feff}{}\n", client.header());
        let file = LockFile::parse(text.as_bytes()).unwrap();
        assert_eq!(file.written_by, Some(client));
    }
}
