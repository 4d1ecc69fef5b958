//! Store addresses: what `--to` and `--from` take.
//!
//! The prefix decides, and what follows it is literal (`oci-layout:DIR`). A provider's repository within the store follows from
//! its address; with `--exact-repository` the address names one repository, whatever the provider.

use std::path::PathBuf;

use super::{Error, Layout, ReadStore as _};
use crate::address::{self, ProviderAddr};
use crate::error::{Category, printable};
use crate::oci::Repository;

/// A store address, and how providers map to repositories in it.
#[derive(Clone, Debug)]
pub struct Endpoint {
    text: String,
    directory: PathBuf,
    exact: bool,
}

impl Endpoint {
    /// Reads a store address. `exact` says that it names one repository.
    ///
    /// # Errors
    /// An unknown form, or a directory that looks like a template.
    pub fn parse(text: &str, exact: bool) -> Result<Self, AddressError> {
        let given = || text.to_owned();
        let Some(directory) = text.strip_prefix("oci-layout:") else {
            return Err(AddressError::Unsupported { text: given() });
        };
        if directory.is_empty() {
            return Err(AddressError::NoDirectory { text: given() });
        }
        let symbols = ["${", "%{", "{hostname}", "{namespace}", "{type}"];
        if let Some(symbol) = symbols
            .into_iter()
            .find(|symbol| directory.contains(symbol))
        {
            return Err(AddressError::Template {
                text: given(),
                symbol,
            });
        }
        Ok(Self {
            text: text.trim_end_matches('/').to_owned(),
            directory: directory.into(),
            exact,
        })
    }

    /// Opens the store for reading.
    ///
    /// # Errors
    /// Nothing is there, or one repository where many were expected.
    pub fn read(&self) -> Result<Layout, Error> {
        let path = || self.directory.clone();
        match (self.exact, self.directory.join("oci-layout").exists()) {
            (true, false) => Err(Error::NoStore { path: path() }),
            (false, true) => Err(Error::IsRepository { path: path() }),
            (false, false) if !self.directory.is_dir() => Err(Error::NoStore { path: path() }),
            _ => Ok(Layout::new(path(), &self.text)),
        }
    }

    /// Opens the store for writing; it need not exist yet.
    ///
    /// # Errors
    /// One repository where many were expected.
    pub fn write(&self) -> Result<Layout, Error> {
        if !self.exact && self.directory.join("oci-layout").exists() {
            return Err(Error::IsRepository {
                path: self.directory.clone(),
            });
        }
        Ok(Layout::new(self.directory.clone(), &self.text))
    }

    /// Where a provider lives in this store.
    ///
    /// # Errors
    /// A name that OCI cannot hold.
    pub fn repository(&self, provider: &ProviderAddr) -> Result<Repository, address::Error> {
        if self.exact {
            provider.oci_safe().map(|()| Repository::root())
        } else {
            Repository::of_provider(provider)
        }
    }

    /// Every provider in this store, sorted; `None` where a store, or one exact repository, cannot tell.
    ///
    /// # Errors
    /// Whatever the store says.
    pub async fn providers(&self, store: &Layout) -> Result<Option<Vec<ProviderAddr>>, Error> {
        match store.repositories().await? {
            super::Listing::Listed(all) if !self.exact => {
                let mut providers: Vec<_> = all.iter().filter_map(Repository::provider).collect();
                providers.sort();
                Ok(Some(providers))
            }
            _ => Ok(None),
        }
    }
}

impl std::fmt::Display for Endpoint {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.text)
    }
}

/// Text that is not a store address.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum AddressError {
    /// Not a form that can be used here.
    #[error("`{}` is not a store address\n  expected oci-layout:DIR", printable(.text))]
    Unsupported {
        /// What was given.
        text: String,
    },
    /// A prefix with nothing behind it.
    #[error("`{text}` names no directory\n  expected oci-layout:DIR")]
    NoDirectory {
        /// What was given.
        text: String,
    },
    /// A directory is literal.
    #[error("`{}` holds the template symbol `{symbol}`: HOSTNAME/NAMESPACE/TYPE is appended to a directory by itself", printable(.text))]
    Template {
        /// What was given.
        text: String,
        /// What looks like a template in it.
        symbol: &'static str,
    },
}

impl AddressError {
    /// What kind of problem it is.
    pub fn category(&self) -> Category {
        Category::Usage
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_prefix_decides_and_the_directory_is_literal() {
        assert!(Endpoint::parse("oci-layout:a b/ü", false).is_ok());
        for (text, wanted) in [
            ("registry.example.net/x", "is not a store address"),
            ("oci-layout:", "names no directory"),
            ("oci-layout:x/${hostname}", "template symbol `${`"),
            ("oci-layout:x/{type}", "template symbol `{type}`"),
        ] {
            let message = Endpoint::parse(text, false).unwrap_err().to_string();
            assert!(message.contains(wanted), "{message}");
        }
    }
}
