//! The credentials of requests to a source, and what is said about them when a request is refused.

use std::fmt;

use crate::address::Hostname;
use crate::credentials::{self, Credential};
use crate::error::printable;
use crate::http::Authorization;

/// The credentials for requests of one sort to one host.
#[derive(Clone, Debug)]
pub(super) struct RequestAuth {
    pub(super) secret: Option<Authorization>,
    pub(super) tried: AuthTried,
    /// Why a source of credentials failed.
    pub(super) failure: Option<credentials::Error>,
}

/// The credentials of a request that was refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AuthTried {
    /// A token.
    Token {
        /// Where it was found.
        origin: String,
    },
    /// No token was found.
    NoToken {
        /// For which host.
        host: Hostname,
    },
    /// A name and password.
    Login {
        /// Where they were found.
        origin: String,
    },
    /// No name and password were found.
    NoLogin {
        /// For which host.
        host: String,
    },
    /// None, because a redirect led to another host than the one that they are for.
    Redirected,
    /// None, because clients send none with such a request.
    Nothing,
}

impl RequestAuth {
    /// No credentials, for what is public.
    pub(super) fn none() -> Self {
        Self {
            secret: None,
            tried: AuthTried::Nothing,
            failure: None,
        }
    }

    /// No credentials, for a host that only a redirect led to.
    pub(super) fn redirected() -> Self {
        Self {
            tried: AuthTried::Redirected,
            ..Self::none()
        }
    }

    pub(super) fn of_token(
        host: &Hostname,
        token: Result<Option<Credential>, credentials::Error>,
    ) -> Self {
        Self::of(token, |origin| match origin {
            Some(origin) => AuthTried::Token { origin },
            None => AuthTried::NoToken { host: host.clone() },
        })
    }

    pub(super) fn of_login(
        host: &str,
        login: Result<Option<Credential>, credentials::Error>,
    ) -> Self {
        Self::of(login, |origin| match origin {
            Some(origin) => AuthTried::Login { origin },
            None => AuthTried::NoLogin {
                host: host.to_owned(),
            },
        })
    }

    fn of(
        found: Result<Option<Credential>, credentials::Error>,
        tried: impl FnOnce(Option<String>) -> AuthTried,
    ) -> Self {
        let (found, failure) = match found {
            Ok(found) => (found, None),
            Err(error) => (None, Some(error)),
        };
        Self {
            secret: found.as_ref().and_then(Credential::authorization),
            tried: tried(found.map(|credential| credential.origin)),
            failure,
        }
    }
}

impl AuthTried {
    /// Where a token, or a name and password, was found; `None` if none was sent.
    pub fn origin(&self) -> Option<&str> {
        match self {
            Self::Token { origin } | Self::Login { origin } => Some(origin),
            Self::NoToken { .. } | Self::NoLogin { .. } | Self::Redirected | Self::Nothing => None,
        }
    }
}

impl fmt::Display for AuthTried {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Token { origin } => write!(f, "the token from {origin}"),
            Self::NoToken { host } => write!(f, "no token, since none was found for {host}"),
            Self::Login { origin } => write!(f, "the name and password from {origin}"),
            Self::NoLogin { host } => {
                write!(
                    f,
                    "no password, since no .netrc has one for {}",
                    printable(host)
                )
            }
            Self::Redirected => {
                f.write_str("no token and no password, since a redirect led to this host")
            }
            Self::Nothing => f.write_str("no token, since nobody is sent one for this"),
        }
    }
}
