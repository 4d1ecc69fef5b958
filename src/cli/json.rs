//! The JSON of the command line: the envelopes around what journeys return.

use std::borrow::Cow;

use serde::Serialize;

use tfoci::address::ProviderAddr;
use tfoci::authentication::Authentication;
use tfoci::credentials::Location;
use tfoci::digest::Digest;
use tfoci::error::Category;
use tfoci::event::Subject;
use tfoci::hash::PackageHash;
use tfoci::install::Installed;
use tfoci::outcome::Published;
use tfoci::platform::Platform;
use tfoci::version::Version;

use super::error::CommandError;
use super::hints;
use super::neutral;

/// The version of all these documents.
pub(super) const SCHEMA: u32 = 1;

/// A command that failed before there was any result.
#[derive(Serialize)]
pub(super) struct Failed {
    schema: u32,
    error: Error,
}

impl From<Error> for Failed {
    fn from(error: Error) -> Self {
        Self {
            schema: SCHEMA,
            error,
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

impl Error {
    pub(super) fn interrupted() -> Self {
        Self {
            category: Category::Interrupted.as_str(),
            message: "interrupted".to_owned(),
            hint: None,
        }
    }
}

impl From<&CommandError> for Error {
    fn from(error: &CommandError) -> Self {
        Self {
            category: error.category().as_str(),
            message: sentence(error),
            hint: hints::of(error),
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
    let shown = text.chars().map(|c| neutral::visible(c, '\n'));
    shown.collect()
}

/// The result of `push`, `mirror`, `copy` and `install`, or as much of it as there was when the run was interrupted.
#[derive(Serialize)]
pub(super) struct Report<'a> {
    pub(super) schema: u32,
    pub(super) providers: Vec<Provider<'a>>,
    /// Of the packages that were written into a store.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) bytes: Option<u64>,
    /// HTTP requests of a publication, with redirects and retries, without those for tokens.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) requests: Option<u64>,
    /// What went wrong apart from the versions.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) error: Option<Error>,
}

/// One provider version of a report.
#[derive(Serialize)]
#[serde(untagged)]
pub(super) enum Provider<'a> {
    Published(&'a Published),
    Installed(&'a Installed),
    Failed {
        provider: &'a ProviderAddr,
        #[serde(skip_serializing_if = "Option::is_none")]
        version: Option<&'a Version>,
        /// Where it was to be mirrored to, where there are several destinations.
        #[serde(skip_serializing_if = "Option::is_none")]
        destination: Option<&'a str>,
        /// Only of a publication.
        #[serde(skip_serializing_if = "Option::is_none")]
        status: Option<&'static str>,
        packages: [(); 0],
        /// Only of an installation.
        #[serde(skip_serializing_if = "Option::is_none")]
        hashes: Option<[(); 0]>,
        error: Error,
    },
}

impl<'a> Provider<'a> {
    pub(super) fn not_published(subject: &'a Subject, error: &CommandError) -> Self {
        Self::Failed {
            provider: &subject.provider,
            version: subject.version.as_ref(),
            destination: subject.destination.as_deref(),
            status: Some("failed"),
            packages: [],
            hashes: None,
            error: error.into(),
        }
    }

    pub(super) fn not_installed(subject: &'a Subject, error: &CommandError) -> Self {
        Self::Failed {
            provider: &subject.provider,
            version: subject.version.as_ref(),
            destination: None,
            status: None,
            packages: [],
            hashes: Some([]),
            error: error.into(),
        }
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
