//! Where a credential was found.

use std::fmt;
use std::path::Path;

use crate::error::{printable, printable_path};

/// Where a credential was found, for messages.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct FoundIn {
    text: String,
    /// Whether a program gave it, which may answer for every host.
    pub is_program: bool,
}

impl FoundIn {
    /// In an environment variable, or in the input of the user.
    pub(super) fn named(text: &str) -> Self {
        Self {
            text: printable(text),
            is_program: false,
        }
    }

    /// In an entry of a file, such as `credentials "example.com"` or `machine example.com`.
    pub(super) fn entry(path: &Path, entry: &str) -> Self {
        Self {
            text: format!("{} ({})", printable_path(path), printable(entry)),
            is_program: false,
        }
    }

    /// In a program of this name, which an entry of a file may name.
    pub(super) fn program(name: &str, named_by: Option<&Self>) -> Self {
        let named_by = named_by.map(|by| format!(", named by {by}"));
        Self {
            text: printable(name) + &named_by.unwrap_or_default(),
            is_program: true,
        }
    }
}

impl fmt::Display for FoundIn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}
