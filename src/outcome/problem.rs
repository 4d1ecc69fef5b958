//! Problems that stop a journey.

use std::time::SystemTime;

use crate::address::ProviderAddr;
use crate::archive;
use crate::authentication::Status;
use crate::blob;
use crate::constraint::VersionConstraints;
use crate::date::date;
use crate::digest::Digest;
use crate::disk;
use crate::error::{Category, MANY, listed, printable, printable_path};
use crate::hash::PackageHash;
use crate::oci;
use crate::platform::Platform;
use crate::source::{self, folder};
use crate::store;
use crate::trust;
use crate::version::Version;

/// A problem that stops a journey.
#[allow(missing_docs, reason = "the message of a variant names its fields")]
#[derive(Debug, thiserror::Error)]
pub enum Problem {
    /// Invalid store address or template.
    #[error(transparent)]
    Endpoint(#[from] store::endpoint::AddressError),
    /// The store cannot hold this provider.
    #[error(transparent)]
    Mapping(#[from] store::endpoint::MappingError),
    /// No tag can express this version.
    #[error(transparent)]
    Reference(#[from] oci::reference::Error),
    /// No artifact can be built.
    #[error(transparent)]
    Oci(#[from] oci::Error),
    /// Invalid release folder.
    #[error(transparent)]
    Folder(#[from] folder::Error),
    /// Problem of a source.
    #[error(transparent)]
    Source(#[from] source::Error),
    /// Problem of a store.
    #[error(transparent)]
    Store(#[from] store::Error),
    /// The source does not serve a package.
    #[error("cannot download the package")]
    Package {
        platform: Platform,
        source: Box<Problem>,
    },
    /// A version has no package for any platform that clients know.
    #[error("the version has no package that clients can install")]
    NoPackages,
    /// A blob transfer failed.
    #[error(transparent)]
    Blob(#[from] blob::Error),
    /// A local file failed.
    #[error(transparent)]
    Disk(#[from] disk::Error),
    #[error(transparent)]
    Contents(#[from] disk::contents::Error),
    /// Verification failed.
    #[error(transparent)]
    Trust(#[from] trust::Error),
    /// The zip is hostile or damaged.
    #[error("the zip `{}` cannot be used", printable(.file))]
    Archive {
        file: String,
        source: archive::Error,
    },
    /// The evidence in the store is damaged or incomplete, and proves nothing.
    #[error(transparent)]
    Unreadable(store::Error),
    /// The evidence in the store does not prove the packages beside it.
    #[error("the stored version does not verify")]
    Evidence { source: trust::Error },
    /// An artifact that tfoci wrote has no evidence, and some is required.
    #[error("no evidence is stored")]
    NoEvidence,
    /// The evidence in the store is stronger than this release's, and does not cover this release's packages; or it cannot be read, so that it may be.
    #[error(
        "the release proves less than the stored version\n  expected {} (in the store)\n  received {} (in this release)",
        .stored.map_or("unknown: it cannot be read".to_owned(), |status| status.to_string()), .offered
    )]
    Weaker {
        stored: Option<Status>,
        offered: Status,
    },
    /// The version exists, and `--existing fail` is given.
    #[error("the store already has this version")]
    Exists,
    /// The tag refers to an artifact that is not a provider.
    #[error("the tag refers to something other than a provider")]
    Taken { source: oci::Refusal },
    /// The store has a different zip for this platform. Versions are immutable.
    #[error("the store has another zip\n  expected zh:{} (in the store)\n  received zh:{} (in this release)", .stored.hex(), .offered.hex())]
    OtherPackage {
        platform: Platform,
        stored: Digest,
        offered: Digest,
    },
    /// Two addresses resolve to one repository, which already has this version of the other provider, or another one: their versions would get mixed
    /// up.
    #[error(
        "the repository has versions of another provider\n  expected {expected}\n  received {stored}{} (in the store)",
        .version.as_ref().map(|version| format!(", version {version}")).unwrap_or_default()
    )]
    OtherProvider {
        expected: Box<ProviderAddr>,
        stored: Box<ProviderAddr>,
        /// The version; `None` for the one that is written or read.
        version: Option<Version>,
    },
    /// The author released the version again, so that evidence would not cover all packages after a merge.
    #[error("the store has packages of another release of this version")]
    Uncovered { source: trust::Error },
    /// Other writers moved the tag during every attempt.
    #[error("another writer moved the tag in each of {attempts} attempts")]
    Contended { attempts: u32 },
    /// A removal was planned without it.
    #[error("another writer added the tag `{tag}`\n  nothing more was deleted")]
    NewTag { tag: String },
    /// A copy would read from the repository that it writes to.
    #[error("the copy would read and write the same repository")]
    SameRepository,
    /// A delta leaves out packages that the target of a copy does not have.
    #[error("the delta leaves out packages that the store does not have\n  versions {}\n  nothing was copied", listed(.versions, MANY))]
    NotInTarget {
        /// `ADDR@VERSION` of each.
        versions: Vec<String>,
    },
    #[error("the store has no such repository")]
    NoProvider,
    /// No version matches the constraints. Any stable version satisfies empty ones.
    #[error("{}", no_version(.constraints, .available))]
    NoVersion {
        constraints: VersionConstraints,
        available: Vec<Version>,
    },
    /// The version is younger than the user wants.
    #[error("the version is too new: {}", held(*.until))]
    Held {
        /// When it is old enough; `None` if neither its signature nor its host gives a date.
        until: Option<SystemTime>,
    },
    /// The source does not list a version that a lock file names.
    #[error("the locked version is not there\n  has {}", versions(.available))]
    Withdrawn {
        available: Vec<Version>,
        /// The newest of these that the constraints of a configuration admit.
        admitted: Option<Version>,
    },
    /// The constraints do not admit the version in the lock file.
    #[error(
        "the locked version does not satisfy the constraints\n  expected {}\n  received {locked} (in the lock file)",
        .constraints
    )]
    OtherLocked {
        locked: Version,
        constraints: VersionConstraints,
    },
    #[error("no package has the hashes of the lock file, so its platforms are not known")]
    UnknownPlatforms,
    /// The lock file has a package of this version that the release lacks, and the release has another one instead.
    #[error(
        "the lock file locks other packages of this version\n  expected one of {}\n  received {}",
        listed(.locked, 1), listed(.received, 1)
    )]
    OtherRelease {
        locked: Vec<PackageHash>,
        received: Vec<PackageHash>,
    },
    /// `--require-pinned`, and no key is pinned for this provider.
    #[error("no key is pinned")]
    NoPin,
    /// `--require-pinned`, and the version refers to blobs that no signature covers.
    #[error("the index refers to content that no signature covers\n  received {first}")]
    Unproven { first: Digest },
    #[error("something else is at the path of the package\n  {}\n  received {received}", printable_path(.path))]
    Occupied {
        path: std::path::PathBuf,
        received: String,
    },
    /// A path that clients normalise to that of the package, so that they may take another one.
    #[error("clients read another path as that of this package\n  expected {}\n  received {}", printable_path(.expected), printable_path(.received))]
    Spelling {
        expected: std::path::PathBuf,
        received: std::path::PathBuf,
    },
    /// A server keeps the documents of versions in memory, and the documents of this provider are too large together.
    #[error(
        "the documents of this provider's versions are too large together\n  expected at most {limit} bytes"
    )]
    LargeDocuments { limit: usize },
    /// Clients convert the names of zips to lower case, and would search a different version.
    #[error("clients cannot find a version with capital letters in a packed mirror")]
    CapitalLetters,
}

fn no_version(constraints: &VersionConstraints, available: &[Version]) -> String {
    let asked = match constraints.is_any() {
        true if available.is_empty() => return "no version is listed".to_owned(),
        true => "no version is stable".to_owned(),
        false => format!("no version matches `{constraints}`"),
    };
    format!("{asked}\n  has {}", versions(available))
}

/// The newest versions, which fit on two lines of a terminal.
fn versions(available: &[Version]) -> String {
    const MOST: usize = 12;
    match available {
        [] => "none".to_owned(),
        available => listed(available.iter().rev(), MOST),
    }
}

/// Until when a version is held back. `None` if it has no date.
pub fn held(until: Option<SystemTime>) -> String {
    match until {
        Some(until) => format!("held until {}", date(until)),
        None => "held, because it has no date".to_owned(),
    }
}

impl Problem {
    /// The store does not have this version.
    pub fn no_version(version: &Version) -> Self {
        Self::NoVersion {
            constraints: VersionConstraints::exactly(version.clone()),
            available: Vec::new(),
        }
    }

    /// The problem of an index that names a different provider than expected.
    pub(crate) fn of_another(index: &oci::Index, expected: &ProviderAddr) -> Option<Self> {
        let stored = index.provider().filter(|stored| stored != expected)?;
        Some(Self::OtherProvider {
            expected: Box::new(expected.clone()),
            stored: Box::new(stored),
            version: None,
        })
    }

    /// Whether the store has lost a part of a version, or has other bytes of it. This says nothing about the release. A part that only could not be
    /// reached is not lost.
    pub(crate) fn is_loss(&self) -> bool {
        match self {
            Self::Store(error) => match error {
                store::Error::Missing { .. } => true,
                store::Error::Blob { source, .. } => source.is_damage(),
                _ => false,
            },
            // Something other than evidence, such as the page of a gateway.
            Self::Unreadable(error) => !error.is_about_access(),
            Self::NoEvidence => true,
            _ => false,
        }
    }

    /// The category that decides the exit code.
    pub fn category(&self) -> Category {
        match self {
            Self::Endpoint(_) => Category::Usage,
            Self::Mapping(error) => error.category(),
            Self::Folder(error) => error.category(),
            Self::Source(error) => error.category(),
            Self::Store(error) => error.category(),
            Self::Blob(error) => error.category(),
            Self::Package { source, .. } => source.category(),
            Self::Disk(error) => error.category(),
            Self::Contents(error) => error.category(),
            Self::Trust(error) => error.category(),
            Self::Archive { source, .. } => source.category(),
            Self::Reference(_)
            | Self::Oci(_)
            | Self::LargeDocuments { .. }
            | Self::CapitalLetters => Category::Unsupported,
            Self::Exists | Self::Contended { .. } | Self::NewTag { .. } => Category::Conflict,
            Self::NoProvider
            | Self::NotInTarget { .. }
            | Self::NoPackages
            | Self::NoVersion { .. }
            | Self::Withdrawn { .. }
            | Self::UnknownPlatforms => Category::NotFound,
            Self::OtherLocked { .. } => Category::Differs,
            Self::NoPin | Self::SameRepository => Category::Usage,
            // The others are about bytes, evidence or hashes that are not the expected ones.
            _ => Category::Untrusted,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::http;
    use crate::oci::Part;

    #[test]
    fn a_part_that_cannot_be_reached_is_not_lost() {
        let (what, digest) = (Part::Evidence, Digest::from_sha256([0; 32]));
        let read = |source| store::Error::Blob {
            what,
            digest,
            source,
        };
        let url = "https://example.com/".into();
        let unreachable = blob::Error::Http(http::Error::Url { url });
        assert!(!Problem::Store(read(unreachable)).is_loss());
        assert!(Problem::Unreadable(read(blob::Error::Missing)).is_loss());
        assert!(Problem::Store(store::Error::Missing { what, digest }).is_loss());
    }
}
