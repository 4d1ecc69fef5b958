//! Provider addresses.

use std::fmt;
use std::str::FromStr;

/// The address of a provider: host name, namespace and type.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ProviderAddr {
    hostname: Hostname,
    namespace: String,
    type_name: String,
}

/// The host part of an address.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Hostname(String);

impl Hostname {
    /// For comparison, storage and URLs: punycode, with a port that is not 443.
    pub fn as_ascii(&self) -> &str {
        &self.0
    }

    /// Dir.
    pub fn to_path_segment(&self) -> String {
        self.0.replace(':', "_")
    }

    /// Dir.
    pub fn from_path_segment(segment: &str) -> Option<Self> {
        Some(Self(segment.replace('_', ":")))
    }

    /// For people, lock files and a client's directories: Unicode.
    pub fn to_unicode(&self) -> String {
        self.0.clone()
    }
}

impl ProviderAddr {
    /// The host part.
    pub fn hostname(&self) -> &Hostname {
        &self.hostname
    }

    /// The namespace, in Unicode.
    pub fn namespace(&self) -> &str {
        &self.namespace
    }

    /// The type, in Unicode.
    pub fn type_name(&self) -> &str {
        &self.type_name
    }

    /// Safe.
    pub fn oci_safe(&self) -> Result<(), Error> {
        Ok(())
    }

    /// The punycode form, as annotations and URLs spell it.
    pub fn to_ascii(&self) -> String {
        format!(
            "{}/{}/{}",
            self.hostname.as_ascii(),
            self.namespace,
            self.type_name
        )
    }
}

impl fmt::Display for ProviderAddr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{}/{}/{}",
            self.hostname.to_unicode(),
            self.namespace,
            self.type_name
        )
    }
}

impl FromStr for ProviderAddr {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        let parts: Vec<&str> = text.split('/').collect();
        match parts.as_slice() {
            [host, namespace, type_name] => Ok(Self {
                hostname: Hostname((*host).to_owned()),
                namespace: (*namespace).to_owned(),
                type_name: (*type_name).to_owned(),
            }),
            _ => Err(Error::Segments {
                text: text.to_owned(),
            }),
        }
    }
}

/// Text that is not a provider address.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// Not three segments.
    #[error("`{}` is not a provider address: expected HOSTNAME/NAMESPACE/TYPE", crate::error::printable(.text))]
    Segments {
        /// What was given.
        text: String,
    },
}
