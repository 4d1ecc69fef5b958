//! Errors of templates and of their evaluation.

use super::Symbol;
use crate::address::{self, ProviderAddr};
use crate::error::{Category, Hint, printable};
use crate::oci::Repository;
use crate::oci::reference::{RepositoryError, RepositoryErrorKind as Kind};

/// A template that cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[allow(missing_docs, reason = "the message of a variant names its fields")]
pub enum Error {
    /// The template is invalid for all providers.
    #[error("the repository template `{}` is wrong\n  {problem}", printable(.text))]
    Template {
        text: String,
        problem: TemplateProblem,
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

/// Why a template has no repository, or is not evaluated.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[allow(missing_docs, reason = "the message of a variant names its fields")]
pub enum TemplateProblem {
    /// The template exceeds a limit of its length or nesting.
    #[error("it is longer, or nested deeper, than any real one")]
    TooLarge,
    /// The template does not parse.
    #[error("line {}, column {}: {}", .error.location().line(), .error.location().column(), printable(.error.message()))]
    Syntax { error: hcl_edit::parser::Error },
    /// A name in braces that is no symbol.
    #[error("the symbol `{}` is not available, only hostname, namespace and type are", printable(.name))]
    Symbol { name: String },
    /// HCL that is more than text and conditions. Clients evaluate most of it.
    #[error("tfoci does not evaluate `{}`, only symbols, quoted text, `==`, `!=`, `&&`, `||`, `!`, `? :` and `%{{ if }}`", printable(.part))]
    Refused { part: String },
    /// Two providers would share a repository, because the template omits a symbol.
    #[error("it does not refer to `{symbol}`, in which the providers differ")]
    Missing { symbol: Symbol },
    /// Two providers of one host would share a repository.
    #[error("it may give two providers of one host the same repository")]
    Shared,
    /// The result is a repository that Docker Hub cannot have.
    #[error(
        "Docker Hub takes names of two levels only\n  expected docker.io/NAMESPACE/NAME\n  received {0}"
    )]
    Levels(Repository),
    /// The result is not a repository name.
    #[error(transparent)]
    Repository(#[from] RepositoryError),
}

impl TemplateProblem {
    pub(super) fn symbol(name: &str) -> Result<Symbol, Self> {
        Symbol::named(name).ok_or_else(|| Self::Symbol {
            name: name.to_owned(),
        })
    }
}

impl Error {
    /// The category that decides the exit code. Users type templates, so an invalid one is a usage error; addresses may come from documents.
    pub fn category(&self) -> Category {
        match self {
            Self::Template { .. } => Category::Usage,
            Self::Provider { .. } => Category::Unsupported,
            Self::Address(error) => error.category(),
        }
    }
}

impl Hint for Error {
    fn hint(&self) -> Option<String> {
        const QUOTES: &str = "put `${hostname}`, `${namespace}` and `${type}` into it, in single quotes, since a shell replaces them by nothing";
        let problem = match self {
            Self::Template { problem, .. } | Self::Provider { problem, .. } => problem,
            Self::Address(_) => return None,
        };
        let hint = match problem {
            TemplateProblem::Shared => {
                "`{namespace}/{type}` or `{namespace}_{type}` tell them apart; `tfoci copy` copies there"
            }
            TemplateProblem::Missing { .. } => QUOTES,
            TemplateProblem::Levels(_) => {
                "join names with underscores, such as `{namespace}_{type}`"
            }
            TemplateProblem::Repository(error) => match &error.kind {
                Kind::Component(name) if name.is_empty() || name.ends_with(['.', '_', '-']) => {
                    QUOTES
                }
                Kind::Form => {
                    "a directory is written `oci-layout:DIR`, a registry `REGISTRY/REPOSITORY`"
                }
                _ => return None,
            },
            _ => return None,
        };
        Some(hint.to_owned())
    }
}
