//! The documents and pages that are being sent, within limits of memory.
//!
//! A client may ask for a page of a megabyte in hundreds of streams, and read none of them. Equal documents are therefore kept once, for all
//! requests and clients. Documents that differ from request to request, for example by the host that a page names, count towards the limits of
//! the client that asked first, until the last byte has left the process.

use std::collections::HashMap;
use std::net::IpAddr;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::task::{Context, Poll};

use axum::body::HttpBody;
use bytes::Bytes;
use http_body::{Frame, SizeHint};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::quota::ClientQuota;
use crate::digest::Digest;

/// The most memory of all documents that are being sent, in KiB; with TLS, those of one client may take half of it. A page about 200 versions
/// for 14 platforms has 500 KiB, so the half has room for 32 such pages that differ. `tfoci help deployment` states this number.
const MOST_KIB: usize = 32 << 10;
/// The number of documents from which those that were sent are forgotten. A thousand entries take about 100 KB.
const LEAST_DOCUMENTS: usize = 1_000;
/// The largest piece of a document that is handed to the connection: one frame of HTTP/2, and one record of TLS. The connection may hold what
/// it was handed for longer than the limit on stalled answers, so it does not get the whole document at once.
const PIECE: usize = 16 << 10;

/// The documents that are being sent.
pub(super) struct SentDocuments {
    documents: Mutex<Documents>,
    /// The free memory, in KiB.
    free: Arc<Semaphore>,
    /// The free memory of one client, in KiB; `None` behind a proxy, which asks for all clients.
    quota: Option<ClientQuota>,
}

#[derive(Default)]
struct Documents {
    all: HashMap<Digest, Weak<Document>>,
    /// The number of documents from which those that were sent are forgotten.
    most: usize,
}

/// A document with the permits for its memory.
struct Document {
    bytes: Bytes,
    _permits: Vec<OwnedSemaphorePermit>,
}

/// The bytes that refer to a document. Each part of them, such as a frame that the connection holds, keeps the permits.
struct Part(Arc<Document>);

impl AsRef<[u8]> for Part {
    fn as_ref(&self) -> &[u8] {
        &self.0.bytes
    }
}

/// Why a document is not sent now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Full {
    /// The documents that this client does not read take as much memory as it may have.
    Client,
    /// Those of all clients do.
    Server,
}

impl SentDocuments {
    /// No documents. `has_quota` is false behind a proxy.
    pub(super) fn new(has_quota: bool) -> Self {
        Self {
            documents: Mutex::default(),
            free: Arc::new(Semaphore::new(MOST_KIB)),
            quota: has_quota.then(|| ClientQuota::half_of(MOST_KIB)),
        }
    }

    /// The same bytes, shared with the other requests that are being answered with them.
    ///
    /// # Errors
    /// There is no memory for them now.
    pub(super) fn share(
        &self,
        client: IpAddr,
        digest: Digest,
        bytes: Bytes,
    ) -> Result<Bytes, Full> {
        let mut documents = self
            .documents
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        if let Some(document) = documents.all.get(&digest).and_then(Weak::upgrade) {
            return Ok(Bytes::from_owner(Part(document)));
        }
        let document = Arc::new(Document {
            _permits: self.permits(client, bytes.len())?,
            bytes,
        });
        if documents.all.len() >= documents.most.max(LEAST_DOCUMENTS) {
            documents.all.retain(|_, sent| sent.strong_count() > 0);
            documents.most = documents.all.len().saturating_mul(2);
        }
        documents.all.insert(digest, Arc::downgrade(&document));
        Ok(Bytes::from_owner(Part(document)))
    }

    /// The permits for a document of this size. One that is larger than all documents may be takes all permits, so it is sent alone.
    fn permits(&self, client: IpAddr, size: usize) -> Result<Vec<OwnedSemaphorePermit>, Full> {
        let most = match &self.quota {
            Some(_) => MOST_KIB / 2,
            None => MOST_KIB,
        };
        let count = u32::try_from(size.div_ceil(1 << 10).clamp(1, most)).unwrap_or(u32::MAX);
        let mut permits = Vec::new();
        if let Some(quota) = &self.quota {
            let own = quota.of(client).try_acquire_many_owned(count);
            permits.push(own.map_err(|_| Full::Client)?);
        }
        let free = self.free.clone().try_acquire_many_owned(count);
        permits.push(free.map_err(|_| Full::Server)?);
        Ok(permits)
    }
}

/// A document as the body of an answer, handed to the connection in pieces as its client reads.
pub(super) struct Pieces {
    pub(super) left: Bytes,
}

impl HttpBody for Pieces {
    type Data = Bytes;
    type Error = std::convert::Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Self::Error>>> {
        if self.left.is_empty() {
            return Poll::Ready(None);
        }
        let length = self.left.len().min(PIECE);
        let piece = self.left.split_to(length);
        Poll::Ready(Some(Ok(Frame::data(piece))))
    }

    fn is_end_stream(&self) -> bool {
        self.left.is_empty()
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::with_exact(self.left.len() as u64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CLIENT: IpAddr = IpAddr::V4(std::net::Ipv4Addr::new(192, 0, 2, 1));
    const OTHER: IpAddr = IpAddr::V4(std::net::Ipv4Addr::new(192, 0, 2, 2));
    const MIB: usize = 1 << 20;

    fn share(sent: &SentDocuments, client: IpAddr, byte: u8, size: usize) -> Result<Bytes, Full> {
        let bytes = vec![byte; size];
        sent.share(client, Digest::of(&bytes), bytes.into())
    }

    #[test]
    fn equal_documents_are_kept_once() {
        let sent = SentDocuments::new(true);
        let first = share(&sent, CLIENT, 1, 10 * MIB).unwrap();
        for client in [CLIENT, OTHER] {
            let again = share(&sent, client, 1, 10 * MIB).unwrap();
            assert_eq!(again.as_ptr(), first.as_ptr());
        }
        assert_eq!(share(&sent, CLIENT, 2, 10 * MIB), Err(Full::Client));
        // A frame that the connection still holds keeps the whole document.
        let frame = first.slice(5..6);
        drop(first);
        assert_eq!(share(&sent, CLIENT, 2, 10 * MIB), Err(Full::Client));
        drop(frame);
        assert!(share(&sent, CLIENT, 2, 10 * MIB).is_ok());
    }

    #[test]
    fn a_client_has_half_of_the_memory_and_others_the_rest() {
        let sent = SentDocuments::new(true);
        let own = [1, 2].map(|byte| share(&sent, CLIENT, byte, 8 * MIB).unwrap());
        assert_eq!(share(&sent, CLIENT, 3, 1), Err(Full::Client));
        let other = [4, 5].map(|byte| share(&sent, OTHER, byte, 8 * MIB).unwrap());
        let third = IpAddr::from([192, 0, 2, 3]);
        assert_eq!(share(&sent, third, 6, 1), Err(Full::Server));
        drop(own);
        // One document may be larger than the share of its client.
        let large = share(&sent, third, 6, 20 * MIB).unwrap();
        assert_eq!(share(&sent, third, 7, 1), Err(Full::Client));
        drop((other, large));
        let proxied = SentDocuments::new(false);
        let all: Vec<_> = (1..=4)
            .map(|byte| share(&proxied, CLIENT, byte, 8 * MIB).unwrap())
            .collect();
        assert_eq!(share(&proxied, CLIENT, 5, 1), Err(Full::Server));
        drop(all);
        assert!(share(&proxied, CLIENT, 5, 1).is_ok());
    }

    #[test]
    fn documents_that_were_sent_are_forgotten() {
        let sent = SentDocuments::new(true);
        for number in 0..10 * LEAST_DOCUMENTS {
            let bytes = Bytes::from(number.to_string());
            let digest = Digest::of(&bytes);
            drop(sent.share(CLIENT, digest, bytes).unwrap());
        }
        let documents = sent.documents.lock().unwrap();
        assert!(documents.all.len() <= LEAST_DOCUMENTS);
    }

    #[test]
    fn a_document_is_handed_over_in_pieces() {
        let mut body = Pieces {
            left: vec![7; 2 * PIECE + 5].into(),
        };
        assert_eq!(body.size_hint().exact(), Some(2 * PIECE as u64 + 5));
        let mut context = Context::from_waker(std::task::Waker::noop());
        let mut lengths = Vec::new();
        while let Poll::Ready(Some(Ok(frame))) = Pin::new(&mut body).poll_frame(&mut context) {
            lengths.push(frame.into_data().unwrap().len());
        }
        assert_eq!(lengths, [PIECE, PIECE, 5]);
        assert!(body.is_end_stream());
    }
}
