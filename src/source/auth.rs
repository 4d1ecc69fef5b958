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
    /// What was found in this file, variable or program was sent.
    Sent(FoundIn),
    /// No token was found for this host.
    NoToken(Hostname),
    /// No name and password were found for this host.
    NoLogin(String),
    /// None were sent: such requests carry none, or a redirect led to a host that they are not for.
    Nothing,
}

impl RequestAuth {
    /// No credentials, for public documents and for a host that was reached by a redirect.
    pub(super) fn none() -> Self {
        Self {
            secret: None,
            tried: AuthTried::Nothing,
            failure: None,
        }
    }

    /// Whether a program gave the credentials.
    pub(super) fn is_from_program(&self) -> bool {
        matches!(&self.tried, AuthTried::Sent(found_in) if found_in.is_program)
    }

    /// The credentials that were found; `none` tells that none were found.
    pub(super) fn of(
        found: Result<Option<Credential>, credentials::Error>,
        none: AuthTried,
    ) -> Self {
        let (found, failure) = match found {
            Ok(found) => (found, None),
            Err(error) => (None, Some(error)),
        };
        Self {
            secret: found.as_ref().and_then(Credential::authorization),
            tried: found.map_or(none, |credential| AuthTried::Sent(credential.found_in)),
            failure,
        }
    }
}

impl fmt::Display for AuthTried {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Sent(found_in) => write!(f, "the credentials from {found_in}"),
            Self::NoToken(host) => write!(f, "no token, since none was found for {host}"),
            Self::NoLogin(host) => {
                let host = printable(host);
                write!(f, "no password, since no .netrc has one for {host}")
            }
            Self::Nothing => f.write_str("no credentials"),
        }
    }
}
