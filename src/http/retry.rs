//! Trying again: what is worth it, how long to wait, and how often.
//!
//! A failure is **transient** if the same request may succeed a moment later: the connection was lost, the server was silent or throttles,
//! or it answered with a status that says "later". [`Transient`] tells those apart, and has the `Retry-After` of the server. A [`Retry`]
//! counts them for one piece of work and waits before each new attempt: with exponential backoff and jitter, and at least as long as the
//! server asks for.

use std::time::{Duration, SystemTime};

use backon::{BackoffBuilder as _, ExponentialBuilder};
use reqwest::StatusCode;
use reqwest::header::RETRY_AFTER;
use url::Url;

use super::{Answer, Error, Http, Request};
use crate::event::Event;

/// How often something is tried again, unless its caller says otherwise.
const RETRIES: u32 = 5;
/// The longest `Retry-After` that is waited for. A longer one is better left to the next run.
const LONGEST_WAIT: Duration = Duration::from_secs(120);

/// A failure after which the same request may succeed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Transient {
    /// How long the server wants to be left alone; zero if it did not say.
    pub retry_after: Duration,
    /// What happened, in a line.
    pub reason: String,
}

impl Transient {
    /// A failure for this reason, about which the server said nothing.
    pub fn because(reason: impl Into<String>) -> Self {
        Self {
            retry_after: Duration::ZERO,
            reason: reason.into(),
        }
    }

    /// The failure in what was sent and answered, if it is a transient one.
    pub fn of(sent: &Result<Answer, Error>) -> Option<Self> {
        match sent {
            Ok(answer) => Some(Self {
                retry_after: retry_after(answer)?,
                reason: format!("it answered {}", answer.status().as_u16()),
            }),
            Err(error) => error.is_passing().then(|| Self::because(error.in_short())),
        }
    }
}

/// How often a piece of work may still be tried again.
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
    /// At most so many retries without progress between them.
    pub fn new(most: u32) -> Self {
        Self { most, failures: 0 }
    }

    /// Counts a failure, and waits before the next attempt. `false`, at once: there were too many, or the server wants to be left alone
    /// for too long.
    pub async fn wait(&mut self, http: &Http, url: &Url, failure: Transient) -> bool {
        let Transient {
            retry_after,
            reason,
        } = failure;
        if self.is_exhausted() || retry_after > LONGEST_WAIT {
            return false;
        }
        let pause = backoff(self.failures).max(retry_after);
        self.failed();
        http.report(Event::Retrying {
            url: url.clone().into(),
            reason,
            pause,
        });
        tokio::time::sleep(pause).await;
        true
    }

    /// Counts a failure after which there is nothing to wait for.
    pub fn failed(&mut self) {
        self.failures += 1;
    }

    /// Whether no retry is left.
    pub fn is_exhausted(&self) -> bool {
        self.failures >= self.most
    }

    /// Forgets the failures so far: the work has made progress.
    pub fn progressed(&mut self) {
        self.failures = 0;
    }
}

impl Http {
    /// Sends a request until its answer is no transient failure, or the retries are used up; then gives the last answer or error.
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
            let requested = next.url().clone();
            let sent = self.send(next).await;
            let Some(failure) = Transient::of(&sent) else {
                return sent;
            };
            let url = sent.as_ref().map_or(&requested, Answer::url);
            if !retry.wait(self, url, failure).await {
                return sent;
            }
        }
    }
}

/// How long the server of a transient failure wants to be left alone, zero if it does not say; `None` if the answer is no transient
/// failure.
pub fn retry_after(answer: &Answer) -> Option<Duration> {
    // What a server does not support at all (501), it will not support later (`crate::clients#retries`).
    let is_failing = matches!(answer.status().as_u16(), 408 | 500 | 502..=599);
    if !is_failing && !is_throttled(answer) {
        return None;
    }
    let asked = answer
        .header(RETRY_AFTER)
        .and_then(|text| parse_retry_after(&text, SystemTime::now()));
    Some(asked.unwrap_or_default())
}

/// The pause after so many failures, longer each time up to 20 seconds, and with jitter.
pub fn backoff(failures: u32) -> Duration {
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

/// Whether a server limits the rate of requests. GitHub does so by 403, and only the text tells that from a real refusal.
fn is_throttled(answer: &Answer) -> bool {
    let says_so = || {
        let text = String::from_utf8_lossy(answer.seen()).to_lowercase();
        text.contains("secondary rate limit") || text.contains("rate limit exceeded")
    };
    answer.status() == StatusCode::TOO_MANY_REQUESTS
        || (answer.status() == StatusCode::FORBIDDEN && says_so())
}

/// Parses `Retry-After`: seconds, or a date.
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
        assert!(!runtime.block_on(Retry::default().wait(&http, &url, failure)));
    }
}
