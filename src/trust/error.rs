//! Why a release or a trust file is not accepted.

use crate::attestation::{Fault, KeyError};
use crate::digest::Digest;
use crate::error::{Category, printable};
use crate::fingerprint::Fingerprint;
use crate::hash::PackageHash;
use crate::platform::Platform;
use crate::version::Version;

use super::signature_error::{SignatureError, listed};

/// Errors of [`super::verify`] and of the documents that it reads.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs, reason = "the message of a variant names its fields")]
pub enum Error {
    /// There is more of something than any real release has.
    #[error("{0} is larger than any real one")]
    Large(String),
    /// The checksum document lists two digests for one file. One of them may be no SHA-256.
    #[error("the checksum document has two checksums for `{}`", printable(.file_name))]
    TwoDigests { file_name: String },
    /// No line of the checksum document is for this package.
    #[error("the checksum document has no SHA-256 for `{}`\n  expected a line of HEX, two spaces and the bare file name, in UTF-8", printable(.file_name))]
    NoLine {
        /// The name of the file.
        file_name: String,
    },
    /// The package does not have the digest that the checksum document lists.
    #[error("`{}` does not match its checksum\n  expected {expected} (checksum document)\n  received {received}", printable(.file_name))]
    Mismatch {
        file_name: String,
        expected: Digest,
        received: Digest,
    },
    /// The file name is for another type, version or platform than the package.
    #[error("the file name of a package says something else\n  expected {}\n  received {}", printable(.expected), printable(.received))]
    OtherName { expected: String, received: String },
    /// The index has a zip that the checksum document does not list.
    #[error("no line of the checksum document covers the zip for {platform}\n  received {digest}")]
    Uncovered { platform: Platform, digest: Digest },
    /// The lock file does not list the package.
    #[error("the package for {platform} is not in the lock file\n  expected one of {}\n  received zh:{}", listed(.expected), .received.hex())]
    NotLocked {
        platform: Platform,
        expected: Vec<PackageHash>,
        received: Digest,
    },
    /// The lock file has no zip hashes to check a zip against.
    #[error("the lock file has no zh: hash of this version")]
    NoZipLocked,
    /// The checksum document is that of another version.
    #[error("no line of the checksum document names a package of {version}")]
    OtherRelease { version: Version },
    /// There is nothing wrong, and nothing that proves who made the release.
    #[error("{lacks}{}", signature_by(.pinned))]
    Unproven {
        lacks: Lacking,
        /// The pinned keys, by fingerprint or file. One of them had to sign.
        pinned: Vec<String>,
    },
    /// A key to be pinned was downloaded over a connection on which an attacker may have replaced it.
    #[error("refusing to pin a key that its origin did not serve over verified TLS")]
    UnverifiedTransport,
    /// A key file of the user has no certificate, is damaged, has a secret key, or was stored in another encoding.
    #[error("`{}` holds no whole public key of OpenPGP\n  expected one, armored or binary", printable(.name))]
    NotAKey { name: String },
    /// The copy of a key is one of other keys.
    #[error("`{}` holds another key than its name says\n  received {}", printable(.name), listed(.received))]
    OtherCopy {
        name: String,
        received: Vec<Fingerprint>,
    },
    /// There are keys and signatures, but no signature is good.
    #[error(transparent)]
    Refused(#[from] SignatureError),
    /// Checking the keys and signatures takes longer than there is time. It was aborted.
    #[error("the signature and its keys cost more work to check than any honest ones")]
    Costly,
    /// This build has no OpenPGP support.
    #[error("this build cannot check OpenPGP signatures")]
    Unsupported,
    /// The trust file is not TOML, or has unknown fields or values.
    #[error("the trust file is malformed")]
    TrustFile(#[source] Box<crate::toml::Error>),
    /// The block list of the trust file has this version.
    #[error("the version is denied\n  reason: {why}")]
    Denied {
        /// The reason, and the line of the trust file, safe to print.
        why: String,
    },
    /// An attestation is required, and none of those that are there counts. The fault is that of the best one.
    #[error("{}", .fault.as_ref().map_or_else(
        || format!("the version is not attested\n  expected an attestation by the key {key}\n  received none"),
        |fault| format!("no attestation of the version by the key {key} counts: {fault}"),
    ))]
    NotAttested {
        /// The id of the key.
        key: String,
        fault: Option<Fault>,
    },
    /// The file of a required attestation has no key.
    #[error("`{}` holds no key of a mirror\n  {error}", printable(.name))]
    NoMirrorKey { name: String, error: KeyError },
    /// The tables of the trust file are written in a form to which no table can be added.
    #[error("no table can be added to the trust file as it is written")]
    NoPlace,
    /// An entry of the trust file is wrong.
    #[error("line {line}: {what}")]
    Entry { line: usize, what: String },
}

/// What a release does not have.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Lacking {
    /// A checksum document.
    #[error("the release has no checksum document")]
    Document,
    /// A signature of the checksum document.
    #[error("the checksum document is not signed")]
    Signature,
    /// A key for the signature that is there.
    #[error("the signature of the checksum document cannot be checked without a key")]
    Key,
}

fn signature_by(pinned: &[String]) -> String {
    match pinned {
        [] => String::new(),
        keys => format!("\n  expected a signature by {}", listed(keys)),
    }
}

impl Error {
    /// Whether it is the user's rule that refuses the release, and not that its parts do not fit together.
    pub(crate) fn is_by_rule(&self) -> bool {
        match self {
            Self::Unproven { pinned, .. } => !pinned.is_empty() && self.is_unsigned(),
            Self::Refused(_) => true,
            _ => false,
        }
    }

    /// Whether the release has no checksum document, or no signature of it.
    pub(crate) fn is_unsigned(&self) -> bool {
        matches!(self, Self::Unproven { lacks, .. } if *lacks != Lacking::Key)
    }

    /// The error about a trust file that another file names, which may be no trust file but one with secrets. No text of it is shown.
    pub fn without_text(self) -> Self {
        match self {
            Self::TrustFile(error) => Self::TrustFile(Box::new(error.without_text())),
            // The file has the form of a trust file.
            error => error,
        }
    }

    /// The category that decides the exit code.
    pub fn category(&self) -> Category {
        match self {
            Self::Large(_) => Category::Malformed,
            Self::Unsupported | Self::NoPlace => Category::Unsupported,
            Self::TrustFile(_)
            | Self::NotAKey { .. }
            | Self::OtherCopy { .. }
            | Self::NoMirrorKey { .. }
            | Self::Entry { .. } => Category::Usage,
            _ => Category::Untrusted,
        }
    }
}
