//! The JSON of the command line: the envelopes around what journeys return.

use std::borrow::Cow;

use serde::Serialize;

use tfoci::address::ProviderAddr;
use tfoci::authentication::Authentication;
use tfoci::credentials::Location;
use tfoci::digest::Digest;
use tfoci::error::{Category, is_deceptive};
use tfoci::event::Subject;
use tfoci::hash::PackageHash;
use tfoci::install::Installed;
use tfoci::outcome::Published;
use tfoci::platform::Platform;
use tfoci::version::Version;

use super::diagnose::CommandError;
use super::neutral;

/// The version of all these documents.
pub(super) const SCHEMA: u32 = 1;

/// A command that failed before it came to any provider, or that has no other results.
#[derive(Serialize)]
#[serde(untagged)]
pub(super) enum Failed<'a> {
    /// A version that was not published.
    Publication(Publication<'a>),
    /// Everything else.
    Command { schema: u32, error: Error },
}

impl<'a> From<&'a CommandError> for Failed<'a> {
    fn from(error: &'a CommandError) -> Self {
        Self::after(error, 0)
    }
}

impl<'a> Failed<'a> {
    /// Somebody asked to stop.
    pub(super) fn interrupted() -> Self {
        Self::Command {
            schema: SCHEMA,
            error: Error {
                category: Category::Interrupted.as_str(),
                message: "interrupted".to_owned(),
                hint: None,
            },
        }
    }

    /// What failed after so many requests.
    pub(super) fn after(error: &'a CommandError, requests: u64) -> Self {
        if let Some(
            failed @ Provider::Failed {
                version: Some(_), ..
            },
        ) = Provider::failed(error)
        {
            return Self::Publication(Publication {
                schema: SCHEMA,
                providers: vec![failed],
                bytes: 0,
                requests,
                error: None,
            });
        }
        Self::Command {
            schema: SCHEMA,
            error: error.into(),
        }
    }
}

/// Why something failed.
#[derive(Serialize)]
pub(super) struct Error {
    category: &'static str,
    message: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    hint: Option<String>,
}

impl From<&CommandError> for Error {
    fn from(error: &CommandError) -> Self {
        Self {
            category: error.category().as_str(),
            message: sentence(error),
            hint: error.hint(),
        }
    }
}

/// An error and its causes in one text.
pub(super) fn sentence(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        text.push_str(": ");
        let lines = error.to_string();
        let lines: Vec<String> = lines.split('\n').map(neutral::quoted).collect();
        text.push_str(&lines.join("\n"));
        cause = error.source();
    }
    text.chars().map(shown).collect()
}

/// Our own errors have lines, and strangers' text loses its control characters.
fn shown(c: char) -> char {
    match c {
        '\n' => c,
        _ if is_deceptive(c) => char::REPLACEMENT_CHARACTER,
        _ => c,
    }
}

/// The result of `push`, `mirror` and `copy`.
#[derive(Serialize)]
pub(super) struct Publication<'a> {
    pub(super) schema: u32,
    pub(super) providers: Vec<Provider<'a>>,
    /// Of the packages that were written.
    pub(super) bytes: u64,
    /// HTTP requests that were sent, with redirects and retries, without those for tokens.
    pub(super) requests: u64,
    /// What went wrong beside the versions.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) error: Option<Error>,
}

/// One provider version of a publication.
#[derive(Serialize)]
#[serde(untagged)]
pub(super) enum Provider<'a> {
    /// It is in the store.
    Published(&'a Published),
    /// It is not.
    Failed {
        provider: &'a ProviderAddr,
        #[serde(skip_serializing_if = "Option::is_none")]
        version: Option<&'a Version>,
        /// Where it was to be mirrored to, where there are several destinations.
        #[serde(skip_serializing_if = "Option::is_none")]
        destination: Option<&'a str>,
        status: &'static str,
        packages: [(); 0],
        error: Error,
    },
}

impl<'a> Provider<'a> {
    /// What is said of a version that was not published; `None` if the failure is about something else.
    pub(super) fn failed(error: &'a CommandError) -> Option<Self> {
        let (CommandError::Publication(failure) | CommandError::Mirroring(failure)) = error else {
            return None;
        };
        let Subject {
            provider,
            version,
            destination,
            ..
        } = failure.subject.as_ref()?;
        Some(Self::Failed {
            provider,
            version: version.as_ref(),
            destination: destination.as_deref(),
            status: "failed",
            packages: [],
            error: error.into(),
        })
    }
}

/// The result of `versions`.
#[derive(Serialize)]
pub(super) struct Versions<'a> {
    pub(super) schema: u32,
    pub(super) provider: &'a ProviderAddr,
    pub(super) repository: String,
    pub(super) versions: &'a [Version],
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) ignored: Option<Vec<Ignored>>,
}

/// A tag that is no version.
#[derive(Serialize)]
pub(super) struct Ignored {
    pub(super) tag: String,
    pub(super) reason: String,
}

/// The result of `inspect`.
#[derive(Serialize)]
pub(super) struct Inspection<'a> {
    pub(super) schema: u32,
    pub(super) provider: &'a ProviderAddr,
    pub(super) version: &'a Version,
    pub(super) reference: String,
    pub(super) digest: Digest,
    pub(super) protocols: Vec<String>,
    pub(super) packages: Vec<InspectedPackage>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) authentication: Option<Authentication>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) error: Option<Error>,
}

/// One package of an inspection.
#[derive(Serialize)]
pub(super) struct InspectedPackage {
    pub(super) platform: Platform,
    pub(super) manifest: String,
    pub(super) size: u64,
    pub(super) zh: Option<PackageHash>,
}

/// The result of `login` and `logout`.
#[derive(Serialize)]
pub(super) struct Login<'a> {
    schema: u32,
    registry: &'a str,
    status: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    file: Option<Cow<'a, str>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    helper: Option<String>,
}

impl<'a> Login<'a> {
    /// What became of the credentials for a registry, and where they are or were.
    pub(super) fn new(
        registry: &'a str,
        status: &'static str,
        location: Option<&'a Location>,
    ) -> Self {
        let (file, helper) = match location {
            // A document has text only, and there must be one whatever the name.
            Some(Location::File(path)) => (Some(path.to_string_lossy()), None),
            Some(Location::Helper(helper)) => (None, Some(helper.to_string())),
            None => (None, None),
        };
        Self {
            schema: SCHEMA,
            registry,
            status,
            file,
            helper,
        }
    }
}

/// The result of `install`.
#[derive(Serialize)]
pub(super) struct Installation<'a> {
    pub(super) schema: u32,
    pub(super) providers: Vec<InstalledProvider<'a>>,
}

/// One provider of an installation.
#[derive(Serialize)]
#[serde(untagged)]
pub(super) enum InstalledProvider<'a> {
    /// It is in the mirror.
    Installed(&'a Installed),
    /// Not all of it is.
    Failed {
        provider: &'a ProviderAddr,
        #[serde(skip_serializing_if = "Option::is_none")]
        version: Option<&'a Version>,
        packages: [(); 0],
        hashes: [(); 0],
        error: Error,
    },
}

impl<'a> InstalledProvider<'a> {
    /// What became of one provider that was asked for.
    pub(super) fn of(
        provider: &'a ProviderAddr,
        result: &'a Result<Installed, CommandError>,
    ) -> Self {
        match result {
            Ok(installed) => Self::Installed(installed),
            Err(error) => {
                let subject = match error {
                    CommandError::Journey(failure) => failure.subject.as_ref(),
                    _ => None,
                };
                Self::Failed {
                    provider,
                    version: subject.and_then(|subject| subject.version.as_ref()),
                    packages: [],
                    hashes: [],
                    error: Error::from(error),
                }
            }
        }
    }
}

/// The result of `resolve`.
#[derive(Serialize)]
pub(super) struct Resolution<'a> {
    pub(super) schema: u32,
    pub(super) provider: &'a ProviderAddr,
    pub(super) reference: String,
    pub(super) template: Option<Template<'a>>,
}

/// Both spellings of a template.
#[derive(Serialize)]
pub(super) struct Template<'a> {
    pub(super) hcl: &'a str,
    /// `None` where only the other spelling can say it.
    pub(super) uri: Option<String>,
}
