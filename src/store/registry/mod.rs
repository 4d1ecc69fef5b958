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
mod cache;
mod chunked_upload;
mod download;
pub mod headers;
pub mod known;
mod manifest_put;
mod manifest_rejection;
mod manifests;
mod session;
mod single_flight;
mod tag_moves;
mod tags;
mod upload;
mod upload_strategy;
mod wire;

use std::collections::{BTreeSet, HashMap};
use std::sync::{Arc, Mutex, PoisonError};

use reqwest::{Method, StatusCode};
use url::Url;

use super::{At, Error, Listing, Move, Put, ReadStore, Tagged, WriteStore};
use crate::blob::{BlobSource, Kept};
use crate::credentials::Credentials;
use crate::digest::Digest;
use crate::disk;
use crate::event::{Event, Reporter};
use crate::http::Http;
use crate::oci::{RawManifest, Repository, Tag};
use crate::release::Expected;
pub use download::RegistryBlob;

use auth::Scope;
use session::{Host, Session, Sessions};
use upload::Upload;

/// All registries. Clones share connections, credentials and what was learnt.
#[derive(Clone)]
pub struct Registry {
    http: Http,
    credentials: Credentials,
    hosts: Arc<Mutex<HashMap<String, Host>>>,
    sessions: Arc<tokio::sync::Mutex<Sessions>>,
    /// The hosts, each with the source of its credential, that were reported already.
    reported: Arc<Mutex<BTreeSet<(String, Option<String>)>>>,
}

impl Registry {
    /// A store without connections; the first request to a registry opens one.
    pub fn new(http: Http, credentials: Credentials) -> Self {
        Self {
            http,
            credentials,
            hosts: Arc::default(),
            sessions: Arc::default(),
            reported: Arc::default(),
        }
    }
}

impl ReadStore for Registry {
    type Blob = RegistryBlob;

    async fn repositories(&self) -> Result<Listing, Error> {
        Ok(Listing::Unsupported)
    }

    async fn tags(&self, repository: &Repository) -> Result<Option<Vec<String>>, Error> {
        self.list_tags(repository).await
    }

    async fn manifest(
        &self,
        repository: &Repository,
        at: At<'_>,
    ) -> Result<Option<RawManifest>, Error> {
        self.read_manifest(repository, at).await
    }

    async fn digest(&self, repository: &Repository, tag: &Tag) -> Result<Option<Digest>, Error> {
        let target = self.tag_target(repository, tag).await?;
        Ok(target.map(|target| target.digest))
    }

    fn blob(&self, repository: &Repository, expected: Expected) -> RegistryBlob {
        RegistryBlob {
            registry: self.clone(),
            repository: repository.clone(),
            expected,
        }
    }

    fn name(&self, repository: &Repository) -> String {
        repository.to_string()
    }
}

impl WriteStore for Registry {
    fn keeps_whole(&self) -> bool {
        true
    }

    fn takes_evidence(&self, repository: &Repository) -> bool {
        let text = repository.as_str();
        let host = text.split_once('/').map_or(text, |(host, _)| host);
        let hosts = self.hosts.lock().unwrap_or_else(PoisonError::into_inner);
        let refuses = |host: &Host| {
            let cache = host.cache.lock().unwrap_or_else(PoisonError::into_inner);
            cache.refuses_evidence
        };
        !hosts.get(host).is_some_and(refuses)
    }

    async fn lock(&self, _: &Repository, _: &dyn Reporter) -> Result<Option<disk::Lock>, Error> {
        Ok(None)
    }

    async fn has_blob(&self, repository: &Repository, expected: &Expected) -> Result<bool, Error> {
        let (session, name) = self.locate(repository).await?;
        let url = session.url(name, &format!("blobs/{}", expected.digest))?;
        let request = || session.request(Method::HEAD, url.clone());
        let answer = self.send(&session, &Scope::push(name), request).await?;
        match answer.status() {
            StatusCode::NOT_FOUND => Ok(false),
            status if status.is_success() => Ok(answer
                .content_length()
                .is_none_or(|length| length == expected.size)),
            _ => Err(self.refusal(&session, "blob", answer).await),
        }
    }

    async fn put_blob<B: BlobSource>(
        &self,
        repository: &Repository,
        blob: &B,
    ) -> Result<Put, Error> {
        let expected = blob.expected();
        let (session, name) = self.locate(repository).await?;
        if session.remembers(&expected.digest, name).is_none()
            && self.has_blob(repository, &expected).await?
        {
            session.remember(expected.digest, name);
        }
        self.put_new_blob(repository, blob).await
    }

    async fn put_new_blob<B: BlobSource>(
        &self,
        repository: &Repository,
        blob: &B,
    ) -> Result<Put, Error> {
        let digest = blob.expected().digest;
        let (session, name) = self.locate(repository).await?;
        let _turn = session.uploads.enter(digest).await;
        if session.remembers(&digest, name) == Some(true) {
            return Ok(Put::Present);
        }
        let source = neighbour(repository, blob.kept()).map(str::to_owned);
        let from = source.or_else(|| session.elsewhere(&digest, name));
        // An earlier run may have uploaded the blob and stopped before its first tag. Mounting it from the repository itself
        // finds it without an additional request.
        let from = from.or_else(|| session.mounts_itself(name).then(|| name.to_owned()));
        let upload = Upload {
            registry: self,
            session: &session,
            repository,
            name,
            blob,
            from: from.as_deref(),
        };
        let mut put = upload.run().await?;
        if from.as_deref() == Some(name) {
            if put == Put::Mounted {
                put = Put::Present;
            }
        } else if let Some(from) = from {
            let shared = put == Put::Mounted;
            self.http.report(Event::Mounting {
                digest,
                from,
                shared,
            });
        }
        session.remember(digest, name);
        Ok(put)
    }

    async fn put_manifest(
        &self,
        repository: &Repository,
        manifest: &RawManifest,
    ) -> Result<(), Error> {
        self.write_manifest(repository, manifest).await
    }

    async fn tag(&self, repository: &Repository, moves: &[Move<'_>]) -> Result<Tagged, Error> {
        self.move_tags(repository, moves).await
    }

    async fn sweep(&self, _: &Repository) -> Result<(), Error> {
        // Registries have garbage collectors of their own.
        Ok(())
    }
}

impl std::fmt::Debug for Registry {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Registry")
    }
}

/// The name of the repository that a blob is copied from, if it belongs to the same registry.
fn neighbour<'a>(repository: &Repository, kept: Option<Kept<'a>>) -> Option<&'a str> {
    let Some(Kept::InRegistry(other)) = kept else {
        return None;
    };
    let (host, name) = other.as_str().split_once('/')?;
    let (here, ours) = repository.as_str().split_once('/')?;
    (host == here && name != ours).then_some(name)
}

/// Adds the digest that completes an upload to its URL.
fn with_digest(mut location: Url, digest: &Digest) -> Url {
    location
        .query_pairs_mut()
        .append_pair("digest", &digest.to_string());
    location
}
