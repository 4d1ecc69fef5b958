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
        match matches!(digits.len(), 40 | 64) && is_hex(&digits) {
            true => Ok(Self(digits.to_ascii_uppercase())),
            false => Err(FingerprintError {
                text: text.to_owned(),
                expected: "40 or 64 hex digits".to_owned(),
            }),
        }
    }
}

impl Fingerprint {
    /// The fingerprint where a file may be named, too; `None` for what can only be a file.
    ///
    /// # Errors
    /// A key id, which anyone can give to another key; an incomplete fingerprint; or one in the form of another program: with colons, or as the
    /// URI that smartphones scan.
    pub fn unless_file(text: &str) -> Result<Option<Self>, FingerprintError> {
        // The lengths of key ids. A file name may have others below that of a fingerprint.
        const KEY_IDS: [usize; 2] = [8, 16];
        let (parsed, digits) = (text.parse::<Self>(), digits(text));
        let wrong = |expected| {
            let text = text.to_owned();
            Err(FingerprintError { text, expected })
        };
        let lower = text.trim().to_ascii_lowercase();
        let other = lower.strip_prefix("openpgp4fpr:").unwrap_or(&lower);
        match (parsed, other.replace(':', "").parse::<Self>()) {
            (Ok(fingerprint), _) => Ok(Some(fingerprint)),
            (Err(_), Ok(meant)) => wrong(format!("{meant}, or its digits with blanks")),
            (Err(_), _) if KEY_IDS.contains(&digits.len()) && is_hex(&digits) => {
                let why = "since more than one key can have a short id";
                wrong(format!("40 or 64 hex digits, {why}"))
            }
            (Err(error), _) if digits.len() > 16 && is_hex(&digits) => Err(error),
            _ => Ok(None),
        }
    }
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
#[error("`{}` is not a fingerprint\n  expected {expected}", printable(.text))]
pub struct FingerprintError {
    /// The invalid text.
    pub text: String,
    /// How a fingerprint is written.
    expected: String,
}

#[cfg(test)]
mod tests;
