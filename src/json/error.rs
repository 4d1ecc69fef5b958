//! Errors of JSON documents, with the path to the invalid part.

use std::fmt;

use crate::error::{Category, printable};
use crate::plain;

/// An invalid document, or an ambiguous one that different readers understand differently.
#[derive(Debug)]
pub struct Error {
    /// The path from the document to the faulty object or value, outermost step first.
    path: Vec<String>,
    /// Whether it is no JSON of the expected form, ambiguous, or too large.
    pub fault: Fault,
}

/// An error in a JSON document.
#[derive(Debug)]
pub enum Fault {
    /// It is not JSON, or a value does not have the type that clients expect.
    Malformed(serde_json::Error),
    /// An object has a duplicate member that clients read.
    Repeated {
        /// The name of the first member, as in the document.
        first: String,
        /// The name of the second member, as in the document.
        second: String,
    },
    /// There are more members or items than the limit allows.
    TooMany {
        /// The plural noun for what there is too much of.
        what: &'static str,
        /// The largest allowed number of them.
        limit: usize,
    },
}

impl Error {
    /// The error for a duplicate member.
    pub fn repeated(first: &str, second: &str) -> Self {
        Fault::Repeated {
            first: first.to_owned(),
            second: second.to_owned(),
        }
        .into()
    }

    /// The error for an exceeded limit.
    pub fn too_many(what: &'static str, limit: usize) -> Self {
        Fault::TooMany { what, limit }.into()
    }

    /// Prepends a member to the path.
    pub fn within(mut self, member: &str) -> Self {
        self.path.insert(0, format!("`{}`", printable(member)));
        self
    }

    /// Prepends an item of a list, counted from 1.
    pub(super) fn at_item(mut self, number: usize) -> Self {
        self.path.insert(0, format!("item {number}"));
        self
    }

    /// The category that decides the exit code. A duplicate member is always [`Category::Untrusted`].
    pub fn category(&self) -> Category {
        match self.fault {
            Fault::Repeated { .. } => Category::Untrusted,
            Fault::Malformed(_) | Fault::TooMany { .. } => Category::Malformed,
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for step in &self.path {
            write!(f, "{step}: ")?;
        }
        match &self.fault {
            Fault::Malformed(mistake) => {
                // The position in a member is relative to it, and the user would look for it in the document.
                if self.path.is_empty() && mistake.line() > 0 {
                    let (line, column) = (mistake.line(), mistake.column().max(1));
                    write!(f, "line {line}, column {column}: ")?;
                }
                f.write_str(&explained(mistake))
            }
            Fault::Repeated { first, second } => {
                let (first, second) = (printable(first), printable(second));
                write!(f, "an object has the members `{first}` and `{second}`")
            }
            Fault::TooMany { what, limit } => write!(f, "more than {limit} {what}"),
        }
    }
}

/// What is wrong with a document, without the position.
fn explained(mistake: &serde_json::Error) -> String {
    match mistake.classify() {
        serde_json::error::Category::Eof => "the document ends too early".to_owned(),
        serde_json::error::Category::Syntax => "this is not JSON".to_owned(),
        serde_json::error::Category::Data | serde_json::error::Category::Io => {
            let text = mistake.to_string();
            let message = text.rsplit_once(" at line ");
            let message = message.map_or(text.as_str(), |(message, _)| message);
            printable(&plain::words(message, "object"))
        }
    }
}

impl std::error::Error for Error {}

impl From<Fault> for Error {
    fn from(fault: Fault) -> Self {
        Self {
            path: Vec::new(),
            fault,
        }
    }
}

impl From<serde_json::Error> for Error {
    fn from(mistake: serde_json::Error) -> Self {
        Fault::Malformed(mistake).into()
    }
}
