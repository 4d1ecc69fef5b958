//! The reports of the server: a record of each request, and events for its operator.

use std::net::IpAddr;
use std::path::Path;
use std::time::SystemTime;

use serde::Serialize;

use super::error::Error;
use crate::address::ProviderAddr;
use crate::authentication::Authentication;
use crate::blob::ReadError;
use crate::outcome::{Failure, Problem, Published};
use crate::store;
use crate::version::Version;

/// Receives the reports of the server. Many tasks call it, so it must not block for long.
pub trait Observer: Send + Sync + 'static {
    /// A request was answered, or its client disconnected.
    fn request(&self, record: &RequestRecord);
    /// An event occurred that is not a request.
    fn notice(&self, notice: &Notice<'_>);
}

/// An answered request. It contains no token and no signature of a link.
#[derive(Clone, Debug, Serialize)]
pub struct RequestRecord {
    /// The number of the request in this process, also sent as `X-Request-Id`.
    pub id: String,
    /// The client's address.
    pub client: IpAddr,
    /// The client for which the proxy says that it asks; `None` without a proxy. Nothing proves it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub forwarded_for: Option<IpAddr>,
    /// The name of the token, if the request had a valid one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub token: Option<String>,
    /// Why the request was denied, if it was.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub denied: Option<Denied>,
    /// Why the answer is another error, in one line.
    #[serde(skip_serializing_if = "Option::is_none")]
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
    /// Whether the answer is older than `--max-age`, because the store was unreachable.
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

/// An event that is not a request.
#[derive(Debug)]
#[allow(
    missing_docs,
    reason = "the type of a field and its variant explain it"
)]
pub enum Notice<'a> {
    /// A version is in the store but not served.
    Hidden {
        provider: &'a ProviderAddr,
        version: &'a Version,
        problem: &'a Problem,
    },
    /// A version has no signature, or its key is missing. Only the network mirror serves it.
    Unsigned {
        provider: &'a ProviderAddr,
        version: &'a Version,
        authentication: &'a Authentication,
    },
    /// The store has no version of a provider any more.
    Emptied { provider: &'a ProviderAddr },
    /// Versions were made for another provider. The repository template may give both providers the same repository.
    OtherProvider {
        /// The provider that clients request.
        provider: &'a ProviderAddr,
        /// The newest of these versions.
        version: &'a Version,
        /// The number of older ones.
        others: usize,
        /// The provider in the artifact of the newest.
        made_for: &'a ProviderAddr,
    },
    /// The certificate does not name the host of the public URL, so clients refuse to connect.
    OtherNames {
        /// The file of the certificate.
        path: &'a Path,
        host: &'a str,
    },
    /// The certificate has expired, so clients refuse to connect; or it expires soon.
    Expires {
        /// The file of the certificate.
        path: &'a Path,
        end: SystemTime,
        is_past: bool,
    },
    /// A request to the store failed.
    StoreFailed { failure: &'a Failure },
    /// The store was unreachable, and is not any more.
    StoreAnswers,
    /// A version could not be mirrored, or its origin is unreachable.
    NotFilled { failure: &'a Failure },
    /// A version was mirrored from its origin into the store.
    Filled { published: &'a Published },
    /// A provider is served of which neither the trust file nor an option says anything.
    Unmatched { provider: &'a ProviderAddr },
    /// A package could not be read, or its transfer ended early.
    PackageFailed {
        /// The canonical name of the file.
        file: &'a str,
        error: &'a ReadError<store::Error>,
    },
    /// The operator asked the server to read its files again, and none has changed.
    Unchanged,
    /// A changed file was read, and is in use; or one that could not be used is again as it was.
    Reloaded { path: &'a Path },
    /// The file of tokens has none any more, so that every client is refused.
    NoTokens { path: &'a Path },
    /// A changed file cannot be used, so the last valid content stays in use.
    NotReloaded { path: &'a Path, error: &'a Error },
    /// A file is not read again, because one that is used with it, or itself, is no regular file.
    ReadOnce {
        path: &'a Path,
        /// The file that is no regular one.
        pipe: &'a Path,
    },
    /// A TLS handshake failed.
    Handshake { client: IpAddr, reason: &'a str },
    /// A connection was closed because its client has used up its quota.
    TooManyConnections { client: IpAddr },
    /// The server is ending: it accepts no more connections, and completes its answers.
    Draining,
}
