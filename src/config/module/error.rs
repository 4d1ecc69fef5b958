//! Why a module is refused.

use super::Position;
use crate::error::{Category, printable};
use crate::syntax::SyntaxError;
use crate::{address, constraint};

/// An error in a file of a module, which clients refuse as well.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{mistake}\n  in {position}")]
pub struct Error {
    /// Where it is.
    pub position: Position,
    /// What is wrong with the file.
    pub mistake: FileError,
}

/// An error in a file, with the line, from 1, if known.
pub(super) type Located = (Option<usize>, FileError);

/// Why a file of a module cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[allow(missing_docs, reason = "the message of a variant names its fields")]
pub enum FileError {
    /// Clients refuse it, too.
    #[error(transparent)]
    Syntax(#[from] SyntaxError),
    /// An invalid entry of `required_providers`.
    #[error("the requirement `{}` is neither an object nor a version constraint in quotes", printable(.name))]
    Requirement { name: String },
    #[error("a module has two `required_providers` blocks\n  the first in {first}")]
    Several { first: Position },
    /// An invalid provider address, or a name that no provider can have.
    #[error(transparent)]
    Source(#[from] address::Error),
    /// An invalid version constraint.
    #[error(transparent)]
    Constraints(#[from] constraint::Error),
}

impl Error {
    /// The category that decides the exit code.
    pub fn category(&self) -> Category {
        match &self.mistake {
            FileError::Source(error) => error.category(),
            _ => Category::Malformed,
        }
    }
}
