//! A rule: what the releases of a provider must prove.

use std::fmt;
use std::str::FromStr;

use serde::Deserialize;

use crate::authentication::Anchor;
use crate::error::printable;
use crate::release::KeyRing;

use super::asked_by::AskedBy;

/// What a release must prove. The default is that of commands that write to a store: a good signature by any key of the release.
#[derive(Clone, Debug, Default)]
pub struct Rule {
    /// Primary fingerprints of the accepted certificates.
    pub pins: Vec<Fingerprint>,
    /// Keys that the user provided. Keys with the anchor [`Anchor::Pinned`] are accepted themselves; the others only provide
    /// the certificates that `pins` name.
    pub keys: Vec<KeyRing>,
    /// What asked for these keys, if any are pinned.
    pub asked_by: Option<AskedBy>,
    /// What to do if there is no usable key or signature.
    pub unsigned: Unsigned,
    /// What to do with signatures that were made after the key had expired.
    pub expired: Expired,
    /// What to do with SHA-1 signatures of the checksum document.
    pub weak: Weak,
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
}

/// What to do with a release without a usable key or signature. A bad signature, or one by another key, is always an error.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Unsigned {
    /// It is an error.
    #[default]
    Refuse,
    /// It is accepted, with the status `checksum` or `unverified`.
    Allow,
}

impl Unsigned {
    /// The word for it in a trust file.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Refuse => "refuse",
            Self::Allow => "allow",
        }
    }
}

/// What to do with a signature that was made after its key had expired. Clients accept it with a warning.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Expired {
    /// It is accepted with a note.
    #[default]
    Warn,
    /// It is an error.
    Refuse,
}

impl Expired {
    /// The word for it in a trust file.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Warn => "warn",
            Self::Refuse => "refuse",
        }
    }
}

/// What to do with SHA-1 over the checksum document. An attacker who can make two documents with the same SHA-1 can have one signed and
/// serve the other.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Weak {
    /// It is an error.
    #[default]
    Refuse,
    /// It is accepted with a note.
    Warn,
}

impl Weak {
    /// The word for it in a trust file.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Refuse => "refuse",
            Self::Warn => "warn",
        }
    }
}

/// The fingerprint of a certificate's primary key: 20 bytes (version 4) or 32 (version 6).
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Fingerprint(String);

/// Upper-case hex.
impl fmt::Display for Fingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl FromStr for Fingerprint {
    type Err = FingerprintError;

    /// Blanks between the digits are ignored, because `gpg --fingerprint` prints some, and so is `0x` before them.
    fn from_str(text: &str) -> Result<Self, FingerprintError> {
        let digits = digits(text);
        let sound = matches!(digits.len(), 40 | 64) && is_hex(&digits);
        if sound {
            Ok(Self(digits.to_ascii_uppercase()))
        } else {
            Err(FingerprintError {
                text: text.to_owned(),
            })
        }
    }
}

/// The number of digits, if a text is hex digits that are too few or too many for a fingerprint: mostly a key id, of which anyone can make
/// another key, or an incomplete fingerprint.
pub fn key_id_digits(text: &str) -> Option<usize> {
    // The shortest key id, and lengths that a file name may have too.
    const SHORT: [usize; 2] = [8, 16];
    let digits = digits(text);
    let is_like_one = SHORT.contains(&digits.len()) || digits.len() > 16;
    (is_like_one && is_hex(&digits)).then_some(digits.len())
}

/// The digits without the blanks between them and without `0x`.
fn digits(text: &str) -> String {
    let mut digits: String = text.split_whitespace().collect();
    if digits.starts_with("0x") {
        digits.drain(..2);
    }
    digits
}

fn is_hex(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// Text that is not a fingerprint.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{}` is not a fingerprint: expected 40 or 64 hex digits", printable(.text))]
pub struct FingerprintError {
    /// The invalid text.
    pub text: String,
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

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

    #[test]
    fn key_ids_are_no_fingerprints() {
        for text in [
            "",
            "34365D9472D7468F",
            "0x34365D9472D7468F",
            &"g".repeat(40),
        ] {
            assert!(text.parse::<Fingerprint>().is_err(), "{text}");
        }
    }

    #[test]
    fn blanks_of_gpg_are_ignored() {
        let text = "86B3 5B54 AFA9 C2E9 F7BC  38E8 B607 35FF C389 3BFB";
        let fingerprint = text.parse::<Fingerprint>().expect("a fingerprint");
        assert_eq!(fingerprint.to_string(), text.replace(' ', ""));
    }

    #[test]
    fn key_ids_and_incomplete_fingerprints_are_told_from_files() {
        for (text, digits) in [
            ("9472D746", Some(8)),
            ("34365D9472D7468F", Some(16)),
            ("0x34365d9472d7468f", Some(16)),
            ("3436 5D94 72D7 468F", Some(16)),
            (&"A".repeat(39), Some(39)),
            (&"A".repeat(41), Some(41)),
            ("", None),
            ("cafe", None),
            ("acme.asc", None),
            ("./9472D746", None),
        ] {
            assert_eq!(key_id_digits(text), digits, "{text}");
        }
    }

    proptest! {
        #[test]
        fn never_panics_and_prints_back(text in "[0-9a-fA-Fé]{38,66}") {
            if let Ok(fingerprint) = text.parse::<Fingerprint>() {
                prop_assert_eq!(fingerprint.to_string(), text.to_uppercase());
            }
        }
    }
}
