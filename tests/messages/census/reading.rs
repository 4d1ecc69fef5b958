//! The texts in a file of Rust: sentences for users, and expectations of tests.

use std::fs;
use std::path::Path;

use proc_macro2::{Delimiter, TokenStream, TokenTree};

use crate::architecture::source::is_for_tests;

/// Shorter texts are names and parts of sentences, in words.
const SHORTEST: usize = 4;

/// The beginning of the examples of a command, which other tests run.
const EXAMPLES: &str = "Examples:";

pub(in crate::messages) fn tokens(file: &Path) -> TokenStream {
    fs::read_to_string(file).unwrap().parse().unwrap()
}

/// The texts before, between and behind the placeholders of a line.
pub(super) fn parts(line: &str) -> Vec<String> {
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

/// The texts of `#[error("…")]` and `impl Display` with their lines, and apart from them those of unit tests.
pub(super) fn of_errors(
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
        if is_of_display(&tokens[..place]) {
            spoken(group.stream(), errors);
            continue;
        }
        let inner: Vec<TokenTree> = group.stream().into_iter().collect();
        match &inner[..] {
            [TokenTree::Ident(name), TokenTree::Group(arguments)] if name == "error" => {
                let mut arguments = arguments.stream().into_iter();
                if let Some(TokenTree::Literal(text)) = arguments.next() {
                    let line = text.span().start().line;
                    errors.push((line, unquote(&text.to_string()).unwrap()));
                }
                // What is put into the placeholders may be sentences, too.
                spoken(arguments.collect(), errors);
            }
            _ => of_errors(group.stream(), errors, expectations),
        }
    }
}

/// Whether what stands before a group begins an `impl Display for` a type, whose texts are messages.
fn is_of_display(before: &[TokenTree]) -> bool {
    let is = |token: &TokenTree, word| matches!(token, TokenTree::Ident(name) if name == word);
    let is_end = |token: &&TokenTree| matches!(token, TokenTree::Group(_)) || is_mark(token, ';');
    let item = before.iter().rev().take_while(|token| !is_end(token));
    let item: Vec<&TokenTree> = item.collect();
    item.windows(2)
        .any(|pair| is(pair[0], "for") && is(pair[1], "Display"))
}

/// The texts with several words outside of attributes and unit tests.
pub(super) fn spoken(tokens: TokenStream, found: &mut Vec<(usize, String)>) {
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
pub(in crate::messages) fn texts(tokens: TokenStream, found: &mut Vec<String>) {
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
        impl<'a> fmt::Display for Two<'a> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(if self.0 { "a name" } else { "a sentence of five words" })
            }
        }
        impl fmt::Debug for Two<'_> {
            fn fmt(&self) { "this is no such sentence" }
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
    assert_eq!(errors, ["one {}", "three\n  …", "a sentence of five words"]);
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
