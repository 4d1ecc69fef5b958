//! Errors of templates and of their evaluation.

use std::fmt;

use super::LONGEST_TEXT;
use super::construct::Construct;
use super::symbol::Symbol;
use super::value::ExpressionError;
use crate::address::{self, ProviderAddr};
use crate::error::{Category, printable};
use crate::oci::repository_name;

/// A template that cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[allow(missing_docs, reason = "the messages name the fields")]
pub enum Error {
    /// The template is invalid for all providers.
    #[error("the repository template `{}` is wrong{}", printable(.text), Facts(.problems))]
    Template {
        text: String,
        problems: Vec<TemplateProblem>,
    },
    /// The template is valid, but gives no repository name for this provider.
    #[error("the repository template `{}` has no repository for `{provider}`\n  {problem}", printable(.text))]
    Provider {
        text: String,
        provider: Box<ProviderAddr>,
        problem: TemplateProblem,
    },
    /// No OCI repository name can contain this provider's address.
    #[error(transparent)]
    Address(#[from] address::Error),
}

impl Error {
    /// The category of the error. Users type templates, so an invalid one is a usage error; addresses may come from documents.
    pub fn category(&self) -> Category {
        match self {
            Self::Template { .. } => Category::Usage,
            Self::Provider { .. } => Category::Unsupported,
            Self::Address(error) => error.category(),
        }
    }

    /// The error in the resulting repository name, if there is one. An empty component often means that a shell expanded a symbol.
    pub fn mistake_in_name(&self) -> Option<&repository_name::RepositoryErrorKind> {
        let problems = match self {
            Self::Template { problems, .. } => problems.as_slice(),
            Self::Provider { problem, .. } => std::slice::from_ref(problem),
            Self::Address(_) => &[],
        };
        problems.iter().find_map(|problem| match problem {
            TemplateProblem::Repository(error) => Some(&error.kind),
            _ => None,
        })
    }
}

/// A problem of a template.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[allow(missing_docs, reason = "the messages name the fields")]
pub enum TemplateProblem {
    /// The template exceeds the length limit.
    #[error("it has {size} bytes, expected at most {LONGEST_TEXT}")]
    TooLong { size: usize },
    /// Quoted texts and expressions are nested too deeply.
    #[error("its quoted texts nest deeper than {}", super::nesting::DEEPEST)]
    TooDeep,
    /// The template does not parse.
    #[error("line {line}, column {column}: {}", printable(.message))]
    Syntax {
        line: usize,
        column: usize,
        message: String,
    },
    /// An unmatched brace in the `{name}` form.
    #[error("`{brace}` has no partner, expected {{hostname}}, {{namespace}} or {{type}}")]
    Brace { brace: char },
    /// Symbols in both spellings. Beside `${name}`, `{name}` would be literal text.
    #[error("it has `{{{symbol}}}` beside `${{` or `%{{`, expected one spelling of symbols")]
    Mixed { symbol: Symbol },
    /// An unknown symbol.
    #[error("the symbol `{}` is not available, only hostname, namespace and type are", printable(.name))]
    Symbol { name: String },
    /// A refused construct.
    #[error("{0}")]
    Refused(Construct),
    /// Two providers would share a repository, because the template omits a symbol.
    #[error("it does not refer to `{symbol}`, of which there {values}")]
    Missing { symbol: Symbol, values: Values },
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

impl From<Construct> for TemplateProblem {
    fn from(construct: Construct) -> Self {
        Self::Refused(construct)
    }
}

/// The number of different values of a symbol.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Values {
    /// Unknown, because the providers are unknown.
    Any,
    /// A known number.
    Count(usize),
}

impl fmt::Display for Values {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Any => f.write_str("can be any number"),
            Self::Count(count) => write!(f, "are {count}"),
        }
    }
}

/// Writes each problem on its own line.
struct Facts<'a>(&'a [TemplateProblem]);

impl fmt::Display for Facts<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0
            .iter()
            .try_for_each(|problem| write!(f, "\n  {problem}"))
    }
}
