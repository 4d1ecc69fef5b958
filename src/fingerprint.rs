//! Fingerprints of public keys.

use std::fmt;
use std::str::FromStr;

use serde::Serialize;

use crate::error::printable;

/// The length of a key id in hex digits.
const KEY_ID: usize = 16;

/// The fingerprint of a certificate's primary key: 20 bytes (version 4) or 32 (version 6).
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(transparent)]
pub struct Fingerprint(String);

impl Fingerprint {
    /// The last 16 digits, which is how clients show a version 4 key.
    pub fn key_id(&self) -> &str {
        let start = self.0.len().saturating_sub(KEY_ID);
        self.0.get(start..).unwrap_or_default()
    }
}

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

/// Whom a signature says it is by.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Issuer {
    /// The key with this fingerprint, which may be a subkey.
    Fingerprint(Fingerprint),
    /// A key with this id, of which anyone can make another key.
    KeyId(String),
}

impl Issuer {
    /// The issuer that these hex digits name.
    pub fn of_hex(text: String) -> Self {
        match text.parse() {
            Ok(fingerprint) => Self::Fingerprint(fingerprint),
            Err(_) => Self::KeyId(text),
        }
    }
}

/// Upper-case hex.
impl fmt::Display for Issuer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Fingerprint(fingerprint) => fingerprint.fmt(f),
            Self::KeyId(id) => f.write_str(id),
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

/// The fingerprint that a text has in the form of another program: with colons, or as the URI that smartphones scan.
pub fn in_other_form(text: &str) -> Option<Fingerprint> {
    let lower = text.trim().to_ascii_lowercase();
    let digits = lower.strip_prefix("openpgp4fpr:").unwrap_or(&lower);
    let fingerprint = digits.replace(':', "").parse().ok();
    fingerprint.filter(|_| lower.contains(':'))
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
    fn other_programs_write_colons_and_uris() {
        let plain = "86B35B54AFA9C2E9F7BC38E8B60735FFC3893BFB";
        let pairs: Vec<&str> = (0..20)
            .filter_map(|at| plain.get(2 * at..2 * at + 2))
            .collect();
        for text in [
            pairs.join(":"),
            format!("openpgp4fpr:{plain}"),
            format!("OPENPGP4FPR:{}", plain.to_lowercase()),
        ] {
            let meant = in_other_form(&text).expect(&text);
            assert_eq!(meant.to_string(), plain);
            assert!(text.parse::<Fingerprint>().is_err(), "{text}");
        }
        for text in [plain, "acme.asc", "C:acme.asc", "openpgp4fpr:86B3", ""] {
            assert_eq!(in_other_form(text), None, "{text}");
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
