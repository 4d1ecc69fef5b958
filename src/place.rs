//! Places: the sources and stores that messages name.

use std::fmt;

/// A source of releases or a store, by its name in messages. Errors carry places by value, so the names have no spare room.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Place {
    /// The origin of a provider: the host of its address.
    Origin(Box<str>),
    /// A network mirror or a filesystem mirror, as the user writes it. The protocols of mirrors have no signatures.
    Mirror(Box<str>),
    /// A directory with a release of its author.
    Folder(Box<str>),
    /// A store of layouts in a directory, or one layout in it, with the prefix `oci-layout:`.
    Layout(Box<str>),
    /// A repository of a registry, or the template of several.
    Registry(Box<str>),
}

impl Place {
    /// The name, without what kind of place it is.
    pub fn name(&self) -> &str {
        match self {
            Self::Origin(name)
            | Self::Mirror(name)
            | Self::Folder(name)
            | Self::Layout(name)
            | Self::Registry(name) => name,
        }
    }

    /// Whether it is a network mirror or a filesystem mirror.
    pub fn is_mirror(&self) -> bool {
        matches!(self, Self::Mirror(_))
    }
}

/// The name alone.
impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
