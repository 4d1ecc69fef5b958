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
            }),
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
#[error("`{}` is not a fingerprint\n  expected 40 or 64 hex digits", printable(.text))]
pub struct FingerprintError {
    /// The invalid text.
    pub text: String,
}

#[cfg(test)]
mod tests;
