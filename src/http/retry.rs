//! Trying again.

use std::time::{Duration, SystemTime};

use backon::{BackoffBuilder as _, ExponentialBuilder};
use reqwest::StatusCode;
use reqwest::header::RETRY_AFTER;
use url::Url;

use super::{Answer, Error, Http, Request};
use crate::event::Event;

/// How often something is tried.
const ATTEMPTS: usize = 6;
/// The longest pause that a server may ask for: a longer one is better left to the next run.
const LONGEST: Duration = Duration::from_secs(120);

impl Http {
    /// Sends until there is an answer that is worth looking at: not throttled, not a passing failure of the server, not
    /// a lost connection; or until patience runs out, and then gives the last of them.
    ///
    /// # Errors
    /// The last error of the network.
    pub async fn retrying(&self, request: impl Fn() -> Request) -> Result<Answer, Error> {
        for pause in pauses(ATTEMPTS - 1) {
            let (url, reason, wish) = match self.send(request()).await {
                Ok(answer) => match wish(&answer) {
                    Some(wish) if wish <= LONGEST => {
                        let reason = format!("it answered {}", answer.status().as_u16());
                        (answer.url().clone(), reason, wish)
                    }
                    _ => return Ok(answer),
                },
                Err(error) if error.is_passing() => {
                    (request().url, error.in_short(), Duration::ZERO)
                }
                Err(error) => return Err(error),
            };
            self.wait(url, reason, pause.max(wish)).await;
        }
        self.send(request()).await
    }

    /// Waits before something is tried again that went wrong for a reason, or says that it is not worth waiting for.
    pub async fn pause(&self, attempt: u32, wish: Duration, url: &Url, reason: String) -> bool {
        let is_worth_it = wish <= LONGEST;
        if is_worth_it {
            let pause = backoff(attempt).max(wish);
            self.wait(url.clone(), reason, pause).await;
        }
        is_worth_it
    }

    async fn wait(&self, url: Url, reason: String, pause: Duration) {
        self.report(Event::Retrying {
            url: url.into(),
            reason,
            pause,
        });
        tokio::time::sleep(pause).await;
    }
}

/// How long the server wants to be left alone; `None` if it does not.
pub fn wish(answer: &Answer) -> Option<Duration> {
    // What a server cannot do at all it will not do later (`crate::clients#retries`).
    let is_failing = matches!(answer.status().as_u16(), 408 | 500 | 502..=599);
    if !is_failing && !is_throttled(answer) {
        return None;
    }
    let asked = answer
        .header(RETRY_AFTER)
        .and_then(|text| after(&text, SystemTime::now()));
    Some(asked.unwrap_or_default())
}

/// How long to wait after so many attempts, where no server says it.
pub fn backoff(attempts: u32) -> Duration {
    let pause = pauses(ATTEMPTS).nth(attempts as usize);
    pause.unwrap_or_default()
}

/// Ever longer pauses, so many of them.
fn pauses(count: usize) -> impl Iterator<Item = Duration> {
    ExponentialBuilder::default()
        .with_jitter()
        .with_min_delay(Duration::from_millis(250))
        .with_max_delay(Duration::from_secs(20))
        .with_max_times(count)
        .build()
}

/// GitHub throttles by refusing, and only the text tells that from a refusal for good.
fn is_throttled(answer: &Answer) -> bool {
    let says_so = || {
        let text = String::from_utf8_lossy(answer.seen()).to_lowercase();
        text.contains("secondary rate limit") || text.contains("rate limit exceeded")
    };
    answer.status() == StatusCode::TOO_MANY_REQUESTS
        || (answer.status() == StatusCode::FORBIDDEN && says_so())
}

/// Reads `Retry-After`: seconds, or a date.
fn after(text: &str, now: SystemTime) -> Option<Duration> {
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
        assert_eq!(after(" 7 ", now), Some(Duration::from_secs(7)));
        assert_eq!(
            after("Sun, 06 Nov 1994 08:49:37 GMT", now),
            Some(Duration::from_secs(7))
        );
        assert_eq!(after("Sun, 06 Nov 1994 08:49:00 GMT", now), None);
        assert_eq!(after("soon", now), None);
    }
}
