//! What can be wrong with a configuration.

use crate::address::{hostname, pattern};
use crate::error::{Category, printable};

/// A configuration that cannot be used. No text of it is shown but names: values may be secrets.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// More than any configuration is.
    #[error("more than {limit} bytes")]
    Large {
        /// The limit in bytes.
        limit: usize,
    },
    /// Not UTF-8.
    #[error("neither HCL nor JSON: not UTF-8 text")]
    NotText,
    /// Not HCL. The parser would quote the line, and with it a password.
    #[error("not valid HCL\n  at line {line}, column {column}")]
    Hcl {
        /// The line, from 1.
        line: usize,
        /// The column, from 1.
        column: usize,
    },
    /// Not JSON. The parser would quote what it found.
    #[error("not valid JSON\n  at line {line}, column {column}")]
    Json {
        /// The line, from 1.
        line: usize,
        /// The column, from 1.
        column: usize,
    },
    /// A block in another form.
    #[error("`{}` is not a block with {labels} {}", printable(.name), if *.labels == 1 { "label" } else { "labels" })]
    Block {
        /// The block.
        name: String,
        /// How many labels it has to have.
        labels: usize,
    },
    /// An argument of another type.
    #[error("the argument `{name}` is not {expected}")]
    Type {
        /// The argument.
        name: &'static str,
        /// What it has to be.
        expected: &'static str,
    },
    /// A block that may stand once.
    #[error("more than one `{name}` block")]
    Several {
        /// The block.
        name: &'static str,
    },
    /// Something that is no part of a registry.
    #[error("`{}` is not a registry, or a part of one\n  expected DOMAIN or DOMAIN/PATH", printable(.text))]
    Prefix {
        /// What was given.
        text: String,
    },
    /// Two `oci_credentials` blocks for the same.
    #[error("more than one `oci_credentials` block for `{}`", printable(.label))]
    Duplicate {
        /// Their label.
        label: String,
    },
    /// An `oci_credentials` block that says nothing.
    #[error("the `oci_credentials` block for `{}` has no credentials\n  expected username and password, access_token and refresh_token, or docker_credentials_helper", printable(.label))]
    NoMeans {
        /// Its label.
        label: String,
    },
    /// An `oci_credentials` block that says several things.
    #[error("the `oci_credentials` block for `{}` has several kinds of credentials\n  expected username and password, access_token and refresh_token, or docker_credentials_helper", printable(.label))]
    SeveralMeans {
        /// Its label.
        label: String,
    },
    /// Half of what belongs together.
    #[error("the `oci_credentials` block for `{}` has `{given}` without `{missing}`", printable(.label))]
    HalfMeans {
        /// Its label.
        label: String,
        /// What is there.
        given: &'static str,
        /// What is not.
        missing: &'static str,
    },
    /// Helpers know registries, not parts of them.
    #[error("the `oci_credentials` block for `{}` has a path and `docker_credentials_helper`\n  expected a domain alone: helpers know no paths", printable(.label))]
    HelperWithPath {
        /// Its label.
        label: String,
    },
    /// A helper that is no name of a program.
    #[error("`{}` is not the name of a credential helper\n  expected NAME of a program docker-credential-NAME, without path separators", printable(.name))]
    HelperName {
        /// What was given.
        name: String,
    },
    /// A token helper that is no name of a program.
    #[error("`{}` is not the name of a token helper\n  expected NAME of a program terraform-credentials-NAME, without path separators", printable(.name))]
    TokenHelper {
        /// What was given.
        name: String,
    },
    /// A block for something that is no host.
    #[error("the label of a `{block}` block is no host")]
    Host {
        /// The kind of block.
        block: &'static str,
        /// Why.
        source: hostname::Error,
    },
    /// A list of files that are not to be searched.
    #[error("`docker_style_config_files` is set while `discover_ambient_credentials` is false")]
    FilesWithoutDiscovery,
    /// An `oci_mirror` block without its template.
    #[error("an `oci_mirror` block has no `repository_template`")]
    NoTemplate,
    /// `dev_overrides` behind an installation method.
    #[error(
        "`dev_overrides` stands behind an installation method\n  expected it before all of them"
    )]
    LateOverrides,
    /// A pattern that is none.
    #[error("`{name}` of a `{method}` block has something that is no pattern")]
    Pattern {
        /// `include` or `exclude`.
        name: &'static str,
        /// The kind of block.
        method: String,
        /// Why.
        source: pattern::Error,
    },
}

impl Error {
    /// What kind of problem it is.
    pub fn category(&self) -> Category {
        Category::Malformed
    }
}
