//! Errors of templates and of their evaluation.

use std::fmt;

use super::problem::TemplateProblem;
use crate::address::{self, ProviderAddr, ProviderPattern};
use crate::error::{Category, printable};
use crate::oci::repository_name;

/// A template that cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[allow(missing_docs, reason = "the message of a variant names its fields")]
pub enum Error {
    /// The template is invalid for all providers.
    #[error("the repository template `{}` is wrong{}", printable(.text), Facts(.problems))]
    Template {
        text: String,
        problems: Vec<TemplateProblem>,
    },
    /// The template is valid, but gives no repository name for this provider.
    #[error("the repository template `{}` has no repository for {}`{provider}`\n  {problem}", printable(.text), of_pattern(.pattern.as_deref()))]
    Provider {
        text: String,
        /// The pattern of which the provider is only an example.
        pattern: Option<Box<ProviderPattern>>,
        provider: Box<ProviderAddr>,
        problem: TemplateProblem,
    },
    /// No OCI repository name can contain this provider's address.
    #[error(transparent)]
    Address(#[from] address::Error),
}

impl Error {
    /// The same error, whose provider is only an example of a pattern.
    pub(super) fn with_pattern(self, wanted: &ProviderPattern) -> Self {
        let wanted = wanted
            .provider()
            .is_none()
            .then(|| Box::new(wanted.clone()));
        match self {
            Self::Provider {
                text,
                provider,
                problem,
                ..
            } => Self::Provider {
                text,
                pattern: wanted,
                provider,
                problem,
            },
            other => other,
        }
    }

    /// The category that decides the exit code. Users type templates, so an invalid one is a usage error; addresses may come from documents.
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

fn of_pattern(pattern: Option<&ProviderPattern>) -> String {
    pattern
        .map(|pattern| format!("`{pattern}`, for example "))
        .unwrap_or_default()
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
