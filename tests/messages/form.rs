//! The form of every message that a test expects: short, and without the words of libraries.

use std::path::Path;

use super::census::reading::{texts, tokens};
use crate::architecture::source::rust_files;

/// Words of libraries, and how they show values.
const FOREIGN: [&str; 10] = [
    "error sending request",
    "client error (",
    "tcp connect error",
    "dns error",
    "builder error",
    "InvalidContentType",
    "DnsName(",
    "IpAddress(",
    "docs.rs/",
    "RUST_BACKTRACE",
];

/// The most lines below the first one of a message. Hints do not count.
const MOST_LINES: usize = 3;

/// Every message in the tests of a directory, with its lines.
fn messages(directory: &str) -> Vec<Vec<String>> {
    let mut found = Vec::new();
    for file in rust_files(Path::new(directory)) {
        if !file.starts_with("tests/support") && file != Path::new(file!()) {
            texts(tokens(&file), &mut found);
        }
    }
    found.iter().flat_map(|text| in_text(text)).collect()
}

fn in_text(text: &str) -> Vec<Vec<String>> {
    let mut messages: Vec<Vec<String>> = Vec::new();
    let mut is_inside = false;
    for line in text.lines() {
        let begins = line.starts_with("error: ");
        is_inside = begins || (is_inside && line.starts_with("  "));
        if begins {
            messages.push(Vec::new());
        }
        if let Some(message) = messages.last_mut().filter(|_| is_inside) {
            message.push(line.to_owned());
        }
    }
    messages
}

#[test]
fn no_message_quotes_the_errors_of_libraries() {
    let messages = messages("tests");
    assert!(messages.len() > 200, "{}", messages.len());
    for message in messages {
        let is_foreign = FOREIGN
            .iter()
            .any(|word| message.iter().any(|line| line.contains(word)));
        assert!(!is_foreign, "{message:#?}");
        // What the system says is the reason of a sentence of our own.
        assert!(!message[0].contains("(os error "), "{message:#?}");
    }
}

#[test]
fn messages_are_short() {
    for message in messages("tests/messages") {
        // The line of a file that cannot be read is shown with a mark below it.
        let is_quotation = message.iter().any(|line| line.trim() == "|");
        let most = if is_quotation { 6 } else { MOST_LINES };
        assert!(message.len() <= 1 + most, "{message:#?}");
    }
}

#[test]
fn a_text_may_hold_several_messages() {
    let text = "  Copied a\nerror: one\n  two\n\nhint: three\nerror: four\n";
    assert_eq!(
        in_text(text),
        [vec!["error: one", "  two"], vec!["error: four"]]
    );
}
