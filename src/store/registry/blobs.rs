//! Blobs: whether a repository has them, and writing them, by a mount from another repository of the registry or by an [`Upload`].
//!
//! An upload is one POST and one PUT of known length. Some registries abort a long PUT, and some proxies in front of registries
//! refuse it. The blob is then uploaded in chunks ([`ChunkedUpload`]): from the start if the registry is known to need them, and
//! never if it is known to corrupt them.

use reqwest::{Method, StatusCode};

use super::auth::Scope;
use super::upload::Upload;
use super::{Error, Registry, Repository};
use crate::blob::{BlobInfo, BlobLocation, BlobSource};
use crate::event::{Event, Transfer};
use crate::http::Request;
use crate::release::Expected;
use crate::store::{PutError, Requested};

/// Whether to ask the registry for a blob before it is uploaded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lookup {
    /// Ask first: to send the blob costs more than the question.
    First,
    /// Upload at once: the repository probably lacks the blob, which is small.
    Never,
}

impl Registry {
    /// The size of a blob, or the expected one if the registry does not say it; `None` if there is no such blob.
    pub(in crate::store) async fn stored_size(
        &self,
        repository: &Repository,
        expected: &Expected,
    ) -> Result<Option<u64>, Error> {
        self.size(repository, expected, Scope::pull).await
    }

    async fn size(
        &self,
        repository: &Repository,
        expected: &Expected,
        scope: impl FnOnce(&str) -> Scope,
    ) -> Result<Option<u64>, Error> {
        let (session, name) = self.locate(repository).await?;
        let url = session.url(name, &format!("blobs/{}", expected.digest))?;
        let request = || Request::new(Method::HEAD, url.clone(), &session.base);
        let answer = self.send(&session, &scope(name), request).await?;
        match answer.status() {
            StatusCode::NOT_FOUND => Ok(None),
            status if status.is_success() => Ok(answer.content_length().or(Some(expected.size))),
            _ => Err(session.refusal(Requested::Blob, &answer)),
        }
    }

    pub(in crate::store) async fn has_blob(
        &self,
        repository: &Repository,
        expected: &Expected,
    ) -> Result<bool, Error> {
        let size = self.size(repository, expected, Scope::push).await?;
        Ok(size == Some(expected.size))
    }

    /// Writes a blob unless the repository has it.
    pub(in crate::store) async fn put_blob<B: BlobSource>(
        &self,
        repository: &Repository,
        blob: &B,
        lookup: Lookup,
    ) -> Result<Transfer, PutError<B::Failure>> {
        let BlobInfo {
            expected, location, ..
        } = blob.info();
        let digest = expected.digest;
        let (session, name) = self.locate(repository).await?;
        if lookup == Lookup::First
            && session.known(&digest, name).0.is_none()
            && self.has_blob(repository, &expected).await?
        {
            session.cache().blobs.insert(digest, name);
        }
        // While this task waited for its turn, another one may have uploaded the blob.
        let _turn = session.host.uploads.enter(digest).await;
        let (has_it, known) = session.known(&digest, name);
        if has_it == Some(true) {
            return Ok(Transfer::Present);
        }
        let from = location.and_then(|location| mount_source(repository, location));
        let from = from.map(str::to_owned).or(known);
        let upload = Upload {
            registry: self,
            session: &session,
            repository,
            name,
            blob,
            expected,
            from: from.as_deref(),
        };
        let mut put = upload.run().await?;
        if from.as_deref() == Some(name) {
            if put == Transfer::Mounted {
                put = Transfer::Present;
            }
        } else if let Some(from) = from {
            let shared = put == Transfer::Mounted;
            self.http.report(Event::Mounting {
                digest,
                from,
                shared,
            });
        }
        session.cache().blobs.insert(digest, name);
        Ok(put)
    }
}

/// The name of the repository that a blob is copied from, if it belongs to the same registry.
fn mount_source<'a>(repository: &Repository, location: BlobLocation<'a>) -> Option<&'a str> {
    let BlobLocation::InRegistry(other) = location else {
        return None;
    };
    let (host, name) = other.host_and_name();
    let (here, ours) = repository.host_and_name();
    (host == here && name != ours).then_some(name)
}
