//! The constructs of HCL that templates must not contain.
//!
//! Clients evaluate all of HCL except functions. Repository names need no loops or arithmetic, so tfoci refuses these by name instead of
//! reproducing the clients' evaluation.

use std::fmt;

use hcl::edit::expr::FuncCall;

use crate::error::printable;

/// A construct of HCL that a template must not contain.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Construct {
    /// The call of a function. Clients have no functions here either.
    Function(String),
    /// `for`, as a directive or an expression.
    For,
    /// A splat: `.*` or `[*]`.
    Splat,
    /// A heredoc: `<<END`.
    Heredoc,
    /// `+`, `-`, `*`, `/`, `%`, or the sign of a number.
    Arithmetic,
    /// A tuple or object, unless an index follows it directly.
    Collection,
}

impl fmt::Display for Construct {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = match self {
            Self::Function(name) => {
                let name = printable(name);
                return write!(f, "the function `{name}` is not available, no function is");
            }
            Self::For => "`for`",
            Self::Splat => "a splat",
            Self::Heredoc => "a heredoc",
            Self::Arithmetic => "arithmetic",
            Self::Collection => "a tuple or object without an index",
        };
        write!(f, "tfoci does not evaluate {name} in a template")
    }
}

impl Construct {
    pub(super) fn function(call: &FuncCall) -> Self {
        let parts = call.name.namespace.iter().chain([&call.name.name]);
        let parts: Vec<&str> = parts.map(|part| part.as_str()).collect();
        Self::Function(parts.join("::"))
    }
}
