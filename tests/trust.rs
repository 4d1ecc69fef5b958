//! `tfoci trust`: checks of trust files, and the entry that applies to a provider.

use sequoia_openpgp::types::ReasonForRevocation;
use serde_json::Value;

use crate::support::author::Author;
use crate::support::scene::Run;
use crate::support::signer::Signer;

const ACME: &str = "[ACME]   Acme Provider Signing (test key) <security@acme.example>, Ed25519, does not expire   acme.asc";

/// A trust file with every valid entry and every cause of a warning.
const FILE: &str = r#"# ours
[[provider]]
match = "a.example/acme/demo"
keys = ["acme.asc", "[STRANGER]"]

[[provider]]
match = "a.example/acme/*"
unsigned = "allow"
weak = "warn"

[[provider]]
match = "a.example/acme/late"
keys = ["stranger.asc"]

[[provider]]
match = "b.example/*/*"

[[provider]]
match = "c.example/*/*"
keys = ["expired.asc", "revoked.asc", "[ACME BLANKS]", "[ACME]"]
expired = "refuse"
"#;

impl Author {
    fn with_trust(text: &str) -> Self {
        let author = Self::new();
        let acme = Signer::acme().fingerprint();
        let digits: Vec<&str> = (0..10).map(|at| &acme[4 * at..][..4]).collect();
        let blanks = [digits[..5].join(" "), digits[5..].join(" ")].join("  ");
        let text = text
            .replace("[ACME BLANKS]", &blanks)
            .replace("[ACME]", &acme)
            .replace("[STRANGER]", &Signer::stranger().fingerprint());
        author.scene.write("trust.toml", text);
        for (name, signer) in [
            ("expired.asc", Signer::expired_since()),
            ("revoked.asc", Signer::revoked()),
        ] {
            author.scene.write(name, signer.public_armored());
        }
        author
    }

    /// Runs `tfoci trust …`, and names the keys.
    fn trust(&self, arguments: &str) -> Run {
        let arguments: Vec<&str> = arguments.split(' ').collect();
        let mut run = self.tfoci(&[&["trust"][..], &arguments].concat());
        for text in [&mut run.stdout, &mut run.stderr] {
            *text = text
                .replace(&Signer::expired_since().fingerprint(), "[EXPIRED]")
                .replace(&Signer::revoked().fingerprint(), "[REVOKED]");
        }
        run
    }
}

#[test]
fn a_file_is_printed_with_its_keys_and_warnings() {
    let author = Author::with_trust(FILE);
    let run = author.trust("check trust.toml").succeeds();
    let expected = format!(
        "match     a.example/acme/demo   line 3
key       [STRANGER]   only the fingerprint: the key itself has to come from the origin or the store; `push` needs `--key FILE`
key       {ACME}
unsigned  refused: a release needs a signature by [STRANGER ID] or [ACME ID]
expired   a signature by an expired key is accepted, with a note
weak      a signature with SHA-1 is refused

match     a.example/acme/*   line 7
unsigned  accepted: a release without a signature is shown as `checksum` or `unverified`
expired   a signature by an expired key is accepted, with a note
weak      a signature with SHA-1 is accepted, with a note

match     a.example/acme/late   line 12
key       [STRANGER]   Another Author (test key) <else@stranger.example>, Ed25519, does not expire   stranger.asc
unsigned  refused: a release needs a signature by [STRANGER ID]
expired   a signature by an expired key is accepted, with a note
weak      a signature with SHA-1 is refused

match     b.example/*/*   line 16
unsigned  refused: a release needs a signature, by any key
expired   a signature by an expired key is accepted, with a note
weak      a signature with SHA-1 is refused

match     c.example/*/*   line 19
key       [ACME]   only the fingerprint: the key itself has to come from the origin or the store; `push` needs `--key FILE`
key       [EXPIRED]   Expired Since (test key) <since@acme.example>, Ed25519, expired 2020-04-10   expired.asc
key       [REVOKED]   Revoked (test key) <revoked@acme.example>, Ed25519, revoked   revoked.asc
unsigned  refused: a release needs a signature by [ACME ID]
expired   a signature by an expired key is refused
weak      a signature with SHA-1 is refused
"
    );
    assert_eq!(run.stdout, expected);
    run.says(
        "Warning 12 a.example/acme/late a.example/acme/* 7 Warning 16 b.example/*/* Warning 19 [ACME] Warning 19 [EXPIRED] 2020-04-10 Warning 19 [REVOKED]",
    );
}

#[test]
fn every_problem_is_reported_with_its_line() {
    let author = Author::with_trust(
        "[[provider]]\nmatch = \"acme/*\"\n[[provider]]\nmatch = \"a.example/*/*\"\nkeys = [\n  \"acme.asc\",\n  \"none.asc\",\n  \"empty.asc\",\n]\n[[provider]]\nmatch = \"*/*/*\"\nkeys = [\"34365D9472D7468F\"]\n",
    );
    author.scene.write("empty.asc", "none");
    let run = author.trust("check trust.toml").exits(2);
    assert_eq!(
        run.stdout,
        format!(
            "match     a.example/*/*   line 4\nkey       {ACME}\nunsigned  refused: a release needs a signature by [ACME ID]\nexpired   a signature by an expired key is accepted, with a note\nweak      a signature with SHA-1 is refused\n"
        )
    );
    run.says(
        "error 2 acme/* expected HOSTNAME/NAMESPACE/TYPE example.com/acme/* example.com/*/* */*/* error 12 34365D9472D7468F expected 40 64 error No 2 7 error expected 8",
    );
    author.scene.write("trust.toml", "[[provider]\n");
    author
        .trust("check trust.toml")
        .exits(2)
        .says("error 1 12 ] | 1 | [[provider] |")
        .without_result();
    author.trust("check none.toml").exits(1).says("error No 2");
    author.scene.write("trust.toml", "");
    let run = author.trust("check trust.toml").succeeds();
    run.says("Warning");
}

#[test]
fn every_command_warns_of_suspicious_entries() {
    let entry = "[[provider]]\nmatch = \"*/*/*\"\nunsigned = \"allow\"\n";
    let author = Author::with_trust(&entry.repeat(3));
    author.with_pushed();
    let warning = |line: usize| {
        format!(
            "   Warning trust.toml, line {line}: the entry for */*/* is never used, because the entry for */*/* in line 2 matches first\n"
        )
    };
    let inspect = "inspect acme/demo --from oci-layout:store --trust trust.toml";
    let words: Vec<&str> = inspect.split(' ').collect();
    let run = author.tfoci(&words).succeeds();
    run.says(&[warning(5), warning(8)].concat());
    author
        .tfoci(&[&words[..], &["--quiet"]].concat())
        .succeeds()
        .says("");
    author.scene.write("trust.toml", entry.repeat(8));
    let lines: String = [5, 8, 11, 14].map(warning).concat();
    let more = "   Warning trust.toml: 3 more; `tfoci trust check trust.toml` prints all\n";
    author
        .tfoci(&words)
        .succeeds()
        .says(&format!("{lines}{more}"));
    let push = author.push_unsigned(&["--trust", "trust.toml", "--dry-run", "--key", "acme.asc"]);
    assert!(push.succeeds().stderr.starts_with(&lines));
}

/// An unusable trust file has the same error in every command.
#[test]
fn the_exit_code_is_that_of_other_commands() {
    for (text, code) in [
        (
            "[[provider]]\nmatch = \"*/*/*\"\nkeys = [\"none.asc\"]\n",
            1,
        ),
        ("[[provider]]\nmatch = \"*/*/*\"\nkeys = \"none.asc\"\n", 2),
    ] {
        let author = Author::with_trust(text);
        author.with_pushed();
        let check = author.trust("check trust.toml").exits(code).stderr;
        for command in [
            "install acme/demo --from oci-layout:store --into out --trust trust.toml",
            "trust show acme/demo --trust trust.toml",
        ] {
            let arguments: Vec<&str> = command.split(' ').collect();
            assert_eq!(author.tfoci(&arguments).exits(code).stderr, check);
        }
    }
}

#[test]
fn wrong_types_in_a_trust_file_are_reported_in_plain_words() {
    for (text, line, wrong, mark, hint) in [
        (
            "[[provider]]\nmatch = \"*/*/*\"\nkeys = \"acme.asc\"\n",
            "line 3, column 8: expected a list, received a text",
            "3 | keys = \"acme.asc\"",
            "       ^^^^^^^^^^",
            "did you mean `keys = [\"…\"]`? ",
        ),
        (
            "[provider]\nmatch = \"*/*/*\"\n",
            "line 1, column 1: expected tables `[[provider]]` with two brackets on each side, received a table",
            "1 | [provider]",
            "^^^^^^^^^^",
            "",
        ),
        (
            "[provider]\nmatch = \"a.example/*/*\"\n[provider]\nmatch = \"*/*/*\"\n",
            "line 3, column 2: expected tables `[[provider]]` with two brackets on each side, received a table",
            "3 | [provider]",
            " ^^^^^^^^",
            "",
        ),
        (
            "[[provider]]\nmatch = \"*/*/*\"\nunsigned = true\n",
            "line 3, column 12: expected \"refuse\" or \"allow\", received `true`",
            "3 | unsigned = true",
            "           ^^^^",
            "",
        ),
        (
            "[[provider]]\nmatch = \"*/*/*\"\nweak = \"maybe\"\n",
            "line 3, column 8: expected `refuse` or `warn`, received `maybe`",
            "3 | weak = \"maybe\"",
            "       ^^^^^^^",
            "",
        ),
    ] {
        let author = Author::with_trust(text);
        let expected = format!(
            "error: trust.toml is not a trust file\n  the trust file is malformed\n  {line}\n    |\n  {wrong}\n    | {mark}\n\nhint: {hint}`tfoci help trust` shows a trust file\n"
        );
        author.trust("check trust.toml").exits(2).says(&expected);
    }
}

/// A file that names one key file hundreds of times reports its problem once.
#[test]
fn a_key_file_is_used_once() {
    let keys = "\"acme.asc\", ".repeat(500);
    let table = format!("[[provider]]\nmatch = \"a.example/*/*\"\nkeys = [{keys}]\n");
    let author = Author::with_trust(&table);
    let run = author.trust("check trust.toml").succeeds().says("");
    assert_eq!(run.stdout.matches("\nkey ").count(), 1, "{}", run.stdout);
    let absent = Author::with_trust(&table.replace("acme.asc", "none.asc"));
    let said = absent.trust("check trust.toml").exits(1).stderr;
    assert_eq!(said.matches("cannot read none.asc").count(), 1, "{said}");
}

#[test]
fn keys_that_are_too_expensive_to_check_fail_the_check() {
    use crate::support::keygrammar as grammar;
    let author = Author::with_trust("[[provider]]\nmatch = \"*/*/*\"\nkeys = [\"busy.asc\"]\n");
    let bytes = grammar::certificate(&grammar::dsa(4095, 512), &[511, 511], 500);
    author.scene.write("busy.asc", grammar::armoured(&bytes));
    author.trust("check trust.toml").exits(3).says("error 3");
}

#[test]
fn the_entry_that_applies_is_shown() {
    let author = Author::with_trust(FILE);
    let weak = "weak      a signature with SHA-1 is refused\n";
    let expired = "expired   a signature by an expired key is accepted, with a note\n";
    let pinned = |by: &str| format!("unsigned  refused: a release needs a signature by {by}\n");
    let both = pinned("[STRANGER ID] or [ACME ID]");
    let stranger = pinned("[STRANGER ID]");
    let show = |arguments: &str| author.trust(&format!("show {arguments}")).succeeds();
    let run = show("a.example/acme/demo --trust trust.toml").says("");
    assert_eq!(
        run.stdout,
        format!(
            "provider  a.example/acme/demo\nentry     trust.toml, line 3: a.example/acme/demo\nkey       [STRANGER]   only the fingerprint: the key itself has to come from the origin or the store; `push` needs `--key FILE`\nkey       {ACME}\n{both}{expired}{weak}"
        )
    );
    // A key on the command line supplies the certificate of a pinned fingerprint, and replaces key files.
    let run = show("a.example/acme/demo --trust trust.toml --key stranger.asc").says("");
    assert_eq!(
        run.stdout,
        format!(
            "provider  a.example/acme/demo\nentry     trust.toml, line 3: a.example/acme/demo\nkey       [STRANGER]   Another Author (test key) <else@stranger.example>, Ed25519, does not expire   stranger.asc\n{stranger}{expired}{weak}"
        )
    );
    let run = show("a.example/acme/late --trust trust.toml").says("");
    assert_eq!(
        run.stdout,
        format!(
            "provider  a.example/acme/late
entry     trust.toml, line 7: a.example/acme/*
unsigned  accepted: a release without a signature is shown as `checksum` or `unverified`
pinned    no: --require-pinned refuses a.example/acme/late, unless a lock file lists its packages
{expired}weak      a signature with SHA-1 is accepted, with a note
"
        )
    );
    let run = show("acme/demo --trust trust.toml").says("");
    let unpinned = format!(
        "unsigned  refused by push and mirror: a release needs a signature, by any key
unsigned  accepted by other commands: a release without a signature is shown as `checksum` or `unverified`
pinned    no: --require-pinned refuses registry.opentofu.org/acme/demo, unless a lock file lists its packages
{expired}{weak}"
    );
    assert_eq!(
        run.stdout,
        format!(
            "provider  registry.opentofu.org/acme/demo\nentry     none: nothing in trust.toml matches\n{unpinned}"
        )
    );
    let run = show("acme/demo").says("");
    assert_eq!(
        run.stdout,
        format!(
            "provider  registry.opentofu.org/acme/demo\nentry     none: `--trust` names no file\n{unpinned}"
        )
    );
    let run = show("c.example/acme/demo --trust trust.toml --format json");
    let document: Value = serde_json::from_str(&run.stdout).unwrap();
    assert_eq!(document["entry"]["line"], 19);
    assert_eq!(document["pinned"], true);
    assert_eq!(document["writing"]["expired"], "refuse");
    assert_eq!(document["keys"][1]["status"], "expired");
    assert_eq!(document["warnings"].as_array().unwrap().len(), 2);
    author.trust("show acme").exits(2);
}

#[test]
fn a_hostile_user_id_does_nothing_to_a_terminal() {
    let author = Author::with_trust("[[provider]]\nmatch = \"*/*/*\"\nkeys = [\"evil.asc\"]\n");
    author
        .scene
        .write("evil.asc", Signer::hostile().public_armored());
    for arguments in [
        "check trust.toml",
        "show acme/demo --trust trust.toml",
        "check trust.toml --format json",
    ] {
        let run = author.trust(arguments).succeeds();
        assert!(run.stdout.contains("Evil"), "{}", run.stdout);
        assert!(
            !run.stdout.contains(['\u{1b}', '\r', '\u{202e}', '\u{85}']),
            "{:?}",
            run.stdout
        );
        let is_forged = |line: &str| line.trim_start().starts_with("[[provider]]");
        assert!(!run.stdout.lines().any(is_forged), "{}", run.stdout);
    }
}

#[test]
fn a_comment_behind_a_fingerprint_says_whose_key_it_is() {
    let author = Author::new();
    let key = Signer::acme().fingerprint();
    author.scene.write(
        "trust.toml",
        format!("[[provider]]\nmatch = \"a.example/acme/demo\"\nkeys = [\n  \"{key}\", # Acme <a@acme.example>, first seen with 1.0.0\n]\n"),
    );
    let show = ["trust", "show", "a.example/acme/demo", "--trust"];
    for (arguments, keys) in [
        (&["trust", "check"][..], "/entries/0/keys"),
        (&show, "/keys"),
    ] {
        let run = |more: &[&str]| {
            let arguments = [arguments, &["trust.toml"], more].concat();
            author.tfoci(&arguments).succeeds().stdout
        };
        let text = run(&[]);
        let comment = "\n          # Acme <a@acme.example>, first seen with 1.0.0\n";
        assert!(text.contains(comment), "{text}");
        let document: Value = serde_json::from_str(&run(&["--format", "json"])).unwrap();
        assert_eq!(
            document.pointer(keys).unwrap()[0]["comment"],
            "Acme <a@acme.example>, first seen with 1.0.0"
        );
    }
}

#[test]
fn keys_that_are_named_twice_or_may_not_sign_have_a_warning() {
    let author = Author::new();
    let acme = Signer::acme();
    author.scene.write("copy.asc", acme.public_armored());
    let retired = Signer::retired();
    author
        .scene
        .write("retired.asc", retired.armored_without_signing());
    author.scene.write(
        "trust.toml",
        "[[provider]]\nmatch = \"a.example/acme/demo\"\nkeys = [\"acme.asc\", \"copy.asc\", \"retired.asc\"]\n",
    );
    let run = author.tfoci(&["trust", "check", "trust.toml"]).succeeds();
    for warning in [
        "the key [ACME] is in both acme.asc and copy.asc\n",
        " in retired.asc may not sign: signatures by it are refused\n",
    ] {
        assert!(run.stderr.contains(warning), "{}", run.stderr);
    }
}

#[test]
fn strict_checks_end_with_a_refusal() {
    let author = Author::with_trust(FILE);
    let run = author.trust("check trust.toml --strict").exits(3);
    let usual = author.trust("check trust.toml").succeeds();
    assert_eq!((run.stdout, run.stderr), (usual.stdout, usual.stderr));
    let sound = "[[provider]]\nmatch = \"a.example/*/*\"\nkeys = [\"acme.asc\"]\n";
    for (text, exit) in [(sound, 0), ("", 3), ("[[provider]]\n", 2)] {
        author.scene.write("trust.toml", text);
        author.trust("check trust.toml --strict").exits(exit);
    }
}

#[test]
fn the_keys_that_may_sign_are_named_or_counted() {
    let fingerprints: Vec<String> = (1..=4).map(|digit| digit.to_string().repeat(40)).collect();
    let ids: Vec<&str> = fingerprints.iter().map(|one| &one[24..]).collect();
    let revoked = ["revoked.asc".to_owned()];
    for (keys, by) in [
        (&fingerprints[..3], ids[..3].join(" or ")),
        (&fingerprints[..], "one of 4 keys".to_owned()),
        (
            &revoked[..],
            "a pinned key, and none that can sign is pinned".to_owned(),
        ),
    ] {
        let text = format!("[[provider]]\nmatch = \"a.example/*/*\"\nkeys = {keys:?}\n");
        let author = Author::with_trust(&text);
        let run = author.trust("check trust.toml").succeeds();
        let line = format!("unsigned  refused: a release needs a signature by {by}\n");
        assert!(run.stdout.contains(&line), "{}", run.stdout);
    }
}

/// The copies of a key that its fingerprint, a file and an option name are judged together.
#[test]
fn a_copy_of_a_pinned_key_is_described_with_its_revocation() {
    let entry = "[[provider]]\nmatch = \"a.example/acme/demo\"\nkeys = [\"[ACME]\"]\n";
    let author = Author::with_trust(entry);
    let pin = Signer::acme().fingerprint();
    let revoked = Signer::acme().armored_revoked(ReasonForRevocation::KeySuperseded);
    author.scene.write(format!("keys/{pin}.asc"), revoked);
    let key = ACME.replace("does not expire   acme.asc", "revoked   ");
    let warning = "the key [ACME] in keys/[ACME].asc is revoked: signatures by it are refused\n";
    let run = author.trust("check trust.toml").succeeds();
    let line = format!("key       {key}keys/[ACME].asc\n");
    assert!(run.stdout.contains(&line), "{}", run.stdout);
    run.says(&format!("Warning 2 {warning}"));
    let show = "show a.example/acme/demo --trust trust.toml";
    let run = author.trust(show).succeeds();
    assert!(run.stdout.contains(&line), "{}", run.stdout);
    run.says(&format!("   Warning {warning}"));
    let run = author.trust(&format!("{show} --key acme.asc")).succeeds();
    assert_eq!(run.stdout.matches(&key).count(), 1, "{}", run.stdout);
    assert!(
        run.stderr.contains("the key [ACME] in acme.asc is revoked"),
        "{}",
        run.stderr
    );

    author.scene.write(format!("keys/{pin}.asc"), "nonsense");
    author
        .trust("check trust.toml")
        .exits(2)
        .says("error keys/[ACME].asc expected 3");
}

/// A folder has no keys, and neither has a store without evidence.
#[test]
fn a_copy_of_a_pinned_key_is_the_key_of_a_release() {
    let author = Author::with_release();
    let pin = Signer::acme().fingerprint();
    let text = format!("[[provider]]\nmatch = \"*/*/*\"\nkeys = [\"{pin}\"]\n");
    author.scene.write("trust.toml", text);
    let trust = ["--trust", "trust.toml"];
    author.push_unsigned(&trust).exits(3);
    let key = Signer::acme().public_armored();
    author.scene.write(format!("keys/{pin}.asc"), key);
    let run = author.push_unsigned(&trust).succeeds();
    assert!(
        run.stderr.contains("signed [ACME ID] (pinned)"),
        "{}",
        run.stderr
    );
}

/// The first entry says nothing about the provider, and its copy is not there. The second one names the file.
#[test]
fn a_copy_that_is_not_there_hides_no_key_file() {
    let author = Author::new();
    author.with_pushed();
    let pin = Signer::acme().fingerprint();
    let text = format!(
        "[[provider]]\nmatch = \"other.example/*/*\"\nkeys = [\"{pin}\"]\n\n[[provider]]\nmatch = \"*/*/*\"\nkeys = [\"keys/{pin}.asc\"]\n"
    );
    author.scene.write("trust.toml", text);
    let inspect = ["inspect", "acme/demo@1.0.0", "--from", "oci-layout:store"];
    let inspect = [&inspect[..], &["--trust", "trust.toml"]].concat();
    let run = author.tfoci(&inspect).exits(1);
    assert!(run.stderr.contains("cannot read keys/"), "{}", run.stderr);
    author
        .scene
        .write(format!("keys/{pin}.asc"), Signer::acme().public_armored());
    author.tfoci(&inspect).succeeds();
}

/// One verdict everywhere, and never that a store was tampered with.
#[test]
fn a_key_file_that_cannot_be_used_is_no_finding_about_a_release() {
    let author = Author::new();
    author.with_pushed();
    let key = Signer::acme().public_armored();
    let cut = key.len() / 2;
    let two = format!("{key}{}", &key[..cut]);
    let escaped = key.replace('\n', "\\n");
    let blank = key.lines().position(str::is_empty).unwrap();
    let lines: Vec<&str> = key.lines().collect();
    let altered = lines[blank + 1].chars().rev().collect::<String>();
    let altered = key.replace(lines[blank + 1], &altered);
    let files = [
        ("none.asc", None, 1, "cannot read none.asc"),
        ("escaped.asc", Some(escaped.as_str()), 2, DAMAGED),
        ("cut.asc", Some(&key[..cut]), 2, DAMAGED),
        (
            "end.asc",
            Some(key.trim_end().trim_end_matches('-')),
            2,
            DAMAGED,
        ),
        ("two.asc", Some(&two), 2, DAMAGED),
        ("altered.asc", Some(&altered), 2, DAMAGED),
    ];
    let commands = [
        "push dist --provider acme/demo --to oci-layout:other",
        "inspect acme/demo@1.0.0 --from oci-layout:store",
        "versions acme/demo --from oci-layout:store",
        "install acme/demo --from oci-layout:store --into out",
        "copy acme/demo --from oci-layout:store --to oci-layout:copied",
        "trust show acme/demo",
    ];
    for (name, content, exit, says) in files {
        if let Some(content) = content {
            author.scene.write(name, content);
        }
        let entry = format!("[[provider]]\nmatch = \"*/*/*\"\nkeys = [\"{name}\"]\n");
        author.scene.write("trust.toml", entry);
        let with = |option: &str| commands.map(|command| format!("{command} {option}"));
        let by_key = with(&format!("--key {name}"));
        let by_trust = with("--trust trust.toml");
        let check = ["trust check trust.toml".to_owned()];
        for command in by_key.iter().chain(&by_trust).chain(&check) {
            let run = author.tfoci(&command.split(' ').collect::<Vec<_>>());
            let stderr = &run.stderr;
            assert!(stderr.contains(says), "{name} {command}\n{stderr}");
            assert!(!stderr.contains("tampered"), "{name} {command}\n{stderr}");
            run.exits(exit);
        }
    }
}

const DAMAGED: &str =
    "holds no OpenPGP key\n  expected a whole public key, armored or binary\n  named by ";
