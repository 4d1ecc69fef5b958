//! Streams packages from the store to clients.
//!
//! Packages pass in bounded memory, and only as fast as the client reads. The last chunk is sent only after all bytes matched the digest
//! ([`crate::blob::proven`]): if they do not match, the connection is closed before it, so a client never receives a complete wrong package.
//! A verified package is remembered: ranges of it are then read from their offset, and an unchanged file is not hashed again. The state of the
//! file is compared once more before its last chunk is sent. A range of a file that is not remembered is sent after all of it was verified.
//! Packages in bundles are not remembered, so that clients get the whole of them.
//!
//! A range of a remembered package in an OCI registry is sent without verification: the digest covers the whole, and reading all of it for
//! every range would cost the registry more than the client. A registry that sent the right bytes once could send others later. This does no
//! harm: `tofu` and `terraform` never send `Range`, and a client that resumes a download has to compare the whole with the `zh` hash of the
//! documents in any case, because the first part may have another source.

use std::ops::Range;
use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use futures_util::{Stream, StreamExt as _, TryFutureExt as _, TryStreamExt as _, stream};
use hyper::header::{
    ACCEPT_RANGES, CACHE_CONTROL, CONTENT_LENGTH, CONTENT_RANGE, CONTENT_TYPE, ETAG, IF_RANGE,
    RANGE,
};
use hyper::http::request::Parts;
use hyper::{HeaderMap, Method, StatusCode};
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
    /// The packages whose bytes were all verified, by digest and file, and the state of the file then. A package of an OCI registry has no file.
    verified: Cache<(Digest, Option<PathBuf>), Option<FileState>>,
    shared: Arc<Context>,
}

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
        let size = package.expected.size;
        let etag = answer::etag(&package.expected.digest);
        let Ok(range) = requested(&head.headers, size, &etag) else {
            let (message, range) = ("the package has no such bytes", format!("bytes */{size}"));
            let status = StatusCode::RANGE_NOT_SATISFIABLE;
            return answer::with(status, message, CONTENT_RANGE, &range);
        };
        // The state is read before the file is opened, so a later change leads to another state.
        let state = file(package).and_then(FileState::at);
        let is_known = self.verified.get(&key(package)).await.as_ref() == Some(&state);
        // The registry would have to send the whole package for a range of one that was not verified yet. So the client gets the whole, too.
        let range = range.filter(|_| file(package).is_some() || is_known);
        let wanted = range.clone().unwrap_or(0..size);
        let left = wanted.end.saturating_sub(wanted.start);
        let mut answer = Response::new(Content::none());
        if answer::has(&head.headers, &etag) {
            *answer.status_mut() = StatusCode::NOT_MODIFIED;
        } else {
            answer::set(&mut answer, CONTENT_TYPE, "application/zip");
            answer::set(&mut answer, CONTENT_LENGTH, &left.to_string());
            if let Some(Range { start, end }) = &range {
                *answer.status_mut() = StatusCode::PARTIAL_CONTENT;
                let range = format!("bytes {start}-{}/{size}", end.saturating_sub(1));
                answer::set(&mut answer, CONTENT_RANGE, &range);
            }
            if head.method == Method::GET {
                let transfer = Transfer {
                    packages: self.clone(),
                    package: package.clone(),
                    // An OCI registry may send other bytes each time, so only ranges of its packages are sent without proof.
                    proves: range.is_none() && !(is_known && file(package).is_some()),
                    state,
                    left,
                };
                match transfer.begin(wanted.start, is_known).await {
                    Ok(content) => *answer.body_mut() = content,
                    Err(failed) => return failed,
                }
            }
        }
        answer::set(&mut answer, ETAG, &etag);
        answer::set(&mut answer, ACCEPT_RANGES, "bytes");
        let caching = format!("{}, immutable", caching.header());
        answer::set(&mut answer, CACHE_CONTROL, &caching);
        answer
    }

    /// Reports a package that cannot be read.
    fn report(&self, package: &Package<StoreBlob>, error: &ReadError<store::Error>) {
        self.shared.metrics.package_failures.inc();
        let file = package.file_name.clone();
        let observer = &self.shared.observer;
        observer.fail("package-failed", "Failed", file, error);
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

/// The transfer of a package, or of a range of one.
struct Transfer {
    packages: Packages,
    package: Package<StoreBlob>,
    /// Whether its end proves the package. Otherwise the package was verified before.
    proves: bool,
    /// The state of the file before it was opened; `None` in an OCI registry.
    state: Option<FileState>,
    /// The bytes that are not read yet.
    left: u64,
}

impl Transfer {
    /// The bytes from a position on. This waits for the first ones, so that a missing package leads to an error status and not to an incomplete
    /// body.
    async fn begin(self, start: u64, is_known: bool) -> Result<Content, Response> {
        let (left, packages, package) = (self.left, self.packages.clone(), self.package.clone());
        let pieces = self.open(start, is_known).try_flatten_stream();
        let pieces = pieces.inspect_err(move |error| packages.report(&package, error));
        let mut pieces = pieces.boxed().peekable();
        match timeout(LONGEST_START, Pin::new(&mut pieces).peek()).await {
            Ok(Some(Err(error))) => return Err(failed(error)),
            Err(_) => return Err(answer::unavailable("the store does not answer")),
            Ok(_) => {}
        }
        let pieces = pieces.boxed();
        Ok(Content { pieces, left })
    }

    async fn open(
        self,
        start: u64,
        is_known: bool,
    ) -> Result<impl Stream<Item = Piece>, ReadError<store::Error>> {
        // Only the whole has a digest, so it is verified before a range is sent.
        if !self.proves && !is_known {
            verify(&self.package.location).await?;
            self.remember().await;
        }
        let bytes = match self.proves {
            true => proven(&self.package.location).await?,
            false => self.package.location.open(start).await?,
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
        match self.left {
            0 if self.proves => self.remember().await,
            0 => return Some(self.check_unchanged().await.map(|()| piece)),
            _ => {}
        }
        Some(Ok(piece))
    }

    /// Remembers that all bytes of the package were verified, unless its file may change and keep its state.
    async fn remember(&self) {
        let state = self.state.clone();
        let is_in_registry = matches!(self.package.location, StoreBlob::Registry(_));
        if is_in_registry || state.as_ref().is_some_and(FileState::is_settled) {
            let verified = &self.packages.verified;
            verified.insert(key(&self.package), state).await;
        }
    }

    /// Fails if a file that was sent without hashing has changed since. Another program may have written to it meanwhile.
    async fn check_unchanged(&self) -> Result<(), ReadError<store::Error>> {
        let (Some(path), Some(before)) = (file(&self.package), &self.state) else {
            return Ok(());
        };
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

fn key(package: &Package<StoreBlob>) -> (Digest, Option<PathBuf>) {
    let path = file(package).map(Path::to_owned);
    (package.expected.digest, path)
}

/// The file of a package; `None` in an OCI registry or a bundle.
fn file(package: &Package<StoreBlob>) -> Option<&Path> {
    match package.location.info().location? {
        BlobLocation::InFile(path) => Some(path),
        BlobLocation::InRegistry(_) => None,
    }
}

/// The package has none of the requested bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct NotSatisfiable;

/// The range that a request selects with `Range`; `None` for the whole package. Several ranges, and units other than bytes, are ignored, as
/// HTTP allows.
fn requested(
    headers: &HeaderMap,
    size: u64,
    etag: &str,
) -> Result<Option<Range<u64>>, NotSatisfiable> {
    let condition = headers.get(IF_RANGE);
    let applies = condition.is_none_or(|known| known.as_bytes() == etag.as_bytes());
    let text = headers.get(RANGE).and_then(|range| range.to_str().ok());
    let text = text.and_then(|text| text.strip_prefix("bytes="));
    let Some((first, last)) = text
        .filter(|_| applies)
        .and_then(|range| range.split_once('-'))
    else {
        return Ok(None);
    };
    let (first, last) = (first.trim(), last.trim());
    let number = |text: &str| text.parse::<u64>().ok();
    let range = match (number(first), number(last)) {
        (Some(start), None) if last.is_empty() => start..size,
        (Some(start), Some(last)) if start <= last => start..last.saturating_add(1).min(size),
        (None, Some(length)) if first.is_empty() => size.saturating_sub(length)..size,
        _ => return Ok(None),
    };
    match range.is_empty() {
        true => Err(NotSatisfiable),
        false => Ok(Some(range)),
    }
}
