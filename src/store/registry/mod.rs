//! OCI registries.
//!
//! Reading: tags page by page, manifests by tag or digest, blobs that resume where they were cut. Writing: a blob is mounted
//! where the registry has it, else one POST and one PUT of known length; manifests go by digest, and the tag last.
//! Everything that is read is checked against the digest by which it was asked for.
//!
//! A repository's name begins with its registry's host, so that one store serves whatever a template maps to.

mod answer;
mod auth;
mod upload;
mod wire;

use std::collections::{BTreeSet, HashMap};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use futures_util::TryStreamExt as _;
use reqwest::header::{ACCEPT, CONTENT_RANGE, CONTENT_TYPE, HeaderName, RANGE};
use reqwest::{Method, StatusCode};
use url::Url;

use super::{At, Error, Listing, Move, Put, ReadStore, Tagged, WriteStore};
use crate::blob::{self, BlobSource, Body, hold_back};
use crate::credentials::{Credential, Credentials};
use crate::digest::Digest;
use crate::disk;
use crate::event::Reporter;
use crate::http::{Answer, Http, Patience, Payload, Request, retrying};
use crate::oci::{INDEX, LARGEST_READ, MANIFEST, Part, RawManifest, Refusal, Repository, Tag};
use crate::release::Expected;
use auth::{Auth, Scope};

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

/// What all repositories of a registry share.
#[derive(Clone, Default)]
struct Host {
    scheme: auth::Learnt,
    seen: Arc<Mutex<Seen>>,
}

/// What was learnt of a registry in this run.
#[derive(Default)]
struct Seen {
    /// In which repositories blobs are: there they need not be looked for, and from there they can be mounted.
    blobs: HashMap<Digest, BTreeSet<String>>,
    /// Repositories that had no tag, in which nothing needs to be looked for.
    empty: BTreeSet<String>,
}

/// One repository of a registry, with the credential that is meant for it.
struct Session {
    base: Url,
    auth: Auth,
    seen: Arc<Mutex<Seen>>,
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

    /// Asks a registry whether it accepts a credential.
    ///
    /// # Errors
    /// It does not, or cannot be reached, or is no registry.
    pub async fn check(&self, host: &str, credential: &Credential) -> Result<(), Error> {
        let base = self.http.base(api_host(host))?;
        let shared = Host::default();
        let auth = Auth::new(
            self.http.clone(),
            base.clone(),
            Some(credential.clone()),
            shared.scheme,
        );
        let host = Session {
            base,
            auth,
            seen: shared.seen,
        };
        let url = host.base.join("v2/").map_err(|_| crate::http::Error::Url {
            url: host.base.clone().into(),
        })?;
        let request = || host.request(Method::GET, url.clone());
        let mut answer = self
            .send(&host, &Scope::none(), Patience::Repeatable, request)
            .await?;
        // A registry that lets everybody read has not looked at the credential yet.
        if answer.status().is_success()
            && !host.auth.was_challenged()
            && let Some(basic) = credential.basic()
        {
            let send = || {
                self.http
                    .send(request().secret(Some(basic.clone()), &host.base))
            };
            answer = retrying(Patience::Repeatable, send).await?;
        }
        if answer.status().is_success() {
            return Ok(());
        }
        Err(self.refusal(&host, "registry's version", answer).await)
    }

    /// The session for a repository, and the name that it has in its registry.
    async fn locate<'a>(
        &self,
        repository: &'a Repository,
    ) -> Result<(Arc<Session>, &'a str), Error> {
        let text = repository.as_str();
        let (host, name) = text.split_once('/').unwrap_or((text, ""));
        // Held while credentials are looked for, so that a helper program is asked once.
        let mut sessions = self.sessions.lock().await;
        if let Some(session) = sessions.get(text) {
            return Ok((Arc::clone(session), name));
        }
        let base = self.http.base(api_host(host))?;
        let credential = self.credentials.find(host, name).await?;
        let Host { scheme, seen } = self
            .hosts
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .entry(host.to_owned())
            .or_default()
            .clone();
        let auth = Auth::new(self.http.clone(), base.clone(), credential, scheme);
        let session = Arc::new(Session { base, auth, seen });
        sessions.insert(text.to_owned(), Arc::clone(&session));
        Ok((session, name))
    }

    /// Sends a request with whatever the registry wants to see, and asks again when it wants something else.
    async fn send(
        &self,
        host: &Session,
        scope: &Scope,
        patience: Patience,
        request: impl Fn() -> Request,
    ) -> Result<Answer, Error> {
        // Twice is enough: to learn what is wanted, and to renew a token that was withdrawn.
        for _ in 0..2 {
            let secret = host.auth.secret(scope).await?;
            let send = || self.http.send(request().secret(secret.clone(), &host.base));
            let answer = retrying(patience, send).await?;
            if answer.status() != StatusCode::UNAUTHORIZED
                || !host.auth.learn(&answer, scope, secret.as_ref()).await?
            {
                return Ok(answer);
            }
        }
        let secret = host.auth.secret(scope).await?;
        let send = || self.http.send(request().secret(secret.clone(), &host.base));
        Ok(retrying(patience, send).await?)
    }

    async fn refusal(&self, host: &Session, what: &'static str, answer: Answer) -> Error {
        let status = answer.status();
        if status == StatusCode::UNAUTHORIZED || status == StatusCode::FORBIDDEN {
            let body = answer.bytes(64 << 10).await.unwrap_or_default();
            return host.auth.refused(status.as_u16(), &body);
        }
        answer::failure(what, answer).await
    }
}

impl Session {
    fn seen(&self) -> MutexGuard<'_, Seen> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn remember(&self, digest: Digest, name: &str) {
        self.seen()
            .blobs
            .entry(digest)
            .or_default()
            .insert(name.to_owned());
    }

    /// Whether a repository has a blob, as far as that is known without asking.
    fn knows(&self, digest: &Digest, name: &str) -> Option<bool> {
        let seen = self.seen();
        let is_there = seen
            .blobs
            .get(digest)
            .is_some_and(|names| names.contains(name));
        if is_there {
            Some(true)
        } else {
            seen.empty.contains(name).then_some(false)
        }
    }

    /// Another repository that has a blob.
    fn elsewhere(&self, digest: &Digest, name: &str) -> Option<String> {
        let seen = self.seen();
        seen.blobs
            .get(digest)?
            .iter()
            .find(|other| *other != name)
            .cloned()
    }

    fn url(&self, name: &str, rest: &str) -> Result<Url, Error> {
        let path = format!("v2/{name}/{rest}");
        self.base.join(&path).map_err(|_| {
            crate::http::Error::Url {
                url: path.as_str().into(),
            }
            .into()
        })
    }

    fn request(&self, method: Method, url: Url) -> Request {
        Request::new(method, url, &self.base)
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
            let answer = self
                .send(&host, &scope, Patience::Repeatable, request)
                .await?;
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
        let answer = self
            .send(&host, &Scope::push(name), Patience::Repeatable, request)
            .await?;
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
                let from = host.elsewhere(&expected.digest, name);
                upload::put(self, &host, name, blob, from.as_deref()).await?
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
        let answer = self
            .send(&host, &Scope::pull(name), Patience::Repeatable, request)
            .await?;
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
        let answer = self
            .send(&host, &Scope::push(name), Patience::Repeatable, request)
            .await?;
        if answer.status().is_success() {
            Ok(())
        } else {
            Err(self.refusal(&host, "manifest", answer).await)
        }
    }
}

/// A blob of a registry.
#[derive(Clone)]
pub struct RegistryBlob {
    registry: Registry,
    repository: Repository,
    expected: Expected,
}

impl BlobSource for RegistryBlob {
    fn expected(&self) -> Expected {
        self.expected
    }

    fn can_be_cut(&self) -> bool {
        true
    }

    async fn open(&self, from: u64) -> Result<Body, blob::Error> {
        let answer = self.ask(from).await.map_err(|error| match error {
            Error::Missing { .. } => blob::Error::Missing,
            Error::Http(error) => blob::Error::Http(error),
            error => blob::Error::Store(Box::new(error)),
        })?;
        // A server that ignores the range sends everything; what came before is skipped.
        let skip = if answer.status() == StatusCode::PARTIAL_CONTENT {
            0
        } else {
            from
        };
        Ok(blob::skipping(
            Body::new(answer.chunks().map_err(blob::Error::Http)),
            skip,
        ))
    }
}

impl RegistryBlob {
    async fn ask(&self, from: u64) -> Result<Answer, Error> {
        let (host, name) = self.registry.locate(&self.repository).await?;
        let url = host.url(name, &format!("blobs/{}", self.expected.digest))?;
        let request = || {
            let request = host.request(Method::GET, url.clone());
            if from > 0 {
                request.header(RANGE, &format!("bytes={from}-"))
            } else {
                request
            }
        };
        let answer = self
            .registry
            .send(&host, &Scope::pull(name), Patience::Repeatable, request)
            .await?;
        let elsewhere =
            answer.status() == StatusCode::PARTIAL_CONTENT && begins_at(&answer) != Some(from);
        if from > 0 && (elsewhere || answer.status() == StatusCode::RANGE_NOT_SATISFIABLE) {
            // Not the bytes that were asked for: all of them, then.
            return Box::pin(self.ask(0)).await;
        }
        match answer.status() {
            StatusCode::NOT_FOUND => Err(Error::Missing {
                what: Part::Blob,
                digest: self.expected.digest,
            }),
            status if status.is_success() => Ok(answer),
            _ => Err(self.registry.refusal(&host, "blob", answer).await),
        }
    }
}

impl std::fmt::Debug for Registry {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Registry")
    }
}

/// Where a registry is spoken to: Docker Hub's name in references is not the host of its API (contract 2.3).
fn api_host(host: &str) -> &str {
    match host {
        "docker.io" | "index.docker.io" => "registry-1.docker.io",
        host => host,
    }
}

/// Where the bytes of a partial answer begin.
fn begins_at(answer: &Answer) -> Option<u64> {
    let range = answer.header(CONTENT_RANGE)?;
    range
        .trim()
        .strip_prefix("bytes")?
        .trim()
        .split('-')
        .next()?
        .parse()
        .ok()
}

/// The digest in an upload's URL.
fn with_digest(mut location: Url, digest: &Digest) -> Url {
    location
        .query_pairs_mut()
        .append_pair("digest", &digest.to_string());
    location
}
