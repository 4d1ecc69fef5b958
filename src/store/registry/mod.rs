//! OCI registries.
//!
//! Reading: tags page by page, manifests by tag or digest, blobs that resume where they were cut. Writing: a blob is mounted
//! where the registry has it, else one POST and one PUT of known length, or chunks where those do not get through;
//! manifests go by digest, and the tag last.
//! Everything that is read is checked against the digest by which it was asked for.
//!
//! A repository's name begins with its registry's host, so that one store serves whatever a template maps to.

mod answer;
mod auth;
mod chunks;
mod download;
pub mod headers;
pub mod known;
mod ladder;
mod manifests;
mod objection;
mod seen;
mod session;
mod tags;
mod upload;
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

/// A host, and where the credentials for it were found.
type Choice = (String, Option<String>);

/// Registries, reached as they are needed.
#[derive(Clone)]
pub struct Registry {
    http: Http,
    credentials: Credentials,
    hosts: Arc<Mutex<HashMap<String, Host>>>,
    sessions: Arc<tokio::sync::Mutex<Sessions>>,
    /// Which credentials were told to be chosen.
    told: Arc<Mutex<BTreeSet<Choice>>>,
}

impl Registry {
    /// Nothing is opened before the first request.
    pub fn new(http: Http, credentials: Credentials) -> Self {
        Self {
            http,
            credentials,
            hosts: Arc::default(),
            sessions: Arc::default(),
            told: Arc::default(),
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
        let standing = self.standing(repository, tag).await?;
        Ok(standing.map(|standing| standing.digest))
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
            let seen = host.seen.lock().unwrap_or_else(PoisonError::into_inner);
            seen.refuses_evidence
        };
        !hosts.get(host).is_some_and(refuses)
    }

    async fn lock(&self, _: &Repository, _: &dyn Reporter) -> Result<Option<disk::Lock>, Error> {
        Ok(None)
    }

    async fn has_blob(&self, repository: &Repository, expected: &Expected) -> Result<bool, Error> {
        let (host, name) = self.locate(repository).await?;
        let url = host.url(name, &format!("blobs/{}", expected.digest))?;
        let request = || host.request(Method::HEAD, url.clone());
        let answer = self.send(&host, &Scope::push(name), request).await?;
        match answer.status() {
            StatusCode::NOT_FOUND => Ok(false),
            status if status.is_success() => Ok(answer
                .content_length()
                .is_none_or(|length| length == expected.size)),
            _ => Err(self.refusal(&host, "blob", answer).await),
        }
    }

    async fn put_blob<B: BlobSource>(
        &self,
        repository: &Repository,
        blob: &B,
    ) -> Result<Put, Error> {
        let expected = blob.expected();
        let (host, name) = self.locate(repository).await?;
        if host.knows(&expected.digest, name).is_none()
            && self.has_blob(repository, &expected).await?
        {
            host.remember(expected.digest, name);
        }
        self.put_new_blob(repository, blob).await
    }

    async fn put_new_blob<B: BlobSource>(
        &self,
        repository: &Repository,
        blob: &B,
    ) -> Result<Put, Error> {
        let digest = blob.expected().digest;
        let (host, name) = self.locate(repository).await?;
        let flight = host.flight(digest);
        let _turn = flight.lock().await;
        if host.knows(&digest, name) == Some(true) {
            return Ok(Put::Present);
        }
        let near = neighbour(repository, blob.kept()).map(str::to_owned);
        let from = near.or_else(|| host.elsewhere(&digest, name));
        // What a run brought that was stopped before its first tag is found at no cost: by mounting it from where it is.
        let from = from.or_else(|| host.may_have_all(name).then(|| name.to_owned()));
        let upload = Upload {
            registry: self,
            host: &host,
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
        host.remember(digest, name);
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
        // Registries collect what no tag leads to by themselves.
        Ok(())
    }
}

impl std::fmt::Debug for Registry {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Registry")
    }
}

/// The name of another repository of the same registry that keeps a blob.
fn neighbour<'a>(repository: &Repository, kept: Option<Kept<'a>>) -> Option<&'a str> {
    let Some(Kept::InRegistry(other)) = kept else {
        return None;
    };
    let (host, name) = other.as_str().split_once('/')?;
    let (here, ours) = repository.as_str().split_once('/')?;
    (host == here && name != ours).then_some(name)
}

/// The digest in an upload's URL.
fn with_digest(mut location: Url, digest: &Digest) -> Url {
    location
        .query_pairs_mut()
        .append_pair("digest", &digest.to_string());
    location
}
