//! Streams packages from the store to clients.
//!
//! Packages pass in bounded memory, and only as fast as the client reads. The last chunk is sent only after all bytes matched the digest
//! ([`crate::blob::proven`]): if they do not match, the connection is closed before it, so a client never receives a complete wrong package.
//! A verified package is remembered: ranges of it are then read from their offset, and an unchanged file is not hashed again. The state of the
//! file is compared once more before its last chunk is sent.
//!
//! A range of a remembered package in an OCI registry is sent without verification: the digest covers the whole, and reading all of it for
//! every range would cost the registry more than the client. A registry that sent the right bytes once could send others later. This does no
//! harm: `tofu` and `terraform` never send `Range`, and a client that resumes a download has to compare the whole with the `zh` hash of the
//! documents in any case, because the first part may have another source.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use futures_util::{Stream, StreamExt as _};
use hyper::header::{
    ACCEPT_RANGES, CACHE_CONTROL, CONTENT_LENGTH, CONTENT_RANGE, CONTENT_TYPE, ETAG, IF_RANGE,
    RANGE,
};
use hyper::http::request::Parts;
use hyper::{HeaderMap, Method, StatusCode};
use moka::future::Cache;
use tokio::time::timeout;
use url::Url;

use super::answer::{self, Caching, Content, Response};
use super::metrics::Metrics;
use super::notice::{Notice, Observer};
use super::served::ServedPackage;
use crate::blob::{self, BlobLocation, BlobSource as _, ReadError, proven, verify};
use crate::digest::Digest;
use crate::disk::{self, FileState};
use crate::error::Category;
use crate::store::{self, StoreBlob};

/// How long an answer waits for the first bytes of the store. Clients wait for minutes.
const LONGEST_START: Duration = Duration::from_secs(60);

/// The most packages that are remembered, with a few hundred bytes each.
const MOST_REMEMBERED: u64 = 10_000;

/// Sends packages.
#[derive(Clone)]
pub(super) struct Packages {
    /// Those of which all bytes were verified, by digest and file, and the state of the file then. Those of an OCI registry have no file.
    verified: Cache<(Digest, Option<PathBuf>), Option<FileState>>,
    observer: Arc<dyn Observer>,
    metrics: Arc<Metrics>,
}

/// The URL of the storage behind an OCI registry, from which a client can read the package for a limited time without credentials; `None` if the
/// registry has none, or does not answer.
pub(super) async fn storage_url(package: &ServedPackage) -> Option<Url> {
    let StoreBlob::Registry(blob) = &package.blob else {
        return None;
    };
    blob.elsewhere().await.ok().flatten()
}

impl Packages {
    pub(super) fn new(observer: Arc<dyn Observer>, metrics: Arc<Metrics>) -> Self {
        Self {
            verified: Cache::new(MOST_REMEMBERED),
            observer,
            metrics,
        }
    }

    /// Answers a `GET` or `HEAD` of a package.
    pub(super) async fn answer(
        &self,
        head: &Parts,
        package: &ServedPackage,
        caching: Caching,
    ) -> Response {
        let size = package.expected.size;
        let etag = answer::etag(&package.expected.digest);
        let range = match ByteRange::requested(&head.headers, size, &etag) {
            Ok(range) => range,
            Err(NotSatisfiable) => return answer::not_satisfiable(size),
        };
        // The registry would have to send the whole package for a range of one that was not verified yet. So the client gets the whole, too.
        let is_sliced =
            file(package).is_some() || self.verified.get(&key(package)).await == Some(None);
        let range = range.filter(|_| is_sliced);
        let mut answer = match answer::has(&head.headers, &etag) {
            true => answer::not_modified(),
            false => {
                let wanted = range.unwrap_or(ByteRange::whole(size));
                let content = match head.method == Method::HEAD {
                    true => Ok(Content::NONE),
                    false => self.content(package, wanted).await,
                };
                match content {
                    Ok(content) => whole_or_part(content, wanted, range, size),
                    Err(failed) => return failed,
                }
            }
        };
        answer::set(&mut answer, ETAG, &etag);
        answer::set(&mut answer, ACCEPT_RANGES, "bytes");
        let caching = format!("{}, immutable", caching.header());
        answer::set(&mut answer, CACHE_CONTROL, &caching);
        answer
    }

    /// The bytes. This waits for the first ones, so that a missing package leads to an error status and not to an incomplete body.
    async fn content(
        &self,
        package: &ServedPackage,
        range: ByteRange,
    ) -> Result<Content, Response> {
        let transfer = Transfer::plan(self.clone(), package, range).await;
        let beginning = async {
            let opened = transfer.open().await?;
            let mut bytes = sliced(opened, transfer.offset(), range);
            let first = bytes.next().await.transpose()?;
            Ok::<_, ReadError<store::Error>>((first, bytes))
        };
        let (first, rest) = timeout(LONGEST_START, beginning)
            .await
            .map_err(|_| answer::unavailable("the store does not answer"))?
            .map_err(|error| {
                self.report(package, &error);
                failed(&error)
            })?;
        let bytes = futures_util::stream::iter(first.map(Ok)).chain(rest);
        let bytes = transfer.checked(bytes).boxed();
        Ok(Content::Package(bytes, range.length()))
    }

    /// Reports a package that cannot be read.
    fn report(&self, package: &ServedPackage, error: &ReadError<store::Error>) {
        self.metrics.package_failures.inc();
        let file = package.canonical_name.clone();
        let notice = Notice::warning("package-failed", "Failed", file);
        self.observer.notice(notice.because(error));
    }
}

/// The answer with a whole package, or with a range of it.
fn whole_or_part(
    content: Content,
    wanted: ByteRange,
    range: Option<ByteRange>,
    size: u64,
) -> Response {
    let mut answer = Response::new(content);
    answer::set(&mut answer, CONTENT_TYPE, "application/zip");
    answer::set(&mut answer, CONTENT_LENGTH, &wanted.length().to_string());
    if let Some(ByteRange { start, end }) = range {
        *answer.status_mut() = StatusCode::PARTIAL_CONTENT;
        let range = format!("bytes {start}-{}/{size}", end.saturating_sub(1));
        answer::set(&mut answer, CONTENT_RANGE, &range);
    }
    answer
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

/// The transfer of one range of a package.
struct Transfer {
    packages: Packages,
    package: ServedPackage,
    range: ByteRange,
    /// The state of the file before it is opened; `None` in an OCI registry.
    state: Option<FileState>,
    /// Whether the package was verified before, so that the range can be read alone.
    is_verified: bool,
}

impl Transfer {
    async fn plan(packages: Packages, package: &ServedPackage, range: ByteRange) -> Self {
        let is_whole = range == ByteRange::whole(package.expected.size);
        // The state is read before the file is opened, so a later change leads to another state.
        let state = file(package).and_then(FileState::at);
        // An OCI registry may send other bytes each time, so only ranges of its packages are read without verification.
        let may_be_known = file(package).is_some() || !is_whole;
        let known = packages.verified.get(&key(package)).await;
        Self {
            is_verified: may_be_known && known.as_ref() == Some(&state),
            packages,
            package: package.clone(),
            range,
            state,
        }
    }

    async fn open(&self) -> blob::Opened<store::Error> {
        match self.is_verified {
            true => self.package.blob.open(self.range.start).await,
            false => proven(&self.package.blob).await,
        }
    }

    /// The position of the first byte of the opened stream.
    fn offset(&self) -> u64 {
        if self.is_verified {
            self.range.start
        } else {
            0
        }
    }

    /// Whether the end of the transfer proves the package, so that it can be remembered.
    fn proves(&self) -> bool {
        let is_settled =
            file(&self.package).is_none() || self.state.as_ref().is_some_and(FileState::is_settled);
        !self.is_verified && self.range.end == self.package.expected.size && is_settled
    }

    /// Checks the last chunk before it is sent, and reports an error.
    fn checked(
        self,
        bytes: impl Stream<Item = Result<Bytes, ReadError<store::Error>>> + Send,
    ) -> impl Stream<Item = Result<Bytes, ReadError<store::Error>>> + Send {
        let mut left = self.range.length();
        let transfer = Arc::new(self);
        bytes.then(move |chunk| {
            if let Ok(chunk) = &chunk {
                left = left.saturating_sub(chunk.len() as u64);
            }
            let is_last = chunk.is_ok() && left == 0;
            let transfer = transfer.clone();
            async move {
                let checked = match is_last {
                    true => transfer.end().await.and(chunk),
                    false => chunk,
                };
                if let Err(error) = &checked {
                    transfer.packages.report(&transfer.package, error);
                }
                checked
            }
        })
    }

    /// Remembers a package that this transfer has verified, or checks that the file of a remembered one has not changed.
    async fn end(&self) -> Result<(), ReadError<store::Error>> {
        if self.proves() {
            let verified = self
                .packages
                .verified
                .insert(key(&self.package), self.state.clone());
            verified.await;
        }
        match self.is_verified {
            true => check_unchanged(&self.package, self.state.as_ref()).await,
            false => Ok(()),
        }
    }
}

fn key(package: &ServedPackage) -> (Digest, Option<PathBuf>) {
    let path = file(package).map(Path::to_owned);
    (package.expected.digest, path)
}

/// The file of a package; `None` in an OCI registry.
fn file(package: &ServedPackage) -> Option<&Path> {
    match package.blob.info().location? {
        BlobLocation::InFile(path) => Some(path),
        BlobLocation::InRegistry(_) => None,
    }
}

/// Fails if a file that was sent without hashing has changed since. Another program may have written to it meanwhile.
async fn check_unchanged(
    package: &ServedPackage,
    before: Option<&FileState>,
) -> Result<(), ReadError<store::Error>> {
    let (Some(path), Some(before)) = (file(package), before) else {
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
    verify(&package.blob).await
}

/// The range of a stream that begins at an offset. The stream is read to its end even if the range ends before: only the end proves the bytes.
fn sliced(
    body: blob::Body<store::Error>,
    offset: u64,
    range: ByteRange,
) -> impl Stream<Item = Result<Bytes, ReadError<store::Error>>> + Send + Unpin {
    let mut position = offset;
    let mut left = range.length();
    let mut slice = move |chunk: Result<Bytes, ReadError<store::Error>>| {
        let mut chunk = match chunk {
            Ok(chunk) => chunk,
            Err(error) => return Some(Err(error)),
        };
        let length = chunk.len() as u64;
        let skipped = range.start.saturating_sub(position).min(length);
        position += length;
        let skipped = usize::try_from(skipped).unwrap_or(usize::MAX);
        let mut chunk = chunk.split_off(skipped.min(chunk.len()));
        let taken = usize::try_from(left).unwrap_or(usize::MAX).min(chunk.len());
        chunk.truncate(taken);
        left = left.saturating_sub(taken as u64);
        (!chunk.is_empty()).then_some(Ok(chunk))
    };
    Box::pin(body.filter_map(move |chunk| std::future::ready(slice(chunk))))
}

/// The requested bytes of a package.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct ByteRange {
    start: u64,
    /// The position after the last byte.
    end: u64,
}

/// The package has none of the requested bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct NotSatisfiable;

impl ByteRange {
    /// The range of a whole package.
    fn whole(size: u64) -> Self {
        Self {
            start: 0,
            end: size,
        }
    }

    /// The range that a request selects with `Range`; `None` for the whole package. Several ranges, and units other than bytes, are ignored, as
    /// HTTP allows.
    fn requested(
        headers: &HeaderMap,
        size: u64,
        etag: &str,
    ) -> Result<Option<Self>, NotSatisfiable> {
        let Some(text) = headers.get(RANGE).and_then(|range| range.to_str().ok()) else {
            return Ok(None);
        };
        if headers
            .get(IF_RANGE)
            .is_some_and(|known| known.as_bytes() != etag.as_bytes())
        {
            return Ok(None);
        }
        let Some((first, last)) = text
            .strip_prefix("bytes=")
            .and_then(|range| range.split_once('-'))
        else {
            return Ok(None);
        };
        let (first, last) = (first.trim(), last.trim());
        let number = |text: &str| text.parse::<u64>().ok();
        let range = match (number(first), number(last)) {
            (Some(start), None) if last.is_empty() => Self { start, end: size },
            (Some(start), Some(last)) if start <= last => Self {
                start,
                end: last.saturating_add(1).min(size),
            },
            (None, Some(length)) if first.is_empty() && length > 0 => Self {
                start: size.saturating_sub(length),
                end: size,
            },
            (None, Some(0)) if first.is_empty() => return Err(NotSatisfiable),
            _ => return Ok(None),
        };
        match range.start < range.end {
            true => Ok(Some(range)),
            false => Err(NotSatisfiable),
        }
    }

    fn length(self) -> u64 {
        self.end.saturating_sub(self.start)
    }
}

#[cfg(test)]
mod tests {
    use hyper::header::HeaderValue;

    use super::*;

    #[test]
    fn ranges() {
        let read = |text: &str| {
            let mut request = HeaderMap::new();
            request.insert(RANGE, HeaderValue::from_str(text).unwrap());
            ByteRange::requested(&request, 100, "\"x\"")
                .map(|range| range.map(|range| (range.start, range.end)))
        };
        for (text, expected) in [
            ("bytes=0-", Ok(Some((0, 100)))),
            ("bytes=10-19", Ok(Some((10, 20)))),
            ("bytes=90-200", Ok(Some((90, 100)))),
            ("bytes=-10", Ok(Some((90, 100)))),
            ("bytes=-200", Ok(Some((0, 100)))),
            ("bytes=100-", Err(NotSatisfiable)),
            ("bytes=-0", Err(NotSatisfiable)),
            ("bytes=20-10", Ok(None)),
            ("bytes=0-1,3-4", Ok(None)),
            ("lines=0-1", Ok(None)),
            ("bytes=x-", Ok(None)),
        ] {
            assert_eq!(read(text), expected, "{text}");
        }
    }
}
