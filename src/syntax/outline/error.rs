//! Why a text is not HCL.

use crate::error::printable;
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
    /// An attribute or block is not as it should be.
    pub(super) fn malformed(line: usize) -> Self {
        let mistake = SyntaxError::Malformed;
        Self { line, mistake }
    }
}

/// Where text is not HCL.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[allow(missing_docs, reason = "the message of a variant names its fields")]
pub enum SyntaxError {
    /// Not UTF-8.
    #[error(transparent)]
    Text(text::Error),
    /// An attribute, block or value that is not as clients write it, or does not end.
    #[error("an attribute or block is malformed, or does not end")]
    Malformed,
    /// Two attributes with the same name.
    #[error("the attribute `{}` is defined twice", printable(.name))]
    Redefined { name: String },
    /// More than any real file has.
    #[error("more than {limit} {what}")]
    Many { limit: usize, what: &'static str },
}
