//! Why an expression has no value.

use super::types::Type;
use crate::error::printable;

/// Why an expression has no value.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[allow(missing_docs, reason = "the message of a variant names its fields")]
pub enum ExpressionError {
    /// `null`, and a value is required.
    #[error("is null")]
    Null,
    /// A value that cannot be converted to the required type.
    #[error("is {received}, expected {expected}")]
    Type { expected: Type, received: Type },
    /// Text that cannot be converted to the required type.
    #[error("is the string `{}`, expected {expected}", printable(.text))]
    Text { expected: Type, text: String },
    /// An attribute or index of a value that has no elements.
    #[error("is {received}, which has no elements")]
    NoElements { received: Type },
    /// An attribute of a tuple, which has only indices.
    #[error("is an attribute of a tuple, expected an index")]
    NoAttributes,
    /// An element that does not exist.
    #[error("has no element `{}`", printable(.key))]
    NoElement { key: String },
    /// The branches of a conditional have no common type.
    #[error("is either {yes} or {no}, expected one type")]
    Inconsistent { yes: Type, no: Type },
    /// A number with a fraction, or one of more than 64 bits.
    #[error("is not a whole number of 64 bits")]
    Number,
    /// An object key that could be a name or a reference.
    #[error("is not a key, expected quotes or parentheses around it")]
    AmbiguousKey,
    /// An operator does not support its operands.
    #[error("cannot be evaluated: {}", printable(&.error.to_string()))]
    Operation { error: hcl::eval::Error },
    /// Expressions are nested too deeply.
    #[error("nests deeper than {} levels", super::nesting::MOST_LEVELS)]
    TooDeep,
}

impl ExpressionError {
    /// Whether the error is a missing element, which may exist for other values of the symbols.
    pub(super) fn is_missing_element(&self) -> bool {
        matches!(self, Self::NoElement { .. })
    }
}
