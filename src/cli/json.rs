//! The JSON documents of `--format json`.

use serde::Serialize;
use serde_json::{Map, Value, json};

use tfoci::address::ProviderAddr;
use tfoci::authentication::Authentication;
use tfoci::digest::Digest;
use tfoci::error::{Category, Hint, causes};
use tfoci::hash::PackageHash;
use tfoci::outcome::Kind;
use tfoci::place::Place;
use tfoci::platform::Platform;
use tfoci::version::Version;

use super::error::CommandError;
use super::neutral;

/// The version of the format of all these documents.
pub(super) const SCHEMA: u32 = 1;

/// The document of a command that failed before it had a result: its error, and what that is about. Errors of versions are in their documents.
pub(super) fn failed(error: &CommandError) -> Value {
    let failure = error.failure();
    let subject = failure.and_then(|failure| failure.subject.as_ref());
    let about = json!({
        "provider": subject.map(|subject| &subject.provider),
        "version": subject.and_then(|subject| subject.version.as_ref()),
        "place": failure.and_then(|failure| failure.at.as_ref().map(Place::name)),
    });
    json!({"schema": SCHEMA, "error": object([json!(Error::from(error)), about])})
}

/// The document of a command that was interrupted before it had a result.
pub(super) fn interrupted() -> Value {
    object([json!({"schema": SCHEMA, "error": Error::interrupted()})])
}

/// One object with the members of all of these. Members without a value are left out, at every level.
pub(super) fn object<const N: usize>(parts: [Value; N]) -> Value {
    let members = parts.into_iter().flat_map(|part| match part {
        Value::Object(members) => members,
        _ => Map::new(),
    });
    filled(members.collect())
}

fn filled(value: Value) -> Value {
    match value {
        Value::Object(members) => {
            let members = members.into_iter().filter(|(_, value)| !value.is_null());
            members.map(|(name, value)| (name, filled(value))).collect()
        }
        Value::Array(items) => items.into_iter().map(filled).collect(),
        value => value,
    }
}

/// An error, as its text and JSON describe it.
#[derive(Serialize)]
pub(super) struct Error {
    category: &'static str,
    message: String,
    hint: Option<String>,
    /// What did not verify.
    #[serde(flatten)]
    kind: Option<Kind>,
}

impl Error {
    pub(super) fn interrupted() -> Self {
        Self {
            category: Category::Interrupted.as_str(),
            message: "interrupted".to_owned(),
            hint: None,
            kind: None,
        }
    }
}

impl From<&CommandError> for Error {
    fn from(error: &CommandError) -> Self {
        Self {
            category: error.category().as_str(),
            message: sentence(error),
            hint: error.hint(),
            kind: error.kind(),
        }
    }
}

/// The text of an error, followed by the texts of its causes.
pub(super) fn sentence(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    for cause in causes(error) {
        let lines = cause.to_string();
        let lines: Vec<String> = lines.split('\n').map(neutral::quoted).collect();
        text += &format!(": {}", lines.join("\n"));
    }
    let shown = text.chars().map(|c| neutral::visible(c, '\n'));
    shown.collect()
}

/// What became of a lock file.
#[derive(Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum LockFileStatus {
    Written,
    Present,
    /// `--check` would write it.
    Differs,
    /// In a dry run.
    Planned,
    /// A provider of it failed, or the file did.
    Failed,
}

/// The result of `inspect`.
#[derive(Serialize)]
pub(super) struct Inspection {
    pub(super) schema: u32,
    pub(super) provider: ProviderAddr,
    pub(super) version: Version,
    /// Only in a store.
    pub(super) reference: Option<String>,
    pub(super) digest: Option<Digest>,
    /// The name of the source, if the version is not in a store.
    pub(super) from: Option<String>,
    pub(super) protocols: Vec<String>,
    pub(super) packages: Vec<InspectedPackage>,
    /// If the argument names no version: the others, newest first.
    pub(super) other_versions: Option<Vec<Version>>,
    pub(super) authentication: Option<Authentication>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) attestations: Vec<InspectedAttestation>,
    pub(super) error: Option<Error>,
}

/// What an attestation in the store says.
#[derive(Serialize)]
pub(super) struct InspectedAttestation {
    pub(super) mirror: String,
    pub(super) time: String,
    pub(super) origin: String,
    pub(super) rule: Value,
    /// The id of the mirror's key, if the attestation was checked with it.
    pub(super) key: Option<String>,
}

impl Inspection {
    /// A version, where nothing more is known.
    pub(super) fn of(provider: ProviderAddr, version: Version) -> Self {
        Self {
            schema: SCHEMA,
            provider,
            version,
            reference: None,
            digest: None,
            from: None,
            protocols: Vec::new(),
            packages: Vec::new(),
            other_versions: None,
            authentication: None,
            attestations: Vec::new(),
            error: None,
        }
    }
}

/// One package of a version.
#[derive(Serialize)]
pub(super) struct InspectedPackage {
    pub(super) platform: Platform,
    pub(super) manifest: Option<String>,
    pub(super) size: Option<u64>,
    pub(super) zh: PackageHash,
}
