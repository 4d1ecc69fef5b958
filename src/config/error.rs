//! Why a configuration is refused.

use crate::address::{hostname, pattern};
use crate::error::{Category, printable};

/// A configuration that cannot be used. No text of it is shown but names: values may be secrets.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs, reason = "the messages name the fields")]
pub enum Error {
    /// More than any configuration is.
    #[error("more than {limit} bytes")]
    Large { limit: usize },
    /// Not UTF-8.
    #[error("neither HCL nor JSON: not UTF-8 text")]
    NotText,
    /// Not HCL. The line is not quoted: it may hold a password.
    #[error("not valid HCL\n  at line {line}, column {column}")]
    Hcl { line: usize, column: usize },
    /// Not JSON. The text is not quoted: it may hold a password.
    #[error("not valid JSON\n  at line {line}, column {column}")]
    Json { line: usize, column: usize },
    /// A block in another form.
    #[error("`{}` is not a block with {labels} {}", printable(.name), if *.labels == 1 { "label" } else { "labels" })]
    Block { name: String, labels: usize },
    /// An argument of another type.
    #[error("the argument `{name}` is not {expected}")]
    Type {
        name: &'static str,
        expected: &'static str,
    },
    /// A block that may stand once.
    #[error("more than one `{name}` block")]
    Several { name: &'static str },
    /// Something that is no part of a registry.
    #[error("`{}` is not a registry, or a part of one\n  expected DOMAIN or DOMAIN/PATH", printable(.text))]
    Prefix { text: String },
    /// Two `oci_credentials` blocks for the same.
    #[error("more than one `oci_credentials` block for `{}`", printable(.label))]
    Duplicate { label: String },
    /// An `oci_credentials` block that says nothing.
    #[error("the `oci_credentials` block for `{}` has no credentials\n  expected username and password, access_token and refresh_token, or docker_credentials_helper", printable(.label))]
    NoMeans { label: String },
    /// An `oci_credentials` block that says several things.
    #[error("the `oci_credentials` block for `{}` has several kinds of credentials\n  expected username and password, access_token and refresh_token, or docker_credentials_helper", printable(.label))]
    SeveralMeans { label: String },
    /// Half of what belongs together.
    #[error("the `oci_credentials` block for `{}` has `{given}` without `{missing}`", printable(.label))]
    HalfMeans {
        label: String,
        given: &'static str,
        missing: &'static str,
    },
    /// Helpers know registries, not parts of them.
    #[error("the `oci_credentials` block for `{}` has a path and `docker_credentials_helper`\n  expected a domain alone: helpers know no paths", printable(.label))]
    HelperWithPath { label: String },
    /// A helper that is no name of a program.
    #[error("`{}` is not the name of a credential helper\n  expected NAME of a program docker-credential-NAME, without path separators", printable(.name))]
    HelperName { name: String },
    /// A token helper that is no name of a program.
    #[error("`{}` is not the name of a token helper\n  expected NAME of a program terraform-credentials-NAME, without path separators", printable(.name))]
    TokenHelper { name: String },
    /// A block for something that is no host.
    #[error("the label of a `{block}` block is no host")]
    Host {
        block: &'static str,
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
        name: &'static str,
        method: String,
        source: pattern::Error,
    },
}

impl Error {
    /// What kind of problem it is.
    pub fn category(&self) -> Category {
        Category::Malformed
    }
}
