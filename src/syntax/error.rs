//! Why a text is refused as HCL 1 or JSON.

use crate::error::printable;
use crate::text;

/// A text that does not parse, or a part of it that has another shape than expected. Messages only show names from it, because values
/// may be secrets.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs, reason = "the message of a variant names its fields")]
pub enum Error {
    /// Not UTF-8.
    #[error("neither HCL nor JSON: {0}")]
    Text(text::Error),
    /// Not HCL. The line is not quoted: it may hold a password.
    #[error("not valid HCL\n  at line {line}, column {column}")]
    Hcl { line: usize, column: usize },
    /// Not JSON. The text is not quoted: it may hold a password.
    #[error("not valid JSON\n  at line {line}, column {column}")]
    Json { line: usize, column: usize },
    /// A member that is not a block with the expected number of labels.
    #[error("`{}` is not a block with {labels} {}", printable(.name), if *.labels == 1 { "label" } else { "labels" })]
    Block { name: String, labels: usize },
    /// An argument of the wrong type.
    #[error("the argument `{name}` is not {expected}")]
    Type {
        name: &'static str,
        expected: &'static str,
    },
}
