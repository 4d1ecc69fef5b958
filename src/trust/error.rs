//! Why a release, or a trust file, is not believed.

use crate::digest::Digest;
use crate::error::{Category, printable};
use crate::hash::PackageHash;
use crate::platform::Platform;

use super::signature_error::{SignatureError, listed};

/// What [`super::verify`] and its documents can fail with.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs, reason = "the message of a variant names its fields")]
pub enum Error {
    /// The checksum document is longer than any real one.
    #[error(
        "the checksum document is too long\n  expected at most {limit} bytes\n  received {received} bytes"
    )]
    LongDocument { received: u64, limit: u64 },
    /// A checksum document that names more files than any release has.
    #[error(
        "the checksum document names too many files\n  expected at most {limit}\n  received more"
    )]
    ManyLines { limit: usize },
    /// A checksum document that contradicts itself.
    #[error("the checksum document has two checksums for `{}`", printable(.file_name))]
    TwoDigests { file_name: String },
    /// No line of the checksum document is for this package.
    #[error("the checksum document has no SHA-256 for `{}`", printable(.file_name))]
    NoLine { file_name: String },
    /// The package is not the one that the checksum document names.
    #[error(transparent)]
    Mismatch(Box<Mismatch>),
    /// The file name says another type, version or platform than the package is offered for.
    #[error("the file name of a package says something else\n  expected {}\n  received {}", printable(.expected), printable(.received))]
    OtherName { expected: String, received: String },
    /// A zip of an index that no line of the checksum document is about.
    #[error("no line of the checksum document covers the zip for {platform}\n  received {digest}")]
    Uncovered { platform: Platform, digest: Digest },
    /// A package that no lock file has.
    #[error("the package for {platform} is not in the lock file\n  expected one of {}\n  received zh:{}", listed(.expected), .received.hex())]
    NotLocked {
        platform: Platform,
        expected: Vec<PackageHash>,
        received: Digest,
    },
    /// A lock file that cannot vouch for a zip.
    #[error("the lock file has no zh: hash of this version")]
    NoZipLocked,
    /// There is no checksum document.
    #[error("there is no checksum document")]
    NoDocument,
    /// There is no signature.
    #[error("the checksum document is not signed")]
    NoSignature,
    /// There is a signature and no key that could be read.
    #[error("the signature of the checksum document cannot be checked without a key")]
    NoKey,
    /// A key that is to be pinned, and came over a connection on which anybody may have replaced it.
    #[error(
        "refusing to pin the key\n  expected a key that its origin served over verified TLS\n  received one over a connection without TLS, or with a certificate that was not verified"
    )]
    UnverifiedTransport,
    /// There is no signature, and keys are pinned that must have made one.
    #[error("there is no signature by a pinned key\n  expected {}\n  received none", listed(.expected))]
    NotSigned { expected: Vec<String> },
    /// There is a signature that says that it is by a pinned key, which is not there.
    #[error("the signature of the checksum document cannot be checked without the pinned key\n  expected {}\n  received no such key", listed(.expected))]
    NoPinnedKey { expected: Vec<String> },
    /// A key that the user named holds no certificate.
    #[error("there is no OpenPGP key in `{}`", printable(.name))]
    NotAKey { name: String },
    /// Keys that take more bytes than any real ones.
    #[error("the keys in `{}` are too long\n  expected at most {limit} bytes\n  received {received} bytes", printable(.name))]
    LongKeys {
        name: String,
        received: u64,
        limit: u64,
    },
    /// More keys than any owner has.
    #[error("there are more than {limit} keys")]
    ManyKeys { limit: usize },
    /// There are keys and signatures, and no signature is good.
    #[error(transparent)]
    Refused(#[from] SignatureError),
    /// Keys or signatures that cost more than honest ones: they were not looked at to the end.
    #[error("the signature and its keys cost more work to check than any honest ones")]
    Costly,
    /// This build has no OpenPGP.
    #[error("this build cannot check OpenPGP signatures")]
    Unsupported,
    /// A trust file that is not what a trust file can be.
    #[error("the trust file is malformed")]
    TrustFile(#[source] Box<toml_edit::de::Error>),
    /// A trust file in an encoding that no TOML has.
    #[error("the trust file is not UTF-8")]
    Encoding,
    /// A trust file whose tables are written in a way that cannot be added to.
    #[error("no table can be added to the trust file as it is written")]
    NoPlace,
    /// An entry of a trust file that names keys, and lets pass what they did not sign.
    #[error("the trust file's entry for `{}` has `keys` and `unsigned = \"allow\"`", printable(.pattern))]
    UnsignedPin { pattern: String },
    /// A pattern of a trust file.
    #[error(transparent)]
    Pattern(#[from] crate::address::pattern::Error),
}

/// A package that is not the one that the checksum document names.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{}` does not match its checksum\n  expected {expected} (checksum document)\n  received {received} (package)", printable(.file_name))]
pub struct Mismatch {
    /// The package's file name.
    pub file_name: String,
    /// What the checksum document says.
    pub expected: Digest,
    /// What the package is.
    pub received: Digest,
}

impl Error {
    /// What kind of failure this is.
    pub fn category(&self) -> Category {
        match self {
            Self::TwoDigests { .. }
            | Self::NoLine { .. }
            | Self::Mismatch(_)
            | Self::OtherName { .. }
            | Self::Uncovered { .. }
            | Self::NotLocked { .. }
            | Self::NoZipLocked
            | Self::NoDocument
            | Self::NoSignature
            | Self::NoKey
            | Self::UnverifiedTransport
            | Self::NotSigned { .. }
            | Self::NoPinnedKey { .. }
            | Self::Costly
            | Self::Refused(_) => Category::Untrusted,
            Self::LongDocument { .. }
            | Self::ManyLines { .. }
            | Self::NotAKey { .. }
            | Self::LongKeys { .. }
            | Self::ManyKeys { .. } => Category::Malformed,
            Self::Unsupported | Self::NoPlace => Category::Unsupported,
            Self::TrustFile(_) | Self::Encoding | Self::UnsignedPin { .. } | Self::Pattern(_) => {
                Category::Usage
            }
        }
    }
}
