//! Why a configuration is refused.

use std::fmt;

use crate::address::{hostname, pattern};
use crate::error::{Category, printable};
use crate::syntax;

/// An invalid configuration. Messages only show names from it, because values may be secrets.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs, reason = "the message of a variant names its fields")]
pub enum Error {
    /// Larger than any real configuration.
    #[error("more than {limit} bytes")]
    Large { limit: usize },
    /// Neither HCL nor JSON, or a block or argument of another shape.
    #[error(transparent)]
    Syntax(#[from] syntax::Error),
    /// More than one block of a kind that may occur once.
    #[error("more than one `{name}` block")]
    Several { name: &'static str },
    /// A label that is neither a registry nor a part of one.
    #[error("`{}` is not a registry, or a part of one\n  expected DOMAIN or DOMAIN/PATH", printable(.text))]
    Prefix { text: String },
    /// Two `oci_credentials` blocks with the same label.
    #[error("more than one `oci_credentials` block for `{}`", printable(.label))]
    Duplicate { label: String },
    /// An `oci_credentials` block without credentials.
    #[error("the `oci_credentials` block for `{}` has no credentials\n  expected username and password, access_token and refresh_token, or docker_credentials_helper", printable(.label))]
    NoCredentials { label: String },
    #[error("the `oci_credentials` block for `{}` has several kinds of credentials\n  expected username and password, access_token and refresh_token, or docker_credentials_helper", printable(.label))]
    SeveralKinds { label: String },
    /// One of two arguments that require each other.
    #[error("the `oci_credentials` block for `{}` has `{given}` without `{missing}`", printable(.label))]
    HalfCredential {
        label: String,
        given: &'static str,
        missing: &'static str,
    },
    /// A helper for a path. Helpers only know whole registries.
    #[error("the `oci_credentials` block for `{}` has a path and `docker_credentials_helper`\n  expected a domain alone: helpers know no paths", printable(.label))]
    HelperWithPath { label: String },
    #[error("`{}` is not the name of a credential helper\n  expected NAME of a program docker-credential-NAME, without path separators", printable(.name))]
    HelperName { name: String },
    #[error("`{}` is not the name of a token helper\n  expected NAME of a program terraform-credentials-NAME, without path separators", printable(.name))]
    TokenHelper { name: String },
    /// A block whose label is not a host.
    #[error("the label of a `{block}` block is not a host")]
    Host {
        block: &'static str,
        source: hostname::Error,
    },
    /// A list of credential files although discovery is disabled.
    #[error("`docker_style_config_files` is set while `discover_ambient_credentials` is false")]
    FilesWithoutDiscovery,
    /// An `oci_mirror` block without its template.
    #[error("an `oci_mirror` block has no `repository_template`")]
    NoTemplate,
    #[error("`dev_overrides` comes after an installation method\n  expected it before all of them")]
    LateOverrides,
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

impl Error {
    /// The error with its line, unless it has one.
    pub(super) fn at(self, line: Option<usize>) -> Self {
        match (self, line) {
            (Self::At(located), _) => Self::At(located),
            (error, Some(line)) => Self::At(Box::new(Located { line, error })),
            (error, None) => error,
        }
    }

    /// The category that decides the exit code.
    pub fn category(&self) -> Category {
        Category::Malformed
    }
}
