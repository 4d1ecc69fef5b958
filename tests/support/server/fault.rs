//! Faults, and the rules that apply them to requests.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;

use super::answer::{Answer, End};
use super::gate::Place;
use super::seen::Seen;

/// A fault of one request.
#[derive(Clone)]
pub enum Fault {
    /// Sends another answer. The request has no effect.
    Answer(Answer),
    /// Revokes the token.
    ExpiredToken,
    /// Resets the connection. The request has no effect.
    Reset,
    /// Never answers. The request has no effect.
    Stall,
    /// Reads so many bytes of the body, then cuts the connection.
    CutRequest(u64),
    /// Waits until the other requests with this fault have arrived.
    Together(Arc<tokio::sync::Barrier>),
    /// Reads the request, and waits at a gate before it takes effect. The body of the answer waits there too.
    Held(Place),
    /// Cuts the connection before the answer, after the request took effect.
    LostAnswer,
    /// Redirects to another door, with a signature in the URL.
    RedirectElsewhere,
    /// Redirects to a door without TLS.
    RedirectPlain,
    /// Redirects in a circle.
    RedirectLoop,
    /// Alters the answer, after the request took effect.
    Alter(Alteration),
}

/// A change of an answer.
pub type Alteration = Arc<dyn Fn(&mut Answer) + Send + Sync>;

impl Fault {
    /// A status with a short body: 500, 502, 503.
    pub fn status(status: u16) -> Self {
        Self::Answer(Answer::new(status).body("it went wrong\n"))
    }

    /// 429 with `Retry-After`, in seconds or as a date.
    pub fn too_many_requests(retry_after: &str) -> Self {
        let answer = Answer::error(429, "TOOMANYREQUESTS", "too many requests");
        Self::Answer(answer.header("retry-after", retry_after))
    }

    /// GitHub's rate limit, which has status 403.
    pub fn secondary_limit() -> Self {
        let text = "You have exceeded a secondary rate limit. Please wait a few minutes before you try again.";
        let document = serde_json::json!({ "message": text });
        Self::Answer(Answer::json(403, &document))
    }

    /// A permanent refusal.
    pub fn denied() -> Self {
        let message = "requested access to the resource is denied";
        Self::Answer(Answer::error(403, "DENIED", message))
    }

    /// Calls a function after the request took effect and before the answer.
    pub fn after(happens: impl Fn() + Send + Sync + 'static) -> Self {
        Self::alter(move |_| happens())
    }

    /// Sends another answer, after the request took effect.
    pub fn although_done(answer: Answer) -> Self {
        Self::alter(move |altered| *altered = answer.clone())
    }

    /// Alters the answer.
    pub fn alter(alteration: impl Fn(&mut Answer) + Send + Sync + 'static) -> Self {
        Self::Alter(Arc::new(alteration))
    }

    /// Cuts the body after so many bytes, although `Content-Length` states more.
    pub fn cut_body(after: usize) -> Self {
        Self::alter(move |answer| answer.end = End::Cut(after))
    }

    /// Stalls the body after so many bytes.
    pub fn stall_body(after: usize) -> Self {
        Self::alter(move |answer| answer.end = End::Stall(after))
    }

    /// Calls a function after the request took effect, and then sends only the headers of the answer.
    pub fn stall_body_after(happens: impl Fn() + Send + Sync + 'static) -> Self {
        Self::alter(move |answer| {
            happens();
            answer.end = End::Stall(0);
        })
    }

    /// Sends the body in pieces of so many bytes, with a pause of this length between them.
    pub fn drip_body(piece: usize, every: Duration) -> Self {
        Self::alter(move |answer| answer.end = End::Drip(piece, every))
    }

    /// Sends a body of the right length with one wrong bit in its middle.
    pub fn wrong_bytes() -> Self {
        Self::alter(|answer| {
            let mut bytes = answer.body.to_vec();
            let middle = bytes.len() / 2;
            bytes[middle] ^= 1;
            answer.body = bytes.into();
        })
    }

    /// Sends additional bytes after the body. `Content-Length` includes them.
    pub fn longer_body() -> Self {
        Self::alter(|answer| answer.body = [&answer.body[..], b"more"].concat().into())
    }

    /// Sends a shorter body. `Content-Length` is that of the shorter one.
    pub fn shorter_body() -> Self {
        Self::alter(|answer| answer.body = answer.body.slice(..answer.body.len() / 2))
    }

    /// Answers a range request with 206 and another range of the same length.
    pub fn range_elsewhere(whole: &[u8]) -> Self {
        let whole = Bytes::copy_from_slice(whole);
        Self::alter(move |answer| {
            let end = answer.body.len();
            answer.body = whole.slice(..end);
            let range = format!("bytes 0-{}/{}", end - 1, whole.len());
            answer.set("content-range", &range);
        })
    }

    /// Ignores a range, and sends everything with 200.
    pub fn range_ignored(whole: &[u8]) -> Self {
        let whole = Bytes::copy_from_slice(whole);
        Self::alter(move |answer| {
            answer.status = 200;
            answer.body = whole.clone();
            answer.remove("content-range");
        })
    }

    /// Sends the body without `Content-Length`.
    pub fn chunked() -> Self {
        Self::alter(|answer| answer.sized = false)
    }

    /// Redirects to another URL.
    pub fn redirect(url: &str) -> Self {
        Self::Answer(Answer::new(302).header("location", url))
    }

    /// Refuses a range with 416.
    pub fn range_refused() -> Self {
        Self::Answer(Answer::new(416))
    }

    /// Removes a header.
    pub fn without(name: &'static str) -> Self {
        Self::alter(move |answer| answer.remove(name))
    }

    /// Replaces the value of a header.
    pub fn with(name: &'static str, value: impl Into<String>) -> Self {
        let value = value.into();
        Self::alter(move |answer| answer.set(name, &value))
    }

    /// Replaces the body, and keeps the headers of the right one.
    pub fn body(body: impl Into<Bytes>) -> Self {
        let body = body.into();
        Self::alter(move |answer| answer.body = body.clone())
    }
}

/// A fault, and the requests that it applies to.
pub struct Rule {
    pub matches: Box<dyn Fn(&Seen) -> bool + Send>,
    /// How many matching requests are left alone first.
    pub skip: usize,
    /// How many matching requests meet the fault then.
    pub times: usize,
    pub fault: Fault,
}

impl Rule {
    /// Counts a request. Returns its fault, if it meets one.
    pub(super) fn meet(&mut self, seen: &Seen) -> Option<Fault> {
        if !(self.matches)(seen) {
            return None;
        }
        if self.skip > 0 {
            self.skip -= 1;
            return None;
        }
        let left = self.times.checked_sub(1)?;
        self.times = left;
        Some(self.fault.clone())
    }
}
