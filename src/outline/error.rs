//! Why a text is not HCL.

use crate::error::{Category, printable};

/// Text that is not HCL.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {mistake}")]
pub struct Error {
    /// The line, from 1. For what is not closed, the line where it was opened.
    pub line: usize,
    /// What is wrong there.
    pub mistake: SyntaxError,
}

impl Error {
    /// What kind of thing went wrong.
    pub fn category(&self) -> Category {
        Category::Malformed
    }
}

/// What is wrong with a text.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[allow(missing_docs, reason = "the messages name the fields")]
pub enum SyntaxError {
    /// Not UTF-8.
    #[error("not UTF-8 text")]
    NotText,
    /// Something else where an attribute or block begins.
    #[error("neither an attribute nor a block begins here")]
    Name,
    /// A name, and then neither an attribute nor a block.
    #[error("a name is followed by none of `=`, `{{` and a label")]
    Label,
    /// A label that is not plain text.
    #[error("a label is not plain text")]
    LabelText,
    /// Nothing behind `=`.
    #[error("an attribute has no value")]
    NoValue,
    /// Two attributes of one name.
    #[error("the attribute `{}` is defined twice", printable(.name))]
    Redefined { name: String },
    /// Two attributes or blocks in one line.
    #[error("an attribute or block is followed by something in the same line")]
    SameLine,
    /// An end without a beginning.
    #[error("`{found}` closes nothing")]
    Closing { found: char },
    /// A beginning without an end.
    #[error("`{}` is not closed", printable(.what))]
    Unclosed { what: String },
    /// Deeper than anything real.
    #[error("nested too deeply")]
    Depth,
}
