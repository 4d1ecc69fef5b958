//! What a journey accepts although its user should know about it.

use crate::place::Place;
use crate::platform::Platform;

/// An irregularity that a journey accepted. The text is one sentence in lower case, without a full stop, and safe to print.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[allow(missing_docs, reason = "the message of a variant names its fields")]
pub enum Warning {
    /// A source or store has no package for a wanted platform. The destination may have one.
    #[error("{place} has no package for {platform}")]
    NoPackage { place: Place, platform: Platform },
    /// Anything else.
    #[error("{0}")]
    Other(String),
}
