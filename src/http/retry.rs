//! Retries: which failures are retried, how often, and after which pause.
//!
//! A failure is **transient** if the same request may succeed later: the connection was lost, the server was silent, it limits the rate of
//! requests, or it responded with a status such as 503. [`Transient`] describes such a failure, with the server's `Retry-After`. A
//! [`Retry`] counts the failures of one operation and waits before each new attempt: with exponential backoff and jitter, and at least as
//! long as `Retry-After`.

use std::collections::BTreeSet;
use std::sync::Mutex;
use std::time::{Duration, SystemTime};

use backon::{BackoffBuilder as _, ExponentialBuilder};
use reqwest::header::RETRY_AFTER;
use url::Url;

use super::{Answer, Error, Http, Request, Shown, authority};
use crate::event::Event;
use crate::jobs::locked;

/// The default number of retries. Their pauses add up to at least 7 seconds, which outlasts short outages.
const RETRIES: u32 = 5;
/// The number of retries if no connection is made to a host that has not responded before. Their pauses add up to at most 1.5 seconds. A
/// mistyped name or port is more likely than an outage.
const UNREACHED_RETRIES: u32 = 2;
/// The longest `Retry-After` that the client waits for. If the server requires a longer pause, its quota
/// is used up, and the request fails at once.
const LONGEST_WAIT: Duration = Duration::from_secs(120);
/// The most hosts that are remembered as reached. To forget one costs a few useless retries.
const MOST_REACHED: usize = 4_096;

/// A failure after which the same request may succeed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Transient {
    /// The server's `Retry-After`; zero without one.
    pub retry_after: Duration,
    /// The failure in one line.
    pub reason: String,
}

impl Transient {
    /// A failure with this reason and without `Retry-After`.
    pub fn because(reason: impl Into<String>) -> Self {
        Self {
            retry_after: Duration::ZERO,
            reason: reason.into(),
        }
    }

    /// Classifies the result of a request; `None` if it is not a transient failure.
    pub fn of(sent: &Result<Answer, Error>) -> Option<Self> {
        match sent {
            Ok(answer) => Some(Self {
                retry_after: retry_after(answer)?,
                reason: format!("it answered {}", answer.status().as_u16()),
            }),
            Err(error) => error.is_transient().then(|| Self::because(error.summary())),
        }
    }
}

/// The number of retries that one operation has left.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Retry {
    most: u32,
    failures: u32,
}

impl Default for Retry {
    fn default() -> Self {
        Self::new(RETRIES)
    }
}

impl Retry {
    /// Allows at most `most` retries in a row without progress.
    pub fn new(most: u32) -> Self {
        Self { most, failures: 0 }
    }

    /// Counts a failure and waits before the next attempt. Returns `false` without waiting if no retry is left or `Retry-After` is too
    /// long.
    pub async fn wait(&mut self, http: &Http, url: impl Into<Shown>, failure: Transient) -> bool {
        let Transient {
            retry_after,
            reason,
        } = failure;
        if self.is_exhausted() || retry_after > LONGEST_WAIT {
            return false;
        }
        let pause = self.next_pause().max(retry_after);
        http.report(Event::Retrying {
            url: url.into(),
            reason,
            pause,
        });
        tokio::time::sleep(pause).await;
        true
    }

    /// As [`Retry::wait`], for a failure that is not reported.
    pub async fn wait_quietly(&mut self) -> bool {
        if self.is_exhausted() {
            return false;
        }
        tokio::time::sleep(self.next_pause()).await;
        true
    }

    /// Counts a failure and returns the pause before the next attempt.
    fn next_pause(&mut self) -> Duration {
        let pause = backoff(self.failures);
        self.failed();
        pause
    }

    /// Counts a failure without waiting.
    pub fn failed(&mut self) {
        self.failures += 1;
    }

    /// Whether no retry is left.
    pub fn is_exhausted(&self) -> bool {
        self.failures >= self.most
    }

    /// Resets the count, because the operation has made progress.
    pub fn progressed(&mut self) {
        self.failures = 0;
    }
}

impl Http {
    /// Sends a request and retries transient failures, unless the request is [unrepeated](Request::unrepeated). Returns the last response or error.
    ///
    /// # Errors
    /// As [`Http::send`].
    pub async fn retrying(
        &self,
        mut retry: Retry,
        request: impl Fn() -> Request,
    ) -> Result<Answer, Error> {
        loop {
            let next = request();
            let (requested, is_unrepeated) = (next.url().clone(), next.is_unrepeated);
            let shown = next.shown();
            let sent = self.send(next).await;
            let Some(failure) = Transient::of(&sent).filter(|_| !is_unrepeated) else {
                return sent;
            };
            let url = sent.as_ref().map_or(&requested, Answer::url);
            if sent.as_ref().is_err_and(Error::is_unconnected) && !self.shared.reached.has(url) {
                retry.most = retry.most.min(UNREACHED_RETRIES);
            }
            let shown = sent.as_ref().map_or(shown, Answer::shown);
            if !retry.wait(self, shown, failure).await {
                return sent;
            }
        }
    }
}

/// The hosts that have responded, with their ports.
#[derive(Debug, Default)]
pub(super) struct Reached(Mutex<BTreeSet<String>>);

impl Reached {
    pub(super) fn insert(&self, url: &Url) {
        if let Some(host) = authority(url) {
            let mut reached = locked(&self.0);
            if reached.len() >= MOST_REACHED {
                reached.clear();
            }
            reached.insert(host);
        }
    }

    fn has(&self, url: &Url) -> bool {
        let reached = locked(&self.0);
        authority(url).is_some_and(|host| reached.contains(&host))
    }
}

/// The `Retry-After` of a transient failure, zero without one; `None` if the response is not a transient failure.
pub fn retry_after(answer: &Answer) -> Option<Duration> {
    let is_transient = match answer.status().as_u16() {
        // 501 is final: the server does not support the request (`crate::clients#retries`).
        408 | 429 | 500 | 502..=599 => true,
        // GitHub limits the rate of requests with 403, and only the text of the body differs from a real refusal.
        403 => {
            let text = String::from_utf8_lossy(answer.body()).to_lowercase();
            text.contains("secondary rate limit") || text.contains("rate limit exceeded")
        }
        _ => false,
    };
    let asked = || {
        let text = answer.header(RETRY_AFTER)?;
        parse_retry_after(&text, SystemTime::now())
    };
    is_transient.then(|| asked().unwrap_or_default())
}

/// The pause after this many failures: exponential, at most 20 seconds, with jitter.
fn backoff(failures: u32) -> Duration {
    // The first pause outlasts a dropped connection, and the longest one is shorter than most limits on the rate of requests.
    // 250 ms doubled seven times is more than 20 s, so that from here on the pause is the longest one.
    const LONGEST_STEP: u32 = 7;
    let mut pauses = ExponentialBuilder::default()
        .with_jitter()
        .with_min_delay(Duration::from_millis(250))
        .with_max_delay(Duration::from_secs(20))
        .without_max_times()
        .build();
    let pause = pauses.nth(failures.min(LONGEST_STEP) as usize);
    pause.unwrap_or_default()
}

/// Parses `Retry-After`, a number of seconds or a date.
fn parse_retry_after(text: &str, now: SystemTime) -> Option<Duration> {
    if let Ok(seconds) = text.trim().parse::<u64>() {
        return Some(Duration::from_secs(seconds));
    }
    httpdate::parse_http_date(text)
        .ok()?
        .duration_since(now)
        .ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn retry_after_is_seconds_or_a_date() {
        let now = SystemTime::UNIX_EPOCH + Duration::from_secs(784_111_770);
        let after = |text| parse_retry_after(text, now);
        assert_eq!(after(" 7 "), Some(Duration::from_secs(7)));
        assert_eq!(
            after("Sun, 06 Nov 1994 08:49:37 GMT"),
            Some(Duration::from_secs(7))
        );
        assert_eq!(after("Sun, 06 Nov 1994 08:49:00 GMT"), None);
        assert_eq!(after("soon"), None);
    }

    /// Many clients that fail together must not come back together.
    #[test]
    fn pauses_are_random() {
        let pauses: BTreeSet<Duration> = (0..20).map(|_| backoff(0)).collect();
        assert!(pauses.len() > 1, "{pauses:?}");
    }

    #[test]
    fn pauses_get_longer_up_to_a_limit() {
        let longest = Duration::from_secs(20);
        for failures in 0..=20 {
            let least = Duration::from_millis(250 << failures.min(6)).min(longest);
            let pause = backoff(failures);
            assert!(
                pause >= least && pause <= 2 * longest,
                "{failures}: {pause:?}"
            );
        }
    }

    #[test]
    fn progress_gives_all_retries_back() {
        let mut retry = Retry::new(2);
        retry.failed();
        assert!(!retry.is_exhausted());
        retry.failed();
        assert!(retry.is_exhausted());
        retry.progressed();
        assert!(!retry.is_exhausted());
    }

    #[test]
    fn a_server_that_wants_too_long_a_pause_is_not_waited_for() {
        let http = Http::new(crate::http::Settings::default());
        let url: Url = "https://example.com/".parse().unwrap();
        let runtime = tokio::runtime::Builder::new_current_thread()
            .build()
            .unwrap();
        let failure = Transient {
            retry_after: LONGEST_WAIT + Duration::from_secs(1),
            reason: "it answered 503".to_owned(),
        };
        assert!(!runtime.block_on(Retry::default().wait(&http, url, failure)));
    }
}
