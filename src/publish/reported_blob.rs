//! A blob that reports how much of it was read.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::Poll;

use bytes::Bytes;
use futures_util::{StreamExt as _, TryStreamExt as _, stream};

use super::{BlobSource, Reporter, Subject};
use crate::blob::{BlobInfo, Body, Opened};
use crate::event::Event;

/// A blob whose progress is reported.
#[derive(Clone)]
pub(crate) struct ReportedBlob<B> {
    blob: B,
    subject: Subject,
    reporter: Arc<dyn Reporter>,
    was_read: Arc<AtomicBool>,
}

impl<B: BlobSource> ReportedBlob<B> {
    /// Reports that the transfer of a blob begins.
    pub(crate) fn start(blob: B, subject: &Subject, reporter: &Arc<dyn Reporter>) -> Self {
        reporter.report(Event::Started {
            subject: subject.clone(),
            size: blob.info().expected.size,
        });
        Self {
            blob,
            subject: subject.clone(),
            reporter: Arc::clone(reporter),
            was_read: Arc::default(),
        }
    }

    /// Whether the blob was read to its end. If the store then accepted it, its bytes were right.
    pub(super) fn was_read(&self) -> bool {
        self.was_read.load(Ordering::Acquire)
    }
}

impl<B: BlobSource> BlobSource for ReportedBlob<B> {
    type Failure = B::Failure;

    fn info(&self) -> BlobInfo<'_> {
        self.blob.info()
    }

    async fn open(&self, from: u64) -> Opened<B::Failure> {
        let body = self.blob.open(from).await?;
        let (watched, ended) = (self.clone(), Arc::clone(&self.was_read));
        let report = move |bytes: &Bytes| {
            watched.reporter.report(Event::Advanced {
                subject: watched.subject.clone(),
                bytes: bytes.len() as u64,
            });
        };
        let end = stream::poll_fn(move |_| {
            ended.store(true, Ordering::Release);
            Poll::Ready(None)
        });
        Ok(Body::new(body.inspect_ok(report).chain(end)))
    }
}
