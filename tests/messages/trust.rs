//! Releases that are not authentic.

use super::{Case, check};
use crate::support::author::{Author, two_platforms};
use crate::support::release::{Mistake, ReleaseFolder};
use crate::support::signer::Signer;
use crate::support::testdata;

fn mistake(author: &Author, mistake: Mistake) {
    two_platforms()
        .mistake(mistake)
        .write(&author.scene.path("dist"));
}

/// The release whose document every key of `testdata/keys` has signed, with the signature of one of them.
fn signed_by(author: &Author, case: &str) {
    let document = std::fs::read_to_string(testdata("keys/SHA256SUMS")).unwrap();
    for line in document.lines() {
        let (_, name) = line.split_once("  ").unwrap();
        let platform = name.strip_prefix("terraform-provider-demo_1.0.0_").unwrap();
        let platform = platform.strip_suffix(".zip").unwrap();
        author.scene.write(format!("dist/{name}"), platform);
    }
    let put = |from: String, to: &str| {
        author
            .scene
            .write(to, std::fs::read(testdata(&from)).unwrap());
    };
    put(
        "keys/SHA256SUMS".to_owned(),
        "dist/terraform-provider-demo_1.0.0_SHA256SUMS",
    );
    put(
        format!("keys/{case}.sig"),
        "dist/terraform-provider-demo_1.0.0_SHA256SUMS.sig",
    );
    let key = if case == "armoured" { "rsa2048" } else { case };
    put(format!("keys/{key}.asc"), "key.asc");
}

/// A signature whose type is not that of a signature over a document.
fn standalone(author: &Author) {
    two_platforms().write(&author.scene.path("dist"));
    let path = author
        .scene
        .path("dist/terraform-provider-demo_1.0.0_SHA256SUMS.sig");
    let mut signature = std::fs::read(&path).unwrap();
    // Behind a header of two bytes, a version and a type.
    assert_eq!(signature[2..4], [4, 0]);
    signature[3] = 2;
    std::fs::write(path, signature).unwrap();
}

fn pin(author: &Author, line: &str) {
    let text = format!("[[provider]]\nmatch = \"registry.opentofu.org/acme/*\"\n{line}\n");
    author.scene.write("trust.toml", text);
}

#[test]
fn signatures() {
    check(&[
        Case {
            label: "no signature",
            given: |author| mistake(author, Mistake::SignatureMissing),
            arguments: "push dist --provider acme/demo --key acme.asc --to oci-layout:store",
            exit: 3,
            says: r"
error: registry.opentofu.org/acme/demo 1.0.0 (dist): the checksum document is not signed
  expected a signature by acme.asc (named by --key)
  received none

hint: nothing of this version was written. Keys are pinned for this provider, so it needs a signature by one of them, which `gpg --detach-sign FILE` makes as FILE.sig
",
        },
        Case {
            label: "no signature, and unsigned is allowed for others than those with a pinned key",
            given: |author| mistake(author, Mistake::SignatureMissing),
            arguments: "push dist --provider acme/demo --key acme.asc --allow-unsigned acme/demo --to oci-layout:store",
            exit: 3,
            says: r"
error: registry.opentofu.org/acme/demo 1.0.0 (dist): the checksum document is not signed
  expected a signature by acme.asc (named by --key)
  received none

hint: nothing of this version was written. `--allow-unsigned` does not apply to a provider with pinned keys, so it needs a signature by one of them, which `gpg --detach-sign FILE` makes as FILE.sig
",
        },
        Case {
            label: "no key",
            given: |author| two_platforms().write(&author.scene.path("dist")),
            arguments: "push dist --provider acme/demo --to oci-layout:store",
            exit: 3,
            says: r"
error: registry.opentofu.org/acme/demo 1.0.0 (dist): the signature of the checksum document cannot be checked without a key

hint: nothing of this version was written. Name the file of the author's public key with `--key FILE`; a fingerprint is not enough for push: the folder has no key to compare it with
",
        },
        Case {
            label: "neither",
            given: |author| mistake(author, Mistake::SignatureMissing),
            arguments: "push dist --provider acme/demo --to oci-layout:store",
            exit: 3,
            says: r"
error: registry.opentofu.org/acme/demo 1.0.0 (dist): the checksum document is not signed

hint: nothing of this version was written. To go without a signature, `--allow-unsigned registry.opentofu.org/acme/demo`
",
        },
        Case {
            label: "the document was changed",
            given: |author| mistake(author, Mistake::DocumentAltered),
            arguments: "push dist --provider acme/demo --key acme.asc --to oci-layout:store",
            exit: 3,
            says: r"
error: registry.opentofu.org/acme/demo 1.0.0 (dist): the signature `terraform-provider-demo_1.0.0_SHA256SUMS.sig` is not over this checksum document
  key [ACME]

hint: nothing of this version was written. The document was changed after it was signed, or the signature is another document's
",
        },
        Case {
            label: "no OpenPGP",
            given: |author| mistake(author, Mistake::SignatureBroken),
            arguments: "push dist --provider acme/demo --key acme.asc --to oci-layout:store",
            exit: 3,
            says: r"
error: registry.opentofu.org/acme/demo 1.0.0 (dist): the signature `terraform-provider-demo_1.0.0_SHA256SUMS.sig` is not an OpenPGP signature that can be read

hint: nothing of this version was written. `gpg --detach-sign FILE` makes one
",
        },
        Case {
            label: "signed by another author",
            given: |author| mistake(author, Mistake::SignatureByStranger),
            arguments: "push dist --provider acme/demo --key acme.asc --to oci-layout:store",
            exit: 3,
            says: r"
error: registry.opentofu.org/acme/demo 1.0.0 (dist): the signature `terraform-provider-demo_1.0.0_SHA256SUMS.sig` is by another key
  expected [ACME] `Acme Provider Signing (test key) <security@acme.example>` (named by --key)
  received [STRANGER]

hint: nothing of this version was written. If its author has changed keys, get the new one from the author (`tfoci help trust`, if that is you) and name it with `--key FILE`
",
        },
        Case {
            label: "signed by another author, and unsigned is allowed",
            given: |author| mistake(author, Mistake::SignatureByStranger),
            arguments: "push dist --provider acme/demo --key acme.asc --allow-unsigned acme/demo --to oci-layout:store",
            exit: 3,
            says: r"
error: registry.opentofu.org/acme/demo 1.0.0 (dist): the signature `terraform-provider-demo_1.0.0_SHA256SUMS.sig` is by another key
  expected [ACME] `Acme Provider Signing (test key) <security@acme.example>` (named by --key)
  received [STRANGER]

hint: nothing of this version was written. If its author has changed keys, get the new one from the author (`tfoci help trust`, if that is you) and name it with `--key FILE`
",
        },
        Case {
            label: "armoured",
            given: |author| mistake(author, Mistake::SignatureArmored),
            arguments: "push dist --provider acme/demo --key acme.asc --to oci-layout:store",
            exit: 3,
            says: r"
error: registry.opentofu.org/acme/demo 1.0.0 (dist): the signature `terraform-provider-demo_1.0.0_SHA256SUMS.sig` is armoured
  expected binary, the only form that clients accept
  received text

hint: nothing of this version was written. Sign without `--armor`, or convert it with `gpg --dearmor`
",
        },
        Case {
            label: "a signature of a type that is not for documents",
            given: standalone,
            arguments: "push dist --provider acme/demo --key acme.asc --to oci-layout:store",
            exit: 3,
            says: r"
error: registry.opentofu.org/acme/demo 1.0.0 (dist): the signature `terraform-provider-demo_1.0.0_SHA256SUMS.sig` is of an unsupported kind
  received Standalone
",
        },
        Case {
            label: "SHA-1",
            given: |author| signed_by(author, "sha1-document"),
            arguments: "push dist --provider acme/demo --key key.asc --to oci-layout:store",
            exit: 3,
            says: r#"
error: registry.opentofu.org/acme/demo 1.0.0 (dist): the signature `terraform-provider-demo_1.0.0_SHA256SUMS.sig` uses SHA-1 over the checksum document
  key AFBDC290915FD6D0FED06B7A92E65CC74F07AFA5

hint: nothing of this version was written. Sign with `--digest-algo SHA256`; `weak = "warn"` in a trust file lets it pass
"#,
        },
    ]);
}

#[test]
fn keys() {
    check(&[
        Case {
            label: "a key that is none",
            given: |author| {
                two_platforms().write(&author.scene.path("dist"));
                author.scene.write("key.asc", "secret");
            },
            arguments: "push dist --provider acme/demo --key key.asc --to oci-layout:store",
            exit: 2,
            says: r"
error: `key.asc` holds no OpenPGP key
  expected a whole public key, armored or binary
  named by --key

hint: `gpg --export --armor FINGERPRINT` writes one
",
        },
        Case {
            label: "a signature in place of a key",
            given: |author| {
                two_platforms().write(&author.scene.path("dist"));
                let signature = "dist/terraform-provider-demo_1.0.0_SHA256SUMS.sig";
                let signature = author.scene.path(signature);
                std::fs::copy(signature, author.scene.path("key.sig")).unwrap();
            },
            arguments: "inspect acme/demo@1.0.0 --from oci-layout:store --key key.sig",
            exit: 2,
            says: r"
error: `key.sig` holds no OpenPGP key
  expected a whole public key, armored or binary
  named by --key

hint: `gpg --export --armor FINGERPRINT` writes one
",
        },
        Case {
            label: "a trust file in place of a key",
            given: |author| {
                let entry = "[[provider]]\nmatch = \"*/*/*\"\n";
                author.scene.write("trust.toml", entry);
            },
            arguments: "push dist --provider acme/demo --key trust.toml --to oci-layout:store",
            exit: 2,
            says: r"
error: `trust.toml` holds no OpenPGP key
  expected a whole public key, armored or binary
  named by --key

hint: a trust file is named with `--trust`
",
        },
        Case {
            label: "a key in place of a trust file",
            given: |author| {
                let key = "-----BEGIN PGP PUBLIC KEY BLOCK-----\n";
                author.scene.write("key.asc", key);
            },
            arguments: "push dist --provider acme/demo --trust key.asc --to oci-layout:store",
            exit: 2,
            says: r"
error: key.asc is not a trust file
  received an armored OpenPGP key

hint: a file of keys is named with `--key`, or by `keys` in a trust file
",
        },
        Case {
            label: "a key file of a trust file that is none",
            given: |author| {
                let entry = "[[provider]]\nmatch = \"*/*/*\"\nkeys = [\"key.asc\"]\n";
                author.scene.write("trust.toml", entry);
                author.scene.write("key.asc", "secret");
            },
            arguments: "push dist --provider acme/demo --trust trust.toml --to oci-layout:store",
            exit: 2,
            says: r"
error: `key.asc` holds no OpenPGP key
  expected a whole public key, armored or binary
  named by `keys` in trust.toml, line 3

hint: `gpg --export --armor FINGERPRINT` writes one
",
        },
        Case {
            label: "a key of five megabytes",
            given: |author| {
                two_platforms().write(&author.scene.path("dist"));
                author.scene.write("key.asc", vec![b'a'; 5 << 20]);
            },
            arguments: "push dist --provider acme/demo --key key.asc --to oci-layout:store",
            exit: 1,
            says: r"
error: cannot read key.asc
  expected at most 4194304 bytes
  received 5242880 bytes
  named by --key
",
        },
        Case {
            label: "another key is pinned",
            given: |author| {
                two_platforms().write(&author.scene.path("dist"));
                pin(author, &format!("keys = [\"{}\"]", "A".repeat(40)));
            },
            arguments: "push dist --provider acme/demo --trust trust.toml --to oci-layout:store",
            exit: 3,
            says: r#"
error: registry.opentofu.org/acme/demo 1.0.0 (dist): the signature `terraform-provider-demo_1.0.0_SHA256SUMS.sig` is by another key
  expected AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA (named by trust.toml, line 3)
  received [ACME]

hint: nothing of this version was written. If its author has changed keys, get the new one from the author (`tfoci help trust`, if that is you) and add an entry for this provider alone, above the one in trust.toml, line 3: `match = "registry.opentofu.org/acme/demo"`, with its file and the keys of its other releases in `keys`
"#,
        },
        Case {
            label: "the fingerprint of the right key, and no key",
            given: |author| {
                two_platforms().write(&author.scene.path("dist"));
                pin(
                    author,
                    &format!("keys = [\"{}\"]", Signer::acme().fingerprint()),
                );
            },
            arguments: "push dist --provider acme/demo --trust trust.toml --allow-unsigned acme/demo --to oci-layout:store",
            exit: 3,
            says: r"
error: registry.opentofu.org/acme/demo 1.0.0 (dist): the signature of the checksum document cannot be checked without the pinned key
  expected [ACME] (named by trust.toml, line 3)
  received no such key

hint: nothing of this version was written. A fingerprint is not enough here, since there is no key to compare it with: name the file of the pinned key with `--key FILE`
",
        },
        Case {
            label: "keys, and no signature needed",
            given: |author| {
                two_platforms().write(&author.scene.path("dist"));
                pin(author, "keys = [\"acme.asc\"]\nunsigned = \"allow\"");
            },
            arguments: "push dist --provider acme/demo --trust trust.toml --to oci-layout:store",
            exit: 2,
            says: r#"
error: trust.toml is not a trust file
  line 2: the trust file's entry for `registry.opentofu.org/acme/*` has `keys` and `unsigned = "allow"`

hint: `unsigned` has no meaning beside `keys`: leave out one of them, or write two entries: the first that matches decides
"#,
        },
        Case {
            label: "the pinned key is another one's",
            given: |author| {
                two_platforms().write(&author.scene.path("dist"));
                pin(
                    author,
                    &format!("keys = [\"{}\"]", Signer::stranger().fingerprint()),
                );
            },
            arguments: "push dist --provider acme/demo --trust trust.toml --key acme.asc --to oci-layout:store",
            exit: 3,
            says: r#"
error: registry.opentofu.org/acme/demo 1.0.0 (dist): the signature `terraform-provider-demo_1.0.0_SHA256SUMS.sig` is by a key that is not pinned
  expected [STRANGER] (named by trust.toml, line 3)
  received [ACME] `Acme Provider Signing (test key) <security@acme.example>`

hint: nothing of this version was written. If the author says that this key is theirs, add an entry for this provider alone, above the one in trust.toml, line 3: `match = "registry.opentofu.org/acme/demo"`, with "[ACME]" and the keys of its other releases in `keys`
"#,
        },
        Case {
            label: "a revoked key",
            given: |author| signed_by(author, "revoked"),
            arguments: "push dist --provider acme/demo --key key.asc --to oci-layout:store",
            exit: 3,
            says: r"
error: registry.opentofu.org/acme/demo 1.0.0 (dist): the signature `terraform-provider-demo_1.0.0_SHA256SUMS.sig` is by a revoked key
  key E56B60758C6D6E7630CD2A9F21FA22C0E0E7ABE9

hint: nothing of this version was written. The release needs a signature by a key that is in use
",
        },
        Case {
            label: "a key that may not sign",
            given: |author| signed_by(author, "certify-only"),
            arguments: "push dist --provider acme/demo --key key.asc --to oci-layout:store",
            exit: 3,
            says: r"
error: registry.opentofu.org/acme/demo 1.0.0 (dist): the signature `terraform-provider-demo_1.0.0_SHA256SUMS.sig` is by a key that may not sign
  key FDEE2F0A451E7D74E0D369FADFDBF2335ABA5761

hint: nothing of this version was written. The release needs a signature by a key that is in use
",
        },
        Case {
            label: "an unsupported curve",
            given: |author| signed_by(author, "brainpoolP256r1"),
            arguments: "push dist --provider acme/demo --key key.asc --to oci-layout:store",
            exit: 3,
            says: r"
error: registry.opentofu.org/acme/demo 1.0.0 (dist): the signature `terraform-provider-demo_1.0.0_SHA256SUMS.sig` is by a key of an unsupported algorithm
  key FDC64BB9DDD504E60CA5B7E20A7C829464419725
  algorithm brainpoolP256r1
",
        },
        Case {
            label: "the key has expired",
            given: |author| {
                signed_by(author, "expired-before");
                pin(author, "keys = [\"key.asc\"]\nexpired = \"refuse\"");
            },
            arguments: "push dist --provider acme/demo --trust trust.toml --to oci-layout:store",
            exit: 3,
            says: r#"
error: registry.opentofu.org/acme/demo 1.0.0 (dist): the signature `terraform-provider-demo_1.0.0_SHA256SUMS.sig` is by an expired key
  key FB115E33801559B027AA1233AE4169F062F4082A

hint: nothing of this version was written. If it was made while the key was in use, `expired = "warn"` in the trust file lets it pass, as clients do
"#,
        },
    ]);
}

/// The signature is good, and a rule of the user refuses it.
#[test]
fn a_stored_version_whose_key_had_expired() {
    let author = Author::new();
    let signer = Signer::expired_before();
    let release = ReleaseFolder::new("demo", "1.0.0").platform("linux_amd64");
    release.signed_by(signer).write(&author.scene.path("dist"));
    author.scene.write("key.asc", signer.public_armored());
    let pushed = author.push(&["--key", "key.asc"]).succeeds().stderr;
    let (_, rest) = pushed.split_once(" expired on ").unwrap();
    let date = rest.get(..10).unwrap();
    assert!(date.starts_with("20"), "{pushed}");
    let key = signer.fingerprint();
    let warning = format!(
        "   Warning registry.opentofu.org/acme/demo 1.0.0: the key {key} expired on {date}. Clients accept the signature, and `expired = \"refuse\"` in a trust file refuses it\n"
    );
    assert!(pushed.contains(&warning), "{pushed}");
    pin(&author, "keys = [\"key.asc\"]\nexpired = \"refuse\"");
    let inspect = "inspect acme/demo --trust trust.toml --from oci-layout:store";
    let words: Vec<&str> = inspect.split(' ').collect();
    let says = format!(
        r#"error: registry.opentofu.org/acme/demo 1.0.0 (oci-layout:store): the stored version does not verify
  the signature `SHA256SUMS.sig` is by an expired key
    key {}

hint: the trust file refuses expired keys. If the signature was made while the key was in use, `expired = "warn"` lets it pass, as clients do; else do not use these packages
"#,
        signer.fingerprint()
    );
    assert_eq!(author.tfoci(&words).exits(3).stderr, says);
}
