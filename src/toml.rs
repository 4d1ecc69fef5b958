//! Parses TOML documents, and says in plain words what is wrong with one.

use std::fmt;
use std::ops::Range;

use serde::de::{
    Deserialize, DeserializeOwned, Deserializer, IntoDeserializer, SeqAccess, Visitor,
};
use toml_edit::DocumentMut;

use crate::error::{Hint, printable};
use crate::nearest::nearest;
use crate::plain;

/// The longest line that is shown, in characters. The mark below a longer one would not be under its place.
const WIDEST: usize = 100;

/// What is expected of the tables of providers.
const TABLES: &str = "tables `[[provider]]` with two brackets on each side";

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
    /// The name of a field that the document does not have.
    unknown_field: Option<String>,
    /// The field that it probably means.
    meant_field: Option<String>,
    /// The field with its text as a list, where a list is expected.
    meant_list: Option<String>,
    /// Whether the document has both `[provider]` and `[[provider]]`, which exclude each other.
    mixes_brackets: bool,
}

/// Parses a document.
///
/// # Errors
/// The text is not TOML, or not that of a `T`.
pub fn parse<T: DeserializeOwned>(text: &str) -> Result<T, Error> {
    let parsed = toml_edit::de::from_str(text);
    parsed.map_err(|error| Error::at(text, error.span(), error.message()))
}

/// Parses a document that is edited.
///
/// # Errors
/// The text is not TOML.
pub(crate) fn parse_to_edit(text: &str) -> Result<DocumentMut, Error> {
    let parsed = text.parse::<DocumentMut>();
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
        let is_table = line.split('#').next().map(str::trim) == Some("[provider]");
        let message = match message == "duplicate key" && is_table {
            true => &format!("invalid type: map, expected {TABLES}"),
            false => message,
        };
        let field = before.get(begin..).unwrap_or_default();
        let is_one = message.starts_with("invalid type: string")
            && message.ends_with(", expected a sequence")
            && field.trim_end().ends_with('=');
        Self {
            line: 1 + before.matches('\n').count(),
            column: 1 + before.get(begin..).map_or(0, |part| part.chars().count()),
            length: wrong.chars().count().max(1),
            message: printable(&plain::words(message, "table")),
            reason: printable(&plain::without_text(message, "table")),
            text: Some(line.to_owned()),
            unknown_field: plain::unknown_field(message).map(str::to_owned),
            meant_field: plain::unknown_field(message)
                .and_then(|name| nearest(name, &plain::known_fields(message)))
                .map(str::to_owned),
            meant_list: is_one
                // The value may be a secret.
                .then(|| format!("{field}[\"…\"]"))
                .filter(|meant| is_shown(meant)),
            mixes_brackets: {
                let has = |header: &str| text.lines().any(|line| line.trim() == header);
                has("[provider]") && has("[[provider]]")
            },
        }
    }

    /// The error without any text of the document. For a file that the user did not name: the author of the file that names it may want to see
    /// what is in it, such as a password.
    #[must_use]
    pub fn without_text(self) -> Self {
        Self {
            message: self.reason.clone(),
            text: None,
            unknown_field: None,
            meant_field: None,
            meant_list: None,
            ..self
        }
    }

    /// Whether a table `[[provider]]` is probably meant by one with single brackets, or with another name.
    pub fn means_provider_table(&self) -> bool {
        self.mixes_brackets || self.unknown_field() == Some("providers")
    }

    /// The name of the field that the document does not have, if this is the error.
    pub fn unknown_field(&self) -> Option<&str> {
        self.unknown_field.as_deref()
    }

    /// The line that is probably meant, if a text stands where a list is expected. `…` stands for the text.
    pub fn meant_list(&self) -> Option<&str> {
        self.meant_list.as_deref()
    }

    /// The field that this one probably means: its name is similar.
    pub fn meant_field(&self) -> Option<&str> {
        self.meant_field.as_deref()
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            line,
            column,
            length,
            message,
            text,
            reason: _,
            unknown_field: _,
            meant_field: _,
            meant_list: _,
            mixes_brackets: _,
        } = self;
        write!(f, "line {line}, column {column}: {message}")?;
        if let Some(text) = text
            && is_shown(text)
        {
            let number = line.to_string();
            let (gutter, blanks) = (" ".repeat(number.len()), " ".repeat(column - 1));
            let marks = "^".repeat(*length);
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

/// Parses the tables `[[provider]]` of a file, whose brackets are easily written as for a single table.
///
/// # Errors
/// The value is not a list of tables.
pub fn provider_tables<'de, D, T>(source: D) -> Result<Vec<T>, D::Error>
where
    D: Deserializer<'de>,
    T: Deserialize<'de>,
{
    struct Tables<T>(std::marker::PhantomData<T>);

    impl<'de, T: Deserialize<'de>> Visitor<'de> for Tables<T> {
        type Value = Vec<T>;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str(TABLES)
        }

        fn visit_seq<A: SeqAccess<'de>>(self, mut tables: A) -> Result<Vec<T>, A::Error> {
            let mut all = Vec::new();
            while let Some(table) = tables.next_element()? {
                all.push(table);
            }
            Ok(all)
        }
    }

    source.deserialize_seq(Tables(std::marker::PhantomData))
}

/// Parses one of a few words. The derived parser calls any other type of value no text, and does not say which words there are.
///
/// # Errors
/// The value is not a text, or not one of the words.
pub(crate) fn word<'de, D, T>(source: D, words: &'static str) -> Result<Option<T>, D::Error>
where
    D: Deserializer<'de>,
    T: Deserialize<'de>,
{
    struct Word<T>(&'static str, std::marker::PhantomData<T>);

    impl<'de, T: Deserialize<'de>> Visitor<'de> for Word<T> {
        type Value = T;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str(self.0)
        }

        fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<T, E> {
            T::deserialize(text.into_deserializer())
        }
    }

    let word = Word(words, std::marker::PhantomData);
    source.deserialize_any(word).map(Some)
}

impl Hint for Error {
    fn hint(&self) -> Option<String> {
        let meant = match self.means_provider_table() {
            true => Some("[[provider]]"),
            false => self.meant_list().or_else(|| self.meant_field()),
        };
        meant.map(|meant| format!("did you mean `{meant}`?"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, serde::Deserialize)]
    struct File {
        #[serde(deserialize_with = "provider_tables")]
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
                "line 2, column 8: expected a list, received a text\n  |\n2 | keys = \"x\"\n  |        ^^^",
            ),
            (
                "\n[provider]\nkeys = []\n",
                "line 2, column 1: expected tables `[[provider]]` with two brackets on each side, received a table\n  |\n2 | [provider]\n  | ^^^^^^^^^^",
            ),
            (
                "[[provider]]\nkeys = [\n  'a',\n  1 ]\n",
                "line 4, column 3: expected a text, received the number 1\n  |\n4 |   1 ]\n  |   ^",
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
