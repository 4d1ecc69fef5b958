//! Errors of lock files.

use crate::address::{self, ProviderAddr};
use crate::error::{Category, Hint};
use crate::syntax::{self, SyntaxError};
use crate::{constraint, text, version};

/// A lock file that clients refuse, or that exceeds a limit.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{kind}\n  at line {line}{}", of(.provider))]
pub struct Error {
    /// The line, from 1.
    pub line: usize,
    /// The provider of the invalid entry, if its address is valid.
    pub provider: Option<ProviderAddr>,
    /// What clients refuse, or which limit is exceeded.
    pub kind: LockFileErrorKind,
}

fn of(provider: &Option<ProviderAddr>) -> String {
    let of = |provider| format!(", in the entry of {provider}");
    provider.as_ref().map(of).unwrap_or_default()
}

/// The kind of an error in a lock file ([clients: lock file reading](crate::clients#lock-file-reading)).
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[allow(missing_docs, reason = "the message of a variant names its fields")]
pub enum LockFileErrorKind {
    /// The file is not HCL.
    #[error(transparent)]
    Syntax(#[from] SyntaxError),
    /// The marks that Git leaves where two branches changed the same lines.
    #[error("`<<<<<<<` begins a merge conflict that is not resolved")]
    Conflict,
    /// A label that is not the address of an installable provider.
    #[error(transparent)]
    Address(#[from] address::Error),
    #[error(transparent)]
    Version(#[from] version::Error),
    /// An invalid version constraint.
    #[error(transparent)]
    Constraints(#[from] constraint::Error),
    /// Anything else that clients do not write.
    #[error("{0}")]
    Refused(String),
}

impl From<syntax::Error> for Error {
    fn from(error: syntax::Error) -> Self {
        Self {
            line: error.line.unwrap_or(1),
            provider: None,
            kind: error.mistake.into(),
        }
    }
}

impl Error {
    /// The category that decides the exit code.
    pub fn category(&self) -> Category {
        match &self.kind {
            LockFileErrorKind::Address(error) => error.category(),
            _ => Category::Malformed,
        }
    }
}

impl Hint for Error {
    fn hint(&self) -> Option<String> {
        let text = match &self.kind {
            LockFileErrorKind::Syntax(SyntaxError::Text(_)) => text::SAVE_AS_UTF8,
            LockFileErrorKind::Conflict => "resolve the conflict, and then run `tfoci lock`",
            _ => return None,
        };
        Some(text.to_owned())
    }
}
