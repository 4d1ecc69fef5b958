//! The outcome of one provider version in a report.

use tfoci::event::Subject;
use tfoci::install::Installed;
use tfoci::outcome::Published;

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
}

/// The number and the names of the failures among `all` outcomes; `None` if nothing failed.
pub(super) fn failures(outcomes: &[Outcome], all: usize, one_version: bool) -> Option<String> {
    let failed = outcomes.iter().filter_map(|outcome| match outcome {
        Outcome::Failed(subject, _) => Some(subject),
        Outcome::Published(_) | Outcome::Installed(_) => None,
    });
    let has_versions = failed.clone().all(|subject| subject.version.is_some());
    let of = match (one_version, has_versions) {
        (true, _) => format!(" of {all} providers"),
        (false, true) => format!(" of {all}"),
        // The outcomes are versions, so a provider that failed as a whole is not one of `all`.
        (false, false) => String::new(),
    };
    let names = failed.map(|subject| match one_version {
        true => subject.provider.to_string(),
        false => subject.to_string(),
    });
    let names: Vec<String> = names.collect();
    (!names.is_empty()).then(|| format!("{}{of}: {}", names.len(), names.join(", ")))
}
