//! Errors of zips.

use std::io;

use crate::error::{Category, printable};
use crate::hash;

/// A provider zip that is refused.
///
/// A file that no program can unpack is [`Category::Malformed`]: it is no zip, truncated or empty. A zip that clients may unpack and tfoci
/// refuses, because it is harmful or two readers could see different packages in it, is [`Category::Untrusted`].
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
#[allow(missing_docs, reason = "the message of a variant names its fields")]
pub enum Error {
    #[error("the zip cannot be read")]
    Read(#[from] io::Error),
    /// The file has no end record of a zip.
    #[error("not a zip archive, or only a part of one")]
    NotZip,
    /// No entry is the provider's executable ([clients: extraction](crate::clients#extraction)). Its name may go on with `_` or `.` and more.
    #[error("the zip holds no executable\n  expected a file `{}` at its top level", printable(.expected))]
    NoExecutable { expected: String },
    /// The zip, or one of its entries, is not what all readers read in the same way.
    #[error("{what}")]
    Flaw { category: Category, what: String },
    /// A zip that arrives cannot be read from front to back. A file of it says whether anything is wrong with it.
    #[error("the zip must be read from a file")]
    Unsuited,
    /// The hash `h1` is not defined for a name.
    #[error(transparent)]
    Hash(#[from] hash::NameError),
}

impl Error {
    /// The zip as a whole is not to be trusted. `says` is the rest of the sentence.
    pub(super) fn of_zip(says: &str) -> Self {
        Self::Flaw {
            category: Category::Untrusted,
            what: format!("the zip {says}"),
        }
    }

    /// An entry is not to be trusted.
    pub(super) fn of_entry(name: &str, says: &str) -> Self {
        Self::Flaw {
            category: Category::Untrusted,
            what: format!("the entry `{}` {says}", printable(name)),
        }
    }

    /// The flaw, where it harms nobody.
    pub(super) fn but(self, category: Category) -> Self {
        match self {
            Self::Flaw { what, .. } => Self::Flaw { category, what },
            error => error,
        }
    }

    /// The category that decides the exit code.
    pub fn category(&self) -> Category {
        match self {
            Self::Read(_) => Category::Local,
            Self::NotZip | Self::NoExecutable { .. } => Category::Malformed,
            Self::Flaw { category, .. } => *category,
            Self::Unsuited => Category::Unsupported,
            Self::Hash(_) => Category::Untrusted,
        }
    }
}
