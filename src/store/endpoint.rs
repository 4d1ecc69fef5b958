//! Store addresses: the values of `--to` and `--from`.
//!
//! After the prefix `oci-layout:` the address is a directory, and after `bundle:` a file, taken literally. Without a prefix it is a repository template. The
//! repository of a provider follows from the provider's address; with `--exact-repository` the store address itself names
//! the only repository.

mod error;

use std::io;
use std::path::{Path, PathBuf};

pub use error::{AddressError, MappingError};

use super::{Bundle, BundleError, Error, Layout, LayoutFault, Providers, Registry, RepoMut, Store};
use crate::address::{Hostname, ProviderAddr};
use crate::disk;
use crate::jobs;
use crate::oci::Repository;
use crate::place::Place;
use crate::shown::userinfo;
use crate::template::{self, RepositoryTemplate};

/// A store address. It maps each provider to a repository.
#[derive(Clone, Debug)]
pub struct Endpoint {
    text: String,
    kind: EndpointKind,
    exact: bool,
}

#[derive(Clone, Debug)]
enum EndpointKind {
    Layout(PathBuf),
    Registry(RepositoryTemplate),
    Bundle(PathBuf),
}

impl Endpoint {
    /// Parses a store address. `exact` tells whether it names a single repository.
    ///
    /// # Errors
    /// The text has an unknown form, is a directory that looks like a template, or is an invalid template.
    pub fn parse(text: &str, exact: bool) -> Result<Self, AddressError> {
        // Later messages repeat the address, so it must not contain a password.
        if userinfo(text).is_some() {
            return Err(AddressError::User { text: text.into() });
        }
        if is_path(text) {
            let expected =
                format!("oci-layout:{text} for a directory, or REGISTRY/REPOSITORY for a registry");
            return Err(AddressError::not_store(text, &expected));
        }
        let kind = match (
            text.strip_prefix("oci-layout:"),
            text.strip_prefix("bundle:"),
        ) {
            (Some(directory), _) => EndpointKind::Layout(literal(text, directory)?),
            (_, Some("")) => return Err(AddressError::not_store(text, "bundle:FILE")),
            (_, Some(file)) => EndpointKind::Bundle(file.into()),
            _ => EndpointKind::Registry(RepositoryTemplate::parse(text)?),
        };
        Ok(Self {
            text: text.trim_end_matches('/').to_owned(),
            kind,
            exact,
        })
    }

    /// Opens the store for reading. `registry` is the client for registries.
    ///
    /// # Errors
    /// The directory is no layout, or it is a single repository without `exact`. The file is no bundle.
    pub fn read(&self, registry: Registry) -> Result<Store, Error> {
        let directory = match &self.kind {
            EndpointKind::Layout(directory) => directory,
            EndpointKind::Registry(_) => return Ok(Store::Registry(registry)),
            EndpointKind::Bundle(file) => {
                let name = format!("bundle:{}", file.display());
                return Ok(Store::Bundle(Bundle::open(file, &name)?));
            }
        };
        let path = directory.clone();
        // A directory that this user may not see is not missing.
        if let Err(error) = std::fs::metadata(directory)
            && error.kind() == io::ErrorKind::PermissionDenied
        {
            return Err(disk::Error::at("read", directory, error).into());
        }
        if directory.is_file() {
            return Err(disk::Error::NotDirectory { path }.into());
        }
        let fault = match (self.exact, directory.join("oci-layout").exists()) {
            (false, true) => LayoutFault::Single,
            (true, false) => LayoutFault::Absent,
            (false, false) if !directory.is_dir() => LayoutFault::Absent,
            _ => return Ok(Store::Layout(Layout::new(path, &self.text))),
        };
        Err(Error::Layout { path, fault })
    }

    /// Opens the store for writing. It need not exist yet, but the directory above it has to.
    ///
    /// # Errors
    /// The directory is a single repository without `exact`, or the directory above it is missing, or the template fails
    /// [`Endpoint::check_distinct`], or it is a bundle.
    pub fn write(&self, registry: Registry) -> Result<Store, Error> {
        self.check_distinct()?;
        let directory = match &self.kind {
            EndpointKind::Layout(directory) => directory,
            EndpointKind::Registry(_) => return Ok(Store::Registry(registry)),
            EndpointKind::Bundle(_) => return Err(BundleError::ReadOnly.into()),
        };
        let path = directory.clone();
        if !self.exact && directory.join("oci-layout").exists() {
            let fault = LayoutFault::Single;
            return Err(Error::Layout { path, fault });
        }
        check_parent(directory)?;
        Ok(Store::Layout(Layout::new(path, &self.text)))
    }

    /// A bundle that a copy is going to write, and its file; `None` for other stores.
    ///
    /// # Errors
    /// The directory above the file is missing.
    pub fn unwritten(&self) -> Result<Option<(Store, &Path)>, Error> {
        let EndpointKind::Bundle(file) = &self.kind else {
            return Ok(None);
        };
        check_parent(file)?;
        Ok(Some((Store::Bundle(Bundle::unwritten(&self.text)), file)))
    }

    /// Checks the address for all these providers at once: a template must map each to a repository of its own
    /// ([clients: template checks](crate::clients#template-checks)).
    ///
    /// # Errors
    /// The template is invalid, or several providers would share one repository.
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
        if let Some(template) = self.template().filter(|_| !self.exact) {
            template.check(providers)?;
        }
        Ok(())
    }

    /// Checks that the template gives each provider of a host a repository of its own.
    ///
    /// # Errors
    /// Two providers of a host can have the same repository.
    pub fn check_distinct(&self) -> Result<(), template::Error> {
        self.template()
            .map_or(Ok(()), RepositoryTemplate::check_distinct)
    }

    /// Asks a registry whether it answers, and whether it accepts the credentials of the repositories, as far as these are known without the
    /// name of a provider. A directory is not looked at: [`Endpoint::read`] does that.
    ///
    /// # Errors
    /// The registry cannot be reached, or refuses the credentials.
    pub async fn ping(&self, registry: &Registry) -> Result<(), Error> {
        match self.template().and_then(RepositoryTemplate::placeholder) {
            Some(repository) => registry.session(&repository).await?.ping().await,
            None => Ok(()),
        }
    }

    /// The repository of a provider, for writing into this store.
    ///
    /// # Errors
    /// As [`Endpoint::repository`].
    pub fn repo_mut(
        &self,
        store: &Store,
        provider: &ProviderAddr,
    ) -> Result<RepoMut, MappingError> {
        let mut repo = RepoMut::new(store.clone(), self.repository(provider)?);
        repo.may_be_shared = self.may_share(provider);
        Ok(repo)
    }

    /// The repository of a provider in this store.
    ///
    /// # Errors
    /// OCI does not allow the name, the template cannot map the provider, or the template names the repository of another provider.
    pub fn repository(&self, provider: &ProviderAddr) -> Result<Repository, MappingError> {
        match &self.kind {
            EndpointKind::Layout(_) if self.exact => {
                provider.oci_safe()?;
                Ok(Repository::root())
            }
            EndpointKind::Layout(_) | EndpointKind::Bundle(_) => {
                Ok(Repository::of_provider(provider)?)
            }
            EndpointKind::Registry(template) if self.exact || template.accepts(provider) => {
                Ok(template.repository(provider)?)
            }
            EndpointKind::Registry(_) => Err(MappingError::OneRepository {
                text: self.text.clone(),
                provider: Box::new(provider.clone()),
            }),
        }
    }

    /// Whether the template maps the provider of the same name from another host to the same repository. Who names a single repository means
    /// that one.
    pub fn may_share(&self, provider: &ProviderAddr) -> bool {
        let template = self.template().filter(|_| !self.exact);
        if template.is_none_or(RepositoryTemplate::is_constant) {
            return false;
        }
        // No real host.
        let other = format!(
            "other.invalid/{}/{}",
            provider.namespace(),
            provider.type_name()
        );
        let other = ProviderAddr::from_ascii(&other);
        let other = other.ok().and_then(|other| self.repository(&other).ok());
        other.is_some() && other == self.repository(provider).ok()
    }

    /// Whether the address names a single repository, as the user said.
    pub fn is_exact(&self) -> bool {
        self.exact
    }

    /// The template, if the store is a registry.
    pub fn template(&self) -> Option<&RepositoryTemplate> {
        match &self.kind {
            EndpointKind::Registry(template) => Some(template),
            _ => None,
        }
    }

    /// The directory, if the store is one.
    pub fn directory(&self) -> Option<&Path> {
        match &self.kind {
            EndpointKind::Layout(directory) => Some(directory),
            _ => None,
        }
    }

    /// The full name of a repository, as users write it.
    pub fn name(&self, repository: &Repository) -> String {
        match &self.kind {
            EndpointKind::Registry(_) => repository.to_string(),
            EndpointKind::Layout(_) if repository.as_str().is_empty() => self.text.clone(),
            _ => format!("{}/{repository}", self.text),
        }
    }

    /// The store, as a message about reading names it: a template alone would hide which repository was asked.
    pub fn place(&self, repository: &Repository) -> Place {
        match &self.kind {
            EndpointKind::Registry(_) => Place::Registry(repository.to_string().into()),
            _ => self.whole(),
        }
    }

    /// The store, where no repository of it is meant.
    pub fn whole(&self) -> Place {
        match &self.kind {
            EndpointKind::Registry(_) => Place::Registry(self.text.as_str().into()),
            _ => Place::Layout(self.text.as_str().into()),
        }
    }

    /// The providers in this store; `None` if the address names a single repository, or is a template that cannot be read backwards. In a
    /// registry whose template has no host name, they are on `default_host`.
    ///
    /// # Errors
    /// The store fails, or the registry does not list its repositories.
    pub async fn providers(
        &self,
        store: &Store,
        default_host: &Hostname,
    ) -> Result<Option<Providers>, Error> {
        if self.exact {
            return Ok(None);
        }
        let mut unfinished = Vec::new();
        let (repositories, inverse) = match (store, self.template()) {
            (Store::Registry(registry), Some(template)) => {
                let Some(inverse) = template.inverse() else {
                    return Ok(None);
                };
                (registry.catalog(inverse.registry()).await?, Some(inverse))
            }
            (Store::Layout(layout), _) => {
                let layout = layout.clone();
                let layouts = jobs::in_thread(move || layout.layouts()).await?;
                unfinished = layouts.unfinished;
                (layouts.repositories, None)
            }
            (Store::Bundle(bundle), _) => (bundle.repositories(), None),
            (Store::Registry(_), None) => return Ok(None),
        };
        let provider = |repository: &Repository| match &inverse {
            Some(inverse) => inverse.provider(repository, default_host),
            None => repository.provider(),
        };
        let mut providers: Vec<_> = repositories.iter().filter_map(provider).collect();
        providers.sort();
        let others = repositories.iter().filter(|one| provider(one).is_none());
        Ok(Some(Providers {
            others: others.cloned().collect(),
            is_host_assumed: inverse.as_ref().is_some_and(|one| one.lacks_hostname()),
            providers,
            unfinished,
        }))
    }
}

/// Checks that a file or directory exists, or the directory above it. Both are missing where a disk is not mounted.
fn check_parent(path: &Path) -> Result<(), Error> {
    match disk::directory_of(path).exists() || path.exists() {
        true => Ok(()),
        false => Err(Error::Layout {
            path: path.to_owned(),
            fault: LayoutFault::NoParent,
        }),
    }
}

/// Whether a text without a prefix looks like the path of a directory. No registry has such a name.
fn is_path(text: &str) -> bool {
    let begins = |start: &&str| text.starts_with(start);
    matches!(text, "." | "..") || ["/", "./", "../", "~/"].iter().any(begins)
}

impl std::fmt::Display for Endpoint {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.text)
    }
}

/// Parses a directory. It is taken literally, so it must not look like a template.
fn literal(text: &str, directory: &str) -> Result<PathBuf, AddressError> {
    if directory.is_empty() {
        return Err(AddressError::not_store(text, "oci-layout:DIR"));
    }
    let path = directory.strip_prefix("//");
    if let Some(path) = path.filter(|path| !path.starts_with('/')) {
        let expected = format!("oci-layout:{path} or oci-layout:/{path}");
        return Err(AddressError::not_store(text, &expected));
    }
    let mut symbols = ["${", "%{", "{hostname}", "{namespace}", "{type}"].into_iter();
    match symbols.any(|symbol| directory.contains(symbol)) {
        true => {
            let expected =
                "a directory without symbols, to which HOSTNAME/NAMESPACE/TYPE is appended";
            Err(AddressError::not_store(text, expected))
        }
        false => Ok(directory.into()),
    }
}

#[cfg(test)]
mod tests;
