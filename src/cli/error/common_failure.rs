//! Failures that are those of a host or a disk, and not of one provider.

use std::io;
use std::mem::{Discriminant, discriminant};

use tfoci::blob;
use tfoci::credentials::FoundIn;
use tfoci::disk;
use tfoci::http::{self, ConnectionError};
use tfoci::outcome::{At, PackageError, Problem};
use tfoci::{source, store};

use super::CommandError;

/// What is wrong with a host or a disk. Other providers fail in the same way.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::cli) struct CommonFailure {
    cause: Cause,
    side: Discriminant<At>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Cause {
    Host {
        host: String,
        fault: HostFault,
    },
    /// The system refuses this action on every file, as far as one can tell.
    Disk {
        action: disk::Action,
        kind: io::ErrorKind,
    },
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum HostFault {
    Connection(ConnectionError),
    /// The registry refused the credentials, or requires some.
    Unauthorized(Option<FoundIn>),
    /// The origin refused the token, or requires one.
    NoToken,
}

impl CommonFailure {
    /// The host or disk that an error is about; `None` for other errors.
    pub(in crate::cli) fn of(error: &CommandError) -> Option<Self> {
        let CommandError::Failed(failure) = error else {
            return None;
        };
        let cause = of_problem(&failure.problem)?;
        let side = discriminant(&failure.at);
        Some(Self { cause, side })
    }

    /// The host; `None` for a disk.
    pub(in crate::cli) fn host(&self) -> Option<&str> {
        match &self.cause {
            Cause::Host { host, .. } => Some(host),
            Cause::Disk { .. } => None,
        }
    }
}

fn of_problem(problem: &Problem) -> Option<Cause> {
    match problem {
        Problem::Disk(error) => of_disk(error),
        Problem::Source(error) => of_source(error),
        Problem::Store(error) | Problem::Unread(error) => of_store(error),
        Problem::Blob(error) => of_blob(error),
        Problem::Package { source, .. } => match &**source {
            PackageError::Source(error) => of_source(error),
            PackageError::Http(error) => of_http(error),
            PackageError::Blob(error) => of_blob(error),
        },
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
    is_lasting.then(|| Cause::Disk {
        action: *action,
        kind: source.kind(),
    })
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
        } => Some(Cause::Host {
            host: host.to_unicode(),
            fault: HostFault::NoToken,
        }),
        _ => None,
    }
}

fn of_store(error: &store::Error) -> Option<Cause> {
    match error {
        store::Error::Disk(error) => of_disk(error),
        store::Error::Http(error) => of_http(error),
        store::Error::Blob { source, .. } => of_blob(source),
        store::Error::Unauthorized { host, tried, .. } => Some(Cause::Host {
            host: host.clone(),
            fault: HostFault::Unauthorized(tried.clone()),
        }),
        _ => None,
    }
}

/// A connection that broke says nothing about the next one.
fn of_http(error: &http::Error) -> Option<Cause> {
    match error {
        http::Error::Transport { url, error } if error.is_lasting() => Some(Cause::Host {
            host: url.host().to_owned(),
            fault: HostFault::Connection(error.clone()),
        }),
        _ => None,
    }
}
