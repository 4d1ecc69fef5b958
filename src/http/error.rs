//! Why a request has no answer.

use std::fmt;
use std::io;
use std::time::Duration;

use url::Url;

use super::guard::PrivateAddress;
use crate::error::{Category, printable};
use crate::shown::Shown;

/// What was waited for when a server was silent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Silence {
    /// There is no connection.
    Connection,
    /// There is no answer.
    Answer,
    /// The answer stopped in the middle.
    Download,
    /// The server takes no more of what it is sent.
    Upload,
    /// The answer comes more slowly than any connection that is of use.
    SlowDownload,
    /// The server takes what it is sent more slowly than that.
    SlowUpload,
}

impl fmt::Display for Silence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Connection => "no connection",
            Self::Answer => "no answer",
            Self::Download => "nothing more of the answer",
            Self::Upload => "nothing more of the upload was taken",
            Self::SlowDownload => "less than 64 KiB more of the answer",
            Self::SlowUpload => "less than 64 KiB more of the upload was taken",
        })
    }
}

/// Why a request has no answer, or was not sent.
#[allow(missing_docs, reason = "the variants say what their fields are")]
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The text is no host.
    #[error("`{}` is not a host\n  expected HOST or HOST:PORT", printable(.host))]
    Host { host: String },
    /// A server referred to a URL that cannot be parsed.
    #[error("the server refers to a URL that cannot be used\n  received {url}")]
    Url { url: Shown },
    /// Plain http to a host that `--plain-http` does not name. `host` is as the option takes it.
    #[error("refusing to use http\n  received {url}")]
    Plain { url: Shown, host: String },
    /// A redirect from https to http, which is never followed: the user may trust the host, but not the server that redirects to it.
    #[error("refusing to use http after https\n  received {url}\n  from {from}")]
    Downgrade { from: Shown, url: Shown },
    /// An answer did not end within the time that the user allows.
    #[error("no complete answer within {} seconds\n  from {url}", .limit.as_secs())]
    Slow { url: Shown, limit: Duration },
    /// A document did not end within the time that any document may take.
    #[error("the answer does not end within {} seconds\n  from {url}", .limit.as_secs_f64())]
    Endless { url: Shown, limit: Duration },
    /// A server referred to a private address. `host` is as `--allow-private` takes it.
    #[error("refusing to follow a reference to a private address\n  received {url}")]
    Private { url: Shown, host: String },
    /// More redirects than are followed; `url` is the last one.
    #[error("there are more than {limit} redirects\n  last {url}")]
    Redirects { url: Shown, limit: usize },
    /// The server does not answer, or stopped in the middle of a body.
    #[error("{silence} within {} seconds\n  at {url}", .limit.as_secs_f64())]
    Silent {
        url: Shown,
        silence: Silence,
        limit: Duration,
    },
    /// The connection failed.
    #[error("cannot reach {url}")]
    Transport { url: Shown, source: reqwest::Error },
    /// The body has more than `limit` bytes.
    #[error("the answer is too large\n  expected at most {limit} bytes\n  from {url}")]
    Large { url: Shown, limit: u64 },
    /// A password or token has characters that no header can hold.
    #[error("the credentials hold characters that cannot be sent")]
    Secret,
    /// A file of certificate authorities has none.
    #[error("{name} holds no certificates\n  expected certificates in PEM")]
    NoCertificates { name: String },
    /// A file of certificate authorities cannot be used.
    #[error("{name} cannot be used as certificate authorities\n  expected certificates in PEM")]
    Authority {
        name: String,
        source: reqwest::Error,
    },
    /// A client certificate, or its key, cannot be used.
    #[error(
        "{name} cannot be used as client certificate\n  expected a certificate and its private key, in PEM"
    )]
    Identity {
        name: String,
        source: reqwest::Error,
    },
    /// The system has no certificate authorities, and the user gave none.
    #[error("this machine trusts no certificate authorities")]
    NoAuthorities {
        source: Option<rustls_native_certs::Error>,
    },
    /// The client cannot be built.
    #[error("the HTTP client cannot be made")]
    Client { source: reqwest::Error },
}

impl Error {
    /// A connection failed. The library's own error would show the whole URL.
    pub(super) fn transport(url: &Url, source: reqwest::Error) -> Self {
        Self::Transport {
            url: url.clone().into(),
            source: source.without_url(),
        }
    }

    /// What kind of problem it is.
    pub fn category(&self) -> Category {
        match self {
            Self::Host { .. } => Category::Usage,
            Self::Url { .. } | Self::Large { .. } | Self::Redirects { .. } => Category::Malformed,
            Self::Plain { .. } | Self::Downgrade { .. } | Self::Private { .. } => {
                Category::Unsupported
            }
            Self::Silent { .. }
            | Self::Slow { .. }
            | Self::Endless { .. }
            | Self::Transport { .. } => Category::Unreachable,
            Self::Secret => Category::Unauthorized,
            Self::NoCertificates { .. }
            | Self::Authority { .. }
            | Self::Identity { .. }
            | Self::NoAuthorities { .. }
            | Self::Client { .. } => Category::Local,
        }
    }

    /// Whether the same request may succeed a moment later.
    pub fn is_passing(&self) -> bool {
        match self {
            Self::Silent { .. } | Self::Slow { .. } => true,
            // A retry improves neither a certificate nor a server that speaks no TLS.
            Self::Transport { source, .. } => !source.is_builder() && !is_final(source),
            _ => false,
        }
    }

    /// What happened, in a line without the URL.
    pub fn in_short(&self) -> String {
        match self {
            Self::Silent { silence, limit, .. } => {
                format!("{silence} within {} seconds", limit.as_secs_f64())
            }
            Self::Transport { source, .. } => causes(source)
                .last()
                .map_or_else(|| source.to_string(), ToString::to_string),
            other => other
                .to_string()
                .lines()
                .next()
                .unwrap_or_default()
                .to_owned(),
        }
    }

    /// Whether no trusted authority issued the server's certificate.
    pub fn is_unknown_authority(&self) -> bool {
        let unknown = rustls::Error::InvalidCertificate(rustls::CertificateError::UnknownIssuer);
        matches!(self, Self::Transport { source, .. } if tls(source) == Some(&unknown))
    }

    /// Whether the server requires a client certificate, and got none.
    pub fn wants_identity(&self) -> bool {
        let wanted = rustls::Error::AlertReceived(rustls::AlertDescription::CertificateRequired);
        matches!(self, Self::Transport { source, .. } if tls(source) == Some(&wanted))
    }
}

fn is_final(error: &(dyn std::error::Error + 'static)) -> bool {
    tls(error).is_some() || causes(error).any(|cause| cause.is::<PrivateAddress>())
}

/// The error of TLS among the causes.
fn tls<'a>(error: &'a (dyn std::error::Error + 'static)) -> Option<&'a rustls::Error> {
    causes(error).find_map(within)
}

/// An I/O error may carry another error that is not its source.
fn within<'a>(error: &'a (dyn std::error::Error + 'static)) -> Option<&'a rustls::Error> {
    let inner = || {
        error
            .downcast_ref::<io::Error>()
            .and_then(io::Error::get_ref)
    };
    error
        .downcast_ref()
        .or_else(|| inner().and_then(|inner| within(inner)))
}

fn causes<'a>(
    error: &'a (dyn std::error::Error + 'static),
) -> impl Iterator<Item = &'a (dyn std::error::Error + 'static)> {
    std::iter::successors(error.source(), |cause| cause.source())
}
