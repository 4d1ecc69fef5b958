//! The policy that results from a trust file and from command-line options.
//!
//! The first matching entry applies, otherwise the defaults. Keys from the command line replace the entry's key files. Finally a
//! matching `--allow-unsigned` sets `unsigned`, unless keys are pinned: a pinned provider must be signed.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Arc;

use crate::address::{ProviderAddr, ProviderPattern};
use crate::attestation::RequiredAttestation;
use crate::authentication::Anchor;
use crate::release::KeyRing;

use super::deny::{Denial, Denials};
use super::expected_keys::AskedBy;
use super::rule::{Rule, Unsigned};
use super::trust_file::{KeyFile, TrustEntry, TrustFile};

/// The rules for all providers.
#[derive(Clone, Debug, Default)]
pub struct Policy {
    entries: Vec<TrustEntry>,
    /// The versions that are denied, whatever the entries say.
    pub denied: Denials,
    keys: Vec<KeyRing>,
    allow_unsigned: Vec<ProviderPattern>,
}

impl TrustFile {
    /// Reads the key files with `read`, each once. It returns `None` for a copy that does not exist.
    ///
    /// # Errors
    /// The first error of `read`.
    pub fn resolve<E>(
        self,
        mut read: impl FnMut(&KeyFile) -> Result<Option<Vec<u8>>, E>,
    ) -> Result<Policy, E> {
        let mut entries = Vec::new();
        // A file that is named is read and checked in another way than the copy that may be at the same path.
        let mut contents: HashMap<(PathBuf, bool), Option<Vec<u8>>> = HashMap::new();
        for mut entry in self.entries {
            if let Some(AskedBy::TrustFile { path, .. }) = &mut entry.rule.asked_by {
                path.clone_from(&self.path);
            }
            for file in &entry.files {
                let place = (file.path.clone(), file.copy_of.is_some());
                let content = match contents.get(&place) {
                    Some(content) => content.clone(),
                    None => {
                        let content = read(file)?;
                        contents.insert(place, content.clone());
                        content
                    }
                };
                let rings = content.map(|content| file.ring(content));
                entry.rule.keys.extend(rings);
            }
            if let Some((file, id)) = &entry.attestation {
                let (pem, id) = (read(file)?.unwrap_or_default(), id.clone());
                entry.rule.attestations = vec![RequiredAttestation { pem, id }];
            }
            entries.push(entry);
        }
        let by = |line| {
            let path = self.path.clone();
            Some(AskedBy::TrustFile { path, line })
        };
        let denied = self.denied.into_iter().map(|denial| Denial {
            by: by(denial.line),
            ..denial
        });
        Ok(Policy {
            entries,
            denied: Denials(Arc::new(denied.collect())),
            ..Policy::default()
        })
    }
}

impl Policy {
    /// The first entry that matches a provider. It applies, and those after it do not.
    pub fn entry_for(&self, provider: &ProviderAddr) -> Option<&TrustEntry> {
        let mut entries = self.entries.iter();
        entries.find(|entry| entry.pattern.matches(provider))
    }

    /// Adds keys from the command line, for every provider. They replace an entry's key files and are themselves pinned. If
    /// the entry has fingerprints, these keys only provide the certificates, which must match the fingerprints, as do the copies beside the trust
    /// file.
    #[must_use]
    pub fn with_keys(mut self, keys: Vec<KeyRing>) -> Self {
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
        let entry = self.entry_for(provider);
        let allowed = self
            .allow_unsigned
            .iter()
            .any(|pattern| pattern.matches(provider));
        if entry.is_none() && self.keys.is_empty() && !allowed {
            return None;
        }
        let mut rule = entry.map(|entry| entry.rule.clone()).unwrap_or_default();
        if !self.keys.is_empty() {
            let anchor = if rule.pins.is_empty() {
                rule.asked_by = Some(AskedBy::Option);
                Anchor::Pinned
            } else {
                Anchor::Embedded
            };
            rule.keys.retain(|ring| ring.anchor != Anchor::Pinned);
            let given = self.keys.iter().cloned();
            rule.keys
                .extend(given.map(|ring| KeyRing { anchor, ..ring }));
        }
        // Pinned keys require signatures, and `--allow-unsigned` does not change that.
        if allowed && !rule.pinned() {
            rule.unsigned = Unsigned::Allow;
        }
        Some(rule)
    }

    /// Whether another policy has the same rule for a provider, and denies the same versions. The line of the trust file that asks for its keys does not matter.
    pub fn is_same_for(&self, other: &Self, provider: &ProviderAddr) -> bool {
        let rule = |policy: &Self| {
            let rule = policy.rule_for(provider)?;
            Some(Rule {
                asked_by: None,
                ..rule
            })
        };
        rule(self) == rule(other) && self.denied.is_same_for(&other.denied, provider)
    }
}

#[cfg(test)]
mod tests {
    use super::super::rule::{Expired, Weak};
    use super::*;

    const PIN: &str = "C874011F0AB405110D02105534365D9472D7468F";

    fn policy(text: &str) -> Policy {
        TrustFile::parse(text)
            .expect("a trust file")
            .resolve(|key| match key.copy_of {
                Some(_) => Ok::<_, ()>(None),
                None => Ok(Some(key.path.display().to_string().into_bytes())),
            })
            .expect("its keys")
    }

    fn rule(policy: &Policy, address: &str) -> Option<Rule> {
        policy.rule_for(&address.parse().expect("an address"))
    }

    fn given() -> Vec<KeyRing> {
        vec![KeyRing {
            name: "new.asc".to_owned(),
            bytes: Vec::new(),
            anchor: Anchor::Pinned,
        }]
    }

    fn rings(rule: &Rule) -> Vec<(&str, Anchor)> {
        rule.keys
            .iter()
            .map(|ring| (ring.name.as_str(), ring.anchor))
            .collect()
    }

    #[test]
    fn rules_that_differ_only_in_their_lines_are_the_same() {
        let demo: ProviderAddr = "example.com/acme/demo".parse().unwrap();
        let own = "[[provider]]\nmatch = \"example.com/acme/demo\"\nkeys = [\"a.asc\"]\n";
        let other = "[[provider]]\nmatch = \"example.com/acme/other\"\n";
        let shadow = "[[provider]]\nmatch = \"example.com/acme/*\"\nunsigned = \"allow\"\n";
        let is_same = |text: &str| policy(own).is_same_for(&policy(text), &demo);
        assert!(is_same(&format!("# Ours\n{other}{own}{shadow}")));
        for text in [
            "",
            &own.replace("a.asc", "b.asc"),
            &format!("{own}expired = \"refuse\"\n"),
            &format!("{shadow}{own}"),
        ] {
            assert!(!is_same(text), "{text}");
        }
        assert!(policy(other).is_same_for(&policy(""), &demo));
        assert!(!policy(shadow).is_same_for(&policy(""), &demo));
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
        .with_keys(given());
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
            .with_keys(given())
            .with_allow_unsigned(pattern());
        let pinned = rule(&policy, "a.example/acme/demo").expect("a rule");
        assert_eq!(pinned.unsigned, Unsigned::Refuse);
    }
}
