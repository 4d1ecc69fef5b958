//! Who we are to a source, and who we tried to be.

use std::fmt;

use crate::address::Hostname;
use crate::credentials::{self, Login, Token};
use crate::error::printable;
use crate::http::Secret;

/// Who we are, for requests of one sort to one host.
#[derive(Clone, Debug)]
pub(super) struct Identity {
    pub(super) secret: Option<Secret>,
    pub(super) tried: Tried,
    /// Why something that might have told could not.
    pub(super) failure: Option<credentials::Error>,
}

/// What a request that was refused said about who we are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Tried {
    /// A token.
    Token {
        /// Where it was found.
        origin: String,
    },
    /// A token would have been sent, had there been one.
    NoToken {
        /// For which host.
        host: Hostname,
    },
    /// A name and password.
    Login {
        /// Where they were found.
        origin: String,
    },
    /// A name and password would have been sent, had there been any.
    NoLogin {
        /// For which host.
        host: String,
    },
    /// Nothing, since a redirect led to another host than the one that the token, or the name and password, would be for.
    Redirected,
    /// Nothing, since nobody is told who we are when this is asked for.
    Nothing,
}

impl Identity {
    /// Nobody, where nobody has to know.
    pub(super) fn nobody() -> Self {
        Self {
            secret: None,
            tried: Tried::Nothing,
            failure: None,
        }
    }

    /// Nobody, to a host that only a redirect led to.
    pub(super) fn redirected() -> Self {
        Self {
            tried: Tried::Redirected,
            ..Self::nobody()
        }
    }

    pub(super) fn of_token(
        host: &Hostname,
        token: Result<Option<Token>, credentials::Error>,
    ) -> Self {
        let none = |failure| Self {
            secret: None,
            tried: Tried::NoToken { host: host.clone() },
            failure,
        };
        match token {
            Ok(Some(Token { secret, origin })) => Self {
                secret: Some(secret),
                tried: Tried::Token { origin },
                failure: None,
            },
            Ok(None) => none(None),
            Err(error) => none(Some(error)),
        }
    }

    pub(super) fn of_login(host: &str, login: Option<Login>) -> Self {
        let (secret, tried) = match login {
            Some(Login { secret, origin }) => (Some(secret), Tried::Login { origin }),
            None => {
                let host = host.to_owned();
                (None, Tried::NoLogin { host })
            }
        };
        Self {
            secret,
            tried,
            failure: None,
        }
    }
}

impl Tried {
    /// Where a token, or a name and password, was found; `None` if none was sent.
    pub fn origin(&self) -> Option<&str> {
        match self {
            Self::Token { origin } | Self::Login { origin } => Some(origin),
            Self::NoToken { .. } | Self::NoLogin { .. } | Self::Redirected | Self::Nothing => None,
        }
    }
}

impl fmt::Display for Tried {
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
