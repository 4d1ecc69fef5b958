//! Open responses: requested to learn the size of a package, and read by its upload.
//!
//! A manifest contains the size of a package, but most provider registries do not list it. tfoci therefore sends the request for the
//! package when it needs the size, takes the size from the headers, and reads the body when the upload begins. Until then the server waits,
//! because the TCP window is full.
//!
//! # Why this cannot deadlock
//! A waiting response holds a permit of [`OpenAnswers`] and no download permit of its host. A version acquires all of its permits at once,
//! and holds none while it waits for others. An upload that reads a package waits only for a download permit, and only packages that are
//! being read hold those.

use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::http::{Answer, Http};

/// Limits the number of open responses.
#[derive(Clone, Debug)]
pub struct OpenAnswers {
    permits: Arc<Semaphore>,
    limit: usize,
}

impl OpenAnswers {
    /// Allows `limit` open responses, at least one.
    pub fn new(limit: usize) -> Self {
        let limit = limit.clamp(1, Semaphore::MAX_PERMITS);
        Self {
            permits: Arc::new(Semaphore::new(limit)),
            limit,
        }
    }

    pub(super) fn limit(&self) -> usize {
        self.limit
    }

    /// Waits for `wanted` permits and acquires them all at once. If `wanted` exceeds the limit, it acquires as many as the limit allows.
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

/// A response whose body has not been read. Clones share it, and the first caller of `take` gets it.
#[derive(Clone, Debug)]
pub(super) struct Opened(Arc<Mutex<Option<(Answer, OwnedSemaphorePermit)>>>);

impl Opened {
    pub(super) fn new(mut answer: Answer, permit: OwnedSemaphorePermit) -> Self {
        answer.set_permit(None);
        Self(Arc::new(Mutex::new(Some((answer, permit)))))
    }

    /// Waits for a download permit and returns the response; `None` if it was already taken.
    pub(super) async fn take(&self, http: &Http) -> Option<Answer> {
        let waiting = self.0.lock().unwrap_or_else(PoisonError::into_inner).take();
        let (mut answer, _permit) = waiting?;
        answer.set_permit(Some(http.download_permit(answer.url()).await));
        Some(answer)
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
        // One permit is free, but two are needed.
        assert!(take(2).is_none());
        two.pop();
        let more = take(2).unwrap();
        assert_eq!(more.len(), 2);
        drop((two, more));
        assert_eq!(take(7).unwrap().len(), 3);
    }
}
