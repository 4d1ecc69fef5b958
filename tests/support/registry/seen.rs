//! What arrived at a registry: one record for each request.

use hyper::http::request::Parts;
use url::Url;

/// Where a request arrived. Each door is a host of its own, told by its port.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Door {
    /// The registry.
    Registry,
    /// Another host of the same registry: its token server, and the storage behind it.
    Elsewhere,
    /// Another host that speaks no TLS.
    Plain,
}

/// A request, and how it was answered.
#[derive(Clone, Debug)]
pub struct Seen {
    pub door: Door,
    /// Which connection it came by.
    pub connection: u64,
    pub method: String,
    /// The path, decoded.
    pub path: String,
    /// The parameters of the query, decoded.
    pub query: Vec<(String, String)>,
    /// The headers, names in lower case.
    pub headers: Vec<(String, String)>,
    /// How many bytes of the body were read.
    pub body: u64,
    /// The status of the answer; `None` if there was none.
    pub status: Option<u16>,
}

impl Seen {
    pub(super) fn new(door: Door, connection: u64, parts: &Parts) -> Self {
        let target = parts.uri.path_and_query().map_or("/", |text| text.as_str());
        let url = Url::parse("http://registry/")
            .unwrap()
            .join(target)
            .unwrap();
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
            path: url.path().replace("%3A", ":").replace("%3a", ":"),
            query: url.query_pairs().into_owned().collect(),
            headers: headers.collect(),
            body: 0,
            status: None,
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

    /// What `Authorization` says.
    pub fn authorization(&self) -> Option<&str> {
        self.header("authorization")
    }

    /// Whether a secret was sent to somebody who has no business with it: storage, or whoever listens without TLS, or a token
    /// to the server that gives them.
    pub fn leaks(&self) -> bool {
        let token = self.path == "/token";
        match (self.door, self.authorization()) {
            (_, None) => false,
            (_, Some(secret)) if token => secret.starts_with("Bearer"),
            (door, Some(_)) => door != Door::Registry,
        }
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
