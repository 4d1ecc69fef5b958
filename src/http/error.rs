//! Why a request did not get through.

use std::fmt;

use url::Url;

use super::guard::PrivateAddress;
use crate::error::{Category, printable};

/// A URL that can be shown: without its query, which may hold a token, and without a user's name or password.
#[derive(Clone, PartialEq, Eq)]
pub struct Shown(String);

impl From<Url> for Shown {
    fn from(mut url: Url) -> Self {
        let query = url.query().is_some();
        url.set_query(None);
        url.set_fragment(None);
        // A URL that cannot have them has none.
        let _none = url.set_username("").and_then(|()| url.set_password(None));
        Self(printable(&format!(
            "{url}{}",
            if query { "?…" } else { "" }
        )))
    }
}

impl From<&str> for Shown {
    fn from(text: &str) -> Self {
        Self(printable(text.split(['?', '#']).next().unwrap_or_default()))
    }
}

impl fmt::Display for Shown {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for Shown {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
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
    /// A stranger refers to a private address.
    #[error("refusing to follow a reference to a private address\n  received {url}")]
    Private {
        /// The URL.
        url: Shown,
        /// Its host, as `--allow-private` takes it.
        host: String,
    },
    /// Too many redirects.
    #[error(
        "there are more than {} redirects\n  last {url}",
        super::MOST_REDIRECTS
    )]
    Redirects {
        /// The last URL.
        url: Shown,
    },
    /// The server does not answer, or stopped in the middle.
    #[error("no answer for {seconds} seconds\n  from {url}")]
    Silent {
        /// The URL.
        url: Shown,
        /// How long it was waited for.
        seconds: u64,
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
    /// A file of certificates that holds none.
    #[error("the certificate authorities cannot be read")]
    Authority {
        /// Why.
        source: reqwest::Error,
    },
    /// This machine trusts nobody.
    #[error("this machine has no certificate authorities, so no server can be trusted")]
    NoAuthorities,
    /// The client could not be made.
    #[error("the HTTP client cannot be made")]
    Client {
        /// Why.
        source: reqwest::Error,
    },
}

impl Error {
    /// What kind of problem it is.
    pub fn category(&self) -> Category {
        match self {
            Self::Host { .. } => Category::Usage,
            Self::Url { .. } | Self::Large { .. } | Self::Redirects { .. } => Category::Malformed,
            Self::Plain { .. } | Self::Private { .. } => Category::Unsupported,
            Self::Silent { .. } | Self::Transport { .. } => Category::Unreachable,
            Self::Secret => Category::Unauthorized,
            Self::Authority { .. } | Self::NoAuthorities | Self::Client { .. } => Category::Local,
        }
    }

    /// Whether the same request may get through a moment later.
    pub fn is_passing(&self) -> bool {
        match self {
            Self::Silent { .. } => true,
            // Neither a certificate nor a server that speaks no TLS gets better by asking again.
            Self::Transport { source, .. } => !source.is_builder() && !is_final(source),
            _ => false,
        }
    }
}

fn is_final(error: &dyn std::error::Error) -> bool {
    let mut cause = error.source();
    while let Some(error) = cause {
        let inner = error
            .downcast_ref::<std::io::Error>()
            .and_then(std::io::Error::get_ref);
        if error.is::<rustls::Error>()
            || error.is::<PrivateAddress>()
            || inner.is_some_and(|inner| inner.is::<rustls::Error>())
        {
            return true;
        }
        cause = error.source();
    }
    false
}
