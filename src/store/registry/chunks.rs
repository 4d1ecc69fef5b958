//! Uploading in chunks: a PATCH for each, always from where the registry stands.
//!
//! A chunk is kept until the registry has it. After a cut, a lost answer or a refusal the registry is asked how far it has
//! come, and the upload goes on from there; so the blob is read once, and what was hashed is what was sent.

use std::time::Duration;

use bytes::{Buf as _, Bytes};
use reqwest::header::{CONTENT_RANGE, CONTENT_TYPE, RANGE};
use reqwest::{Method, StatusCode};
use url::Url;

use super::ladder::SMALLEST;
use super::upload::{BYTES, Begun, Stop, Upload, location};
use super::{Error, auth::Scope, with_digest};
use crate::blob::{BlobSource, Pieces};
use crate::http::{Answer, LEAST_FLOW, Payload, wish};
use crate::store::Put;

/// The longest chunk that is kept in memory, in bytes: storages behind registries want 5 MiB at least, some 16.
const LARGEST: usize = 64 << 20;
/// How often in a row the registry may come no further.
const ATTEMPTS: u32 = 5;

/// An upload in chunks.
pub(super) struct Chunks<'a, B> {
    upload: &'a Upload<'a, B>,
    scope: Scope,
    /// Where the next request goes: every answer may say another place.
    location: Url,
    /// How many bytes the registry has.
    at: u64,
    /// How long a chunk is.
    length: usize,
    /// How long it is at least, the last one excepted.
    least: usize,
    /// How often in a row nothing was gained.
    failures: u32,
}

impl<'a, B: BlobSource> Chunks<'a, B> {
    /// Goes on with an upload that was begun, in chunks of so many bytes, or of more if the registry wants more.
    pub(super) fn new(
        upload: &'a Upload<'a, B>,
        begun: Begun,
        length: usize,
    ) -> Result<Self, Stop> {
        let wanted = begun.least.unwrap_or(0);
        let least = usize::try_from(wanted).ok();
        let Some(least) = least.filter(|least| *least <= LARGEST) else {
            return Err(Stop::Otherwise(Error::LongChunks {
                url: begun.location.into(),
                limit: LARGEST as u64,
                least: wanted,
            }));
        };
        Ok(Self {
            upload,
            scope: begun.scope,
            location: begun.location,
            at: 0,
            length: length.max(least),
            least,
            failures: 0,
        })
    }

    /// Sends everything, and says that it is complete.
    pub(super) async fn send(mut self) -> Result<Put, Stop> {
        let unread = |source| self.upload.unread(source);
        let mut pieces = Pieces::of(self.upload.blob).await.map_err(unread)?;
        let mut held = Bytes::new();
        loop {
            held = pieces.fill(held, self.length).await.map_err(unread)?;
            if held.is_empty() {
                return self.close().await;
            }
            let before = self.at;
            let chunk = held.slice(..held.len().min(self.length));
            self.patch(chunk).await?;
            let gained = usize::try_from(self.at - before).unwrap_or(held.len());
            held.advance(gained.min(held.len()));
        }
    }

    /// Sends a chunk, and notes how much of it the registry has then.
    async fn patch(&mut self, chunk: Bytes) -> Result<(), Stop> {
        let Upload { registry, host, .. } = *self.upload;
        let sent = chunk.len() as u64;
        let secret = host.auth.secret(&self.scope).await?;
        let range = format!("{}-{}", self.at, (self.at + sent).saturating_sub(1));
        let request = host
            .request(Method::PATCH, self.location.clone())
            .header(CONTENT_TYPE, BYTES)
            .header(CONTENT_RANGE, &range)
            .secret(secret.clone(), &host.base)
            .payload(Payload::Bytes(chunk));
        let answer = match registry.http.send(request).await {
            Ok(answer) => answer,
            Err(error) if error.is_passing() => return self.retreat(sent, error.into()).await,
            Err(error) => return Err(Error::from(error).into()),
        };
        let wish = wish(&answer);
        match answer.status() {
            status if status.is_success() => {
                let all = self.at + sent;
                self.go_on(&answer, sent, Some(all))
            }
            StatusCode::UNAUTHORIZED
                if host
                    .auth
                    .learn(&answer, &self.scope, secret.as_ref())
                    .await? =>
            {
                let error = self.upload.refusal(answer).await;
                self.stumble(Duration::ZERO, error).await
            }
            StatusCode::PAYLOAD_TOO_LARGE if self.shorten() => Ok(()),
            // The registry stands elsewhere, or takes no chunk of this length.
            StatusCode::RANGE_NOT_SATISFIABLE => {
                let error = self.upload.refusal(answer).await;
                self.retreat(sent, error).await
            }
            // The registry has forgotten the upload.
            StatusCode::NOT_FOUND => {
                let error = self.upload.refusal(answer).await;
                Err(Stop::again(Duration::ZERO, error))
            }
            status => {
                let error = self.upload.refusal(answer).await;
                match (wish, status) {
                    (Some(wish), _) => self.ask(sent, wish, error).await,
                    (None, StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN) => Err(error.into()),
                    _ => Err(Stop::Otherwise(error)),
                }
            }
        }
    }

    /// Asks how far the registry has come. If nothing of the chunk got through, the next one is shorter: the line is too slow
    /// for this length, or somebody takes less.
    async fn retreat(&mut self, sent: u64, error: Error) -> Result<(), Stop> {
        let before = self.at;
        self.ask(sent, Duration::ZERO, error).await?;
        if self.at == before {
            self.shorten();
        }
        Ok(())
    }

    /// Asks how far the registry has come, after a chunk of which it may have anything.
    async fn ask(&mut self, sent: u64, wish: Duration, error: Error) -> Result<(), Stop> {
        self.stumble(wish, error).await?;
        let Upload { registry, host, .. } = *self.upload;
        let request = || host.request(Method::GET, self.location.clone());
        let answer = registry.send(host, &self.scope, request).await?;
        if answer.status().is_success() {
            self.go_on(&answer, sent, None)
        } else {
            let error = self.upload.refusal(answer).await;
            Err(Stop::again(Duration::ZERO, error))
        }
    }

    /// Goes on from where an answer says that the registry stands; `silent` is what is meant by saying nothing.
    fn go_on(&mut self, answer: &Answer, sent: u64, silent: Option<u64>) -> Result<(), Stop> {
        if let Some(location) = location(answer, &self.upload.host.base) {
            self.location = location;
        }
        let (least, most) = (self.at, self.at + sent);
        let said = answer.header(RANGE).as_deref().and_then(length).or(silent);
        let error = || Error::Offset {
            url: answer.url().clone().into(),
            least,
            most,
            received: said,
        };
        match said {
            Some(received) if received > most => Err(Stop::Otherwise(error())),
            // A registry that takes next to nothing of each chunk is not followed to the end of a package.
            Some(received) if received == most || received >= least + LEAST_FLOW => {
                self.failures = 0;
                self.at = received;
                Ok(())
            }
            Some(received) if received > least && self.failures < ATTEMPTS => {
                self.failures += 1;
                self.at = received;
                Ok(())
            }
            Some(received) if received == least && self.failures < ATTEMPTS => {
                self.failures += 1;
                Ok(())
            }
            Some(received) if received >= least => Err(Stop::Otherwise(error())),
            // What was taken is gone, or is not told: only from the start is sure.
            _ => Err(Stop::again(Duration::ZERO, error())),
        }
    }

    /// Notes a failure, and waits; an error if it is not worth going on.
    async fn stumble(&mut self, wish: Duration, error: Error) -> Result<(), Stop> {
        self.failures += 1;
        if self.failures > ATTEMPTS {
            return Err(Stop::Otherwise(error));
        }
        let http = &self.upload.registry.http;
        let pause = http.pause(self.failures, wish, &self.location, error.in_short());
        if pause.await {
            Ok(())
        } else {
            Err(error.into())
        }
    }

    /// Makes chunks shorter, if they can be.
    fn shorten(&mut self) -> bool {
        let shorter = (self.length / 2).max(SMALLEST).max(self.least);
        let can_be = shorter < self.length;
        if can_be {
            self.length = shorter;
        }
        can_be
    }

    /// Says that the blob is complete.
    async fn close(self) -> Result<Put, Stop> {
        let Upload { registry, host, .. } = *self.upload;
        let digest = self.upload.blob.expected().digest;
        let url = with_digest(self.location, &digest);
        let request = || {
            host.request(Method::PUT, url.clone())
                .header(CONTENT_TYPE, BYTES)
                .payload(Payload::Bytes(Bytes::new()))
        };
        let answer = registry.send(host, &self.scope, request).await?;
        let status = answer.status();
        if status.is_success() {
            host.seen().chunk = Some(self.length);
            return Ok(Put::Stored);
        }
        let error = self.upload.refusal(answer).await;
        match status {
            // An earlier one may have got through, and only its answer not.
            StatusCode::NOT_FOUND => self.upload.lost(Duration::ZERO, error).await,
            StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN => Err(error.into()),
            _ => Err(Stop::Otherwise(error)),
        }
    }
}

/// How many bytes a registry has by its `Range`, which names the first and the last of them. `0-0` is said by those who
/// have nothing: one byte alone is never a chunk.
fn length(range: &str) -> Option<u64> {
    let range = range.trim();
    let range = range.strip_prefix("bytes").unwrap_or(range);
    let (first, last) = range.trim_start_matches(['=', ' ']).split_once('-')?;
    match (first.trim().parse().ok()?, last.trim().parse().ok()?) {
        (0_u64, 0_u64) => Some(0),
        (0, last) => last.checked_add(1),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_range_tells_how_much_is_there() {
        for (text, wanted) in [
            ("0-9", Some(10)),
            (" bytes=0-9 ", Some(10)),
            ("bytes 0-9", Some(10)),
            ("0-0", Some(0)),
            ("5-9", None),
            ("0-18446744073709551615", None),
            ("0-18446744073709551616", None),
            ("0--1", None),
            ("9", None),
            ("", None),
        ] {
            assert_eq!(length(text), wanted, "{text}");
        }
    }

    proptest! {
        #[test]
        fn what_is_said_is_read(count in 2..u64::MAX, junk in "\\PC{0,12}") {
            prop_assert_eq!(length(&format!("0-{}", count - 1)), Some(count));
            let _never_panics = length(&junk);
        }
    }
}
