//! Why a request did not get through.

use std::fmt;
use std::io;
use std::time::Duration;

use url::Url;

use super::guard::PrivateAddress;
use crate::error::{Category, printable};
use crate::shown::Shown;

/// What a server was silent about.
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

/// A request that did not get through, or was not sent.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// Text that is no host.
    #[error("`{}` is not a host\n  expected HOST or HOST:PORT", printable(.host))]
    Host {
        /// What was given.
        host: String,
    },
    /// A server referred to something that is no URL.
    #[error("the server refers to a URL that cannot be used\n  received {url}")]
    Url {
        /// What it said.
        url: Shown,
    },
    /// Without TLS, to a host that was not named for it.
    #[error("refusing to use http\n  received {url}")]
    Plain {
        /// The URL.
        url: Shown,
        /// Its host, as `--plain-http` takes it.
        host: String,
    },
    /// From TLS to none, whether or not the host was named for that: whoever sends us there is not the one who was trusted.
    #[error("refusing to use http after https\n  received {url}\n  from {from}")]
    Downgrade {
        /// The URL that was redirected.
        from: Shown,
        /// Where to.
        url: Shown,
    },
    /// An answer did not end in the time that the user gave to it.
    #[error("no complete answer within {} seconds\n  from {url}", .limit.as_secs())]
    Slow {
        /// What was asked.
        url: Shown,
        /// The time.
        limit: Duration,
    },
    /// A document did not end in the time that any document gets.
    #[error("the answer does not end within {} seconds\n  from {url}", .limit.as_secs_f64())]
    Endless {
        /// What was asked.
        url: Shown,
        /// The time.
        limit: Duration,
    },
    /// A stranger refers to a private address.
    #[error("refusing to follow a reference to a private address\n  received {url}")]
    Private {
        /// The URL.
        url: Shown,
        /// Its host, as `--allow-private` takes it.
        host: String,
    },
    /// Too many redirects.
    #[error("there are more than {limit} redirects\n  last {url}")]
    Redirects {
        /// The last URL.
        url: Shown,
        /// How many are followed.
        limit: usize,
    },
    /// The server does not answer, or stopped in the middle.
    #[error("{silence} within {} seconds\n  at {url}", .limit.as_secs_f64())]
    Silent {
        /// The URL.
        url: Shown,
        /// What was waited for.
        silence: Silence,
        /// How long.
        limit: Duration,
    },
    /// The connection failed.
    #[error("cannot reach {url}")]
    Transport {
        /// The URL.
        url: Shown,
        /// Why.
        source: reqwest::Error,
    },
    /// A body larger than anything of its kind.
    #[error("the answer is too large\n  expected at most {limit} bytes\n  from {url}")]
    Large {
        /// The URL.
        url: Shown,
        /// The limit in bytes.
        limit: u64,
    },
    /// A secret with characters that no header can hold.
    #[error("the credentials hold characters that cannot be sent")]
    Secret,
    /// A file of certificate authorities that holds none.
    #[error("{name} holds no certificates\n  expected certificates in PEM")]
    NoCertificates {
        /// The file.
        name: String,
    },
    /// A file of certificate authorities that cannot be used.
    #[error("{name} cannot be used as certificate authorities\n  expected certificates in PEM")]
    Authority {
        /// The file.
        name: String,
        /// Why.
        source: reqwest::Error,
    },
    /// A client certificate, or its key, that cannot be used.
    #[error(
        "{name} cannot be used as client certificate\n  expected a certificate and its private key, in PEM"
    )]
    Identity {
        /// The file, or both.
        name: String,
        /// Why.
        source: reqwest::Error,
    },
    /// This machine trusts nobody.
    #[error("this machine trusts no certificate authorities")]
    NoAuthorities {
        /// What is wrong with those that it should have.
        source: Option<rustls_native_certs::Error>,
    },
    /// The client could not be made.
    #[error("the HTTP client cannot be made")]
    Client {
        /// Why.
        source: reqwest::Error,
    },
}

impl Error {
    /// A connection that failed. What the library says of it would show the whole URL.
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

    /// Whether the same request may get through a moment later.
    pub fn is_passing(&self) -> bool {
        match self {
            Self::Silent { .. } | Self::Slow { .. } => true,
            // Neither a certificate nor a server that speaks no TLS gets better by asking again.
            Self::Transport { source, .. } => !source.is_builder() && !is_final(source),
            _ => false,
        }
    }

    /// What happened, in a line, without where: whoever asks knows that.
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

    /// Whether the server's certificate is by nobody that this machine trusts.
    pub fn is_unknown_authority(&self) -> bool {
        let unknown = rustls::Error::InvalidCertificate(rustls::CertificateError::UnknownIssuer);
        matches!(self, Self::Transport { source, .. } if tls(source) == Some(&unknown))
    }

    /// Whether the server wants to see a client certificate, and was shown none.
    pub fn wants_identity(&self) -> bool {
        let wanted = rustls::Error::AlertReceived(rustls::AlertDescription::CertificateRequired);
        matches!(self, Self::Transport { source, .. } if tls(source) == Some(&wanted))
    }
}

fn is_final(error: &(dyn std::error::Error + 'static)) -> bool {
    tls(error).is_some() || causes(error).any(|cause| cause.is::<PrivateAddress>())
}

/// What TLS says about it, if it does.
fn tls<'a>(error: &'a (dyn std::error::Error + 'static)) -> Option<&'a rustls::Error> {
    causes(error).find_map(within)
}

/// Errors of the system carry others that are not their sources, one in the other.
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
