//! Errors of requests.

use std::time::Duration;

use url::Url;

use super::LEAST_FLOW;
use super::connection_error::Reason;
use crate::error::{Category, Hint, first_line};
use crate::shown::Shown;

/// What did not come, or not pass, in time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Silence {
    /// The TCP connection and the TLS handshake.
    #[error("no connection")]
    Connection,
    /// The start of the response.
    #[error("no answer")]
    Answer,
    /// The rest of a response body, faster than the least rate.
    #[error("less than {} KiB more of the answer", LEAST_FLOW >> 10)]
    Download,
    /// The server to read more of a request body, faster than the least rate.
    #[error("less than {} KiB more of the upload was taken", LEAST_FLOW >> 10)]
    Upload,
    /// The end of a document.
    #[error("no complete answer")]
    Document,
}

/// A request that has no response, or was not sent.
#[allow(missing_docs, reason = "the variants say what their fields are")]
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The text is not an address that the user can name here.
    #[error("`{text}` cannot be used\n  expected {expected}")]
    Address { text: Shown, expected: &'static str },
    /// A server referred to a URL that cannot be parsed.
    #[error("the server refers to a URL that cannot be used\n  received {url}")]
    Url { url: Shown },
    /// Plain http to a host that `--plain-http` does not name. `was_tls` tells whether the request is of a server that is reached by TLS.
    #[error("refusing to use http\n  received {url}")]
    Plain { url: Shown, was_tls: bool },
    /// A redirect from https to http. The client never follows it, even if `--plain-http` names the host.
    #[error("the server redirects from https to http\n  received {url}\n  from {from}")]
    Downgrade { from: Shown, url: Shown },
    /// A server referred to a private address.
    #[error("refusing to follow a reference to a private address\n  received {url}")]
    Private { url: Shown },
    /// A reference to an address that no option allows.
    #[error("refusing to follow a reference to a link-local or metadata address\n  received {url}")]
    LinkLocal { url: Shown },
    /// More redirects than the client follows. `url` is the last one.
    #[error("the server redirects more than {limit} times\n  last to {url}")]
    Redirects { url: Shown, limit: usize },
    /// The server needed more time than it had.
    #[error("{silence} within {} seconds\n  at {url}", .limit.as_secs_f64())]
    Silent {
        url: Shown,
        silence: Silence,
        limit: Duration,
    },
    /// The connection failed, or was refused by the client itself.
    #[error("{} {url}\n  {}{reason}", if .reason.is_refusal() { "refusing to connect to" } else { "cannot reach" }, through(.proxy.as_ref()))]
    Transport {
        url: Shown,
        reason: Reason,
        proxy: Option<Shown>,
    },
    /// The body has more than `limit` bytes.
    #[error(
        "the answer is too large\n  expected at most {limit} bytes\n  received more\n  from {url}"
    )]
    Large { url: Shown, limit: u64 },
    /// A password or token has characters that cannot be sent in a header.
    #[error(
        "the credentials hold characters that cannot be sent\n  to {url}\n  expected no line breaks and no control characters"
    )]
    Secret { url: Shown },
    /// A file of certificate authorities cannot be used.
    #[error(
        "{name} cannot be used as certificate authorities\n  expected certificates in PEM\n  named by {named_by}"
    )]
    Authority {
        name: String,
        named_by: &'static str,
    },
    #[error(
        "{name} cannot be used as client certificate\n  expected a certificate and its private key, in PEM"
    )]
    Identity { name: String },
    /// The system has no certificate authorities, and the user gave none.
    #[error("this machine trusts no certificate authorities")]
    NoAuthorities,
    /// The client cannot be built.
    #[error("the HTTP client cannot be made")]
    Client { source: reqwest::Error },
}

impl Error {
    /// Wraps an error of the HTTP library, whose message would show the whole URL.
    pub(super) fn transport(url: Shown, error: &reqwest::Error, proxy: Option<&Url>) -> Self {
        let reason = Reason::of(error);
        // Through a proxy, these come from the server behind it.
        let is_servers = reason.is_tls() && !matches!(reason, Reason::NotTls | Reason::RefusedTls);
        let proxy = proxy.filter(|_| !is_servers && error.is_connect());
        let proxy = proxy.map(|proxy| proxy.clone().into());
        Self::Transport { url, reason, proxy }
    }

    /// The category that decides the exit code.
    pub fn category(&self) -> Category {
        match self {
            Self::Address { .. } => Category::Usage,
            Self::Url { .. } | Self::Large { .. } | Self::Redirects { .. } => Category::Malformed,
            Self::Plain { .. }
            | Self::Downgrade { .. }
            | Self::Private { .. }
            | Self::LinkLocal { .. } => Category::Unsupported,
            Self::Silent { .. } | Self::Transport { .. } => Category::Unreachable,
            Self::Secret { .. } => Category::Unauthorized,
            Self::Authority { .. }
            | Self::Identity { .. }
            | Self::NoAuthorities
            | Self::Client { .. } => Category::Local,
        }
    }

    /// Whether the same request may succeed a moment later. Certificate errors and servers without TLS fail again, and so does what a proxy refuses.
    pub fn is_transient(&self) -> bool {
        match self {
            Self::Silent { silence, .. } => *silence != Silence::Document,
            Self::Transport { reason, proxy, .. } => {
                let is_by_proxy = proxy.is_some() && matches!(reason, Reason::Other(_));
                !(reason.is_tls() || reason.is_refusal() || is_by_proxy)
            }
            _ => false,
        }
    }

    /// Whether no HTTP server responded at the address.
    pub(super) fn is_unconnected(&self) -> bool {
        match self {
            Self::Transport { reason, .. } => matches!(
                reason,
                Reason::UnknownHost | Reason::Refused | Reason::NoRoute | Reason::NotHttp
            ),
            Self::Silent { silence, .. } => *silence == Silence::Connection,
            _ => false,
        }
    }

    /// The error in one line, without the URL.
    pub fn summary(&self) -> String {
        match self {
            Self::Transport { reason, proxy, .. } => {
                format!("{}{reason}", through(proxy.as_ref()))
            }
            other => first_line(other),
        }
    }
}

/// `through the proxy …: `, or nothing.
fn through(proxy: Option<&Shown>) -> String {
    let proxy = proxy.map(|proxy| format!("through the proxy {proxy}: "));
    proxy.unwrap_or_default()
}

impl Hint for Error {
    fn hint(&self) -> Option<String> {
        let text = match self {
            Self::Plain { was_tls: true, .. } => OUTER_ADDRESS,
            Self::Plain { url, .. } => {
                return Some(format!("`--plain-http {}` allows it", url.host()));
            }
            Self::Private { url } => return Some(allow_private(url.host())),
            Self::NoAuthorities => {
                "install the system's certificate authorities, or name a file with `--ca-file`"
            }
            Self::Silent { .. } => "`--timeout SECONDS` waits longer",
            Self::Transport { proxy: Some(_), .. } => {
                "HTTPS_PROXY or HTTP_PROXY names this proxy; NO_PROXY names hosts to reach without it"
            }
            Self::Transport { url, reason, .. } => return of_connection(url, reason),
            _ => return None,
        };
        Some(text.to_owned())
    }
}

/// A registry behind a proxy names URLs that only the proxy understands.
pub(crate) const OUTER_ADDRESS: &str = "the registry's proxy has to send `X-Forwarded-Proto` and `Host`, so that the registry knows its address";

fn allow_private(host: &str) -> String {
    format!("if you know this host, add `--allow-private {host}`")
}

fn of_connection(url: &Shown, reason: &Reason) -> Option<String> {
    let host = url.host();
    let text = match reason {
        Reason::UnknownHost | Reason::Refused | Reason::NoRoute | Reason::TimedOut => {
            "check the host and its port; behind a proxy, set HTTPS_PROXY"
        }
        Reason::UnknownAuthority => {
            "if the authority is your own, name its certificate with `--ca-file FILE`"
        }
        Reason::Expired => "if it should be valid, check this machine's clock",
        Reason::Private => return Some(allow_private(host)),
        Reason::NotTls => {
            return Some(format!(
                "if it speaks plain HTTP, add `--plain-http {host}`"
            ));
        }
        Reason::WantsIdentity => {
            return Some(format!(
                "show it a certificate with `--client-cert {host}=FILE`"
            ));
        }
        Reason::NotHttp | Reason::Closed if url.is_plain() => return Some(perhaps_tls(url)),
        _ => return None,
    };
    Some(text.to_owned())
}

/// For a host that does not understand plain HTTP.
pub(crate) fn perhaps_tls(url: &Shown) -> String {
    let host = url.host();
    format!("if {host} uses TLS, leave out `--plain-http {host}`")
}
