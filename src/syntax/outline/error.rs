//! Why a text is not HCL.

use crate::error::{Category, printable};
use crate::text;

/// Text that is not HCL.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {mistake}")]
pub struct Error {
    /// The line, from 1. For an unclosed bracket or quote, the line that opens it.
    pub line: usize,
    /// What is wrong on this line.
    pub mistake: SyntaxError,
}

impl Error {
    /// The category that decides the exit code.
    pub fn category(&self) -> Category {
        Category::Malformed
    }
}

/// Where text is not HCL.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[allow(missing_docs, reason = "the message of a variant names its fields")]
pub enum SyntaxError {
    /// Not UTF-8.
    #[error(transparent)]
    Text(text::Error),
    /// Neither an attribute nor a block where one must begin.
    #[error("neither an attribute nor a block begins here")]
    Name,
    #[error("a name is followed by none of `=`, `{{` and a label")]
    Label,
    #[error("a label is not plain text")]
    LabelText,
    /// No value after `=`.
    #[error("an attribute has no value")]
    NoValue,
    /// Two attributes with the same name.
    #[error("the attribute `{}` is defined twice", printable(.name))]
    Redefined { name: String },
    /// Two attributes or blocks on one line.
    #[error("an attribute or block is followed by something in the same line")]
    SameLine,
    /// A block whose content begins in the line of its opening brace, and is more than an attribute.
    #[error("a block on one line holds one attribute at most, and no block")]
    OneLine,
    /// A closing bracket without an opening one.
    #[error("`{found}` closes nothing")]
    Closing { found: char },
    /// An opening bracket, quote, heredoc or comment without its end.
    #[error("`{}` is not closed", printable(.what))]
    Unclosed { what: String },
    /// `<<` without a mark and the end of the line, which no expression has.
    #[error("`<<` opens no heredoc")]
    Heredoc,
    /// More items than any real file.
    #[error("more than {limit} blocks, labels and attributes")]
    Items { limit: usize },
    /// Nested more deeply than any real file.
    #[error("nested more than {limit} levels deep")]
    Depth { limit: usize },
}
