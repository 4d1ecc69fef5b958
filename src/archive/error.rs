//! Errors of zips.

use std::fmt;
use std::io;

use crate::error::{Category, MANY, listed, printable};
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
    /// The file contains no part of a zip.
    #[error(
        "not a zip archive\n  expected the bytes 50 4b 03 04 at its front\n  received `{}`",
        printable(&String::from_utf8_lossy(.front))
    )]
    NotZip { front: Vec<u8> },
    /// The file begins like a zip, but has no end record.
    #[error("the zip is cut short\n  received {received} bytes")]
    Truncated { received: u64 },
    /// No entry is the provider's executable ([clients: extraction](crate::clients#extraction)).
    #[error("the zip holds no executable\n  expected a file `{}` at its top level{}", printable(.expected), has(.files))]
    NoExecutable {
        /// The name, which may go on with `_` or `.` and more.
        expected: String,
        /// The files in the zip.
        files: Vec<String>,
    },
    /// The zip, or one of its entries, is not what all readers read in the same way.
    #[error(transparent)]
    Flaw(Box<Flaw>),
    /// A zip that arrives cannot be read from front to back. A file of it says whether anything is wrong with it.
    #[error("the zip must be read from a file")]
    Unsuited,
    /// The hash `h1` is not defined for a name.
    #[error(transparent)]
    Hash(#[from] hash::NameError),
}

/// What is wrong with a zip or with one of its entries. Its author sees which entry it is, and two numbers or names that should agree.
#[derive(Debug, thiserror::Error)]
pub struct Flaw {
    category: Category,
    /// The name of the entry; `None` for the zip as a whole.
    entry: Option<String>,
    /// The rest of a sentence about the zip or the entry.
    says: &'static str,
    expected: Option<String>,
    received: Option<String>,
}

impl Flaw {
    /// The zip as a whole is not to be trusted.
    pub(super) fn of_zip(says: &'static str) -> Self {
        Self {
            category: Category::Untrusted,
            entry: None,
            says,
            expected: None,
            received: None,
        }
    }

    /// An entry is not to be trusted.
    pub(super) fn of_entry(name: &str, says: &'static str) -> Self {
        Self {
            entry: Some(name.to_owned()),
            ..Self::of_zip(says)
        }
    }

    /// No program can unpack the zip.
    pub(super) fn malformed(mut self) -> Self {
        self.category = Category::Malformed;
        self
    }

    /// Some programs can unpack the zip.
    pub(super) fn unsupported(mut self) -> Self {
        self.category = Category::Unsupported;
        self
    }

    pub(super) fn expected(mut self, expected: impl fmt::Display) -> Self {
        self.expected = Some(expected.to_string());
        self
    }

    /// The number or text that the zip has, which need not be safe to print.
    pub(super) fn received(mut self, received: impl fmt::Display) -> Self {
        self.received = Some(printable(&received.to_string()));
        self
    }
}

impl From<Flaw> for Error {
    fn from(flaw: Flaw) -> Self {
        Self::Flaw(Box::new(flaw))
    }
}

impl fmt::Display for Flaw {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.entry {
            Some(name) => write!(f, "the entry `{}` {}", printable(name), self.says)?,
            None => write!(f, "the zip {}", self.says)?,
        }
        if let Some(expected) = &self.expected {
            write!(f, "\n  expected {expected}")?;
        }
        match &self.received {
            Some(received) => write!(f, "\n  received {received}"),
            None => Ok(()),
        }
    }
}

/// The files of a zip, if there are any.
fn has(files: &[String]) -> String {
    match files {
        [] => String::new(),
        files => format!(
            "\n  has {}",
            listed(files.iter().map(|file| printable(file)), MANY)
        ),
    }
}

impl Error {
    /// The category that decides the exit code.
    pub fn category(&self) -> Category {
        match self {
            Self::Read(_) => Category::Local,
            Self::NotZip { .. } | Self::Truncated { .. } | Self::NoExecutable { .. } => {
                Category::Malformed
            }
            Self::Flaw(flaw) => flaw.category,
            Self::Unsuited => Category::Unsupported,
            Self::Hash(_) => Category::Untrusted,
        }
    }
}
