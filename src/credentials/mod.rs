//! Credentials: finds them, selects one for a request, and stores what `login` was given.
//!
//! A [`Credential`] is a username and password, or a token, and the name of the source that contains it. Three kinds of servers require
//! credentials. For each kind, tfoci searches these sources in this order:
//!
//! | server | question | sources |
//! | --- | --- | --- |
//! | OCI registry | [`Credentials::for_repository`] | `--authfile`, `oci_credentials` blocks, the helper of `oci_default_credentials`, files of docker and podman |
//! | provider registry, network mirror | [`Credentials::for_origin`] | `TF_TOKEN_…`, `credentials.tfrc.json`, `credentials` blocks, the `credentials_helper` |
//! | host of packages | [`Credentials::for_package`] | `.netrc` |
//!
//! tfoci authenticates to all of them as `tofu` and `terraform` do, with two differences. Clients ignore all files of docker and podman
//! if one of them is invalid, whereas tfoci skips only the invalid source and [reports](SourceReport) it. A file that the user named must be
//! valid. And tfoci also reads entries of these files as oras does, with other spellings of the key or of the password, after all that clients read.
//!
//! No source is read before the first request for credentials. All of them are read again after a server has refused a credential, because cloud
//! registries issue some that are valid for hours only. Passwords and tokens are
//! [`Secret`](crate::secret::Secret)s. No message contains a secret or the output of a credential helper.

mod credential;
mod docker;
mod docker_file;
mod docker_helper;
mod entry;
mod error;
mod found_in;
mod hub;
mod locations;
pub mod netrc;
mod origin;
mod program;
mod registry;
mod report;
mod store;
#[cfg(test)]
mod tests;
mod token_helper;
pub mod tokens;

pub use crate::config::cli::CredentialKind;
pub use credential::Credential;
pub use error::Error;
pub use found_in::FoundIn;
pub use locations::{Environment, Locations};
pub use report::{Readers, SourceReport};
pub use store::{CredentialStore, Location};

use std::collections::{BTreeMap, HashSet};
use std::sync::{Arc, Mutex, OnceLock};
use std::time::{Duration, Instant};

use url::Url;

use crate::address::Hostname;
use crate::event::Event;
use crate::http::Http;
use crate::jobs::locked;
use origin::OriginCredentials;
use registry::RegistryCredentials;

/// The pause between two times that all sources are read again. A registry may refuse any number of requests.
const PAUSE: Duration = Duration::from_secs(15);

/// All credentials. Clones share the files that were read and the answers of helpers.
#[derive(Clone, Debug, Default)]
pub struct Credentials(Arc<Sources>);

/// The sources, and what was read from them.
#[derive(Debug)]
struct Sources {
    locations: Locations,
    read: Mutex<Arc<ReadSources>>,
    /// When they were last read again.
    renewed: tokio::sync::Mutex<Instant>,
    /// The pairs of host and source that were reported.
    reported: Mutex<HashSet<(String, Option<FoundIn>)>>,
}

/// The contents of the sources. Each is read when it is first needed.
#[derive(Debug, Default)]
struct ReadSources {
    registries: OnceLock<Result<RegistryCredentials, Error>>,
    origins: OnceLock<Result<OriginCredentials, Error>>,
}

impl Default for Sources {
    fn default() -> Self {
        Self {
            locations: Locations::default(),
            read: Mutex::default(),
            renewed: tokio::sync::Mutex::new(Instant::now()),
            reported: Mutex::default(),
        }
    }
}

impl Credentials {
    /// Requests with these are anonymous.
    pub fn none() -> Self {
        Self::default()
    }

    /// The credentials at these locations. This reads nothing yet.
    pub fn at(locations: Locations) -> Self {
        Self(Arc::new(Sources {
            locations,
            ..Sources::default()
        }))
    }

    /// Finds the credential for a repository whose registry has refused the one before. Reads all sources again, and asks their helpers again,
    /// unless that was done a moment ago. What was read before stays in use until there is a credential.
    pub(crate) async fn again_for_repository(
        &self,
        host: &str,
        repository: &str,
    ) -> Option<Credential> {
        let mut renewed = self.0.renewed.lock().await;
        if renewed.elapsed() >= PAUSE {
            let fresh = Arc::new(ReadSources::default());
            let found = match self.registries(&fresh) {
                Ok(registries) => registries.find(host, repository).await,
                Err(error) => Err(error),
            };
            if matches!(found, Ok(Some(_))) {
                *locked(&self.0.read) = fresh;
            }
            *renewed = Instant::now();
        }
        drop(renewed);
        self.for_repository(host, repository).await.ok().flatten()
    }

    fn read(&self) -> Arc<ReadSources> {
        locked(&self.0.read).clone()
    }

    /// Finds the credential for a repository of an OCI registry; `None` if there is none. The most specific entry is used, or the first
    /// of several equally specific ones. If an entry has no credential or fails, the next one is tried.
    ///
    /// # Errors
    /// All matching entries failed or have no credential, or a file that the user named is invalid.
    pub async fn for_repository(
        &self,
        host: &str,
        repository: &str,
    ) -> Result<Option<Credential>, Error> {
        let read = self.read();
        self.registries(&read)?.find(host, repository).await
    }

    /// Finds the token for a provider registry or a network mirror; `None` if there is none. If a source fails, the next one is tried.
    ///
    /// # Errors
    /// A source failed and no other has a token, or a file that the user named is invalid.
    pub async fn for_origin(&self, host: &Hostname) -> Result<Option<Credential>, Error> {
        let read = self.read();
        self.origins(&read)?.token(host).await
    }

    /// Finds the username and password for the host of a package's URL; `None` if there is none.
    ///
    /// # Errors
    /// A file that the user named is invalid.
    pub fn for_package(&self, url: &Url) -> Result<Option<Credential>, Error> {
        Ok(self.origins(&self.read())?.login(url))
    }

    /// The services in the `host` block of a host; `None` if there is none. They replace the host's own discovery document.
    ///
    /// # Errors
    /// A file that the user named is invalid.
    pub fn services(&self, host: &Hostname) -> Result<Option<BTreeMap<String, String>>, Error> {
        Ok(self.origins(&self.read())?.services(host).cloned())
    }

    /// The sources for OCI registries in order, with their state; none if a file that the user named is invalid, as its first use tells.
    pub fn registry_sources(&self) -> Vec<SourceReport> {
        let read = self.read();
        let registries = self.registries(&read);
        registries.map_or_else(|_| Vec::new(), |all| all.sources().to_vec())
    }

    /// Warnings about sources for OCI registries that are ignored because they cannot be used, so far.
    pub fn registry_warnings(&self) -> Vec<String> {
        let read = self.read();
        let registries = self.registries(&read);
        registries.map_or_else(|_| Vec::new(), RegistryCredentials::warnings)
    }

    /// Warnings about sources for provider registries, network mirrors and packages that cannot be used. They are read now.
    ///
    /// # Errors
    /// A file that the user named is invalid.
    pub fn origin_warnings(&self) -> Result<Vec<String>, Error> {
        let read = self.read();
        let unread = self.origins(&read)?.unread().iter();
        Ok(unread.filter_map(SourceReport::warning).collect())
    }

    /// Reports once for each host and source that a credential of this source, or no credential, is used for the host.
    pub(crate) fn report_use(&self, host: &str, found_in: Option<&FoundIn>, http: &Http) {
        let host = host.to_owned();
        let mut reported = locked(&self.0.reported);
        if reported.insert((host.clone(), found_in.cloned())) {
            let found_in = found_in.map_or("no credentials".to_owned(), ToString::to_string);
            http.report(Event::Decided {
                verb: "Using",
                text: format!("{found_in} for {host}"),
            });
        }
    }

    /// Reports sources for OCI registries that are ignored because they cannot be used.
    pub(crate) fn report_ignored(&self, http: &Http) {
        for message in self.registry_warnings() {
            http.report(Event::CredentialsIgnored { message });
        }
    }

    fn registries<'a>(&self, read: &'a ReadSources) -> Result<&'a RegistryCredentials, Error> {
        let locations = &self.0.locations;
        let found = read
            .registries
            .get_or_init(|| RegistryCredentials::read(locations, &locations.read_cli_config()?));
        found.as_ref().map_err(Clone::clone)
    }

    fn origins<'a>(&self, read: &'a ReadSources) -> Result<&'a OriginCredentials, Error> {
        let locations = &self.0.locations;
        let found = read.origins.get_or_init(|| {
            let config = locations.read_cli_config()?;
            Ok(OriginCredentials::read(locations, &config))
        });
        found.as_ref().map_err(Clone::clone)
    }
}
