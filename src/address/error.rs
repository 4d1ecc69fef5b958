//! Why a text is not the address of a provider that can be installed.

use crate::address::{ProviderAddr, hostname, name};
use crate::error::{Category, printable};

/// Text that is not the address of a provider that can be installed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// One segment, which clients complete in their own way.
    #[error("`{name}` is a type without a namespace\n  expected hashicorp/{name}, if that is meant", name = printable(.type_name))]
    TypeAlone {
        /// What was given.
        type_name: String,
    },
    /// Two segments where no default host holds.
    #[error("`{}` names no host\n  expected HOSTNAME/NAMESPACE/TYPE", printable(.text))]
    NoHost {
        /// What was given.
        text: String,
    },
    /// Nothing, or four segments or more.
    #[error("`{}` is not a provider address\n  expected HOSTNAME/NAMESPACE/TYPE", printable(.text))]
    Segments {
        /// What was given.
        text: String,
    },
    /// The first of three segments is no host name.
    #[error(transparent)]
    Hostname(#[from] hostname::Error),
    /// The namespace has no normal form.
    #[error("`{}` is not a namespace: {kind}", printable(.name))]
    Namespace {
        /// What was given.
        name: String,
        /// What is wrong with it.
        kind: name::NameErrorKind,
    },
    /// The type has no normal form.
    #[error("`{}` is not a provider type: {kind}", printable(.name))]
    Type {
        /// What was given.
        name: String,
        /// What is wrong with it.
        kind: name::NameErrorKind,
    },
    /// The type has the beginning of a source repository's name.
    #[error("the provider type `{name}` begins with `{prefix}`\n  expected {expected}")]
    RedundantPrefix {
        /// The type in its normal form.
        name: String,
        /// What it begins with.
        prefix: &'static str,
        /// The type that is probably meant.
        expected: String,
    },
    /// The namespace `-`.
    #[error("`-/{name}` is a legacy address\n  expected the namespace that the provider has today", name = printable(.type_name))]
    Legacy {
        /// The type that was given.
        type_name: String,
    },
    /// A part of the client.
    #[error("`{address}` is built into the client and never installed")]
    BuiltIn {
        /// The address that was given.
        address: ProviderAddr,
    },
    /// An address that no OCI repository can be named after.
    #[error(
        "`{address}` has letters that no OCI repository can have in its name\n  expected a namespace and type in ASCII"
    )]
    NotForOci {
        /// The provider.
        address: ProviderAddr,
    },
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
