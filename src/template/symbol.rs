//! The three symbols of a template.

use std::fmt;

use crate::address::ProviderAddr;

/// A part of a provider's address, by the name that templates give it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Symbol {
    /// The host in punycode, with its port.
    Hostname,
    /// The namespace in Unicode.
    Namespace,
    /// The type in Unicode.
    Type,
}

impl Symbol {
    /// All of them, in the order of an address.
    pub const ALL: [Self; 3] = [Self::Hostname, Self::Namespace, Self::Type];

    /// The symbol of that name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|symbol| symbol.as_str() == name)
    }

    /// Its name.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Hostname => "hostname",
            Self::Namespace => "namespace",
            Self::Type => "type",
        }
    }

    /// What it stands for.
    pub(super) fn of(self, provider: &ProviderAddr) -> &str {
        match self {
            Self::Hostname => provider.hostname().as_ascii(),
            Self::Namespace => provider.namespace(),
            Self::Type => provider.type_name(),
        }
    }

    /// What it stands for in [the client's check of a template](crate::clients#template-checks) that no provider is
    /// known for yet.
    pub(super) fn placeholder(self) -> &'static str {
        match self {
            Self::Hostname => "example.com",
            Self::Namespace => "example-namespace",
            Self::Type => "example-type",
        }
    }
}

impl fmt::Display for Symbol {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}
