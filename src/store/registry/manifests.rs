//! Reading and writing manifests, by digest or by tag.

use std::time::Duration;

use futures_util::TryStreamExt as _;
use reqwest::header::{ACCEPT, CONTENT_TYPE, HeaderName};
use reqwest::{Method, StatusCode};

use super::answer;
use super::scope::Scope;
use super::session::Session;
use super::{At, Error};
use crate::blob::{self, Body, ReadError};
use crate::digest::Digest;
use crate::http::{Answer, Payload, Request, Retry, retry_after};
use crate::oci::{Descriptor, LARGEST_READ, Part, RawManifest, Refusal, Tag};
use crate::release::Expected;
use crate::store::{Declined, Requested};

/// The header with the digest of a manifest.
const CONTENT_DIGEST: HeaderName = HeaderName::from_static("docker-content-digest");

/// What clients accept where a tag leads to.
const BOTH: &str =
    "application/vnd.oci.image.index.v1+json, application/vnd.oci.image.manifest.v1+json";

/// How often a manifest is sent again because the registry does not know a blob: at once, and after a quarter of a second.
const UNKNOWN_BLOB_RETRIES: u32 = 2;

/// A request that writes a manifest.
pub(super) struct ManifestPut<'a> {
    /// The digest of the manifest, or a tag.
    pub(super) reference: &'a str,
    pub(super) manifest: &'a RawManifest,
    /// Whether the request may be repeated without finding out first whether it took effect.
    pub(super) is_repeatable: bool,
}

impl Session {
    /// Reads a manifest and verifies its digest; `None` if there is no such manifest.
    pub(in crate::store) async fn manifest(
        &self,
        at: At<'_>,
    ) -> Result<Option<RawManifest>, Error> {
        let what = at.part();
        let expected = match at {
            At::Tag(_) => None,
            At::Entry(entry) => Some(entry.expected_of(what)?),
        };
        let answer = match at {
            At::Tag(tag) => self.ask_manifest(Method::GET, tag.as_str(), BOTH).await?,
            At::Entry(Descriptor {
                digest, media_type, ..
            }) => self.ask_manifest(Method::GET, digest, media_type).await?,
        };
        let Some(mut answer) = answer else {
            return Ok(None);
        };
        let media_type = answer::media_type(&answer);
        let (bytes, expected) = match expected {
            None => body_by_tag(answer, what).await?,
            Some(expected) => {
                Refusal::check_size(what, LARGEST_READ, expected.size)?;
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

    /// The digest of the manifest that a tag refers to, without reading it; `None` if there is no such tag.
    pub(in crate::store) async fn digest(&self, tag: &Tag) -> Result<Option<Digest>, Error> {
        let answer = self.ask_manifest(Method::HEAD, tag.as_str(), BOTH).await?;
        let Some(answer) = answer else {
            return Ok(None);
        };
        if let Some(digest) = named_digest(&answer) {
            return Ok(Some(digest));
        }
        // The answer does not name the digest, so the manifest has to be read.
        let read = self.manifest(At::Tag(tag)).await?;
        Ok(read.map(|raw| raw.expected.digest))
    }

    /// Writes a manifest by its digest.
    pub(in crate::store) async fn put_manifest(&self, manifest: &RawManifest) -> Result<(), Error> {
        let put = ManifestPut {
            reference: &manifest.expected.digest.to_string(),
            manifest,
            is_repeatable: true,
        };
        let rejected = self.put(&put).await?;
        rejected.map_or(Ok(()), |(_, error)| Err(error))
    }

    /// Writes a manifest, or tells why the registry did not take it. While another writer stores a blob that the repository has, docker-registry may not
    /// know that blob for a moment. The request is then repeated.
    pub(super) async fn put(
        &self,
        put: &ManifestPut<'_>,
    ) -> Result<Option<(ManifestRejection, Error)>, Error> {
        let url = self.url(&format!("manifests/{}", put.reference))?;
        let request = || {
            let request = Request::new(Method::PUT, url.clone(), &self.base)
                .header(CONTENT_TYPE, &put.manifest.media_type)
                .payload(Payload::Bytes(put.manifest.bytes.clone()));
            match put.is_repeatable {
                true => request,
                false => request.unrepeated(),
            }
        };
        let scope = Scope::push(self.name());
        let mut retry = Retry::new(UNKNOWN_BLOB_RETRIES);
        loop {
            let (rejection, error) = match self.send(&scope, request).await {
                Ok(answer) if answer.status().is_success() => {
                    if put.manifest.part() == Part::Evidence {
                        self.cache().takes_evidence = Some(true);
                    }
                    return Ok(None);
                }
                Ok(answer) => self.rejection(put, &answer),
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
    pub(in crate::store) async fn delete(&self, digest: &Digest) -> Result<(), Error> {
        let (part, scope) = (format!("manifests/{digest}"), Scope::delete(self.name()));
        let answer = self.ask(Method::DELETE, &part, scope, |request| request);
        let answer = answer.await?;
        if answer.status() == StatusCode::METHOD_NOT_ALLOWED {
            return Err(answer::declined(Declined::Deletion, &answer));
        }
        self.found(Requested::Manifest, answer).map(drop)
    }

    /// Requests a manifest; `None` if there is no such manifest.
    async fn ask_manifest(
        &self,
        method: Method,
        reference: &str,
        accept: &str,
    ) -> Result<Option<Answer>, Error> {
        let (part, scope) = (format!("manifests/{reference}"), Scope::pull(self.name()));
        let with = |request: Request| request.header(ACCEPT, accept).whole(LARGEST_READ);
        let answer = self.ask(method, &part, scope, with).await?;
        self.found(Requested::Manifest, answer)
    }

    /// Why the registry rejects a manifest, and the error for it.
    fn rejection(&self, put: &ManifestPut<'_>, answer: &Answer) -> (ManifestRejection, Error) {
        let rejection = ManifestRejection::read(answer.status().as_u16(), answer.body());
        let part = put.manifest.part();
        if part == Part::Evidence && rejection == ManifestRejection::MediaType {
            self.cache().takes_evidence = Some(false);
        }
        let error = match rejection {
            ManifestRejection::MediaType => answer::declined(Declined::MediaType(part), answer),
            ManifestRejection::Immutable => {
                let (repository, reference) = (self.repository.clone(), put.reference.to_owned());
                answer::declined(Declined::TagMove(repository, reference), answer)
            }
            _ => self.refusal(Requested::Manifest, answer),
        };
        let unclear = retry_after(answer).map(ManifestRejection::Unclear);
        (unclear.unwrap_or(rejection), error)
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
    answer.header(CONTENT_DIGEST)?.parse().ok()
}

/// Why a registry rejects a manifest. The OCI distribution specification has one error code for it, `MANIFEST_INVALID`; registries answer differently:
///
/// | | media types | immutable tags |
/// | --- | --- | --- |
/// | GitLab | 400 `MANIFEST_INVALID`, "unknown media type" | |
/// | Quay | 415, or 400 `MANIFEST_INVALID` | |
/// | ECR | 405 `UNSUPPORTED` | 400 `TAG_INVALID`, `ImageTagAlreadyExistsException` |
/// | Harbor | | 412 or 403, "configured as immutable" |
/// | Nexus | | 400, "does not allow updating" |
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ManifestRejection {
    /// The registry does not support its media types.
    MediaType,
    /// The tag exists, and the registry does not allow to change it.
    Immutable,
    /// A transient failure, with how long the registry asks to wait: the request may or may not have taken effect.
    Unclear(Duration),
    /// It refers to a blob that the repository does not have.
    UnknownBlob,
    /// Any other reason.
    Other,
}

impl ManifestRejection {
    /// Reads the answer to a request that wrote a manifest.
    pub(super) fn read(status: u16, body: &[u8]) -> Self {
        let has = |codes: &[&str]| answer::has_code(body, codes);
        let text = String::from_utf8_lossy(body).to_lowercase();
        let says = |words: &[&str]| words.iter().any(|words| text.contains(words));
        let immutable = [
            "immutab",
            "imagetagalreadyexists",
            "cannot be overwritten",
            "does not allow updating",
        ];
        let is_about_media_types = || {
            has(&["MANIFEST_INVALID", "UNSUPPORTED"])
                || says(&["media type", "mediatype", "artifact type", "artifacttype"])
        };
        match status {
            400 | 403 | 405 | 409 | 412 if says(&immutable) => Self::Immutable,
            // A missing blob has the same status.
            400 | 404 | 422 if has(&["MANIFEST_BLOB_UNKNOWN", "BLOB_UNKNOWN"]) => Self::UnknownBlob,
            // Quay reports missing blobs under the code that other registries use for media types.
            400 | 404 | 422 if says(&["unknown blob", "blob unknown"]) => Self::UnknownBlob,
            405 | 415 => Self::MediaType,
            400 | 406 | 422 if is_about_media_types() => Self::MediaType,
            _ => Self::Other,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::ManifestRejection::{Immutable, MediaType, Other, UnknownBlob};
    use super::*;

    #[track_caller]
    fn assert_read(status: u16, [code, message]: [&str; 2], expected: ManifestRejection) {
        let body = serde_json::json!({"errors": [{"code": code, "message": message}]});
        let read = ManifestRejection::read(status, body.to_string().as_bytes());
        assert_eq!(read, expected, "{status} {code} {message}");
    }

    #[test]
    fn unsupported_media_types() {
        let unknown = "unknown media type: text/plain";
        assert_read(400, ["MANIFEST_INVALID", unknown], MediaType);
        assert_read(400, ["UNKNOWN", unknown], MediaType);
        assert_read(415, ["MANIFEST_INVALID", "schema unsupported"], MediaType);
        assert_read(405, ["UNSUPPORTED", "Invalid parameter"], MediaType);
        assert_eq!(
            ManifestRejection::read(400, b"unsupported mediaType\n"),
            MediaType
        );
    }

    #[test]
    fn immutable_tags() {
        let ecr = "The image tag '1.0.0' already exists in the 'acme/demo' repository and cannot be overwritten because the repository is immutable.";
        let harbor = "Failed to process request due to 'acme/demo:1.0.0' configured as immutable.";
        let nexus = "repository does not allow updating assets";
        assert_read(400, ["TAG_INVALID", ecr], Immutable);
        assert_read(400, ["ImageTagAlreadyExistsException", ""], Immutable);
        assert_read(403, ["DENIED", harbor], Immutable);
        assert_read(409, ["CONFLICT", harbor], Immutable);
        assert_read(412, ["PRECONDITION", harbor], Immutable);
        assert_read(400, ["UNKNOWN", nexus], Immutable);
        assert_read(412, ["PRECONDITION", "the tag was moved"], Other);
    }

    #[test]
    fn other_reasons() {
        let unknown = "blob unknown to registry";
        assert_read(400, ["MANIFEST_BLOB_UNKNOWN", unknown], UnknownBlob);
        assert_read(404, ["MANIFEST_BLOB_UNKNOWN", unknown], UnknownBlob);
        assert_read(
            400,
            ["MANIFEST_INVALID", "Unknown blob `sha256:0`"],
            UnknownBlob,
        );
        assert_read(400, ["TAG_INVALID", "the tag has a wrong form"], Other);
        assert_read(400, ["", "it went wrong"], Other);
        assert_read(403, ["DENIED", "access is denied"], Other);
        assert_read(404, ["NAME_UNKNOWN", "there is no media type"], Other);
        assert_read(500, ["MANIFEST_INVALID", "unknown media type"], Other);
        assert_eq!(ManifestRejection::read(400, b""), Other);
    }
}
