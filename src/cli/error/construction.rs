//! How errors of commands are made, and what they are made of.

use std::path::Path;

use tfoci::disk;
use tfoci::outcome::{Failure, Problem};
use tfoci::trust;

use super::phrases::named_by;
use super::{CommandError, JourneyFailure};

impl CommandError {
    /// A file that cannot be used. `named_by` says what names it: an option, or a line of another file.
    pub(in crate::cli) fn file(error: disk::Error, named_by: &str) -> Self {
        Self::File {
            failure: Problem::from(error).into(),
            named_by: named_by.to_owned(),
        }
    }

    /// No provider is named, and the store cannot list its providers.
    pub(in crate::cli) fn no_selection(store: &str) -> Self {
        Self::NoSelection {
            store: store.to_owned(),
            is_directory: Path::new(store).is_dir(),
        }
    }

    pub(in crate::cli) fn trust_file(path: &Path, source: trust::Error) -> Self {
        Self::TrustFile {
            path: path.to_owned(),
            source: Box::new(source),
        }
    }

    /// The failure of an operation, if it is one.
    pub(in crate::cli) fn failure(&self) -> Option<&Failure> {
        match self {
            Self::Journey(JourneyFailure { failure, .. })
            | Self::NotSelected { failure, .. }
            | Self::NotLocked { failure, .. }
            | Self::File { failure, .. } => Some(failure),
            _ => None,
        }
    }

    /// The keys of a file that a trust file names cannot be used.
    pub(in crate::cli) fn key_file(
        trust: &Path,
        key: &trust::KeyFile,
        error: trust::Error,
    ) -> Self {
        Self::KeyFile {
            error,
            named_by: named_by(trust, key),
            is_trust_file: false,
        }
    }
}
