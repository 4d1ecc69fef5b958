//! Errors of templates, and of their evaluation for a provider.

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
    /// It is wrong whatever the provider.
    #[error("the repository template `{}` is wrong{}", printable(.text), Facts(.problems))]
    Template {
        text: String,
        problems: Vec<Problem>,
    },
    /// It has no repository for one provider.
    #[error("the repository template `{}` has no repository for `{provider}`\n  {problem}", printable(.text))]
    Provider {
        text: String,
        provider: Box<ProviderAddr>,
        problem: Problem,
    },
    /// No repository of any registry could have this provider in its name.
    #[error(transparent)]
    Address(#[from] address::Error),
}

impl Error {
    /// What kind of thing went wrong: a template is typed by the user, an address need not be.
    pub fn category(&self) -> Category {
        match self {
            Self::Template { .. } => Category::Usage,
            Self::Provider { .. } => Category::Unsupported,
            Self::Address(error) => error.category(),
        }
    }

    /// The error in the resulting repository name, if that is the problem. An empty component often means that a shell expanded a symbol.
    pub fn mistake_in_name(&self) -> Option<&repository_name::RepositoryErrorKind> {
        let problems = match self {
            Self::Template { problems, .. } => problems.as_slice(),
            Self::Provider { problem, .. } => std::slice::from_ref(problem),
            Self::Address(_) => &[],
        };
        problems.iter().find_map(|problem| match problem {
            Problem::Repository(error) => Some(&error.kind),
            _ => None,
        })
    }
}

/// One thing that is wrong.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[allow(missing_docs, reason = "the messages name the fields")]
pub enum Problem {
    /// The text is longer than is read.
    #[error("it has {size} bytes, expected at most {LONGEST_TEXT}")]
    TooLong { size: usize },
    /// Quoted texts and expressions are nested too deeply.
    #[error("its quoted texts nest deeper than {}", super::nesting::DEEPEST)]
    TooDeep,
    /// It does not parse.
    #[error("line {line}, column {column}: {}", printable(.message))]
    Syntax {
        line: usize,
        column: usize,
        message: String,
    },
    /// An unmatched brace of the `{name}` form.
    #[error("`{brace}` has no partner, expected {{hostname}}, {{namespace}} or {{type}}")]
    Brace { brace: char },
    /// Symbols in both spellings: `{name}` is literal text beside `${name}`.
    #[error("it has `{{{symbol}}}` beside `${{` or `%{{`, expected one spelling of symbols")]
    Mixed { symbol: Symbol },
    /// A name that stands for nothing.
    #[error("the symbol `{}` is not available, only hostname, namespace and type are", printable(.name))]
    Symbol { name: String },
    /// A construct that no template can have.
    #[error("{0}")]
    Refused(Construct),
    /// Two providers would share a repository.
    #[error("it does not refer to `{symbol}`, of which there {values}")]
    Missing { symbol: Symbol, values: Values },
    /// An expression that has no value.
    #[error("`{}` {mistake}", printable(.expression))]
    Expression {
        expression: String,
        mistake: ExpressionError,
    },
    /// The template as a whole has a value that is no name.
    #[error("the template {0}")]
    Whole(ExpressionError),
    /// What comes out names no repository.
    #[error(transparent)]
    Repository(#[from] repository_name::Error),
}

impl From<Construct> for Problem {
    fn from(construct: Construct) -> Self {
        Self::Refused(construct)
    }
}

/// How many different values a symbol has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Values {
    /// Any: the providers are not known.
    Any,
    /// That many.
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

/// Each problem on a line of its own.
struct Facts<'a>(&'a [Problem]);

impl fmt::Display for Facts<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0
            .iter()
            .try_for_each(|problem| write!(f, "\n  {problem}"))
    }
}
