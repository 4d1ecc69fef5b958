//! The policy that results from a trust file and from command-line options.
//!
//! The first matching entry applies, otherwise the defaults. Keys from the command line replace the entry's key files. Finally a
//! matching `--allow-unsigned` sets `unsigned`, unless keys are pinned: a pinned provider must be signed.

use std::sync::Arc;

use crate::address::{ProviderAddr, ProviderPattern};
use crate::attestation::RequiredAttestation;
use crate::authentication::Anchor;
use crate::release::KeyRing;

use super::deny::Denials;
use super::rule::{Rule, Unsigned};
use super::trust_file::{KeyFile, TrustEntry, TrustFile};

/// The rules for all providers.
#[derive(Clone, Debug, Default)]
#[must_use]
pub struct Policy {
    /// The entries of the trust file. The first that matches a provider applies.
    pub entries: Vec<TrustEntry>,
    /// The versions that are denied, whatever the entries say.
    pub denied: Denials,
    keys: Vec<KeyRing>,
    allow_unsigned: Vec<ProviderPattern>,
}

impl TrustFile {
    /// Reads the key files with `read`. It returns `None` for a copy that does not exist.
    ///
    /// # Errors
    /// The first error of `read`.
    pub fn resolve<E>(
        self,
        mut read: impl FnMut(&KeyFile) -> Result<Option<Vec<u8>>, E>,
    ) -> Result<Policy, E> {
        let mut entries = Vec::new();
        for mut entry in self.entries {
            for file in &entry.files {
                let ring = read(file)?.map(|content| file.ring(content));
                entry.rule.keys.extend(ring);
            }
            if let Some((file, id)) = &entry.attestation {
                let (pem, id) = (read(file)?.unwrap_or_default(), id.clone());
                entry.rule.attestations = vec![RequiredAttestation { pem, id }];
            }
            entries.push(entry);
        }
        Ok(Policy {
            entries,
            denied: Denials(Arc::new(self.denied)),
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
    pub fn with_keys(mut self, keys: Vec<KeyRing>) -> Self {
        self.keys.extend(keys);
        self
    }

    /// Adds patterns of providers that may lack a usable key or signature, unless a key is pinned for them.
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
            let anchor = match rule.pins.is_empty() {
                true => Anchor::Pinned,
                false => Anchor::Embedded,
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
}

#[cfg(test)]
mod tests;
