//! The reports of the server: a record of each request, and events for its operator.

use std::error::Error;
use std::net::IpAddr;

use serde::Serialize;

/// Receives the reports of the server. Many tasks call it, so it must not block for long.
///
/// An event that is not a request has a name in JSON, and a word before its text at a terminal.
pub trait Observer: Send + Sync + 'static {
    /// A request was answered, or its client disconnected.
    fn request(&self, record: &RequestRecord);
    /// An event occurred as it should.
    fn tell(&self, name: &'static str, verb: &'static str, text: String);
    /// An event occurred that the operator has to do something about.
    fn warn(&self, name: &'static str, verb: &'static str, text: String);

    /// An event occurred for this reason, and the operator has to do something about it. The hint says what helps.
    fn fail(
        &self,
        name: &'static str,
        verb: &'static str,
        text: String,
        error: &dyn Error,
        hint: Option<String>,
    );
}

/// An answered request. It contains no token and no signature of a link.
#[derive(Clone, Debug, Serialize)]
pub struct RequestRecord {
    /// The number of the request in this process, also sent as `X-Request-Id`.
    pub id: String,
    /// The client's address.
    pub client: IpAddr,
    /// The client for which the proxy says that it asks; `None` without a proxy. Nothing proves it.
    pub forwarded_for: Option<IpAddr>,
    /// The name of the token, if the request had a valid one.
    pub token: Option<String>,
    /// Why the request was denied, if it was.
    pub denied: Option<Denied>,
    /// Why the answer is another error, in one line.
    pub reason: Option<String>,
    /// The HTTP method.
    pub method: String,
    /// The path without the signature of a link, safe to print.
    pub path: String,
    /// The name of the route in metrics and logs.
    pub route: &'static str,
    /// The HTTP status.
    pub status: u16,
    /// The sent bytes of the body.
    pub bytes: u64,
    /// The time until the last byte was sent.
    pub seconds: f64,
    /// Whether the answer may be out of date: it is older than `--max-age`, or the store or the origin did not answer.
    #[serde(rename = "stale")]
    pub is_stale: bool,
    /// Whether the whole body was sent.
    #[serde(rename = "complete")]
    pub is_complete: bool,
    /// The client's `User-Agent`, safe to print.
    pub agent: String,
}

/// Why a request is not authorized.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Denied {
    /// It has no token, or one of another scheme than `Bearer`.
    NoToken,
    /// Its token is not in the file of tokens.
    UnknownToken,
    /// Its token is for other providers.
    OtherProvider,
    /// Its link has expired, was altered, or was signed by another key.
    #[serde(rename = "invalid-link")]
    Link,
}
