//! Each sentence that an error, a hint or a warning can say is expected by some test.
//!
//! The sentences are read from `src` when this runs: those of `#[error("…")]`, and in [`SPOKEN`] files every text of several words. A
//! placeholder stands for anything on its line. An expectation is a text between quotes in a test: in `tests`, without what the tests stand
//! on, or in a unit test of `src`.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use proc_macro2::{Delimiter, TokenStream, TokenTree};

use crate::architecture::source::{is_for_tests, rust_files};

/// Sentences that no test can expect, and why.
const EXCEPTIONS: [(&str, &str); 16] = [
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
        "name the file with `--authfile FILE`",
        "the user database always names a home directory",
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
        "the setting of the plugin cache",
        "a path that is not empty becomes absolute",
    ),
    (
        "nothing of this version was changed. Run it again",
        "the pauses before the last attempt are too long for a test",
    ),
];

/// Files and folders whose texts are hints, warnings and lines about what a command does.
const SPOKEN: [&str; 14] = [
    "src/cli/hints",
    "src/cli/lock",
    "src/cli/mirror",
    "src/cli/session",
    "src/mirror/listing.rs",
    "src/mirror/report.rs",
    "src/mirror/withdrawn.rs",
    "src/install/mod.rs",
    "src/install/package.rs",
    "src/copy/mod.rs",
    "src/copy/report.rs",
    "src/lock/stored.rs",
    "src/publish/mod.rs",
    "src/cli/printer/usage.rs",
];

/// Shorter texts are names and parts of sentences, in words.
const SHORTEST: usize = 4;

/// The beginning of the examples of a command, which other tests run.
const EXAMPLES: &str = "Examples:";

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
            if !is_foundation && file != Path::new(file!()) {
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
        self.expectations.iter().any(|line| says(line, sentence))
    }
}

/// Whether a line of an expectation says a line of an error, with anything in the places of what is in braces.
fn says(line: &str, error: &str) -> bool {
    let mut rest = line;
    parts(error.trim_start()).iter().all(|part| {
        let found = rest.find(part.as_str());
        rest = found.map_or("", |at| &rest[at + part.len()..]);
        found.is_some()
    })
}

pub(super) fn tokens(file: &Path) -> TokenStream {
    fs::read_to_string(file).unwrap().parse().unwrap()
}

/// The texts before, between and behind the placeholders of a line.
fn parts(line: &str) -> Vec<String> {
    let mut parts = vec![String::new()];
    let mut characters = line.chars().peekable();
    while let Some(character) = characters.next() {
        let last = parts.len() - 1;
        match character {
            '{' | '}' if characters.next_if_eq(&character).is_some() => parts[last].push(character),
            '{' => {
                characters.by_ref().find(|character| *character == '}');
                parts.push(String::new());
            }
            character => parts[last].push(character),
        }
    }
    parts
}

/// The texts of `#[error("…")]` with their lines, and apart from them those of unit tests.
fn of_errors(
    tokens: TokenStream,
    errors: &mut Vec<(usize, String)>,
    expectations: &mut Vec<String>,
) {
    let tokens: Vec<TokenTree> = tokens.into_iter().collect();
    for (place, token) in tokens.iter().enumerate() {
        let TokenTree::Group(group) = token else {
            continue;
        };
        let before = &tokens[place.saturating_sub(5)..place];
        let is_test = before
            .iter()
            .enumerate()
            .any(|(at, _)| is_for_tests(&before[at..]));
        if is_test {
            texts(group.stream(), expectations);
            continue;
        }
        let inner: Vec<TokenTree> = group.stream().into_iter().collect();
        match &inner[..] {
            [TokenTree::Ident(name), TokenTree::Group(arguments)] if name == "error" => {
                if let Some(TokenTree::Literal(text)) = arguments.stream().into_iter().next() {
                    let line = text.span().start().line;
                    errors.push((line, unquote(&text.to_string()).unwrap()));
                }
            }
            _ => of_errors(group.stream(), errors, expectations),
        }
    }
}

/// The texts with several words outside of attributes and unit tests.
fn spoken(tokens: TokenStream, found: &mut Vec<(usize, String)>) {
    let tokens: Vec<TokenTree> = tokens.into_iter().collect();
    for (place, token) in tokens.iter().enumerate() {
        match token {
            TokenTree::Group(group) => {
                let before = &tokens[place.saturating_sub(5)..place];
                let is_test = (0..before.len()).any(|at| is_for_tests(&before[at..]));
                let is_attribute = group.delimiter() == Delimiter::Bracket
                    && match before {
                        [.., mark, inner] if is_mark(inner, '!') => is_mark(mark, '#'),
                        [.., mark] => is_mark(mark, '#'),
                        [] => false,
                    };
                if !is_test && !is_attribute {
                    spoken(group.stream(), found);
                }
            }
            TokenTree::Literal(literal) => {
                let line = literal.span().start().line;
                let text = unquote(&literal.to_string()).unwrap_or_default();
                if !text.starts_with(EXAMPLES) {
                    let sentences = text.lines().filter(|line| words(line) >= SHORTEST);
                    found.extend(sentences.map(|text| (line, text.to_owned())));
                }
            }
            _ => {}
        }
    }
}

fn is_mark(token: &TokenTree, mark: char) -> bool {
    matches!(token, TokenTree::Punct(found) if found.as_char() == mark)
}

/// The number of words of a line, without placeholders.
fn words(line: &str) -> usize {
    let parts = parts(line);
    let words = parts.iter().flat_map(|part| part.split_whitespace());
    words
        .filter(|word| word.contains(char::is_alphabetic))
        .count()
}

/// Every text between quotes.
pub(super) fn texts(tokens: TokenStream, found: &mut Vec<String>) {
    for token in tokens {
        match token {
            TokenTree::Group(group) => texts(group.stream(), found),
            TokenTree::Literal(literal) => found.extend(unquote(&literal.to_string())),
            _ => {}
        }
    }
}

/// What a text between quotes stands for; nothing for other literals.
fn unquote(literal: &str) -> Option<String> {
    if let Some(raw) = literal.strip_prefix('r') {
        return Some(raw.trim_matches('#').trim_matches('"').to_owned());
    }
    let mut characters = literal
        .strip_prefix('"')?
        .strip_suffix('"')?
        .chars()
        .peekable();
    let mut text = String::new();
    while let Some(character) = characters.next() {
        match (character, character == '\\') {
            (_, true) => match characters.next()? {
                'n' => text.push('\n'),
                't' => text.push('\t'),
                'u' => {
                    let digits: String = characters.by_ref().take_while(|c| *c != '}').collect();
                    let number = u32::from_str_radix(digits.trim_start_matches('{'), 16);
                    text.push(char::from_u32(number.ok()?)?);
                }
                // The line goes on below.
                '\n' => while characters.next_if(|c| c.is_whitespace()).is_some() {},
                other => text.push(other),
            },
            (character, _) => text.push(character),
        }
    }
    Some(text)
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
        assert_eq!(says(line, error), expected, "{line} {error}");
    }
}

#[test]
fn sentences_of_errors_and_texts_of_tests_are_told_apart() {
    let code = r##"
        #[derive(Debug, thiserror::Error)]
        enum Error {
            #[error("one {}", printable(.path))]
            One { path: String },
            #[error(transparent)]
            Two(Other),
            #[error("\
                three\n  \u{2026}")]
            Three,
        }
        fn f() { println!("no test") }
        #[cfg(test)]
        mod tests {
            const A: &str = r#"four"#;
        }
    "##;
    let (mut errors, mut expectations) = (Vec::new(), Vec::new());
    of_errors(code.parse().unwrap(), &mut errors, &mut expectations);
    let errors: Vec<&str> = errors.iter().map(|(_, text)| text.as_str()).collect();
    assert_eq!(errors, ["one {}", "three\n  …"]);
    assert_eq!(expectations, ["four"]);
    let code = r##"
        //! Nor is the comment of a file a text.
        /// A comment is not a text.
        #[arg(value = "nor is one")]
        const A: &str = "Examples:\n  tfoci";
        fn f() {
            say(format!("one {two} three four\n`five` six: seven {} - eight", x), "an ident");
        }
        #[cfg(test)]
        mod tests {
            const B: &str = "one two three four";
        }
    "##;
    let mut found = Vec::new();
    spoken(code.parse().unwrap(), &mut found);
    let found: Vec<&str> = found.iter().map(|(_, text)| text.as_str()).collect();
    assert_eq!(found, ["`five` six: seven {} - eight"]);
}
