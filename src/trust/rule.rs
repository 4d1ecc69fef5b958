//! A rule: what the releases of a provider must prove.

use serde::{Deserialize, Serialize};

use crate::attestation::RequiredAttestation;
use crate::authentication::Anchor;
use crate::fingerprint::Fingerprint;
use crate::release::KeyRing;

/// What a release must prove. The default is that of commands that write to a store: a good signature by any key of the release.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Rule {
    /// Primary fingerprints of the accepted certificates.
    pub pins: Vec<Fingerprint>,
    /// Keys that the user provided. Keys with the anchor [`Anchor::Pinned`] are accepted themselves; the others only provide
    /// the certificates that `pins` name.
    pub keys: Vec<KeyRing>,
    /// What to do if there is no usable key or signature.
    pub unsigned: Unsigned,
    /// What to do with signatures by a key that has expired.
    pub expired: Expired,
    /// What to do with SHA-1 signatures of the checksum document.
    pub weak: Weak,
    /// Whose attestations a version in a store needs besides, all of them. Origins and mirrors have none.
    pub attestations: Vec<RequiredAttestation>,
}

impl Rule {
    /// The rule of commands that read a store, if no entry matches: unsigned releases are accepted with their status, and anything
    /// wrong is still an error.
    pub fn reading() -> Self {
        Self {
            unsigned: Unsigned::Allow,
            ..Self::default()
        }
    }

    /// Whether only pinned keys are accepted.
    pub fn pinned(&self) -> bool {
        !self.pins.is_empty() || self.keys.iter().any(|ring| ring.anchor == Anchor::Pinned)
    }

    /// What to do if there is no usable key or signature. If keys are pinned, such a release is refused, whatever the field says.
    pub fn for_unsigned(&self) -> Unsigned {
        match self.pinned() {
            true => Unsigned::Refuse,
            false => self.unsigned,
        }
    }
}

/// What to do with a release without a usable key or signature. A bad signature, or one by another key, is always an error.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Unsigned {
    /// It is an error.
    #[default]
    Refuse,
    /// It is accepted, with the status `checksum` or `unverified`.
    Allow,
}

/// What to do with a signature by a key that has expired by now. Clients accept it with a warning. The date in the signature does not matter,
/// because a thief of the key can write any date into it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Expired {
    /// It is accepted with a note.
    #[default]
    Warn,
    /// It is an error.
    Refuse,
}

/// What to do with SHA-1 over the checksum document. An attacker who can make two documents with the same SHA-1 can have one signed and
/// serve the other.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Weak {
    /// It is an error.
    #[default]
    Refuse,
    /// It is accepted with a note.
    Warn,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_default_is_strict_and_reading_shows_what_is_there() {
        let strict = Rule::default();
        assert_eq!(
            (strict.unsigned, strict.expired, strict.weak),
            (Unsigned::Refuse, Expired::Warn, Weak::Refuse)
        );
        assert!(!strict.pinned());
        let reading = Rule::reading();
        assert_eq!(
            (reading.unsigned, reading.weak),
            (Unsigned::Allow, Weak::Refuse)
        );
    }

    #[test]
    fn keys_pin_only_when_they_are_anchors_themselves() {
        let ring = |anchor| KeyRing {
            name: "k".to_owned(),
            bytes: Vec::new(),
            anchor,
        };
        let rule = |anchor| Rule {
            keys: vec![ring(anchor)],
            ..Rule::default()
        };
        assert!(rule(Anchor::Pinned).pinned());
        assert!(!rule(Anchor::Embedded).pinned());
    }
}
