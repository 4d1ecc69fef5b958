//! Metadata of a package at a URL.

use super::location::PackageLocation;
use super::opened::Opened;
use crate::digest::Digest;
use crate::hash::PackageHash;

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
