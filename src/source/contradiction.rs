//! Contradictions between a document and the request for it, or another document.

use crate::digest::Digest;
use crate::error::{FEW, listed, printable};
use crate::hash::PackageHash;
use crate::http::Shown;
use crate::platform::Platform;

/// A field of a document that is not as expected.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs, reason = "the message of a variant names its fields")]
pub enum Contradiction {
    /// Metadata of the package for another platform.
    #[error("another platform than expected\n  expected {expected}\n  received {}", printable(.received))]
    Platform {
        expected: Platform,
        received: String,
    },
    /// A digest of the package that is not a SHA-256 in hex.
    #[error("another shasum than expected\n  expected 64 hex digits\n  received {}", printable(.received))]
    NoDigest { received: String },
    /// Another digest of the package than that of an earlier request.
    #[error("another shasum than expected\n  expected {}\n  received {}", .expected.hex(), .received.hex())]
    Digest { expected: Digest, received: Digest },
    /// A protocol that is not two numbers.
    #[error("another protocol than expected\n  expected such as 6.0\n  received {}", printable(.received))]
    Protocol { received: String },
    /// A list of packages without the requested one.
    #[error("another list of packages than expected\n  expected {expected}\n  received {}", printable(&listed(.received, FEW)))]
    Packages {
        expected: Platform,
        received: Vec<String>,
    },
    /// A list of packages with another digest of the requested one.
    #[error("another hash of the package than expected\n  expected {}\n  received {}", .expected.hex(), printable(&listed(.received, FEW)))]
    PackageDigest {
        expected: Digest,
        received: Vec<String>,
    },
    /// A size that no package has. Descriptors have signed sizes.
    #[error(
        "another package size than expected\n  expected 1 to {}\n  received {received}",
        i64::MAX
    )]
    Size { received: u64 },
    /// A text that is not a URL from which a package or document can be requested.
    #[error("another {field} than expected\n  expected an https URL\n  received {received}")]
    Url {
        field: &'static str,
        received: Shown,
    },
    /// A text that is not the URL of a service.
    #[error(
        "another {field} than expected\n  expected a URL without a user's name\n  received {received}"
    )]
    ServiceUrl {
        field: &'static str,
        received: Shown,
    },
    /// Another JSON value than a text in the place of the URL of a service.
    #[error("another {field} than expected\n  expected a URL without a user's name\n  received {}", printable(.received))]
    ServiceValue {
        field: &'static str,
        received: String,
    },
    /// A hash without scheme.
    #[error("another hash than expected\n  expected SCHEME:VALUE\n  received {}", printable(.received))]
    NoHash { received: String },
    /// A package that has none of its hashes.
    #[error("another hash than expected\n  expected {}\n  received {}", printable(&listed(.expected, FEW)), printable(&listed(.received, FEW)))]
    Hashes {
        expected: Vec<PackageHash>,
        received: Vec<PackageHash>,
    },
}
