//! `tfoci trust`: checks of trust files, and the entry that applies to a provider.

use sequoia_openpgp::types::ReasonForRevocation;

use crate::support::author::Author;
use crate::support::scene::Run;
use crate::support::signer::Signer;

/// What origins say of pinned keys.
mod online;

const ACME: &str = "[ACME]   Acme Provider Signing (test key) <security@acme.example>, Ed25519, does not expire   acme.asc";

const STRANGER: &str = "[STRANGER]   Another Author (test key) <else@stranger.example>, Ed25519, does not expire   stranger.asc";

/// Asserts facts of stdout, in their order.
#[track_caller]
fn prints(run: Run, facts: &str) {
    let stderr = run.stdout;
    Run {
        stderr,
        stdout: String::new(),
        ..run
    }
    .says(facts);
}

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
        let (expired, revoked) = (Signer::expired_since(), Signer::revoked());
        author.scene.write("expired.asc", expired.public_armored());
        author.scene.write("revoked.asc", revoked.public_armored());
        author
    }

    /// Runs `tfoci trust …`, and names the keys.
    fn trust(&self, arguments: &str) -> Run {
        let mut run = self.line(format!("trust {arguments}"));
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
    let run = run.says(
        "Warning 12 a.example/acme/late a.example/acme/* 7 Warning 19 [EXPIRED] 2020-04-10 Warning 19 [REVOKED]",
    );
    let refused = "expired warn weak refuse";
    prints(
        run,
        &format!(
            "match a.example/acme/demo 3 key [STRANGER] --key key {ACME} unsigned refuse {refused}
             match a.example/acme/* 7 unsigned allow expired warn weak warn
             match a.example/acme/late 12 key {STRANGER} unsigned refuse {refused}
             match b.example/*/* 16 unsigned refuse {refused}
             match c.example/*/* 19 key [ACME] --key
             key [EXPIRED] Expired Since (test key) <since@acme.example>, Ed25519, expired 2020-04-10 expired.asc
             key [REVOKED] Revoked (test key) <revoked@acme.example>, Ed25519, revoked revoked.asc
             unsigned refuse expired refuse weak refuse"
        ),
    );
}

#[test]
fn every_problem_is_reported_with_its_line() {
    let author = Author::with_trust(
        "[[provider]]\nmatch = \"acme/*\"\n[[provider]]\nmatch = \"a.example/*/*\"\nkeys = [\n  \"acme.asc\",\n  \"none.asc\",\n  \"empty.asc\",\n]\n[[provider]]\nmatch = \"*/*/*\"\nkeys = [\"34365D9472D7468F\"]\n",
    );
    author.scene.write("empty.asc", "none");
    let run = author.trust("check trust.toml").exits(2);
    assert_eq!(run.stdout.matches("match ").count(), 2, "{}", run.stdout);
    let run = run.says(
        "error 2 acme/* expected HOSTNAME/NAMESPACE/TYPE example.com/acme/* example.com/*/* */*/* error No 2 4 error expected 4 error 34365D9472D7468F No 2 11",
    );
    let refused = "unsigned refuse expired warn weak refuse";
    prints(
        run,
        &format!(
            "match a.example/*/* 4 key {ACME} {refused}
             match */*/* 11 unsigned refuse expired warn weak refuse"
        ),
    );
    author.scene.write("trust.toml", "[[provider]\n");
    let run = author.trust("check trust.toml").exits(2);
    run.says("error 1 12 ] | 1 | [[provider] |")
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
    let warning = |line: usize| format!("Warning trust.toml {line} */*/* */*/* 2 ");
    let inspect = "inspect acme/demo --from oci-layout:store --trust trust.toml";
    let run = author.line(inspect).succeeds();
    run.says(&[warning(5), warning(8)].concat());
    let quiet = author.line(format!("{inspect} --quiet"));
    quiet.succeeds().says("");
    author.scene.write("trust.toml", entry.repeat(8));
    let lines = [5, 8, 11, 14, 17, 20, 23].map(warning).concat();
    author.line(inspect).succeeds().says(&lines);
    let push = author.push_unsigned("--trust trust.toml --dry-run --key acme.asc");
    push.succeeds().says(&lines);
}

/// An unusable trust file has the same error in every command.
#[test]
fn the_exit_code_is_that_of_other_commands() {
    for (keys, code) in [("[\"none.asc\"]", 1), ("\"none.asc\"", 2)] {
        let text = format!("[[provider]]\nmatch = \"*/*/*\"\nkeys = {keys}\n");
        let author = Author::with_trust(&text);
        author.with_pushed();
        let check = author.trust("check trust.toml").exits(code).stderr;
        for command in [
            "install acme/demo --from oci-layout:store --into out --trust trust.toml",
            "trust show acme/demo --trust trust.toml",
        ] {
            assert_eq!(author.line(command).exits(code).stderr, check);
        }
    }
}

#[test]
fn wrong_types_in_a_trust_file_are_reported_with_their_place() {
    const ONE: &str = "[[provider]]\nmatch = \"*/*/*\"";
    const TABLE: &str = "[provider]\nmatch = \"*/*/*\"";
    for (text, facts) in [
        (
            [ONE, "keys = \"acme.asc\""],
            "3 8 expected list 3 | keys = \"acme.asc\" | ^^^^^^^^^^",
        ),
        ([TABLE, ""], "1 1 expected list 1 | [provider] | ^^^^^^^^^^"),
        (
            [TABLE, TABLE],
            "3 2 duplicate key 3 | [provider] | ^^^^^^^^",
        ),
        (
            [ONE, "unsigned = true"],
            "3 12 expected text 3 | unsigned = true | ^^^^",
        ),
        (
            [ONE, "weak = \"maybe\""],
            "3 8 expected refuse warn 3 | weak = \"maybe\" | ^^^^^^^",
        ),
    ] {
        let run = Author::with_trust(&text.join("\n")).trust("check trust.toml");
        run.exits(2).says(&format!("error trust.toml {facts}"));
    }
}

#[test]
fn keys_that_are_too_expensive_to_check_fail_the_check() {
    use crate::support::keygrammar as grammar;
    let author = Author::with_trust("[[provider]]\nmatch = \"*/*/*\"\nkeys = [\"busy.asc\"]\n");
    let bytes = grammar::certificate(&grammar::dsa(4095, 512), &[511, 511], 500);
    author.scene.write("busy.asc", grammar::armoured(&bytes));
    author.trust("check trust.toml").exits(3).says("error 2");
}

#[test]
fn the_entry_that_applies_is_shown() {
    let author = Author::with_trust(FILE);
    let rest = "expired warn weak refuse";
    let unpinned = format!("unsigned refuse {rest} reading unsigned accepted");
    let demo = "provider a.example/acme/demo entry trust.toml 3 a.example/acme/demo";
    let pinned = format!("{demo} key [STRANGER] --key key {ACME} unsigned refuse {rest}");
    // A key on the command line supplies the certificate of a pinned fingerprint, and replaces key files.
    let named = format!("{demo} key {STRANGER} unsigned refuse {rest}");
    let late = "provider a.example/acme/late entry trust.toml 7 a.example/acme/* unsigned allow expired warn weak warn".to_owned();
    let none = "provider registry.opentofu.org/acme/demo entry none";
    for (arguments, facts) in [
        ("a.example/acme/demo --trust trust.toml", pinned),
        (
            "a.example/acme/demo --trust trust.toml --key stranger.asc",
            named,
        ),
        ("a.example/acme/late --trust trust.toml", late),
        (
            "acme/demo --trust trust.toml",
            format!("{none} trust.toml {unpinned}"),
        ),
        ("acme/demo", format!("{none} --trust {unpinned}")),
    ] {
        let run = author.trust(&format!("show {arguments}")).succeeds();
        prints(run.says(""), &facts);
    }
    let run = author.trust("show c.example/acme/demo --trust trust.toml --format json");
    let document = run.succeeds().json();
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
    let evil = Signer::hostile().public_armored();
    author.scene.write("evil.asc", evil);
    for arguments in [
        "check trust.toml",
        "show acme/demo --trust trust.toml",
        "check trust.toml --format json",
    ] {
        let mut run = author.trust(arguments).succeeds();
        run.shows("Evil");
        for control in ["\u{1b}", "\r", "\u{202e}", "\u{85}"] {
            run = run.hides(control);
        }
        let is_forged = |line: &str| line.trim_start().starts_with("[[provider]]");
        assert!(!run.stdout.lines().any(is_forged), "{}", run.stdout);
    }
}

#[test]
fn a_comment_behind_a_fingerprint_says_whose_key_it_is() {
    let author = Author::new();
    let key = Signer::acme().fingerprint();
    let comment = "Acme <a@acme.example>, first seen with 1.0.0";
    let entry = format!(
        "[[provider]]\nmatch = \"a.example/acme/demo\"\nkeys = [\n  \"{key}\", # {comment}\n]\n"
    );
    author.scene.write("trust.toml", entry);
    for (line, keys) in [
        ("trust check trust.toml", "/entries/0/keys"),
        ("trust show a.example/acme/demo --trust trust.toml", "/keys"),
    ] {
        let run = author.line(line).succeeds();
        run.shows(format!("\n          # {comment}\n"));
        let document = author.line(format!("{line} --format json")).json();
        assert_eq!(document.pointer(keys).unwrap()[0]["comment"], comment);
    }
}

#[test]
fn keys_that_may_not_sign_have_a_warning() {
    let author = Author::new();
    let acme = Signer::acme();
    author.scene.write("copy.asc", acme.public_armored());
    let retired = Signer::retired().armored_without_signing();
    author.scene.write("retired.asc", retired);
    let entry = "[[provider]]\nmatch = \"a.example/acme/demo\"\nkeys = [\"acme.asc\", \"copy.asc\", \"retired.asc\"]\n";
    author.scene.write("trust.toml", entry);
    let run = author.line("trust check trust.toml").succeeds();
    run.says("Warning retired.asc");
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

/// The copies of a key that its fingerprint, a file and an option name are judged together.
#[test]
fn a_copy_of_a_pinned_key_is_described_with_its_revocation() {
    let entry = "[[provider]]\nmatch = \"a.example/acme/demo\"\nkeys = [\"[ACME]\"]\n";
    let author = Author::with_trust(entry);
    let pin = Signer::acme().fingerprint();
    let revoked = Signer::acme().armored_revoked(ReasonForRevocation::KeySuperseded);
    author.scene.write(format!("keys/{pin}.asc"), revoked);
    let key = ACME.replace("does not expire   acme.asc", "revoked   ");
    let warning = "[ACME] keys/[ACME].asc revoked";
    let run = author.trust("check trust.toml").succeeds();
    let line = format!("key       {key}keys/[ACME].asc\n");
    run.shows(&line);
    run.says(&format!("Warning 2 {warning}"));
    let show = "show a.example/acme/demo --trust trust.toml";
    let run = author.trust(show).succeeds();
    run.shows(&line);
    run.says(&format!("Warning {warning}"));
    let run = author.trust(&format!("{show} --key acme.asc")).succeeds();
    assert_eq!(run.stdout.matches(&key).count(), 1, "{}", run.stdout);
    let both = format!("Warning {warning} Warning [ACME] acme.asc revoked");
    run.says(&both);

    author.scene.write(format!("keys/{pin}.asc"), "nonsense");
    let run = author.trust("check trust.toml").exits(2);
    run.says("error keys/[ACME].asc expected 2");
}

/// A folder has no keys, and neither has a store without evidence.
#[test]
fn a_copy_of_a_pinned_key_is_the_key_of_a_release() {
    let author = Author::with_release();
    let pin = Signer::acme().fingerprint();
    let text = format!("[[provider]]\nmatch = \"*/*/*\"\nkeys = [\"{pin}\"]\n");
    author.scene.write("trust.toml", text);
    let trust = "--trust trust.toml";
    author.push_unsigned(trust).exits(3);
    let key = Signer::acme().public_armored();
    author.scene.write(format!("keys/{pin}.asc"), key);
    let run = author.push_unsigned(trust).succeeds();
    run.tells("signed [ACME ID] (pinned)");
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
    let inspect = "inspect acme/demo@1.0.0 --from oci-layout:store --trust trust.toml";
    let run = author.line(inspect).exits(1);
    run.says("error keys/[ACME].asc");
    let key = Signer::acme().public_armored();
    author.scene.write(format!("keys/{pin}.asc"), key);
    author.line(inspect).succeeds();
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
        ("none.asc", None, 1),
        ("escaped.asc", Some(escaped.as_str()), 2),
        ("cut.asc", Some(&key[..cut]), 2),
        ("end.asc", Some(key.trim_end().trim_end_matches('-')), 2),
        ("two.asc", Some(&two), 2),
        ("altered.asc", Some(&altered), 2),
    ];
    let commands = [
        "push dist --provider acme/demo --to oci-layout:other",
        "inspect acme/demo@1.0.0 --from oci-layout:store",
        "verify acme/demo --from oci-layout:store",
        "install acme/demo --from oci-layout:store --into out",
        "copy acme/demo --from oci-layout:store --to oci-layout:copied",
        "trust show acme/demo",
    ];
    for (name, content, exit) in files {
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
            let run = author.line(command).exits(exit);
            run.says(&format!("error {name}")).hides("tampered");
        }
    }
}
