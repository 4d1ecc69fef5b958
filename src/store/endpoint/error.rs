//! Why a text is not the address of a store, why a provider has no place in one, and what helps.

use crate::address::{self, ProviderAddr};
use crate::error::{Category, Hint, printable};
use crate::shown::Shown;
use crate::template;

/// Why a provider has no repository in a store.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[allow(missing_docs, reason = "the message of a variant names its fields")]
pub enum MappingError {
    /// OCI does not allow the name.
    #[error(transparent)]
    Address(#[from] address::Error),
    /// The template gives no repository for it.
    #[error(transparent)]
    Template(#[from] template::Error),
    /// The address names a single repository, of another provider, or one that all types share. Clients refuse such a template unless `include` names a
    /// single provider.
    #[error("`{}` does not give `{provider}` a repository of its own", printable(.text))]
    OneRepository {
        text: String,
        provider: Box<ProviderAddr>,
    },
}

impl MappingError {
    /// The category that decides the exit code.
    pub fn category(&self) -> Category {
        match self {
            Self::Address(error) => error.category(),
            Self::Template(error) => error.category(),
            Self::OneRepository { .. } => Category::Usage,
        }
    }
}

/// Why a text is not a store address.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[allow(missing_docs, reason = "the message of a variant names its fields")]
pub enum AddressError {
    /// The template is invalid.
    #[error(transparent)]
    Repository(#[from] template::Error),
    /// A user name and password, which messages and process lists would show.
    #[error(
        "`{text}` has the name and password of a user\n  expected none in the address of a store"
    )]
    User { text: Shown },
    /// The prefix without a directory, a directory without the prefix or written as a URL, or an archive in its place.
    #[error("`{}` is not a store\n  expected {}", printable(.text), printable(.expected))]
    NotStore { text: String, expected: String },
    /// A single repository for several providers, whose versions would get mixed up.
    #[error("`{}` is one repository, and cannot be that of {} and {}", printable(.text), .providers.0, .providers.1)]
    OneRepository {
        text: String,
        providers: Box<(ProviderAddr, ProviderAddr)>,
    },
}

impl AddressError {
    pub(super) fn not_store(text: &str, expected: &str) -> Self {
        Self::NotStore {
            text: text.to_owned(),
            expected: expected.to_owned(),
        }
    }
}

impl Hint for AddressError {
    fn hint(&self) -> Option<String> {
        match self {
            Self::Repository(error) => error.hint(),
            Self::User { .. } => Some("`tfoci login REGISTRY` stores them".to_owned()),
            _ => None,
        }
    }
}

impl Hint for MappingError {
    fn hint(&self) -> Option<String> {
        match self {
            Self::Template(error) => error.hint(),
            Self::OneRepository { .. } => Some(
                "put `{namespace}/{type}` into it, or add `--exact-repository`; a directory is `oci-layout:DIR`"
                    .to_owned(),
            ),
            Self::Address(_) => None,
        }
    }
}
