//! The outcome of one provider version in a report.

use tfoci::event::{Subject, Transfer};
use tfoci::install::Installed;
use tfoci::outcome::{Change, Published};

use super::super::error::CommandError;
use super::super::json;

/// The outcome of one provider version.
pub(super) enum Outcome {
    Published(Published),
    Installed(Installed),
    Failed(Subject, CommandError),
}

impl Outcome {
    /// The JSON of this outcome. For failures, `into_a_store` decides between the fields of publications and installations.
    pub(super) fn provider(&self, into_a_store: bool) -> json::Provider<'_> {
        match self {
            Self::Published(published) => json::Provider::Published(published),
            Self::Installed(installed) => json::Provider::Installed(installed),
            Self::Failed(subject, error) if into_a_store => {
                json::Provider::not_published(subject, error)
            }
            Self::Failed(subject, error) => json::Provider::not_installed(subject, error),
        }
    }

    pub(super) fn error(&self) -> Option<&CommandError> {
        match self {
            Self::Failed(_, error) => Some(error),
            Self::Published(_) | Self::Installed(_) => None,
        }
    }

    /// Whether the destination had the version already.
    pub(super) fn is_unchanged(&self) -> bool {
        match self {
            Self::Published(published) => published.status == Change::Present,
            Self::Installed(installed) => {
                let mut packages = installed.packages.iter();
                packages.all(|package| package.transfer == Transfer::Present)
            }
            Self::Failed(..) => false,
        }
    }

    /// The lines on stdout: the reference of a published version, or the paths of installed packages.
    pub(super) fn results(&self) -> impl Iterator<Item = String> {
        let (reference, packages) = match self {
            Self::Published(published) => (Some(published.reference.clone()), &[][..]),
            Self::Installed(installed) => (None, &installed.packages[..]),
            Self::Failed(..) => (None, &[][..]),
        };
        let paths = packages.iter().map(|one| one.path.display().to_string());
        reference.into_iter().chain(paths)
    }
}
