//! The requests that a server received, one record each.

use std::time::Instant;

use hyper::http::request::Parts;
use url::Url;

/// The door at which a request arrived. Each door is a separate host with its own port.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Door {
    /// The host that clients know.
    Front,
    /// Another host of the same service: the token server of a registry, the storage behind it.
    Elsewhere,
    /// Another host without TLS.
    Plain,
}

/// A request and the status of its answer.
#[derive(Clone, Debug)]
pub struct Seen {
    pub door: Door,
    /// The number of its connection.
    pub connection: u64,
    pub method: String,
    /// The path and the query, unchanged.
    pub target: String,
    /// The path, with `:` and `+` decoded.
    pub path: String,
    /// The parameters of the query, decoded.
    pub query: Vec<(String, String)>,
    /// The headers, names in lower case.
    pub headers: Vec<(String, String)>,
    /// How many bytes of the body were read.
    pub body: u64,
    /// The status of the answer; `None` if there was none.
    pub status: Option<u16>,
    /// When it arrived.
    pub began: Instant,
    /// When its answer was sent, or the connection ended.
    pub ended: Option<Instant>,
}

impl Seen {
    pub(super) fn new(door: Door, connection: u64, parts: &Parts) -> Self {
        let target = parts.uri.path_and_query().map_or("/", |text| text.as_str());
        let url = Url::parse("http://server/").unwrap().join(target).unwrap();
        let headers = parts.headers.iter().map(|(name, value)| {
            (
                name.to_string(),
                String::from_utf8_lossy(value.as_bytes()).into_owned(),
            )
        });
        Self {
            door,
            connection,
            method: parts.method.to_string(),
            target: target.to_owned(),
            path: url
                .path()
                .replace("%3A", ":")
                .replace("%3a", ":")
                .replace("%2B", "+")
                .replace("%2b", "+"),
            query: url.query_pairs().into_owned().collect(),
            headers: headers.collect(),
            body: 0,
            status: None,
            began: Instant::now(),
            ended: None,
        }
    }

    /// The first value of a header.
    pub fn header(&self, name: &str) -> Option<&str> {
        let found = self.headers.iter().find(|(key, _)| key == name)?;
        Some(&found.1)
    }

    /// The first value of a parameter.
    pub fn parameter(&self, name: &str) -> Option<&str> {
        let found = self.query.iter().find(|(key, _)| key == name)?;
        Some(&found.1)
    }

    /// The value of `Authorization`.
    pub fn authorization(&self) -> Option<&str> {
        self.header("authorization")
    }
}

impl std::fmt::Display for Seen {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} {}", self.method, self.path)?;
        match self.status {
            Some(status) => write!(f, " {status}"),
            None => f.write_str(" (no answer)"),
        }
    }
}

/// Requests of a method whose path contains a text.
pub fn matching(method: &str, path: &str) -> impl Fn(&Seen) -> bool + Send + use<> {
    let (method, path) = (method.to_owned(), path.to_owned());
    move |seen| seen.method == method && seen.path.contains(&path)
}
