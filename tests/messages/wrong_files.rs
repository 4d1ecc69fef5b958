//! Files of the wrong encoding, kind or content, and paths that a shell should have expanded.

use std::fs;

use super::{Case, check};
use crate::support::author::Author;
use crate::support::signer::Signer;

const MIRROR: &str = "to = [\"oci-layout:store\"]\n[[provider]]\naddress = \"acme.test/acme/demo\"\nplatforms = [\"nothing\"]\n";
const TRUST: &str =
    "[[provider]]\nmatch = \"registry.opentofu.org/acme/*\"\nkeys = [\"acme.asc\"]\n";
const LOCK: &str = "provider \"acme.test/acme/demo\" {\n  version = \"1.0.0\"\n}\n";

/// A text as PowerShell's `>` writes it.
fn utf16(text: &str) -> Vec<u8> {
    let units = format!("\u{feff}{text}");
    units.encode_utf16().flat_map(u16::to_le_bytes).collect()
}

/// A mirror file whose trust file is not UTF-8.
fn mirror_file_with_trust_in_utf16(author: &Author) {
    let mirror = "trust = \"trust.toml\"\nto = [\"oci-layout:store\"]\n[[provider]]\naddress = \"acme.test/acme/demo\"\n";
    author.scene.write("mirror.toml", mirror);
    author.scene.write("trust.toml", utf16(TRUST));
}

const TRUST_OF_MIRROR_IN_UTF16: &str = r"
error: trust.toml is UTF-16 text, expected UTF-8
  named by `trust` in the mirror file

hint: save it as UTF-8; in PowerShell, `Set-Content -Encoding utf8` does
";

#[test]
fn files_in_utf_16() {
    check(&[
        Case {
            label: "a mirror file",
            given: |author| drop(author.scene.write("mirror.toml", utf16(MIRROR))),
            arguments: "mirror --file mirror.toml",
            exit: 2,
            says: r"
error: mirror.toml is UTF-16 text, expected UTF-8
  named by --file

hint: save it as UTF-8; in PowerShell, `Set-Content -Encoding utf8` does
",
        },
        Case {
            label: "a trust file",
            given: |author| drop(author.scene.write("trust.toml", utf16(TRUST))),
            arguments: "trust check trust.toml",
            exit: 2,
            says: r"
error: trust.toml is UTF-16 text, expected UTF-8
  named by the argument FILE

hint: save it as UTF-8; in PowerShell, `Set-Content -Encoding utf8` does
",
        },
        Case {
            label: "the trust file of a mirror file, for mirror",
            given: mirror_file_with_trust_in_utf16,
            arguments: "mirror --file mirror.toml --dry-run",
            exit: 2,
            says: TRUST_OF_MIRROR_IN_UTF16,
        },
        Case {
            label: "the trust file of a mirror file, for copy",
            given: mirror_file_with_trust_in_utf16,
            arguments: "copy --file mirror.toml --from oci-layout:store --to oci-layout:other",
            exit: 2,
            says: TRUST_OF_MIRROR_IN_UTF16,
        },
        Case {
            label: "a lock file to mirror from",
            given: |author| drop(author.scene.write("lock.hcl", utf16(LOCK))),
            arguments: "mirror --from-lock lock.hcl --to oci-layout:store",
            exit: 2,
            says: r"
error: lock.hcl is not a lock file
  not valid HCL: UTF-16 text, expected UTF-8
    at line 1

hint: save it as UTF-8; in PowerShell, `Set-Content -Encoding utf8` does
",
        },
        Case {
            label: "a lock file to update",
            given: |author| {
                author.scene.write("main.tf", "");
                author.scene.write(".terraform.lock.hcl", utf16(LOCK));
            },
            arguments: "lock acme.test/acme/demo --from oci-layout:store",
            exit: 1,
            says: r"
error: the lock file .terraform.lock.hcl cannot be read
  not valid HCL: UTF-16 text, expected UTF-8
    at line 1

hint: save it as UTF-8; in PowerShell, `Set-Content -Encoding utf8` does
",
        },
        Case {
            label: "a file of tokens",
            given: |author| {
                author.scene.write("store/.keep", "");
                author.scene.write("tokens.txt", utf16("ci sha256:0\n"));
            },
            arguments: "serve --from oci-layout:store --plain-http --listen 127.0.0.1:0 --tokens tokens.txt --signing-key no.key",
            exit: 1,
            says: r"
error: tokens.txt is not a file of tokens
  UTF-16 text, expected UTF-8

hint: save it as UTF-8; in PowerShell, `Set-Content -Encoding utf8` does
",
        },
    ]);
}

/// The mistake that each is refused for lies behind the mark.
#[test]
fn a_byte_order_mark_is_accepted() {
    let marked = |text: &str| format!("\u{feff}{text}");
    let author = Author::new();
    author.with_pushed();
    let line = format!("ci sha256:{}\nci secret\n", "0".repeat(64));
    for (name, text) in [
        ("mirror.toml", MIRROR),
        ("trust.toml", TRUST),
        ("lock.hcl", "provider \"acme.test/acme/demo\" {\n}\n"),
        ("tokens.txt", &line),
    ] {
        author.scene.write(name, marked(text));
    }
    let key = fs::read(author.scene.path("acme.asc")).unwrap();
    let key = [&b"\xef\xbb\xbf"[..], &key].concat();
    author.scene.write("acme.asc", key);
    for (arguments, said) in [
        ("mirror --file mirror.toml", "line 4 cannot be understood"),
        (
            "mirror --from-lock lock.hcl --to oci-layout:store",
            "an entry has no `version`",
        ),
        (
            "serve --from oci-layout:store --plain-http --listen 127.0.0.1:0 --tokens tokens.txt --signing-key no.key",
            "line 2 is not a token",
        ),
    ] {
        let run = author.tfoci(&arguments.split(' ').collect::<Vec<_>>());
        assert!(run.stderr.contains(said), "{}", run.stderr);
    }
    for key in ["--trust trust.toml", "--key acme.asc"] {
        let inspect = format!("inspect acme/demo@1.0.0 --from oci-layout:store {key}");
        let run = author.tfoci(&inspect.split(' ').collect::<Vec<_>>());
        assert!(run.succeeds().stdout.contains("(pinned)"));
    }
}

#[test]
fn a_file_of_tokens_without_any() {
    check(&[Case {
        label: "a comment only",
        given: |author| {
            author.scene.write("store/.keep", "");
            author.scene.write("tokens.txt", "# none yet\n");
        },
        arguments: "serve --from oci-layout:store --plain-http --listen 127.0.0.1:0 --tokens tokens.txt --signing-key no.key",
        exit: 1,
        says: r"
error: tokens.txt is not a file of tokens
  it has no token, so no client would be authorized
    expected NAME sha256:HEX on a line

hint: `tfoci help deployment` shows how to make a token
",
    }]);
}

#[test]
fn paths_with_a_tilde() {
    check(&[
        Case {
            label: "the trust file of a mirror file",
            given: |author| {
                let trust = "trust = \"~/trust.toml\"\nto = [\"oci-layout:store\"]\n";
                let provider = "[[provider]]\naddress = \"acme.test/acme/demo\"\n";
                author
                    .scene
                    .write("team/mirror.toml", format!("{trust}{provider}"));
            },
            arguments: "mirror --file team/mirror.toml",
            exit: 1,
            says: r"
error: there is no trust file team/~/trust.toml
  named by `trust` in team/mirror.toml

hint: tfoci does not expand `~`: write the whole path
",
        },
        Case {
            label: "the key of a trust file",
            given: |author| {
                author.with_pushed();
                let text = TRUST.replace("acme.asc", "~/acme.asc");
                author.scene.write("trust.toml", text);
            },
            arguments: "inspect acme/demo@1.0.0 --from oci-layout:store --trust trust.toml",
            exit: 1,
            says: r"
error: cannot read ~/acme.asc
  No such file or directory (os error 2)
  named by `keys` in trust.toml, line 3

hint: tfoci does not expand `~`: write the whole path
",
        },
        Case {
            label: "a store",
            given: Author::with_release_in_place,
            arguments: "push dist --provider acme/demo --key acme.asc --to oci-layout:~/store",
            exit: 1,
            says: r"
error: registry.opentofu.org/acme/demo (oci-layout:~/store): cannot create the directory ~/store
  expected that the directory above it exists

hint: tfoci does not expand `~`: write the whole path
",
        },
    ]);
}

#[test]
fn a_url_or_a_repository_in_the_place_of_a_registry() {
    for arguments in [
        "login https://ghcr.io/acme",
        "logout registry.example.net/acme",
        "logout https://acme:secret@ghcr.io",
        "login oci-layout:store",
    ] {
        let run = Author::new().tfoci(&arguments.split(' ').collect::<Vec<_>>());
        let run = run.exits(2).hides("secret");
        assert!(!run.stderr.contains("hint"), "{}", run.stderr);
    }
}

#[test]
fn merge_conflicts_in_lock_files() {
    let hint = "hint: resolve it; or run `git checkout --ours .terraform.lock.hcl`, and then `tfoci lock`\n";
    let sides = format!("<<<<<<< HEAD\n{LOCK}=======\n{LOCK}>>>>>>> branch\n");
    let hashes = "  hashes = [\n<<<<<<< HEAD\n    \"h1:a\",\n=======\n>>>>>>> branch\n  ]\n}";
    for (text, line) in [(sides, 1), (LOCK.replace("}", hashes), 4)] {
        let author = Author::new();
        author.scene.write("main.tf", "");
        author.scene.write(".terraform.lock.hcl", &text);
        let said = format!(
            "  `<<<<<<<` begins a merge conflict that is not resolved\n    at line {line}\n\n{hint}"
        );
        let lock = ["lock", "acme.test/acme/demo", "--from", "oci-layout:store"];
        let mirror = ["mirror", "--from-lock", ".", "--to", "oci-layout:store"];
        for (arguments, code, path) in [(&lock[..], 1, ""), (&mirror[..], 2, "./")] {
            let run = author.tfoci(arguments).exits(code);
            let said = said.replace("--ours ", &format!("--ours {path}"));
            assert!(run.stderr.ends_with(&said), "{}", run.stderr);
        }
        author.scene.write("live/main.tf", "");
        author.scene.write("live/.terraform.lock.hcl", &text);
        let run = author.tfoci(&["lock", "--chdir", "live"]).exits(1);
        let ours = "`git checkout --ours live/.terraform.lock.hcl`";
        assert!(run.stderr.contains(ours), "{}", run.stderr);
    }
}

#[test]
fn keys_that_are_no_public_keys() {
    check(&[
        Case {
            label: "a secret key",
            given: |author| {
                author.with_release_in_place();
                let [armored, _] = Signer::acme().secret();
                author.scene.write("secret.asc", armored);
            },
            arguments: "push dist --provider acme/demo --key secret.asc --to oci-layout:store",
            exit: 2,
            says: r"
error: `secret.asc` holds a secret key
  expected a public key
  named by --key

hint: keep it where only its owner can read it; `gpg --export --armor FINGERPRINT` writes the public key
",
        },
        Case {
            label: "a binary secret key that a trust file names",
            given: |author| {
                let [_, binary] = Signer::acme().secret();
                author.scene.write("secret.gpg", binary);
                let text = TRUST.replace("acme.asc", "secret.gpg");
                author.scene.write("trust.toml", text);
                author.with_pushed();
            },
            arguments: "inspect acme/demo@1.0.0 --from oci-layout:store --trust trust.toml",
            exit: 2,
            says: r"
error: `secret.gpg` holds a secret key
  expected a public key
  named by `keys` in trust.toml, line 3

hint: keep it where only its owner can read it; `gpg --export --armor FINGERPRINT` writes the public key
",
        },
        Case {
            label: "an armored key in another encoding",
            given: |author| {
                author.with_pushed();
                let key = Signer::acme().public_armored();
                author.scene.write("key.asc", utf16(&key));
            },
            arguments: "inspect acme/demo@1.0.0 --from oci-layout:store --key key.asc",
            exit: 2,
            says: r"
error: `key.asc` is UTF-16 text
  expected a public key, armored or binary
  named by --key

hint: `gpg --armor --output FILE --export FINGERPRINT` writes one; in PowerShell, `>` changes the encoding
",
        },
    ]);
}

#[test]
fn a_mirror_in_the_place_of_the_packages_of_clients() {
    let author = Author::new();
    author.with_pushed();
    let install = |into: &str| {
        let arguments =
            format!("install acme/demo --from oci-layout:store --into {into} --platform all");
        author
            .tfoci(&arguments.split(' ').collect::<Vec<_>>())
            .succeeds()
            .stderr
    };
    let said = install(".terraform/providers");
    let warning = "   Warning .terraform/providers has the packages of a working directory, and no mirror: `tfoci install` without `--into` fills it, and the lock file\n";
    assert!(said.starts_with(warning), "{said}");
    let said = install("providers");
    assert!(!said.contains("without `--into`"), "{said}");
}
