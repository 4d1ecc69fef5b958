//! The three symbols of a template.

use std::fmt;

use crate::address::{ProviderAddr, ProviderPattern};

/// A part of a provider's address, by its name in templates.
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
    /// All symbols, in the order of an address.
    pub const ALL: [Self; 3] = [Self::Hostname, Self::Namespace, Self::Type];

    /// `None` if templates have no symbol with this name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|symbol| symbol.as_str() == name)
    }

    /// The name in templates.
    pub fn as_str(self) -> &'static str {
        self.among(["hostname", "namespace", "type"])
    }

    /// The value of the symbol for a provider.
    pub(super) fn of(self, provider: &ProviderAddr) -> &str {
        let host = provider.hostname().as_ascii();
        self.among([host, provider.namespace(), provider.type_name()])
    }

    /// The value of the symbol for all providers that a pattern matches; `None` if it has a wildcard there.
    pub(super) fn of_pattern(self, pattern: &ProviderPattern) -> Option<&str> {
        self.among(pattern.segments())
    }

    /// The value of the symbol in the placeholder address, with which clients [check a template](crate::clients#template-checks) before
    /// any provider is known.
    pub(super) fn placeholder(self) -> &'static str {
        self.among(["example.com", "example-namespace", "example-type"])
    }

    fn among<T>(self, [hostname, namespace, type_name]: [T; 3]) -> T {
        match self {
            Self::Hostname => hostname,
            Self::Namespace => namespace,
            Self::Type => type_name,
        }
    }
}

impl fmt::Display for Symbol {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}
