//! Why a text is not the address of a provider that can be installed.

use crate::address::{ProviderAddr, hostname, name};
use crate::error::{Category, printable};

/// Text that is not the address of a provider that can be installed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[allow(missing_docs, reason = "the message of a variant names its fields")]
pub enum Error {
    /// One segment, which clients complete in their own way.
    #[error("`{name}` is a type without a namespace\n  expected hashicorp/{name}, if that is meant", name = printable(.type_name))]
    TypeAlone { type_name: String },
    /// Two segments where no default host holds.
    #[error("`{}` names no host\n  expected HOSTNAME/NAMESPACE/TYPE", printable(.text))]
    NoHost { text: String },
    /// Nothing, or four segments or more.
    #[error("`{}` is not a provider address\n  expected HOSTNAME/NAMESPACE/TYPE", printable(.text))]
    Segments { text: String },
    /// The first of three segments is no host name.
    #[error(transparent)]
    Hostname(#[from] hostname::Error),
    /// The namespace has no normal form.
    #[error("`{}` is not a namespace: {kind}", printable(.name))]
    Namespace {
        name: String,
        kind: name::NameErrorKind,
    },
    /// The type has no normal form.
    #[error("`{}` is not a provider type: {kind}", printable(.name))]
    Type {
        name: String,
        kind: name::NameErrorKind,
    },
    /// The type has the beginning of a source repository's name.
    #[error("the provider type `{name}` begins with `{prefix}`\n  expected {expected}")]
    RedundantPrefix {
        name: String,
        prefix: &'static str,
        expected: String,
    },
    /// The namespace `-`.
    #[error("`-/{name}` is a legacy address\n  expected the namespace that the provider has today", name = printable(.type_name))]
    Legacy { type_name: String },
    /// A part of the client.
    #[error("`{address}` is built into the client and never installed")]
    BuiltIn { address: ProviderAddr },
    /// An address that no OCI repository can be named after.
    #[error(
        "`{address}` has letters that no OCI repository can have in its name\n  expected a namespace and type in ASCII"
    )]
    NotForOci { address: ProviderAddr },
}

impl Error {
    /// What kind of thing went wrong.
    pub fn category(&self) -> Category {
        match self {
            Self::Legacy { .. } | Self::BuiltIn { .. } | Self::NotForOci { .. } => {
                Category::Unsupported
            }
            _ => Category::Malformed,
        }
    }
}
