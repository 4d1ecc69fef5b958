//! Answers, whole or cut short.

use std::future::Future as _;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use hyper::Response;
use hyper::body::{Body, Frame};

use super::connection::Stay;
use super::gate::Place;
use super::seen::Seen;

/// An answer of a server.
#[derive(Clone, Debug)]
pub struct Answer {
    pub status: u16,
    pub headers: Vec<(String, String)>,
    pub body: Bytes,
    /// Whether `Content-Length` states the length of the body.
    pub sized: bool,
    pub end: End,
    /// The gate that holds the body back.
    pub gate: Option<Place>,
}

/// How a body ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// After the whole body.
    Whole,
    /// After so many bytes the connection is cut.
    Cut(usize),
    /// After so many bytes, the body stalls.
    Stall(usize),
    /// The body is sent in pieces of so many bytes, with a pause of this length between them.
    Drip(usize, Duration),
}

impl Answer {
    pub fn new(status: u16) -> Self {
        Self {
            status,
            headers: Vec::new(),
            body: Bytes::new(),
            sized: true,
            end: End::Whole,
            gate: None,
        }
    }

    /// An error in the form of the OCI distribution specification.
    pub fn error(status: u16, code: &str, message: &str) -> Self {
        let item = serde_json::json!({ "code": code, "message": message });
        Self::json(status, &serde_json::json!({ "errors": [item] }))
    }

    pub fn json(status: u16, document: &serde_json::Value) -> Self {
        Self::new(status)
            .header("content-type", "application/json; charset=utf-8")
            .body(format!("{document}\n"))
    }

    /// Sets a header, and replaces an earlier one of that name.
    #[must_use]
    pub fn header(mut self, name: &str, value: &str) -> Self {
        self.set(name, value);
        self
    }

    pub fn set(&mut self, name: &str, value: &str) {
        self.remove(name);
        self.headers.push((name.to_owned(), value.to_owned()));
    }

    pub fn remove(&mut self, name: &str) {
        self.headers
            .retain(|(key, _)| !key.eq_ignore_ascii_case(name));
    }

    pub fn get(&self, name: &str) -> Option<&str> {
        let found = self.headers.iter().find(|(key, _)| key == name)?;
        Some(&found.1)
    }

    #[must_use]
    pub fn body(mut self, body: impl Into<Bytes>) -> Self {
        self.body = body.into();
        self
    }

    /// The part of the body that was asked for, or all of it.
    #[must_use]
    pub fn ranged(mut self, seen: &Seen) -> Self {
        self.set("accept-ranges", "bytes");
        let range = seen.header("range");
        let range = range.and_then(|text| text.strip_prefix("bytes="));
        let Some((from, to)) = range.and_then(|text| text.split_once('-')) else {
            return self;
        };
        let length = self.body.len();
        let last = to.parse().map_or(length, |to: usize| (to + 1).min(length));
        match from.parse::<usize>() {
            Ok(from) if from < last => {
                self.status = 206;
                self.body = self.body.slice(from..last);
                let range = format!("bytes {from}-{}/{length}", last - 1);
                self.header("content-range", &range)
            }
            _ => Self::new(416).header("content-range", &format!("bytes */{length}")),
        }
    }

    /// The HTTP response, which has no body for a HEAD.
    pub(super) fn response(mut self, head: bool, stay: Stay) -> Response<Flow> {
        let sized = self.sized && self.status != 204;
        if sized && self.get("content-length").is_none() {
            let length = self.body.len().to_string();
            self.set("content-length", &length);
        }
        if head {
            self.body = Bytes::new();
        }
        let mut response = Response::builder().status(self.status);
        for (name, value) in &self.headers {
            response = response.header(name, value);
        }
        let body = Flow::new(self.body, self.end, self.gate, stay);
        response.body(body).unwrap()
    }
}

/// A body that is being sent.
pub struct Flow {
    bytes: Bytes,
    end: End,
    /// How often the connection may still flush before it is cut.
    flushes: u8,
    /// The time of the next piece.
    pause: Option<Pin<Box<tokio::time::Sleep>>>,
    gate: Option<Place>,
    sent: usize,
    _stay: Stay,
}

impl Flow {
    fn new(mut bytes: Bytes, end: End, gate: Option<Place>, stay: Stay) -> Self {
        if let End::Cut(after) | End::Stall(after) = end {
            bytes.truncate(after);
        }
        Self {
            bytes,
            end,
            flushes: 3,
            pause: None,
            gate,
            sent: 0,
            _stay: stay,
        }
    }
}

impl Body for Flow {
    type Data = Bytes;
    type Error = std::io::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, std::io::Error>>> {
        if !self.bytes.is_empty() {
            let mut length = self.bytes.len().min(16 << 10);
            if let End::Drip(piece, every) = self.end {
                let pause = &mut self.pause;
                let pause = pause.get_or_insert_with(|| Box::pin(tokio::time::sleep(every)));
                std::task::ready!(pause.as_mut().poll(context));
                self.pause = None;
                length = self.bytes.len().min(piece);
            }
            if let Some(gate) = &self.gate {
                let admitted = std::task::ready!(gate.poll_beyond(Some(self.sent), context));
                length = length.min(admitted - self.sent);
            }
            let piece = self.bytes.split_to(length);
            self.sent += piece.len();
            return Poll::Ready(Some(Ok(Frame::data(piece))));
        }
        match self.end {
            End::Whole | End::Drip(..) => Poll::Ready(None),
            End::Stall(_) => Poll::Pending,
            End::Cut(_) if self.flushes > 0 => {
                self.flushes -= 1;
                context.waker().wake_by_ref();
                Poll::Pending
            }
            End::Cut(_) => Poll::Ready(Some(Err(std::io::Error::other("cut on purpose")))),
        }
    }
}
