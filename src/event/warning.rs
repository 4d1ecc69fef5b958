//! What a journey accepts although its user should know about it.

use crate::address::ProviderAddr;
use crate::authentication::Status;
use crate::error::{MANY, counted, listed, printable, said};
use crate::fingerprint::Fingerprint;
use crate::place::Place;
use crate::platform::Platform;
use crate::version::Version;

/// An irregularity that a journey accepted. The text is one sentence in lower case, without a full stop.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[allow(missing_docs, reason = "the message of a variant names its fields")]
pub enum Warning {
    /// The title of the artifact names another provider, as it does if two addresses lead to one repository.
    #[error(
        "this artifact was made for {0}; the address of the store may give both providers one repository"
    )]
    MadeFor(ProviderAddr),
    /// The store lists the provider without a version: all were withdrawn, and registries keep the empty repository.
    #[error("{0} has no version of this provider any more")]
    NoVersions(Place),
    /// The destination has the version, and the source no longer does.
    #[error("it is not published any more in {0}")]
    Withdrawn(Place),
    /// The block list leaves out versions that would have been selected.
    #[error("leaves out {}: {why}", listed(.versions, MANY))]
    Denied {
        versions: Vec<Version>,
        /// The reason, and the line of the trust file.
        why: String,
    },
    /// A source or store has no package for a wanted platform. The destination may have one.
    #[error("{place} has no package for {platform}")]
    NoPackage { place: Place, platform: Platform },
    /// A version has no package for any wanted platform.
    #[error("it has no package for the wanted platforms")]
    NoWantedPackage,
    /// The copy of an unchanged index has more platforms than the wanted ones.
    #[error("the copy has {} too, because its index stays as it is", listed(.0, MANY))]
    FurtherPlatforms(Vec<Platform>),
    /// What other tools attached to a version is not copied, or not all of it.
    #[error("leaves out what is attached to it: {}", printable(.0))]
    LeftAttached(String),
    /// Bad entries of a list of versions are left out.
    #[error("tfoci skips {} in the origin's list; the first is {first}", counted(*.count, "bad version"))]
    SkippedVersions {
        count: usize,
        /// The first one, and what is wrong with it, safe to print.
        first: String,
    },
    /// The origin's own message for the users of a provider, safe to print.
    #[error("{0}")]
    OfOrigin(String),
    /// Stored checksums stay, since they cover a package that the release's checksums do not.
    #[error(
        "the checksums of this release do not cover the store's package for {platform}: the version was released again, or in parts. \
         The checksums in the store stay, since they cover both"
    )]
    KeepsChecksums { platform: Platform },
    /// The signature of a stored version is replaced by that of another key.
    #[error(
        "the signature by {from} is replaced by one by {to}: readers who pinned the old key refuse this version"
    )]
    OtherSigner { from: String, to: Fingerprint },
    /// The stored copy of the key is replaced by a later one, in which its owner has renewed it.
    #[error("the stored copy of the key {0} is replaced by a newer one")]
    NewerKey(Fingerprint),
    /// Evidence that proves less replaces the evidence of a stored version.
    #[error("evidence that {} is replaced by `{}`, as the policy allows", state(.from), .to)]
    WeakerEvidence {
        /// The status that the old evidence may have had; `None` if it cannot be read.
        from: Option<Status>,
        to: Status,
    },
    /// The registry refused the evidence, so that the version has none.
    #[error("{host} does not take the evidence, and answered {status}{}: readers will see `unverified`, unless they have the hashes of the zips pinned", said(.answer))]
    EvidenceRefused {
        host: String,
        /// The HTTP status.
        status: u16,
        /// The error message of the registry, which may be empty.
        answer: String,
    },
    /// The version is published without an attestation, for this reason.
    #[error("it is not attested: {}", printable(.0))]
    NotAttested(String),
    /// What a replacement changes is unknown.
    #[error("the stored version cannot be read, so that what is replaced is not known")]
    ReplacesUnreadable,
    /// The version is published, and what it replaced could not be removed, for this reason.
    #[error("what was replaced is not removed: {0}")]
    NotRemoved(String),
    /// The zip lets nobody execute the provider. Clients keep the permissions of the zip.
    #[error("`{}` has no permission to be executed in the zip, so that clients cannot start it: `chmod +x`, zip and sign again", printable(.file))]
    NotExecutable { file: String },
    /// The zip has directory entries. Clients then compute another [`h1`](crate::clients#package-hashes) than for the unpacked package.
    #[error(
        "the zip has directory entries and so two different h1: clients with a packed mirror or a plugin cache may refuse their own lock file"
    )]
    TwoH1,
}

fn state(status: &Option<Status>) -> String {
    match status {
        Some(status) => format!("is `{status}`"),
        None => "cannot be read".to_owned(),
    }
}
