//! Parses TOML documents, and says in plain words what is wrong with one.

use std::fmt;
use std::ops::Range;

use serde::de::DeserializeOwned;

use crate::error::printable;
use crate::plain;

/// The longest line that is shown, in characters. The mark below a longer one would not be under its place.
const WIDEST: usize = 100;

/// A text that is not TOML, or a value that is not the expected one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error {
    /// The line, from 1.
    line: usize,
    /// The first character of the part that is wrong, counted in its line from 1.
    column: usize,
    /// The number of characters that are wrong, at least 1.
    length: usize,
    message: String,
    /// What is wrong, without any text of the document.
    reason: String,
    /// The text of the line; `None` if it must not be shown.
    text: Option<String>,
}

/// Parses a document.
///
/// # Errors
/// The text is not TOML, or not that of a `T`.
pub fn parse<T: DeserializeOwned>(text: &str) -> Result<T, Error> {
    let parsed = toml_edit::de::from_str(text);
    parsed.map_err(|error| Error::at(text, error.span(), error.message()))
}

impl Error {
    /// The error in these bytes of a text.
    fn at(text: &str, span: Option<Range<usize>>, message: &str) -> Self {
        let Range { start, end } = span.unwrap_or_default();
        let before = text.get(..start).unwrap_or(text);
        let begin = before.rfind('\n').map_or(0, |newline| newline + 1);
        let line = text.get(begin..).unwrap_or_default();
        let line = line.lines().next().unwrap_or_default();
        let wrong = text.get(start..end).unwrap_or_default();
        let wrong = wrong.lines().next().unwrap_or_default();
        Self {
            line: 1 + before.matches('\n').count(),
            column: 1 + before.get(begin..).map_or(0, |part| part.chars().count()),
            length: wrong.chars().count().max(1),
            message: printable(&plain::words(message, "table")),
            reason: printable(&plain::without_text(message, "table")),
            text: Some(line.to_owned()),
        }
    }

    /// The error without any text of the document. For a file that the user did not name: the author of the file that names it may want to see
    /// what is in it, such as a password.
    pub fn without_text(mut self) -> Self {
        self.message.clone_from(&self.reason);
        self.text = None;
        self
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (line, column, message) = (self.line, self.column, &self.message);
        write!(f, "line {line}, column {column}: {message}")?;
        if let Some(text) = &self.text
            && is_shown(text)
        {
            let number = line.to_string();
            let (gutter, blanks) = (" ".repeat(number.len()), " ".repeat(column - 1));
            let marks = "^".repeat(self.length);
            write!(
                f,
                "\n{gutter} |\n{number} | {text}\n{gutter} | {blanks}{marks}"
            )?;
        }
        Ok(())
    }
}

impl std::error::Error for Error {}

/// Whether a line can be shown as it is.
fn is_shown(line: &str) -> bool {
    line.chars().count() <= WIDEST && printable(line) == line
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, serde::Deserialize)]
    struct File {
        #[expect(dead_code, reason = "only errors are tested")]
        provider: Vec<Table>,
    }

    #[derive(Debug, serde::Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Table {
        #[expect(dead_code, reason = "only errors are tested")]
        keys: Vec<String>,
    }

    #[test]
    fn errors_name_the_line_and_what_was_expected() {
        let cases = [
            (
                "[[provider]]\nkeys = \"x\"\n",
                "line 2, column 8: expected a list\n  |\n2 | keys = \"x\"\n  |        ^^^",
            ),
            (
                "\n[provider]\nkeys = []\n",
                "line 2, column 1: expected a list\n  |\n2 | [provider]\n  | ^^^^^^^^^^",
            ),
            (
                "[[provider]]\nkeys = [\n  'a',\n  1 ]\n",
                "line 4, column 3: expected a text\n  |\n4 |   1 ]\n  |   ^",
            ),
            (
                "[[provider]]\n",
                "line 1, column 1: `keys` is missing\n  |\n1 | [[provider]]\n  | ^^^^^^^^^^^^",
            ),
        ];
        for (text, expected) in cases {
            let error = parse::<File>(text).unwrap_err();
            assert_eq!(error.to_string(), expected);
        }
    }

    #[test]
    fn lines_that_cannot_be_shown_are_not() {
        let long = format!("provider = [ 1, {} ]", "1, ".repeat(50));
        for text in ["provider = 1 # \u{202e}", &long] {
            let error = parse::<File>(text).unwrap_err().to_string();
            assert_eq!(error.lines().count(), 1, "{error}");
        }
    }
}
