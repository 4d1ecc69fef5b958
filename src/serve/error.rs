//! Errors of a server that starts, and of files that it reads again.

use std::io::ErrorKind;
use std::net::SocketAddr;
use std::path::PathBuf;

use super::{links, tls, tokens};
use crate::disk;
use crate::error::{Category, Hint};
use crate::text;
use crate::trust;

/// A server that cannot start, or a changed file that cannot be used.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs, reason = "the message of a variant names its fields")]
pub enum Error {
    /// A file cannot be read.
    #[error(transparent)]
    Disk(#[from] disk::Error),
    /// The certificate or its private key cannot be used. The path is that of the file at fault.
    #[error("{} cannot be used for TLS", crate::error::printable_path(.path))]
    Tls { path: PathBuf, source: tls::Error },
    /// The file of tokens is invalid.
    #[error("{} is not a file of tokens", crate::error::printable_path(.path))]
    Tokens {
        path: PathBuf,
        source: tokens::Error,
    },
    /// The file of signing keys is invalid.
    #[error("{} is not a file of signing keys", crate::error::printable_path(.path))]
    Keys {
        path: PathBuf,
        source: links::KeyError,
    },
    /// No key for signed links can be made.
    #[error("the system has no random numbers")]
    Random,
    /// The trust file is invalid, or a file of keys has none.
    #[error("{} cannot be used", crate::error::printable_path(.path))]
    Trust { path: PathBuf, source: trust::Error },
    /// The trust file is no text.
    #[error("{} is {source}", crate::error::printable_path(.path))]
    Text { path: PathBuf, source: text::Error },
    /// The operating system refused to listen on the address.
    #[error("cannot listen on {address}")]
    Listen {
        address: SocketAddr,
        source: std::io::Error,
    },
}

impl Error {
    /// The category, which decides the exit code.
    pub fn category(&self) -> Category {
        match self {
            Self::Disk(error) => error.category(),
            Self::Trust { source, .. } => source.category(),
            Self::Tls { .. } | Self::Tokens { .. } | Self::Keys { .. } | Self::Text { .. } => {
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
            Self::Trust { source, .. } => return source.hint(),
            Self::Text { .. }
            | Self::Tokens {
                source: tokens::Error::Text(_),
                ..
            } => text::SAVE_AS_UTF8,
            Self::Tokens { .. } => "`tfoci help deployment` shows how to make a token",
            Self::Keys { .. } => "`openssl rand -base64 32` makes a key",
            Self::Tls {
                source: tls::Error::NoPair,
                ..
            } => "name the key that the certificate was made for",
            Self::Tls {
                source: tls::Error::NoCertificate,
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
