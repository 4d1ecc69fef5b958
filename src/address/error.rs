//! Errors of provider addresses.

use crate::address::{ProviderAddr, hostname, name};
use crate::error::{Category, printable};

/// A text that is not a provider address, or an address of a provider that cannot be installed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[allow(missing_docs, reason = "the message of a variant names its fields")]
pub enum Error {
    /// One segment, two without a default host, or more than three.
    #[error("`{}` is not a provider address\n  expected HOSTNAME/NAMESPACE/TYPE", printable(.text))]
    Segments { text: String },
    /// The host name is invalid.
    #[error(transparent)]
    Hostname(#[from] hostname::Error),
    /// The namespace is invalid.
    #[error("`{}` is not a namespace\n  expected {}", printable(.name), name::EXPECTED)]
    Namespace { name: String },
    /// The type is invalid, or begins with `terraform-` or `opentofu-`, as the names of source repositories do.
    #[error("`{}` is not a provider type\n  expected {}, without `terraform-` or `opentofu-` before them", printable(.name), name::EXPECTED)]
    Type { name: String },
    #[error("`{address}` is built into the client and never installed")]
    BuiltIn { address: ProviderAddr },
    /// An address that no OCI repository name can contain.
    #[error(
        "`{address}` has characters that no OCI repository can have in its name\n  expected ASCII, and one or two underscores only between letters or digits"
    )]
    NotForOci { address: ProviderAddr },
}

impl Error {
    /// The category that decides the exit code.
    pub fn category(&self) -> Category {
        match self {
            Self::BuiltIn { .. } | Self::NotForOci { .. } => Category::Unsupported,
            _ => Category::Malformed,
        }
    }
}
