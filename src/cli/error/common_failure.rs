//! Failures that are those of a host, and not of one provider.

use std::mem::{Discriminant, discriminant};

use tfoci::blob;
use tfoci::credentials::FoundIn;
use tfoci::http::{self, ConnectionError};
use tfoci::outcome::{At, PackageError, Problem};
use tfoci::{source, store};

use super::CommandError;

/// A host, and what is wrong with it. All requests to the host fail in this way.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::cli) struct HostFailure {
    host: String,
    cause: Cause,
    /// Hints differ by command and side.
    side: (Discriminant<CommandError>, Discriminant<At>),
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Cause {
    Connection(ConnectionError),
    /// The registry refused the credentials, or requires some.
    Unauthorized(Option<FoundIn>),
    /// The origin refused the token, or requires one.
    NoToken,
}

impl HostFailure {
    /// The host that an error is about; `None` for other errors.
    pub(in crate::cli) fn of(error: &CommandError) -> Option<Self> {
        let failure = error.failure()?;
        let (host, cause) = of_problem(&failure.problem)?;
        let side = (discriminant(error), discriminant(&failure.at));
        Some(Self { host, cause, side })
    }

    pub(in crate::cli) fn host(&self) -> &str {
        &self.host
    }
}

fn of_problem(problem: &Problem) -> Option<(String, Cause)> {
    match problem {
        Problem::Source(error) => of_source(error),
        Problem::Store(error) | Problem::Unread(error) => of_store(error),
        Problem::Blob(blob::Error::Http(error)) => of_http(error),
        Problem::Package { source, .. } => match &**source {
            PackageError::Source(error) => of_source(error),
            PackageError::Http(error) => of_http(error),
            PackageError::Blob(_) => None,
        },
        _ => None,
    }
}

fn of_source(error: &source::Error) -> Option<(String, Cause)> {
    match error {
        source::Error::Http(error) => of_http(error),
        source::Error::Unauthorized {
            tried: source::AuthTried::NoToken { host },
            ..
        } => Some((host.to_unicode(), Cause::NoToken)),
        _ => None,
    }
}

fn of_store(error: &store::Error) -> Option<(String, Cause)> {
    match error {
        store::Error::Http(error)
        | store::Error::Blob {
            source: blob::Error::Http(error),
            ..
        } => of_http(error),
        store::Error::Unauthorized { host, tried, .. } => {
            Some((host.clone(), Cause::Unauthorized(tried.clone())))
        }
        _ => None,
    }
}

/// A connection that broke says nothing about the next one.
fn of_http(error: &http::Error) -> Option<(String, Cause)> {
    match error {
        http::Error::Transport { url, error } if error.is_lasting() => {
            Some((url.host().to_owned(), Cause::Connection(error.clone())))
        }
        _ => None,
    }
}
