//! OCI registries.
//!
//! Reading: tags page by page, manifests by tag or digest, and blobs, which resume after a broken connection. Everything that
//! is requested by its digest is verified against it.
//!
//! Writing: a blob is mounted if the registry has it in another repository. Otherwise it is uploaded with one POST and one PUT
//! of known length, or in chunks if the PUT fails. Manifests are written by digest, and the tag last.
//!
//! The name of a repository begins with the host of its registry, so one store serves all registries that a template names.

mod answer;
mod auth;
mod blobs;
mod cache;
mod catalog;
mod chunked_upload;
mod download;
pub mod headers;
mod manifest_rejection;
mod manifests;
mod pages;
mod referrers;
mod session;
mod tag_moves;
mod tags;
mod upload;
mod upload_strategy;

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use tokio::sync::Semaphore;

use super::{At, Error, Move, Tagged};
use crate::credentials::Credentials;
use crate::http::Http;
use crate::jobs::locked;
use crate::oci::Repository;
use crate::release::Expected;
pub use blobs::Lookup;
pub use download::RegistryBlob;

use session::{Host, RepositorySession, RepositorySessions};

/// All registries. Clones share connections, credentials and the detected features of each registry.
#[derive(Clone)]
pub struct Registry {
    http: Http,
    credentials: Credentials,
    /// Whether credentials that a registry refuses are read again.
    renews: bool,
    hosts: Arc<Mutex<HashMap<String, Host>>>,
    sessions: Arc<tokio::sync::Mutex<RepositorySessions>>,
    /// Limits uploads in chunks that are so long that several would take too much memory.
    long_chunks: Arc<Semaphore>,
}

impl Registry {
    /// A store without connections; the first request to a registry opens one.
    pub fn new(http: Http, credentials: Credentials) -> Self {
        Self {
            http,
            credentials,
            renews: false,
            hosts: Arc::default(),
            sessions: Arc::default(),
            long_chunks: Arc::new(Semaphore::new(1)),
        }
    }

    /// Reads credentials again that a registry refuses: those of cloud registries are valid for some hours, and the process runs for weeks. A
    /// command that a user waits for should rather fail: a credential helper could ask the user a second time.
    pub fn renewing(self) -> Self {
        Self {
            renews: true,
            ..self
        }
    }

    pub(super) fn blob(&self, repository: &Repository, expected: Expected) -> RegistryBlob {
        RegistryBlob {
            registry: self.clone(),
            repository: repository.clone(),
            expected,
        }
    }

    pub(super) fn takes_evidence(&self, repository: &Repository) -> Option<bool> {
        let (host, _) = repository.host_and_name();
        let hosts = locked(&self.hosts);
        locked(&hosts.get(host)?.cache).takes_evidence
    }
}

impl std::fmt::Debug for Registry {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Registry")
    }
}
