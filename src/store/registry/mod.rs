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
pub mod known;
mod ladder;
mod session;
mod upload;
mod wire;

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use futures_util::TryStreamExt as _;
use reqwest::header::{ACCEPT, CONTENT_TYPE, HeaderName};
use reqwest::{Method, StatusCode};
use url::Url;

use super::{At, Error, Listing, Move, Put, ReadStore, Tagged, WriteStore};
use crate::blob::{self, BlobSource, Body, Kept, hold_back};
use crate::credentials::Credentials;
use crate::digest::Digest;
use crate::disk;
use crate::event::Reporter;
use crate::http::{Answer, Http, Payload};
use crate::oci::{INDEX, LARGEST_READ, MANIFEST, RawManifest, Refusal, Repository, Tag};
use crate::release::Expected;
pub use download::RegistryBlob;

use auth::Scope;
use session::{Host, Session};
use upload::Upload;

/// The largest page of tags (contract 1.7).
const LARGEST_PAGE: u64 = 4 << 20;
/// How a registry says the digest of what a tag stands for.
const CONTENT_DIGEST: HeaderName = HeaderName::from_static("docker-content-digest");
/// More pages than any provider has versions: a registry that sends us in circles is not followed for ever.
const MOST_PAGES: usize = 10_000;

/// Registries, reached as they are needed.
#[derive(Clone)]
pub struct Registry {
    http: Http,
    credentials: Credentials,
    hosts: Arc<Mutex<HashMap<String, Host>>>,
    sessions: Arc<tokio::sync::Mutex<HashMap<String, Arc<Session>>>>,
}

impl Registry {
    /// Nothing is opened before the first request.
    pub fn new(http: Http, credentials: Credentials) -> Self {
        Self {
            http,
            credentials,
            hosts: Arc::default(),
            sessions: Arc::default(),
        }
    }
}

impl ReadStore for Registry {
    type Blob = RegistryBlob;

    async fn repositories(&self) -> Result<Listing, Error> {
        Ok(Listing::Unsupported)
    }

    async fn tags(&self, repository: &Repository) -> Result<Option<Vec<String>>, Error> {
        let (host, name) = self.locate(repository).await?;
        let scope = Scope::pull(name);
        let mut page = Some(host.url(name, "tags/list")?);
        let mut seen = Vec::new();
        let mut tags = Vec::new();
        while let Some(url) = page.take() {
            if seen.contains(&url) || seen.len() > MOST_PAGES {
                return Err(Error::EndlessPages { url: url.into() });
            }
            seen.push(url.clone());
            let request = || {
                host.request(Method::GET, url.clone())
                    .header(ACCEPT, "application/json")
                    .whole(LARGEST_PAGE)
            };
            let answer = self.send(&host, &scope, request).await?;
            let status = answer.status();
            if status == StatusCode::UNAUTHORIZED || status == StatusCode::FORBIDDEN {
                return Err(self.refusal(&host, "tags", answer).await);
            }
            let next = answer::next_page(&answer).transpose()?;
            let shown = answer.url().clone();
            let body = answer.bytes(LARGEST_PAGE).await?;
            if !status.is_success() {
                if status == StatusCode::NOT_FOUND || answer::says_unknown(&body) {
                    host.seen().empty.insert(name.to_owned());
                    return Ok(None);
                }
                let text = answer::text(&body);
                return Err(Error::Registry {
                    what: "tags",
                    url: shown.into(),
                    status: status.as_u16(),
                    answer: text,
                });
            }
            let list: wire::TagList =
                serde_json::from_slice(&body).map_err(|source| Error::Document {
                    what: "list of tags",
                    url: shown.into(),
                    source,
                })?;
            tags.extend(list.tags.unwrap_or_default());
            page = next;
        }
        tags.sort();
        tags.dedup();
        if tags.is_empty() {
            host.seen().empty.insert(name.to_owned());
        }
        Ok(Some(tags))
    }

    async fn manifest(
        &self,
        repository: &Repository,
        at: At<'_>,
    ) -> Result<Option<RawManifest>, Error> {
        let what = at.part();
        let (reference, accept, expected) = match at {
            At::Tag(tag) => (tag.to_string(), format!("{INDEX}, {MANIFEST}"), None),
            At::Entry(entry) => {
                let expected = entry.leads_to(what)?;
                (
                    entry.digest.clone(),
                    entry.media_type.clone(),
                    Some(expected),
                )
            }
        };
        let Some(answer) = self
            .ask_manifest(Method::GET, repository, &reference, &accept)
            .await?
        else {
            return Ok(None);
        };
        let media_type = answer::media_type(&answer);
        let (bytes, expected) = match expected {
            None => {
                let said: Option<Digest> = answer
                    .header(CONTENT_DIGEST)
                    .and_then(|text| text.parse().ok());
                let bytes = answer.bytes(LARGEST_READ).await?;
                let expected = Expected::of(&bytes);
                // Only SHA-256 is compared: what clients resolve tags to.
                if let Some(said) =
                    said.filter(|said| said.sha256().is_some() && *said != expected.digest)
                {
                    let source = blob::Error::Digest {
                        expected: said,
                        received: expected.digest,
                    };
                    return Err(Error::reading(what, said, source));
                }
                (bytes, expected)
            }
            Some(expected) if expected.size > LARGEST_READ => {
                return Err(Refusal::TooLarge {
                    what,
                    size: expected.size,
                }
                .into());
            }
            Some(expected) => {
                let body = Body::new(answer.chunks().map_err(blob::Error::Http));
                let bytes = hold_back(body, expected).collect(expected.size).await;
                let wrong = |source| Error::reading(what, expected.digest, source);
                (bytes.map_err(wrong)?, expected)
            }
        };
        Ok(Some(RawManifest {
            media_type,
            artifact_type: None,
            bytes: bytes.into(),
            expected,
        }))
    }

    async fn digest(&self, repository: &Repository, tag: &Tag) -> Result<Option<Digest>, Error> {
        let accept = format!("{INDEX}, {MANIFEST}");
        let answer = self
            .ask_manifest(Method::HEAD, repository, tag.as_str(), &accept)
            .await?;
        let Some(answer) = answer else {
            return Ok(None);
        };
        let said = answer
            .header(CONTENT_DIGEST)
            .and_then(|text| text.parse().ok());
        match said {
            Some(digest) => Ok(Some(digest)),
            // A registry that does not say it has to be read.
            None => Ok(self
                .manifest(repository, At::Tag(tag))
                .await?
                .map(|raw| raw.expected.digest)),
        }
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
        let there = match host.knows(&expected.digest, name) {
            Some(known) => known,
            None => self.has_blob(repository, &expected).await?,
        };
        let put = match there {
            true => Put::Present,
            false => {
                let near = neighbour(repository, blob.kept()).map(str::to_owned);
                let from = near.or_else(|| host.elsewhere(&expected.digest, name));
                let upload = Upload {
                    registry: self,
                    host: &host,
                    repository,
                    name,
                    blob,
                    from: from.as_deref(),
                };
                upload.run().await?
            }
        };
        host.remember(expected.digest, name);
        Ok(put)
    }

    async fn put_manifest(
        &self,
        repository: &Repository,
        manifest: &RawManifest,
    ) -> Result<(), Error> {
        self.write_manifest(repository, &manifest.expected.digest.to_string(), manifest)
            .await
    }

    async fn tag(&self, repository: &Repository, moves: &[Move<'_>]) -> Result<Tagged, Error> {
        for Move { tag, to, was } in moves {
            let now = self
                .manifest(repository, At::Tag(tag))
                .await?
                .map(|raw| raw.expected.digest);
            if now.as_ref() != *was {
                return Ok(Tagged::Conflict);
            }
            self.write_manifest(repository, tag.as_str(), to).await?;
        }
        // Registries cannot compare and write in one step: whoever came in between is seen now.
        let Some(Move { tag, to, .. }) = moves.last() else {
            return Ok(Tagged::Moved);
        };
        let now = self.digest(repository, tag).await?;
        Ok(if now == Some(to.expected.digest) {
            Tagged::Moved
        } else {
            Tagged::Conflict
        })
    }

    async fn sweep(&self, _: &Repository) -> Result<(), Error> {
        // Registries collect what no tag leads to by themselves.
        Ok(())
    }
}

impl Registry {
    /// Asks for a manifest; `None` if it is not there.
    async fn ask_manifest(
        &self,
        method: Method,
        repository: &Repository,
        reference: &str,
        accept: &str,
    ) -> Result<Option<Answer>, Error> {
        let (host, name) = self.locate(repository).await?;
        let url = host.url(name, &format!("manifests/{reference}"))?;
        let request = || {
            host.request(method.clone(), url.clone())
                .header(ACCEPT, accept)
                .whole(LARGEST_READ)
        };
        let answer = self.send(&host, &Scope::pull(name), request).await?;
        match answer.status() {
            StatusCode::NOT_FOUND => Ok(None),
            status if status.is_success() => Ok(Some(answer)),
            _ => Err(self.refusal(&host, "manifest", answer).await),
        }
    }

    async fn write_manifest(
        &self,
        repository: &Repository,
        at: &str,
        manifest: &RawManifest,
    ) -> Result<(), Error> {
        let (host, name) = self.locate(repository).await?;
        let url = host.url(name, &format!("manifests/{at}"))?;
        let request = || {
            host.request(Method::PUT, url.clone())
                .header(CONTENT_TYPE, &manifest.media_type)
                .payload(Payload::Bytes(manifest.bytes.clone()))
        };
        let answer = self.send(&host, &Scope::push(name), request).await?;
        if answer.status().is_success() {
            Ok(())
        } else {
            Err(self.refusal(&host, "manifest", answer).await)
        }
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
