//! Errors of commands.
//!
//! The errors state facts; [`Hint`](tfoci::error::Hint) suggests one option or command that helps.

use std::error::Error;
use std::fmt;
use std::path::Path;

use tfoci::error::{Category, Hint, causes, printable, printable_path};
use tfoci::lock;
use tfoci::outcome::{Failure, Kind, Problem};
use tfoci::store::{self, Endpoint};
use tfoci::{
    address, configuration, credentials, digest, disk, platform, selection, source, trust,
};

/// An error that ends a command, or one of its providers.
#[derive(Debug)]
pub(super) struct CommandError {
    category: Category,
    /// The text, unless it is that of `reason`.
    message: Option<String>,
    hint: Option<String>,
    reason: Option<Reason>,
}

/// The error of the library behind an error of a command.
#[derive(Debug)]
enum Reason {
    /// An operation failed.
    Failure(Box<Failure>),
    /// An argument or a file cannot be used.
    Other(Box<dyn Error + Send + Sync>),
}

impl CommandError {
    /// An error of the library.
    fn because<E: Error + Send + Sync + 'static>(
        category: Category,
        hint: Option<String>,
        error: E,
    ) -> Self {
        Self {
            message: None,
            hint,
            reason: Some(Reason::Other(Box::new(error))),
            ..Self::plain(category, "")
        }
    }

    /// A message, with facts on further lines.
    pub(super) fn plain(category: Category, message: impl Into<String>) -> Self {
        Self {
            category,
            message: Some(message.into()),
            hint: None,
            reason: None,
        }
    }

    /// A message about the arguments.
    pub(super) fn usage(message: impl Into<String>) -> Self {
        Self::plain(Category::Usage, message)
    }

    /// The message with a hint.
    pub(super) fn advising(mut self, advice: impl Into<String>) -> Self {
        self.hint = Some(advice.into());
        self
    }

    /// The error with further facts, which stand below its causes.
    pub(super) fn with(mut self, facts: &str) -> Self {
        let causes: String = causes(&self).map(|cause| format!("\n  {cause}")).collect();
        self.message = Some(format!("{self}{causes}{facts}"));
        // The text has its causes, and a failure has a subject, too.
        self.reason = self.reason.filter(|one| matches!(one, Reason::Failure(_)));
        self
    }

    /// A file that an option or another file names, and that is not what it should be: `source` says why.
    pub(super) fn not_a<E>(what: &str, path: &Path, source: E) -> Self
    where
        E: Error + Hint + Send + Sync + 'static,
    {
        let message = format!("{} is not {what}", printable_path(path));
        Self {
            message: Some(message),
            ..Self::because(Category::Usage, source.hint(), source)
        }
    }

    /// A file that cannot be used. `named_by` says what names it: an option, or a line of another file.
    pub(super) fn file(error: disk::Error, named_by: &str) -> Self {
        Self::from(error).with(&format!("\n  named by {named_by}"))
    }

    /// A key file that has no usable key.
    pub(super) fn key_file(error: trust::Error, named_by: &str) -> Self {
        let message = format!("{error}\n  named by {named_by}");
        Self {
            hint: error.hint(),
            ..Self::plain(error.category(), message)
        }
    }

    /// Keys that `--pin-new` could not write into the trust file.
    pub(super) fn not_pinned(path: &Path, keys: &[String], source: Self) -> Self {
        let (path, keys) = (printable_path(path), keys.join("\n  "));
        let message = format!("new keys are not pinned in {path}\n  {keys}");
        let hint = "write their tables by hand: `match` and `keys`".to_owned();
        Self {
            message: Some(message),
            ..Self::because(source.category, Some(hint), source)
        }
    }

    /// `--require-pinned` without pins.
    pub(super) fn no_pins() -> Self {
        Self::usage("`--require-pinned` needs keys\n  expected --trust FILE or --key FILE")
    }

    /// No provider is named, and the store cannot list its providers.
    pub(super) fn no_selection(store: &str) -> Self {
        let store = printable(store);
        Self::usage(format!(
            "no provider is named, and `{store}` cannot list those that it has"
        ))
        .advising(
            "name a provider, such as `acme/demo@1.0.0`; a directory is written `oci-layout:DIR`",
        )
    }

    /// A store of one repository for a command that reads several providers.
    pub(super) fn one_repository(store: &Endpoint) -> Self {
        let store = printable(&store.to_string());
        Self::usage(format!(
            "{store} names one repository for several providers"
        ))
        .advising("leave out `--exact-repository`, which is for one provider")
    }

    /// The category, which decides the exit code. Errors about arguments are usage errors.
    pub(super) fn category(&self) -> Category {
        self.category
    }

    /// What did not verify, if that is why it failed.
    pub(super) fn kind(&self) -> Option<Kind> {
        let is_untrusted = self.category == Category::Untrusted;
        let kind = || match self.failure() {
            Some(failure) => failure.problem.kind(),
            None => Kind::only("not-verified"),
        };
        is_untrusted.then(kind)
    }

    /// The failure of an operation, if it is one.
    pub(super) fn failure(&self) -> Option<&Failure> {
        match &self.reason {
            Some(Reason::Failure(failure)) => Some(&**failure),
            _ => None,
        }
    }
}

impl fmt::Display for CommandError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (&self.message, &self.reason) {
            (Some(message), _) => f.write_str(message),
            (None, Some(Reason::Failure(failure))) => failure.fmt(f),
            (None, Some(Reason::Other(error))) => error.fmt(f),
            (None, None) => Ok(()),
        }
    }
}

impl Error for CommandError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match (&self.message, self.reason.as_ref()?) {
            (None, Reason::Failure(failure)) => failure.source(),
            (None, Reason::Other(error)) => error.source(),
            (Some(_), Reason::Other(error)) => Some(&**error),
            (Some(_), Reason::Failure(_)) => None,
        }
    }
}

impl Hint for CommandError {
    fn hint(&self) -> Option<String> {
        self.hint.clone()
    }
}

impl From<Failure> for CommandError {
    fn from(failure: Failure) -> Self {
        let category = failure.category();
        Self {
            message: None,
            hint: failure.hint(),
            reason: Some(Reason::Failure(Box::new(failure))),
            ..Self::plain(category, "")
        }
    }
}

/// Errors about arguments.
macro_rules! from_arguments {
    ($($error:ty),+) => {$(
        impl From<$error> for CommandError {
            fn from(error: $error) -> Self {
                Self::because(Category::Usage, None, error)
            }
        }
    )+};
}

/// Errors that know their category and what helps.
macro_rules! from_library {
    ($($error:ty),+) => {$(
        impl From<$error> for CommandError {
            fn from(error: $error) -> Self {
                Self::because(error.category(), error.hint(), error)
            }
        }
    )+};
}

/// Problems of a journey, or before one begins.
macro_rules! from_problems {
    ($($error:ty),+) => {$(
        impl From<$error> for CommandError {
            fn from(error: $error) -> Self {
                Failure::from(error).into()
            }
        }
    )+};
}

from_arguments!(
    address::Error,
    address::pattern::Error,
    digest::Error,
    platform::Error,
    selection::Error,
    source::SourceAddrError
);
from_library!(
    configuration::Error,
    credentials::Error,
    lock::target::Error,
    tfoci::serve::Error,
    trust::Error
);
from_problems!(
    Problem,
    disk::Error,
    source::Error,
    store::Error,
    store::endpoint::AddressError,
    store::endpoint::MappingError,
    tfoci::oci::reference::Error
);

/// The lines of configurations that ask for a provider.
pub(super) fn required_by(stated: &[String]) -> String {
    let line = |one: &String| format!("\n  required by {one}");
    stated.iter().map(line).collect()
}

/// The line of a trust file that names a key file.
pub(super) fn named_by(trust: &Path, key: &trust::KeyFile) -> String {
    let field = match key.is_of_mirror {
        true => "require_attestation",
        false => "keys",
    };
    format!("`{field}` in {}, line {}", printable_path(trust), key.line)
}
