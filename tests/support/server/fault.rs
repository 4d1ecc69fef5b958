//! What goes wrong, and with which request.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;

use super::answer::{Answer, End};
use super::gate::Place;
use super::seen::Seen;

/// Something that goes wrong with one request.
#[derive(Clone)]
pub enum Fault {
    /// Another answer, and nothing is done.
    Answer(Answer),
    /// The token is good no more.
    ExpiredToken,
    /// The connection is reset before anything is answered or done.
    Reset,
    /// Nothing is ever answered, and nothing is done.
    Stall,
    /// So many bytes of the body are taken; then the connection is cut.
    CutRequest(u64),
    /// Nothing is done before others have come that wait here too.
    Together(Arc<tokio::sync::Barrier>),
    /// Everything is read; the rest waits at a gate.
    Held(Place),
    /// Everything is done; then the connection is cut before the answer.
    LostAnswer,
    /// What is asked for lies behind another door, with a signature in its URL.
    RedirectElsewhere,
    /// What is asked for lies behind a door without TLS.
    RedirectPlain,
    /// The way goes round in circles.
    RedirectLoop,
    /// A header of the request is overlooked.
    Overlook(&'static str),
    /// Everything is done, and the answer is altered.
    Alter(Alteration),
}

/// What is done to an answer.
pub type Alteration = Arc<dyn Fn(&mut Answer) + Send + Sync>;

impl Fault {
    /// A status without a body to speak of: 500, 502, 503.
    pub fn status(status: u16) -> Self {
        Self::Answer(Answer::new(status).body("it went wrong\n"))
    }

    /// 429 with `Retry-After`, in seconds or as a date.
    pub fn too_many_requests(retry_after: &str) -> Self {
        let answer = Answer::error(429, "TOOMANYREQUESTS", "too many requests");
        Self::Answer(answer.header("retry-after", retry_after))
    }

    /// GitHub's way to say 429.
    pub fn secondary_limit() -> Self {
        let text = "You have exceeded a secondary rate limit. Please wait a few minutes before you try again.";
        let document = serde_json::json!({ "message": text });
        Self::Answer(Answer::json(403, &document))
    }

    /// A refusal for good.
    pub fn denied() -> Self {
        let message = "requested access to the resource is denied";
        Self::Answer(Answer::error(403, "DENIED", message))
    }

    /// Everything is done, and then something else happens before the answer.
    pub fn after(happens: impl Fn() + Send + Sync + 'static) -> Self {
        Self::alter(move |_| happens())
    }

    /// Everything is done, and then something else is answered.
    pub fn although_done(answer: Answer) -> Self {
        Self::alter(move |altered| *altered = answer.clone())
    }

    /// The answer is altered before it goes out.
    pub fn alter(alteration: impl Fn(&mut Answer) + Send + Sync + 'static) -> Self {
        Self::Alter(Arc::new(alteration))
    }

    /// The body is cut after so many bytes, although more were announced.
    pub fn cut_body(after: usize) -> Self {
        Self::alter(move |answer| answer.end = End::Cut(after))
    }

    /// The body stands still after so many bytes.
    pub fn stall_body(after: usize) -> Self {
        Self::alter(move |answer| answer.end = End::Stall(after))
    }

    /// Everything is done, something else happens, and then only the header of the answer is sent.
    pub fn stall_body_after(happens: impl Fn() + Send + Sync + 'static) -> Self {
        Self::alter(move |answer| {
            happens();
            answer.end = End::Stall(0);
        })
    }

    /// The body comes in pieces of so many bytes, one each time that this has passed.
    pub fn drip_body(piece: usize, every: Duration) -> Self {
        Self::alter(move |answer| answer.end = End::Drip(piece, every))
    }

    /// The body has the right length, and one wrong bit in its middle.
    pub fn wrong_bytes() -> Self {
        Self::alter(|answer| {
            let mut bytes = answer.body.to_vec();
            let middle = bytes.len() / 2;
            bytes[middle] ^= 1;
            answer.body = bytes.into();
        })
    }

    /// The body goes on after its end, and its length is stated as it is.
    pub fn longer_body() -> Self {
        Self::alter(|answer| answer.body = [&answer.body[..], b"more"].concat().into())
    }

    /// The body ends before its end, and its length is stated as it is.
    pub fn shorter_body() -> Self {
        Self::alter(|answer| answer.body = answer.body.slice(..answer.body.len() / 2))
    }

    /// A range is answered with 206 and bytes from the start of another range, as long as the one that was asked for.
    pub fn range_elsewhere(whole: &[u8]) -> Self {
        let whole = Bytes::copy_from_slice(whole);
        Self::alter(move |answer| {
            let end = answer.body.len();
            answer.body = whole.slice(..end);
            answer.set(
                "content-range",
                &format!("bytes 0-{}/{}", end - 1, whole.len()),
            );
        })
    }

    /// A range is ignored: everything comes, with 200.
    pub fn range_ignored(whole: &[u8]) -> Self {
        let whole = Bytes::copy_from_slice(whole);
        Self::alter(move |answer| {
            answer.status = 200;
            answer.body = whole.clone();
            answer.remove("content-range");
        })
    }

    /// How long the body is shows only when it ends.
    pub fn chunked() -> Self {
        Self::alter(|answer| answer.sized = false)
    }

    /// What is asked for lies at another URL.
    pub fn redirect(url: &str) -> Self {
        Self::Answer(Answer::new(302).header("location", url))
    }

    /// A range is refused.
    pub fn range_refused() -> Self {
        Self::Answer(Answer::new(416))
    }

    /// A header is left out.
    pub fn without(name: &'static str) -> Self {
        Self::alter(move |answer| answer.remove(name))
    }

    /// A header says something else.
    pub fn with(name: &'static str, value: impl Into<String>) -> Self {
        let value = value.into();
        Self::alter(move |answer| answer.set(name, &value))
    }

    /// A body says something else, with the headers of the right one.
    pub fn body(body: impl Into<Bytes>) -> Self {
        let body = body.into();
        Self::alter(move |answer| answer.body = body.clone())
    }
}

/// With which requests something goes wrong.
pub struct Rule {
    matches: Box<dyn Fn(&Seen) -> bool + Send>,
    /// How many of them pass before.
    skip: usize,
    /// With how many of them it goes wrong then.
    times: usize,
    fault: Fault,
}

impl Rule {
    pub fn new(
        matches: impl Fn(&Seen) -> bool + Send + 'static,
        skip: usize,
        times: usize,
        fault: Fault,
    ) -> Self {
        Self {
            matches: Box::new(matches),
            skip,
            times,
            fault,
        }
    }

    /// Counts a request, and gives what goes wrong with it.
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
