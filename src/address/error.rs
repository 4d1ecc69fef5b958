//! Errors of provider addresses.

use crate::address::{ProviderAddr, REDUNDANT_PREFIXES, after_prefix, hostname, name};
use crate::error::{Category, printable};

/// A text that is not a provider address, or an address of a provider that cannot be installed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[allow(missing_docs, reason = "the message of a variant names its fields")]
pub enum Error {
    /// One segment. Clients complete it with `hashicorp` and their own default host.
    #[error("`{}` is a type without a namespace\n  expected {}", printable(.type_name), with_namespace(.type_name))]
    TypeAlone { type_name: String },
    /// No segment, two without a default host, or more than three.
    #[error("`{}` is not a provider address\n  expected HOSTNAME/NAMESPACE/TYPE", printable(.text))]
    Segments { text: String },
    /// A version after a colon, as in references to container images.
    #[error("`{}`: a version is written after `@`\n  expected {expected}", printable(.text))]
    ColonVersion { text: String, expected: String },
    /// The host name is invalid.
    #[error(transparent)]
    Hostname(#[from] hostname::Error),
    /// The namespace is invalid.
    #[error("`{}` is not a namespace\n  expected {}", printable(.name), name::EXPECTED)]
    Namespace { name: String },
    /// The type is invalid.
    #[error("`{}` is not a provider type\n  expected {}", printable(.name), name::EXPECTED)]
    Type { name: String },
    /// The type begins with `terraform-` or `opentofu-`, as the names of source repositories do.
    #[error("the provider type `{name}` begins with `{prefix}`\n  expected {expected}")]
    RedundantPrefix {
        name: String,
        prefix: &'static str,
        expected: String,
    },
    /// The namespace `-`, under which old versions of Terraform looked up providers without a namespace.
    #[error("`-/{name}` is a legacy address\n  expected the namespace that the provider has today", name = printable(.type_name))]
    Legacy { type_name: String },
    #[error("`{address}` is built into the client and never installed")]
    BuiltIn { address: ProviderAddr },
    /// An address that no OCI repository name can contain.
    #[error(
        "`{address}` has characters that no OCI repository can have in its name\n  expected ASCII, and one or two underscores only between letters or digits"
    )]
    NotForOci { address: ProviderAddr },
}

/// The form of an address with this type.
fn with_namespace(type_name: &str) -> String {
    let repository = REDUNDANT_PREFIXES
        .iter()
        .find_map(|prefix| type_name.strip_prefix(prefix));
    let meant = repository.map_or(type_name, after_prefix);
    match name::normalize(meant) {
        Some(name) => format!("NAMESPACE/{name}"),
        None => "NAMESPACE/TYPE".to_owned(),
    }
}

impl Error {
    /// The category that decides the exit code.
    pub fn category(&self) -> Category {
        match self {
            Self::Legacy { .. } | Self::BuiltIn { .. } | Self::NotForOci { .. } => {
                Category::Unsupported
            }
            _ => Category::Malformed,
        }
    }
}
