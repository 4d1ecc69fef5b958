//! The parts of an artifact.

use std::fmt;

/// A part of an artifact, from the outside in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// What a tag says about what it stands for.
    Tag,
    /// The document that a version's tag leads to.
    Index,
    /// One of its descriptors.
    Entry,
    /// The manifest that an entry leads to.
    Manifest,
    /// One of its descriptors.
    Layer,
    /// The zip that a layer leads to.
    Package,
    /// The manifest of the evidence, and its documents.
    Evidence,
    /// Something that is not read for its content.
    Blob,
}

impl Part {
    /// The part with the descriptor of this one.
    pub fn pointer(self) -> Self {
        match self {
            Self::Index => Self::Tag,
            Self::Manifest => Self::Entry,
            Self::Package => Self::Layer,
            other => other,
        }
    }

    /// The word for this part in codes.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Tag => "tag",
            Self::Index => "index",
            Self::Entry => "entry",
            Self::Manifest => "manifest",
            Self::Layer => "layer",
            Self::Package => "package",
            Self::Evidence => "evidence",
            Self::Blob => "blob",
        }
    }
}

/// As people read it.
impl fmt::Display for Part {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Entry => "index entry",
            Self::Manifest => "platform manifest",
            Self::Layer => "package layer",
            other => other.as_str(),
        })
    }
}
