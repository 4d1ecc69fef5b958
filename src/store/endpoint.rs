//! Store addresses: what `--to` and `--from` take.
//!
//! The prefix decides: what follows `oci-layout:` is a directory, literally; without a prefix the whole is a repository template.
//! A provider's repository within the store follows from its address; with `--exact-repository` the address names one
//! repository, whatever the provider.

use std::path::PathBuf;

use super::registry::known;
use super::{Error, Layout, Listing, ReadStore as _, Registry, Store};
use crate::address::{self, ProviderAddr};
use crate::error::{Category, printable};
use crate::oci::Repository;
use crate::shown::{Shown, userinfo};
use crate::template::{self, RepositoryTemplate};

/// A store address, and how providers map to repositories in it.
#[derive(Clone, Debug)]
pub struct Endpoint {
    text: String,
    kind: Kind,
    exact: bool,
}

#[derive(Clone, Debug)]
enum Kind {
    Layout(PathBuf),
    Registry(RepositoryTemplate),
}

impl Endpoint {
    /// Reads a store address. `exact` says that it names one repository.
    ///
    /// # Errors
    /// An unknown form, a directory that looks like a template, or a template that is none.
    pub fn parse(text: &str, exact: bool) -> Result<Self, AddressError> {
        // Every later message repeats the address.
        if userinfo(text).is_some() {
            return Err(AddressError::User { text: text.into() });
        }
        let kind = match text.strip_prefix("oci-layout:") {
            Some(directory) => Kind::Layout(literal(text, directory)?),
            None => Kind::Registry(RepositoryTemplate::parse(text)?),
        };
        Ok(Self {
            text: text.trim_end_matches('/').to_owned(),
            kind,
            exact,
        })
    }

    /// Opens the store for reading. `registry` is how registries are reached.
    ///
    /// # Errors
    /// Nothing is there, or one repository where many were expected.
    pub fn read(&self, registry: Registry) -> Result<Store, Error> {
        let Kind::Layout(directory) = &self.kind else {
            return Ok(Store::Registry(registry));
        };
        let path = || directory.clone();
        match (self.exact, directory.join("oci-layout").exists()) {
            (true, false) => Err(Error::NoStore { path: path() }),
            (false, true) => Err(Error::IsRepository { path: path() }),
            (false, false) if !directory.is_dir() => Err(Error::NoStore { path: path() }),
            _ => Ok(Store::Layout(Layout::new(path(), &self.text))),
        }
    }

    /// Opens the store for writing; it need not exist yet.
    ///
    /// # Errors
    /// One repository where many were expected.
    pub fn write(&self, registry: Registry) -> Result<Store, Error> {
        let Kind::Layout(directory) = &self.kind else {
            return Ok(Store::Registry(registry));
        };
        if !self.exact && directory.join("oci-layout").exists() {
            return Err(Error::IsRepository {
                path: directory.clone(),
            });
        }
        Ok(Store::Layout(Layout::new(directory.clone(), &self.text)))
    }

    /// Checks what can be known before a provider is looked at: a template must tell these providers apart
    /// ([clients: template checks](crate::clients#template-checks)),
    /// and give names that its registry takes.
    ///
    /// # Errors
    /// Everything that is wrong with the template.
    pub fn check(&self, providers: &[ProviderAddr]) -> Result<(), AddressError> {
        if self.exact
            && let Some((first, others)) = providers.split_first()
        {
            let place = self.repository(first).ok();
            let meets =
                |other: &&ProviderAddr| *other != first && self.repository(other).ok() == place;
            if let Some(second) = others.iter().find(meets) {
                return Err(AddressError::OneRepository {
                    text: self.text.clone(),
                    providers: Box::new((first.clone(), second.clone())),
                });
            }
        }
        let Kind::Registry(template) = &self.kind else {
            return Ok(());
        };
        if !self.exact {
            template.check(providers)?;
        }
        // One that fits some provider is no mistake by itself: whom it does not fit is told when it is mapped.
        let mapped = providers
            .iter()
            .map(|provider| template.repository(provider).ok());
        let mut levels = mapped
            .chain([template.placeholder()])
            .flatten()
            .map(|repository| known::check(&repository).err());
        match levels.next() {
            Some(Some(first)) if levels.all(|levels| levels.is_some()) => Err(first.into()),
            _ => Ok(()),
        }
    }

    /// Where a provider lives in this store.
    ///
    /// # Errors
    /// A name that OCI cannot hold, that the template cannot map, or that is not that of the one repository.
    pub fn repository(&self, provider: &ProviderAddr) -> Result<Repository, MappingError> {
        match &self.kind {
            Kind::Layout(_) if self.exact => {
                provider.oci_safe()?;
                Ok(Repository::root())
            }
            Kind::Layout(_) => Ok(Repository::of_provider(provider)?),
            Kind::Registry(template) if self.exact || template.accepts(provider) => {
                let repository = template.repository(provider)?;
                known::check(&repository)?;
                Ok(repository)
            }
            Kind::Registry(_) => Err(MappingError::OneRepository {
                text: self.text.clone(),
                provider: Box::new(provider.clone()),
            }),
        }
    }

    /// The template of a registry.
    pub fn template(&self) -> Option<&RepositoryTemplate> {
        match &self.kind {
            Kind::Registry(template) => Some(template),
            Kind::Layout(_) => None,
        }
    }

    /// The name of a repository of this store, as people write it.
    pub fn name(&self, repository: &Repository) -> String {
        match &self.kind {
            Kind::Registry(_) => repository.to_string(),
            Kind::Layout(_) if repository.as_str().is_empty() => self.text.clone(),
            Kind::Layout(_) => format!("{}/{repository}", self.text),
        }
    }

    /// Every provider in this store, sorted; `None` where a store, or one exact repository, cannot tell.
    ///
    /// # Errors
    /// Whatever the store says.
    pub async fn providers(&self, store: &Store) -> Result<Option<Vec<ProviderAddr>>, Error> {
        match store.repositories().await? {
            Listing::Listed(all) if !self.exact => {
                let mut providers: Vec<_> = all.iter().filter_map(Repository::provider).collect();
                providers.sort();
                Ok(Some(providers))
            }
            _ => Ok(None),
        }
    }
}

/// A directory is taken as it is written, so nothing in it may look like a template.
fn literal(text: &str, directory: &str) -> Result<PathBuf, AddressError> {
    let given = || text.to_owned();
    if directory.is_empty() {
        return Err(AddressError::NoDirectory { text: given() });
    }
    let symbols = ["${", "%{", "{hostname}", "{namespace}", "{type}"];
    match symbols
        .into_iter()
        .find(|symbol| directory.contains(symbol))
    {
        Some(symbol) => Err(AddressError::Template {
            text: given(),
            symbol,
        }),
        None => Ok(directory.into()),
    }
}

/// A provider that has no place in a store.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum MappingError {
    /// A name that OCI cannot hold.
    #[error(transparent)]
    Address(#[from] address::Error),
    /// A template that does not give a repository for it.
    #[error(transparent)]
    Template(#[from] template::Error),
    /// A name with more or fewer levels than its registry takes.
    #[error(transparent)]
    Levels(#[from] known::LevelsError),
    /// One repository, which is not called like the provider.
    #[error("`{}` names one repository, and not that of `{provider}`", printable(.text))]
    OneRepository {
        /// The store address.
        text: String,
        /// The provider.
        provider: Box<ProviderAddr>,
    },
}

impl MappingError {
    /// What kind of problem it is.
    pub fn category(&self) -> Category {
        match self {
            Self::Address(error) => error.category(),
            Self::Template(error) => error.category(),
            Self::Levels(error) => error.category(),
            Self::OneRepository { .. } => Category::Usage,
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
    /// Not a template.
    #[error(transparent)]
    Repository(#[from] template::Error),
    /// Names with more or fewer levels than their registry takes, whatever the provider.
    #[error(transparent)]
    Levels(#[from] known::LevelsError),
    /// A name and password, which every message and every list of processes would show.
    #[error(
        "`{text}` has the name and password of a user\n  expected none in the address of a store"
    )]
    User {
        /// What was given, without them.
        text: Shown,
    },
    /// A prefix with nothing behind it.
    #[error("`{}` names no directory\n  expected oci-layout:DIR", printable(.text))]
    NoDirectory {
        /// What was given.
        text: String,
    },
    /// One repository for several providers, whose versions would be taken for one another's.
    #[error("`{}` is one repository, and cannot be that of {} and {}", printable(.text), .providers.0, .providers.1)]
    OneRepository {
        /// What was given.
        text: String,
        /// Two of the providers.
        providers: Box<(ProviderAddr, ProviderAddr)>,
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
    fn a_template_must_give_names_that_its_registry_takes() {
        let check = |text: &str, providers: &[&str]| {
            let providers: Vec<ProviderAddr> =
                providers.iter().map(|text| text.parse().unwrap()).collect();
            let endpoint = Endpoint::parse(text, false).unwrap();
            endpoint
                .check(&providers)
                .map_err(|error| error.to_string())
        };
        let deep = "docker.io/acme/{namespace}/{type}";
        let provider = "registry.example.net/acme/demo";
        let error = check(deep, &[provider]).unwrap_err();
        assert!(
            error.contains("received docker.io/acme/acme/demo"),
            "{error}"
        );
        assert!(check("docker.io/acme/${hostname}/${namespace}/${type}", &[]).is_err());
        assert!(check("docker.io/acme/a/demo", &[provider]).is_err());
        assert_eq!(
            check("docker.io/acme/{namespace}-{type}", &[provider]),
            Ok(())
        );
        assert_eq!(
            check("registry.example.net/a/b/{namespace}/{type}", &[provider]),
            Ok(())
        );
        // Some fit: the others are told when they are mapped.
        let some = r#"docker.io/acme/%{ if type == "demo" }demo%{ else }other/${type}%{ endif }"#;
        assert_eq!(check(some, &[provider]), Ok(()));
        let endpoint = Endpoint::parse(some, false).unwrap();
        let repository = |text: &str| endpoint.repository(&text.parse().unwrap());
        assert!(repository(provider).is_ok());
        let error = repository("registry.example.net/acme/more").unwrap_err();
        assert!(matches!(error, MappingError::Levels(_)), "{error}");
        assert_eq!(error.category(), Category::Unsupported);
    }

    #[test]
    fn the_prefix_decides_and_the_directory_is_literal() {
        assert!(Endpoint::parse("oci-layout:a b/ü", false).is_ok());
        for (text, wanted) in [
            ("oci-layout:", "names no directory"),
            ("oci-layout:x/${hostname}", "template symbol `${`"),
            ("oci-layout:x/{type}", "template symbol `{type}`"),
        ] {
            let message = Endpoint::parse(text, false).unwrap_err().to_string();
            assert!(message.contains(wanted), "{message}");
        }
    }
}
