//! Stores: where artifacts are kept.
//!
//! A [`Store`] is opened from its address ([`Endpoint`]). Journeys get one of its repositories: a [`Repo`] to read, a [`RepoMut`] to
//! write. Everything that a store returns is verified and limited in size: a manifest's bytes match the requested digest, and a
//! blob is verified while it streams.
//!
//! | store | address | |
//! | --- | --- | --- |
//! | [`Layout`] | `oci-layout:DIR` | OCI image layouts on disk, one for each provider |
//! | [`Bundle`] | `bundle:FILE` | one tar, which is never changed |
//! | [`Registry`] | `REGISTRY/REPOSITORY` | OCI registries |

pub mod artifact;
mod blob;
pub mod bundle;
mod bundle_error;
mod declined;
pub mod endpoint;
mod error;
pub mod known;
pub mod layout;
mod layout_fault;
pub mod registry;
mod repo;
mod repo_mut;

pub use artifact::{Artifact, StoredEvidence, StoredPackage};
pub use blob::StoreBlob;
pub use bundle::Bundle;
pub use bundle_error::BundleError;
pub use declined::{Breach, Declined, Requested};
pub use endpoint::Endpoint;
pub use error::{Error, PutError};
pub use layout::Layout;
pub use layout_fault::{CHECK_PATH, LayoutFault};
pub use registry::{Lookup, Registry};
pub use repo::{Attachment, CONCURRENT_READS, Repo};
pub use repo_mut::RepoMut;

use std::path::PathBuf;

use crate::address::ProviderAddr;
use crate::digest::Digest;
use crate::oci::{Descriptor, Part, RawManifest, Repository, Tag};

/// A store of any kind. Journeys do not use it itself but one of its repositories, so that code that only reads cannot write.
#[derive(Clone, Debug)]
pub enum Store {
    /// OCI image layouts on disk.
    Layout(Layout),
    /// OCI registries.
    Registry(Registry),
    /// Bundles.
    Bundle(Bundle),
}

impl Store {
    /// Why a part of the store may be missing, if that is known when it is opened.
    pub fn incomplete(&self) -> Option<Error> {
        self.bundle().and_then(Bundle::incomplete)
    }

    /// The bundle, if it is one.
    pub fn bundle(&self) -> Option<&Bundle> {
        match self {
            Self::Bundle(bundle) => Some(bundle),
            Self::Layout(_) | Self::Registry(_) => None,
        }
    }

    /// The store, unless its directory is empty: where no disk is mounted, there may be an empty directory.
    ///
    /// # Errors
    /// The directory is empty, or it cannot be read.
    pub fn refuse_empty(self) -> Result<Self, Error> {
        match &self {
            Self::Layout(layout) if layout.is_empty()? => Err(Error::Layout {
                path: layout.root().to_owned(),
                fault: LayoutFault::Absent,
            }),
            _ => Ok(self),
        }
    }
}

/// How to find a manifest.
#[derive(Clone, Copy, Debug)]
pub enum At<'a> {
    /// The one that a tag refers to.
    Tag(&'a Tag),
    /// The one that an index entry refers to.
    Entry(&'a Descriptor),
}

impl At<'_> {
    /// The part of an artifact that the manifest is.
    pub fn part(self) -> Part {
        match self {
            Self::Tag(tag) if tag.is_evidence() => Part::Evidence,
            Self::Tag(_) => Part::Index,
            Self::Entry(_) => Part::Manifest,
        }
    }
}

/// What a store lists.
#[derive(Debug)]
pub struct Providers {
    /// The providers, sorted.
    pub providers: Vec<ProviderAddr>,
    /// The repositories that the address maps no provider to, or more than one.
    pub others: Vec<Repository>,
    /// Whether the names of repositories have no host, so that the default one was taken.
    pub is_host_assumed: bool,
    /// The directories of layouts that were copied in part, and may have more providers. A registry has none.
    pub unfinished: Vec<PathBuf>,
}

/// A tag to move.
#[derive(Clone, Copy, Debug)]
pub struct Move<'a> {
    /// The tag to set.
    pub tag: &'a Tag,
    /// The manifest that it will refer to.
    pub to: &'a RawManifest,
    /// The digest that it referred to when it was last read; `None` if it did not exist.
    pub was: Option<&'a Digest>,
}

/// The outcome of moving tags.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tagged {
    /// All tags moved.
    Moved,
    /// Another writer moved a tag in the meantime. That tag and those after it did not move.
    Conflict,
}
