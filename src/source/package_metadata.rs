//! Metadata of a package at a URL.

use super::error::Error;
use super::location::PackageLocation;
use super::opened::Opened;
use crate::digest::Digest;
use crate::hash::PackageHash;
use crate::http;
use crate::release::LARGEST_BLOB;

/// A package at a URL, with the metadata that the source provides.
#[derive(Clone, Debug)]
pub struct RemoteMetadata {
    pub(super) location: PackageLocation,
    /// The digest, if the source provides it.
    pub(super) digest: Option<Digest>,
    /// The size in bytes, if the source provides it.
    pub(super) size: Option<u64>,
    /// If the digest is unknown, the package must match one of these hashes. If there are none, any package is accepted.
    pub(super) hashes: Vec<PackageHash>,
    /// The response from whose headers the size comes. Its body has not been read.
    pub(super) opened: Option<Opened>,
}

impl RemoteMetadata {
    /// Refuses a size that no package has.
    pub(super) fn check_size(&self) -> Result<(), Error> {
        match self.size {
            Some(size) if size > LARGEST_BLOB => Err(self.too_large()),
            _ => Ok(()),
        }
    }

    pub(super) fn too_large(&self) -> Error {
        Error::Http(http::Error::Large {
            url: self.location.url.clone().into(),
            limit: LARGEST_BLOB,
        })
    }
}
