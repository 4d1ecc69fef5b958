//! The keys that a release must be signed with, and what asked for them.

use std::fmt;
use std::path::PathBuf;

use crate::error::{self, FEW, printable, printable_path};
use crate::fingerprint::Fingerprint;

/// A key, as people know it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct NamedKey {
    /// The fingerprint of the primary key.
    pub fingerprint: Fingerprint,
    /// Its primary user id, which anyone can choose; `None` if it is not known.
    pub user_id: Option<String>,
}

/// The fingerprint, and the user id in backticks.
impl fmt::Display for NamedKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.user_id {
            // A backtick would end the user id before its end.
            Some(user_id) => {
                let user_id = printable(user_id).replace('`', "'");
                write!(f, "{} `{user_id}`", self.fingerprint)
            }
            None => self.fingerprint.fmt(f),
        }
    }
}

/// What asked for certain keys.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum AskedBy {
    /// An entry of a trust file.
    TrustFile {
        /// The path as the user named it; empty if it is not known.
        path: PathBuf,
        /// The line of its first key, from 1.
        line: usize,
    },
    /// The option `--key`.
    Option,
}

/// `trust.toml, line 3`, or `--key`.
impl fmt::Display for AskedBy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TrustFile { path, line, .. } if path.as_os_str().is_empty() => {
                write!(f, "the trust file, line {line}")
            }
            Self::TrustFile { path, line, .. } => {
                write!(f, "{}, line {line}", printable_path(path))
            }
            Self::Option => f.write_str("--key"),
        }
    }
}

/// ` (named by …)`, or nothing.
fn named_by(asked_by: Option<&AskedBy>) -> String {
    asked_by.map_or_else(String::new, |asked_by| format!(" (named by {asked_by})"))
}

/// The keys. One of them had to sign.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct ExpectedKeys {
    /// The keys, in text that is safe to print: as [`NamedKey`] names them, or by the file that contains them. User ids are there if it is a
    /// single one.
    pub keys: Vec<String>,
    /// What asked for them; `None` for the keys that come with the release.
    pub asked_by: Option<AskedBy>,
}

impl ExpectedKeys {
    /// The keys without their user ids.
    pub(crate) fn fingerprints(&self) -> Vec<&str> {
        let keys = self.keys.iter().filter_map(|key| key.split(" `").next());
        keys.collect()
    }
}

impl fmt::Display for ExpectedKeys {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{}{}",
            listed(&self.keys),
            named_by(self.asked_by.as_ref())
        )
    }
}

/// The first items of a list, as text. An origin may send hundreds of keys.
pub(super) fn listed<T: fmt::Display>(items: &[T]) -> String {
    match items {
        [] => "none".to_owned(),
        items => error::listed(items, FEW),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_are_short() {
        assert_eq!(listed::<String>(&[]), "none");
        assert_eq!(listed(&[1, 2, 3, 4, 5, 6]), "1, 2, 3, 4 and 2 more");
    }

    #[test]
    fn keys_are_named_with_what_asked_for_them() {
        let fingerprint: Fingerprint = "A".repeat(40).parse().expect("a fingerprint");
        let key = |user_id: Option<&str>| {
            let key = NamedKey {
                fingerprint: fingerprint.clone(),
                user_id: user_id.map(str::to_owned),
            };
            key.to_string()
        };
        let line = |path: &str| AskedBy::TrustFile {
            path: path.into(),
            line: 3,
        };
        for (keys, asked_by, expected) in [
            (vec![], None, "none".to_owned()),
            (
                vec![key(Some("Acme <a@acme.example>"))],
                Some(AskedBy::Option),
                format!("{fingerprint} `Acme <a@acme.example>` (named by --key)"),
            ),
            (
                vec![key(None), key(None)],
                Some(line("ours/trust.toml")),
                format!("{fingerprint}, {fingerprint} (named by ours/trust.toml, line 3)"),
            ),
            (
                vec![key(Some("x` (named by --key)\n  received"))],
                Some(line("")),
                format!(
                    "{fingerprint} `x' (named by --key)\u{fffd}  received` (named by the trust file, line 3)"
                ),
            ),
        ] {
            assert_eq!(ExpectedKeys { keys, asked_by }.to_string(), expected);
        }
    }
}
