//! Commands, options, platforms and versions as other tools write them.

use super::{Case, check};
use crate::support::author::Author;

const NOTHING: fn(&Author) = |_| {};

#[test]
fn spellings_of_other_tools() {
    check(&[
        Case {
            label: "a version as of a container image",
            given: NOTHING,
            arguments: "mirror hashicorp/random:3.6.0 --to oci-layout:store",
            exit: 2,
            says: r"
error: `hashicorp/random:3.6.0`: a version is written after `@`
  expected hashicorp/random@3.6.0
",
        },
        Case {
            label: "the same with a host",
            given: NOTHING,
            arguments: "inspect example.com/acme/demo:1.0.0 --from oci-layout:store",
            exit: 2,
            says: r"
error: `example.com/acme/demo:1.0.0`: a version is written after `@`
  expected example.com/acme/demo@1.0.0
",
        },
        Case {
            label: "a relative path as store",
            given: NOTHING,
            arguments: "push dist --provider acme/demo --to ./mirror",
            exit: 2,
            says: r"
error: `./mirror` is not a store
  expected oci-layout:./mirror for a directory, or REGISTRY/REPOSITORY for a registry
",
        },
        Case {
            label: "an absolute path as store",
            given: NOTHING,
            arguments: "versions acme/demo --from /srv/mirror",
            exit: 2,
            says: r"
error: `/srv/mirror` is not a store
  expected oci-layout:/srv/mirror for a directory, or REGISTRY/REPOSITORY for a registry
",
        },
        Case {
            label: "an option that does not exist",
            given: NOTHING,
            arguments: "versions acme/demo -o json --from oci-layout:store",
            exit: 2,
            says: r"
error: unexpected argument '-o' found

  tip: `--format json` prints one document

Usage: tfoci versions [OPTIONS] --from <STORE> <ADDR>

For more information, try '--help'.
",
        },
        Case {
            label: "JSON, as another tool has it",
            given: NOTHING,
            arguments: "inspect acme/demo --from oci-layout:store --output=json",
            exit: 2,
            says: r"
error: unexpected argument '--output' found

  tip: `--format json` prints one document

Usage: tfoci inspect --from <STORE> <ADDR[@VERSION]>

For more information, try '--help'.
",
        },
        Case {
            label: "a version as an argument of its own",
            given: NOTHING,
            arguments: "inspect acme/demo 1.0.0 --from oci-layout:store",
            exit: 2,
            says: r"
error: unexpected argument '1.0.0' found

  tip: a version follows an `@`: `acme/demo@1.0.0`

Usage: tfoci inspect [OPTIONS] <ADDR[@VERSION]>

For more information, try '--help'.
",
        },
    ]);
}

#[test]
fn platforms_by_the_names_of_other_tools() {
    let pushed: fn(&Author) = Author::with_pushed;
    check(&[
        Case {
            label: "two underscores",
            given: NOTHING,
            arguments: "install acme/demo --from oci-layout:store --into out --platform linux_x86_64",
            exit: 2,
            says: r"
error: `linux_x86_64` is not a platform: expected linux_amd64
",
        },
        Case {
            label: "a dash",
            given: NOTHING,
            arguments: "push dist --provider acme/demo --to oci-layout:store --platform win-x64",
            exit: 2,
            says: r"
error: invalid value 'win-x64' for '--platform <OS_ARCH>': `win-x64` is not a platform: expected windows_amd64

For more information, try '--help'.
",
        },
        Case {
            label: "a system of another name",
            given: pushed,
            arguments: "install acme/demo --from oci-layout:store --into out --platform macos_arm64",
            exit: 1,
            says: r"
error: registry.opentofu.org/acme/demo 1.0.0 (oci-layout:store): the platform macos_arm64 is missing
  has darwin_arm64, linux_amd64

hint: did you mean the platform `darwin_arm64`?
",
        },
        Case {
            label: "an architecture of another name",
            given: pushed,
            arguments: "push dist --provider acme/demo --key acme.asc --to oci-layout:store --platform linux_aarch64",
            exit: 1,
            says: r"
error: registry.opentofu.org/acme/demo (dist): the folder has no zip for this platform
  expected linux_aarch64
  has darwin_arm64, linux_amd64

hint: did you mean the platform `linux_arm64`?
",
        },
    ]);
}

#[test]
fn completion_is_completions() {
    let author = Author::new();
    let [one, other] = ["completion", "completions"].map(|name| author.tfoci(&[name, "bash"]));
    assert_eq!(one.succeeds().stdout, other.succeeds().stdout);
}

#[test]
fn options_of_other_tools() {
    for (arguments, tip) in [
        (
            "versions acme/demo --from x/{namespace}/{type} --json",
            "`--format json` prints one document",
        ),
        (
            "list oci-layout:store",
            "a store is named with `--from oci-layout:store`",
        ),
        (
            "login registry.example.net -p x",
            "`--password-stdin` reads the password from standard input",
        ),
        (
            "mirror acme/demo --to oci-layout:store --platform all",
            "without `--platform`, all are meant",
        ),
        (
            "mirror acme/demo --to oci-layout:store --platform linux_amd64,linux_arm64",
            "repeat the option: `--platform linux_amd64 --platform linux_arm64`",
        ),
        (
            "site --from oci-layout:store --into site",
            "a store is named with `--to`; directories are written by `tfoci site DIR` and `tfoci install --into DIR`",
        ),
        (
            "install acme/demo --from oci-layout:store --into out --client tofu",
            "every client can install from the folder that `--into` names: leave out `--client`",
        ),
        (
            "install acme/demo --client tofu --from oci-layout:store --into out",
            "every client can install from the folder that `--into` names: leave out `--client`",
        ),
        ("list --to oci-layout:store", "did you mean `--from`?"),
        (
            "versions acme/demo --to oci-layout:store",
            "did you mean `--from`?",
        ),
        (
            "inspect acme/demo@1.0.0 --to oci-layout:store",
            "did you mean `--from`?",
        ),
        (
            "resolve acme/demo@1.0.0 --to oci-layout:store",
            "did you mean `--from`?",
        ),
        (
            "site --from oci-layout:store --to site",
            "this command writes to no store: `tfoci site DIR` and `tfoci install --into DIR` write into a directory",
        ),
        (
            "push --from dist --to oci-layout:store",
            "the folder of the release stands alone: `tfoci push FOLDER --to STORE`",
        ),
    ] {
        let run = Author::new()
            .tfoci(&arguments.split(' ').collect::<Vec<_>>())
            .exits(2);
        assert!(
            run.stderr.contains(&format!("tip: {tip}\n")),
            "{}",
            run.stderr
        );
    }
}

#[test]
fn versions_as_other_package_managers_write_them() {
    for (text, meant) in [
        ("acme/demo=1.0.0", "`acme/demo@1.0.0`"),
        ("acme/demo==1.0.0", "`acme/demo@1.0.0`"),
        (
            "example.com/acme/demo>=1.0",
            "`'example.com/acme/demo@>=1.0'`",
        ),
        ("acme/demo~>1.0", "`'acme/demo@~>1.0'`"),
    ] {
        for command in [["mirror", "--to"], ["install", "--from"]] {
            let [command, option] = command;
            let run = Author::new().tfoci(&[command, text, option, "oci-layout:store"]);
            let hint = format!("hint: a version follows an `@`: {meant}\n");
            assert!(run.exits(2).stderr.ends_with(&hint), "{text}");
        }
    }
}

#[test]
fn commands_of_other_tools() {
    for (word, tip) in [
        (
            "verify",
            "`tfoci inspect ADDR@VERSION --from STORE --trust FILE --require-pinned` verifies a version",
        ),
        (
            "pull",
            "`tfoci install` puts packages into this directory, `tfoci mirror` and `tfoci copy` into a store",
        ),
        (
            "sync",
            "`tfoci mirror` copies from origins, and `tfoci copy` from another store",
        ),
        ("publish", "`tfoci push` publishes a release"),
        (
            "sign",
            "tfoci signs nothing: `gpg --detach-sign` makes the signature that `tfoci push` needs",
        ),
        (
            "delete",
            "tfoci deletes nothing from a store: `tfoci help maintenance` says how to withdraw a version",
        ),
        (
            "outdated",
            "`tfoci lock --upgrade` selects the newest versions, and with `--check` only shows them",
        ),
        (
            "backup",
            "`tfoci copy` copies to and from a directory, `oci-layout:DIR`",
        ),
        (
            "show",
            "`tfoci list`, `versions` and `inspect` show what a store has",
        ),
        (
            "pin",
            "`tfoci mirror --pin-new` pins keys, and `tfoci trust` shows those of a trust file",
        ),
        (
            "tokens",
            "`tfoci help credentials` says where tfoci finds passwords and tokens",
        ),
        ("diff", "`tfoci lock --check` compares a lock file"),
    ] {
        let run = Author::new().tfoci(&[word]).exits(2);
        let said = format!("error: unrecognized subcommand '{word}'\n\n  tip: {tip}\n\nUsage: ");
        assert!(run.stderr.starts_with(&said), "{}", run.stderr);
    }
}
