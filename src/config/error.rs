//! Why a configuration is refused.

use std::fmt;

use crate::address::{hostname, pattern};
use crate::error::printable;
use crate::syntax::{self, SyntaxError};

/// An invalid configuration. Messages only show names from it, because values may be secrets.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs, reason = "the message of a variant names its fields")]
pub enum Error {
    /// Larger than any real configuration.
    #[error("more than {limit} bytes")]
    Large { limit: usize },
    /// Neither HCL nor JSON, or a block or argument of another shape.
    #[error(transparent)]
    Syntax(SyntaxError),
    /// More than one block where there may be one: of a kind, or for a registry.
    #[error("more than one {block}")]
    Several { block: String },
    /// A label that is neither a registry nor a part of one.
    #[error("`{}` is not a registry, or a part of one\n  expected DOMAIN or DOMAIN/PATH", printable(.text))]
    Prefix { text: String },
    /// An `oci_credentials` block with none, several or half of its kinds of credentials.
    #[error("the `oci_credentials` block for `{}` has not exactly one kind of credentials\n  expected username and password, access_token and refresh_token, or, for a whole registry, docker_credentials_helper", printable(.label))]
    Credentials { label: String },
    /// A helper that is no program in `PATH`.
    #[error("`{}` is not the name of a helper\n  expected NAME of a program {program}NAME, without path separators", printable(.name))]
    Helper { name: String, program: &'static str },
    /// A block whose label is not a host.
    #[error("the label of a `{block}` block is not a host")]
    Host {
        block: &'static str,
        source: hostname::Error,
    },
    /// A block that lacks something, or has too much.
    #[error("{0}")]
    Block(&'static str),
    /// An invalid provider pattern.
    #[error("`{name}` of a `{method}` block has something that is not a pattern")]
    Pattern {
        name: &'static str,
        method: String,
        source: pattern::Error,
    },
    /// Another error, in a file that tells the lines of its blocks.
    #[error(transparent)]
    At(Box<Located>),
}

/// An error and its line.
#[derive(Debug)]
pub struct Located {
    line: usize,
    error: Error,
}

impl fmt::Display for Located {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}\n  at line {}", self.error, self.line)
    }
}

impl std::error::Error for Located {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.error.source()
    }
}

impl From<syntax::Error> for Error {
    fn from(error: syntax::Error) -> Self {
        Self::Syntax(error.mistake).at(error.line)
    }
}

impl Error {
    /// The error with its line, unless it has one.
    pub(super) fn at(self, line: Option<usize>) -> Self {
        match (self, line) {
            (Self::At(located), _) => Self::At(located),
            (error, Some(line)) => Self::At(Box::new(Located { line, error })),
            (error, None) => error,
        }
    }
}
