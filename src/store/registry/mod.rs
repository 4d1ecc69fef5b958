//! OCI registries.
//!
//! Reading: tags page by page, manifests by tag or digest, and blobs, which resume after a broken connection. Everything that
//! is requested by its digest is verified against it.
//!
//! Writing: a blob is mounted if the registry has it in another repository. Otherwise it is uploaded with one POST and one PUT
//! of known length, or in chunks if the PUT fails. Manifests are written by digest, and the tag last.
//!
//! The name of a repository begins with the host of its registry, so one store serves all registries that a template names. Each
//! repository in work has a session, which makes all requests.

mod answer;
mod auth;
mod blobs;
mod cache;
mod chunked_upload;
pub mod headers;
mod lists;
mod manifests;
mod scope;
mod session;
mod tag_moves;
mod upload;

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex};

use url::Url;

use super::{At, Error, Move, Tagged};
use crate::credentials::{Credential, Credentials};
use crate::http::Http;
use crate::jobs::locked;
use crate::oci::Repository;
use crate::release::Expected;
use crate::store::known::KnownRegistry;
pub use blobs::{Lookup, RegistryBlob};

use session::Host;
pub(super) use session::Session;

/// The most sessions that are kept, more than there are repositories in work at once. A repository whose session was dropped
/// costs another token.
const MOST_SESSIONS: usize = 64;

/// All registries. Clones share connections, credentials and the detected features of each registry.
#[derive(Clone)]
pub struct Registry {
    http: Http,
    credentials: Credentials,
    /// Whether credentials that a registry refuses are read again.
    renews: bool,
    hosts: Arc<Mutex<HashMap<String, Arc<Host>>>>,
    /// Sessions, the oldest first.
    sessions: Arc<tokio::sync::Mutex<VecDeque<Arc<Session>>>>,
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
        }
    }

    /// Reads credentials again that a registry refuses: cloud registries issue some that are valid for hours, and the process runs for weeks. A
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
        let host = locked(&self.hosts).get(host).cloned();
        host.and_then(|host| locked(&host.cache).takes_evidence)
    }

    pub(super) async fn session(&self, repository: &Repository) -> Result<Arc<Session>, Error> {
        let find = |sessions: &VecDeque<Arc<Session>>| {
            let mut sessions = sessions.iter();
            sessions.find(|one| one.repository == *repository).cloned()
        };
        if let Some(session) = find(&*self.sessions.lock().await) {
            return Ok(session);
        }
        let (host, name) = repository.host_and_name();
        let base = self.api(host)?;
        // Not locked while a credential helper runs: others may read repositories whose credentials are known.
        let found = self.credentials.for_repository(host, name).await;
        let chosen = found.as_ref().ok().and_then(Option::as_ref);
        let found_in = chosen.map(|credential| &credential.found_in);
        self.credentials.report_use(host, found_in, &self.http);
        let credential = found?;
        self.credentials.report_ignored(&self.http);
        let shared = Arc::clone(locked(&self.hosts).entry(host.to_owned()).or_default());
        let mut session = self.unshared(repository.clone(), base, credential);
        session.host = shared;
        session.renewal = self.renews.then(|| self.credentials.clone());
        let mut sessions = self.sessions.lock().await;
        // Another task may have been faster.
        if let Some(session) = find(&sessions) {
            return Ok(session);
        }
        if sessions.len() == MOST_SESSIONS {
            sessions.pop_front();
        }
        let session = Arc::new(session);
        sessions.push_back(Arc::clone(&session));
        Ok(session)
    }

    /// A session that knows nothing of its registry.
    fn unshared(
        &self,
        repository: Repository,
        base: Url,
        credential: Option<Credential>,
    ) -> Session {
        Session {
            repository,
            base,
            http: self.http.clone(),
            credential: Mutex::new(credential.map(Arc::new)),
            renewal: None,
            tokens: tokio::sync::Mutex::default(),
            host: Arc::default(),
        }
    }

    /// The root of the API of a registry.
    fn api(&self, host: &str) -> Result<Url, Error> {
        Ok(self.http.base(KnownRegistry::of(host).api_host(host))?)
    }
}

impl std::fmt::Debug for Registry {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Registry")
    }
}
