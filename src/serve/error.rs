//! Why a server cannot start.

use std::net::SocketAddr;
use std::path::PathBuf;

use super::{links, tls, tokens};
use crate::disk;
use crate::error::Category;

/// Why a server cannot start.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A file cannot be read.
    #[error(transparent)]
    Disk(#[from] disk::Error),
    /// The certificate cannot be used.
    #[error("{} is no certificate for this server", crate::error::printable_path(.path))]
    Tls {
        /// The file of the certificate.
        path: PathBuf,
        /// The reason.
        source: tls::Error,
    },
    /// The tokens cannot be used.
    #[error("{} is not a file of tokens", crate::error::printable_path(.path))]
    Tokens {
        /// The file.
        path: PathBuf,
        /// The reason.
        source: tokens::Error,
    },
    /// The keys of links cannot be used.
    #[error("{} is not a file of signing keys", crate::error::printable_path(.path))]
    Keys {
        /// The file.
        path: PathBuf,
        /// The reason.
        source: links::KeyError,
    },
    /// The address cannot be listened on.
    #[error("cannot listen on {address}")]
    Listen {
        /// The address.
        address: SocketAddr,
        /// The system's reason.
        source: std::io::Error,
    },
}

impl Error {
    /// The category of the error.
    pub fn category(&self) -> Category {
        match self {
            Self::Disk(error) => error.category(),
            Self::Tls { .. } | Self::Tokens { .. } | Self::Keys { .. } => Category::Malformed,
            Self::Listen { .. } => Category::Local,
        }
    }
}
