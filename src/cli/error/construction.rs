//! How errors of commands are made, what they are made of, and their categories.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use tfoci::disk;
use tfoci::error::{Category, printable, printable_path};
use tfoci::outcome::{Failure, Kind, Problem};
use tfoci::store::Endpoint;
use tfoci::trust;

use super::CommandError;

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
    pub(in crate::cli) fn advising(mut self, advice: impl Into<String>) -> Self {
        if let Self::Plain { hint, .. } = &mut self {
            *hint = Some(advice.into());
        }
        self
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

    /// The category, which decides the exit code. Errors about arguments are usage errors.
    pub(in crate::cli) fn category(&self) -> Category {
        if let Some(failure) = self.failure() {
            return failure.category();
        }
        match self {
            Self::LockTarget(error) => error.category(),
            Self::NotPinned { source, .. } => source.category(),
            Self::KeyFile {
                error: trust::Error::NotAKey { .. },
                ..
            } => Category::Usage,
            Self::Trust(error) | Self::KeyFile { error, .. } => error.category(),
            Self::Credentials(error) | Self::Named { error, .. } => error.category(),
            Self::Serve(error) => error.category(),
            Self::Configuration(error) => error.category(),
            Self::Plain { category, .. } => *category,
            Self::Empty { .. } => Category::NotFound,
            _ => Category::Usage,
        }
    }

    /// What did not verify, if that is why it failed.
    pub(in crate::cli) fn kind(&self) -> Option<Kind> {
        let is_untrusted = self.category() == Category::Untrusted;
        let kind = || match self.failure() {
            Some(failure) => failure.problem.kind(),
            None => Kind::only("not-verified"),
        };
        is_untrusted.then(kind)
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

pub(super) fn locked_by(files: &BTreeSet<PathBuf>) -> String {
    let line = |file: &PathBuf| format!("\n  locked by {}", printable_path(file));
    files.iter().map(line).collect()
}

pub(in crate::cli) fn required_by(stated: &[String]) -> String {
    let line = |one: &String| format!("\n  required by {one}");
    stated.iter().map(line).collect()
}

/// The causes of an error, one per line.
pub(super) fn causes(error: &dyn std::error::Error) -> String {
    let causes = std::iter::successors(error.source(), |cause| (*cause).source());
    causes.map(|cause| format!("\n  {cause}")).collect()
}

/// The line of a trust file that names a key file.
pub(in crate::cli) fn named_by(trust: &Path, key: &trust::KeyFile) -> String {
    let field = match key.is_of_mirror {
        true => "require_attestation",
        false => "keys",
    };
    format!("`{field}` in {}, line {}", printable_path(trust), key.line)
}
