//! Why a text is refused as HCL or JSON.

use crate::error::printable;
use crate::text;

/// A text that does not parse, or a part of it that has another shape than expected.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{mistake}")]
pub struct Error {
    /// The line, from 1, if known. For an unclosed bracket or quote, the line that opens it.
    pub line: Option<usize>,
    /// What is wrong there.
    pub mistake: SyntaxError,
}

/// What is wrong with a text. Messages only show names from it, because values may be secrets.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[allow(missing_docs, reason = "the message of a variant names its fields")]
pub enum SyntaxError {
    /// Not UTF-8.
    #[error("neither HCL nor JSON: {0}")]
    Text(text::Error),
    /// An attribute, block or value that is not as clients write it, occurs twice, or does not end; or more of them than any real file has.
    #[error("not valid HCL: an attribute or block is malformed, repeated, or does not end")]
    Malformed,
    /// Not JSON.
    #[error("not a valid JSON object")]
    Json,
    /// A member that is not a block with the expected number of labels.
    #[error("`{}` is not a block with {labels} {}", printable(.name), if *.labels == 1 { "label" } else { "labels" })]
    Block { name: String, labels: usize },
    /// An argument of the wrong type.
    #[error("`{name}` is not {expected}")]
    Type {
        name: &'static str,
        expected: &'static str,
    },
}

impl SyntaxError {
    pub(super) fn at(self, line: usize) -> Error {
        let line = Some(line);
        Error {
            line,
            mistake: self,
        }
    }
}
