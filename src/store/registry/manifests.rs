//! Reading and writing manifests, by digest or by tag.

use std::time::Duration;

use futures_util::TryStreamExt as _;
use reqwest::header::{ACCEPT, CONTENT_TYPE, ETAG, HeaderName, IF_MATCH};
use reqwest::{Method, StatusCode};

use super::answer;
use super::auth::Scope;
use super::manifest_rejection::ManifestRejection;
use super::{At, Error, Registry, Repository, RepositorySession};
use crate::blob::{self, Body, ReadError};
use crate::digest::Digest;
use crate::http::{Answer, Payload, Request, Retry, authority, retry_after};
use crate::oci::{Descriptor, INDEX, LARGEST_READ, MANIFEST, Part, RawManifest, Refusal, Tag};
use crate::release::Expected;
use crate::store::Requested;

/// The header with the digest of a manifest.
const CONTENT_DIGEST: HeaderName = HeaderName::from_static("docker-content-digest");

/// How often a manifest is sent again because the registry does not know a blob: at once, and after a quarter of a second.
const UNKNOWN_BLOB_RETRIES: u32 = 2;

/// The manifest that a tag refers to.
pub(super) struct TagTarget {
    pub(super) digest: Digest,
    /// A strong `ETag`, for conditional requests.
    pub(super) etag: Option<String>,
}

/// A request that writes a manifest.
pub(super) struct ManifestPut<'a> {
    /// The digest of the manifest, or a tag.
    pub(super) reference: &'a str,
    pub(super) manifest: &'a RawManifest,
    /// The `ETag` that the tag must have.
    pub(super) if_match: Option<&'a str>,
    /// Whether the request may be repeated without finding out first whether it took effect.
    pub(super) is_repeatable: bool,
}

impl Registry {
    /// Reads a manifest and verifies its digest; `None` if there is no such manifest.
    pub(in crate::store) async fn manifest(
        &self,
        repository: &Repository,
        at: At<'_>,
    ) -> Result<Option<RawManifest>, Error> {
        let what = at.part();
        let (reference, accept, expected) = match at {
            At::Tag(tag) => (tag.to_string(), format!("{INDEX}, {MANIFEST}"), None),
            At::Entry(entry) => {
                let expected = entry.expected_of(what)?;
                (
                    entry.digest.clone(),
                    entry.media_type.clone(),
                    Some(expected),
                )
            }
        };
        let Some(mut answer) = self
            .request_manifest(Method::GET, repository, &reference, &accept)
            .await?
        else {
            return Ok(None);
        };
        let media_type = answer::media_type(&answer);
        let (bytes, expected) = match expected {
            None => body_by_tag(answer, what).await?,
            Some(expected) if expected.size > LARGEST_READ => {
                return Err(Refusal::TooLarge {
                    what,
                    limit: LARGEST_READ,
                    size: expected.size,
                }
                .into());
            }
            Some(expected) => {
                let body = Body::new(answer.chunks().map_err(ReadError::from));
                let bytes = blob::document(body, expected).await;
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

    /// Whether the registry has the manifest of an index entry, whose digest is valid.
    pub(in crate::store) async fn has_manifest(
        &self,
        repository: &Repository,
        entry: &Descriptor,
    ) -> Result<bool, Error> {
        let (digest, accept) = (&entry.digest, &entry.media_type);
        let found = self.request_manifest(Method::HEAD, repository, digest, accept);
        Ok(found.await?.is_some())
    }

    /// The digest that a tag refers to, see [`Registry::tag_target`].
    pub(in crate::store) async fn digest(
        &self,
        repository: &Repository,
        tag: &Tag,
    ) -> Result<Option<Digest>, Error> {
        let target = self.tag_target(repository, tag).await?;
        Ok(target.map(|target| target.digest))
    }

    /// The manifest that a tag refers to, without reading it; `None` if there is no such tag.
    pub(super) async fn tag_target(
        &self,
        repository: &Repository,
        tag: &Tag,
    ) -> Result<Option<TagTarget>, Error> {
        let accept = format!("{INDEX}, {MANIFEST}");
        let answer = self
            .request_manifest(Method::HEAD, repository, tag.as_str(), &accept)
            .await?;
        let Some(answer) = answer else {
            return Ok(None);
        };
        let digest = match named_digest(&answer) {
            Some(digest) => Some(digest),
            // The answer does not name the digest, so the manifest has to be read.
            None => self
                .manifest(repository, At::Tag(tag))
                .await?
                .map(|raw| raw.expected.digest),
        };
        // A weak `ETag` never matches in a conditional request (RFC 9110, 13.1.1).
        let etag = answer.header(ETAG).filter(|etag| etag.starts_with('"'));
        Ok(digest.map(|digest| TagTarget { digest, etag }))
    }

    /// Writes a manifest by its digest.
    pub(in crate::store) async fn put_manifest(
        &self,
        repository: &Repository,
        manifest: &RawManifest,
    ) -> Result<(), Error> {
        let put = ManifestPut {
            reference: &manifest.expected.digest.to_string(),
            manifest,
            if_match: None,
            is_repeatable: true,
        };
        let rejected = self.put(repository, &put).await?;
        rejected.map_or(Ok(()), |(_, error)| Err(error))
    }

    /// Writes a manifest, or tells why the registry did not take it. While another writer stores a blob that the repository has, docker-registry may not
    /// know that blob for a moment. The request is then repeated.
    pub(super) async fn put(
        &self,
        repository: &Repository,
        put: &ManifestPut<'_>,
    ) -> Result<Option<(ManifestRejection, Error)>, Error> {
        let (session, name) = self.locate(repository).await?;
        let url = session.url(name, &format!("manifests/{}", put.reference))?;
        let request = || {
            let mut request = Request::new(Method::PUT, url.clone(), &session.base)
                .header(CONTENT_TYPE, &put.manifest.media_type)
                .payload(Payload::Bytes(put.manifest.bytes.clone()));
            if let Some(etag) = put.if_match {
                request = request.header(IF_MATCH, etag);
            }
            match put.is_repeatable {
                true => request,
                false => request.unrepeated(),
            }
        };
        let scope = Scope::push(name);
        let mut retry = Retry::of_conflicts(UNKNOWN_BLOB_RETRIES);
        loop {
            let (rejection, error) = match self.send(&session, &scope, request).await {
                Ok(answer) if answer.status().is_success() => {
                    if put.manifest.part() == Part::Evidence {
                        session.cache().takes_evidence = Some(true);
                    }
                    return Ok(None);
                }
                Ok(answer) => rejection(&session, repository, put, &answer),
                Err(Error::Http(error)) if error.is_transient() => {
                    (ManifestRejection::Unclear(Duration::ZERO), error.into())
                }
                Err(error) => return Err(error),
            };
            if rejection != ManifestRejection::UnknownBlob || !retry.wait_quietly().await {
                return Ok(Some((rejection, error)));
            }
        }
    }

    /// Deletes a manifest with all of its tags, unless it is gone already.
    pub(in crate::store) async fn delete(
        &self,
        repository: &Repository,
        digest: &Digest,
    ) -> Result<(), Error> {
        let (session, name) = self.locate(repository).await?;
        let url = session.url(name, &format!("manifests/{digest}"))?;
        let request = || Request::new(Method::DELETE, url.clone(), &session.base);
        let answer = self.send(&session, &Scope::delete(name), request).await?;
        match answer.status() {
            StatusCode::NOT_FOUND => Ok(()),
            status if status.is_success() => Ok(()),
            StatusCode::METHOD_NOT_ALLOWED => Err(Error::NoDeletion {
                host: authority(&session.base).unwrap_or_default(),
                answer: answer::text(&answer),
            }),
            _ => Err(session.refusal(Requested::Deletion, &answer)),
        }
    }

    /// Requests a manifest; `None` if there is no such manifest.
    async fn request_manifest(
        &self,
        method: Method,
        repository: &Repository,
        reference: &str,
        accept: &str,
    ) -> Result<Option<Answer>, Error> {
        let (session, name) = self.locate(repository).await?;
        let url = session.url(name, &format!("manifests/{reference}"))?;
        let request = || {
            Request::new(method.clone(), url.clone(), &session.base)
                .header(ACCEPT, accept)
                .whole(LARGEST_READ)
        };
        let answer = self.send(&session, &Scope::pull(name), request).await?;
        match answer.status() {
            StatusCode::NOT_FOUND => Ok(None),
            status if status.is_success() => Ok(Some(answer)),
            _ => Err(session.refusal(Requested::Manifest, &answer)),
        }
    }
}

/// The body of a manifest that was requested by its tag, and its digest. If the registry names a SHA-256, it must match.
async fn body_by_tag(answer: Answer, what: Part) -> Result<(Vec<u8>, Expected), Error> {
    let named = named_digest(&answer);
    let bytes = answer.into_body();
    let expected = Expected::of(&bytes);
    match named.filter(|named| *named != expected.digest) {
        None => Ok((bytes, expected)),
        Some(named) => {
            let source = blob::Error::Digest {
                expected: named,
                received: expected.digest,
            };
            Err(Error::reading(what, named, source))
        }
    }
}

/// The SHA-256 of a manifest that an answer names.
fn named_digest(answer: &Answer) -> Option<Digest> {
    let named: Digest = answer.header(CONTENT_DIGEST)?.parse().ok()?;
    named.sha256().is_some().then_some(named)
}

/// Why a registry rejects a manifest, and the error for it.
fn rejection(
    session: &RepositorySession,
    repository: &Repository,
    put: &ManifestPut<'_>,
    answer: &Answer,
) -> (ManifestRejection, Error) {
    let status = answer.status().as_u16();
    let rejection = ManifestRejection::read(status, answer.body());
    let part = put.manifest.part();
    if part == Part::Evidence && rejection == ManifestRejection::MediaType {
        session.cache().takes_evidence = Some(false);
    }
    let error = match rejection {
        ManifestRejection::MediaType => Error::Unwelcome {
            what: part,
            host: authority(&session.base).unwrap_or_default(),
            status,
            answer: answer::text(answer),
        },
        ManifestRejection::Immutable => Error::Immutable {
            repository: repository.clone(),
            reference: put.reference.to_owned(),
            status,
            answer: answer::text(answer),
        },
        _ => session.refusal(Requested::NewManifest, answer),
    };
    let unclear = retry_after(answer).map(ManifestRejection::Unclear);
    (unclear.unwrap_or(rejection), error)
}
