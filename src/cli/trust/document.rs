//! The JSON documents of `trust check` and `trust show`.

use serde::Serialize;

use tfoci::address::{ProviderAddr, ProviderPattern};
use tfoci::trust::Doubt;
use tfoci::trust::rule::{Expired, Unsigned, Weak};

use super::keys::Key;
use crate::cli::json;

/// The result of `trust check`.
#[derive(Serialize)]
pub(super) struct Check {
    pub(super) schema: u32,
    pub(super) file: String,
    pub(super) entries: Vec<Entry>,
    pub(super) warnings: Vec<Warning>,
    pub(super) errors: Vec<json::Error>,
}

impl Check {
    /// Whether the file has nothing in it, not even a mistake.
    pub(super) fn is_empty(&self) -> bool {
        self.entries.is_empty() && self.errors.is_empty()
    }
}

/// An entry of a trust file.
#[derive(Serialize)]
pub(super) struct Entry {
    pub(super) line: usize,
    #[serde(rename = "match")]
    pub(super) pattern: String,
    pub(super) keys: Vec<Key>,
    #[serde(flatten)]
    pub(super) rules: Rules,
}

/// The rules of an entry, besides its keys.
#[derive(Clone, Copy, Serialize)]
pub(super) struct Rules {
    pub(super) unsigned: &'static str,
    pub(super) expired: &'static str,
    pub(super) weak: &'static str,
}

impl Rules {
    pub(super) fn of(unsigned: Unsigned, expired: Expired, weak: Weak) -> Self {
        Self {
            unsigned: unsigned.as_str(),
            expired: expired.as_str(),
            weak: weak.as_str(),
        }
    }
}

/// A warning about a line of a trust file.
#[derive(Serialize)]
pub(super) struct Warning {
    pub(super) line: usize,
    pub(super) message: String,
}

impl From<&Doubt> for Warning {
    fn from(doubt: &Doubt) -> Self {
        Self {
            line: doubt.line,
            message: doubt.to_string(),
        }
    }
}

/// The result of `trust show`.
#[derive(Serialize)]
pub(super) struct Show<'a> {
    pub(super) schema: u32,
    pub(super) provider: &'a ProviderAddr,
    /// The entry of the trust file that applies.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) entry: Option<Applied<'a>>,
    pub(super) pinned: bool,
    pub(super) keys: Vec<Key>,
    /// For `push` and `mirror`.
    pub(super) writing: Rules,
    /// For commands that read a store.
    pub(super) reading: Rules,
    pub(super) warnings: Vec<String>,
}

/// The entry that applies to a provider.
#[derive(Serialize)]
pub(super) struct Applied<'a> {
    pub(super) file: String,
    pub(super) line: usize,
    #[serde(rename = "match", serialize_with = "text")]
    pub(super) pattern: &'a ProviderPattern,
}

fn text<S: serde::Serializer>(pattern: &ProviderPattern, to: S) -> Result<S::Ok, S::Error> {
    to.collect_str(pattern)
}
