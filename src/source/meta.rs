//! What a source says about a package at a URL.

use super::location::PackageLocation;
use super::opened::Opened;
use crate::digest::Digest;
use crate::hash::PackageHash;

/// A package at a URL, as far as the source describes it.
#[derive(Clone, Debug)]
pub struct RemoteMeta {
    pub(super) location: PackageLocation,
    /// Its digest, if the source says it.
    pub(super) digest: Option<Digest>,
    /// Its size in bytes, if the source says it.
    pub(super) size: Option<u64>,
    /// If the digest is unknown: the package must match one of these, unless there are none.
    pub(super) hashes: Vec<PackageHash>,
    /// The answer that told the size, not read yet.
    pub(super) opened: Option<Opened>,
}
