//! Why a bundle cannot be used or written, and what helps.

use std::path::PathBuf;

use crate::digest::Digest;
use crate::error::{Category, FEW, Hint, listed, printable, printable_path};

/// Why a bundle cannot be used or written.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs, reason = "the message of a variant names its fields")]
pub enum BundleError {
    /// A file is not a bundle as tfoci writes it.
    #[error("cannot use the bundle {}\n  member {}\n  expected {}\n  received {}", printable_path(.path), printable(.member), printable(.expected), printable(.received))]
    Faulty {
        path: PathBuf,
        /// Its name, or where it begins.
        member: String,
        expected: String,
        received: String,
    },
    /// A bundle cannot have this.
    #[error("cannot write the bundle\n  expected {expected}\n  received {received}")]
    Unwritable { expected: String, received: String },
    /// A delta leaves out a blob, which the target of a copy has.
    #[error("the package {digest} is not in this delta")]
    LeftOut { digest: Digest },
    /// A part of a set is not there.
    #[error("a part of the bundle is missing\n  expected {}\n  left out {}", printable_path(.path), printable(&listed(.versions, FEW)))]
    MissingPart {
        path: PathBuf,
        /// The versions that only this part, or another missing one, has.
        versions: Vec<String>,
    },
    /// Only `copy` writes bundles.
    #[error("a bundle is written by `tfoci copy` only")]
    ReadOnly,
}

impl BundleError {
    pub(super) fn category(&self) -> Category {
        match self {
            Self::Faulty { .. } | Self::Unwritable { .. } => Category::Malformed,
            Self::LeftOut { .. } | Self::MissingPart { .. } => Category::NotFound,
            Self::ReadOnly => Category::Usage,
        }
    }
}

impl Hint for BundleError {
    fn hint(&self) -> Option<String> {
        let text = match self {
            Self::Faulty { .. } => "carry it over again: `tfoci verify` checks it before it leaves",
            Self::LeftOut { .. } => "copy the delta into the store that has the rest",
            Self::ReadOnly => {
                "write into a layout or a registry, and then run `tfoci copy --from STORE --to bundle:FILE`"
            }
            Self::Unwritable { .. } | Self::MissingPart { .. } => return None,
        };
        Some(text.to_owned())
    }
}
