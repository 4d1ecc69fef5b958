//! Errors of templates and of their evaluation.

use std::fmt;

use super::problem::TemplateProblem;
use crate::address::{self, ProviderAddr, ProviderPattern};
use crate::error::{Category, Hint, printable};
use crate::nearest::nearest;
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

impl Hint for Error {
    fn hint(&self) -> Option<String> {
        use repository_name::RepositoryErrorKind as Kind;
        const QUOTES: &str =
            "put the template in single quotes, since a shell replaces `${…}` by nothing";
        let (text, problems) = match self {
            Self::Template { text, problems } => (text, problems.as_slice()),
            Self::Provider { text, problem, .. } => (text, std::slice::from_ref(problem)),
            Self::Address(_) => return None,
        };
        if let Some(name) = SYMBOLS
            .iter()
            .find(|name| text.contains(&format!("${name}")))
        {
            return Some(format!(
                "a symbol has braces: write `${{{name}}}`, in single quotes"
            ));
        }
        problems.iter().find_map(|problem| match problem {
            TemplateProblem::Symbol { name } => {
                let meant = nearest(name, &SYMBOLS)?;
                Some(format!("did you mean `{meant}`?"))
            }
            TemplateProblem::Shared { meant } => {
                let meant = printable(meant);
                Some(format!(
                    "`{meant}` tells them apart; `tfoci copy` copies there"
                ))
            }
            TemplateProblem::Missing { .. } if text.contains("//") => Some(QUOTES.to_owned()),
            TemplateProblem::Missing { .. } => {
                Some("put `{hostname}`, `{namespace}` and `{type}` into the address".to_owned())
            }
            TemplateProblem::Repository(error) => Some(match &error.kind {
                Kind::TagOrDigest { .. } if matches!(self, Self::Provider { .. }) => {
                    "a provider whose host has a port needs a template without `{hostname}`"
                        .to_owned()
                }
                Kind::TagOrDigest { found } => {
                    format!(
                        "leave out `{}`: tfoci makes the tags from the versions",
                        printable(found)
                    )
                }
                Kind::EmptyComponent | Kind::Separator { .. } => QUOTES.to_owned(),
                Kind::Scheme => {
                    "leave out the scheme; `--plain-http HOST` allows plain HTTP".to_owned()
                }
                Kind::NoName => {
                    "a directory is written `oci-layout:DIR`, a registry `REGISTRY/REPOSITORY`"
                        .to_owned()
                }
                _ => return None,
            }),
            _ => None,
        })
    }
}

/// The symbols of a template.
const SYMBOLS: [&str; 3] = ["hostname", "namespace", "type"];
