//! Why a configuration is refused.

use crate::address::{hostname, pattern};
use crate::error::printable;
use crate::syntax::{self, SyntaxError};

/// An invalid configuration. Messages only show names from it, because values may be secrets.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs, reason = "the message of a variant names its fields")]
pub enum Error {
    /// Neither HCL nor JSON, or a block or argument of another shape.
    #[error(transparent)]
    Syntax(SyntaxError),
    /// A label that is neither a registry nor a part of one.
    #[error("`{}` is not a registry, or a part of one\n  expected DOMAIN or DOMAIN/PATH", printable(.text))]
    Prefix { text: String },
    /// An `oci_credentials` block with none, several or half of its kinds of credentials.
    #[error("the `oci_credentials` block for `{}` has not exactly one kind of credentials\n  expected username and password, access_token and refresh_token, or, for a whole registry, docker_credentials_helper", printable(.label))]
    Credentials { label: String },
    /// A helper that is no program in `PATH`.
    #[error("`{}` is not the name of a helper\n  expected NAME of a program {program}NAME, without path separators", printable(.name))]
    Helper { name: String, program: &'static str },
    /// The label of a `host` block.
    #[error(transparent)]
    Host(#[from] hostname::Error),
    /// A block that occurs too often, or has too little in it.
    #[error("{0}")]
    Block(String),
    /// One of `include` or `exclude`.
    #[error(transparent)]
    Pattern(#[from] pattern::Error),
    /// Another error, in a file that tells the lines of its blocks.
    #[error("{error}\n  at line {line}")]
    At { line: usize, error: Box<Self> },
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
            (error @ Self::At { .. }, _) | (error, None) => error,
            (error, Some(line)) => {
                let error = Box::new(error);
                Self::At { line, error }
            }
        }
    }
}
