//! Why a module cannot be understood.

use crate::error::{Category, printable};
use crate::{address, constraint, outline};

/// A file of a module that clients refuse as well.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{mistake}\n  in {}{}", printable(.file), at(*.line))]
pub struct Error {
    /// The file's name.
    pub file: String,
    /// The line, from 1, where it is known.
    pub line: Option<usize>,
    /// What is wrong.
    pub mistake: FileError,
}

fn at(line: Option<usize>) -> String {
    line.map(|line| format!(", line {line}"))
        .unwrap_or_default()
}

/// What is wrong with a file, after the line, from 1, where it is known.
pub(super) type Located = (Option<usize>, FileError);

/// What is wrong with a file of a module.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[allow(missing_docs, reason = "the messages name the fields")]
pub enum FileError {
    /// More than any file of a module has.
    #[error("more than {limit} bytes")]
    Large { limit: usize },
    /// Not HCL 2.
    #[error("not valid HCL: {0}")]
    Hcl(outline::SyntaxError),
    /// Not JSON.
    #[error("not valid JSON")]
    Json,
    /// JSON, but no object.
    #[error("neither a JSON object nor a list of them")]
    NotObject,
    /// A block with other labels than its kind has.
    #[error("a `{}` block has {received} labels\n  expected {expected}", printable(.name))]
    Labels {
        name: String,
        expected: usize,
        received: usize,
    },
    /// An argument that may not be computed.
    #[error("`{name}` is not text in quotes")]
    NotText { name: &'static str },
    /// An entry of `required_providers` that is none.
    #[error("the requirement `{}` is neither an object nor a version constraint in quotes", printable(.name))]
    Requirement { name: String },
    /// Two `required_providers` blocks.
    #[error("a module has two `required_providers` blocks\n  the first in {}{}", printable(.file), at(*.line))]
    Several { file: String, line: Option<usize> },
    /// Something that is no provider's address, or a name that no provider can have.
    #[error(transparent)]
    Source(#[from] address::Error),
    /// Something that is no version constraint.
    #[error(transparent)]
    Constraints(#[from] constraint::Error),
}

impl Error {
    /// What kind of thing went wrong.
    pub fn category(&self) -> Category {
        match &self.mistake {
            FileError::Source(error) => error.category(),
            _ => Category::Malformed,
        }
    }
}
