//! The block list: versions that must not be in a store, or come out of one.
//!
//! ```toml
//! [[deny]]
//! match = "registry.opentofu.org/acme/*"
//! versions = ">= 1.2.0, < 1.2.5"
//! reason = "CVE-2026-1234"
//! until = 2027-01-31
//! ```
//!
//! Every entry counts, whatever their order, and none changes what the file requires of other versions.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;
use std::time::SystemTime;

use serde::{Deserialize, Serialize, Serializer};
use toml_edit::Datetime;

use crate::address::{ProviderAddr, ProviderPattern, pattern};
use crate::constraint::{self, VersionConstraints};
use crate::date::date;
use crate::error::{MANY, listed, printable};
use crate::event::Warning;
use crate::version::Version;

use super::Error;

/// A `[[deny]]` of a trust file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Denial {
    /// The line of its `match`, from 1.
    pub line: usize,
    /// Its field `match`.
    #[serde(rename = "match", serialize_with = "as_text")]
    pub pattern: ProviderPattern,
    /// Its field `versions`; without one, all versions.
    #[serde(
        skip_serializing_if = "VersionConstraints::is_any",
        serialize_with = "as_text"
    )]
    pub versions: VersionConstraints,
    /// Its field `reason`.
    pub reason: String,
    /// Its field `until`: the last day on which it counts, such as `2027-01-31`, in UTC.
    pub until: Option<String>,
}

fn as_text<S: Serializer>(value: &impl fmt::Display, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(value)
}

/// The entries of a block list. Clones share them.
#[derive(Clone, Debug, Default)]
pub struct Denials(pub(super) Arc<Vec<Denial>>);

/// The table of an entry.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct DenyTable {
    r#match: String,
    versions: Option<String>,
    reason: String,
    until: Option<Datetime>,
}

impl Denial {
    pub(super) fn new(table: DenyTable, line: usize) -> Result<Self, Error> {
        let wrong = |error: &dyn fmt::Display| Error::Entry {
            line,
            what: error.to_string(),
        };
        let pattern = table.r#match.parse();
        let pattern: ProviderPattern = pattern.map_err(|error: pattern::Error| wrong(&error))?;
        let versions = table.versions.as_deref().map(str::parse).transpose();
        let versions = versions.map_err(|error: constraint::Error| wrong(&error))?;
        let until = table.until.map(|until| match (until.date, until.time) {
            (Some(day), None) => Ok(day.to_string()),
            _ => Err(wrong(
                &"`until` is not a date, such as 2027-01-31 without quotation marks",
            )),
        });
        Ok(Self {
            line,
            pattern,
            versions: versions.unwrap_or_default(),
            reason: table.reason,
            until: until.transpose()?,
        })
    }

    fn counts(&self, now: SystemTime) -> bool {
        let until = self.until.as_ref();
        until.is_none_or(|until| date(now) <= *until)
    }

    /// Whether it denies a version. Pre-releases are in its ranges, and build metadata makes no difference.
    fn has(&self, provider: &ProviderAddr, version: &Version, now: SystemTime) -> bool {
        let is_within = |version: &Version| self.versions.is_any() || self.versions.spans(version);
        let text = version.to_string();
        let plain = text.split('+').next().and_then(|text| text.parse().ok());
        self.pattern.matches(provider)
            && self.counts(now)
            && (is_within(version) || plain.is_some_and(|plain| is_within(&plain)))
    }
}

/// The reason, and where it stands: `CVE-2026-1234 (line 7 of the trust file)`.
impl fmt::Display for Denial {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (reason, line) = (printable(&self.reason), self.line);
        write!(f, "{reason} (line {line} of the trust file)")
    }
}

impl Denials {
    /// The entries for a provider, also those that have ended.
    pub fn of(&self, provider: &ProviderAddr) -> impl Iterator<Item = &Denial> {
        self.0.iter().filter(|one| one.pattern.matches(provider))
    }

    /// The first entry that denies a version.
    pub fn find(
        &self,
        provider: &ProviderAddr,
        version: &Version,
        now: SystemTime,
    ) -> Option<&Denial> {
        self.0.iter().find(|one| one.has(provider, version, now))
    }

    /// Checks a version.
    ///
    /// # Errors
    /// [`Error::Denied`]
    pub fn check(
        &self,
        provider: &ProviderAddr,
        version: &Version,
        now: SystemTime,
    ) -> Result<(), Error> {
        match self.find(provider, version, now) {
            Some(denial) => Err(Error::Denied {
                why: denial.to_string(),
            }),
            None => Ok(()),
        }
    }

    /// Leaves out denied versions. Those that one of the constraints names exactly stay: the user wants them, and they fail. Returns a warning for
    /// each entry that leaves out what the constraints admit.
    pub(crate) fn leave_out<'c, V>(
        &self,
        provider: &ProviderAddr,
        constraints: impl Iterator<Item = &'c VersionConstraints> + Clone,
        versions: &mut Vec<V>,
        version_of: impl Fn(&V) -> &Version,
        now: SystemTime,
    ) -> Vec<Warning> {
        let mut left_out: BTreeMap<String, Vec<Version>> = BTreeMap::new();
        versions.retain(|one| {
            let version = version_of(one);
            let Some(denial) = self.find(provider, version, now) else {
                return true;
            };
            let is_named = constraints
                .clone()
                .any(|one| one.as_exact() == Some(version));
            let is_wanted = |one: &VersionConstraints| one.is_any() || one.spans(version);
            if !is_named && constraints.clone().any(is_wanted) {
                let versions = left_out.entry(denial.to_string()).or_default();
                versions.push(version.clone());
            }
            is_named
        });
        let warnings = left_out.into_iter().map(|(why, versions)| {
            let versions = listed(versions, MANY);
            Warning::Other(format!("leaves out {versions}: {why}"))
        });
        warnings.collect()
    }
}
