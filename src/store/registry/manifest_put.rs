//! Writing manifests, by digest or by tag.

use std::time::Duration;

use reqwest::Method;
use reqwest::header::{CONTENT_TYPE, IF_MATCH};

use super::answer;
use super::auth::Scope;
use super::manifest_rejection::ManifestRejection;
use super::{Error, Registry, Repository, RepositorySession};
use crate::http::{Answer, Payload, authority, retry_after};
use crate::oci::evidence::EVIDENCE;
use crate::oci::{INDEX, Part, RawManifest};
use crate::store::Action;

/// A request that writes a manifest.
pub(super) struct ManifestPut<'a> {
    pub(super) part: Part,
    /// The digest of the manifest, or a tag.
    pub(super) reference: &'a str,
    pub(super) manifest: &'a RawManifest,
    /// The `ETag` that the tag must have.
    pub(super) if_match: Option<&'a str>,
    /// Whether the request may be repeated without finding out first whether it took effect.
    pub(super) is_repeatable: bool,
}

/// The outcome of a [`ManifestPut`].
pub(super) enum PutOutcome {
    Written,
    /// A transient failure: the request may or may not have taken effect.
    Failed {
        /// How long the registry asks to wait.
        retry_after: Duration,
        error: Box<Error>,
    },
    Rejected {
        rejection: ManifestRejection,
        error: Box<Error>,
    },
}

impl Registry {
    /// Writes a manifest by its digest.
    pub(in crate::store) async fn put_manifest(
        &self,
        repository: &Repository,
        manifest: &RawManifest,
    ) -> Result<(), Error> {
        let part = match manifest.artifact_type.as_deref() {
            Some(EVIDENCE) => Part::Evidence,
            _ if manifest.media_type == INDEX => Part::Index,
            _ => Part::Manifest,
        };
        let put = ManifestPut {
            part,
            reference: &manifest.expected.digest.to_string(),
            manifest,
            if_match: None,
            is_repeatable: true,
        };
        match self.put(repository, &put).await? {
            PutOutcome::Written => Ok(()),
            PutOutcome::Failed { error, .. } | PutOutcome::Rejected { error, .. } => Err(*error),
        }
    }

    /// Sends a request that writes a manifest.
    pub(super) async fn put(
        &self,
        repository: &Repository,
        put: &ManifestPut<'_>,
    ) -> Result<PutOutcome, Error> {
        let (session, name) = self.locate(repository).await?;
        let url = session.url(name, &format!("manifests/{}", put.reference))?;
        let manifest = put.manifest;
        let request = || {
            let request = session
                .request(Method::PUT, url.clone())
                .header(CONTENT_TYPE, &manifest.media_type)
                .payload(Payload::Bytes(manifest.bytes.clone()));
            let request = match put.if_match {
                Some(etag) => request.header(IF_MATCH, etag),
                None => request,
            };
            match put.is_repeatable {
                true => request,
                false => request.unrepeated(),
            }
        };
        let scope = Scope::push(name);
        let answer = match self.send(&session, &scope, request).await {
            Ok(answer) if answer.status().is_success() => return Ok(PutOutcome::Written),
            Ok(answer) => answer,
            Err(Error::Http(error)) if error.is_transient() => {
                return Ok(PutOutcome::Failed {
                    retry_after: Duration::ZERO,
                    error: Box::new(error.into()),
                });
            }
            Err(error) => return Err(error),
        };
        let retry_after = retry_after(&answer);
        let reference = format!("{repository}:{}", put.reference);
        let (rejection, error) = rejection(&session, put.part, reference, answer);
        let error = Box::new(error);
        Ok(match retry_after {
            Some(retry_after) => PutOutcome::Failed { retry_after, error },
            None => PutOutcome::Rejected { rejection, error },
        })
    }
}

/// Why a registry rejects a manifest, and the error for it.
fn rejection(
    session: &RepositorySession,
    part: Part,
    reference: String,
    answer: Answer,
) -> (ManifestRejection, Error) {
    let (url, status) = (answer.url().clone(), answer.status().as_u16());
    let body = answer.into_body();
    let rejection = ManifestRejection::read(status, &body);
    let answer = answer::text(&body);
    if part == Part::Evidence && rejection == ManifestRejection::MediaType {
        session.cache().refuses_evidence = true;
    }
    let error = match rejection {
        ManifestRejection::MediaType => Error::Unwelcome {
            what: part,
            host: authority(&session.base).unwrap_or_default(),
            status,
            answer,
        },
        ManifestRejection::Immutable => Error::Immutable {
            reference,
            status,
            answer,
        },
        _ if status == 401 || status == 403 => {
            session.refused(Action::Push, "manifest", &url, status, &body)
        }
        _ => Error::Registry {
            what: "manifest",
            url: url.into(),
            status,
            answer,
        },
    };
    (rejection, error)
}
