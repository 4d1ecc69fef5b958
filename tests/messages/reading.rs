//! Stores that do not have what is asked for, or have it wrong.

use std::fs;

use super::{Case, check};
use crate::support::author::Author;
use crate::support::release::ReleaseFolder;
use crate::support::tamper;

/// The blob of the zip for `linux_amd64`.
fn zip(author: &Author) -> std::path::PathBuf {
    let zip = author
        .scene
        .path("dist/terraform-provider-demo_1.0.0_linux_amd64.zip");
    author.blob(&crate::support::judge::sha256(&zip))
}

/// Changes one byte of a layer of the evidence.
fn altered_evidence(author: &Author, media_type: &str) {
    author.with_pushed();
    let evidence = author.document("evidence-1.0.0");
    let layers = evidence["layers"].as_array().unwrap();
    let layer = layers
        .iter()
        .find(|layer| layer["mediaType"] == media_type)
        .unwrap();
    let hex = layer["digest"]
        .as_str()
        .unwrap()
        .strip_prefix("sha256:")
        .unwrap();
    let mut bytes = fs::read(author.blob(hex)).unwrap();
    bytes[0] ^= 1;
    fs::write(author.blob(hex), bytes).unwrap();
}

/// The evidence of 1.0.0 is put under the tag of 1.1.0's: whole and signed, and about something else.
fn exchanged_evidence(author: &Author) {
    author.with_pushed();
    fs::remove_dir_all(author.scene.path("dist")).unwrap();
    ReleaseFolder::new("demo", "1.1.0")
        .platform("linux_amd64")
        .write(&author.scene.path("dist"));
    author.push(&[]).succeeds();
    let (old, new) = (
        author.tagged("evidence-1.0.0").unwrap(),
        author.tagged("evidence-1.1.0").unwrap(),
    );
    let index = fs::read_to_string(author.repository("index.json")).unwrap();
    let sizes = [&old, &new].map(|hex| fs::metadata(author.blob(hex)).unwrap().len());
    let index = index.replace(
        &format!("sha256:{new}\",\"size\":{}", sizes[1]),
        &format!("sha256:{old}\",\"size\":{}", sizes[0]),
    );
    fs::write(author.repository("index.json"), index).unwrap();
}

/// The store has a release without a signature, and the trust file names a key.
fn unsigned(author: &Author) {
    author.with_pushed_unsigned();
    let entry = "match = \"*/*/*\"\nkeys = [\"acme.asc\"]\n";
    author
        .scene
        .write("trust.toml", format!("[[provider]]\n{entry}"));
}

fn pushed_with_capitals(author: &Author) {
    ReleaseFolder::new("demo", "1.0.0-RC1")
        .platform("linux_amd64")
        .write(&author.scene.path("dist"));
    author.push(&[]).succeeds();
}

#[test]
fn what_is_not_there() {
    check(&[
        Case {
            label: "no store",
            given: |_| {},
            arguments: "versions acme/demo --from oci-layout:store",
            exit: 1,
            says: r"
error: cannot find the directory store

hint: check the path: `tfoci push`, `mirror` and `copy` create a store there. A directory that is one layout by itself needs `--exact-repository`
",
        },
        Case {
            label: "no layout",
            given: |author| {
                author.scene.write("store/x", "");
            },
            arguments: "versions acme/demo --exact-repository --from oci-layout:store",
            exit: 1,
            says: r"
error: no OCI image layout is in store

hint: check the path: `tfoci push`, `mirror` and `copy` create a store there. A directory that is one layout by itself needs `--exact-repository`
",
        },
        Case {
            label: "no provider",
            given: |author| author.with_pushed(),
            arguments: "versions example.com/acme/demo --from oci-layout:store",
            exit: 1,
            says: r"
error: example.com/acme/demo (oci-layout:store): the store has no such repository

hint: `tfoci list --from STORE` lists the providers of the store, with their hosts
",
        },
        Case {
            label: "no such version",
            given: |author| author.with_pushed(),
            arguments: "inspect acme/demo@2.0.0 --from oci-layout:store",
            exit: 1,
            says: r"
error: registry.opentofu.org/acme/demo (oci-layout:store): no version matches `2.0.0`
  has 1.0.0

hint: choose among these by other constraints
",
        },
        Case {
            label: "a tag that clients list and cannot fetch",
            given: |author| {
                author.with_pushed();
                tamper::tags(&author.repository(""), |tags| {
                    tags[0]["annotations"]["org.opencontainers.image.ref.name"] = "1.0.0+x".into();
                });
            },
            arguments: "inspect acme/demo@1.0.0+x --from oci-layout:store",
            exit: 1,
            says: r"
error: registry.opentofu.org/acme/demo (oci-layout:store): the version 1.0.0+x has no tag of its own
  expected 1.0.0_x
  received 1.0.0+x, which clients list but cannot fetch

hint: pushing the version again gives it that tag; `tfoci versions registry.opentofu.org/acme/demo --from STORE --all` explains the others
",
        },
        Case {
            label: "no version that matches",
            given: |author| author.with_pushed(),
            arguments: "install acme/demo@~>2.0 --from oci-layout:store --into out",
            exit: 1,
            says: r"
error: registry.opentofu.org/acme/demo (oci-layout:store): no version matches `~>2.0`
  has 1.0.0

hint: choose among these by other constraints
",
        },
        Case {
            label: "no stable version",
            given: pushed_with_capitals,
            arguments: "install acme/demo --from oci-layout:store --into out",
            exit: 1,
            says: r"
error: registry.opentofu.org/acme/demo (oci-layout:store): no version is stable
  has 1.0.0-RC1

hint: pre-releases are chosen only by name, such as `1.0.0-RC1`
",
        },
        Case {
            label: "no such platform",
            given: |author| author.with_pushed(),
            arguments: "install acme/demo --platform plan9_mips --from oci-layout:store --into out",
            exit: 1,
            says: r"
error: registry.opentofu.org/acme/demo 1.0.0 (oci-layout:store): the platform plan9_mips is missing
  has darwin_arm64, linux_amd64

hint: choose one of these with `--platform`, or mirror or push the one that is missing
",
        },
        Case {
            label: "the zip is gone",
            given: |author| {
                author.with_pushed();
                fs::remove_file(zip(author)).unwrap();
            },
            arguments: "install acme/demo --platform linux_amd64 --from oci-layout:store --into out",
            exit: 1,
            says: r"
error: registry.opentofu.org/acme/demo 1.0.0 linux_amd64 (oci-layout:store): the package sha256:4fa7e60d506416362ae4a4933f2da2a5c755191e68c2d41fb7c13d5c8e023bec is missing

hint: the store is damaged. `--existing replace` of `tfoci push`, or of `tfoci copy` from a store that is whole, writes the version again; so does `tfoci mirror --recheck`
",
        },
    ]);
}

#[test]
fn what_is_wrong() {
    check(&[
        Case {
            label: "the zip was changed",
            given: |author| {
                author.with_pushed();
                let mut bytes = fs::read(zip(author)).unwrap();
                bytes[40] ^= 1;
                fs::write(zip(author), bytes).unwrap();
            },
            arguments: "install acme/demo --platform linux_amd64 --from oci-layout:store --into out",
            exit: 3,
            says: r"
error: registry.opentofu.org/acme/demo 1.0.0 linux_amd64 (oci-layout:store): the package sha256:4fa7e60d506416362ae4a4933f2da2a5c755191e68c2d41fb7c13d5c8e023bec cannot be used
  the bytes do not match their digest
    expected sha256:4fa7e60d506416362ae4a4933f2da2a5c755191e68c2d41fb7c13d5c8e023bec
    received sha256:d993dd4748bb747ac8bc6040fe509b0cec984be742a4a0d3b1841ca3ca76377a

hint: the store is damaged. `--existing replace` of `tfoci push`, or of `tfoci copy` from a store that is whole, writes the version again; so does `tfoci mirror --recheck`
",
        },
        Case {
            label: "the zip is cut short",
            given: |author| {
                author.with_pushed();
                let bytes = fs::read(zip(author)).unwrap();
                fs::write(zip(author), &bytes[..40]).unwrap();
            },
            arguments: "install acme/demo --platform linux_amd64 --from oci-layout:store --into out",
            exit: 3,
            says: r"
error: registry.opentofu.org/acme/demo 1.0.0 linux_amd64 (oci-layout:store): the package sha256:4fa7e60d506416362ae4a4933f2da2a5c755191e68c2d41fb7c13d5c8e023bec cannot be used
  there are fewer bytes than expected
    expected 406 bytes
    received 40 bytes

hint: the store is damaged. `--existing replace` of `tfoci push`, or of `tfoci copy` from a store that is whole, writes the version again; so does `tfoci mirror --recheck`
",
        },
        Case {
            label: "the zip is longer",
            given: |author| {
                author.with_pushed();
                let bytes = fs::read(zip(author)).unwrap();
                fs::write(zip(author), [bytes, vec![0]].concat()).unwrap();
            },
            arguments: "install acme/demo --platform linux_amd64 --from oci-layout:store --into out",
            exit: 3,
            says: r"
error: registry.opentofu.org/acme/demo 1.0.0 linux_amd64 (oci-layout:store): the package sha256:4fa7e60d506416362ae4a4933f2da2a5c755191e68c2d41fb7c13d5c8e023bec cannot be used
  there are more bytes than expected
    expected 406 bytes
    received more

hint: the store is damaged. `--existing replace` of `tfoci push`, or of `tfoci copy` from a store that is whole, writes the version again; so does `tfoci mirror --recheck`
",
        },
        Case {
            label: "the checksum document was changed",
            given: |author| altered_evidence(author, "text/plain"),
            arguments: "install acme/demo --platform linux_amd64 --from oci-layout:store --into out",
            exit: 3,
            says: r"
error: registry.opentofu.org/acme/demo 1.0.0 (oci-layout:store): the evidence sha256:b1e4d9aff3bc4beab52656488f156b655eab9316967f12b950807128debaf209 cannot be used
  the bytes do not match their digest
    expected sha256:b1e4d9aff3bc4beab52656488f156b655eab9316967f12b950807128debaf209
    received sha256:c77c848103aa3e75647fdbdc892840f0bf46899ea094e63852de4c4093e7e809

hint: evidence that cannot be read proves nothing. `tfoci mirror --recheck` writes it anew, and so does pushing the release again, or `tfoci copy` from a store that is whole
",
        },
        Case {
            label: "the evidence is another version's",
            given: exchanged_evidence,
            arguments: "install acme/demo@1.1.0 --platform linux_amd64 --from oci-layout:store --into out",
            exit: 3,
            says: r"
error: registry.opentofu.org/acme/demo 1.1.0 (oci-layout:store): the stored version does not verify
  the checksum document has no SHA-256 for `terraform-provider-demo_1.1.0_linux_amd64.zip`

hint: do not use these packages: either the store was tampered with, or the key that you named is not the author's
",
        },
        Case {
            label: "another key than the one that is given",
            given: |author| author.with_pushed(),
            arguments: "install acme/demo --platform linux_amd64 --key stranger.asc --from oci-layout:store --into out",
            exit: 3,
            says: r"
error: registry.opentofu.org/acme/demo 1.0.0 (oci-layout:store): the stored version does not verify
  the signature `SHA256SUMS.sig` is by a key that is not pinned
    expected [STRANGER] `Another Author (test key) <else@stranger.example>` (named by --key)
    received [ACME] `Acme Provider Signing (test key) <security@acme.example>`

hint: this version is not signed by a key that you named. If the author says that this key is theirs, name its file by another `--key FILE`; else do not use these packages. `tfoci versions registry.opentofu.org/acme/demo --from STORE --key FILE` lists the versions that verify; `'registry.opentofu.org/acme/demo@!= VERSION'` leaves this one out
",
        },
        Case {
            label: "plugin protocols that are no versions",
            given: |author| {
                author.with_pushed();
                tamper::alter(&author.repository(""), "evidence-1.0.0", |evidence| {
                    evidence["annotations"]["org.tfoci.protocols"] = "newest".into();
                });
            },
            arguments: "install acme/demo --platform linux_amd64 --from oci-layout:store --into out",
            exit: 3,
            says: r"
error: registry.opentofu.org/acme/demo 1.0.0 (oci-layout:store): the evidence names no usable plugin protocols
  `newest` is not a plugin protocol version, such as `6.0`

hint: evidence that cannot be read proves nothing. `tfoci mirror --recheck` writes it anew, and so does pushing the release again, or `tfoci copy` from a store that is whole
",
        },
        Case {
            label: "no signature, and only pinned keys are wanted",
            given: unsigned,
            arguments: "install acme/demo --platform linux_amd64 --trust trust.toml --require-pinned --from oci-layout:store --into out",
            exit: 3,
            says: r#"
error: registry.opentofu.org/acme/demo 1.0.0 (oci-layout:store): the stored version does not verify
  the checksum document is not signed
    expected a signature by acme.asc (named by trust.toml, line 3)
    received none

hint: it was stored without a signature. If its author does not sign, add an entry for registry.opentofu.org/acme/demo above the one in trust.toml, line 3, with `unsigned = "allow"` and without `keys`: it unpins all versions of this provider; else do not use these packages. `tfoci versions registry.opentofu.org/acme/demo --from STORE --trust FILE` lists the versions that verify; `'registry.opentofu.org/acme/demo@!= VERSION'` leaves this one out
"#,
        },
        Case {
            label: "no signature, and an option allows it where no key is pinned",
            given: unsigned,
            arguments: "install acme/demo --platform linux_amd64 --trust trust.toml --allow-unsigned acme/demo --from oci-layout:store --into out",
            exit: 3,
            says: r#"
error: registry.opentofu.org/acme/demo 1.0.0 (oci-layout:store): the stored version does not verify
  the checksum document is not signed
    expected a signature by acme.asc (named by trust.toml, line 3)
    received none

hint: it was stored without a signature, and `--allow-unsigned` does not apply to a provider with pinned keys. If its author does not sign, add an entry for registry.opentofu.org/acme/demo above the one in trust.toml, line 3, with `unsigned = "allow"` and without `keys`: it unpins all versions of this provider; else do not use these packages. `tfoci versions registry.opentofu.org/acme/demo --from STORE --trust FILE` lists the versions that verify; `'registry.opentofu.org/acme/demo@!= VERSION'` leaves this one out
"#,
        },
        Case {
            label: "no signature, and a key is named",
            given: unsigned,
            arguments: "install acme/demo --platform linux_amd64 --key acme.asc --from oci-layout:store --into out",
            exit: 3,
            says: r"
error: registry.opentofu.org/acme/demo 1.0.0 (oci-layout:store): the stored version does not verify
  the checksum document is not signed
    expected a signature by acme.asc (named by --key)
    received none

hint: it was stored without a signature. If its author does not sign, leave out `--key`; else do not use these packages. `tfoci versions registry.opentofu.org/acme/demo --from STORE --key FILE` lists the versions that verify; `'registry.opentofu.org/acme/demo@!= VERSION'` leaves this one out
",
        },
    ]);
}

#[test]
fn existing_files_that_block_an_installation() {
    check(&[
        Case {
            label: "another zip",
            given: |author| {
                author.with_pushed();
                author.scene.write("out/registry.opentofu.org/acme/demo/terraform-provider-demo_1.0.0_linux_amd64.zip", "x");
            },
            arguments: "install acme/demo --platform linux_amd64 --from oci-layout:store --into out",
            exit: 3,
            says: r"
error: registry.opentofu.org/acme/demo 1.0.0 linux_amd64: something else is at the path of the package
  out/registry.opentofu.org/acme/demo/terraform-provider-demo_1.0.0_linux_amd64.zip
  expected zh:4fa7e60d506416362ae4a4933f2da2a5c755191e68c2d41fb7c13d5c8e023bec
  received zh:2d711642b726b04401627ca9fbac32f5c8530fb1903cc4db02258717921a4881

hint: nothing was replaced. Remove it, or install into another directory
",
        },
        Case {
            label: "another directory",
            given: |author| {
                author.with_pushed();
                author.scene.write(
                    "out/registry.opentofu.org/acme/demo/1.0.0/linux_amd64/x",
                    "x",
                );
            },
            arguments: "install acme/demo --platform linux_amd64 --unpacked --from oci-layout:store --into out",
            exit: 3,
            says: r"
error: registry.opentofu.org/acme/demo 1.0.0 linux_amd64: something else is at the path of the package
  out/registry.opentofu.org/acme/demo/1.0.0/linux_amd64
  expected h1:ULN8yrUQyE37mEmIPGSTmDzhSWVvAN2Ohh481yZGusE=
  received h1:L20qKtIWZt83wfJC5IPSr98syPr6yQ0ZQf4DeI9xnr0=

hint: nothing was replaced. Remove it, or install into another directory
",
        },
        Case {
            label: "the other form",
            given: |author| {
                author.with_pushed();
                author.scene.write(
                    "out/registry.opentofu.org/acme/demo/1.0.0/linux_amd64/x",
                    "x",
                );
            },
            arguments: "install acme/demo --platform linux_amd64 --from oci-layout:store --into out",
            exit: 3,
            says: r"
error: registry.opentofu.org/acme/demo 1.0.0 linux_amd64: the mirror has the package in the other form
  out/registry.opentofu.org/acme/demo/1.0.0/linux_amd64
  expected a zip
  received a directory

hint: clients would choose between the two forms by accident. Remove one, or install in the same form
",
        },
        Case {
            label: "capital letters",
            given: pushed_with_capitals,
            arguments: "install acme/demo@1.0.0-RC1 --platform linux_amd64 --from oci-layout:store --into out",
            exit: 1,
            says: r"
error: registry.opentofu.org/acme/demo 1.0.0-RC1: clients cannot find a version with capital letters in a packed mirror

hint: install it with `--unpacked`
",
        },
        Case {
            label: "a file in the directory's place",
            given: |author| {
                author.with_pushed();
                author.scene.write("out", "x");
            },
            arguments: "install acme/demo --platform linux_amd64 --from oci-layout:store --into out",
            exit: 1,
            says: r"
error: registry.opentofu.org/acme/demo 1.0.0: out is a file, expected a directory
",
        },
    ]);
}

#[test]
fn a_repository_whose_tags_are_not_versions() {
    check(&[Case {
        label: "another tool moved the tag",
        given: |author| {
            author.with_pushed();
            tamper::tags(&author.repository(""), |tags| {
                for tag in tags {
                    tag["annotations"]["org.opencontainers.image.ref.name"] = "latest".into();
                }
            });
        },
        arguments: "inspect acme/demo --from oci-layout:store",
        exit: 1,
        says: r"
error: registry.opentofu.org/acme/demo (oci-layout:store): no version is listed

hint: `tfoci versions registry.opentofu.org/acme/demo --from STORE --all` lists other tags, if there are any
",
    }]);
}
