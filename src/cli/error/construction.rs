//! How errors of commands are made, and what they are made of.

use std::path::Path;

use tfoci::disk;
use tfoci::error::{Category, printable};
use tfoci::outcome::{Failure, Problem};
use tfoci::store::Endpoint;
use tfoci::trust;

use super::CommandError;
use super::phrases::named_by;

impl CommandError {
    /// A file that cannot be used. `named_by` says what names it: an option, or a line of another file.
    pub(in crate::cli) fn file(error: disk::Error, named_by: &str) -> Self {
        Self::File {
            failure: Problem::from(error).into(),
            named_by: named_by.to_owned(),
        }
    }

    /// A message, with facts on further lines.
    pub(in crate::cli) fn plain(category: Category, message: impl Into<String>) -> Self {
        Self::Plain {
            category,
            message: message.into(),
            hint: None,
        }
    }

    /// A message about the arguments.
    pub(in crate::cli) fn usage(message: impl Into<String>) -> Self {
        Self::plain(Category::Usage, message)
    }

    /// The message with a hint.
    #[must_use]
    pub(in crate::cli) fn advising(self, advice: impl Into<String>) -> Self {
        match self {
            Self::Plain {
                category, message, ..
            } => Self::Plain {
                category,
                message,
                hint: Some(advice.into()),
            },
            error => error,
        }
    }

    /// No provider is named, and the store cannot list its providers.
    pub(in crate::cli) fn no_selection(store: &str) -> Self {
        let store = printable(store);
        Self::usage(format!(
            "no provider is named, and `{store}` cannot list those that it has"
        ))
        .advising(
            "name a provider, such as `acme/demo@1.0.0`; a directory is written `oci-layout:DIR`",
        )
    }

    /// A store of one repository for a command that reads several providers.
    pub(in crate::cli) fn one_repository(store: &Endpoint) -> Self {
        let store = printable(&store.to_string());
        Self::usage(format!(
            "{store} names one repository for several providers"
        ))
        .advising("leave out `--exact-repository`, which is for one provider")
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
            Self::Failed(failure)
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
