//! Provider addresses: `HOSTNAME/NAMESPACE/TYPE`.
//!
//! The same name on two hosts is two providers, so an address always contains its host. User input may omit it if the caller has a default
//! host; documents may not. Each part has [one normal form](crate::clients#addresses), so equal addresses are the same provider.

use std::fmt;
use std::str::FromStr;

use serde::{Serialize, Serializer};

pub use error::Error;
pub use host_port::HostPort;
pub use hostname::{DEFAULT_HOST, Hostname};
pub use pattern::ProviderPattern;

mod error;
mod host_port;
pub mod hostname;
pub mod name;
pub mod pattern;

/// The hosts of providers that are built into the client.
const BUILT_IN_HOSTS: [&str; 2] = ["terraform.io", "opentofu.org"];
const BUILT_IN_NAMESPACE: &str = "builtin";

/// The namespace whose providers OpenTofu's default origin took over from its predecessor.
const TAKEN_OVER: &str = "hashicorp";

/// Prefixes that clients refuse in a type, because they are redundant.
const REDUNDANT_PREFIXES: [&str; 2] = ["terraform-", "opentofu-"];

/// The address of a provider: host, namespace and type, each in its normal form.
///
/// Sorted as in lock files: by host in punycode, then namespace, then type.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ProviderAddr {
    hostname: Hostname,
    namespace: String,
    type_name: String,
}

impl ProviderAddr {
    /// Creates an address, and normalises namespace and type.
    ///
    /// # Errors
    /// The namespace or type is invalid, or the provider is built in and cannot be installed.
    pub fn new(hostname: Hostname, namespace: &str, type_name: &str) -> Result<Self, Error> {
        let namespace =
            name::normalize_namespace(namespace, &hostname).ok_or_else(|| Error::Namespace {
                name: namespace.to_owned(),
            })?;
        let is_redundant = |name: &str| REDUNDANT_PREFIXES.iter().any(|one| name.starts_with(one));
        let normal = name::normalize(type_name).filter(|name| !is_redundant(name));
        let type_name = normal.ok_or_else(|| Error::Type {
            name: type_name.to_owned(),
        })?;
        let address = Self {
            hostname,
            namespace,
            type_name,
        };
        if address.namespace == BUILT_IN_NAMESPACE
            && BUILT_IN_HOSTS.contains(&address.hostname.as_ascii())
        {
            return Err(Error::BuiltIn { address });
        }
        Ok(address)
    }

    /// Parses user input of two or three segments. An address of two segments is on `default_host`.
    ///
    /// # Errors
    /// The text is not an address. One segment is refused: clients complete it with `hashicorp` and their own host, and users who copy
    /// packages should see the complete address.
    pub fn parse(text: &str, default_host: &Hostname) -> Result<Self, Error> {
        match text.split_once('/') {
            Some((namespace, type_name)) if !type_name.contains('/') => {
                Self::new(default_host.clone(), namespace, type_name)
            }
            _ => text.parse(),
        }
    }

    /// Parses three segments with the host in punycode: the form of [`Self::to_ascii`].
    ///
    /// # Errors
    /// The text is not an address in this form.
    pub fn from_ascii(text: &str) -> Result<Self, Error> {
        Self::from_segments(text, Hostname::from_ascii)
    }

    fn from_segments(
        text: &str,
        read_host: impl Fn(&str) -> Result<Hostname, hostname::Error>,
    ) -> Result<Self, Error> {
        // Four segments suffice to detect too many.
        let segments: Vec<&str> = text.splitn(4, '/').collect();
        match segments.as_slice() {
            [hostname, namespace, type_name] => {
                Self::new(read_host(hostname)?, namespace, type_name)
            }
            _ => Err(Error::Segments {
                text: text.to_owned(),
            }),
        }
    }

    /// The same provider at the origin that OpenTofu's default origin succeeded; `None` for providers that it did not take over.
    pub fn predecessor(&self) -> Option<Self> {
        let is_successor =
            self.hostname == Hostname::default_origin() && self.namespace == TAKEN_OVER;
        is_successor.then(|| Self {
            hostname: Hostname::predecessor_origin(),
            ..self.clone()
        })
    }

    /// The host of the provider registry that publishes the provider.
    pub fn hostname(&self) -> &Hostname {
        &self.hostname
    }

    /// The namespace in Unicode.
    pub fn namespace(&self) -> &str {
        &self.namespace
    }

    /// The type in Unicode.
    pub fn type_name(&self) -> &str {
        &self.type_name
    }

    /// The bytes of its parts in memory.
    #[cfg(feature = "serve")]
    pub(crate) fn length(&self) -> usize {
        self.hostname.as_ascii().len() + self.namespace.len() + self.type_name.len()
    }

    /// The form of annotations and URLs, with the host in punycode. Namespace and type have no punycode form.
    pub fn to_ascii(&self) -> String {
        let Self {
            hostname,
            namespace,
            type_name,
        } = self;
        format!("{}/{namespace}/{type_name}", hostname.as_ascii())
    }

    /// Checks that an OCI repository name can contain this address.
    ///
    /// # Errors
    /// The namespace or type is not ASCII, or the namespace has underscores at an end or more than two in a row. Clients accept it, but no OCI
    /// repository name can contain it ([clients: repository addresses](crate::clients#repository-addresses)), so stores refuse it before they
    /// write anything.
    pub fn oci_safe(&self) -> Result<(), Error> {
        // A repository name can contain any other ASCII name in normal form, and any host with `_` before its port.
        let namespace = self.namespace.as_str();
        let is_inner = namespace.trim_matches('_') == namespace && !namespace.contains("___");
        if is_inner && namespace.is_ascii() && self.type_name.is_ascii() {
            Ok(())
        } else {
            Err(Error::NotForOci {
                address: self.clone(),
            })
        }
    }
}

impl fmt::Display for ProviderAddr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            hostname,
            namespace,
            type_name,
        } = self;
        write!(f, "{hostname}/{namespace}/{type_name}")
    }
}

impl Serialize for ProviderAddr {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl FromStr for ProviderAddr {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        Self::from_segments(text, str::parse)
    }
}

#[cfg(test)]
mod tests;
