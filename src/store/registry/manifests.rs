//! Manifests: reading, and writing by digest or by tag.

use std::time::Duration;

use futures_util::TryStreamExt as _;
use reqwest::header::{ACCEPT, CONTENT_TYPE, ETAG, HeaderName, IF_MATCH};
use reqwest::{Method, StatusCode};

use super::answer::{self, LARGEST_ERROR};
use super::auth::Scope;
use super::objection::Objection;
use super::{At, Error, Registry, Repository, Session};
use crate::blob::{self, Body, hold_back};
use crate::digest::Digest;
use crate::http::{Answer, Payload, authority, wish};
use crate::oci::evidence::EVIDENCE;
use crate::oci::{INDEX, LARGEST_READ, MANIFEST, Part, RawManifest, Refusal, Tag};
use crate::release::Expected;

/// How a registry says the digest of what a tag stands for.
const CONTENT_DIGEST: HeaderName = HeaderName::from_static("docker-content-digest");

/// What a tag stands for.
pub(super) struct Standing {
    pub(super) digest: Digest,
    /// By which a registry can tell whether it still does.
    pub(super) etag: Option<String>,
}

/// A manifest on its way into a registry.
pub(super) struct Writing<'a> {
    pub(super) what: Part,
    /// Its digest, or a tag.
    pub(super) reference: &'a str,
    pub(super) manifest: &'a RawManifest,
    /// The `ETag` of what the tag must stand for.
    pub(super) only_if: Option<&'a str>,
    /// Whether it may be sent again without looking what became of it.
    pub(super) is_repeatable: bool,
}

/// What came of writing a manifest.
pub(super) enum Written {
    Done,
    /// The registry is not well: whether it was done is not known.
    Failing {
        wish: Duration,
        error: Box<Error>,
    },
    Refused {
        objection: Objection,
        error: Box<Error>,
    },
}

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
            None => named_by_tag(answer, what).await?,
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

    /// Where a tag stands, without reading what is there; `None` if there is no such tag.
    pub(super) async fn standing(
        &self,
        repository: &Repository,
        tag: &Tag,
    ) -> Result<Option<Standing>, Error> {
        let accept = format!("{INDEX}, {MANIFEST}");
        let answer = self
            .ask_manifest(Method::HEAD, repository, tag.as_str(), &accept)
            .await?;
        let Some(answer) = answer else {
            return Ok(None);
        };
        let digest = match said_digest(&answer) {
            Some(digest) => Some(digest),
            // A registry that does not say it has to be read.
            None => self
                .read_manifest(repository, At::Tag(tag))
                .await?
                .map(|raw| raw.expected.digest),
        };
        // A weak one matches nothing (RFC 9110, 13.1.1).
        let etag = answer.header(ETAG).filter(|etag| etag.starts_with('"'));
        Ok(digest.map(|digest| Standing { digest, etag }))
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
        let answer = self.send(&host, &Scope::pull(name), request).await?;
        match answer.status() {
            StatusCode::NOT_FOUND => Ok(None),
            status if status.is_success() => Ok(Some(answer)),
            _ => Err(self.refusal(&host, "manifest", answer).await),
        }
    }

    /// Writes a manifest by its digest.
    pub(super) async fn write_manifest(
        &self,
        repository: &Repository,
        manifest: &RawManifest,
    ) -> Result<(), Error> {
        let what = match manifest.artifact_type.as_deref() {
            Some(EVIDENCE) => Part::Evidence,
            _ if manifest.media_type == INDEX => Part::Index,
            _ => Part::Manifest,
        };
        let writing = Writing {
            what,
            reference: &manifest.expected.digest.to_string(),
            manifest,
            only_if: None,
            is_repeatable: true,
        };
        match self.write(repository, &writing).await? {
            Written::Done => Ok(()),
            Written::Failing { error, .. } | Written::Refused { error, .. } => Err(*error),
        }
    }

    /// Writes a manifest.
    pub(super) async fn write(
        &self,
        repository: &Repository,
        writing: &Writing<'_>,
    ) -> Result<Written, Error> {
        let (host, name) = self.locate(repository).await?;
        let url = host.url(name, &format!("manifests/{}", writing.reference))?;
        let Writing { manifest, .. } = writing;
        let request = || {
            let request = host
                .request(Method::PUT, url.clone())
                .header(CONTENT_TYPE, &manifest.media_type)
                .payload(Payload::Bytes(manifest.bytes.clone()));
            match writing.only_if {
                Some(etag) => request.header(IF_MATCH, etag),
                None => request,
            }
        };
        let scope = Scope::push(name);
        let sent = match writing.is_repeatable {
            true => self.send(&host, &scope, request).await,
            false => self.send_once(&host, &scope, request).await,
        };
        let answer = match sent {
            Ok(answer) if answer.status().is_success() => return Ok(Written::Done),
            Ok(answer) => answer,
            Err(Error::Http(error)) if error.is_passing() => {
                let (wish, error) = (Duration::ZERO, Box::new(error.into()));
                return Ok(Written::Failing { wish, error });
            }
            Err(error) => return Err(error),
        };
        let failing = wish(&answer);
        let reference = format!("{repository}:{}", writing.reference);
        let (objection, error) = objection(&host, writing.what, reference, answer).await;
        let error = Box::new(error);
        Ok(match failing {
            Some(wish) => Written::Failing { wish, error },
            None => Written::Refused { objection, error },
        })
    }
}

/// The document under a tag, with its digest. Only SHA-256 is compared with what the registry says: what clients resolve tags to.
async fn named_by_tag(answer: Answer, what: Part) -> Result<(Vec<u8>, Expected), Error> {
    let said = said_digest(&answer);
    let bytes = answer.bytes(LARGEST_READ).await?;
    let expected = Expected::of(&bytes);
    match said.filter(|said| *said != expected.digest) {
        None => Ok((bytes, expected)),
        Some(said) => {
            let source = blob::Error::Digest {
                expected: said,
                received: expected.digest,
            };
            Err(Error::reading(what, said, source))
        }
    }
}

/// The SHA-256 that a registry says a manifest has.
fn said_digest(answer: &Answer) -> Option<Digest> {
    let said: Digest = answer.header(CONTENT_DIGEST)?.parse().ok()?;
    said.sha256().is_some().then_some(said)
}

/// What a registry has against a manifest, and the error that it is.
async fn objection(
    host: &Session,
    what: Part,
    reference: String,
    answer: Answer,
) -> (Objection, Error) {
    let (url, status) = (answer.url().clone(), answer.status().as_u16());
    let body = answer.bytes(LARGEST_ERROR).await.unwrap_or_default();
    let (objection, answer) = (Objection::read(status, &body), answer::text(&body));
    if what == Part::Evidence && objection == Objection::Types {
        host.seen().refuses_evidence = true;
    }
    let error = match objection {
        Objection::Types => Error::Unwelcome {
            what,
            host: authority(&host.base).unwrap_or_default(),
            status,
            answer,
        },
        Objection::Immutable => Error::Immutable {
            reference,
            status,
            answer,
        },
        _ if status == 401 || status == 403 => host.refused("manifest", &url, status, &body),
        _ => Error::Registry {
            what: "manifest",
            url: url.into(),
            status,
            answer,
        },
    };
    (objection, error)
}
