//! Manifests: reading, and writing by digest or by tag.

use futures_util::TryStreamExt as _;
use reqwest::header::{ACCEPT, CONTENT_TYPE, HeaderName};
use reqwest::{Method, StatusCode};

use super::auth::Scope;
use super::{At, Error, Registry, Repository, answer};
use crate::blob::{self, Body, hold_back};
use crate::digest::Digest;
use crate::http::{Answer, Patience, Payload};
use crate::oci::{INDEX, LARGEST_READ, MANIFEST, RawManifest, Refusal, Tag};
use crate::release::Expected;

/// How a registry says the digest of what a tag stands for.
const CONTENT_DIGEST: HeaderName = HeaderName::from_static("docker-content-digest");

impl Registry {
    /// Reads a manifest, and checks that it is the one that was asked for; `None` if it is not there.
    pub(super) async fn read_manifest(
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

    /// Where a tag stands.
    pub(super) async fn stands(
        &self,
        repository: &Repository,
        tag: &Tag,
    ) -> Result<Option<Digest>, Error> {
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
                .read_manifest(repository, At::Tag(tag))
                .await?
                .map(|raw| raw.expected.digest)),
        }
    }

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

    /// Writes a manifest by its digest, or by a tag.
    pub(super) async fn write_manifest(
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
