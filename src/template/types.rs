//! The types of values.

use std::fmt;

/// What a value in a template can be. Tuples and objects only occur with an index.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Type {
    /// Unknown, as for `null`.
    Any,
    /// `true` or `false`.
    Bool,
    /// A whole number of 64 bits. Clients also calculate with fractions, which repository names do not contain.
    Number,
    /// Text.
    String,
}

impl fmt::Display for Type {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Any => "any value",
            Self::Bool => "a bool",
            Self::Number => "a whole number",
            Self::String => "a string",
        })
    }
}
