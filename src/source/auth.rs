//! The credentials of requests to a source, and their description in error messages.

use std::fmt;

use crate::address::Hostname;
use crate::credentials::{self, Credential, FoundIn};
use crate::error::printable;
use crate::http::Authorization;

/// The credentials for one kind of request to one host.
#[derive(Clone, Debug)]
pub(super) struct RequestAuth {
    pub(super) secret: Option<Authorization>,
    pub(super) tried: AuthTried,
    /// The error of a credential source that could not be used.
    pub(super) failure: Option<credentials::Error>,
}

/// The credentials of a request that was refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AuthTried {
    /// A token was sent.
    Token {
        /// The file, variable or program where the token was found.
        found_in: FoundIn,
    },
    /// No token was found.
    NoToken {
        /// The host that the request was sent to.
        host: Hostname,
    },
    /// A name and password.
    Login {
        /// The file where the name and password were found.
        found_in: FoundIn,
    },
    /// No name and password were found.
    NoLogin {
        /// The host that the request was sent to.
        host: String,
    },
    /// None were sent, because a redirect led to a host that they are not for.
    Redirected,
    /// None were sent, because clients send none with this kind of request.
    Nothing,
}

impl RequestAuth {
    /// No credentials, for public documents.
    pub(super) fn none() -> Self {
        Self {
            secret: None,
            tried: AuthTried::Nothing,
            failure: None,
        }
    }

    /// Whether a program gave the credentials.
    pub(super) fn is_from_program(&self) -> bool {
        matches!(
            &self.tried,
            AuthTried::Token {
                found_in: FoundIn::TokenHelper(_) | FoundIn::Helper { .. }
            }
        )
    }

    /// No credentials, for a host that was reached by a redirect.
    pub(super) fn redirected() -> Self {
        Self {
            tried: AuthTried::Redirected,
            ..Self::none()
        }
    }

    /// The credentials that were found, which are of the kind `sent`; `none` tells that none were found.
    pub(super) fn of(
        found: Result<Option<Credential>, credentials::Error>,
        sent: impl FnOnce(FoundIn) -> AuthTried,
        none: AuthTried,
    ) -> Self {
        let (found, failure) = match found {
            Ok(found) => (found, None),
            Err(error) => (None, Some(error)),
        };
        Self {
            secret: found.as_ref().and_then(Credential::authorization),
            tried: found.map_or(none, |credential| sent(credential.found_in)),
            failure,
        }
    }
}

impl AuthTried {
    /// Where a token, or a name and password, was found; `None` if none was sent.
    pub fn found_in(&self) -> Option<&FoundIn> {
        match self {
            Self::Token { found_in } | Self::Login { found_in } => Some(found_in),
            Self::NoToken { .. } | Self::NoLogin { .. } | Self::Redirected | Self::Nothing => None,
        }
    }
}

impl fmt::Display for AuthTried {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Token { found_in } => write!(f, "the token from {found_in}"),
            Self::NoToken { host } => write!(f, "no token, since none was found for {host}"),
            Self::Login { found_in } => write!(f, "the name and password from {found_in}"),
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
            Self::Nothing => f.write_str("no token, since this request never carries one"),
        }
    }
}
