//! Blobs: whether a repository has them, reading them from any offset, and writing them, by a mount from another repository of the registry or by an
//! [`Upload`].

use reqwest::Method;
use reqwest::header::RANGE;
use url::Url;

use super::scope::Scope;
use super::session::Session;
use super::upload::Upload;
use super::{Error, Registry};
use crate::blob::{self, BlobInfo, BlobLocation, BlobSource, Opened, ReadError};
use crate::event::Transfer;
use crate::http::{Answer, Request, SMALL};
use crate::oci::{LARGEST_READ, Repository};
use crate::release::Expected;
use crate::store::{PutError, Requested};

/// Whether to ask the registry for a blob before it is uploaded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lookup {
    /// Ask first: to send the blob costs more than the question.
    First,
    /// Upload at once: the blob is small, and the repository probably does not have it.
    Never,
}

impl Session {
    /// The size of a blob, or the expected one if the registry does not say it; `None` if there is no such blob.
    async fn size(&self, expected: &Expected, scope: Scope) -> Result<Option<u64>, Error> {
        let part = format!("blobs/{}", expected.digest);
        let answer = self.ask(Method::HEAD, &part, scope, |request| request);
        let found = self.found(Requested::Blob, answer.await?)?;
        Ok(found.map(|answer| answer.content_length().unwrap_or(expected.size)))
    }

    pub(in crate::store) async fn stored_size(
        &self,
        expected: &Expected,
    ) -> Result<Option<u64>, Error> {
        self.size(expected, Scope::pull(self.name())).await
    }

    pub(in crate::store) async fn has_blob(&self, expected: &Expected) -> Result<bool, Error> {
        let size = self.size(expected, Scope::push(self.name())).await?;
        Ok(size == Some(expected.size))
    }

    /// Writes a blob unless the repository has it.
    pub(in crate::store) async fn put_blob<B: BlobSource>(
        &self,
        blob: &B,
        lookup: Lookup,
    ) -> Result<Transfer, PutError<B::Failure>> {
        let BlobInfo {
            expected, location, ..
        } = blob.info();
        let (digest, name) = (expected.digest, self.name());
        if lookup == Lookup::First
            && self.known(&digest).0.is_none()
            && self.has_blob(&expected).await?
        {
            self.cache().blobs.insert(digest, name);
        }
        // While this task waited for its turn, another one may have uploaded the blob.
        let _turn = self.host.uploads.enter(digest).await;
        let (has_it, known) = self.known(&digest);
        if has_it == Some(true) {
            return Ok(Transfer::Present);
        }
        let from = location.and_then(|location| mount_source(&self.repository, location));
        let from = from.map(str::to_owned).or(known);
        let upload = Upload {
            session: self,
            blob,
            expected,
            from: from.as_deref(),
        };
        let mut put = upload.run().await?;
        if from.as_deref() == Some(name) && put == Transfer::Mounted {
            put = Transfer::Present;
        }
        self.cache().blobs.insert(digest, name);
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

/// A blob that each read requests anew, with `GET` and a range.
#[derive(Clone, Debug)]
pub struct RegistryBlob {
    pub(super) registry: Registry,
    pub(super) repository: Repository,
    pub(super) expected: Expected,
}

impl BlobSource for RegistryBlob {
    type Failure = Error;

    fn info(&self) -> BlobInfo<'_> {
        BlobInfo {
            location: Some(BlobLocation::InRegistry(&self.repository)),
            ..BlobInfo::of(self.expected)
        }
    }

    async fn open(&self, from: u64) -> Opened<Error> {
        let answer = self.request(from).await.map_err(|error| match error {
            Error::Http(error) => error.into(),
            error => ReadError::Source(error),
        })?;
        blob::received(answer.ok_or(blob::Error::Missing)?, from, None)
    }
}

impl RegistryBlob {
    /// The URL elsewhere that lets any client read the blob for a while, without credentials; `None` if it gives the bytes itself.
    ///
    /// # Errors
    /// The registry fails.
    pub async fn elsewhere(&self) -> Result<Option<Url>, Error> {
        let session = self.registry.session(&self.repository).await?;
        let (part, scope) = (self.part(), Scope::pull(session.name()));
        // A registry that gives the bytes itself sends one of them. `HEAD` would lead to a URL that is signed for `HEAD` alone.
        let first = |request: Request| request.unfollowed().header(RANGE, "bytes=0-0");
        let answer = session.ask(Method::GET, &part, scope, first).await?;
        let target = answer.redirect().transpose().ok().flatten();
        // Redirects within the registry need its authorization.
        let is_outside = |target: &Url| target.origin() != answer.url().origin();
        Ok(target.filter(|target| target.scheme() == "https" && is_outside(target)))
    }

    fn part(&self) -> String {
        format!("blobs/{}", self.expected.digest)
    }

    /// The answer to a request for the bytes from an offset on; `None` if there is no such blob.
    async fn request(&self, from: u64) -> Result<Option<Answer>, Error> {
        let session = self.registry.session(&self.repository).await?;
        let (part, scope) = (self.part(), Scope::pull(session.name()));
        let with = |request: Request| {
            // A small blob is read at once, so that it does not occupy one of the limited transfers.
            let request = match self.expected.size {
                0..=SMALL => request.whole(LARGEST_READ),
                _ => request.streaming(),
            };
            match from {
                0 => request,
                _ => request.header(RANGE, &format!("bytes={from}-")),
            }
        };
        let answer = session.ask(Method::GET, &part, scope, with).await?;
        session.found(Requested::Blob, answer)
    }
}
