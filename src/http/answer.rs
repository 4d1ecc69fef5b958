//! Responses of servers. A body is read as a stream or as a whole.

use std::time::Duration;

use bytes::Bytes;
use futures_util::{Stream, StreamExt as _};
use reqwest::header::{CONTENT_LENGTH, HeaderMap, HeaderName, LOCATION};
use reqwest::{Response, StatusCode};
use tokio::time::Instant;
use url::Url;

use super::journal::JournalEntry;
use super::limits::{Permit, SMALL};
use super::{Error, Shown, Silence};
use crate::secret::{self, Secret};

/// A server's answer.
#[derive(Debug)]
pub struct Answer {
    status: StatusCode,
    headers: HeaderMap,
    url: Url,
    pub(super) is_verified: bool,
    pub(super) is_elsewhere: bool,
    /// What no message about it may show.
    secrets: Vec<Secret>,
    body: AnswerBody,
}

#[derive(Debug)]
enum AnswerBody {
    /// The body has not been read.
    Incoming(Box<Incoming>),
    /// The body was read: all of it, or its start for an error message.
    Read(Vec<u8>),
}

/// A body that is being received, and the permit and journal entry that are held until its end.
#[derive(Debug)]
pub(super) struct Incoming {
    pub(super) response: Response,
    pub(super) entry: JournalEntry,
    /// The longest time for which the server may stall.
    pub(super) stall: Duration,
    pub(super) _permit: Option<Permit>,
}

impl Answer {
    pub(super) fn new(incoming: Incoming, secrets: Vec<Secret>) -> Self {
        let response = &incoming.response;
        Self {
            status: response.status(),
            headers: response.headers().clone(),
            url: response.url().clone(),
            is_verified: false,
            is_elsewhere: false,
            secrets,
            body: AnswerBody::Incoming(Box::new(incoming)),
        }
    }

    /// The HTTP status after redirects.
    pub fn status(&self) -> StatusCode {
        self.status
    }

    /// Where the answer came from, after redirects.
    pub fn url(&self) -> &Url {
        &self.url
    }

    /// That URL, for a message.
    pub fn shown(&self) -> Shown {
        self.shown_reference(self.url.as_str())
    }

    /// A URL that it names, for a message.
    pub fn shown_reference(&self, text: &str) -> Shown {
        Shown::hiding(&self.secrets, text)
    }

    /// Whether the certificates of this server, and of every server that redirected to it, were checked.
    pub fn is_verified(&self) -> bool {
        self.is_verified
    }

    /// Whether a redirect led to another scheme, host or port. The client sent no authorization there.
    pub fn is_elsewhere(&self) -> bool {
        self.is_elsewhere
    }

    /// A header, if it is there and is text.
    pub fn header(&self, name: HeaderName) -> Option<String> {
        self.headers.get(name)?.to_str().ok().map(str::to_owned)
    }

    /// Every value of a header, with replacement characters for what is not text.
    pub fn headers(&self, name: HeaderName) -> Vec<String> {
        let values = self.headers.get_all(name).iter();
        values
            .map(|value| String::from_utf8_lossy(value.as_bytes()).into_owned())
            .collect()
    }

    /// The URL that it redirects to; `None` if it is no redirect.
    pub fn redirect(&self) -> Option<Result<Url, Error>> {
        if !matches!(self.status.as_u16(), 301..=303 | 307 | 308) {
            return None;
        }
        let location = self.header(LOCATION)?;
        Some(self.url.join(&location).map_err(|_| Error::Url {
            url: self.shown_reference(&location),
        }))
    }

    /// The length of the body in bytes, as `Content-Length` announces it.
    pub fn content_length(&self) -> Option<u64> {
        self.header(CONTENT_LENGTH)?.parse().ok()
    }

    /// Reads the body now, so that the request can be retried if the connection is lost. After an error, the answer has what came before it, at most
    /// `limit` bytes.
    pub(super) async fn read(&mut self, limit: u64) -> Result<(), Error> {
        // The body may hold a token, and a buffer that grows leaves copies of it in memory. The server's announced size is trusted up to
        // `SMALL` only.
        let announced = self.content_length().unwrap_or_default();
        let announced = usize::try_from(announced.min(limit).min(SMALL)).unwrap_or_default();
        let mut all = Vec::with_capacity(announced);
        let mut chunks = Box::pin(self.chunks());
        let read = loop {
            match chunks.next().await {
                Some(Ok(chunk)) => all.extend_from_slice(&chunk),
                Some(Err(error)) => break Err(error),
                None => break Ok(()),
            }
            if all.len() as u64 > limit {
                all.truncate(usize::try_from(limit).unwrap_or(usize::MAX));
                let url = self.shown();
                break Err(Error::Large { url, limit });
            }
        };
        self.body = AnswerBody::Read(all);
        read
    }

    /// The body that was read: all of it, or the start of that of an error. It is empty if the body is a stream.
    pub fn body(&self) -> &[u8] {
        match &self.body {
            AnswerBody::Incoming(_) => &[],
            AnswerBody::Read(bytes) => bytes,
        }
    }

    /// As [`Answer::body`], without a copy.
    pub fn into_body(self) -> Vec<u8> {
        match self.body {
            AnswerBody::Incoming(_) => Vec::new(),
            AnswerBody::Read(bytes) => bytes,
        }
    }

    /// A text of the server without the secrets of the request, for a message. Some proxies and gateways repeat the request in their answers.
    pub fn hide(&self, text: &str) -> String {
        secret::hide(&self.secrets, text)
    }

    /// The body as a stream, which takes it out of the answer.
    pub fn chunks(&mut self) -> impl Stream<Item = Result<Bytes, Error>> + Send + 'static + use<> {
        let url = self.shown();
        let body = std::mem::replace(&mut self.body, AnswerBody::Read(Vec::new()));
        futures_util::stream::unfold((Some(body), Bytes::new()), move |(body, mut unread)| {
            let url = url.clone();
            async move {
                let mut incoming = match body? {
                    AnswerBody::Read(bytes) if bytes.is_empty() => return None,
                    AnswerBody::Read(bytes) => return Some((Ok(bytes.into()), (None, unread))),
                    AnswerBody::Incoming(incoming) => incoming,
                };
                if let Some(piece) = piece(&mut unread) {
                    return Some((Ok(piece), (Some(AnswerBody::Incoming(incoming)), unread)));
                }
                let (limit, began) = (incoming.stall, Instant::now());
                let left = incoming.entry.received.left(limit);
                let error = match tokio::time::timeout(left, incoming.response.chunk()).await {
                    Ok(Ok(Some(mut chunk))) => {
                        let received = &mut incoming.entry.received;
                        received.passed(chunk.len(), began.elapsed());
                        let piece = piece(&mut chunk).unwrap_or_default();
                        return Some((Ok(piece), (Some(AnswerBody::Incoming(incoming)), chunk)));
                    }
                    Ok(Ok(None)) => return None,
                    Ok(Err(source)) => Error::transport(url, &source, None),
                    Err(_) => Error::Silent {
                        url,
                        silence: Silence::Download,
                        limit,
                    },
                };
                Some((Err(error), (None, Bytes::new())))
            }
        })
    }
}

/// The largest piece of a body in bytes.
const PIECE: usize = 64 << 10;

/// A copy of the first piece of a chunk, which is removed; `None` if the chunk is empty.
///
/// A chunk is part of the connection's buffer, which hyper lets grow to 400 KB. It cannot be used again while a part of it is in use, so each
/// transfer would have three or four of them (measured: 8 transfers take 31 buffers). A copy costs less than 3 % of a transfer.
fn piece(chunk: &mut Bytes) -> Option<Bytes> {
    if chunk.is_empty() {
        return None;
    }
    let piece = Bytes::copy_from_slice(&chunk.split_to(chunk.len().min(PIECE)));
    if chunk.is_empty() {
        // An empty part would also keep the buffer.
        *chunk = Bytes::new();
    }
    Some(piece)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_are_copies_of_limited_size() {
        let bytes: Vec<u8> = (0..PIECE * 2 + 5).map(|at| (at % 251) as u8).collect();
        let whole = Bytes::from(bytes.clone());
        let mut chunk = whole.clone();
        let pieces: Vec<Bytes> = std::iter::from_fn(|| piece(&mut chunk)).collect();
        let sizes: Vec<usize> = pieces.iter().map(Bytes::len).collect();
        assert_eq!(sizes, [PIECE, PIECE, 5]);
        assert_eq!(pieces.concat(), bytes);
        drop(chunk);
        assert!(whole.is_unique(), "a piece keeps the buffer");
        assert!(piece(&mut Bytes::new()).is_none());
    }
}
