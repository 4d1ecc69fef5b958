//! Each sentence that an error, a hint or a warning can say is expected by some test.
//!
//! The sentences are read from `src` when this runs: those of `#[error("…")]` and `impl Display`, and in [`SPOKEN`] files every text of
//! several words. A placeholder stands for anything on its line. An expectation is a text between quotes in a test: in `tests`, without what
//! the tests stand on, or in a unit test of `src`.

use std::collections::BTreeSet;
use std::path::Path;

use reading::{of_errors, parts, spoken, texts, tokens};

use crate::architecture::source::rust_files;

/// The texts in a file.
pub(super) mod reading;

/// Sentences that no test can expect, and why.
const EXCEPTIONS: [(&str, &str); 19] = [
    (
        "a stream uses the buffer",
        "only a defect of the tests' own reader says it",
    ),
    (
        "<meta name=\"generator\" content=\"tfoci site\">",
        "no sentence, but the mark of a page",
    ),
    (
        "the system starts no threads for tfoci",
        "the system of the tests has threads",
    ),
    (
        "another kind of file",
        "a file replaces something else while it is opened",
    ),
    (
        "the zip cannot be read",
        "the disk fails in the middle of a file",
    ),
    (
        "there is no home directory to keep credentials in",
        "the user database always names one",
    ),
    (
        "the HTTP client cannot be made",
        "no setting of ours is refused",
    ),
    (
        "the manifest cannot be written",
        "what was built here can be written as JSON",
    ),
    (
        "{} cannot be written",
        "what was built here can be written as JSON",
    ),
    (
        "this build cannot check OpenPGP signatures",
        "these tests are of a build that can",
    ),
    (
        "the keys in `{}` are too long",
        "files and documents are held to the same limit before",
    ),
    (
        "the system has no random numbers",
        "every system that these tests run on has",
    ),
    ("TLS cannot be used", "the library accepts its own defaults"),
    (
        "the blob is missing",
        "stores put a sentence of their own in its place",
    ),
    (
        "this build has no OpenPGP: use one with the feature `openpgp`",
        "these tests are of a build that can",
    ),
    (
        "give it a token: {variable}, or a `credentials` block in the CLI configuration",
        "the hosts of tests have ports, which names of variables cannot have",
    ),
    (
        "If its author has a new key, {advice}",
        "the evidence that tfoci writes has the key of its signature",
    ),
    (
        "nothing of this version was changed. Run it again",
        "the pauses before the last attempt are too long for a test",
    ),
    (
        "the store does not answer",
        "the server waits for a minute before, which is too long for a test",
    ),
];

/// Files and folders whose texts are hints, warnings and lines about what a command does.
const SPOKEN: [&str; 37] = [
    "src/archive",
    "src/oci",
    "src/trust",
    "src/store/phrases.rs",
    "src/source",
    "src/site",
    "src/examine",
    "src/credentials",
    "src/config/cli",
    "src/cli/error",
    "src/outcome",
    "src/cli/hints",
    "src/cli/list.rs",
    "src/cli/lock",
    "src/cli/login.rs",
    "src/cli/mirror",
    "src/cli/push.rs",
    "src/cli/report",
    "src/cli/session",
    "src/cli/site.rs",
    "src/cli/versions.rs",
    "src/mirror/listing.rs",
    "src/mirror/report.rs",
    "src/mirror/withdrawn.rs",
    "src/disk",
    "src/install",
    "src/copy/mod.rs",
    "src/copy/report.rs",
    "src/lock/stored.rs",
    "src/publish/mod.rs",
    "src/serve",
    "src/cli/serve",
    "src/cli/trust",
    "src/cli/cli_config",
    "src/cli/logout.rs",
    "src/publish",
    "src/cli/printer/usage.rs",
];

/// Files of the tests' foundations that hold expectations.
const TABLES: [&str; 1] = ["tests/support/hostile.rs"];

#[test]
fn every_sentence_is_expected_by_a_test() {
    let census = Census::take();
    let missing = census.sentences().filter(|(_, sentence)| {
        let is_exception = EXCEPTIONS.iter().any(|(known, _)| known == sentence);
        !is_exception && !census.expects(sentence)
    });
    let missing: Vec<String> = missing
        .map(|(place, sentence)| format!("{place}: {sentence}"))
        .collect();
    assert!(missing.is_empty(), "{}", missing.join("\n"));
}

#[test]
fn every_exception_is_a_sentence_that_no_test_expects() {
    let census = Census::take();
    for (exception, _) in EXCEPTIONS {
        let exists = census
            .sentences()
            .any(|(_, sentence)| sentence == exception);
        assert!(exists, "no error says this any more: {exception}");
        assert!(
            !census.expects(exception),
            "a test expects this: {exception}"
        );
    }
}

/// The errors and spoken texts of `src`, and the texts of the tests.
struct Census {
    /// Each with its place, a file and line.
    errors: Vec<(String, String)>,
    expectations: Vec<String>,
}

impl Census {
    fn take() -> Self {
        let (mut errors, mut expectations) = (Vec::new(), Vec::new());
        for file in rust_files(Path::new("src")) {
            let tokens = tokens(&file);
            if file
                .iter()
                .any(|name| name.to_str().unwrap().contains("tests"))
            {
                texts(tokens, &mut expectations);
            } else {
                let mut found = Vec::new();
                if SPOKEN.iter().any(|spoken| file.starts_with(spoken)) {
                    spoken(tokens.clone(), &mut found);
                }
                of_errors(tokens, &mut found, &mut expectations);
                let place = |(line, text)| (format!("{}:{line}", file.display()), text);
                errors.extend(found.into_iter().map(place));
            }
        }
        for file in rust_files(Path::new("tests")) {
            let is_table = TABLES.iter().any(|table| file == Path::new(table));
            let is_foundation = file.starts_with("tests/support") && !is_table;
            let is_own = file == Path::new(file!()) || file.starts_with("tests/messages/census");
            if !is_foundation && !is_own {
                texts(tokens(&file), &mut expectations);
            }
        }
        let lines: BTreeSet<&str> = expectations.iter().flat_map(|text| text.lines()).collect();
        let expectations = lines.into_iter().map(str::to_owned).collect();
        Self {
            errors,
            expectations,
        }
    }

    /// Each line of each error, with its place.
    fn sentences(&self) -> impl Iterator<Item = (&str, &str)> {
        let errors = self.errors.iter();
        errors.flat_map(|(place, text)| text.lines().map(move |line| (place.as_str(), line)))
    }

    fn expects(&self, sentence: &str) -> bool {
        let parts = parts(sentence.trim_start());
        self.expectations.iter().any(|line| says(line, &parts))
    }
}

/// Whether a line of an expectation has these parts of a line of an error, in this order.
fn says(line: &str, parts: &[String]) -> bool {
    let mut rest = line;
    parts.iter().all(|part| {
        let found = rest.find(part.as_str());
        rest = found.map_or("", |at| &rest[at + part.len()..]);
        found.is_some()
    })
}

#[test]
fn placeholders_stand_for_anything() {
    for (line, error, expected) in [
        (
            "error: `x` is not y for acme/demo",
            "`{}` is not {0.a:?}",
            true,
        ),
        ("    expected {A} of B", "  expected {{A}} of {b}", true),
        ("    expected A of B", "  expected {{A}} of {b}", false),
        ("x` is not y", "`{}` is not {}", false),
        ("`x` is y, not z", "`{}` is not {}", false),
        ("one two", "{} one", false),
    ] {
        let parts = parts(error.trim_start());
        assert_eq!(says(line, &parts), expected, "{line} {error}");
    }
}
