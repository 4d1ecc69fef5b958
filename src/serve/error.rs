//! Errors of a server that starts, and of files that it reads again.

use std::io::ErrorKind;
use std::net::SocketAddr;
use std::path::PathBuf;

use super::links;
use crate::address::pattern;
use crate::disk;
use crate::error::{Category, Hint};
use crate::text;

/// Why no policy can be read.
pub type PolicyError = Box<dyn std::error::Error + Send + Sync>;

/// The most tokens of a file. The token of a request is compared with all of them, which takes about a millisecond for this many.
pub(super) const MOST_TOKENS: usize = 10_000;

/// A server that cannot start, or a changed file that cannot be used.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs, reason = "the message of a variant names its fields")]
pub enum Error {
    /// A file cannot be read.
    #[error(transparent)]
    Disk(#[from] disk::Error),
    /// The certificate or its private key cannot be used. The path is that of the file at fault.
    #[error("{} cannot be used for TLS", crate::error::printable_path(.path))]
    Tls { path: PathBuf, source: TlsError },
    /// The file of tokens is invalid.
    #[error("{} is not a file of tokens", crate::error::printable_path(.path))]
    Tokens { path: PathBuf, source: TokensError },
    /// The file of signing keys is invalid.
    #[error("{} is not a file of signing keys", crate::error::printable_path(.path))]
    Keys {
        path: PathBuf,
        source: links::KeyError,
    },
    /// No key for signed links can be made.
    #[error("the system has no random numbers")]
    Random,
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

/// A certificate or private key that cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum TlsError {
    /// Certificates in DER are not read, and a single damaged one makes the file unusable.
    #[error("the file has no certificate in PEM")]
    NoCertificate,
    /// Keys in DER and encrypted keys are not read.
    #[error("the file has no private key in PEM")]
    NoKey,
    /// The certificate is for another key, or the kind of key is not supported.
    #[error("the certificate and the private key do not fit together")]
    NoPair,
    /// TLS cannot be configured.
    #[error("TLS cannot be used")]
    Unusable,
}

/// An invalid file of tokens.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[allow(missing_docs, reason = "the message of a variant names its fields")]
pub enum TokensError {
    /// A line has no name or no hash.
    #[error(
        "line {line} is not a token\n  expected NAME sha256:HEX, and patterns of providers if it is only for these"
    )]
    Line { line: usize },
    /// A word after the hash is not a pattern of providers.
    #[error("line {line} has an invalid pattern")]
    Pattern { line: usize, source: pattern::Error },
    /// The file is not UTF-8.
    #[error(transparent)]
    Text(text::Error),
    /// The file has no token.
    #[error(
        "it has no token, so no client would be authorized\n  expected NAME sha256:HEX on a line"
    )]
    Empty,
    /// The file has more tokens than the limit.
    #[error("there are more than {} tokens", MOST_TOKENS)]
    TooMany,
}

impl Error {
    /// The category, which decides the exit code.
    pub fn category(&self) -> Category {
        match self {
            Self::Disk(error) => error.category(),
            Self::Tls { .. } | Self::Tokens { .. } | Self::Keys { .. } | Self::Policy(_) => {
                Category::Malformed
            }
            Self::Random | Self::Listen { .. } => Category::Local,
        }
    }
}

impl Hint for Error {
    fn hint(&self) -> Option<String> {
        let text = match self {
            Self::Disk(error) => return error.hint(),
            Self::Tokens {
                source: TokensError::Text(_),
                ..
            } => text::SAVE_AS_UTF8,
            Self::Tokens { .. } => "`tfoci help deployment` shows how to make a token",
            Self::Keys { .. } => "`openssl rand -base64 32` makes a key",
            Self::Tls {
                source: TlsError::NoPair,
                ..
            } => "name the key that the certificate was made for",
            Self::Tls {
                source: TlsError::NoCertificate,
                ..
            } => "`--tls-cert` names the certificates, and `--tls-key` the private key",
            Self::Listen { source, .. } if source.kind() == ErrorKind::AddrInUse => {
                "another program listens there: `--listen IP:PORT` names another port"
            }
            Self::Listen { source, .. } if source.kind() == ErrorKind::PermissionDenied => {
                "ports below 1024 need a permission: `--listen IP:PORT` names another port"
            }
            _ => return None,
        };
        Some(text.to_owned())
    }
}
