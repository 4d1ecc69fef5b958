//! What the server reports: a line for each request, and what operators should know.

use std::net::IpAddr;
use std::path::Path;
use std::time::Duration;

use crate::address::ProviderAddr;
use crate::authentication::Authentication;
use crate::outcome::{Failure, Problem};
use crate::version::Version;

/// Receives what the server reports. It is called from many tasks, and must not block for long.
pub trait Observer: Send + Sync + 'static {
    /// A request was answered, or its client went away.
    fn request(&self, record: &RequestRecord<'_>);
    /// Something happened that is not a request.
    fn notice(&self, notice: &Notice<'_>);
}

/// An answered request. It contains no token and no signature of a link.
#[derive(Clone, Debug)]
pub struct RequestRecord<'a> {
    /// The number of the request in this process, also sent as `X-Request-Id`.
    pub id: &'a str,
    /// The client's address.
    pub client: IpAddr,
    /// The name of the token, if the request had a valid one.
    pub token: Option<&'a str>,
    /// The method.
    pub method: &'a str,
    /// The path without the signature of a link, safe to print.
    pub path: &'a str,
    /// The name of the route.
    pub route: &'static str,
    /// The status of the answer.
    pub status: u16,
    /// The bytes of the body that were sent.
    pub bytes: u64,
    /// Until the last byte was sent.
    pub duration: Duration,
    /// Why the request may not ask, if it may not.
    pub denied: Option<Denied>,
    /// Whether the answer is older than it should be, because the store could not be asked.
    pub is_stale: bool,
    /// Whether the whole body was sent.
    pub is_complete: bool,
    /// The client's `User-Agent`, safe to print.
    pub agent: &'a str,
}

/// Why a request may not ask.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Denied {
    /// It has no token, or none of the kind `Bearer`.
    NoToken,
    /// It has a token that is not in the file of tokens.
    UnknownToken,
    /// Its token opens other providers only.
    OtherProvider,
    /// Its link has expired, was altered, or was signed by another key.
    Link,
}

/// An event that is not a request.
#[derive(Debug)]
pub enum Notice<'a> {
    /// A version is not served.
    Hidden {
        /// The provider.
        provider: &'a ProviderAddr,
        /// The version.
        version: &'a Version,
        /// The reason.
        problem: &'a Problem,
    },
    /// Nobody signed a version, or its key is missing. Only the network mirror serves it.
    Unsigned {
        /// The provider.
        provider: &'a ProviderAddr,
        /// The version.
        version: &'a Version,
        /// How it was authenticated.
        authentication: &'a Authentication,
    },
    /// Versions were made for another provider, as if the repositories of the two have one name.
    OtherProvider {
        /// The provider that clients ask for.
        provider: &'a ProviderAddr,
        /// The newest of these versions.
        version: &'a Version,
        /// How many older ones there are.
        others: usize,
        /// The provider that the artifact of the newest names.
        made_for: &'a ProviderAddr,
    },
    /// The certificate does not name the host that clients connect to.
    OtherNames {
        /// The file of the certificate.
        path: &'a Path,
        /// The host of the public URL.
        host: &'a str,
    },
    /// The store could not be asked.
    StoreFailed {
        /// The failure.
        failure: &'a Failure,
    },
    /// A version could not be mirrored, or its origin could not be asked.
    NotFilled {
        /// The failure.
        failure: &'a Failure,
    },
    /// A package could not be sent as a whole.
    PackageFailed {
        /// The name of its file.
        file: &'a str,
        /// The reason.
        reason: &'a str,
    },
    /// A file was read again.
    Reloaded {
        /// The file.
        path: &'a Path,
    },
    /// A file could not be read again, so the last good content stays in use.
    NotReloaded {
        /// The file.
        path: &'a Path,
        /// The reason.
        reason: &'a str,
    },
    /// A TLS handshake failed.
    Handshake {
        /// The client's address.
        client: IpAddr,
        /// The reason.
        reason: &'a str,
    },
    /// A client has as many connections as it may, so that another one was closed.
    TooManyConnections {
        /// The client's address.
        client: IpAddr,
    },
    /// A signal arrived. The server takes no more connections, and ends what is under way.
    Draining,
}
