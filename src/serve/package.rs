//! Streams packages from the store to clients.
//!
//! Packages pass in bounded memory, and only as fast as the client reads. The last chunk is sent only after all bytes matched the digest
//! ([`crate::blob::proven`]): if they do not match, the connection is closed before it, so a client never receives a complete wrong package.
//! A verified file is remembered: while it is unchanged, it is not hashed again. The state of the file is compared once more before its last
//! chunk is sent. Clients get the whole of a package, whatever `Range` says: `tofu` and `terraform` never send it.

use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use futures_util::{Stream, StreamExt as _, TryFutureExt as _, TryStreamExt as _, stream};
use hyper::header::{CACHE_CONTROL, CONTENT_LENGTH, CONTENT_TYPE, ETAG};
use hyper::http::request::Parts;
use hyper::{Method, StatusCode};
use moka::future::Cache;
use tokio::time::timeout;
use url::Url;

use super::answer::{self, Caching, Content, Piece, Response};
use super::settings::Context;
use crate::blob::{self, BlobLocation, BlobSource as _, ReadError, proven, verify};
use crate::digest::Digest;
use crate::disk::{self, FileState};
use crate::error::Category;
use crate::release::Package;
use crate::store::{self, StoreBlob};

/// How long an answer waits for the first bytes of the store. Clients wait for minutes.
const LONGEST_START: Duration = Duration::from_secs(60);

/// The most packages that are remembered, with a few hundred bytes each.
const MOST_REMEMBERED: u64 = 10_000;

/// Sends packages.
#[derive(Clone)]
pub(super) struct Packages {
    /// The files whose bytes were all verified, and the state of each then.
    verified: Cache<FileKey, FileState>,
    shared: Arc<Context>,
}

/// The digest of a package, and its file.
type FileKey = (Digest, PathBuf);

/// The URL of the storage behind an OCI registry, from which a client can read the package for a limited time without credentials; `None` if the
/// registry has none, or does not answer.
pub(super) async fn storage_url(package: &Package<StoreBlob>) -> Option<Url> {
    let StoreBlob::Registry(blob) = &package.location else {
        return None;
    };
    blob.elsewhere().await.ok().flatten()
}

impl Packages {
    pub(super) fn new(shared: Arc<Context>) -> Self {
        Self {
            verified: Cache::new(MOST_REMEMBERED),
            shared,
        }
    }

    /// Answers a `GET` or `HEAD` of a package.
    pub(super) async fn answer(
        &self,
        head: &Parts,
        package: &Package<StoreBlob>,
        caching: Caching,
    ) -> Response {
        let etag = answer::etag(&package.expected.digest);
        let mut answer = Response::new(Content::none());
        if answer::has(&head.headers, &etag) {
            *answer.status_mut() = StatusCode::NOT_MODIFIED;
        } else {
            answer::set(&mut answer, CONTENT_TYPE, "application/zip");
            let size = package.expected.size.to_string();
            answer::set(&mut answer, CONTENT_LENGTH, &size);
            if head.method == Method::GET {
                match self.content(package).await {
                    Ok(content) => *answer.body_mut() = content,
                    Err(failed) => return failed,
                }
            }
        }
        answer::set(&mut answer, ETAG, &etag);
        let caching = format!("{}, immutable", caching.header());
        answer::set(&mut answer, CACHE_CONTROL, &caching);
        answer
    }

    /// The bytes of a package. This waits for the first ones, so that a missing package leads to an error status and not to an incomplete body.
    async fn content(&self, package: &Package<StoreBlob>) -> Result<Content, Response> {
        // The state is read before the file is opened, so a later change leads to another state.
        let file = match package.location.info().location {
            Some(BlobLocation::InFile(path)) => {
                FileState::at(path).map(|state| ((package.expected.digest, path.to_owned()), state))
            }
            _ => None,
        };
        let is_verified = match &file {
            Some((key, state)) => self.verified.get(key).await.as_ref() == Some(state),
            None => false,
        };
        let left = package.expected.size;
        let transfer = Transfer {
            packages: self.clone(),
            package: package.clone(),
            file,
            is_verified,
            left,
        };
        let (this, package) = (self.clone(), package.clone());
        let pieces = transfer.open().try_flatten_stream();
        let pieces = pieces.inspect_err(move |error| this.report(&package, error));
        let mut pieces = pieces.boxed().peekable();
        match timeout(LONGEST_START, Pin::new(&mut pieces).peek()).await {
            Ok(Some(Err(error))) => return Err(failed(error)),
            Err(_) => return Err(answer::unavailable("the store does not answer")),
            Ok(_) => {}
        }
        let pieces = pieces.boxed();
        Ok(Content { pieces, left })
    }

    /// Reports a package that cannot be read.
    fn report(&self, package: &Package<StoreBlob>, error: &ReadError<store::Error>) {
        self.shared.metrics.package_failures.inc();
        let file = package.file_name.clone();
        let observer = &self.shared.observer;
        observer.fail("package-failed", "Failed", file, error, None);
    }
}

/// The answer about a package that cannot be read.
fn failed(error: &ReadError<store::Error>) -> Response {
    let category = match error {
        ReadError::Source(error) => error.category(),
        ReadError::Blob(error) => error.category(),
    };
    match category {
        Category::Untrusted | Category::NotFound => answer::text(
            StatusCode::BAD_GATEWAY,
            "the store does not have the package that it lists",
        ),
        _ => answer::unavailable("the package cannot be read from the store"),
    }
}

/// The transfer of a package.
struct Transfer {
    packages: Packages,
    package: Package<StoreBlob>,
    /// Its file in a layout, and the state of that before it was opened.
    file: Option<(FileKey, FileState)>,
    /// Whether the file was verified before. Otherwise the end proves the package.
    is_verified: bool,
    /// The bytes that are not read yet.
    left: u64,
}

impl Transfer {
    async fn open(self) -> Result<impl Stream<Item = Piece>, ReadError<store::Error>> {
        let bytes = match self.is_verified {
            true => self.package.location.open(0).await?,
            false => proven(&self.package.location).await?,
        };
        Ok(stream::unfold(
            (self, bytes),
            |(mut transfer, mut bytes)| async {
                let piece = transfer.next(&mut bytes).await?;
                Some((piece, (transfer, bytes)))
            },
        ))
    }

    /// The next piece. Before the last one is returned, the package is proven, or its file is compared with its state before.
    async fn next(&mut self, bytes: &mut blob::Body<store::Error>) -> Option<Piece> {
        if self.left == 0 {
            return None;
        }
        let mut piece = match bytes.next().await? {
            Ok(piece) => piece,
            Err(error) => return Some(Err(error)),
        };
        piece.truncate(usize::try_from(self.left).unwrap_or(usize::MAX));
        self.left -= piece.len() as u64;
        if self.left == 0
            && let Some((key, state)) = &self.file
        {
            if self.is_verified {
                let checked = self.check_unchanged(&key.1, state).await;
                return Some(checked.map(|()| piece));
            }
            // Otherwise the file may change and keep its state.
            if state.is_settled() {
                let verified = &self.packages.verified;
                verified.insert(key.clone(), state.clone()).await;
            }
        }
        Some(Ok(piece))
    }

    /// Fails if a file that was sent without hashing has changed since. Another program may have written to it meanwhile.
    async fn check_unchanged(
        &self,
        path: &Path,
        before: &FileState,
    ) -> Result<(), ReadError<store::Error>> {
        let now = FileState::at(path);
        if now.as_ref() == Some(before) {
            return Ok(());
        }
        if !now.is_some_and(|now| now.may_have_content_of(before)) {
            let path = path.to_owned();
            return Err(disk::Error::Changed { path }.into());
        }
        // Perhaps only a hard link was added, so the content decides.
        verify(&self.package.location).await
    }
}
