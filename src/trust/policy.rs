//! The trust file, and the policy that results from it and from command-line options.
//!
//! ```toml
//! [[provider]]
//! match = "registry.opentofu.org/hashicorp/*"
//! keys = ["C874011F0AB405110D02105534365D9472D7468F", "keys/acme.asc"]
//! unsigned = "refuse"
//! expired = "warn"
//! weak = "refuse"
//! ```
//!
//! The first matching entry applies, otherwise the defaults. Keys from the command line replace the entry's key files. Finally a
//! matching `--allow-unsigned` sets `unsigned`, unless keys are pinned: a pinned provider must be signed.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use serde::Deserialize;

use crate::address::{ProviderAddr, ProviderPattern};
use crate::authentication::Anchor;
use crate::release::{Document, KeyRing};

use super::Error;
use super::rule::{Expired, Fingerprint, Rule, Unsigned, Weak};

/// A parsed trust file, whose key files have not been read yet.
#[derive(Clone, Debug, Default)]
pub struct TrustFile {
    entries: Vec<TrustEntry>,
}

#[derive(Clone, Debug)]
struct TrustEntry {
    pattern: ProviderPattern,
    files: Vec<PathBuf>,
    /// The rule without the keys in `files`.
    rule: Rule,
}

/// The tables of the file. Unknown fields are errors, so that a misspelt `unsigned` does not silently leave the default.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Tables {
    #[serde(default)]
    provider: Vec<Table>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Table {
    r#match: String,
    #[serde(default)]
    keys: Vec<String>,
    #[serde(default)]
    unsigned: Unsigned,
    #[serde(default)]
    expired: Expired,
    #[serde(default)]
    weak: Weak,
}

impl TrustFile {
    /// Parses a trust file.
    ///
    /// # Errors
    /// The text is not TOML, has an unknown field or value, or a `match` is not a pattern.
    pub fn parse(text: &str) -> Result<Self, Error> {
        let tables: Tables =
            toml_edit::de::from_str(text).map_err(|e| Error::TrustFile(Box::new(e)))?;
        let entries = tables.provider.into_iter().map(TrustEntry::new);
        Ok(Self {
            entries: entries.collect::<Result<_, _>>()?,
        })
    }

    /// Reads the key files with `read`. It gets each path as written; relative paths are relative to the trust file.
    ///
    /// # Errors
    /// The first error of `read`.
    pub fn resolve<E>(
        self,
        mut read: impl FnMut(&Path) -> Result<Vec<u8>, E>,
    ) -> Result<Policy, E> {
        let mut policy = Policy::default();
        for mut entry in self.entries {
            for path in &entry.files {
                entry.rule.keys.push(KeyRing {
                    name: path.display().to_string(),
                    bytes: read(path)?,
                    anchor: Anchor::Pinned,
                });
            }
            policy.entries.push((entry.pattern, entry.rule));
        }
        Ok(policy)
    }
}

/// The settings of the trust file's entry for a provider.
#[derive(Clone, Debug)]
pub(super) struct Settings {
    /// The index of the entry, from 0.
    pub(super) place: usize,
    /// The fingerprints in its `keys`.
    pub(super) pins: BTreeSet<Fingerprint>,
    /// Whether its `keys` contain paths of key files.
    pub(super) has_files: bool,
    /// Its other settings, as names and values; defaults are left out.
    pub(super) said: Vec<(&'static str, &'static str)>,
}

impl TrustFile {
    /// The settings of the first matching entry.
    pub(super) fn settings_for(&self, provider: &ProviderAddr) -> Option<Settings> {
        let mut entries = self.entries.iter().enumerate();
        let (place, TrustEntry { files, rule, .. }) =
            entries.find(|(_, entry)| entry.pattern.matches(provider))?;
        let said = [
            ("unsigned", "allow", rule.unsigned == Unsigned::Allow),
            ("expired", "refuse", rule.expired == Expired::Refuse),
            ("weak", "warn", rule.weak == Weak::Warn),
        ];
        let said = said.into_iter().filter(|(_, _, is_said)| *is_said);
        Some(Settings {
            place,
            pins: rule.pins.iter().cloned().collect(),
            has_files: !files.is_empty(),
            said: said.map(|(name, word, _)| (name, word)).collect(),
        })
    }
}

impl TrustEntry {
    fn new(table: Table) -> Result<Self, Error> {
        if !table.keys.is_empty() && table.unsigned == Unsigned::Allow {
            return Err(Error::UnsignedPin {
                pattern: table.r#match,
            });
        }
        let mut entry = Self {
            pattern: table.r#match.parse()?,
            files: Vec::new(),
            rule: Rule {
                pins: Vec::new(),
                keys: Vec::new(),
                unsigned: table.unsigned,
                expired: table.expired,
                weak: table.weak,
            },
        };
        for key in table.keys {
            match key.parse::<Fingerprint>() {
                Ok(fingerprint) => entry.rule.pins.push(fingerprint),
                Err(_) => entry.files.push(PathBuf::from(key)),
            }
        }
        Ok(entry)
    }
}

/// The rules for all providers.
#[derive(Clone, Debug, Default)]
pub struct Policy {
    entries: Vec<(ProviderPattern, Rule)>,
    keys: Vec<Document>,
    allow_unsigned: Vec<ProviderPattern>,
}

impl Policy {
    /// Adds keys from the command line, for every provider. They replace an entry's key files and are themselves pinned. If
    /// the entry has fingerprints, these keys only provide the certificates, which must match the fingerprints.
    #[must_use]
    pub fn with_keys(mut self, keys: Vec<Document>) -> Self {
        self.keys.extend(keys);
        self
    }

    /// Adds patterns of providers that may lack a usable key or signature, unless a key is pinned for them.
    #[must_use]
    pub fn with_allow_unsigned(mut self, patterns: Vec<ProviderPattern>) -> Self {
        self.allow_unsigned.extend(patterns);
        self
    }

    /// The rule for a provider; `None` if neither the trust file nor the options mention it. The command then uses [`Rule::default`] or
    /// [`Rule::reading`].
    pub fn rule_for(&self, provider: &ProviderAddr) -> Option<Rule> {
        let entry = self
            .entries
            .iter()
            .find(|(pattern, _)| pattern.matches(provider));
        let allowed = self
            .allow_unsigned
            .iter()
            .any(|pattern| pattern.matches(provider));
        if entry.is_none() && self.keys.is_empty() && !allowed {
            return None;
        }
        let mut rule = entry.map(|(_, rule)| rule.clone()).unwrap_or_default();
        if !self.keys.is_empty() {
            let anchor = if rule.pins.is_empty() {
                Anchor::Pinned
            } else {
                Anchor::Embedded
            };
            rule.keys = self
                .keys
                .iter()
                .map(|document| ring(document, anchor))
                .collect();
        }
        // Pinned keys require signatures, and `--allow-unsigned` does not change that.
        if allowed && !rule.pinned() {
            rule.unsigned = Unsigned::Allow;
        }
        Some(rule)
    }
}

fn ring(document: &Document, anchor: Anchor) -> KeyRing {
    KeyRing {
        name: document.name.clone(),
        bytes: document.bytes.clone(),
        anchor,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Category;
    use proptest::prelude::*;

    const PIN: &str = "C874011F0AB405110D02105534365D9472D7468F";

    fn policy(text: &str) -> Policy {
        TrustFile::parse(text)
            .expect("a trust file")
            .resolve(|path| Ok::<_, ()>(path.display().to_string().into_bytes()))
            .expect("its keys")
    }

    fn rule(policy: &Policy, address: &str) -> Option<Rule> {
        policy.rule_for(&address.parse().expect("an address"))
    }

    fn document(name: &str) -> Document {
        Document {
            name: name.to_owned(),
            bytes: Vec::new(),
        }
    }

    fn rings(rule: &Rule) -> Vec<(&str, Anchor)> {
        rule.keys
            .iter()
            .map(|ring| (ring.name.as_str(), ring.anchor))
            .collect()
    }

    #[test]
    fn the_first_matching_entry_decides() {
        let policy = policy(&format!(
            "[[provider]]\nmatch = 'a.example/acme/demo'\nkeys = ['{}', 'keys/acme.asc']\nexpired = 'refuse'\nweak = 'warn'\n\
             [[provider]]\nmatch = 'a.example/*/*'\n",
            PIN.to_lowercase()
        ));
        let first = rule(&policy, "a.example/acme/demo").expect("a rule");
        assert_eq!(first.pins, [PIN.parse().expect("a fingerprint")]);
        assert_eq!(rings(&first), [("keys/acme.asc", Anchor::Pinned)]);
        assert_eq!(
            (first.unsigned, first.expired, first.weak),
            (Unsigned::Refuse, Expired::Refuse, Weak::Warn)
        );
        let second = rule(&policy, "a.example/acme/other").expect("a rule");
        assert!(!second.pinned());
        assert_eq!(second.unsigned, Unsigned::Refuse);
        assert!(rule(&policy, "b.example/acme/demo").is_none());
    }

    #[test]
    fn keys_of_the_command_line_replace_key_files_and_serve_fingerprints() {
        let policy = policy(&format!(
            "[[provider]]\nmatch = 'a.example/acme/file'\nkeys = ['old.asc']\n\
             [[provider]]\nmatch = 'a.example/acme/pin'\nkeys = ['{PIN}']\n"
        ))
        .with_keys(vec![document("new.asc")]);
        let file = rule(&policy, "a.example/acme/file").expect("a rule");
        assert_eq!(rings(&file), [("new.asc", Anchor::Pinned)]);
        let pin = rule(&policy, "a.example/acme/pin").expect("a rule");
        assert_eq!(pin.pins.len(), 1);
        assert_eq!(rings(&pin), [("new.asc", Anchor::Embedded)]);
        let none = rule(&policy, "a.example/acme/none").expect("a rule");
        assert_eq!(rings(&none), [("new.asc", Anchor::Pinned)]);
    }

    #[test]
    fn allow_unsigned_changes_nothing_else() {
        let text = "[[provider]]\nmatch = 'a.example/acme/*'\nweak = 'warn'\n";
        let patterns = vec!["a.example/acme/demo".parse().expect("a pattern")];
        let policy = policy(text).with_allow_unsigned(patterns);
        let allowed = rule(&policy, "a.example/acme/demo").expect("a rule");
        assert_eq!(
            (allowed.unsigned, allowed.weak),
            (Unsigned::Allow, Weak::Warn)
        );
        let other = rule(&policy, "a.example/acme/other").expect("a rule");
        assert_eq!(other.unsigned, Unsigned::Refuse);
    }

    #[test]
    fn allow_unsigned_does_not_reach_pinned_providers() {
        let pattern = || vec!["a.example/acme/*".parse().expect("a pattern")];
        for keys in [PIN, "keys/acme.asc"] {
            let text = format!("[[provider]]\nmatch = 'a.example/acme/*'\nkeys = ['{keys}']\n");
            let policy = policy(&text).with_allow_unsigned(pattern());
            let pinned = rule(&policy, "a.example/acme/demo").expect("a rule");
            assert_eq!(pinned.unsigned, Unsigned::Refuse, "{keys}");
            assert!(pinned.pinned());
        }
        let policy = Policy::default()
            .with_keys(vec![document("new.asc")])
            .with_allow_unsigned(pattern());
        let pinned = rule(&policy, "a.example/acme/demo").expect("a rule");
        assert_eq!(pinned.unsigned, Unsigned::Refuse);
    }

    #[test]
    fn what_cannot_be_meant_is_a_usage_error() {
        for text in [
            "provider",
            "[[providers]]\nmatch = 'a/b/c'",
            "[[provider]]\nkeys = []",
            "[[provider]]\nmatch = 'a/b/c'\nunsignd = 'allow'",
            "[[provider]]\nmatch = 'a/b/c'\nunsigned = 'maybe'",
            "[[provider]]\nmatch = 'a/b/c'\nunsigned = true",
            "[[provider]]\nmatch = 'b/c'",
            "[[provider]]\nmatch = 'a/b/c'\nkeys = ['x.asc']\nunsigned = 'allow'",
        ] {
            let error = TrustFile::parse(text).expect_err(text);
            assert_eq!(error.category(), Category::Usage, "{text}");
        }
        assert!(TrustFile::parse("").is_ok());
    }

    #[test]
    fn a_key_file_that_cannot_be_read_stops_it() {
        let file =
            TrustFile::parse("[[provider]]\nmatch = 'a/b/c'\nkeys = ['x.asc']").expect("a file");
        assert_eq!(file.resolve(|_| Err("gone")).err(), Some("gone"));
    }

    proptest! {
        #[test]
        fn never_panics(text in "(\\[\\[provider\\]\\]\n|match = |keys = \\[|'[a-z*/]{0,9}'|\\]|\n|[ -~]){0,20}") {
            let _ = TrustFile::parse(&text);
        }
    }
}
