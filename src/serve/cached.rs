//! A value that is asked for once, however many wait for it, and kept for a while.
//!
//! | age of the value | answer |
//! | --- | --- |
//! | up to [`Ages::fresh`] | the value |
//! | older | a new value; if the store cannot be asked, the old one until [`Ages::stale`] |
//! | older than [`Ages::stale`], or there is none | a new value, or the reason why there is none |
//!
//! A question goes on when those who wait for it have gone, so that the next request finds its answer.

use std::future::Future;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use futures_util::FutureExt as _;
use futures_util::future::{BoxFuture, Shared};

/// For how long nobody asks again after a failure. Short, so that clients that try again soon find a store that is back.
const PAUSE: Duration = Duration::from_secs(2);
/// The longest time that a question may take, unless [`Fresh::of_long_questions`] says more. It ends after its last waiter has gone.
const LONGEST_QUESTION: Duration = Duration::from_secs(120);
/// How long a request waits for a new value if there is an old one.
const WITH_OLD: Duration = Duration::from_secs(3);
/// How long a request waits for a value without an old one. Clients wait for 10 seconds.
const WITHOUT_OLD: Duration = Duration::from_secs(8);

/// How long values are used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ages {
    /// How long a value is used without asking again.
    pub fresh: Duration,
    /// How long a value is used if the store cannot be asked.
    pub stale: Duration,
}

/// An answer to a request.
#[derive(Debug)]
pub(super) struct Answer<T> {
    /// The value.
    pub(super) value: Arc<T>,
    /// How long the value stays fresh; zero if it is stale.
    pub(super) lifetime: Duration,
    /// Whether the store could not be asked, so that the value is older than it should be.
    pub(super) is_stale: bool,
}

/// Why there is no value.
#[derive(Debug)]
pub(super) enum Unanswered<E> {
    /// The question failed.
    Failed(Arc<E>),
    /// The question takes longer than clients wait. It goes on.
    Slow,
}

impl<E> Clone for Unanswered<E> {
    fn clone(&self) -> Self {
        match self {
            Self::Failed(error) => Self::Failed(error.clone()),
            Self::Slow => Self::Slow,
        }
    }
}

type Question<T, E> = Shared<BoxFuture<'static, Result<Arc<T>, Unanswered<E>>>>;

/// A value with its age.
pub(super) struct Fresh<T, E> {
    state: Mutex<State<T, E>>,
    longest: Duration,
}

struct State<T, E> {
    good: Option<(Arc<T>, Instant)>,
    failed: Option<(Unanswered<E>, Instant)>,
    question: Option<Question<T, E>>,
    /// Whether the value is known to be wrong, whatever its age.
    is_outdated: bool,
}

impl<T, E> Default for Fresh<T, E> {
    fn default() -> Self {
        Self::of_long_questions(LONGEST_QUESTION)
    }
}

impl<T, E> Fresh<T, E> {
    /// A value whose questions are dropped only after this time.
    pub(super) fn of_long_questions(longest: Duration) -> Self {
        let state = Mutex::new(State {
            good: None,
            failed: None,
            question: None,
            is_outdated: false,
        });
        Self { state, longest }
    }

    /// Whether a question is under way.
    pub(super) fn is_asked(&self) -> bool {
        self.state().question.is_some()
    }

    fn state(&self) -> MutexGuard<'_, State<T, E>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What to do next.
enum Next<T, E> {
    Answer(Result<Answer<T>, Unanswered<E>>),
    Wait(Question<T, E>, Option<Answer<T>>),
}

impl<T: Send + Sync + 'static, E: Send + Sync + 'static> Fresh<T, E> {
    /// The value. `ask` gets the old value and asks for a new one.
    pub(super) async fn get<F>(
        self: &Arc<Self>,
        ages: Ages,
        ask: impl FnOnce(Option<Arc<T>>) -> F,
    ) -> Result<Answer<T>, Unanswered<E>>
    where
        F: Future<Output = Result<T, E>> + Send + 'static,
    {
        let (question, old) = match self.next(ages, ask) {
            Next::Answer(answer) => return answer,
            Next::Wait(question, old) => (question, old),
        };
        let patience = if old.is_some() { WITH_OLD } else { WITHOUT_OLD };
        match (tokio::time::timeout(patience, question).await, old) {
            (Ok(Ok(value)), _) => Ok(Answer {
                value,
                lifetime: ages.fresh,
                is_stale: false,
            }),
            (_, Some(old)) => Ok(old),
            (Ok(Err(error)), None) => Err(error),
            (Err(_), None) => Err(Unanswered::Slow),
        }
    }

    /// The last good value, however old.
    pub(super) fn last(&self) -> Option<Arc<T>> {
        let state = self.state();
        state.good.as_ref().map(|(value, _)| value.clone())
    }

    /// Makes the next request ask again.
    pub(super) fn outdate(&self) {
        let mut state = self.state();
        state.failed = None;
        state.is_outdated = true;
    }

    fn next<F>(self: &Arc<Self>, ages: Ages, ask: impl FnOnce(Option<Arc<T>>) -> F) -> Next<T, E>
    where
        F: Future<Output = Result<T, E>> + Send + 'static,
    {
        let mut state = self.state();
        let now = Instant::now();
        let age = |since: &Instant| now.saturating_duration_since(*since);
        if let Some((value, since)) = &state.good
            && !state.is_outdated
            && age(since) < ages.fresh
        {
            return Next::Answer(Ok(Answer {
                value: value.clone(),
                lifetime: ages.fresh.saturating_sub(age(since)),
                is_stale: false,
            }));
        }
        let old = state
            .good
            .as_ref()
            .filter(|(_, since)| age(since) < ages.stale);
        let old = old.map(|(value, _)| Answer {
            value: value.clone(),
            lifetime: Duration::ZERO,
            is_stale: true,
        });
        if state.question.is_none()
            && let Some((error, since)) = &state.failed
            && age(since) < PAUSE
        {
            let error = error.clone();
            return Next::Answer(old.ok_or(error));
        }
        let known = state.good.as_ref().map(|(value, _)| value.clone());
        let question = match &state.question {
            Some(question) => question.clone(),
            None => {
                let question = self.asked(ask(known));
                state.question = Some(question.clone());
                // The task goes on when all who wait have gone.
                tokio::spawn(question.clone());
                question
            }
        };
        Next::Wait(question, old)
    }

    /// The question, which stores its answer.
    fn asked(
        self: &Arc<Self>,
        question: impl Future<Output = Result<T, E>> + Send + 'static,
    ) -> Question<T, E> {
        let this = self.clone();
        let limited = tokio::time::timeout(self.longest, question);
        async move {
            let answer = match limited.await {
                Ok(Ok(value)) => Ok(Arc::new(value)),
                Ok(Err(error)) => Err(Unanswered::Failed(Arc::new(error))),
                Err(_) => Err(Unanswered::Slow),
            };
            let mut state = this.state();
            state.question = None;
            let now = Instant::now();
            match &answer {
                Ok(value) => {
                    state.good = Some((value.clone(), now));
                    state.failed = None;
                    state.is_outdated = false;
                }
                Err(error) => state.failed = Some((error.clone(), now)),
            }
            answer
        }
        .boxed()
        .shared()
    }
}

#[cfg(test)]
mod tests {
    use tokio::sync::oneshot;

    use super::*;

    const AGES: Ages = Ages {
        fresh: Duration::ZERO,
        stale: Duration::ZERO,
    };

    #[tokio::test]
    async fn a_question_is_dropped_after_its_own_time() {
        let asking = |longest| async move {
            let fresh = Arc::new(Fresh::<(), ()>::of_long_questions(longest));
            let (held, ended) = oneshot::channel::<()>();
            let asked = fresh.clone();
            let waiting = tokio::spawn(async move {
                let question = |_| async move {
                    let _held = held;
                    std::future::pending().await
                };
                asked.get(AGES, question).await.is_err()
            });
            (fresh, ended, waiting)
        };
        let (short, ended, waiting) = asking(Duration::from_millis(1)).await;
        assert!(waiting.await.unwrap());
        assert!(ended.await.is_err());
        assert!(!short.is_asked());
        let (long, mut ended, waiting) = asking(LONGEST_QUESTION * 30).await;
        while !long.is_asked() {
            tokio::task::yield_now().await;
        }
        waiting.abort();
        assert!(waiting.await.is_err());
        assert!(long.is_asked());
        assert!(
            ended
                .try_recv()
                .is_err_and(|error| error == oneshot::error::TryRecvError::Empty)
        );
    }
}
