//! Answers that were opened to learn the size of a package, and that its upload reads.
//!
//! Most provider registries do not say how large a package is, and a manifest must: so the request that will bring the package is sent
//! when its size has to be known. Its headers tell the size, and its body is not read before the upload begins; until then the
//! server waits, because the window of the connection is full.
//!
//! # Why this cannot deadlock
//! An answer that waits holds a permit of [`OpenAnswers`] and no place among the downloads of its host. A version takes all of its
//! permits at once, and keeps none while it waits for others. An upload that reads a package waits only for a place among the downloads,
//! and these are held only by packages that are being read.

use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::http::{Answer, Http};

/// How many answers may wait, opened, at once.
#[derive(Clone, Debug)]
pub struct OpenAnswers {
    permits: Arc<Semaphore>,
    limit: usize,
}

impl OpenAnswers {
    /// So many answers, at least one.
    pub fn new(limit: usize) -> Self {
        let limit = limit.clamp(1, Semaphore::MAX_PERMITS);
        Self {
            permits: Arc::new(Semaphore::new(limit)),
            limit,
        }
    }

    /// Waits for permits for so many answers, all at once; for all that there are, if that is fewer.
    pub(super) async fn permits(&self, wanted: usize) -> Vec<OwnedSemaphorePermit> {
        let count = u32::try_from(wanted.min(self.limit)).unwrap_or(u32::MAX);
        // The semaphore is never closed.
        let Ok(mut all) = Arc::clone(&self.permits).acquire_many_owned(count).await else {
            return Vec::new();
        };
        let mut permits = Vec::new();
        while let Some(one) = all.split(1) {
            permits.push(one);
        }
        permits
    }
}

/// An answer whose body is not read yet. Clones share it; the first to take it reads it.
#[derive(Clone, Debug)]
pub(super) struct Opened(Arc<Mutex<Option<(Answer, OwnedSemaphorePermit)>>>);

impl Opened {
    pub(super) fn new(answer: Answer, permit: OwnedSemaphorePermit) -> Self {
        Self(Arc::new(Mutex::new(Some((answer.set_aside(), permit)))))
    }

    /// The answer, when there is a place for its download; `None` if it was taken before.
    pub(super) async fn take(&self, http: &Http) -> Option<Answer> {
        let waiting = self.0.lock().unwrap_or_else(PoisonError::into_inner).take();
        let (answer, _permit) = waiting?;
        Some(http.take_up(answer).await)
    }
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt as _;

    use super::*;

    #[test]
    fn permits_are_taken_all_at_once_and_returned_one_by_one() {
        let answers = OpenAnswers::new(3);
        let take = |wanted| answers.permits(wanted).now_or_never();
        let mut two = take(2).unwrap();
        assert_eq!(two.len(), 2);
        // Not the one that is left, as long as another one is missing.
        assert!(take(2).is_none());
        two.pop();
        let more = take(2).unwrap();
        assert_eq!(more.len(), 2);
        drop((two, more));
        assert_eq!(take(7).unwrap().len(), 3);
    }
}
