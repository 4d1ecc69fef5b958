//! Trust files, keys and patterns that cannot be used.

use super::{Case, check};
use crate::support::author::Author;
use crate::support::signer::Signer;

const NOTHING: fn(&Author) = |_| {};

#[test]
fn trust_files_keys_and_patterns() {
    check(&[
        Case {
            label: "a trust file that is no TOML",
            given: |author| {
                author.scene.write("trust.toml", "[[provider]\n");
            },
            arguments: "push dist --provider acme/demo --trust trust.toml --to oci-layout:store",
            exit: 2,
            says: r"
error: trust.toml is not a trust file
  the trust file is malformed
  line 1, column 12: unclosed array table, expected `]`
    |
  1 | [[provider]
    |            ^

hint: `tfoci help trust` shows a trust file
",
        },
        Case {
            label: "a trust file with a misspelled field",
            given: |author| {
                author.scene.write(
                    "trust.toml",
                    "[[provider]]\nmatch = \"example.com/*/*\"\nkey = []\n",
                );
            },
            arguments: "push dist --provider acme/demo --trust trust.toml --to oci-layout:store",
            exit: 2,
            says: r"
error: trust.toml is not a trust file
  the trust file is malformed
  line 3, column 1: unknown field `key`, expected one of `match`, `keys`, `unsigned`, `expired`, `weak`
    |
  3 | key = []
    | ^^^

hint: did you mean `keys`? `tfoci help trust` shows a trust file
",
        },
        Case {
            label: "a trust file that depends on the default host",
            given: |author| {
                author.scene.write(
                    "trust.toml",
                    "[[provider]]\nmatch = \"acme/*\"\nkeys = []\n",
                );
            },
            arguments: "push dist --provider acme/demo --trust trust.toml --to oci-layout:store",
            exit: 2,
            says: r"
error: trust.toml is not a trust file
  line 2: the pattern `acme/*` has two parts, and needs three
    expected HOSTNAME/NAMESPACE/TYPE, such as `example.com/acme/*`, `example.com/*/*`, or `*/*/*` for all

hint: `tfoci help trust` shows a trust file
",
        },
        Case {
            label: "a trust file that is not there",
            given: NOTHING,
            arguments: "push dist --provider acme/demo --trust trust.toml --to oci-layout:store",
            exit: 1,
            says: r"
error: cannot read trust.toml
  No such file or directory (os error 2)
  named by --trust
",
        },
        Case {
            label: "a trust file that names a key which is not there",
            given: |author| {
                author.scene.write(
                    "trust.toml",
                    "[[provider]]\nmatch = \"*/*/*\"\nkeys = [\"keys/acme.asc\"]\n",
                );
            },
            arguments: "push dist --provider acme/demo --trust trust.toml --to oci-layout:store",
            exit: 1,
            says: r"
error: cannot read keys/acme.asc
  No such file or directory (os error 2)
  named by `keys` in trust.toml, line 3
",
        },
        Case {
            label: "a key id in a trust file",
            given: |author| {
                author.scene.write(
                    "trust.toml",
                    "[[provider]]\nmatch = \"*/*/*\"\nkeys = [\n  \"acme.asc\",\n  \"B607 35FF C389 3BFB\",\n]\n",
                );
            },
            arguments: "push dist --provider acme/demo --trust trust.toml --to oci-layout:store",
            exit: 2,
            says: r"
error: trust.toml is not a trust file
  line 5: `B607 35FF C389 3BFB` is a short key id, which more than one key can have
    expected a fingerprint of 40 or 64 digits

hint: `gpg --show-keys --with-fingerprint FILE` prints the fingerprint of a key
",
        },
        Case {
            label: "a short key id of 8 digits",
            given: |author| {
                author.scene.write(
                    "trust.toml",
                    "[[provider]]\nmatch = \"*/*/*\"\nkeys = [\"0xC3893BFB\"]\n",
                );
            },
            arguments: "push dist --provider acme/demo --trust trust.toml --to oci-layout:store",
            exit: 2,
            says: r"
error: trust.toml is not a trust file
  line 3: `0xC3893BFB` is a short key id, which more than one key can have
    expected a fingerprint of 40 or 64 digits

hint: `gpg --show-keys --with-fingerprint FILE` prints the fingerprint of a key
",
        },
        Case {
            label: "a fingerprint without its last digit",
            given: |author| {
                author.scene.write(
                    "trust.toml",
                    "[[provider]]\nmatch = \"*/*/*\"\nkeys = [\"86B3 5B54 AFA9 C2E9 F7BC  38E8 B607 35FF C389 3BF\"]\n",
                );
            },
            arguments: "push dist --provider acme/demo --trust trust.toml --to oci-layout:store",
            exit: 2,
            says: r"
error: trust.toml is not a trust file
  line 3: `86B3 5B54 AFA9 C2E9 F7BC  38E8 B607 35FF C389 3BF` is not a fingerprint: expected 40 or 64 hex digits

hint: `gpg --show-keys --with-fingerprint FILE` prints the fingerprint of a key
",
        },
        Case {
            label: "a fingerprint with colons",
            given: |author| {
                author.scene.write(
                    "trust.toml",
                    "[[provider]]\nmatch = \"*/*/*\"\nkeys = [\"86:B3:5B:54:AF:A9:C2:E9:F7:BC:38:E8:B6:07:35:FF:C3:89:3B:FB\"]\n",
                );
            },
            arguments: "push dist --provider acme/demo --trust trust.toml --to oci-layout:store",
            exit: 2,
            says: r"
error: trust.toml is not a trust file
  line 3: `86:B3:5B:54:AF:A9:C2:E9:F7:BC:38:E8:B6:07:35:FF:C3:89:3B:FB` is not how a fingerprint is written
    expected 86B35B54AFA9C2E9F7BC38E8B60735FFC3893BFB, or its digits with blanks

hint: `tfoci help trust` shows a trust file
",
        },
        Case {
            label: "a fingerprint as a URI",
            given: |author| {
                author.scene.write(
                    "trust.toml",
                    "[[provider]]\nmatch = \"*/*/*\"\nkeys = [\"openpgp4fpr:86b35b54afa9c2e9f7bc38e8b60735ffc3893bfb\"]\n",
                );
            },
            arguments: "push dist --provider acme/demo --trust trust.toml --to oci-layout:store",
            exit: 2,
            says: r"
error: trust.toml is not a trust file
  line 3: `openpgp4fpr:86b35b54afa9c2e9f7bc38e8b60735ffc3893bfb` is not how a fingerprint is written
    expected 86B35B54AFA9C2E9F7BC38E8B60735FFC3893BFB, or its digits with blanks

hint: `tfoci help trust` shows a trust file
",
        },
        Case {
            label: "a fingerprint with colons in place of a key file",
            given: NOTHING,
            arguments: "push dist --provider acme/demo --key 86:B3:5B:54:AF:A9:C2:E9:F7:BC:38:E8:B6:07:35:FF:C3:89:3B:FB --to oci-layout:store",
            exit: 2,
            says: r"
error: `--key` takes a file of public keys
  received the fingerprint 86:B3:5B:54:AF:A9:C2:E9:F7:BC:38:E8:B6:07:35:FF:C3:89:3B:FB

hint: a fingerprint goes into `keys` of a trust file (`tfoci help trust`); `gpg --export --armor FINGERPRINT` writes the key itself
",
        },
        Case {
            label: "a fingerprint in place of a key file",
            given: NOTHING,
            arguments: "push dist --provider acme/demo --key 86B35B54AFA9C2E9F7BC38E8B60735FFC3893BFB --to oci-layout:store",
            exit: 2,
            says: r"
error: `--key` takes a file of public keys
  received the fingerprint 86B35B54AFA9C2E9F7BC38E8B60735FFC3893BFB

hint: a fingerprint goes into `keys` of a trust file (`tfoci help trust`); `gpg --export --armor FINGERPRINT` writes the key itself
",
        },
        Case {
            label: "a key that is not there",
            given: NOTHING,
            arguments: "push dist --provider acme/demo --key missing.asc --to oci-layout:store",
            exit: 1,
            says: r"
error: cannot read missing.asc
  No such file or directory (os error 2)
  named by --key
",
        },
        Case {
            label: "more keys than any owner has",
            given: |author| {
                author.with_release_in_place();
                let many = Signer::acme().public_armored().repeat(257);
                author.scene.write("many.asc", many);
            },
            arguments: "push dist --provider acme/demo --key many.asc --to oci-layout:store",
            exit: 1,
            says: r"
error: registry.opentofu.org/acme/demo 1.0.0 (dist): the release comes with too many keys
  expected at most 256
  received more
",
        },
        Case {
            label: "a pattern that is none",
            given: NOTHING,
            arguments: "push dist --provider acme/demo --allow-unsigned acme --to oci-layout:store",
            exit: 2,
            says: r"
error: `acme` is not a pattern of providers
  expected HOSTNAME/NAMESPACE/TYPE, such as `example.com/acme/*`, `example.com/*/*`, or `*/*/*` for all
",
        },
        Case {
            label: "a pattern with half a star",
            given: NOTHING,
            arguments: "push dist --provider acme/demo --allow-unsigned acme/de* --to oci-layout:store",
            exit: 2,
            says: r"
error: the pattern `acme/de*` has a `*` within a segment
  expected `*` for the whole segment
",
        },
        Case {
            label: "only pinned, and nothing is",
            given: |author| {
                author.with_pushed();
            },
            arguments: "inspect acme/demo@1.0.0 --from oci-layout:store --require-pinned",
            exit: 2,
            says: r"
error: registry.opentofu.org/acme/demo 1.0.0 (oci-layout:store): no key is pinned

hint: pin its fingerprint or key file for `registry.opentofu.org/acme/demo` in a trust file; or name the key with `--key FILE`, which replaces the key files of a trust file. Without a host, `acme/demo` means registry.opentofu.org/acme/demo: `--default-host registry.terraform.io` is for Terraform's
",
        },
    ]);
}
