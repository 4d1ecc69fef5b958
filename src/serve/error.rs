//! Errors of a server that starts, and of files that it reads again.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use crate::address::pattern;
use crate::disk;
use crate::error::{Category, Hint};
use crate::text;

/// Why no policy can be read.
pub type PolicyError = Box<dyn std::error::Error + Send + Sync>;

/// The most tokens of a file. The token of a request is compared with all of them, which takes about a millisecond for this many.
pub(super) const MOST_TOKENS: usize = 10_000;
/// The shortest signing key in bytes. HMAC-SHA256 has no more strength than the 32 bytes of its output, and a shorter key has less.
pub(super) const SHORTEST_KEY: usize = 32;
/// The most signing keys. A rotation needs two, one that signs and one that is being replaced; each costs an HMAC for every invalid link.
pub(super) const MOST_KEYS: usize = 8;

/// A server that cannot start, or a changed file that cannot be used.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs, reason = "the message of a variant names its fields")]
pub enum Error {
    /// A file cannot be read.
    #[error(transparent)]
    Disk(#[from] disk::Error),
    /// A file of certificates, tokens or keys has other contents.
    #[error("{} cannot be used", crate::error::printable_path(.path))]
    File { path: PathBuf, source: FileError },
    /// No key for signed links can be made.
    #[error("the system has no random numbers")]
    NoRandom,
    /// The trust file or a file of keys cannot be used.
    #[error(transparent)]
    Policy(PolicyError),
    /// The operating system refused to listen on the address.
    #[error("cannot listen on {address}")]
    Listen {
        address: SocketAddr,
        source: std::io::Error,
    },
}

/// What is wrong in a file of certificates, tokens or keys.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[allow(missing_docs, reason = "the message of a variant names its fields")]
pub enum FileError {
    /// DER and encrypted keys are not read, and a single damaged certificate makes the file unusable.
    #[error("the file has no {what} in PEM")]
    Unusable { what: &'static str },
    /// The file is not UTF-8.
    #[error(transparent)]
    Text(#[from] text::Error),
    /// A line is not what the file has to have, or there are too few or too many.
    #[error("line {line} cannot be used\n  expected {expected}")]
    Line { line: usize, expected: String },
    /// A word after the hash of a token is not a pattern of providers.
    #[error("line {line} has an invalid pattern")]
    Pattern { line: usize, source: pattern::Error },
}

impl Error {
    /// The category, which decides the exit code.
    pub fn category(&self) -> Category {
        match self {
            Self::Disk(error) => error.category(),
            Self::File { .. } | Self::Policy(_) => Category::Malformed,
            Self::NoRandom | Self::Listen { .. } => Category::Local,
        }
    }
}

impl Hint for Error {
    fn hint(&self) -> Option<String> {
        match self {
            Self::Disk(error) => error.hint(),
            _ => None,
        }
    }
}

impl FileError {
    /// The error of a line that is not a token, or of the first one if there are none or too many.
    pub(super) fn tokens(line: usize) -> Self {
        let expected = format!(
            "one to {MOST_TOKENS} tokens, each on a line: NAME sha256:HEX, and patterns of providers if it is only for these"
        );
        Self::Line { line, expected }
    }

    /// The error of a line that is not a signing key, or of the first one if there are none or too many.
    pub(super) fn keys(line: usize) -> Self {
        let expected = format!(
            "one to {MOST_KEYS} keys, each on a line: at least {SHORTEST_KEY} bytes in base64, and not in hex"
        );
        Self::Line { line, expected }
    }

    /// The error of the file at this path.
    pub(super) fn of(self, path: &Path) -> Error {
        let path = path.to_owned();
        Error::File { path, source: self }
    }
}
