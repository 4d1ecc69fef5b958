//! Failures of a host or a disk, which are not about one provider.

use std::io;
use std::mem::{Discriminant, discriminant};

use tfoci::blob;
use tfoci::disk;
use tfoci::http;
use tfoci::outcome::{At, Problem};
use tfoci::{source, store};

use super::CommandError;

/// What is wrong with a host or a disk. Other providers fail in the same way.
#[derive(Debug, PartialEq, Eq)]
pub(in crate::cli) struct CommonFailure {
    cause: Cause,
    side: Discriminant<At>,
}

/// The host, or `None` for a disk, and what is wrong with it, as code shows it.
type Cause = (Option<String>, String);

impl CommonFailure {
    /// The host or disk that an error is about; `None` for other errors.
    pub(in crate::cli) fn of(error: &CommandError) -> Option<Self> {
        let failure = error.failure()?;
        let cause = of_problem(&failure.problem)?;
        let side = discriminant(&failure.at);
        Some(Self { cause, side })
    }

    /// The host; `None` for a disk.
    pub(in crate::cli) fn host(&self) -> Option<&str> {
        self.cause.0.as_deref()
    }
}

fn of_problem(problem: &Problem) -> Option<Cause> {
    match problem {
        Problem::Disk(error) => of_disk(error),
        Problem::Source(error) => of_source(error),
        Problem::Store(error) | Problem::Unread(error) => of_store(error),
        Problem::Blob(error) => of_blob(error),
        Problem::Package { source, .. } => of_problem(source),
        _ => None,
    }
}

/// A full disk, or one that this user may not write, has no room for another provider either.
fn of_disk(error: &disk::Error) -> Option<Cause> {
    let disk::Error::Io { action, source, .. } = error else {
        return None;
    };
    let is_lasting = matches!(
        source.kind(),
        io::ErrorKind::PermissionDenied
            | io::ErrorKind::ReadOnlyFilesystem
            | io::ErrorKind::StorageFull
            | io::ErrorKind::QuotaExceeded
    );
    is_lasting.then(|| (None, format!("{action:?} {:?}", source.kind())))
}

fn of_blob(error: &blob::Error) -> Option<Cause> {
    match error {
        blob::Error::Http(error) => of_http(error),
        blob::Error::Disk(error) => of_disk(error),
        _ => None,
    }
}

fn of_source(error: &source::Error) -> Option<Cause> {
    match error {
        source::Error::Disk(error) => of_disk(error),
        source::Error::Http(error) => of_http(error),
        source::Error::Unauthorized {
            tried: source::AuthTried::NoToken { host },
            ..
        } => Some((Some(host.to_unicode()), "token".to_owned())),
        _ => None,
    }
}

fn of_store(error: &store::Error) -> Option<Cause> {
    match error {
        store::Error::Disk(error) => of_disk(error),
        store::Error::Http(error) => of_http(error),
        store::Error::Blob { source, .. } => of_blob(source),
        store::Error::Unauthorized { host, tried, .. } => {
            Some((Some(host.clone()), format!("{tried:?}")))
        }
        _ => None,
    }
}

/// A connection that broke says nothing about the next one.
fn of_http(error: &http::Error) -> Option<Cause> {
    match error {
        http::Error::Transport { url, .. } if error.is_lasting() => {
            Some((Some(url.host().to_owned()), error.summary()))
        }
        _ => None,
    }
}
