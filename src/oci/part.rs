//! The parts of an artifact.

use std::fmt;

/// A part of an artifact, from the outermost to the innermost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// The descriptor of a tag.
    Tag,
    /// The index, to which the version's tag refers.
    Index,
    /// A descriptor in the index.
    Entry,
    /// The platform manifest, to which an entry of the index refers.
    Manifest,
    /// A descriptor in the manifest.
    Layer,
    /// The zip, to which a layer refers.
    Package,
    /// The manifest of the evidence, or one of its documents.
    Evidence,
    /// A blob whose content is not parsed.
    Blob,
}

impl Part {
    /// The part that contains the descriptor of this one.
    pub fn pointer(self) -> Self {
        match self {
            Self::Index => Self::Tag,
            Self::Manifest => Self::Entry,
            Self::Package => Self::Layer,
            other => other,
        }
    }
}

/// Writes the name of the part for people.
impl fmt::Display for Part {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Tag => "tag",
            Self::Index => "index",
            Self::Entry => "index entry",
            Self::Manifest => "platform manifest",
            Self::Layer => "package layer",
            Self::Package => "package",
            Self::Evidence => "evidence",
            Self::Blob => "blob",
        })
    }
}
