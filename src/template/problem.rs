//! What is wrong with a template.

use std::fmt;

use hcl::edit::expr::Expression;

use super::LONGEST_TEXT;
use super::construct::Construct;
use super::expression_error::ExpressionError;
use super::symbol::Symbol;
use crate::error::printable;
use crate::oci::repository_name;

/// Why clients refuse a template, or would not find its providers.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[allow(missing_docs, reason = "the message of a variant names its fields")]
pub enum TemplateProblem {
    /// The template exceeds the length limit.
    #[error("it has {size} bytes, expected at most {LONGEST_TEXT}")]
    TooLong { size: usize },
    /// Quoted texts and expressions are nested too deeply.
    #[error("its quoted texts nest deeper than {}", super::nesting::DEEPEST)]
    TooDeep,
    /// The template does not parse.
    #[error("line {}, column {}: {}", .error.location().line(), .error.location().column(), printable(.error.message()))]
    Syntax { error: hcl::edit::parser::Error },
    /// An expression without its closing brace.
    #[error("`{}` is not closed, expected `}}`", printable(.opening))]
    Unclosed { opening: String },
    /// An unmatched brace in the `{name}` form.
    #[error("`{brace}` has no partner, expected {{hostname}}, {{namespace}} or {{type}}")]
    Brace { brace: char },
    /// Symbols in both spellings. Beside `${name}`, `{name}` would be literal text.
    #[error("it has `{{{symbol}}}` beside `${{` or `%{{`, expected one spelling of symbols")]
    Mixed { symbol: Symbol },
    #[error("the symbol `{}` is not available, only hostname, namespace and type are", printable(.name))]
    Symbol { name: String },
    /// HCL that clients evaluate and tfoci does not.
    #[error("{0}")]
    Refused(Construct),
    /// Two providers would share a repository, because the template omits a symbol.
    #[error("it does not refer to `{symbol}`, in which the providers {values}")]
    Missing { symbol: Symbol, values: Values },
    /// Two providers of one host would share a repository.
    #[error("it may give two providers of one host the same repository")]
    Shared {
        /// A template that keeps them apart.
        meant: String,
    },
    /// An expression cannot be evaluated.
    #[error("`{}` {mistake}", printable(.expression))]
    Expression {
        expression: String,
        mistake: ExpressionError,
    },
    /// The value of the whole template is not text.
    #[error("the template {0}")]
    Whole(ExpressionError),
    /// The result is not a repository name.
    #[error(transparent)]
    Repository(#[from] repository_name::Error),
}

impl ExpressionError {
    /// The problem of an expression with this error.
    pub(super) fn at(self, expression: &Expression) -> TemplateProblem {
        TemplateProblem::Expression {
            expression: expression.to_string().trim().to_owned(),
            mistake: self,
        }
    }
}

impl From<Construct> for TemplateProblem {
    fn from(construct: Construct) -> Self {
        Self::Refused(construct)
    }
}

/// Whether a symbol has different values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Values {
    /// Perhaps: the providers are unknown.
    Unknown,
    /// Two providers have different values.
    Differ,
}

impl fmt::Display for Values {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Unknown => "can differ",
            Self::Differ => "differ",
        })
    }
}
