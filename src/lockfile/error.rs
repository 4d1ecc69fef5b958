//! Why a lock file is refused.

use crate::address::{self, ProviderAddr};
use crate::error::{Category, printable};
use crate::version::Version;
use crate::{constraint, outline, version};

/// A lock file that clients refuse, or that exceeds a limit.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{kind}\n  at line {line}{}", of(.provider))]
pub struct Error {
    /// The line, from 1.
    pub line: usize,
    /// The provider of the entry with the error, if its address was read.
    pub provider: Option<ProviderAddr>,
    /// What is wrong.
    pub kind: LockFileErrorKind,
}

fn of(provider: &Option<ProviderAddr>) -> String {
    let of = |provider| format!(", in the entry of {provider}");
    provider.as_ref().map(of).unwrap_or_default()
}

/// What is wrong with a lock file ([clients: lock file reading](crate::clients#lock-file-reading)).
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[allow(missing_docs, reason = "the message of a variant names its fields")]
pub enum LockFileErrorKind {
    /// More than any lock file has.
    #[error("more than {limit} {what}")]
    Many { what: &'static str, limit: usize },
    /// Not the language of lock files.
    #[error("not valid HCL: {0}")]
    Hcl(outline::SyntaxError),
    /// A block of another kind.
    #[error("a lock file has no `{}` blocks", printable(.name))]
    Block { name: String },
    /// An attribute that has no place here.
    #[error("a lock file has no attribute `{}` here", printable(.name))]
    Attribute { name: String },
    /// A `provider` or `module` block without its one label.
    #[error("a `{name}` block has {received} labels\n  expected one, the address")]
    Labels { name: &'static str, received: usize },
    /// A label that is not the address of a provider that can be locked.
    #[error(transparent)]
    Address(#[from] address::Error),
    /// An address in another than its one normal form.
    #[error("an address is not in its normal form\n  expected {expected}\n  received {}", printable(.received))]
    AddressForm {
        expected: ProviderAddr,
        received: String,
    },
    /// Two entries for one provider.
    #[error("one provider has two entries\n  the first at line {first}")]
    Duplicate { first: usize },
    /// An entry without a version.
    #[error("an entry has no `version`")]
    NoVersion,
    /// An attribute that is not plain text.
    #[error("`{name}` is not text in quotes")]
    NotText { name: &'static str },
    /// Something that is no version.
    #[error(transparent)]
    Version(#[from] version::Error),
    /// A version in another than its one normal form.
    #[error("a version is not in its normal form\n  expected {expected}\n  received {}", printable(.received))]
    VersionForm { expected: Version, received: String },
    /// Something that is no version constraint.
    #[error(transparent)]
    Constraints(#[from] constraint::Error),
    /// Constraints in another than their one normal form.
    #[error("version constraints are not in their normal form\n  expected {expected}\n  received {}", printable(.received))]
    ConstraintsForm {
        expected: constraint::VersionConstraints,
        received: String,
    },
    /// `hashes` is something else.
    #[error("`hashes` is not a list of text in quotes")]
    NotHashes,
    /// `hashes = []`.
    #[error("`hashes` is empty\n  expected at least one hash, or no `hashes` at all")]
    NoHashes,
    /// Text that is no hash.
    #[error("`{}` is not a package hash\n  expected SCHEME:VALUE", printable(.text))]
    Hash { text: String },
}

impl Error {
    /// What kind of thing went wrong.
    pub fn category(&self) -> Category {
        match &self.kind {
            LockFileErrorKind::Address(error) => error.category(),
            _ => Category::Malformed,
        }
    }
}
