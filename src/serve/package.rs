//! Packages: streams from the store to clients.
//!
//! Bytes pass in bounded memory, and only as fast as the client reads. The last chunk passes only if all bytes match the digest
//! ([`crate::blob::proven`]), so that a client never gets a wrong package as a whole: the connection is cut before its end. A package that
//! verified once is remembered: parts of it are then read from their offset, and a file that did not change is not hashed again. Whether it
//! changed is also asked before its last chunk passes.
//!
//! Such a range of a package in a registry is passed on without verification: its digest covers the whole, and reading all of it for every range
//! would cost the registry more than the client. A registry that gave right bytes once could give others then. That spoils nothing: `tofu`
//! and `terraform` never send `Range`, and whoever resumes a download has to compare the whole with the `zh` of the documents in any case,
//! since the first part may have come from anywhere.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use axum::body::Body;
use axum::http::header::{
    ACCEPT_RANGES, CACHE_CONTROL, CONTENT_LENGTH, CONTENT_RANGE, CONTENT_TYPE, ETAG, IF_RANGE,
    RANGE,
};
use axum::http::{HeaderMap, Method, StatusCode};
use bytes::Bytes;
use futures_util::{Stream, StreamExt as _};
use url::Url;

use super::answer::{self, Caching, Response};
use super::listing::ServedPackage;
use super::notice::{Notice, Observer};
use crate::blob::{self, BlobLocation, BlobSource as _, proven};
use crate::digest::Digest;
use crate::disk::{self, FileState};
use crate::error::Category;
use crate::outcome::Problem;
use crate::store::StoreBlob;

/// How long an answer waits for the first bytes of the store. Clients wait for minutes.
const LONGEST_START: Duration = Duration::from_secs(60);
/// The most packages that are remembered as verified.
const MOST_REMEMBERED: usize = 10_000;

/// The packages of which all bytes were verified once, by digest and file. Those of a registry have no file.
#[derive(Default)]
pub(super) struct VerifiedPackages(Mutex<HashMap<VerifiedKey, Option<FileState>>>);

type VerifiedKey = (Digest, Option<PathBuf>);

impl VerifiedPackages {
    fn has(&self, package: &ServedPackage, state: Option<&FileState>) -> bool {
        let verified = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let known = verified.get(&key(package));
        known.is_some_and(|known| known.as_ref() == state)
    }

    fn add(&self, package: &ServedPackage, state: Option<FileState>) {
        let mut verified = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if verified.len() >= MOST_REMEMBERED {
            verified.clear();
        }
        verified.insert(key(package), state);
    }
}

fn key(package: &ServedPackage) -> VerifiedKey {
    let path = file(package).map(Path::to_owned);
    (package.expected.digest, path)
}

/// The file of a package; `None` in a registry.
fn file(package: &ServedPackage) -> Option<&Path> {
    match package.blob.info().location? {
        BlobLocation::InFile(path) => Some(path),
        BlobLocation::InRegistry(_) => None,
    }
}

/// Fails if a file that is passed on without being hashed is not what it was before. Other programs may write to it meanwhile.
async fn unchanged(package: &ServedPackage, before: Option<&FileState>) -> Result<(), blob::Error> {
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
    // Perhaps another file shares its bytes now.
    let mut body = proven(&package.blob).await?;
    while let Some(chunk) = body.next().await {
        chunk?;
        // Reading a local file never yields.
        tokio::task::consume_budget().await;
    }
    Ok(())
}

/// The bytes of a package that a request asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct ByteRange {
    start: u64,
    /// After the last byte.
    end: u64,
}

/// Why `Range` cannot be satisfied.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct NotSatisfiable;

/// The URL from which the registry lets everybody read the package for a while; `None` if it has none, or does not answer.
pub(super) async fn elsewhere(package: &ServedPackage) -> Option<Url> {
    let StoreBlob::Registry(blob) = &package.blob else {
        return None;
    };
    blob.elsewhere().await.ok().flatten()
}

/// Answers a request for a package.
pub(super) async fn answer(
    method: &Method,
    request: &HeaderMap,
    package: &ServedPackage,
    verified: &Arc<VerifiedPackages>,
    caching: Caching,
    observer: &Arc<dyn Observer>,
) -> Response {
    let size = package.expected.size;
    let etag = answer::etag(&package.expected.digest);
    let range = match range(request, size, &etag) {
        Ok(range) => range,
        Err(NotSatisfiable) => {
            let mut answer = answer::text(
                StatusCode::RANGE_NOT_SATISFIABLE,
                "the package has no such bytes",
            );
            answer::set(&mut answer, CONTENT_RANGE, &format!("bytes */{size}"));
            return answer;
        }
    };
    let mut answer = if answer::has(request, &etag) {
        answer::not_modified()
    } else {
        let whole = ByteRange {
            start: 0,
            end: size,
        };
        let wanted = range.unwrap_or(whole);
        let body = match *method == Method::HEAD {
            true => Body::empty(),
            false => match body(package, wanted, verified, observer).await {
                Ok(body) => body,
                Err(failed) => return failed,
            },
        };
        let mut answer = Response::new(body);
        answer::set(&mut answer, CONTENT_TYPE, "application/zip");
        let length = wanted.end - wanted.start;
        answer::set(&mut answer, CONTENT_LENGTH, &length.to_string());
        if let Some(ByteRange { start, end }) = range {
            *answer.status_mut() = StatusCode::PARTIAL_CONTENT;
            let range = format!("bytes {start}-{}/{size}", end.saturating_sub(1));
            answer::set(&mut answer, CONTENT_RANGE, &range);
        }
        answer
    };
    answer::set(&mut answer, ETAG, &etag);
    answer::set(&mut answer, ACCEPT_RANGES, "bytes");
    let caching = format!("{}, immutable", caching.header());
    answer::set(&mut answer, CACHE_CONTROL, &caching);
    answer
}

/// The body. The answer waits for the first bytes, so that a store that does not have them leads to an error and not to a cut.
async fn body(
    package: &ServedPackage,
    range: ByteRange,
    verified: &Arc<VerifiedPackages>,
    observer: &Arc<dyn Observer>,
) -> Result<Body, Response> {
    let failed = |error: blob::Error| {
        let reason = Problem::from(error);
        observer.notice(&Notice::PackageFailed {
            file: &package.canonical_name,
            reason: &reason.to_string(),
        });
        match reason.category() {
            Category::Untrusted | Category::NotFound => answer::text(
                StatusCode::BAD_GATEWAY,
                "the store does not have the package that it lists",
            ),
            _ => answer::unavailable("the store cannot be asked for the package"),
        }
    };
    // A registry may give other bytes each time, so only parts of what it gave are read without the rest.
    let is_whole = range.start == 0 && range.end == package.expected.size;
    let is_file = matches!(package.blob, StoreBlob::Layout(_));
    // From before it is opened: a change afterwards then leads to another state.
    let state = file(package).and_then(FileState::at);
    let is_settled = !is_file || state.as_ref().is_some_and(FileState::is_settled);
    let is_known = verified.has(package, state.as_ref()) && (is_file || !is_whole);
    let opened = async {
        match is_known {
            true => package.blob.open(range.start).await,
            false => proven(&package.blob).await,
        }
    };
    let opened = tokio::time::timeout(LONGEST_START, opened).await;
    let Ok(opened) = opened else {
        return Err(answer::unavailable("the store does not answer"));
    };
    let offset = if is_known { range.start } else { 0 };
    let mut bytes = sliced(opened.map_err(&failed)?, offset, range);
    let first = match tokio::time::timeout(LONGEST_START, bytes.next()).await {
        Ok(Some(Err(error))) => return Err(failed(error)),
        Ok(first) => first,
        Err(_) => return Err(answer::unavailable("the store does not answer")),
    };
    let (package, verified, observer) = (package.clone(), verified.clone(), observer.clone());
    // The last bytes of the zip pass only after all bytes matched the digest.
    let mut left = range.end - range.start;
    let proves = !is_known && range.end == package.expected.size;
    let watched = futures_util::stream::iter(first)
        .chain(bytes)
        .then(move |mut chunk| {
            if let Ok(chunk) = &chunk {
                left = left.saturating_sub(chunk.len() as u64);
            }
            let ends = chunk.is_ok() && left == 0;
            if ends && proves && is_settled {
                verified.add(&package, state.clone());
            }
            let compared = (ends && is_known).then(|| state.clone());
            let (package, observer) = (package.clone(), observer.clone());
            async move {
                if let Some(state) = compared {
                    chunk = unchanged(&package, state.as_ref()).await.and(chunk);
                }
                if let Err(error) = &chunk {
                    observer.notice(&Notice::PackageFailed {
                        file: &package.canonical_name,
                        reason: &error.to_string(),
                    });
                }
                chunk
            }
        });
    Ok(Body::from_stream(watched))
}

/// The range of a stream that begins at an offset. The stream is read to its end even if the range ends before, unless its bytes were verified
/// earlier: only the end proves them.
fn sliced(
    body: blob::Body,
    offset: u64,
    range: ByteRange,
) -> impl Stream<Item = Result<Bytes, blob::Error>> + Send + Unpin {
    let mut position = offset;
    let mut left = range.end.saturating_sub(range.start);
    let mut cut = move |chunk: Result<Bytes, blob::Error>| {
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
    Box::pin(body.filter_map(move |chunk| std::future::ready(cut(chunk))))
}

/// The range that `Range` asks for; `None` for the whole package. Several ranges, and units other than bytes, are ignored, as HTTP allows.
fn range(request: &HeaderMap, size: u64, etag: &str) -> Result<Option<ByteRange>, NotSatisfiable> {
    let Some(range) = request.get(RANGE).and_then(|range| range.to_str().ok()) else {
        return Ok(None);
    };
    if request
        .get(IF_RANGE)
        .is_some_and(|known| known.as_bytes() != etag.as_bytes())
    {
        return Ok(None);
    }
    let Some((first, last)) = range
        .strip_prefix("bytes=")
        .and_then(|said| said.split_once('-'))
    else {
        return Ok(None);
    };
    let (first, last) = (first.trim(), last.trim());
    let number = |text: &str| text.parse::<u64>().ok();
    let range = match (number(first), number(last)) {
        (Some(start), None) if last.is_empty() => ByteRange { start, end: size },
        (Some(start), Some(last)) if start <= last => ByteRange {
            start,
            end: last.saturating_add(1).min(size),
        },
        (None, Some(length)) if first.is_empty() && length > 0 => ByteRange {
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

#[cfg(test)]
mod tests {
    use axum::http::HeaderValue;

    use super::*;

    #[test]
    fn ranges() {
        let read = |text: &str| {
            let mut request = HeaderMap::new();
            request.insert(RANGE, HeaderValue::from_str(text).unwrap());
            range(&request, 100, "\"x\"").map(|range| range.map(|range| (range.start, range.end)))
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
