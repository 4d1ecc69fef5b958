//! A rule as attestations state it.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::openpgp;
use super::rule::Rule;
use crate::authentication::Anchor;
use crate::digest::Digest;
use crate::release::KeyRing;

impl Rule {
    /// The rule as attestations state it. Rules that require the same are equal in it, whether a key is named by its fingerprint or its file.
    pub fn canonical(&self) -> Value {
        let mut keys: BTreeSet<String> = self.pins.iter().map(ToString::to_string).collect();
        let pinned = |ring: &&KeyRing| ring.anchor == Anchor::Pinned;
        for ring in self.keys.iter().filter(pinned) {
            match openpgp::fingerprints(ring) {
                Ok(found) => keys.extend(found.iter().map(ToString::to_string)),
                Err(_) => drop(keys.insert(Digest::of(&ring.bytes).to_string())),
            }
        }
        let attestation = self.attestations.first().map(|required| {
            let key = required.key().map(|key| key.id()).unwrap_or_default();
            json!({"id": required.id, "key": key})
        });
        json!({
            "attestation": attestation,
            "expired": self.expired,
            "keys": keys,
            "unsigned": self.for_unsigned(),
            "weak": self.weak,
        })
    }
}
